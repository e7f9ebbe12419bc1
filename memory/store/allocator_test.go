package store

import (
	"bytes"
	"testing"

	"github.com/dgraph-io/ristretto/v2/z"
)

// Badger builds tables in such buffers. On 32-bit machines Ristretto 2.2.0 gives the same bytes out
// twice: GOARCH=386 go test (docs/decisions.md, "Why is a copy of Ristretto in the tree?").
func TestBuffersDoNotOverlap(t *testing.T) {
	a := z.NewAllocator(512, "test")
	defer a.Release()
	first := a.Allocate(400)
	copy(first, bytes.Repeat([]byte{1}, 400))
	copy(a.Allocate(400), bytes.Repeat([]byte{2}, 400))
	if !bytes.Equal(first, bytes.Repeat([]byte{1}, 400)) {
		t.Error("the second buffer overwrites the first")
	}
}
