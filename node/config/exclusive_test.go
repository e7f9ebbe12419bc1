package config

import (
	"path/filepath"
	"strings"
	"testing"
)

// Of settings that exclude each other, one of a stronger source replaces those of the file.
func TestStrongerSourceReplacesTheOther(t *testing.T) {
	alone(t)
	file := write(t, filepath.Join(t.TempDir(), "c.toml"), "[unlock]\npassphrase_file = \"/words\"\n[llm]\nurl = \"http://127.0.0.1:1/v1\"\nmodel = \"m\"\nkey = \"k\"\n")
	l, err := Load(Sources{File: file, Environ: []string{"LOCKET_LLM_KEY_FILE=/key"}, Flags: []Flag{{"--set unlock.key_file", "unlock.key_file", "/home/key"}}})
	if err != nil {
		t.Fatal(err)
	}
	if u := l.Unlock; u.KeyFile != "/home/key" || u.PassphraseFile != "" || l.Origin("unlock.passphrase_file").Kind != FromDefault {
		t.Errorf("%+v, %v", u, l.Origin("unlock.passphrase_file"))
	}
	if l.LLM.KeyFile != "/key" || l.LLM.Key != "" {
		t.Errorf("%+v", l.LLM)
	}
	if l, err = Load(Sources{File: file, Flags: []Flag{{"--set unlock.keyring", "unlock.keyring", "false"}}}); err != nil || l.Unlock.PassphraseFile != "/words" {
		t.Errorf("one that is off replaced another: %+v, %v", l, err)
	}
	_, err = Load(Sources{File: file, Flags: []Flag{{"--set unlock.key_file", "unlock.key_file", "/k"}, {"--set unlock.keyring", "unlock.keyring", "true"}}})
	if err == nil || !strings.Contains(err.Error(), "choose one") {
		t.Errorf("two of one source: %v", err)
	}
}
