package replica

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/sync/envelope"
)

// A member with a shelf has deltas from several places, in an order of its own.
// So a checkpoint's cursor means nothing to it, and it takes no snapshot in the
// place of deltas. But where bodies are nowhere to be had, it takes what a
// snapshot says into what it has, and counts as read what the snapshot covers of
// each chain, whether that is on the shelf already or comes later.

// SnapshotFallback is where snapshots lie for a member with a shelf.
type SnapshotFallback struct {
	Archive Archive
	At      interface {
		// Checkpoints is as of [Checkpoints]; one that several places have may be
		// given several times, with votes of its own each time.
		Checkpoints(ctx context.Context) ([]Listed, error)
	}
}

// coverAgain is how long a member with a shelf waits for bodies that are nowhere
// before it looks once more.
const coverAgain = time.Minute

// cover takes snapshots that have bodies which the shelf has not. That there is
// none, or that it can't be had now, is no error: what could be taken, was.
func (r *Replica) cover(ctx context.Context) error {
	if r.pause > 0 {
		r.pause--
		return nil
	}
	all, err := r.c.SnapshotFallback.At.Checkpoints(ctx)
	if err != nil && !errors.Is(err, ErrNotFound) {
		r.c.Log.Debug("sync: checkpoints", "error", err)
	}
	seen, err := r.merged(ctx, all)
	if err != nil {
		return err
	}
	for len(r.st.MissingBodies) > 0 {
		l := r.covering(seen)
		if l == nil {
			r.missed = min(r.missed+1, maxMissed)
			r.pause = 1<<r.missed - 1
			return nil
		}
		if _, err := r.adoptBy(ctx, l, r.takeIn); err != nil {
			if ctx.Err() != nil {
				return err
			}
			r.c.Log.Warn("sync: bodies are in a snapshot, which can't be had now", "error", err)
			return nil
		}
	}
	r.missed = 0
	return nil
}

// merged gives each checkpoint that counts once, with all the votes on it.
func (r *Replica) merged(ctx context.Context, all []Listed) (out []*listed, err error) {
	at := map[envelope.Hash]*listed{}
	for _, item := range all {
		l, err := r.listed(item)
		if err != nil {
			if err := r.snapshotProblem(ctx, err); err != nil {
				return nil, err
			}
			continue
		}
		if first := at[l.hash]; first != nil {
			first.votes = append(first.votes, l.votes...)
			first.standing = r.log.Standing(first.Checkpoint, first.votes)
			continue
		}
		at[l.hash] = l
		out = append(out, l)
	}
	return out, nil
}

// covering gives the checkpoint that has the most of the bodies that are
// missing; of those that have some, verified ones first.
func (r *Replica) covering(seen []*listed) (out *listed) {
	most := 0
	for _, l := range seen {
		if l.standing == envelope.Disputed || r.bad[l.hash] {
			continue
		}
		n := 0
		for _, p := range l.Places {
			for _, seq := range r.st.MissingBodies[chainKey(p.Member, p.Incarnation)] {
				if seq <= p.Seq {
					n++
				}
			}
		}
		better := out == nil || l.standing == envelope.Verified && out.standing != envelope.Verified
		if n > 0 && (better || l.standing == out.standing && n > most) {
			out, most = l, n
		}
	}
	return out
}

// takeIn takes a snapshot into what is here.
func (r *Replica) takeIn(ctx context.Context, l *listed) error {
	next := r.st.next()
	if err := next.coveredBy(l.Checkpoint); err != nil {
		return err
	}
	return r.takeItems(ctx, r.c.SnapshotFallback.Archive, l, &next)
}

// coveredBy notes what a snapshot covers: [ErrSnapshot] where its author has
// seen another history than this member.
func (s *State) coveredBy(c *envelope.Checkpoint) error {
	for _, p := range c.Places {
		k, is := chainKey(p.Member, p.Incarnation), envelope.Link{Seq: p.Seq, Hash: p.Hash}
		if have := s.Chains.Link(k); have.Seq == is.Seq && have.Hash != is.Hash {
			return fmt.Errorf("%w: %w", ErrSnapshot, &envelope.ForkError{What: "chain " + k, At: is.Seq, Ours: have.Hash, Theirs: is.Hash})
		}
		if is.Seq > s.Read.Link(k).Seq {
			s.Read.Put(k, is)
		}
		s.covered(k, is.Seq)
	}
	return nil
}

// read reports whether a snapshot that was taken has what a delta says. One in
// whose place its author says something else is another one's history.
func (s *State) read(chain string, h *envelope.Header) bool {
	link := s.Read.Link(chain)
	return h.Seq < link.Seq || h.Seq == link.Seq && h.Hash() == link.Hash
}
