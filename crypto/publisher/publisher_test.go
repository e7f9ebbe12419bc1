package publisher

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age/armor"
)

func TestCreateReadRoundTrip(t *testing.T) {
	for name, pass := range map[string]string{"plain": "", "wrapped": "a good one"} {
		path := filepath.Join(t.TempDir(), "ann.key")
		pub, err := Create(path, pass)
		if err != nil {
			t.Fatal(err)
		}
		asked := 0
		key, err := Read(path, func() (string, error) { asked++; return pass, nil })
		if err != nil || !bytes.Equal(key.Public().(ed25519.PublicKey), pub) {
			t.Errorf("%s: %v", name, err)
		}
		if want := len(pass); (asked > 0) != (want > 0) {
			t.Errorf("%s: asked %d times", name, asked)
		}
		b, err := os.ReadFile(path)
		if err != nil || bytes.Contains(b, []byte(hex.EncodeToString(key.Seed()))) != (pass == "") {
			t.Errorf("%s: %v\n%s", name, err, b)
		}
		st, err := os.Stat(path)
		if err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, st, err)
		}
		if b, err := os.ReadFile(path + ".pub"); err != nil || string(b) != hex.EncodeToString(pub)+"\n" {
			t.Errorf("%s: %s, %v", name, b, err)
		}
		if _, err := Create(path, pass); !errors.Is(err, ErrExists) {
			t.Errorf("%s: written over: %v", name, err)
		}
	}
}

// If one of the two files can't be created, neither is: otherwise there would be a key that its
// author believes was not made.
func TestCreateIsAllOrNothing(t *testing.T) {
	for _, there := range []string{"ann.key", "ann.key.pub"} {
		dir := t.TempDir()
		path := filepath.Join(dir, there)
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Create(filepath.Join(dir, "ann.key"), ""); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), there) {
			t.Errorf("%s is there: %v", there, err)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != 1 {
			t.Errorf("%s was there: %v, %v", there, left, err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != "mine" {
			t.Errorf("%s: %q, %v", there, b, err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "k")
	if _, err := Create(path, "right"); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, func() (string, error) { return "wrong", nil }); !errors.Is(err, ErrPassphrase) {
		t.Error(err)
	}
	if _, err := Read(path, func() (string, error) { return "", nil }); !errors.Is(err, ErrPassphrase) {
		t.Error(err)
	}
	open := filepath.Join(dir, "open")
	if _, err := Create(open, ""); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(open, nil); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), "chmod 600") {
		t.Error(err)
	}
	for system, want := range map[string]map[fs.FileMode]bool{
		"linux":   {0o600: false, 0o400: false, 0o640: true, 0o666: true},
		"windows": {0o666: false, 0o444: false}, // there is no other mode
	} {
		for mode, want := range want {
			if got := openToOthers(system, mode); got != want {
				t.Errorf("%s, %04o: open to others: %v", system, mode, got)
			}
		}
	}
	for _, text := range []string{"", "x", prefix, prefix + "00", prefix + strings.Repeat("0", 66), prefix + strings.Repeat("g", 64), strings.Repeat("x", maxFile+1)} {
		bad := filepath.Join(dir, "bad")
		if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(bad, nil); !errors.Is(err, ErrKey) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// A key that demands more work than its passphrase is worth is refused before that work begins.
func TestWorkFactorIsCapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k")
	if _, err := Create(path, "p"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(armor.NewReader(bytes.NewReader(b)))
	if err != nil {
		t.Fatal(err)
	}
	var asks bytes.Buffer
	w := armor.NewWriter(&asks)
	if _, err := w.Write(bytes.Replace(plain, []byte(" 15\n"), []byte(" 19\n"), 1)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, asks.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path, func() (string, error) { return "p", nil }); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), "work factor too large") {
		t.Error(err)
	}
}
