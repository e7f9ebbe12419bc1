package replica

import (
	"bytes"
	"io"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/sync/delta"
)

// A note with another size than its blob has is for another blob: no remote is asked for a piece
// because of it.
func TestBlobOfAnotherSize(t *testing.T) {
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader([]byte("a plum"))), nil }
	b := delta.Blob{Key: seal.NewKey().Bytes()}
	id, size, err := sealedOf(b, open)
	if err != nil {
		t.Fatal(err)
	}
	b.Sealed = id
	for _, said := range []uint64{size - 1, size + 1, size + 1<<20} {
		b.Size = said
		if shown, err := ShowsBlob(t.Context(), nil, b, open); shown || err != nil {
			t.Errorf("%d bytes said to be %d: %v, %v", size, said, shown, err)
		}
	}
}
