package membership

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// made makes a ring that unlocks with its default key file.
func made(t *testing.T) (dir string, r *keyring.Ring, phrase string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "keys")
	r, phrase, err := keyring.Create(dir, keyring.CreateOptions{KeyFile: keyring.DefaultKeyFile, FoundSpace: FoundSpace("")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return dir, r, phrase
}

// The phrase founds the space once, and finds it again.
func TestGenesis(t *testing.T) {
	dir, r, phrase := made(t)
	b, err := Genesis(r.Locked)
	if err != nil {
		t.Fatal(err)
	}
	e, err := envelope.ParseEntry(b)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := keyring.Recover(phrase)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Zero()
	if e.Space != r.Space() || rec.Space() != r.Space() || e.Member.ID != r.Member() || !rec.Root().Equal(r.Public().Root) {
		t.Errorf("genesis of %s by %x, ring of %s", e.Space, e.Root, r.Space())
	}
	key, ok := r.Epoch(r.Space(), 1)
	if !ok {
		t.Fatal("no key of epoch 1")
	}
	for _, id := range []*seal.Identity{rec.Identity(), r.DeviceIdentity()} {
		found := false
		for _, w := range e.Wraps {
			if keys, err := seal.OpenEpochs(id, e.Space, w.Keys); err == nil {
				found = keys[1].Equal(key)
			}
		}
		if !found {
			t.Error("the key of epoch 1 is not wrapped to recovery and device")
		}
	}

	// Another device joins, and gives memories the same ids.
	d := keyring.NewDevice()
	join, err := Joining(d, b, seal.Epochs{1: key})
	if err != nil {
		t.Fatal(err)
	}
	other, none, err := keyring.Create(filepath.Join(t.TempDir(), "keys"), keyring.CreateOptions{KeyFile: keyring.DefaultKeyFile, Join: join})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	ev := memory.EventID{Device: "pin", Seq: 1}
	if none != "" || other.Space() != r.Space() || other.Member() == r.Member() || other.Member() != d.ID ||
		memory.DeriveID(other.IDKey().Bytes(), ev, "p", "f") != memory.DeriveID(r.IDKey().Bytes(), ev, "p", "f") {
		t.Errorf("phrase %q, space %s, member %s", none, other.Space(), other.Member())
	}
	if err := r.KeepEpochs(r.Space(), seal.Epochs{2: seal.NewKey()}); err != nil {
		t.Fatal(err)
	}
	l, err := keyring.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := l.Unlock(t.Context(), keyring.KeyFile(""))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	two, ok := again.Epoch(r.Space(), 2)
	if mine, _ := r.Epoch(r.Space(), 2); !ok || !two.Equal(mine) {
		t.Error("the key of epoch 2 was not kept")
	}

	// A genesis of another space in its place is detected.
	elsewhere, _, _ := made(t)
	theirs, err := os.ReadFile(filepath.Join(elsewhere, "genesis"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "genesis"), theirs, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Genesis(r.Locked); !errors.Is(err, keyring.ErrSwapped) {
		t.Errorf("exchanged genesis: %v", err)
	}
}
