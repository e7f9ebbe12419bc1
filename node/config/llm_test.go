package config

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestLLM(t *testing.T) {
	dir := alone(t)
	key := write(t, filepath.Join(dir, "key"), "sk-from-file\n")
	file := write(t, filepath.Join(dir, "c.toml"), "[llm]\nurl = \"http://127.0.0.1:11434/v1\"\nmodel = \"qwen3:8b\"\nmax_tokens = 500\nkey_file = \"key\"\n")
	l, err := Load(Sources{File: file})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.LLM.APIKey(); err != nil || got != "sk-from-file" || l.LLM.MaxTokens != 500 || l.LLM.KeyFile != key || l.LLM.Extract {
		t.Errorf("%+v, key %q, %v", l.LLM, got, err)
	}
	l, err = Load(Sources{Environ: []string{"LOCKET_LLM_KEY=sk-hidden", "LOCKET_LLM_URL=https://x/v1", "LOCKET_LLM_MODEL=m"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.LLM.APIKey(); err != nil || got != "sk-hidden" {
		t.Errorf("key %q, %v", got, err)
	}
	asJSON, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{fmt.Sprint(l.Settings()), fmt.Sprintf("%v %+v %#v %s", l.LLM, l.LLM, l.LLM, l.LLM.Key), string(asJSON)} {
		if strings.Contains(shown, "sk-hidden") {
			t.Errorf("the key is shown: %s", shown)
		}
	}
	for _, bad := range [][]string{
		{"LOCKET_LLM_EXTRACT=true", "llm.url names nobody"},
		{"LOCKET_LLM_TOPIC=true", "llm.url names nobody"},
		{"LOCKET_LLM_URL=http://x", "llm.model is not"},
		{"LOCKET_LLM_URL=x:1", "LOCKET_LLM_MODEL=m", "want a URL"},
		{"LOCKET_LLM_URL=http://u:p@x", "LOCKET_LLM_MODEL=m", "want a URL"},
		{"LOCKET_LLM_URL=http://x", "LOCKET_LLM_MODEL=m", "LOCKET_LLM_KEY=a", "LOCKET_LLM_KEY_FILE=/b", "choose one"},
		{"LOCKET_LLM_URL=http://x", "LOCKET_LLM_MODEL=m", "LOCKET_LLM_MAX_TOKENS=5", "100 or more"},
		{"LOCKET_LLM_MAX_TOKENS=-5", "whole number"},
		{"LOCKET_LLM_FORMAT=xml", "want auto"},
	} {
		n := len(bad) - 1
		if _, err := Load(Sources{Environ: bad[:n]}); err == nil || !strings.Contains(err.Error(), bad[n]) {
			t.Errorf("%q: %v", bad[:n], err)
		}
	}
}
