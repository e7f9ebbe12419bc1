package replica

import (
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// pull takes everything that is new. What it can't make sense of may be what is
// left of a lie: then it looks at all that the relay has, once more.
func (r *Replica) pull(ctx context.Context) error {
	err := r.follow(ctx)
	if err == nil {
		err = r.recheck(ctx)
	}
	if err == nil {
		r.misled, r.rest = 0, 0
		switch {
		case len(r.st.MissingBodies) == 0:
			return nil
		case !r.c.Local:
			return r.fill(ctx)
		case r.c.SnapshotFallback != nil:
			return r.cover(ctx)
		}
		return nil
	}
	var bad *servedError
	if !errors.As(err, &bad) && !errors.Is(err, ErrRolledBack) {
		return err
	}
	if r.c.Local {
		return err // it is this device's own word
	}
	if r.rest > 0 {
		r.rest--
		return err
	}
	switch again := r.reread(ctx); {
	case again == nil:
		r.misled, r.rest = 0, 0
		return nil
	case errors.As(again, &bad), errors.Is(again, ErrRolledBack):
		// It goes on. Reading all of it each time would be the relay's to ask for.
		r.misled = min(r.misled+1, maxMisled)
		r.rest = 1<<r.misled - 1
		return err
	default:
		return errors.Join(err, again)
	}
}

// maxMisled bounds the rounds between two in which everything is read: 2 to its
// power, less one.
const maxMisled = 4

// servedError is about something that the relay should not have served.
type servedError struct {
	cursor uint64
	err    error
}

func (e *servedError) Error() string { return fmt.Sprintf("delta at %d: %v", e.cursor, e.err) }

func (e *servedError) Unwrap() error { return e.err }

// follow takes what comes after the cursor. Where the relay serves something
// that it should not have taken, that is set aside, the cursor stays before it,
// so that the right one is asked for again, and what comes after it is taken all
// the same.
func (r *Replica) follow(ctx context.Context) error {
	after, stuck := r.st.Cursor, error(nil)
	bare, looked := uint64(0), false // up to where bodies may be missing
	r.whole = false
next:
	for {
		page, err := r.c.Remote.Deltas(ctx, after)
		if errors.Is(err, ErrAhead) && stuck != nil && after > r.st.high() {
			return stuck // it is at an end that it had shown us beyond
		}
		if errors.Is(err, ErrAhead) {
			return fmt.Errorf("deltas after %d: %w: %w", after, ErrRolledBack, err)
		}
		if err != nil {
			return fmt.Errorf("deltas after %d: %w", after, err)
		}
		if len(page) == 0 {
			if high := r.st.high(); after < high && stuck == nil {
				return fmt.Errorf("deltas: %w: it ends at %d, and had shown %d", ErrRolledBack, after, high)
			}
			if shown := r.st.Chains.Link(chainKey(r.c.Member, r.st.Incarnation)).Seq; shown < r.st.Own.Seq && stuck == nil && !r.c.Local {
				return fmt.Errorf("deltas: %w: of ours it has %d, and had taken %d", ErrRolledBack, shown, r.st.Own.Seq)
			}
			r.whole = stuck == nil
			return stuck
		}
		for _, p := range page {
			if p.Cursor != after+1 {
				return fmt.Errorf("deltas after %d: %w: the next has cursor %d", after, envelope.ErrForm, p.Cursor)
			}
			bad, err := r.take(ctx, p, stuck == nil, bare)
			if errors.Is(err, errNoBody) {
				if !looked {
					r.due, looked = true, true
					if err := r.look(ctx); err != nil {
						return err
					}
				}
				l := r.best(p.Cursor, true)
				if l == nil && r.spoilt(p.Cursor) {
					return fmt.Errorf("delta at %d: its body is gone, and the %w that may have it", p.Cursor, ErrSnapshot)
				}
				if l == nil {
					bare = p.Cursor // it was taken away by forgetting
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
			r.c.Taken(ctx)
			if err := r.pass(ctx, p.Cursor); err != nil {
				return err
			}
			if bad != nil && stuck == nil {
				stuck = &servedError{p.Cursor, bad}
			}
			if len(r.st.Ahead) > maxAhead {
				return stuck
			}
		}
	}
}

// maxAhead is how many deltas are taken beyond one that the relay should not
// have served.
const maxAhead = 1000

// take looks at one delta. bad is what the relay should not have served, and
// nothing of which was taken. front: everything before was dealt with.
// errNoBody is of one beyond bare that came without its body, where a snapshot
// could have it.
func (r *Replica) take(ctx context.Context, p Placed, front bool, bare uint64) (bad, err error) {
	d, m, bad := r.check(ctx, p.Delta)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	next := r.st.next()
	if errors.Is(bad, envelope.ErrLate) {
		return nil, r.passOver(ctx, p, d, next, front, bad)
	}
	if bad == nil {
		h := &d.Header
		if next.Ahead[p.Cursor] == h.Hash() {
			next.dealt(p.Cursor, h, front)
			return nil, r.save(ctx, next)
		}
		link := next.Chains.Link(chainKey(h.Member, h.Incarnation))
		bad = link.Check(h)
		if r.c.Local && (errors.Is(bad, envelope.ErrKnown) || errors.Is(bad, envelope.ErrRule)) {
			next.dealt(p.Cursor, h, front)
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
		return bad, r.aside(ctx, p, d, bad)
	}
	if front && p.Cursor > bare && r.lacksBody(d) {
		return nil, errNoBody
	}
	next.dealt(p.Cursor, &d.Header, front)
	return nil, r.accept(ctx, p, d, m, next)
}

// lacksBody reports whether a delta came without its body, which is not known
// here, and which a snapshot could have.
func (r *Replica) lacksBody(d *envelope.Delta) bool {
	h := &d.Header
	known := h.Member == r.c.Member && h.Incarnation == r.st.Incarnation && h.Seq <= r.st.Own.Seq
	return d.Body == nil && r.c.Snapshots != nil && !known
}

// passOver sets aside what its author, who was removed, sent too late. That
// stays so: nothing waits for it. Whether the relay really has it there is
// looked at again (recheck), as it should have refused it.
func (r *Replica) passOver(ctx context.Context, p Placed, d *envelope.Delta, next State, front bool, why error) error {
	if err := r.aside(ctx, p, d, why); err != nil {
		return err
	}
	next.dealt(p.Cursor, &d.Header, front)
	if len(next.Late) < maxLate {
		next.Late[p.Cursor] = d.Header.Hash()
	}
	return r.save(ctx, next)
}

// accept takes what comes next in its chain. next is the state without it.
func (r *Replica) accept(ctx context.Context, p Placed, d *envelope.Delta, m envelope.Member, next State) error {
	h := &d.Header
	next.Chains.Put(chainKey(h.Member, h.Incarnation), h.Next())
	if h.Member == r.c.Member && h.Incarnation == r.st.Incarnation {
		if !r.ours(d, &next) {
			return r.save(ctx, next)
		}
		if err := r.wasPutBack(ctx); err != nil {
			return err
		}
	}
	return r.apply(ctx, p, d, &m, next)
}

// apply opens a delta that is in its place, and takes what it says.
func (r *Replica) apply(ctx context.Context, p Placed, d *envelope.Delta, m *envelope.Member, next State) (err error) {
	in := Incoming{At: r.c.Now().UTC(), Cursor: p.Cursor, Author: *m, Header: &d.Header}
	if in.Ops, in.Grant, err = r.open(d, m); err != nil {
		// Signed by a member, and sealed wrongly: it will never be better.
		if err := r.aside(ctx, p, d, err); err != nil {
			return err
		}
		in.Ops = nil
	}
	next.heard(m.ID, in.Ops, in.At)
	if err := r.weigh(ctx, d, m, in.Ops, &next, p.Cursor); err != nil {
		return err
	}
	if erases(in.Ops) && r.authored() {
		next.Stale = p.Cursor
	}
	if err := r.c.Journal.Apply(ctx, in, next); err != nil {
		return fmt.Errorf("apply delta at %d: %w", p.Cursor, err)
	}
	r.keep(next)
	return nil
}

// weigh notes whether a delta has its body, and what it says of others'.
func (r *Replica) weigh(ctx context.Context, d *envelope.Delta, m *envelope.Member, ops []delta.Op, next *State, cursor uint64) error {
	h := &d.Header
	chain := chainKey(h.Member, h.Incarnation)
	known := h.Seq <= r.st.Chains.Link(chain).Seq // it was weighed when it came
	if d.Body != nil {
		drop(next.MissingBodies, chain, h.Seq)
		drop(next.RemovedBodies, chain, h.Seq)
	} else if _, may := r.c.Keys.Epoch(h.Epoch); may && !known && next.lacking(h) {
		if err := r.aside(ctx, Placed{Cursor: cursor}, d, fmt.Errorf("%w: as are %d others", ErrWithheld, count(next.MissingBodies))); err != nil {
			return err
		}
	}
	for i := range ops {
		next.told(m, ops[i].Gone)
	}
	return nil
}

// pass looks whether a snapshot is of just this place.
func (r *Replica) pass(ctx context.Context, cursor uint64) error {
	for _, l := range r.seen {
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
	r.keep(next)
	return nil
}

// ours is about a delta of our own incarnation: what we know to have sent is
// passed over. What we don't know to have sent, we sent in a later life, of
// which a backup knows nothing: a new incarnation begins, and it is taken as if
// it were another's.
func (r *Replica) ours(d *envelope.Delta, next *State) (take bool) {
	h := &d.Header
	if h.Seq <= r.st.Own.Seq {
		return false
	}
	if p := r.st.Pending; p != nil {
		if mine, err := envelope.ParseDelta(p.Delta); err == nil && mine.Header.Hash() == h.Hash() {
			return false // push finds that it is there
		}
	}
	next.Incarnation, next.Own, next.Pending = newIncarnation(), envelope.Link{}, nil
	return true
}

// wasPutBack names what only the relay can know: this member sent more than its
// disk remembers.
func (r *Replica) wasPutBack(ctx context.Context) error {
	return r.c.Journal.SetAside(ctx, Problem{At: r.c.Now(), Member: r.c.Member,
		Reason: "this device was put back to an older state: what it had sent since then is taken from the relay again"})
}

// check is what an honest relay has checked as well. d is nil where it can't
// be read.
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

// open reads the body. A body that was taken away, or whose epoch was before
// our time, says nothing.
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

func (r *Replica) aside(ctx context.Context, p Placed, d *envelope.Delta, why error) error {
	pr := Problem{At: r.c.Now(), Cursor: p.Cursor, Reason: why.Error()}
	if d != nil {
		at := d.Header.Position()
		pr.Member, pr.Place = d.Header.Member, &at
	}
	r.c.Log.Warn("sync: set aside", "cursor", p.Cursor, "member", pr.Member, "reason", why)
	return r.c.Journal.SetAside(ctx, pr)
}
