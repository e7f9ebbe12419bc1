package replica

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/sync/envelope"
)

// A member with an envelope store gets deltas from several remotes, in its own
// order. Its cursor counts in that order, so a checkpoint's cursor means
// nothing to it, and it takes no snapshot in place of deltas. But if no remote
// has a body, this member merges a snapshot's items into its data. It then
// counts the deltas that the snapshot covers as read, whether they are in the
// store already or come later.

// SnapshotFallback is where a member with an envelope store finds snapshots.
type SnapshotFallback struct {
	Archive Archive
	At      interface {
		// Checkpoints works like [Checkpoints]. A checkpoint that several
		// remotes have may come several times, with different votes.
		Checkpoints(ctx context.Context) ([]Listed, error)
	}
}

// coverRetry is how long a member with an envelope store waits before it looks
// again for missing bodies.
const coverRetry = time.Minute

// searchSnapshots takes snapshots that contain bodies which the envelope store lacks. It
// is no error if there is none, or if it can't be fetched now.
func (r *Replica) searchSnapshots(ctx context.Context) error {
	if r.searchPause > 0 {
		r.searchPause--
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
	if err := r.mergeMissing(ctx, seen, r.c.SnapshotFallback.Archive); err != nil {
		if ctx.Err() != nil {
			return err
		}
		r.c.Log.Warn("sync: bodies are in a snapshot, which can't be had now", "error", err)
	}
	return nil
}

// mergeMissing merges snapshots that contain missing bodies. This member's
// cursor and chains stay. If none contains them, the next search waits for more
// rounds each time.
func (r *Replica) mergeMissing(ctx context.Context, seen []*listed, to Archive) error {
	for len(r.st.MissingBodies) > 0 {
		l := r.bestCovering(seen)
		if l == nil {
			r.failedSearches = min(r.failedSearches+1, maxFailedSearches)
			r.searchPause = 1<<r.failedSearches - 1
			return nil
		}
		_, err := r.adoptBy(ctx, l, func(ctx context.Context, l *listed) error { return r.mergeSnapshot(ctx, to, l) })
		if err != nil {
			return err
		}
	}
	r.failedSearches = 0
	return nil
}

// merged returns each checkpoint that counts once, with all votes on it.
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

// bestCovering returns the checkpoint that contains the most of the missing bodies.
// It prefers verified checkpoints.
func (r *Replica) bestCovering(seen []*listed) (out *listed) {
	most := 0
	for _, l := range seen {
		if l.standing == envelope.Disputed || r.wrongCheckpoints[l.hash] {
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

// mergeSnapshot merges a snapshot into this member's data.
func (r *Replica) mergeSnapshot(ctx context.Context, to Archive, l *listed) error {
	next := r.st.clone()
	if err := next.noteCovered(l.Checkpoint); err != nil {
		return err
	}
	return r.takeItems(ctx, to, l, &next)
}

// noteCovered records which deltas a snapshot covers. It returns [ErrSnapshot] if
// the snapshot's author knows another history of a chain than this member.
func (s *State) noteCovered(c *envelope.Checkpoint) error {
	for _, p := range c.Places {
		k, is := chainKey(p.Member, p.Incarnation), envelope.Link{Seq: p.Seq, Hash: p.Hash}
		if have := s.Chains.Link(k); have.Seq == is.Seq && have.Hash != is.Hash {
			return fmt.Errorf("%w: %w", ErrSnapshot, &envelope.ForkError{What: "chain " + k, At: is.Seq, Ours: have.Hash, Theirs: is.Hash})
		}
		if is.Seq > s.Read.Link(k).Seq {
			s.Read.Put(k, is)
		}
		s.dropCovered(k, is.Seq)
	}
	return nil
}

// covers reports whether a snapshot that was taken contains a delta's content. It
// returns false if the author signed another delta at the same place of its
// chain.
func (s *State) covers(chain string, h *envelope.Header) bool {
	link := s.Read.Link(chain)
	return h.Seq < link.Seq || h.Seq == link.Seq && h.Hash() == link.Hash
}
