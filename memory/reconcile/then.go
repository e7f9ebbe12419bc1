package reconcile

import (
	"time"

	"github.com/locket-dev/locket/memory"
)

// Then gives a group as it was believed at a time: what follows from the
// assertions that had been made by then. What was erased since is gone from
// the past as well.
func Then(group []memory.Assertion, knownAt time.Time) []memory.Memory {
	var made []memory.Assertion
	erased := map[memory.ID]bool{}
	for i := range group {
		a := &group[i]
		if a.Act == memory.ActErase {
			erased[a.Memory] = true
		}
		if !a.Clock.Time().After(knownAt) {
			made = append(made, *a)
		}
	}
	out := Derive(made)
	for i := 0; i < len(out); i++ {
		if erased[out[i].ID] {
			out = append(out[:i], out[i+1:]...)
			i--
		}
	}
	return out
}

// Holds reports whether a memory was so at asOf, out in the world; where asOf
// is zero, whether it is what is believed. What merely repeats or denies
// another never does, nor what is archived or erased.
func Holds(m *memory.Memory, asOf time.Time) bool {
	if m.Negates || m.Repeats {
		return false
	}
	if asOf.IsZero() {
		return m.State == memory.Active
	}
	kept := m.State == memory.Archived && !m.TrueTo.IsZero() // has an end, and was put away since
	return (m.State == memory.Active || m.State == memory.Superseded || kept) && m.TrueAt(asOf)
}
