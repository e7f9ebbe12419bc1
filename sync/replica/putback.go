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

// PutBack makes sure that a remote has the blob of a note. If the remote has
// lost it or shows other bytes, PutBack uploads it again and returns sent ==
// true. Before the upload it calls doubt, which makes the next round check the
// blob again, because its memory may have been forgotten elsewhere meanwhile.
// PutBack returns the remote's errors, [ErrNotFound] if neither the remote nor
// this device has the bytes, [ErrForbidden] if this member may not replace the
// remote's copy, and [ErrBlob] if the remote shows other bytes again after the
// upload.
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
	intact := err == nil && id == b.Sealed && n == b.Size
	if has {
		if intact {
			err = compareBlob(ctx, at, b, open)
		} else {
			_, err = at.Piece(ctx, b.Sealed, 0, min(shownPiece, size), size)
		}
		if err == nil || !errors.Is(err, ErrBlob) && !errors.Is(err, ErrNotFound) {
			return false, err
		}
	}
	if !intact {
		return false, fmt.Errorf("blob %s: %w, nor here", b.Name, ErrNotFound)
	}
	if err := doubt(ctx, b.Sealed); err != nil {
		return false, err
	}
	if has { // a remote does not accept a blob that it believes to have; after a crash here, the doubt makes the next round send it
		if err := at.DeleteBlob(ctx, b.Sealed, nil); err != nil {
			return false, err
		}
	}
	return ShowsBlob(ctx, at, b, open)
}
