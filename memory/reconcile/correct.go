package reconcile

import (
	"fmt"

	"github.com/locket-dev/locket/memory"
)

// register is one field that a patch can set.
type register struct {
	name string
	has  func(*memory.Patch) bool
	set  func(*memory.Memory, *memory.Patch)
	show func(*memory.Patch) string
}

var registers = [...]register{
	{"text", func(p *memory.Patch) bool { return p.Text != nil },
		func(m *memory.Memory, p *memory.Patch) { m.Text = *p.Text },
		func(p *memory.Patch) string { return *p.Text }},
	{"value", func(p *memory.Patch) bool { return p.Value != nil },
		func(m *memory.Memory, p *memory.Patch) {
			if m.Slot != nil {
				s := *m.Slot
				s.Value = *p.Value
				m.Slot = &s
			}
		},
		func(p *memory.Patch) string { return *p.Value }},
	{"fields", func(p *memory.Patch) bool { return p.Fields != nil },
		func(m *memory.Memory, p *memory.Patch) {
			if p.Fields.Of(m.Type) { // another's are a mistake, or a lie
				m.Fields = *p.Fields
			}
		},
		func(p *memory.Patch) string { return "other fields" }},
	{"metadata", func(p *memory.Patch) bool { return p.Metadata != nil },
		func(m *memory.Memory, p *memory.Patch) { m.Metadata = *p.Metadata },
		func(p *memory.Patch) string { return fmt.Sprint(map[string]string(*p.Metadata)) }},
	{"sensitivity", func(p *memory.Patch) bool { return p.Sensitivity != nil },
		func(m *memory.Memory, p *memory.Patch) { m.Sensitivity = *p.Sensitivity },
		func(p *memory.Patch) string { return p.Sensitivity.String() }},
	{"validity", func(p *memory.Patch) bool { return p.Validity != nil },
		func(m *memory.Memory, p *memory.Patch) { m.TrueFrom, m.TrueTo = p.Validity.From, p.Validity.To },
		func(p *memory.Patch) string { return p.Validity.From.String() + "/" + p.Validity.To.String() }},
}

// correct applies corrections, a register at a time. A value that nobody
// overruled and that is not shown is kept as a conflict.
func (it *item) correct(as []*memory.Assertion, may func(*memory.Assertion) bool) {
	m := &it.mem
	for _, r := range registers {
		sets := func(a *memory.Assertion) bool {
			return a.Act == memory.ActCorrect && a.Patch != nil && r.has(a.Patch) && may(a)
		}
		best := winner(as, sets)
		if best == nil {
			continue
		}
		r.set(m, best.Patch)
		m.Rank = max(m.Rank, best.Rank)
		for _, a := range unopposed(as, sets) {
			if a != best && r.show(a.Patch) != r.show(best.Patch) {
				m.Conflict = append(m.Conflict, memory.Variant{Field: r.name, Value: r.show(a.Patch), Dot: a.Dot, Rank: a.Rank})
			}
		}
	}
}

// Overrules gives the dots that a new assertion by somebody who knows all of
// as should name in Seen: those that wrote to the same register.
func Overrules(as []memory.Assertion, next *memory.Assertion) []memory.Dot {
	var out []memory.Dot
	for i := range as {
		a := &as[i]
		if a.Memory == next.Memory && sameRegister(a, next) {
			out = append(out, a.Dot)
		}
	}
	return out
}

func sameRegister(a, next *memory.Assertion) bool {
	switch next.Act {
	case memory.ActPin, memory.ActUnpin:
		return isPin(a)
	case memory.ActArchive, memory.ActRestore, memory.ActClose:
		return isState(a)
	case memory.ActUntag:
		return a.Act == memory.ActTag || a.Act == memory.ActPropose
	case memory.ActCorrect:
		if a.Act != memory.ActCorrect || a.Patch == nil || next.Patch == nil {
			return false
		}
		// One that sets more than next does stays: only what next sets is overruled.
		for _, r := range registers {
			if r.has(a.Patch) && !r.has(next.Patch) {
				return false
			}
		}
		return true
	}
	return false
}
