package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/testing/omitest"
)

// What Omi has is first shown, added once, and not added again the next time. What was read before
// a rate limit is kept, a secret goes to the vault, and the key is in no output.
func TestImportFromOmiAPI(t *testing.T) {
	c := omitest.New(t)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i := range 50 {
		c.Memories = append(c.Memories, omitest.Memory{ID: fmt.Sprintf("mem_%d", i), Content: fmt.Sprintf("Has seen city %d", i), Category: "interesting", Created: at})
	}
	c.Memories = append(c.Memories, omitest.Memory{ID: "mem_s", Content: "The office password is tulip-42-harbor", Created: at})
	c.Conversations = []omitest.Conversation{{ID: "conv_1", Started: at, Segments: []omitest.Segment{{Text: "I live in Ghent", User: true},
		{Text: "The Wi-Fi password is maple-TREE-9921.", User: true, Start: 60}}}}
	home, key := filepath.Join(t.TempDir(), "home"), filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(omitest.Key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := testDeps()
	d.Environ = append(d.Environ, "LOCKET_PLUGINS_DISABLED=language,speech,scene,plans,howto")
	try := func(args ...string) (code int, said string) {
		t.Helper()
		var out bytes.Buffer
		code = run(t.Context(), append([]string{"--home", home}, args...), strings.NewReader(""), &out, &out, d)
		if strings.Contains(out.String(), omitest.Key) {
			t.Errorf("the key is shown: %s", out.String())
		}
		return code, out.String()
	}
	if code := run(t.Context(), []string{"--home", home, "init", "--key-file", "--no-check"}, strings.NewReader(""), io.Discard, io.Discard, d); code != 0 {
		t.Fatal(code)
	}
	from := []string{"import", "--from", "omi", "--key-file", key, c.URL}
	if code, said := try(append(from, "--dry-run")...); code != 0 || !strings.Contains(said, "Found 53, from Sun 1 Mar 2026") {
		t.Errorf("%d %s", code, said)
	}
	if code, said := try("list"); code != 0 || strings.Contains(said, "city") {
		t.Errorf("added without being asked: %s", said)
	}
	before := len(c.Asked())
	c.Before = func(n int, w http.ResponseWriter) bool {
		if n != before+2 {
			return false
		}
		w.Header().Set("Retry-After", "40000")
		omitest.Refuse(w, http.StatusTooManyRequests, "Rate limit exceeded")
		return true
	}
	for i, want := range []struct {
		code int
		said string
	}{
		{cli.ExitFailed, `Added 50; 0 already there, 0 failed\.\n(.*\n)*.*Rate limit exceeded.*run the command again later`},
		{0, `Added 3; 50 already there, 0 failed`},
		{0, `Added 0; 53 already there, 0 failed`},
	} {
		if code, said := try(from...); code != want.code || !regexp.MustCompile(want.said).MatchString(said) {
			t.Errorf("%d: exit %d: %s", i, code, said)
		}
	}
	if code, said := try("search", "where do I live"); code != 0 || !strings.Contains(said, "Ghent") {
		t.Errorf("%d %s", code, said)
	}
	if code, said := try("vault", "list"); code != 0 || !strings.Contains(said, "Wi-Fi") || !strings.Contains(said, "Office") || strings.Contains(said, "maple-TREE") {
		t.Errorf("%d %s", code, said)
	}
	if code, said := try("export"); code != 0 || !strings.Contains(said, "city 7") || strings.Contains(said, "maple-TREE") || strings.Contains(said, "tulip-42") {
		t.Errorf("%d: the secret is outside the vault", code)
	}
	for _, args := range [][]string{{"import", "--from", "omi", c.URL}, {"import", "--from", "mem0", "--key-file", key, c.URL}, {"import", "--from", "omi", "--key-file", key, "omi.json"}} {
		if code, said := try(args...); code != cli.ExitUsage || !strings.Contains(said, "--from omi and --key-file") {
			t.Errorf("%v: %d %s", args, code, said)
		}
	}
}
