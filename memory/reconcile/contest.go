package reconcile

import "github.com/locket-dev/locket/memory"

// These are not fields of a memory, but members can disagree about them, too.
const (
	pinField   = "pin"
	stateField = "state" // archived, closed, or in use
)

// contest is a register of a memory, as [Conflicts] sees it.
type contest struct {
	name  string
	in    func(*memory.Assertion) bool
	show  func(*memory.Assertion) string     // for a person
	same  func(*memory.Assertion) string     // gives equal texts for equal values
	shown func(*memory.Memory) string        // the memory's present value, for people
	now   func(*memory.Memory) string        // the memory's present value, in the form that same gives
	of    func(*memory.Memory) *memory.Patch // a patch that sets the present value; nil if no patch can
}

var contested = contests()

func contests() []*contest {
	var out []*contest
	for i := range registers {
		r := &registers[i]
		out = append(out, &contest{name: r.name,
			in:    func(a *memory.Assertion) bool { return a.Act == memory.ActCorrect && a.Patch != nil && r.has(a.Patch) },
			show:  func(a *memory.Assertion) string { return r.show(a.Patch) },
			same:  func(a *memory.Assertion) string { return r.value(a.Patch) },
			shown: func(m *memory.Memory) string { return r.show(r.of(m)) },
			now:   func(m *memory.Memory) string { return r.value(r.of(m)) },
			of:    r.of})
	}
	return append(out,
		&contest{name: pinField, in: isPin, show: showPin, same: showPin, shown: pinOf, now: pinOf},
		&contest{name: stateField, in: isState, show: showState, same: showState, shown: stateOf, now: stateOf})
}

const (
	isPinned, notPinned = "pinned", "not pinned"
	putAway, inUse      = "put away", "in use"
)

func showPin(a *memory.Assertion) string {
	if a.Act == memory.ActPin {
		return isPinned
	}
	return notPinned
}

func pinOf(m *memory.Memory) string {
	if m.Pinned {
		return isPinned
	}
	return notPinned
}

func showState(a *memory.Assertion) string {
	switch a.Act {
	case memory.ActArchive:
		return putAway
	case memory.ActClose:
		return "no longer so, as of " + a.Patch.Validity.To.UTC().Format("2006-01-02")
	}
	return inUse
}

func stateOf(m *memory.Memory) string {
	switch m.State {
	case memory.Archived:
		return putAway
	case memory.Superseded:
		return "no longer so, as of " + day(m)
	}
	return inUse
}
