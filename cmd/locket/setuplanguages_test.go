package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/cmd/locket/setupcmd"
)

func TestLocaleLanguage(t *testing.T) {
	for locale, want := range map[string]string{"de_DE.UTF-8": "de", "zh_CN.GB18030": "zh", "fil_PH": "fil", "C": "en", "POSIX": "en", "": "en", "C.UTF-8": "en"} {
		if got := setupcmd.LocaleLanguage(func(name string) string { return map[string]string{"LANG": locale}[name] }); got != want {
			t.Errorf("%q: %s, want %s", locale, got, want)
		}
	}
	if got := setupcmd.LocaleLanguage(func(name string) string { return map[string]string{"LANG": "de_DE", "LC_ALL": "fr_FR"}[name] }); got != "fr" {
		t.Error("LC_ALL is the stronger one:", got)
	}
}

// The languages are asked, kept, and what follows is said. A name in place of a code is asked again.
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
	for _, want := range []string{`"German": want codes`, "all speech is in de", "PocketSphinx is not used", "print in deu", "For de, add a mind"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}
