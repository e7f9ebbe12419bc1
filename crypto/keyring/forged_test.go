package keyring

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
)

// The part that identifies a ring has all of its fields, and no others.
func TestPublicPartHasAllFields(t *testing.T) {
	dir, _, _ := byFile(t)
	whole, err := readFile(filepath.Join(dir, publicFile), publicFile)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(map[string]any){
		"another field": func(p map[string]any) { p["more"] = 1 },
		"no space":      func(p map[string]any) { delete(p, "space") },
		"a short key":   func(p map[string]any) { p["device"] = "AAAA" },
		"no root":       func(p map[string]any) { delete(p, "root") },
		"no pair":       func(p map[string]any) { delete(p, "pair") },
		"no recovery":   func(p map[string]any) { delete(p, "recovery") },
		"no journal":    func(p map[string]any) { delete(p, "journal") },
		"no vault":      func(p map[string]any) { delete(p, "vault") },
	} {
		p := map[string]any{}
		if err := json.Unmarshal(whole, &p); err != nil {
			t.Fatal(err)
		}
		change(p)
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		rewrite(t, dir, publicFile, func([]byte) []byte { return b })
		if _, err := Open(dir); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), publicFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A wrap that opens but holds something other than this ring's key is reported, and nothing else is
// wrapped in its place.
func TestForgedWraps(t *testing.T) {
	dir, r, _ := byFile(t)
	key, err := readKeyFile(filepath.Join(dir, DefaultKeyFile))
	if err != nil {
		t.Fatal(err)
	}
	short := &keyWrap{Path: DefaultKeyFile, Sealed: key.Seal(nil, make([]byte, 47), bound(WrapKeyFile.file(), r.public.Ring))}
	b, err := json.Marshal(short)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := readWrap(dir, WrapKeyFile)
	if err != nil {
		t.Fatal(err)
	}
	rewrite(t, dir, WrapKeyFile.file(), func([]byte) []byte { return b })
	if _, err := unlock(t, dir, KeyFile("")); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), WrapKeyFile.file()) {
		t.Errorf("a wrap of fewer bytes: %v", err)
	}
	rewrite(t, dir, WrapKeyFile.file(), func([]byte) []byte { return whole })

	light := passphraseWrap{"p", 10}
	if err := light.wrap(dir, RingID{1}, seal.NewKey()); err != nil {
		t.Fatal(err)
	}
	if _, err := unlock(t, dir, Passphrase("p")); !errors.Is(err, ErrSwapped) || !strings.Contains(err.Error(), WrapPassphrase.file()) {
		t.Errorf("another ring's wrap: %v", err)
	}
	if err := light.wrap(dir, r.public.Ring, seal.NewKey()); err != nil {
		t.Fatal(err)
	}
	if err := r.ChangePassphrase(ctx, Passphrase("p"), "q"); !errors.Is(err, ErrSwapped) {
		t.Errorf("another key is wrapped: %v", err)
	}
	if _, err := unlock(t, dir, KeyFile("")); err != nil {
		t.Errorf("the key file: %v", err)
	}
}

// Private halves that don't match the public ones are detected, even if whoever put them there has
// the keys.
func TestForgedRing(t *testing.T) {
	for name, change := range map[string]func(*Ring){
		"device":  func(r *Ring) { r.device = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) },
		"pair":    func(r *Ring) { r.pair = seal.NewIdentity() },
		"journal": func(r *Ring) { r.journal = seal.NewIdentity() },
		"id key":  func(r *Ring) { delete(r.keys, idKeyName) },
	} {
		dir, r, _ := byFile(t)
		change(r)
		if err := r.writeSecrets(r.keys); err != nil {
			t.Fatal(err)
		}
		if _, err := unlock(t, dir, KeyFile("")); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), ringFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
	dir, r, _ := byFile(t)
	kek, err := r.kek(ctx, KeyFile(""))
	if err != nil {
		t.Fatal(err)
	}
	if err := writeVault(dir, r.public.Ring, kek, seal.NewIdentity()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.OpenVault(ctx, KeyFile(""), time.Minute); !errors.Is(err, ErrSwapped) || !strings.Contains(err.Error(), vaultFile) {
		t.Errorf("vault: %v", err)
	}
}

// An epoch's key that is already stored stays, whoever sends another.
func TestStoredEpochKeyIsNotReplaced(t *testing.T) {
	_, r, _ := byFile(t)
	first := seal.NewKey()
	for _, k := range []*seal.Key{first, seal.NewKey()} {
		if err := r.KeepEpochs(memory.SpaceID{7}, seal.Epochs{3: k}); err != nil {
			t.Fatal(err)
		}
	}
	if k, ok := r.Epoch(memory.SpaceID{7}, 3); !ok || !k.Equal(first) {
		t.Error("another key took its place")
	}
}

// A ring can't be made to sign something as a request that is not one, such as what a device signs
// otherwise.
func TestOnlyRequestsAreSigned(t *testing.T) {
	_, r, _ := byFile(t)
	for _, base := range []string{"", string(signed("delta header", []byte("x")))} {
		if _, err := r.SignRequest([]byte(base)); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%q: %v", base, err)
		}
	}
	if sig, err := r.SignRequest([]byte(`"@method": GET`)); err != nil || len(sig) != ed25519.SignatureSize {
		t.Error(len(sig), err)
	}
	if Verify(nil, "x", nil, nil) || Verify(make([]byte, 31), "x", nil, nil) {
		t.Error("a key of another length verifies")
	}
}

// A reader's key with a valid checksum is complete.
func TestReaderKeyChecksum(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	for _, n := range []int{0, 31, 63, 65} {
		if err := writeFile(path, readerName, bytes.Repeat([]byte("00"), n)); err != nil {
			t.Fatal(err)
		}
		if _, err := ReaderKey(path); !errors.Is(err, ErrDamaged) {
			t.Errorf("of %d bytes: %v", n, err)
		}
	}
}

// A valid but older copy does not replace the file.
func TestOlderCopyReplacesNothing(t *testing.T) {
	dir, _, _ := byFile(t)
	path := filepath.Join(dir, ringFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeSpare(dir, ringFile, []byte("older")); err != nil {
		t.Fatal(err)
	}
	if _, left, err := Mend(dir, os.Remove); err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
	for _, p := range []string{path, filepath.Join(dir, spareDir, ringFile)} {
		if b, err := os.ReadFile(p); err != nil || !bytes.Equal(b, whole) {
			t.Errorf("%s is another: %v", p, err)
		}
	}
}
