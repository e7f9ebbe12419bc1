package seal

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

// Every length around the chunks can be read back, with the same sealed bytes each time; every cut
// and every change is detected.
func TestStream(t *testing.T) {
	key := NewKey()
	for _, n := range []int{0, 1, streamChunk - 1, streamChunk, streamChunk + 1, 3 * streamChunk} {
		plain := bytes.Repeat([]byte{7, 1, 2}, n/3+1)[:n]
		sealed, err := io.ReadAll(SealStream(key, iotest.HalfReader(bytes.NewReader(plain))))
		if err != nil {
			t.Fatal(err)
		}
		again, err := io.ReadAll(SealStream(key, bytes.NewReader(plain)))
		if err != nil || !bytes.Equal(sealed, again) {
			t.Fatalf("%d bytes: sealed twice, and different: %v", n, err)
		}
		if got, err := io.ReadAll(OpenStream(key, iotest.HalfReader(bytes.NewReader(sealed)))); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d bytes: %d came back, %v", n, len(got), err)
		}
		cuts := []int{0, 1, len(sealed) - 1}
		if n > streamChunk {
			cuts = append(cuts, streamChunk+16)
		}
		for _, cut := range cuts {
			if _, err := io.ReadAll(OpenStream(key, bytes.NewReader(sealed[:cut]))); !errors.Is(err, ErrOpen) {
				t.Errorf("%d bytes cut to %d: %v", n, cut, err)
			}
		}
		for _, at := range []int{0, len(sealed) / 2, len(sealed) - 1} {
			bad := bytes.Clone(sealed)
			bad[at] ^= 1
			if _, err := io.ReadAll(OpenStream(key, bytes.NewReader(bad))); !errors.Is(err, ErrOpen) {
				t.Errorf("%d bytes, changed at %d: %v", n, at, err)
			}
		}
		if _, err := io.ReadAll(OpenStream(NewKey(), bytes.NewReader(sealed))); !errors.Is(err, ErrOpen) {
			t.Errorf("another key: %v", err)
		}
		// Two chunks swapped.
		if n == 3*streamChunk {
			c := streamChunk + 16
			bad := append(append(bytes.Clone(sealed[c:2*c]), sealed[:c]...), sealed[2*c:]...)
			if _, err := io.ReadAll(OpenStream(key, bytes.NewReader(bad))); !errors.Is(err, ErrOpen) {
				t.Errorf("exchanged chunks: %v", err)
			}
		}
	}
	// A full chunk followed by an empty last one is refused: a plaintext has only one form.
	a := streamAEAD(key)
	var nonce, last [12]byte
	last[10], last[11] = 1, 1
	two := a.Seal(a.Seal(nil, nonce[:], make([]byte, streamChunk), nil), last[:], nil, nil)
	if _, err := io.ReadAll(OpenStream(key, bytes.NewReader(two))); !errors.Is(err, ErrOpen) {
		t.Errorf("an empty end: %v", err)
	}
}
