package node

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

// Without a passphrase, the keys are opened by what the settings name, or by the
// key file in the home. If that fails, a passphrase is asked for, provided that
// one would work.
func TestUnlockBySettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pass")
	if err := os.WriteFile(file, []byte(passphrase+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	bySetting := initNode(t, func(c *config.Config) { c.Unlock.PassphraseFile = file }, InitOptions{Passphrase: passphrase, Work: 4})
	byKeyFile := initNode(t, nil, InitOptions{KeyFile: true})
	for name, n := range map[string]*Node{"a passphrase file": bySetting, "a key file": byKeyFile} {
		for range 2 {
			if err := n.Unlock(t.Context(), ""); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := n.Lock(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(os.Remove(file), os.Remove(filepath.Join(byKeyFile.path(keysDir), "unlock.key"))); err != nil {
		t.Fatal(err)
	}
	if err := bySetting.Unlock(t.Context(), ""); !errors.Is(err, serve.ErrPassphrase) {
		t.Errorf("the passphrase file is gone: %v", err)
	}
	if err := byKeyFile.Unlock(t.Context(), ""); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("the key file is gone, and there is no passphrase: %v", err)
	}
	if err := byKeyFile.Unlock(t.Context(), passphrase); !errors.Is(err, serve.ErrConflict) {
		t.Errorf("a passphrase of a node that has none: %v", err)
	}
	byWord := initNode(t, nil, InitOptions{Passphrase: passphrase, Work: 4})
	if err := byWord.Unlock(t.Context(), ""); !errors.Is(err, serve.ErrPassphrase) {
		t.Errorf("nothing is set: %v", err)
	}
	// If the node is open already, a passphrase is checked all the same.
	if err := byWord.Unlock(t.Context(), passphrase); err != nil {
		t.Fatal(err)
	}
	if err := byWord.Unlock(t.Context(), passphrase+"?"); !errors.Is(err, serve.ErrPassphrase) || !byWord.isOpen() {
		t.Errorf("a wrong passphrase of an open node: %v", err)
	}
	if err := byWord.Unlock(t.Context(), passphrase); err != nil {
		t.Error(err)
	}
}
