package replica

import (
	"context"
	"fmt"

	"github.com/locket-dev/locket/sync/envelope"
)

// readOwn reads this member's own deltas that a snapshot covers and that the
// journal does not know as sent: the relay took them and the answer was lost, or
// a backup was restored. Without their content, their bodies would stay at the
// relay when something in them is forgotten. Other deltas are not taken.
func (r *Replica) readOwn(ctx context.Context, l *listed) error {
	known := map[uint64]uint64{} // by incarnation
	unknown := false
	for _, p := range l.Places {
		if p.Member == r.c.Member {
			known[p.Incarnation] = r.st.Chains.Link(chainKey(p.Member, p.Incarnation)).Seq
			if p.Incarnation == r.st.Incarnation {
				known[p.Incarnation] = max(known[p.Incarnation], r.st.Own.Seq)
			}
			unknown = unknown || known[p.Incarnation] < p.Seq
		}
	}
	for at := r.st.Cursor; unknown && at < l.Cursor; {
		page, err := r.c.Remote.Deltas(ctx, at)
		if err != nil {
			return fmt.Errorf("read what this device had sent: %w", err)
		}
		if len(page) == 0 {
			return nil // a relay that shows less than its snapshot is reported where deltas are read
		}
		for _, placed := range page {
			at = max(at+1, placed.Cursor)
			d, err := envelope.ParseDelta(placed.Delta)
			if err != nil || d.Header.Member != r.c.Member || d.Header.Seq <= known[d.Header.Incarnation] || len(d.Body) == 0 {
				continue
			}
			me, ok := r.log.Member(r.c.Member)
			if !ok || d.Verify(me.Key) != nil {
				continue
			}
			ops, _, err := r.open(d, &me)
			if err != nil {
				continue // it is named where deltas are read
			}
			in := Incoming{At: r.c.Now(), Cursor: placed.Cursor, Author: me, Header: &d.Header, Ops: ops}
			if err := r.c.Journal.Apply(ctx, in, r.st); err != nil {
				return err
			}
		}
	}
	return nil
}
