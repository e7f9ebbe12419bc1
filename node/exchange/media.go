package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/cold"
	"github.com/locket-dev/locket/node/remotes"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/claim"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/replica"
)

// MediaSafe is cold.Config.EnsureStored. It reports whether the primary relay holds both the
// blob and the delta that names it. Without an envelope store, the replica's note
// about the blob is checked with the relay; with one, the store has the sealed bytes
// for the check.
func (sy *Syncing) MediaSafe() func(context.Context, memory.ID) (bool, error) {
	primary := sy.Space()
	return func(ctx context.Context, name memory.ID) (bool, error) {
		b, err := sy.journal.RemoteBlob(ctx, name)
		if errors.Is(err, memory.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		shown, err := replica.ShowsBlob(ctx, primary, b, func() (io.ReadCloser, error) {
			r, _, err := sy.journal.OpenBlob(ctx, name)
			return r, err
		})
		return claim.Bytes{Noted: true, Shown: shown}.MayGo(), err
	}
}

// FetchMedia fetches a photo or recording from the relay.
func (sy *Syncing) FetchMedia(ctx context.Context, name memory.ID) error {
	if r := sy.Replica(); r != nil {
		return r.FetchBlob(ctx, name)
	}
	return ErrAlone
}

// FetchAllMedia fetches all photos and recordings that only the relay has. left is how
// many it could not fetch.
func (sy *Syncing) FetchAllMedia(ctx context.Context) (left int, err error) {
	r := sy.Replica()
	if r == nil {
		return 0, nil
	}
	var away []delta.Blob
	err = sy.c.Store.View(ctx, func(tx *store.Tx) (err error) { away, err = sy.journal.MissingBlobs(tx); return err })
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, b := range away {
		name, err := memory.ParseID(b.Name)
		if err == nil {
			err = r.FetchBlob(ctx, name)
		}
		if err != nil && !errors.Is(err, memory.ErrNotFound) { // it was erased meanwhile
			left, errs = left+1, append(errs, err)
		}
		if ctx.Err() != nil {
			return left, ctx.Err()
		}
	}
	return left, errors.Join(errs...)
}

// fetchFromPrimary fetches everything that only the primary relay has, before the wearer
// leaves that relay. If something can't be fetched, the error is serve.ErrConflict
// with the number.
func (sc Syncer) fetchFromPrimary(ctx context.Context) error {
	sy, release, err := sc.of.Use()
	if err != nil {
		return err
	}
	defer release()
	if missing, err := sy.c.FetchCold(ctx); errors.Is(err, cold.ErrUnreachable) {
		return fmt.Errorf("%w: %d memories are cold at the relay that is to be left, and can't be fetched now", serve.ErrConflict, missing)
	} else if err != nil {
		return err
	}
	if left, err := sy.FetchAllMedia(ctx); err != nil {
		return fmt.Errorf("%w: %d photos and recordings lie at the relay that is to be left, and can't be fetched now: %v", serve.ErrConflict, left, err)
	}
	return nil
}

// copyToEnvelopes copies the photos and recordings that are here into the envelope store, so
// that the relay to which the wearer moves gets them even if the previous one has lost
// them.
func (sc Syncer) copyToEnvelopes(ctx context.Context, p *remotes.Remotes) error {
	sy, release, err := sc.of.Use()
	if err != nil {
		return err
	}
	defer release()
	notes, err := sy.journal.NotedBlobs(ctx)
	if err != nil {
		return err
	}
	for _, b := range notes {
		if _, here := p.BlobRemotes(b.Sealed); here {
			continue
		}
		name, err := memory.ParseID(b.Name)
		if err != nil {
			return err
		}
		_, err = replica.KeepsBlob(ctx, p.Envelopes, b, func() (io.ReadCloser, error) {
			r, _, err := sy.journal.OpenBlob(ctx, name)
			return r, err
		})
		if err != nil && !errors.Is(err, memory.ErrNotFound) && !errors.Is(err, memory.ErrDamaged) { // a relay or another device may have it
			return err
		}
	}
	return nil
}
