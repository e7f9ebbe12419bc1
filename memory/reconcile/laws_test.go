package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/locket-dev/locket/memory"
)

// derived returns everything that follows from a set of assertions, as text: what is shown, what
// the conflicts are, what was believed at each hour, and what the next assertion would name as
// known.
func derived(as []memory.Assertion) string {
	var b strings.Builder
	put := func(what string, v any) { fmt.Fprintf(&b, "%s: %s\n", what, valueText(v)) }
	put("memories", Derive(as))
	put("conflicts", Conflicts(as))
	for hour := range 7 {
		put(fmt.Sprint("then ", hour), AsKnownAt(as, day0.Add(time.Duration(hour)*time.Hour)))
	}
	next := memory.Assertion{Dot: memory.Dot{Member: memory.MemberID{9}, Seq: 1}, Memory: memory.ID{9}, Act: memory.ActPropose}
	home("Oslo", 9, false)(&next)
	put("knew", SeenDots(as, &next))
	return b.String()
}

// join merges what comes from a replica with b into a replica with a.
func join(a, b []memory.Assertion) []memory.Assertion {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.ContainsFunc(a, func(y memory.Assertion) bool { return y.Dot == x.Dot }) {
			out = append(out, x)
		}
	}
	return out
}

// some draws a subset of as, in any order.
func some(t *rapid.T, as []memory.Assertion, name string) []memory.Assertion {
	mixed := rapid.Permutation(as).Draw(t, name)
	return mixed[:rapid.IntRange(0, len(mixed)).Draw(t, "of "+name)]
}

// These laws make replicas alike that have heard the same. A merge is commutative, associative and
// idempotent for everything that is derived, and deriving from a part first has no effect. The long
// form is in docs/proof.md.
func TestMergeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		as := genGroup(t)
		before := valueText(as)
		a, b, c := some(t, as, "a"), some(t, as, "b"), some(t, as, "c")
		same := func(law string, x, y []memory.Assertion) {
			t.Helper()
			if dx, dy := derived(x), derived(y); dx != dy {
				t.Fatalf("not %s:\n%s\n%s", law, dx, dy)
			}
		}
		same("commutative", join(a, b), join(b, a))
		same("associative", join(join(c, a), b), join(c, join(b, a)))
		same("idempotent", append(slices.Clone(a), a...), a)
		same("idempotent", join(join(a, b), b), join(a, b))
		// Any subset first, then the rest, in any order, some of it twice.
		all := append(slices.Clone(a), rapid.Permutation(as).Draw(t, "rest")...)
		derived(all[:len(a)])
		same("a function of the set", all, as)
		if now := valueText(as); now != before {
			t.Fatalf("what was merged was changed:\n%s\n%s", before, now)
		}
	})
}
