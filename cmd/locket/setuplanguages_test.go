package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
)

// Setup asks for the languages, stores them, and says what they mean. If it gets a name instead of
// a code, it asks again.
func TestSetupLanguages(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	answers := []string{"German", "de"}
	p := &answerer{replies: append([]reply{{"Languages", func(string) string {
		v := answers[0]
		answers = append(answers[1:], "what?")
		return v
	}}}, setupReplies...)}
	if code, out := runSetup(t, home, p, false, "setup"); code != cli.ExitDone {
		t.Fatalf("exit %d\n%s\n%q", code, out, p.asked)
	}
	conf, err := os.ReadFile(filepath.Join(home, "config.toml"))
	if err != nil || !strings.Contains(string(conf), "languages = ['de']") {
		t.Errorf("%s, %v", conf, err)
	}
	said := strings.Join(p.asked, "\n")
	for _, want := range []string{`"German": want codes`, "all speech to be in de", "PocketSphinx is not used", "data deu", "For de, add a mind"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}
