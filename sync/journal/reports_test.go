package journal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/replica"
)

// Each report is stored once, only the newest four hundred, and only those of
// workers.
func TestReports(t *testing.T) {
	a := newMember(t, serveRelay(t), nil)
	l := &journal.Journal{Space: a.ring.Space(), Member: a.ring.Member(), Store: a.store}
	worker := envelope.Member{ID: memory.MemberID{7}}
	come := func(number uint64, from envelope.Member, g *delta.Grant) {
		t.Helper()
		st, err := l.State(t.Context())
		if err == nil {
			in := replica.Incoming{At: time.Unix(int64(number%1e9), 0).UTC(), Author: from, Header: &envelope.Header{Member: from.ID, Seq: number}, Grant: g,
				Ops: []delta.Op{{Report: &delta.Report{Number: number, Text: `{"at":"2026-09-14T09:31:00Z"}`}}}}
			err = l.Apply(t.Context(), in, st)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	kept := func() []journal.Report {
		t.Helper()
		list, err := l.Reports(t.Context(), worker.ID)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for _, n := range []uint64{1, 2, 2, 1, 3} {
		come(n, worker, &delta.Grant{})
	}
	if got := kept(); len(got) != 3 || got[0].Report.Number != 3 || got[0].Place.Seq != 3 || !got[2].Came.Equal(time.Unix(1, 0)) {
		t.Errorf("%+v", got)
	}
	for n := uint64(4); n <= 410; n++ {
		come(n, worker, &delta.Grant{})
	}
	if got := kept(); len(got) != 400 || got[0].Report.Number != 410 || got[399].Report.Number != 11 {
		t.Errorf("%d reports, %d to %d", len(got), got[len(got)-1].Report.Number, got[0].Report.Number)
	}
	come(1<<64-1, worker, &delta.Grant{}) // the size of a number has no effect
	if got := kept(); len(got) != 1 || got[0].Report.Number != 1<<64-1 {
		t.Errorf("%d reports", len(got))
	}
	come(1, envelope.Member{ID: memory.MemberID{8}}, nil)
	if list, err := l.Reports(t.Context(), memory.MemberID{8}); err != nil || len(list) != 0 {
		t.Errorf("a device reported: %+v, %v", list, err)
	}
	if ps, err := l.Problems(t.Context()); err != nil || len(ps) != 1 || !strings.Contains(ps[0].Reason, "only a worker") {
		t.Errorf("%+v, %v", ps, err)
	}
}
