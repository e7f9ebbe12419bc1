package replica

import (
	"context"
	"fmt"

	"github.com/locket-dev/locket/sync/envelope"
)

// Before a member takes a snapshot in place of deltas, its journal has to know
// what it had itself sent within it. Otherwise the bodies of those deltas would
// stay at the relay when something in them is forgotten.

// settlePending records the pending delta as sent if the snapshot says that the
// relay has it: the answer was lost. The snapshot would make this member drop the
// pending delta, and with it what is in the delta.
func (r *Replica) settlePending(ctx context.Context, l *listed) error {
	if r.st.Pending == nil {
		return nil
	}
	d, err := envelope.ParseDelta(r.st.Pending.Delta)
	if err != nil {
		return fmt.Errorf("pending delta: %w", err)
	}
	p, _ := l.Place(r.c.Member, r.st.Incarnation)
	if p.Seq != d.Header.Seq || p.Hash != d.Header.Hash() {
		return nil
	}
	return r.sent(ctx, d)
}

// readOwn reads this member's own deltas that a snapshot covers and that the
// journal does not know as sent, because a backup was restored. Other deltas are
// not taken. It returns ErrHidden if the relay does not show all of them.
func (r *Replica) readOwn(ctx context.Context, l *listed) error {
	known := map[uint64]envelope.Link{} // by incarnation: up to which place the journal knows them
	for _, p := range l.Places {
		if p.Member == r.c.Member {
			known[p.Incarnation] = r.st.Chains.Link(chainKey(p.Member, p.Incarnation))
			if p.Incarnation == r.st.Incarnation && r.st.Own.Seq > known[p.Incarnation].Seq {
				known[p.Incarnation] = r.st.Own
			}
		}
	}
	unread := func() (envelope.Place, bool) {
		for _, p := range l.Places {
			if p.Member == r.c.Member && known[p.Incarnation].Seq < p.Seq {
				return p, true
			}
		}
		return envelope.Place{}, false
	}
	for _, from := range []uint64{r.st.Cursor, 0} { // after a lie they may be before the cursor
		if _, is := unread(); !is {
			return nil
		}
		if err := r.readOwnFrom(ctx, from, l.Cursor, known); err != nil {
			return fmt.Errorf("read what this device had sent: %w", err)
		}
	}
	if p, is := unread(); is {
		return fmt.Errorf("read what this device had sent: %w: chain %016x: it shows %d of %d", ErrHidden, p.Incarnation, known[p.Incarnation].Seq, p.Seq)
	}
	return nil
}

// readOwnFrom reads the deltas after one cursor up to another, gives those to
// the journal that come next in this member's chains, and moves known.
func (r *Replica) readOwnFrom(ctx context.Context, after, upto uint64, known map[uint64]envelope.Link) error {
	me, ok := r.log.Member(r.c.Member)
	for ok && after < upto {
		page, err := r.c.Remote.Deltas(ctx, after)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, p := range page {
			if p.Cursor != after+1 {
				return fmt.Errorf("deltas after %d: %w: the next has cursor %d", after, envelope.ErrForm, p.Cursor)
			}
			after = p.Cursor
			d, err := envelope.ParseDelta(p.Delta)
			if err != nil || d.Header.Member != me.ID || known[d.Header.Incarnation].Check(&d.Header) != nil || d.Verify(me.Key) != nil {
				continue
			}
			known[d.Header.Incarnation] = d.Header.Next()
			ops, _, err := r.open(d, &me)
			if err != nil || len(ops) == 0 {
				continue // a delta that can't be opened is reported where deltas are read
			}
			in := Incoming{At: r.c.Now(), Cursor: p.Cursor, Author: me, Header: &d.Header, Ops: ops}
			if err := r.c.Journal.Apply(ctx, in, r.st); err != nil {
				return err
			}
		}
	}
	return nil
}
