package reconcile

import (
	"slices"
	"strings"
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
	of   func(*memory.Memory) *memory.Patch // the present value
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
			if p.Fields.Of(m.Type) { // fields of another type are a mistake or an attack, and are ignored
				m.Fields = *p.Fields
			}
		},
		func(p *memory.Patch) string { return showFields(p.Fields) },
		func(m *memory.Memory) *memory.Patch { return &memory.Patch{Fields: &m.Fields} }},
	{"metadata", func(p *memory.Patch) bool { return p.Metadata != nil },
		func(m *memory.Memory, p *memory.Patch) { m.Metadata = *p.Metadata },
		func(p *memory.Patch) string { return valueText(*p.Metadata) },
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

// value returns the value that a patch gives a register, as text. Equal values give
// equal texts.
func (r *register) value(p *memory.Patch) string {
	if r.name == "fields" {
		return valueText(p.Fields)
	}
	return r.show(p)
}

// showFields returns the fields of a type as a person may read them, without the
// sealed ones.
func showFields(f *memory.Fields) string {
	if f.Vault != nil {
		return f.Vault.EntryType + " " + f.Vault.Label
	}
	return valueText(f)
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

// correct applies corrections, one register at a time. If nobody overruled a value
// and it is not shown, it is kept as a conflict.
func (it *item) correct(as []*memory.Assertion, v *authority) {
	m := &it.mem
	was := *m
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
	m.Entities = entitiesAfter(&was, m)
}

// entitiesAfter returns the entities of a memory after its corrections. An entity that was the value becomes the
// new value. An entity that the text named, and no longer names, is removed.
func entitiesAfter(was, is *memory.Memory) (out []memory.Entity) {
	old, value := slotValue(was), slotValue(is)
	if old == value && was.Text == is.Text {
		return is.Entities
	}
	before, after := memory.Normal(was.Text), memory.Normal(is.Text)
	for _, e := range is.Entities {
		name := memory.Normal(e.Name)
		switch {
		case old != "" && value != "" && name == memory.Normal(old):
			e.Name = value
		case strings.Contains(before, name) && !strings.Contains(after, name):
			continue
		}
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// Overrules returns the dots that a new assertion has to name in Seen if its author
// knows all of as. These are the assertions that wrote to the same register. A pin
// also names the proposal that is shown, so that this proposal stays shown.
func Overrules(as []memory.Assertion, next *memory.Assertion) []memory.Dot {
	var out []memory.Dot
	for i := range as {
		a := &as[i]
		if a.Memory == next.Memory && sameRegister(a, next) {
			out = append(out, a.Dot)
		}
	}
	if next.Act == memory.ActPin {
		out = append(out, keptByPin(as, next.Memory)...)
	}
	return out
}

// keptByPin returns the machines' assertions that a pin keeps: the proposal that is shown
// and, if it is a worker's, the assertion that sets its sensitivity.
func keptByPin(as []memory.Assertion, id memory.ID) []memory.Dot {
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
				return true // next does not set this register, so the assertion stays in force
			}
		}
	}
	return false
}
