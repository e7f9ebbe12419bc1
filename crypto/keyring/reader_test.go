package keyring

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/memory"
)

func TestReaderKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	made, err := ReaderKey(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	read, err := ReaderKey(path)
	if err != nil {
		t.Fatal(err)
	}
	if !made.Key().Equal(read.Key()) || !made.Recipient().Equal(read.Recipient()) {
		t.Error("another key comes back")
	}
	if !made.StoreKey(memory.SpaceID{1}).Equal(read.StoreKey(memory.SpaceID{1})) || made.StoreKey(memory.SpaceID{1}).Equal(made.StoreKey(memory.SpaceID{2})) {
		t.Error("keys of stores")
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 1
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReaderKey(path); !errors.Is(err, ErrDamaged) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
}
