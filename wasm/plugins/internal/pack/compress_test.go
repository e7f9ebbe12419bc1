package pack

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// A module can be decompressed with the dictionary with which it was compressed, and with no other.
func TestCompress(t *testing.T) {
	shared := make([]byte, 100_000)
	if _, err := rand.NewChaCha8([32]byte{1}).Read(shared); err != nil {
		t.Fatal(err)
	}
	module := append(bytes.Clone(shared[20_000:90_000]), "its own code"...)
	z, err := Compress(module, shared)
	if err != nil {
		t.Fatal(err)
	}
	if alone, err := Compress(module, nil); err != nil || len(z) > len(alone)/2 {
		t.Errorf("%d bytes, alone %d, %v", len(z), len(alone), err)
	}
	if got, err := Decompress(z, shared); err != nil || !bytes.Equal(got, module) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	other := bytes.Clone(shared)
	other[40_000] ^= 1
	for name, dict := range map[string][]byte{"none": nil, "another": other} {
		if got, err := Decompress(z, dict); err == nil {
			t.Errorf("%s: %d bytes came", name, len(got))
		}
	}
}
