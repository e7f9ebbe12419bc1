package journal_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// heads returns a member's heads, as they come by another path.
func (m *member) heads() *envelope.Heads {
	m.t.Helper()
	h, err := m.Heads(m.t.Context())
	if err == nil {
		h, err = envelope.ParseHeadsText("  " + h.String()[:40] + "\n" + h.String()[40:])
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return h
}

func (m *member) beside(h *envelope.Heads) []replica.Difference {
	m.t.Helper()
	ds, err := m.Compare(m.t.Context(), h, true)
	if err != nil {
		m.t.Fatal(err)
	}
	return ds
}

// A member that signs two histories is reported by whoever compares heads with
// a member that saw the other one, however long both have become since.
func TestHeadsOfTwoHistories(t *testing.T) {
	a, b := pair(t)
	c := a.let(a.url, envelope.Writer, nil)
	for n := byte(1); n <= 3; n++ {
		b.say(fact(n, "By b."))
		b.sync()
	}
	a.sync()
	c.sync()
	early := c.heads()
	if ds := a.beside(early); len(ds) != 0 {
		t.Fatalf("the same: %v", ds)
	}
	other := func(h *envelope.Heads) *envelope.Heads { // as c would say if b had shown it another header
		forked := *h
		forked.Places = slices.Clone(h.Places)
		for i, p := range forked.Places {
			if p.Member == b.ring.Member() {
				forked.Places[i].Hash[0] ^= 1
			}
		}
		if err := forked.Sign(c.ring.DeviceSign); err != nil {
			t.Fatal(err)
		}
		return &forked
	}
	forks := func(h *envelope.Heads, seq uint64) {
		t.Helper()
		ds := a.beside(h)
		if !slices.ContainsFunc(ds, func(d replica.Difference) bool {
			return d.Verdict == replica.Forked && d.Member == b.ring.Member() && d.Seq == seq
		}) {
			t.Errorf("it finds %v", ds)
		}
	}
	forks(other(early), 3)
	a.named(replica.ErrForked.Error())
	b.say(fact(4, "Later."))
	b.sync()
	a.sync()
	forks(other(early), 3)
	if ds := a.beside(early); len(ds) != 1 || ds[0].Verdict != replica.Behind || ds[0].Here != 4 {
		t.Errorf("an earlier state of the same history: %v", ds)
	}
	for _, p := range a.problems() {
		if !strings.Contains(p, "space "+a.ring.Space().String()) {
			t.Errorf("named without the space: %s", p)
		}
	}
}

// Heads of an unknown member, of another space, or with another's signature are
// refused.
func TestHeadsAreRefused(t *testing.T) {
	a, b := pair(t)
	stranger := newMember(t, a.url, nil)
	stranger.sync()
	b.sync()
	theirs, forged := stranger.heads(), *b.heads()
	forged.Log++
	elsewhere := *theirs
	elsewhere.Space = a.ring.Space()
	if err := elsewhere.Sign(stranger.ring.DeviceSign); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		h    *envelope.Heads
		want error
	}{"of another space": {theirs, replica.ErrForeign}, "of a stranger": {&elsewhere, envelope.ErrRule}, "with another number": {&forged, envelope.ErrSignature}} {
		if ds, err := a.Compare(t.Context(), c.h, true); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", name, ds, err)
		}
	}
	two := *b.heads() // another log, which b would have to be shown first
	two.Head[0] ^= 1
	if err := two.Sign(b.ring.DeviceSign); err != nil {
		t.Fatal(err)
	}
	if ds := a.beside(&two); len(ds) != 1 || ds[0].Verdict != replica.Forked || ds[0].Member != (memory.MemberID{}) {
		t.Errorf("another log: %v", ds)
	}
	for _, bad := range []string{"", "locket-heads-1.", "locket-heads-1.AAAA", b.heads().String() + "A", strings.ToUpper(b.heads().String())} {
		if _, err := envelope.ParseHeadsText(bad); !errors.Is(err, envelope.ErrForm) {
			t.Errorf("%.30q: %v", bad, err)
		}
	}
}

// unreachable is a relay that can't be reached while it is down.
type unreachable struct {
	replica.Remote
	down bool
}

func (u *unreachable) Log(ctx context.Context, from uint64) ([][]byte, error) {
	if u.down {
		return nil, errors.New("no route to host")
	}
	return u.Remote.Log(ctx, from)
}

// A relay that could not be asked is not accused of hiding anything.
func TestHeadsBesideAnUnreachableRelay(t *testing.T) {
	a, b := pair(t)
	a.sync()
	b.sync()
	relay := &unreachable{}
	a.close()
	a.remote = func(r replica.Remote) replica.Remote { relay.Remote = r; return relay }
	a.open()
	b.say(fact(1, "By b."))
	b.sync()
	h := b.heads()
	relay.down = true
	if ds := a.beside(h); len(ds) != 1 || ds[0].Verdict != replica.Unproven || !strings.Contains(ds[0].String(), "could not be asked") {
		t.Errorf("offline: %v", ds)
	}
	relay.down = false
	if ds, err := a.Compare(t.Context(), h, false); err != nil || len(ds) != 0 {
		t.Errorf("the relay shows it: %v, %v", ds, err)
	}
	b.say(fact(2, "By b, too."))
	b.sync()
	relay.down = true
	if ds, err := a.Compare(t.Context(), b.heads(), false); err != nil || len(ds) != 1 || ds[0].Verdict != replica.Unproven {
		t.Errorf("others could not be asked: %v, %v", ds, err)
	}
	if ps := a.problems(); len(ps) != 0 {
		t.Errorf("kept: %q", ps)
	}
}
