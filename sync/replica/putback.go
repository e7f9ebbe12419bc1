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

// PutBack makes sure that a remote has a blob as its note says, and uploads it
// again if the remote has lost it or shows something else. Then sent is true.
// PutBack first calls doubt, which has the blob checked again after the next
// round, because its memory may have been forgotten elsewhere meanwhile. It
// returns the remote's errors, [ErrNotFound] if the bytes are neither there nor
// here, [ErrForbidden] if this member may not replace what is there, and
// [ErrBlob] if the remote shows something else again.
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
	if has { // a remote keeps what it takes for whole; if this ends here, the doubt has it sent again
		if err := at.DeleteBlob(ctx, b.Sealed, nil); err != nil {
			return false, err
		}
	}
	return ShowsBlob(ctx, at, b, open)
}
