package keyring

import (
	"errors"
	"path/filepath"
	"testing"
)

// Another ring's phrase is a valid phrase, but not this ring's.
func TestCheckPhrase(t *testing.T) {
	one, first, err := Create(filepath.Join(t.TempDir(), "one"), CreateOptions{FoundSpace: founded, KeyFile: DefaultKeyFile})
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	other, second, err := Create(filepath.Join(t.TempDir(), "other"), CreateOptions{FoundSpace: founded, KeyFile: DefaultKeyFile})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := one.CheckPhrase(first); err != nil {
		t.Error(err)
	}
	if err := one.CheckPhrase(second); !errors.Is(err, ErrPhrase) {
		t.Errorf("another ring's phrase: %v", err)
	}
}
