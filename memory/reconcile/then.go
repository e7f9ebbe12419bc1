package reconcile

import (
	"time"

	"github.com/locket-dev/locket/memory"
)

// AsKnownAt returns a group as it was believed at a time: the memories that follow
// from the assertions made until then. What was erased since is also missing in
// the past.
func AsKnownAt(group []memory.Assertion, knownAt time.Time) []memory.Memory {
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

// Holds reports whether a memory was true in the world at asOf, or, if asOf is
// zero, whether it is believed now. It returns false for a memory that only
// repeats or denies another, and for an archived or erased one.
func Holds(m *memory.Memory, asOf time.Time) bool {
	if m.Negates || m.Repeats {
		return false
	}
	if asOf.IsZero() {
		return m.State == memory.Active
	}
	kept := m.State == memory.Archived && !m.TrueTo.IsZero() // has an end, and was archived since
	return (m.State == memory.Active || m.State == memory.Superseded || kept) && m.TrueAt(asOf)
}
