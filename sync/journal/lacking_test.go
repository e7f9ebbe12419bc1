package journal_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// A member that lacks a withheld body makes no snapshot, which would lack it
// for good, and does not object to snapshots that have it. After the body was
// dropped for such a snapshot, the member takes it from there.
func TestSnapshotsOfAMemberWithoutABody(t *testing.T) {
	url := serveRelayIn(t, t.TempDir())
	a := newMember(t, url, nil)
	b, c := a.let(url, envelope.Owner, nil), a.let(url, envelope.Owner, nil)
	for n := byte(1); n <= 3; n++ {
		a.say(fact(n, "By a."))
		a.sync()
	}
	lies := true
	c.remote = func(r replica.Remote) replica.Remote {
		return &stripping{r, func(h *envelope.Header) bool { return lies && h.Member == a.ring.Member() && h.Seq == 1 }}
	}
	for _, m := range []*member{a, b, c} {
		m.with(replica.Snapshots{Compact: true, Behind: 100})
		m.sync()
	}
	if len(c.withheld()) != 1 || c.memory(memory.ID{1}) != nil {
		t.Fatalf("it lacks nothing: %q", c.problems())
	}
	if err := c.Checkpoint(t.Context()); !errors.Is(err, replica.ErrUnsettled) {
		t.Errorf("it makes a snapshot: %v", err)
	}
	a.makeSnapshot()
	c.sync()
	if got := c.problems(); len(got) != 1 {
		t.Errorf("beside an honest snapshot: %q", got)
	}
	b.again() // verifies it
	if n := a.bodies(); n != 0 {
		t.Fatalf("%d bodies are left", n)
	}
	lies = false
	c.again()
	if !slices.Equal(c.knows(), a.knows()) || len(c.withheld()) != 0 {
		t.Errorf("it knows\n%q, not\n%q; %q", c.knows(), a.knows(), c.problems())
	}
}
