package replica

import (
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// pull takes everything that is new at the relay. If the relay serves something
// inconsistent, an earlier lie may be the cause, and pull reads everything that
// the relay has once more.
func (r *Replica) pull(ctx context.Context) error {
	err := r.takeNew(ctx)
	if err == nil {
		err = r.recheck(ctx)
	}
	if err == nil {
		r.failedRereads, r.rereadPause = 0, 0
		switch {
		case len(r.st.MissingBodies) == 0:
			return nil
		case !r.c.Local:
			return r.searchMissing(ctx)
		case r.c.SnapshotFallback != nil:
			return r.searchSnapshots(ctx)
		}
		return nil
	}
	var bad *servedError
	if !errors.As(err, &bad) && !errors.Is(err, ErrRolledBack) {
		return err
	}
	if r.c.Local {
		return err // the error is on this device, not at the relay
	}
	if r.rereadPause > 0 {
		r.rereadPause--
		return err
	}
	switch again := r.reread(ctx); {
	case again == nil:
		r.failedRereads, r.rereadPause = 0, 0
		return nil
	case errors.As(again, &bad), errors.Is(again, ErrRolledBack):
		// A full read did not help. If pull made one in each round, a hostile
		// relay could cause that work without end, so the next one waits for
		// more rounds each time.
		r.failedRereads = min(r.failedRereads+1, maxFailedRereads)
		r.rereadPause = 1<<r.failedRereads - 1
		return err
	default:
		return errors.Join(err, again)
	}
}

// maxFailedRereads bounds the number of rounds between two full reads: at most
// 2^maxFailedRereads - 1.
const maxFailedRereads = 4

// servedError is about a delta that an honest relay would not have served.
type servedError struct {
	cursor uint64
	err    error
}

func (e *servedError) Error() string { return fmt.Sprintf("delta at %d: %v", e.cursor, e.err) }

func (e *servedError) Unwrap() error { return e.err }

// takeNew takes the deltas after the cursor. If the relay serves a delta that it
// should have refused, follow quarantines the delta and leaves the cursor
// before it, so that the next round asks for that place again. It still takes
// the deltas after it.
func (r *Replica) takeNew(ctx context.Context) error {
	after, stuck := r.st.Cursor, error(nil)
	wrong := 0
	bare, looked := uint64(0), false // bodies up to this cursor may be missing
	r.readAll = false
next:
	for {
		page, err := r.c.Remote.Deltas(ctx, after)
		if errors.Is(err, ErrAhead) && stuck != nil && after > r.st.high() {
			return stuck // the relay has fewer deltas than it showed before
		}
		if errors.Is(err, ErrAhead) {
			return fmt.Errorf("deltas after %d: %w: %w", after, ErrRolledBack, err)
		}
		if err != nil {
			return fmt.Errorf("deltas after %d: %w", after, err)
		}
		if len(page) == 0 {
			if high := r.st.high(); after < high && stuck == nil {
				return fmt.Errorf("deltas: %w: it ends at %d, but had shown %d", ErrRolledBack, after, high)
			}
			if shown := r.st.Chains.Link(chainKey(r.c.Member, r.st.Incarnation)).Seq; shown < r.st.Own.Seq && stuck == nil && !r.c.Local {
				return fmt.Errorf("deltas: %w: chain of this device: it has %d, but had accepted %d", ErrRolledBack, shown, r.st.Own.Seq)
			}
			r.readAll = stuck == nil
			return stuck
		}
		for _, p := range page {
			if p.Cursor != after+1 {
				return fmt.Errorf("deltas after %d: %w: the next has cursor %d", after, envelope.ErrForm, p.Cursor)
			}
			bad, err := r.handleDelta(ctx, p, stuck == nil, bare)
			if errors.Is(err, errNoBody) {
				if !looked {
					r.listDue, looked = true, true
					if err := r.readCheckpoints(ctx); err != nil {
						return err
					}
				}
				l := r.bestCheckpoint(p.Cursor, true)
				if l == nil && r.coveredByWrong(p.Cursor) {
					return fmt.Errorf("delta at %d: its body is gone, and the snapshot that may have it can't be used: %w", p.Cursor, ErrSnapshot)
				}
				if l == nil {
					bare = p.Cursor // a member had the body removed
				} else if _, err := r.adopt(ctx, l); err != nil {
					return err
				}
				after = r.st.Cursor
				continue next
			}
			if err != nil {
				return err
			}
			after = p.Cursor
			r.c.OnTaken(ctx)
			if err := r.verifyAt(ctx, p.Cursor); err != nil {
				return err
			}
			if bad != nil {
				wrong++
				if stuck == nil {
					stuck = &servedError{p.Cursor, bad}
				}
			}
			if len(r.st.Ahead) > maxAhead || wrong >= maxWrong {
				return stuck
			}
		}
	}
}

// maxAhead is how many deltas are taken after one that the relay should have
// refused.
const maxAhead = 1000

// maxWrong is how many deltas that a relay should have refused are looked at
// before the reading ends. A relay can make them up without end, and each is
// written to the disk as a problem.
const maxWrong = 100

// handleDelta handles one delta. bad is an error about a delta that the relay should
// not have served; nothing of it was taken. front says that all deltas before
// it were handled. handleDelta returns errNoBody for a delta beyond bare that has no
// body, if a snapshot could have its content.
func (r *Replica) handleDelta(ctx context.Context, p Placed, front bool, bare uint64) (bad, err error) {
	d, m, bad := r.check(ctx, p.Delta)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	next := r.st.clone()
	if errors.Is(bad, envelope.ErrLate) {
		return nil, r.quarantineLate(ctx, p, d, next, front, bad)
	}
	if bad == nil {
		h := &d.Header
		if next.Ahead[p.Cursor] == h.Hash() {
			next.handled(p.Cursor, h, front)
			return nil, r.save(ctx, next)
		}
		link := next.Chains.Link(chainKey(h.Member, h.Incarnation))
		bad = link.Check(h)
		if r.c.Local && (errors.Is(bad, envelope.ErrKnown) || errors.Is(bad, envelope.ErrRule)) {
			next.handled(p.Cursor, h, front)
			if h.Member == r.c.Member {
				return nil, r.save(ctx, next)
			}
			return nil, r.apply(ctx, p, d, &m, next)
		}
		if errors.Is(bad, envelope.ErrKnown) || errors.Is(bad, envelope.ErrRule) {
			bad = fmt.Errorf("%w: %w", ErrRepeated, bad)
		}
	}
	if bad != nil {
		return bad, r.quarantine(ctx, p, d, bad)
	}
	if front && p.Cursor > bare && r.lacksBody(d) {
		return nil, errNoBody
	}
	next.handled(p.Cursor, &d.Header, front)
	return nil, r.accept(ctx, p, d, m, next)
}

// lacksBody reports whether a delta came without its body, while this member
// does not know its content and a snapshot may have it.
func (r *Replica) lacksBody(d *envelope.Delta) bool {
	h := &d.Header
	known := h.Member == r.c.Member && h.Incarnation == r.st.Incarnation && h.Seq <= r.st.Own.Seq
	return d.Body == nil && r.c.Snapshots != nil && !known
}

// quarantineLate quarantines for good a delta that a removed member sent too late.
// The relay should have refused it, so recheck checks later that the relay
// still has it at that place.
func (r *Replica) quarantineLate(ctx context.Context, p Placed, d *envelope.Delta, next State, front bool, why error) error {
	if err := r.quarantine(ctx, p, d, why); err != nil {
		return err
	}
	next.handled(p.Cursor, &d.Header, front)
	if len(next.Late) < maxLate {
		next.Late[p.Cursor] = d.Header.Hash()
	}
	return r.save(ctx, next)
}

// accept takes the next delta of its chain. next is the state without it.
func (r *Replica) accept(ctx context.Context, p Placed, d *envelope.Delta, m envelope.Member, next State) error {
	h := &d.Header
	next.Chains.Put(chainKey(h.Member, h.Incarnation), h.Next())
	if h.Member == r.c.Member && h.Incarnation == r.st.Incarnation {
		if mine := r.pending(h); mine != nil { // the answer to it was lost
			return r.settle(ctx, mine, next, p.Cursor)
		}
		if h.Seq <= r.st.Own.Seq {
			return r.save(ctx, next)
		}
		// This device does not know the delta: it was sent before a backup was
		// restored. A new incarnation begins, and the delta is taken like
		// another member's.
		next.Incarnation, next.Own, next.Pending = newIncarnation(), envelope.Link{}, nil
		if err := r.noteRestored(ctx); err != nil {
			return err
		}
	}
	return r.apply(ctx, p, d, &m, next)
}

// apply opens the next delta of its chain and takes its ops.
func (r *Replica) apply(ctx context.Context, p Placed, d *envelope.Delta, m *envelope.Member, next State) (err error) {
	in := Incoming{At: r.c.Now().UTC(), Cursor: p.Cursor, Author: *m, Header: &d.Header}
	if in.Ops, in.Grant, err = r.open(d, m); err != nil {
		// The author signed a delta that it sealed wrongly. Another try can't
		// help.
		if err := r.quarantine(ctx, p, d, err); err != nil {
			return err
		}
		in.Ops = nil
	}
	next.noteOpsActivity(m.ID, in.Ops, in.At)
	if err := r.noteBodies(ctx, d, m, in.Ops, &next, p.Cursor); err != nil {
		return err
	}
	if erases(in.Ops) && r.authored() {
		next.Stale = p.Cursor
	}
	if err := r.c.Journal.Apply(ctx, in, next); err != nil {
		return fmt.Errorf("apply delta at %d: %w", p.Cursor, err)
	}
	r.setState(next)
	return nil
}

// noteBodies records whether a delta has its body, and which bodies its ops announce
// as removed.
func (r *Replica) noteBodies(ctx context.Context, d *envelope.Delta, m *envelope.Member, ops []delta.Op, next *State, cursor uint64) error {
	h := &d.Header
	chain := chainKey(h.Member, h.Incarnation)
	known := h.Seq <= r.st.Chains.Link(chain).Seq // its body was looked for when the delta first came
	if d.Body != nil {
		removePlace(next.MissingBodies, chain, h.Seq)
		removePlace(next.RemovedBodies, chain, h.Seq)
	} else if _, may := r.c.Keys.Epoch(h.Epoch); may && !known && next.noteMissing(h) {
		if err := r.quarantine(ctx, Placed{Cursor: cursor}, d, fmt.Errorf("%w: %d others are withheld too", ErrWithheld, countChainPlaces(next.MissingBodies))); err != nil {
			return err
		}
	}
	for i := range ops {
		next.takeAnnouncement(m, ops[i].RemovedBodies)
	}
	return nil
}

// verifyAt verifies the snapshots of exactly this cursor, if there is one that is
// unverified.
func (r *Replica) verifyAt(ctx context.Context, cursor uint64) error {
	for _, l := range r.checkpoints {
		if l.Cursor == cursor && l.standing == envelope.Unverified {
			return r.verify(ctx)
		}
	}
	return nil
}

func (r *Replica) save(ctx context.Context, next State) error {
	if err := r.c.Journal.Save(ctx, next); err != nil {
		return err
	}
	r.setState(next)
	return nil
}

// pending returns the pending delta if it has this header, and nil otherwise.
func (r *Replica) pending(h *envelope.Header) *envelope.Delta {
	if r.st.Pending == nil {
		return nil
	}
	mine, err := envelope.ParseDelta(r.st.Pending.Delta)
	if err != nil || mine.Header.Hash() != h.Hash() {
		return nil
	}
	return mine
}

// noteRestored stores a problem: the relay has more deltas of this member than
// its disk remembers, so a backup was restored.
func (r *Replica) noteRestored(ctx context.Context) error {
	return r.c.Journal.Quarantine(ctx, Problem{At: r.c.Now(), Member: r.c.Member,
		Reason: "this device was put back to an older state: what it had sent since then is taken from the relay again"})
}

// check checks what an honest relay would have checked. d is nil if it can't be
// parsed.
func (r *Replica) check(ctx context.Context, b []byte) (d *envelope.Delta, m envelope.Member, err error) {
	if d, err = envelope.ParseDelta(b); err != nil {
		return nil, m, err
	}
	h := &d.Header
	if h.Space != r.c.Space {
		return d, m, fmt.Errorf("%w: %s", ErrForeign, h.Space)
	}
	err = r.log.Accepts(h, d.Signature)
	if errors.Is(err, envelope.ErrUnknownHead) {
		if err := r.readLog(ctx); err != nil {
			return d, m, err
		}
		err = r.log.Accepts(h, d.Signature)
	}
	if err != nil {
		return d, m, err
	}
	m, ok := r.log.Member(h.Member)
	if !ok {
		m, _, _ = r.log.Past(h.Member)
	}
	return d, m, d.Verify(m.Key)
}

// open opens the body. A removed body, or one from an epoch before this member
// was added, has no ops.
func (r *Replica) open(d *envelope.Delta, m *envelope.Member) ([]delta.Op, *delta.Grant, error) {
	key, ok := r.c.Keys.Epoch(d.Header.Epoch)
	if d.Body == nil || !ok {
		return nil, nil, nil
	}
	plain, err := seal.OpenBody(key, d.Body)
	if err != nil {
		return nil, nil, err
	}
	ops, err := delta.Decode(&d.Header, plain)
	clear(plain)
	if err != nil || m.Role != envelope.Extractor {
		return ops, nil, err
	}
	g, err := OpenGrant(m, r.c.Space, r.c.Keys.Epoch)
	if err != nil {
		return nil, nil, err
	}
	return ops, &g, nil
}

func (r *Replica) quarantine(ctx context.Context, p Placed, d *envelope.Delta, why error) error {
	pr := Problem{At: r.c.Now(), Cursor: p.Cursor, Reason: why.Error()}
	if d != nil {
		at := d.Header.Position()
		pr.Member, pr.Place = d.Header.Member, &at
	}
	r.c.Log.Warn("sync: a delta is set aside", "cursor", p.Cursor, "member", pr.Member, "reason", why)
	return r.c.Journal.Quarantine(ctx, pr)
}
