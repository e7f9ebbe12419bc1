package atomicfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Whatever bit of a checked file is flipped, the file is refused, or its JSON is.
func TestChecksumDetectsEveryBit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	want := "{\"zones\": [\"home\", 4711]}\n"
	if err := WriteChecked(path, []byte(want)); err != nil {
		t.Fatal(err)
	}
	for _, read := range []func(string) ([]byte, error){ReadChecked, ReadCopy} {
		if b, err := read(path); err != nil || string(b) != want {
			t.Fatalf("%q, %v", b, err)
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(p []byte, what string, n int) {
		t.Helper()
		if err := os.WriteFile(path, p, 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := ReadChecked(path)
		if err == nil && json.Valid(b) && string(b) != want && string(b)+"\n" != want {
			t.Fatalf("%s %d passes as %q", what, n, b)
		}
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
	}
	for bit := range len(file) * 8 {
		p := bytes.Clone(file)
		p[bit/8] ^= 1 << (bit % 8)
		try(p, "bit", bit)
	}
	for cut := range len(file) {
		try(file[:cut], "cut at", cut)
	}
}

// A file that a person wrote has no hash.
func TestFileWithoutChecksum(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, text := range []string{"", "[]", "[\n]\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if b, err := ReadChecked(path); err != nil || string(b) != text {
			t.Errorf("%q: %q, %v", text, b, err)
		}
	}
}
