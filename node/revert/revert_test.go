package revert

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
)

func said(seq uint64, rank memory.Rank, act memory.Act, at int64) memory.Assertion {
	a := memory.Assertion{Dot: memory.Dot{Member: memory.MemberID{byte(rank)}, Seq: seq}, Clock: memory.Clock{Wall: at}, Rank: rank, Memory: memory.ID{1}, Act: act,
		Source: memory.Source{Plugin: "worker/read", Model: "tesseract"}}
	switch act {
	case memory.ActPropose:
		a.Candidate = &memory.Candidate{Type: memory.Resource, Text: "It says so.", Owner: memory.Owner{User: "me"}, Source: a.Source, Confidence: 1,
			Fields: memory.Fields{Resource: &memory.ResourceFields{MediaType: "text/plain"}}}
	case memory.ActTag:
		a.Tags = []string{"x"}
	}
	return a
}

func TestClaims(t *testing.T) {
	as := []memory.Assertion{said(1, memory.RankCloud, memory.ActPropose, 1000), said(2, memory.RankCloud, memory.ActReinforce, 2000),
		said(1, memory.RankDevice, memory.ActPropose, 1500), said(1, memory.RankPerson, memory.ActTag, 1500)}
	at := func(ms int64) time.Time { return time.UnixMilli(ms) }
	for _, c := range []struct {
		c    Criteria
		want int
	}{
		{Criteria{}, 2}, {Criteria{Since: at(1001)}, 1}, {Criteria{Since: at(1000), Until: at(2000)}, 1}, {Criteria{Until: at(2001)}, 2}, {Criteria{Until: at(1000)}, 0},
		{Criteria{Engine: "tesseract"}, 2}, {Criteria{Engine: "other"}, 0}, {Criteria{Work: "read"}, 2}, {Criteria{Work: "caption"}, 0},
	} {
		if got := Claims(as, c.c); len(got) != c.want {
			t.Errorf("%+v: %d claims", c.c, len(got))
		}
	}
	// A worker that claims that an app made the statement.
	forged := said(3, memory.RankCloud, memory.ActReinforce, 2000)
	forged.Dot.Member, forged.Source = memory.MemberID{9}, memory.Source{Device: "app:notes", Plugin: "app"}
	for member, want := range map[memory.MemberID]int{{9}: 1, {8}: 0} {
		c := Criteria{Workers: map[memory.MemberID]bool{member: true}}
		if got := len(Claims([]memory.Assertion{forged}, c)); got != want {
			t.Errorf("worker %s: %d claims", member, got)
		}
		c.App = "notes"
		if got := len(Claims([]memory.Assertion{forged}, c)); got != 1-want {
			t.Errorf("app, beside worker %s: %d claims", member, got)
		}
	}
	claims := Claims(as, Criteria{})
	for _, c := range []struct {
		as   []memory.Assertion
		want string
	}{{as, "you have said something about it yourself"}, {as[:3], "a device says so, too"}, {as[:2], ""}} {
		if got := StayReason(c.as, claims); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := StayReason(as[:2], claims[1:]); got == "" {
		t.Error("a proposal that is left was passed over")
	}
}

// After its claims were withdrawn, a memory is gone exactly where StayReason says
// so, and a revert can be undone once.
func TestStaysMatchesTheResult(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		as := []memory.Assertion{said(1, memory.RankCloud, memory.ActPropose, 1000)}
		for i := range rapid.IntRange(0, 4).Draw(t, "more") {
			rank := rapid.SampledFrom([]memory.Rank{memory.RankCloud, memory.RankDevice, memory.RankPerson}).Draw(t, "rank")
			act := rapid.SampledFrom([]memory.Act{memory.ActPropose, memory.ActTag}).Draw(t, "act")
			as = append(as, said(uint64(i+2), rank, act, int64(1000+i)))
		}
		// A worker that claims that an app made the statement.
		forged := said(3, memory.RankCloud, memory.ActReinforce, 2000)
		forged.Dot.Member, forged.Source = memory.MemberID{9}, memory.Source{Device: "app:notes", Plugin: "app"}
		for member, want := range map[memory.MemberID]int{{9}: 1, {8}: 0} {
			c := Criteria{Workers: map[memory.MemberID]bool{member: true}}
			if got := len(Claims([]memory.Assertion{forged}, c)); got != want {
				t.Errorf("worker %s: %d claims", member, got)
			}
			c.App = "notes"
			if got := len(Claims([]memory.Assertion{forged}, c)); got != 1-want {
				t.Errorf("app, beside worker %s: %d claims", member, got)
			}
		}
		claims := Claims(as, Criteria{})
		w := memory.Assertion{Dot: memory.Dot{Member: memory.MemberID{9}, Seq: 1}, Clock: memory.Clock{Wall: 9000}, Rank: memory.RankPerson, Memory: memory.ID{1},
			Act: memory.ActWithdraw, Reason: (&Criteria{}).Reason("r")}
		for _, c := range claims {
			w.Seen = append(w.Seen, c.Dot)
		}
		after := append(append([]memory.Assertion{}, as...), w)
		alive := len(reconcile.Derive(after)) > 0
		if want := StayReason(as, claims) != ""; alive != want {
			t.Fatalf("it is there: %v, and Stays says %v", alive, want)
		}
		if left := Claims(after, Criteria{}); len(left) > 0 {
			t.Fatalf("%d claims after all were withdrawn", len(left))
		}
		again := ClaimsToRestore(after, "r")
		if len(again) != len(claims) || len(ClaimsToRestore(after, "other")) > 0 {
			t.Fatalf("undoing the revert would repeat %d of %d claims", len(again), len(claims))
		}
		for i, a := range again {
			a.Dot, a.Reason = memory.Dot{Member: memory.MemberID{9}, Seq: uint64(i + 2)}, RestoreReason("r")
			after = append(after, a)
		}
		if len(reconcile.Derive(after)) == 0 || len(ClaimsToRestore(after, "r")) > 0 {
			t.Fatal("the memory was not restored, or a second undo would repeat claims")
		}
	})
}
