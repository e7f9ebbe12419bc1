package reconcile

import (
	"fmt"
	"strings"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// Diff describes what an assertion changed: before and after are what [Derive] returned without and
// with it. Each change has a reason that a person can read. The change of the memory that the
// assertion is about comes first. The store sets Seq later.
func Diff(before, after []memory.Memory, cause memory.Assertion) []memory.Change {
	old := make(map[memory.ID]*memory.Memory, len(before))
	for i := range before {
		old[before[i].ID] = &before[i]
	}
	now := make(map[memory.ID]*memory.Memory, len(after))
	for i := range after {
		now[after[i].ID] = &after[i]
	}
	var out []memory.Change
	emit := func(c memory.Change) {
		c.At, c.By, c.Rank = cause.Clock.Time(), cause.Source, cause.Rank
		if cause.Reason != "" {
			c.Reason += " (" + cause.Reason + ")"
		}
		out = append(out, c)
	}
	repeated := map[memory.ID]bool{} // known memories for which a change already says that they were said again
	for i := range after {
		if m := &after[i]; old[m.ID] == nil && m.Repeats {
			repeated[m.Into] = true
		}
	}
	for i := range after {
		m := &after[i]
		was, known := old[m.ID]
		if !known {
			emit(arrival(m, now, before))
			continue
		}
		if c, changed := change(was, m, now); changed && !(c.Verdict == memory.Noop && repeated[m.ID]) {
			emit(c)
		}
	}
	sorting.Stable(out, func(a, b memory.Change) int { return own(&b, &cause) - own(&a, &cause) })
	return out
}

// own is 1 for a change of the memory that an assertion is about, else 0.
func own(c *memory.Change, cause *memory.Assertion) int {
	if c.Memory == cause.Memory || c.Other == cause.Memory && c.Verdict == memory.Noop {
		return 1
	}
	return 0
}

// arrival returns the change for the first appearance of a memory.
func arrival(m *memory.Memory, now map[memory.ID]*memory.Memory, before []memory.Memory) memory.Change {
	c := memory.Change{Memory: m.ID, New: m.Text}
	other := now[m.Into]
	switch {
	case m.State == memory.Erased:
		c.Verdict, c.New, c.Reason = memory.Delete, "", "erased before it was known here"
	case m.Negates && other != nil:
		c.Verdict, c.Old, c.Other = memory.Delete, other.Text, other.ID
		c.Reason = fmt.Sprintf("says that this no longer holds: %q", other.Text)
	case m.Negates:
		c.Verdict, c.Reason = memory.Noop, "ends nothing that was found"
		for i := range before {
			b := &before[i]
			if why := spares(b, m); why != "" && b.State == memory.Active && (valueOf(m) == "" || valueOf(m) == valueOf(b)) {
				c.Other, c.Reason = b.ID, fmt.Sprintf("would have ended %q, %s: passed over", b.Text, why)
			}
		}
	case other != nil && m.Repeats:
		c = memory.Change{Memory: other.ID, Verdict: memory.Noop, Old: other.Text, Other: m.ID}
		c.Reason = fmt.Sprintf("said again: %d pieces of evidence", other.Heard)
	case m.State == memory.Superseded && other != nil:
		c.Verdict, c.Other = memory.Add, other.ID
		c.Reason = fmt.Sprintf("true until %s, when %q began", day(m), other.Text)
	default:
		c.Verdict, c.Reason = memory.Add, "nothing known about this before"
		for i := range before {
			b := &before[i]
			if after := now[b.ID]; b.State == memory.Active && after != nil && after.Into == m.ID {
				c.Verdict, c.Old, c.Other = memory.Update, b.Text, b.ID
				c.Reason = fmt.Sprintf("takes the place of %q: %s", b.Text, rule(m))
			} else if why := spares(b, m); why != "" && c.Verdict != memory.Update && after != nil && after.State == memory.Active && !same(m, after) {
				c.Other = b.ID
				c.Reason = fmt.Sprintf("would have taken the place of %q, %s: added beside it", b.Text, why)
			}
		}
	}
	return c
}

// change compares a memory with its state before.
func change(was, m *memory.Memory, now map[memory.ID]*memory.Memory) (memory.Change, bool) {
	c := memory.Change{Memory: m.ID, Verdict: memory.Update, Old: was.Text, New: m.Text}
	other := now[m.Into]
	if m.Negates {
		if was.Into == m.Into || other == nil {
			return c, false
		}
		c.Verdict, c.Old, c.New, c.Other = memory.Delete, other.Text, "", other.ID
		c.Reason = "ends what has become known since"
		return c, true
	}
	switch {
	case m.State == memory.Erased && was.State != memory.Erased:
		c.Verdict, c.Old, c.New, c.Reason = memory.Delete, "", "", "erased by the wearer"
	case was.State == memory.Active && m.State == memory.Superseded && other != nil && m.Repeats:
		c.Verdict, c.New, c.Other, c.Reason = memory.Noop, "", other.ID, "says the same as an earlier one, and is kept there"
	case was.State == memory.Active && m.State == memory.Superseded && other != nil:
		c.New, c.Other = other.Text, other.ID
		c.Reason = fmt.Sprintf("true until %s, when %q took its place", day(m), other.Text)
	case was.State == memory.Active && m.State == memory.Superseded:
		c.Verdict, c.New, c.Reason = memory.Delete, "", "no longer so, as of "+day(m)
	case was.State != m.State && m.State == memory.Archived:
		c.Reason = "archived: kept, and not shown"
	case was.State != m.State && m.State == memory.Active:
		c.Reason = "holds again"
	case was.Text != m.Text || slotValue(was) != slotValue(m):
		c.Reason = "corrected"
	case valueText(was.Fields) != valueText(m.Fields):
		c.Old, c.New, c.Reason = shownFields(was), shownFields(m), changedFields(was, m)
	case was.Pinned != m.Pinned && m.Pinned:
		c.Reason = "pinned: no machine changes it"
	case was.Pinned != m.Pinned:
		c.Reason = "no longer pinned"
	case !was.TrueFrom.Equal(m.TrueFrom) || !was.TrueTo.Equal(m.TrueTo):
		c.Reason = "its dates are otherwise"
	case was.Sensitivity != m.Sensitivity:
		c.Reason = "now " + m.Sensitivity.String()
	case fmt.Sprint(was.Tags) != fmt.Sprint(m.Tags):
		c.Reason = "tags changed"
	case valueText(was.Metadata) != valueText(m.Metadata):
		c.Reason = "metadata changed"
	case len(was.Conflict) != len(m.Conflict):
		c.Reason = "devices disagree about it"
	case was.Heard != m.Heard:
		c.Verdict, c.New = memory.Noop, ""
		c.Reason = fmt.Sprintf("said again: %d pieces of evidence", m.Heard)
	default:
		return c, false
	}
	return c, true
}

func same(a, b *memory.Memory) bool { return valueOf(a) == valueOf(b) }

// Spared and SparedSaid stand in the reason of a change that would have changed
// another memory, had it not been pinned, or said by a person.
const (
	Spared     = "which is pinned"
	SparedSaid = "which the wearer said"
)

// spares returns the reason why m does not change b. It is empty if m changes b.
func spares(b, m *memory.Memory) string {
	switch {
	case b.Pinned:
		return Spared
	case b.Rank == memory.RankPerson && m.Rank == memory.RankCloud:
		return SparedSaid
	}
	return ""
}

// rule returns the rule by which one of two memories of m's group gives way, in words.
func rule(m *memory.Memory) string {
	switch s := m.Slot; {
	case s == nil:
		return "it says otherwise"
	case s.Many:
		return "both can't be so"
	default:
		return "there is one " + strings.ReplaceAll(s.Attribute, "_", " ") + " of " + whose(s.Subject) + " at a time"
	}
}

func whose(subject string) string {
	if subject == "user" {
		return "the wearer"
	}
	for _, own := range []string{"user's ", "user的"} {
		if what, ok := strings.CutPrefix(subject, own); ok {
			return "the wearer's " + what
		}
	}
	return subject
}

func slotValue(m *memory.Memory) string {
	if m.Slot == nil {
		return ""
	}
	return m.Slot.Value
}

func day(m *memory.Memory) string { return m.TrueTo.Format("2006-01-02") }
