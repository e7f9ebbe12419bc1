package replica

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/locket-dev/locket/sync/envelope"
)

// reread reads everything that the relay has, from the first delta on, takes
// what is missing, and continues from the end. It is needed because after a lie
// the cursor may stand at a place that means something else to an honest relay.
// Every chain must be complete and must reach as far as this member took it.
// Otherwise reread keeps only the deltas that it could take, and returns an
// error that says what is wrong.
func (r *Replica) reread(ctx context.Context) error {
	if err := r.readCheckpoints(ctx); err != nil {
		return err
	}
	shown, late := map[string]envelope.Link{}, map[uint64]envelope.Hash{}
	after, bad, wrongs := uint64(0), error(nil), 0
	for wrongs < maxWrong {
		page, err := r.c.Remote.Deltas(ctx, after)
		if err != nil {
			return fmt.Errorf("deltas after %d: %w", after, err)
		}
		if len(page) == 0 {
			break
		}
		for _, p := range page {
			if p.Cursor != after+1 {
				return fmt.Errorf("deltas after %d: %w: the next has cursor %d", after, envelope.ErrForm, p.Cursor)
			}
			after = p.Cursor
			wrong, err := r.reconsider(ctx, p, shown, late)
			if errors.Is(err, errNoBody) {
				return r.adoptInstead(ctx, max(p.Cursor, r.st.Cursor))
			}
			if err != nil {
				return err
			}
			r.c.OnTaken(ctx)
			if wrong != nil {
				wrongs++
				if bad == nil {
					bad = &servedError{p.Cursor, wrong}
				}
			}
		}
	}
	if bad != nil {
		return bad
	}
	for chain, l := range r.st.Chains.All() {
		if shown[chain].Seq < l.Seq {
			return fmt.Errorf("deltas: %w: chain %s: it has %d, but had shown %d", ErrRolledBack, chain, shown[chain].Seq, l.Seq)
		}
	}
	if own := shown[chainKey(r.c.Member, r.st.Incarnation)]; own.Seq < r.st.Own.Seq {
		return fmt.Errorf("deltas: %w: chain of this device: it has %d, but had accepted %d", ErrRolledBack, own.Seq, r.st.Own.Seq)
	}
	next := r.st.clone()
	next.Cursor = after
	clear(next.Ahead)
	next.Late = late
	return r.save(ctx, next)
}

// reconsider handles one delta of a full read. shown says how far the relay has
// shown each chain. late collects the deltas that removed members sent after
// their removal.
func (r *Replica) reconsider(ctx context.Context, p Placed, shown map[string]envelope.Link, late map[uint64]envelope.Hash) (bad, err error) {
	d, m, bad := r.check(ctx, p.Delta)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.Is(bad, envelope.ErrLate) {
		if r.tookBeforeRemoval(&d.Header, shown) {
			return nil, nil
		}
		if len(late) < maxLate {
			late[p.Cursor] = d.Header.Hash()
		}
		return nil, r.quarantine(ctx, p, d, bad)
	}
	if bad != nil {
		return bad, r.quarantine(ctx, p, d, bad)
	}
	h := &d.Header
	chain := chainKey(h.Member, h.Incarnation)
	bad = shown[chain].Check(h)
	have := r.st.Chains.Link(chain)
	switch {
	case errors.Is(bad, envelope.ErrKnown) || errors.Is(bad, envelope.ErrRule):
		bad = fmt.Errorf("%w: %w", ErrRepeated, bad)
	case bad == nil && h.Seq == have.Seq && h.Hash() != have.Hash:
		bad = &envelope.ForkError{What: "member " + h.Member.String(), At: h.Seq, Ours: have.Hash, Theirs: h.Hash()}
	case bad == nil && h.Seq == have.Seq+1:
		bad = have.Check(h)
	}
	if bad != nil {
		return bad, r.quarantine(ctx, p, d, bad)
	}
	shown[chain] = h.Next()
	if h.Seq <= have.Seq {
		if _, bare := slices.BinarySearch(r.st.MissingBodies[chain], h.Seq); bare && d.Body != nil { // this member did not have its body
			return nil, r.apply(ctx, p, d, &m, r.st.clone())
		}
		return nil, nil // it was taken before
	}
	if r.lacksBody(d) && r.bestCheckpoint(max(p.Cursor, r.st.Cursor), true) != nil {
		return nil, errNoBody
	}
	return nil, r.accept(ctx, p, d, m, r.st.clone())
}

// tookBeforeRemoval reports whether this member took a delta that a removal leaves
// out, before it learned of the removal. The relay has that delta, so its chain
// still reaches as far as it was taken. No signature is checked here. Either
// the hashes lead to the last delta that was taken, or the chain is found to be
// too short.
func (r *Replica) tookBeforeRemoval(h *envelope.Header, shown map[string]envelope.Link) bool {
	chain := chainKey(h.Member, h.Incarnation)
	have := r.st.Chains.Link(chain)
	if h.Seq > have.Seq || h.Seq == have.Seq && h.Hash() != have.Hash || shown[chain].Check(h) != nil {
		return false
	}
	shown[chain] = h.Next()
	return true
}

// adoptInstead continues from a snapshot that has the content of a missing body
// at cursor.
func (r *Replica) adoptInstead(ctx context.Context, cursor uint64) error {
	l := r.bestCheckpoint(cursor, true)
	if _, err := r.adopt(ctx, l); err != nil {
		return err
	}
	return r.takeNew(ctx)
}

// maxLate is how many late deltas of removed members are remembered with their
// cursors.
const maxLate = 64

// recheck checks, once for each Replica value, whether the relay still has the
// late deltas of removed members at the cursors where it served them. If the
// relay served such a delta only to make this member skip the true delta at
// that cursor, recheck returns an error.
func (r *Replica) recheck(ctx context.Context) error {
	if r.rechecked {
		return nil
	}
	for cursor, hash := range maps.Clone(r.st.Late) {
		page, err := r.c.Remote.Deltas(ctx, cursor-1)
		if err != nil {
			return fmt.Errorf("deltas after %d: %w", cursor-1, err)
		}
		var d *envelope.Delta
		if len(page) > 0 {
			d, err = envelope.ParseDelta(page[0].Delta)
		}
		if err != nil || d == nil || d.Header.Hash() != hash {
			return &servedError{cursor, fmt.Errorf("%w: it shows another delta at this cursor than before", ErrRolledBack)}
		}
	}
	r.rechecked = true
	return nil
}
