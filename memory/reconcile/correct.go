package reconcile

import (
	"time"

	"github.com/locket-dev/locket/memory"
)

const sensitivityField = "sensitivity"

// register is one field that a patch can set.
type register struct {
	name string
	has  func(*memory.Patch) bool
	set  func(*memory.Memory, *memory.Patch)
	show func(*memory.Patch) string
	of   func(*memory.Memory) *memory.Patch // as it is
}

var registers = [...]register{
	{"text", func(p *memory.Patch) bool { return p.Text != nil },
		func(m *memory.Memory, p *memory.Patch) { m.Text = *p.Text },
		func(p *memory.Patch) string { return *p.Text },
		func(m *memory.Memory) *memory.Patch { return &memory.Patch{Text: &m.Text} }},
	{"value", func(p *memory.Patch) bool { return p.Value != nil },
		func(m *memory.Memory, p *memory.Patch) {
			if m.Slot != nil {
				s := *m.Slot
				s.Value = *p.Value
				m.Slot = &s
			}
		},
		func(p *memory.Patch) string { return *p.Value },
		func(m *memory.Memory) *memory.Patch { v := slotValue(m); return &memory.Patch{Value: &v} }},
	{"fields", func(p *memory.Patch) bool { return p.Fields != nil },
		func(m *memory.Memory, p *memory.Patch) {
			if p.Fields.Of(m.Type) { // another's are a mistake, or a lie
				m.Fields = *p.Fields
			}
		},
		func(p *memory.Patch) string { return showFields(p.Fields) },
		func(m *memory.Memory) *memory.Patch { return &memory.Patch{Fields: &m.Fields} }},
	{"metadata", func(p *memory.Patch) bool { return p.Metadata != nil },
		func(m *memory.Memory, p *memory.Patch) { m.Metadata = *p.Metadata },
		func(p *memory.Patch) string { return said(*p.Metadata) },
		func(m *memory.Memory) *memory.Patch { return &memory.Patch{Metadata: &m.Metadata} }},
	{sensitivityField, func(p *memory.Patch) bool { return p.Sensitivity != nil },
		func(m *memory.Memory, p *memory.Patch) { m.Sensitivity = *p.Sensitivity },
		func(p *memory.Patch) string { return p.Sensitivity.String() },
		func(m *memory.Memory) *memory.Patch { return &memory.Patch{Sensitivity: &m.Sensitivity} }},
	{"validity", func(p *memory.Patch) bool { return p.Validity != nil },
		func(m *memory.Memory, p *memory.Patch) { m.TrueFrom, m.TrueTo = p.Validity.From, p.Validity.To },
		func(p *memory.Patch) string { return showValidity(p.Validity) },
		func(m *memory.Memory) *memory.Patch {
			return &memory.Patch{Validity: &memory.Validity{From: m.TrueFrom, To: m.TrueTo}}
		}},
}

// value is what a patch sets a register to, the same for what is the same.
func (r *register) value(p *memory.Patch) string {
	if r.name == "fields" {
		return said(p.Fields)
	}
	return r.show(p)
}

// showFields is the fields of a type as a person may read them: without what
// is sealed.
func showFields(f *memory.Fields) string {
	if f.Vault != nil {
		return f.Vault.EntryType + " " + f.Vault.Label
	}
	return said(f)
}

func showValidity(v *memory.Validity) string {
	show := func(t time.Time, never string) string {
		if t.IsZero() {
			return never
		}
		return t.UTC().Format(time.RFC3339)
	}
	return "from " + show(v.From, "then") + " to " + show(v.To, "now")
}

// correct applies corrections, a register at a time. A value that nobody
// overruled and that is not shown is kept as a conflict.
func (it *item) correct(as []*memory.Assertion, v *authority) {
	m := &it.mem
	for _, r := range registers {
		private := r.name == sensitivityField
		sets := func(a *memory.Assertion) bool {
			return a.Act == memory.ActCorrect && a.Patch != nil && r.has(a.Patch) && v.counts(a) && !(private && a.Rank == memory.RankCloud)
		}
		best := winner(as, sets)
		if best == nil {
			if private && v.workers {
				_, said := v.keptPrivate(as)
				m.Sensitivity = max(m.Sensitivity, said)
			}
			continue
		}
		r.set(m, best.Patch)
		m.Rank = max(m.Rank, best.Rank)
		for _, a := range unopposed(as, sets) {
			if a != best && r.value(a.Patch) != r.value(best.Patch) {
				m.Conflict = append(m.Conflict, memory.Variant{Field: r.name, Value: r.show(a.Patch), Dot: a.Dot, Rank: a.Rank})
			}
		}
	}
}

// Overrules returns the dots that a new assertion by somebody who knows all of
// as should name in Seen: those that wrote to the same register; and of a pin
// the proposal that is shown, which stays so.
func Overrules(as []memory.Assertion, next *memory.Assertion) []memory.Dot {
	var out []memory.Dot
	for i := range as {
		a := &as[i]
		if a.Memory == next.Memory && sameRegister(a, next) {
			out = append(out, a.Dot)
		}
	}
	if next.Act == memory.ActPin {
		out = append(out, kept(as, next.Memory)...)
	}
	return out
}

// kept are the machines' words that a pin is to keep: the proposal that is
// shown, and, of a worker's, what says how private it is.
func kept(as []memory.Assertion, id memory.ID) []memory.Dot {
	var of []*memory.Assertion
	for i := range as {
		if as[i].Memory == id {
			of = append(of, &as[i])
		}
	}
	of = standing(of)
	v := authorityOf(of)
	if v.shown == nil || v.shown.Rank == memory.RankPerson {
		return nil
	}
	out := []memory.Dot{v.shown.Dot}
	if by, _ := v.keptPrivate(of); v.workers && by != v.shown {
		out = append(out, by.Dot)
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
		for _, r := range registers {
			if r.has(a.Patch) && r.has(next.Patch) {
				return true // in a register that next does not set, it stands
			}
		}
	}
	return false
}
