package replica

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// PutBack sees that a place has a blob as its note says, and sends it again where
// the place has lost it, or shows something else: then sent is true. doubt is
// called before, and has the blob looked at once more after the next round: its
// memory may have been forgotten elsewhere meanwhile. The errors of a place that
// was asked: [ErrNotFound] where the bytes are neither there nor here;
// [ErrForbidden] where this member may not replace what is there; [ErrBlob] where
// the place shows something else again.
func PutBack(ctx context.Context, at Blobs, b delta.Blob, open func() (io.ReadCloser, error), doubt func(context.Context, envelope.Hash) error) (sent bool, err error) {
	size := int64(b.Size)
	has, err := at.Holds(ctx, b.Sealed, size)
	if err != nil {
		return false, err
	}
	id, n, err := sealedOf(b, open)
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		return false, err
	}
	here := err == nil && id == b.Sealed && n == b.Size
	if has {
		if here {
			err = shows(ctx, at, b, open)
		} else {
			_, err = at.Piece(ctx, b.Sealed, 0, min(shownPiece, size), size)
		}
		if err == nil || !errors.Is(err, ErrBlob) && !errors.Is(err, ErrNotFound) {
			return false, err
		}
	}
	if !here {
		return false, fmt.Errorf("blob %s: %w, nor here", b.Name, ErrNotFound)
	}
	if err := doubt(ctx, b.Sealed); err != nil {
		return false, err
	}
	if has { // a place keeps what it takes for whole; if this ends here, the doubt has it sent again
		if err := at.DeleteBlob(ctx, b.Sealed, nil); err != nil {
			return false, err
		}
	}
	return ShowsBlob(ctx, at, b, open)
}
