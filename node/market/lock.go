package market

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/trade"
)

// lockEvery is how often it is tried to take a lock that somebody else has.
const lockEvery = 20 * time.Millisecond

// locked calls f while nobody else has the lock of a file, neither in this process nor
// in another, such as a command beside the node. It waits until ctx ends.
func (b *Buyer) locked(ctx context.Context, file string, f func() error) error {
	l, err := filelock.Take(file)
	for ; errors.Is(err, memory.ErrInUse); l, err = filelock.Take(file) {
		if !wait.For(ctx, lockEvery) {
			return errors.Join(ctx.Err(), err)
		}
	}
	if err != nil {
		return err
	}
	return errors.Join(f(), l.Release())
}

// moving calls f while nobody else processes an order. The locks of other orders stay
// free, however long its market takes.
func (b *Buyer) moving(ctx context.Context, order trade.Hash, f func() error) error {
	dir := filepath.Join(b.Dir, ordersDir)
	if err := atomicfile.MkdirAll(dir); err != nil {
		return err
	}
	return b.locked(ctx, filepath.Join(dir, "."+order.String()+".lock"), f)
}

// movingLocked is moving, with the changes that others made to the order before it.
func (b *Buyer) movingLocked(ctx context.Context, o *Bought, f func() error) error {
	return b.moving(ctx, o.State.ID, func() error {
		now, err := Read(b.file(o.State.ID))
		switch {
		case errors.Is(err, fs.ErrNotExist): // o is from a file elsewhere
		case err != nil:
			return err
		case now.Chain.Extends(&o.Chain):
			*o = *now
		}
		return f()
	})
}
