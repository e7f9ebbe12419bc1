package journal_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

// stripping is a relay that serves the deltas of some authors without bodies.
type stripping struct {
	replica.Remote
	of func(*envelope.Header) bool
}

func (s *stripping) Deltas(ctx context.Context, after uint64) ([]replica.Placed, error) {
	page, err := s.Remote.Deltas(ctx, after)
	for i, p := range page {
		if d, err := envelope.ParseDelta(p.Delta); err == nil && s.of(&d.Header) {
			page[i].Delta = d.WithoutBody().Bytes()
		}
	}
	return page, err
}

func (m *member) withheld() (out []string) {
	m.t.Helper()
	for _, p := range m.problems() {
		if strings.Contains(p, replica.ErrWithheld.Error()) {
			out = append(out, p)
		}
	}
	return out
}

// sayGone makes this member announce that bodies were removed.
func (m *member) sayGone(places ...envelope.Place) {
	m.t.Helper()
	genesis, err := membership.Genesis(m.ring.Locked)
	if err != nil {
		m.t.Fatal(err)
	}
	log, err := upstream.New(m.at, "").Log(m.t.Context(), 0)
	if err != nil || !bytes.Equal(log[0], genesis) {
		m.t.Fatal(err)
	}
	last, err := envelope.ParseEntry(log[len(log)-1])
	if err != nil {
		m.t.Fatal(err)
	}
	h := envelope.Header{Version: envelope.Version, Space: m.ring.Space(), Member: m.ring.Member(), Incarnation: 99, Seq: 1, Head: last.Hash(), Epoch: 1}
	var gone []delta.Place
	for _, p := range places {
		gone = append(gone, delta.Place{Member: p.Member, Position: envelope.Position{Incarnation: p.Incarnation, Seq: p.Seq}})
	}
	plain, err := delta.Encode(h, []delta.Op{{RemovedBodies: gone}})
	if err != nil {
		m.t.Fatal(err)
	}
	key, _ := m.ring.Epoch(m.ring.Space(), 1)
	body, err := seal.SealBody(key, plain)
	if err != nil {
		m.t.Fatal(err)
	}
	d, err := envelope.Sign(h, body, m.ring.DeviceSign)
	if err != nil {
		m.t.Fatal(err)
	}
	if err := upstream.New(m.at, "").Append(m.t.Context(), d); err != nil {
		m.t.Fatal(err)
	}
}

// A new member gets a forgotten delta without its body, with the author's
// announcement, and does not blame the relay. If a relay removes a body by
// itself, this is reported with author and place, and the body is taken when
// the relay shows it.
func TestWithheldBodyIsReported(t *testing.T) {
	a, b := pair(t)
	for n := byte(1); n <= 3; n++ {
		a.say(fact(n, "By a."))
		a.sync()
	}
	a.erase(2)
	a.sync()
	b.sync()
	if got := b.withheld(); len(got) != 0 {
		t.Errorf("what was forgotten is held against the relay: %q", got)
	}
	if b.memory(memory.ID{1}) == nil || b.memory(memory.ID{3}) == nil {
		t.Error("what was not forgotten is not there")
	}

	lies := true
	c := a.let(a.url, envelope.Writer, nil)
	c.close()
	c.remote = func(r replica.Remote) replica.Remote {
		return &stripping{r, func(h *envelope.Header) bool { return lies && h.Member == a.ring.Member() && h.Seq == 1 }}
	}
	c.open()
	c.sync()
	got := c.withheld()
	if len(got) != 1 || !strings.Contains(got[0], a.ring.Member().String()) || !strings.Contains(got[0], "the first at 1") {
		t.Fatalf("stripped, and named as %q", got)
	}
	if s, err := c.Status(t.Context()); err != nil || s.Withheld != 1 || s.Problems != 1 {
		t.Errorf("%+v, %v", s, err)
	}
	if c.memory(memory.ID{3}) == nil {
		t.Error("the rest was not taken")
	}
	c.again()
	if len(c.withheld()) != 1 {
		t.Error("after a restart it is not named")
	}
	lies = false
	c.again() // it looks for bodies when it starts
	if got := c.withheld(); len(got) != 0 || c.memory(memory.ID{1}) == nil {
		t.Errorf("shown again, and still %q", got)
	}
}

// An announcement of a member that may not forget for others does not excuse a
// relay.
func TestAnnouncementOfAnotherMember(t *testing.T) {
	a, b := pair(t)
	worker := a.let(a.url, envelope.Extractor, nil)
	a.say(fact(1, "By a."))
	a.sync()
	b.close()
	b.remote = func(r replica.Remote) replica.Remote {
		return &stripping{r, func(h *envelope.Header) bool { return h.Member == a.ring.Member() }}
	}
	b.open()
	h, err := a.Heads(t.Context())
	if err != nil || len(h.Places) == 0 {
		t.Fatal(h, err)
	}
	worker.sayGone(h.Places[0])
	b.sync()
	if len(b.withheld()) != 1 {
		t.Errorf("a worker's word about another's body counts: %q", b.problems())
	}
}

// stubborn is a relay that never removes a body.
type stubborn struct{ replica.Remote }

func (stubborn) Forget(context.Context, []replica.Ref) error { return errors.New("not now") }

// If a relay never removes a body, the removal is announced once, however often
// it is requested. Otherwise a relay could make a member's chain grow without
// end.
func TestRemovalIsAnnouncedOnce(t *testing.T) {
	a := newMember(t, serveRelay(t), nil)
	a.close()
	a.remote = func(r replica.Remote) replica.Remote { return stubborn{r} }
	a.open()
	a.say(fact(1, "By a."))
	a.sync()
	a.erase(1)
	said := uint64(0)
	for range 3 {
		if err := a.Sync(t.Context()); err == nil {
			t.Fatal("the relay lets it go")
		}
		h := a.heads()
		if seq := h.Places[0].Seq; said != 0 && seq != said {
			t.Fatalf("its chain goes to %d, and went to %d before", seq, said)
		} else {
			said = seq
		}
	}
	if said != 3 { // a memory, its erasure, and the announcement
		t.Errorf("its chain goes to %d", said)
	}
}

// An envelope store shows again what was taken before. A delta whose body was
// read earlier and is now missing is not reported.
func TestBodyReadEarlierIsNotReported(t *testing.T) {
	a, b := pair(t)
	a.say(fact(1, "By a."))
	a.sync()
	b.sync()
	b.close()
	b.envelopes = true
	b.remote = func(r replica.Remote) replica.Remote {
		return &stripping{r, func(h *envelope.Header) bool { return h.Member == a.ring.Member() }}
	}
	b.open()
	b.sync()
	if got := b.withheld(); len(got) != 0 || b.memory(memory.ID{1}) == nil {
		t.Errorf("it misses what it has: %q", got)
	}
}
