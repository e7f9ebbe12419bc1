package node

import (
	"context"
	"errors"
	"io"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/claim"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/replica"
)

// mediaSafe is cold.Config's Safe: the house has the blob, as its note says. It has
// the note, too, where it is what the replica speaks with; a device with a shelf
// keeps the sealed bytes there.
func (n *Node) mediaSafe(o *session) func(context.Context, memory.ID) (bool, error) {
	house := n.spaceAt(o, o.relay)
	return func(ctx context.Context, name memory.ID) (bool, error) {
		b, err := o.syncJournal.RemoteBlob(ctx, name)
		if errors.Is(err, memory.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		shown, err := replica.ShowsBlob(ctx, house, b, func() (io.ReadCloser, error) {
			r, _, err := o.syncJournal.OpenBlob(ctx, name)
			return r, err
		})
		return claim.Bytes{Noted: true, Shown: shown}.MayGo(), err
	}
}

// bring has a photo or recording come here that lies at the relay.
func (o *session) bring(ctx context.Context, name memory.ID) error {
	if r := o.replica(); r != nil {
		return r.FetchBlob(ctx, name)
	}
	return errAlone
}

// mediaHome brings the photos and recordings here that lie at the relay alone.
// left is how many could not be brought.
func (n *Node) mediaHome(ctx context.Context, o *session) (left int, err error) {
	r := o.replica()
	if r == nil {
		return 0, nil
	}
	var away []delta.Blob
	err = o.store.View(ctx, func(tx *store.Tx) (err error) { away, err = o.syncJournal.Away(tx); return err })
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, b := range away {
		name, err := memory.ParseID(b.Name)
		if err == nil {
			err = r.FetchBlob(ctx, name)
		}
		if err != nil && !errors.Is(err, memory.ErrNotFound) { // erased meanwhile
			left, errs = left+1, append(errs, err)
		}
		if ctx.Err() != nil {
			return left, ctx.Err()
		}
	}
	return left, errors.Join(errs...)
}
