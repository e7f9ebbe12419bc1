package keyring

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// The phrase founds the space once, and finds it again.
func TestGenesis(t *testing.T) {
	dir, r, phrase := byFile(t)
	defer r.Close()
	b, err := r.Genesis()
	if err != nil {
		t.Fatal(err)
	}
	e, err := envelope.ParseEntry(b)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := Recover(phrase)
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
	d := NewDevice()
	other, none, err := Create(filepath.Join(t.TempDir(), "keys"), CreateOptions{KeyFile: DefaultKeyFile,
		Join: &Joining{Device: d, Genesis: b, Epochs: seal.Epochs{1: key}}})
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
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := l.Unlock(ctx, KeyFile(""))
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	two, ok := again.Epoch(r.Space(), 2)
	if mine, _ := r.Epoch(r.Space(), 2); !ok || !two.Equal(mine) {
		t.Error("the key of epoch 2 was not kept")
	}

	// Another's genesis in its place is found.
	_, stranger, _ := byFile(t)
	defer stranger.Close()
	theirs, err := os.ReadFile(filepath.Join(stranger.dir, genesisFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, genesisFile), theirs, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Genesis(); !errors.Is(err, ErrSwapped) {
		t.Errorf("exchanged genesis: %v", err)
	}
}
