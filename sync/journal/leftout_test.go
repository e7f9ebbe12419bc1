package journal_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// holding is a relay that shows no delta while on is set, and once serves the first delta as the
// next one.
type holding struct {
	replica.Remote
	on, repeat *bool
}

func (h holding) Deltas(ctx context.Context, after uint64) ([]replica.Placed, error) {
	if *h.on {
		return nil, nil
	}
	page, err := h.Remote.Deltas(ctx, after)
	if err == nil && *h.repeat && after > 0 {
		*h.repeat = false
		if page, err = h.Remote.Deltas(ctx, 0); err == nil {
			page = []replica.Placed{{Cursor: after + 1, Delta: page[0].Delta}}
		}
	}
	return page, err
}

// removeUnseen removes w while the relay shows no delta because of hold. The relay first refuses
// the removal, because it leaves out what w has said.
func (m *member) removeUnseen(w *member, hold *bool) {
	m.t.Helper()
	*hold = true
	for n := 0; ; n++ {
		err := m.RemoveMember(m.t.Context(), w.ring.Member(), nil)
		if err == nil {
			break
		}
		if n == 3 {
			m.t.Fatal(err)
		}
	}
	*hold = false
}

// After a lie, a member that took what a removal leaves out reads everything of an
// honest relay again, and continues. That the removed member's chain now counts
// less far must not look as if the relay had gone back.
func TestRereadAfterARemovalLeftDeltasOut(t *testing.T) {
	a, _ := pair(t)
	w := a.let(a.url, envelope.Writer, nil)
	c := a.let(a.url, envelope.Owner, nil)
	w.say(fact(1, "Said in time."))
	w.sync()
	on, repeat, never := false, false, false
	a.remote = func(r replica.Remote) replica.Remote { return holding{r, &on, &never} }
	c.remote = func(r replica.Remote) replica.Remote { return holding{r, &never, &repeat} }
	a.again()
	c.again()
	a.sync()
	w.say(fact(2, "Left out."))
	w.sync()
	c.sync()
	a.removeUnseen(w, &on)
	c.sync()
	a.say(fact(3, "Afterwards."))
	a.sync()
	repeat = true
	c.sync()
	if repeat {
		t.Fatal("nothing was said twice")
	}
	a.say(fact(4, "And then."))
	a.sync()
	c.sync()
	if got := c.memory(fact(4, "").Memory); got == nil {
		t.Error("what was said since has not come")
	}
}

// incarnation returns this member's incarnation.
func (m *member) incarnation() uint64 {
	m.t.Helper()
	s, err := m.journal().State(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	return s.Incarnation
}

// putOutLate makes a remove w without having seen w's last delta, so the removal leaves that delta
// out. took are the members that have it by then.
func putOutLate(t *testing.T, a, w *member, took ...*member) {
	t.Helper()
	on, never := false, false
	a.remote = func(r replica.Remote) replica.Remote { return holding{r, &on, &never} }
	w.say(fact(1, "Said in time."))
	w.sync()
	a.again()
	w.say(fact(2, "Left out."))
	w.sync()
	for _, m := range took {
		m.sync()
	}
	a.removeUnseen(w, &on)
	a.sync()
}

// What a removal leaves out counts nowhere: a snapshot is made, verified and taken without it,
// although the relay has it.
func TestSnapshotExcludesWhatARemovalLeftOut(t *testing.T) {
	a, b := pair(t)
	for _, m := range []*member{a, b} {
		m.with(replica.Snapshots{Compact: true, Behind: 1})
	}
	w := a.let(a.url, envelope.Writer, nil)
	putOutLate(t, a, w)
	a.say(fact(3, "Afterwards."))
	a.sync()
	b.sync()
	a.makeSnapshot()
	c := a.checkpoints()
	if len(c) != 1 {
		t.Fatalf("%d checkpoints", len(c))
	}
	b.again() // this verifies, and has the bodies dropped
	if p := b.problems(); slices.ContainsFunc(p, func(s string) bool { return strings.Contains(s, "snapshot") }) {
		t.Fatalf("the second objects: %q", p)
	}
	if got := a.bodies(); got != 0 {
		t.Errorf("%d bodies are left", got)
	}
	n := a.let(a.url, envelope.Owner, nil).with(replica.Snapshots{Behind: 1})
	n.sync()
	if !slices.Equal(n.knows(), a.knows()) || len(n.knows()) != 2 {
		t.Errorf("a new device knows %q, the first %q", n.knows(), a.knows())
	}
}

// A member that took what a removal leaves out makes no snapshots and votes on
// none, because it has something that nobody else has. It takes those of
// others.
func TestNoSnapshotsOfAMemberWithLeftOutDeltas(t *testing.T) {
	a, b := pair(t)
	c := a.let(a.url, envelope.Owner, nil)
	for _, m := range []*member{a, b, c} {
		m.with(replica.Snapshots{Compact: true, Behind: 1})
	}
	w := a.let(a.url, envelope.Writer, nil)
	putOutLate(t, a, w, c)
	a.sync()
	c.sync()
	c.named(replica.ErrLeftOut.Error())
	if err := c.Checkpoint(t.Context()); !errors.Is(err, replica.ErrUnsettled) || !errors.Is(err, replica.ErrLeftOut) {
		t.Errorf("it makes one: %v", err)
	}
	a.makeSnapshot()
	c.again()
	if vs, err := a.at.Checkpoints(t.Context()); err != nil || len(vs) != 1 || len(vs[0].Votes) != 0 {
		t.Fatalf("it judged one: %v, %v", vs, err)
	}

	if ds := b.beside(c.heads()); slices.ContainsFunc(ds, func(d replica.Difference) bool { return d.Verdict != replica.Behind }) {
		t.Errorf("its heads: %v", ds)
	}
	h := c.heads() // from before it learnt of the removal
	h.Places = append(h.Places, envelope.Place{Member: w.ring.Member(), Incarnation: w.incarnation(), Seq: 2, Hash: envelope.Hash{1}})
	slices.SortFunc(h.Places, envelope.Place.Compare)
	if err := h.Sign(c.ring.DeviceSign); err != nil {
		t.Fatal(err)
	}
	if ds := b.beside(h); len(ds) != 1 || ds[0].Verdict != replica.Unproven || !strings.Contains(ds[0].String(), "a removal leaves out what is after 1") {
		t.Errorf("its heads of before: %v", ds)
	}
	if ds := c.beside(b.heads()); len(ds) != 0 && ds[0].Verdict != replica.Behind {
		t.Errorf("others' heads: %v", ds)
	}

	a.say(fact(3, "Afterwards."))
	a.sync()
	b.sync()
	a.makeSnapshot()
	b.again()
	if got := a.bodies(); got != 0 {
		t.Fatalf("%d bodies are left", got)
	}
	c.again()
	if got := c.memory(fact(3, "").Memory); got == nil {
		t.Error("what was said since has not come with the snapshot")
	}
	if p := c.problems(); slices.ContainsFunc(p, func(s string) bool { return strings.Contains(s, "snapshot") }) {
		t.Errorf("%q", p)
	}
}
