package atomicfile

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testKey is a Sealer of the test's.
type testKey string

func (k testKey) MAC(label string, parts ...[]byte) (sum [32]byte) {
	m := hmac.New(sha256.New, []byte(k))
	for _, p := range append([][]byte{[]byte(label)}, parts...) {
		s := sha256.Sum256(p)
		m.Write(s[:])
	}
	return [32]byte(m.Sum(nil))
}

// A sealed file that somebody rewrote with a matching hash is detected by anybody with the key.
func TestSealed(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "f"), filepath.Join(dir, "g")
	const want = "{\"pins\": [1, 2]}\n"
	const key = testKey("k")
	if err := WriteSealed(path, []byte(strings.TrimSpace(want)), key); err != nil {
		t.Fatal(err)
	}
	for _, read := range []func(string, Sealer) ([]byte, error){ReadSealed, ReadSealedCopy} {
		for _, k := range []Sealer{key, nil} {
			if b, err := read(path, k); err != nil || string(b) != want {
				t.Fatalf("%q, %v", b, err)
			}
		}
		if _, err := read(path, testKey("another")); !errors.Is(err, ErrUnsealed) {
			t.Errorf("under another key: %v", err)
		}
	}
	sealed, err := ReadChecked(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"changed":          strings.Replace(string(sealed), "1", "3", 1),
		"without its seal": want,
		"empty":            "",
		"the seal alone":   strings.TrimPrefix(string(sealed), want),
	} {
		for how, write := range map[string]func(string, []byte) error{"with a sum": WriteChecked, "without one": func(p string, b []byte) error { return os.WriteFile(p, b, 0o600) }} {
			if err := write(path, []byte(text)); err != nil {
				t.Fatal(err)
			}
			if b, err := ReadSealed(path, key); !errors.Is(err, ErrUnsealed) && !errors.Is(err, ErrDamaged) {
				t.Errorf("%s, %s: %q, %v", name, how, b, err)
			}
		}
	}
	if err := WriteChecked(other, sealed); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSealed(other, key); !errors.Is(err, ErrUnsealed) {
		t.Errorf("under another file's name: %v", err)
	}
}
