package relayfault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/sync/replica"
)

// threatSeeds is small, because TestHostileRelay is the long run. If by chance a lie was told in
// none of them, more seeds are used.
const (
	threatSeeds = 6
	mostSeeds   = 30
)

// told plays a few seeds of a relay that tells these lies as often as possible, and demands that
// each was told.
func told(t *testing.T, lies ...Lie) {
	t.Helper()
	sum := Report{Told: map[Lie]int{}}
	silent := func(l Lie) bool { return sum.Told[l] == 0 }
	for seed := uint64(1); seed <= threatSeeds || seed <= mostSeeds && slices.ContainsFunc(lies, silent); seed++ {
		r, err := Run(t.Context(), seed, Options{Dir: fmt.Sprint(folder(t), "/", seed), Lies: append([]Lie{}, lies...), Rate: 0.4})
		if err != nil {
			t.Error(err)
		}
		sum.add(&r)
	}
	for _, l := range lies {
		if silent(l) {
			t.Errorf("the relay never told the lie %s", l)
		}
	}
}

// A correct but curious relay: what it was sent, and what it stores, contains no word, no name and
// no key.
func TestThreatCuriousServer(t *testing.T) { told(t) }

// Whatever a relay does, the devices meet in the same state once they reach an honest one, nothing
// acknowledged is lost, nothing removed returns, and each lie is harmless or reported.
func TestThreatActiveServer(t *testing.T) {
	for _, c := range []struct {
		does string
		lies []Lie
	}{
		{"drops", []Lie{Drop, Lose, Omit, Withhold}},
		{"repeats", []Lie{Repeat, Replay, Double}},
		{"reorders", []Lie{Reorder, Late}},
		{"rolls back", []Lie{Rollback}},
		{"strips bodies", []Lie{Strip}},
		{"changes bodies", []Lie{Bodies, Flip}},
	} {
		t.Run(c.does, func(t *testing.T) { told(t, c.lies...) })
	}
	t.Run("forks", forks)
}

// A relay that shows two devices different histories is exposed, with space, author and place, once
// they compare their heads in another way; and they meet once it is honest.
func forks(t *testing.T) {
	w, err := newWorld(t.Context(), 1, Options{Dir: fmt.Sprint(folder(t), "/fork"), Lies: []Lie{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	}()
	a, b := w.devices[0], w.devices[1]
	both := func() {
		t.Helper()
		for _, d := range []*device{a, b, a} {
			if err := d.sync(); err != nil {
				t.Fatal(err)
			}
		}
	}
	both()
	w.relay.fork(w.space.id.String(), a.id.String(), b.id.String())
	for n, d := range []*device{a, b, b} {
		if err := w.propose(d, byte(n+1), "home"); err != nil {
			t.Fatal(err)
		}
		both() // neither notices anything
	}
	for _, c := range []struct{ asks, says *device }{{a, b}, {b, a}} {
		h, err := c.says.rep.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ds, err := c.asks.rep.Compare(t.Context(), h, true)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(ds, func(d replica.Difference) bool {
			return d.Verdict == replica.Hidden && d.Member == c.says.id && d.Seq > d.Here
		}) {
			t.Errorf("%s beside %s: %v", c.asks.name, c.says.name, ds)
		}
		ps, err := c.asks.rep.Problems(t.Context())
		if err != nil || !slices.ContainsFunc(ps, func(p replica.Problem) bool {
			return p.Member == c.says.id && p.Place != nil && p.Place.Seq > 0 && strings.Contains(p.Reason, w.space.id.String())
		}) {
			t.Errorf("%s names %+v, %v", c.asks.name, ps, err)
		}
	}
	if err := errors.Join(w.settle(), w.check()); err != nil {
		t.Error(err)
	}
	h, err := b.rep.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if ds, err := a.rep.Compare(t.Context(), h, true); err != nil || len(ds) > 0 {
		t.Errorf("once it is honest: %v, %v", ds, err)
	}
}
