package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The passphrase is changed without a daemon and through one, another way to unlock is added and
// removed, and removed ones do not open the home.
func TestChangeWhatOpensTheHome(t *testing.T) {
	h := &home{t: t, dir: filepath.Join(t.TempDir(), "home")}
	h.configure()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first, second, third := file("first", "correct horse"), file("second", "battery staple"), file("third", "a third of them")
	opens := func(pass string) bool {
		_, errs, code := h.try("--set", "unlock.passphrase_file="+pass, "list")
		if code != 0 && !strings.Contains(errs, "passphrase") {
			t.Fatalf("exit %d: %s", code, errs)
		}
		return code == 0
	}
	h.must("init", "--passphrase-file", first, "--no-check")
	h.must("--set", "unlock.passphrase_file="+first, "add", "--plain", "Ann likes tea.")
	if _, errs, code := h.try("--set", "unlock.passphrase_file="+first, "passphrase", "--passphrase-file", third, "--new-file", second); code != 1 || !strings.Contains(errs, "passphrase") {
		t.Errorf("with a wrong one: exit %d, %s", code, errs)
	}
	if !opens(first) || opens(second) {
		t.Fatal("what was refused changed something")
	}
	h.must("--set", "unlock.passphrase_file="+first, "passphrase", "--passphrase-file", first, "--new-file", second)
	if opens(first) || !opens(second) {
		t.Fatal("the passphrase is not the second one")
	}

	h.start("--set", "unlock.passphrase_file="+second)
	h.must("passphrase", "--passphrase-file", second, "--new-file", third)
	stick := filepath.Join(dir, "stick.key")
	h.must("keys", "key-file", "--path", stick, "--passphrase-file", third)
	if out := h.must("keys"); !strings.Contains(out, "passphrase") || !strings.Contains(out, "key-file") {
		t.Errorf("keys: %s", out)
	}
	h.must("keys", "remove", "passphrase")
	if _, errs, code := h.try("keys", "remove", "key-file"); code != 1 || !strings.Contains(errs, "Set another way first") {
		t.Errorf("the last way: exit %d, %s", code, errs)
	}
	if err := h.d.stop(t); err != nil {
		t.Fatal(err)
	}
	if opens(third) || opens(second) {
		t.Error("a passphrase opens the home still")
	}
	// The settings still name the first passphrase's file.
	if out := h.must("--set", "unlock.passphrase_file=", "--set", "unlock.key_file="+stick, "list"); !strings.Contains(out, "Ann likes tea") {
		t.Errorf("by the key file: %s", out)
	}
	// The words are the last resort, and the file on the stick belongs to the person.
	if _, err := os.Stat(stick); err != nil {
		t.Error(err)
	}
}
