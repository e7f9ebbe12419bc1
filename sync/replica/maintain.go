package replica

import (
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/claim"
	"github.com/locket-dev/locket/sync/envelope"
)

// maxMaintain is how often one round reads again because the relay got new deltas
// meanwhile.
const maxMaintain = 3

// maintain resolves doubts. It makes sure that the relay has each blob that a
// note names, and deletes the blobs that no note names any more.
func (r *Replica) maintain(ctx context.Context) error {
	for range maxMaintain {
		doubts, err := r.c.Journal.Doubts(ctx)
		if err != nil || len(doubts) == 0 {
			return err
		}
		// Before a blob is deleted, this member must have read everything that
		// the relay has, including the deltas of this round.
		if err := r.pull(ctx); err != nil {
			return err
		}
		if doubts, err = r.c.Journal.Doubts(ctx); err != nil {
			return err
		}
		moved, err := r.resolveDoubts(ctx, doubts)
		if err != nil || !moved {
			return err
		}
	}
	return nil // the new deltas wake the replica again, and the next round continues
}

// resolveDoubts resolves doubts. moved reports that the relay got new deltas before
// all doubts were resolved.
func (r *Replica) resolveDoubts(ctx context.Context, doubts []Doubt) (moved bool, err error) {
	me, _ := r.log.Member(r.c.Member)
	at := r.st.Cursor
	what := claim.Doubt{Whole: r.readEverything(), Owner: me.Role == envelope.Owner}
	var done []envelope.Hash
	for _, d := range doubts {
		what.Named = d.Note != nil && me.Role.PutsBlobs()
		switch what.Verdict() {
		case claim.Wait:
			continue
		case claim.See:
			err = r.ensureBlob(ctx, d)
		case claim.Delete:
			err = r.c.Remote.DeleteBlob(ctx, d.Sealed, &at)
			if errors.Is(err, ErrConflict) {
				moved, err = true, nil
				continue
			}
		case claim.Leave:
		}
		if errors.Is(err, ErrBlob) { // the blob is checked again in each round, and the rest goes on
			p := Problem{At: r.c.Now(), Member: r.c.Member, Reason: fmt.Sprintf("blob %s: the relay shows something else: %v", d.Sealed, err)}
			if err = r.c.Journal.Quarantine(ctx, p); err == nil {
				continue
			}
		}
		if errors.Is(err, ErrUnreadable) || errors.Is(err, ErrNoRoom) {
			r.deferBlob(waiting{sealed: d.Sealed}, "blob "+d.Sealed.String(), err)
			err = nil
			continue
		}
		if err != nil {
			err = fmt.Errorf("blob %s: %w", d.Sealed, err)
			break
		}
		done = append(done, d.Sealed)
	}
	if len(done) == 0 {
		return moved, err
	}
	return moved, errors.Join(err, r.c.Journal.RemoveDoubts(ctx, done))
}

// readEverything reports whether this member has read everything at the relay,
// including the bodies of all members that may name blobs.
func (r *Replica) readEverything() bool {
	if !r.readAll || r.withheldMayNameBlob() || len(r.st.Ahead) > 0 {
		return false
	}
	for n := r.log.Epoch(); n > 0; n-- {
		if _, ok := r.c.Keys.Epoch(n); !ok {
			return false
		}
	}
	return true
}

// ensureBlob makes sure that the relay has a blob that a note names, and makes the
// relay prove it, if this device has the bytes. If it does not, another device
// that has them does the same.
func (r *Replica) ensureBlob(ctx context.Context, d Doubt) error {
	name, err := memory.ParseID(d.Note.Name)
	if err != nil {
		return err
	}
	open := r.blob(ctx, name)
	id, size, err := sealedOf(*d.Note, open)
	lacks := errors.Is(err, memory.ErrNotFound) || errors.Is(err, memory.ErrDamaged)
	if lacks || err == nil && (id != d.Sealed || size != d.Note.Size) {
		_, err := r.c.Remote.Holds(ctx, d.Sealed, int64(d.Note.Size))
		return err
	}
	if err != nil {
		return err
	}
	has, err := r.c.Remote.Holds(ctx, d.Sealed, int64(size))
	if err == nil && !has {
		if _, err = KeepsBlob(ctx, r.c.Remote, *d.Note, open); err == nil {
			has, err = r.c.Remote.Holds(ctx, d.Sealed, int64(size))
		}
	}
	if err != nil {
		return err
	}
	if !has {
		return fmt.Errorf("%w: it was sent, but the relay does not have it", ErrNotFound)
	}
	if r.c.Local { // this device's own disk need not prove anything
		return nil
	}
	if err = compareBlob(ctx, r.c.Remote, *d.Note, open); errors.Is(err, ErrNotFound) {
		err = fmt.Errorf("%w: the relay lists it, but does not return it", ErrBlob)
	}
	return err
}
