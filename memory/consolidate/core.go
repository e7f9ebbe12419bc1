package consolidate

import (
	"slices"
	"unicode/utf8"

	"github.com/locket-dev/locket/memory"
)

// aboutWearer are the tags of memories that belong in the block about the wearer: name, home, work,
// family, diet and, even if said only once, health.
var (
	aboutHealth = []string{"allergy", "health"}
	aboutWearer = append([]string{"identity", "biography", "residence", "work", "relation", "family", "diet"}, aboutHealth...)
)

// again is how often the wearer has to say something, or ask for it, before it is always in the
// context.
const again = 2

// human is the block about the wearer.
const human = "human"

// Copied returns the memory from which a line of a core block was made. The line is valid for as
// long as that memory is active, and a search finds nothing by it that the memory does not have.
func Copied(m *memory.Memory) (of memory.ID, ok bool) {
	if m.Type != memory.Core {
		return of, false
	}
	for _, l := range m.Links {
		if l.Relation == DerivedFrom {
			id, err := memory.ParseID(l.To)
			return id, err == nil
		}
	}
	return of, false
}

// core maintains the block about the wearer: lines that are no longer true are removed, and what
// was said about the wearer again and again is added while there is room. It is never filled so far
// that the next dream would remove lines again.
func (p *planner) core() {
	size, have := 0, map[string]bool{}
	for _, m := range p.all {
		f := m.Fields.Core
		if m.Type != memory.Core || f == nil || m.State != memory.Active {
			continue
		}
		if id, ok := Copied(m); ok && p.may(m) {
			if of := p.byID[id]; of == nil || of.State != memory.Active || p.gone[id] || p.away[id] {
				p.away[m.ID] = true
				p.add(Step{Kind: Expire, Reason: "what it says in the block " + f.Block + " is no longer so, or is kept elsewhere"}, m)
				continue
			}
		}
		if f.Block == human && wearers(m) {
			size += utf8.RuneCountInString(m.Text) + 1
			have[memory.Normal(m.Text)] = true
		}
	}
	block := memory.CoreFields{Block: human, Limit: memory.CoreLimit}
	for _, m := range p.all {
		id := p.in.ID("core of " + m.ID.String())
		n := utf8.RuneCountInString(m.Text) + 1
		if !p.lasting(m) || p.byID[id] != nil || have[memory.Normal(m.Text)] || block.Full(size+n-1) && !healthy(m) {
			continue
		}
		size, have[memory.Normal(m.Text)] = size+n, true
		c := memory.Candidate{Type: memory.Core, Text: m.Text, Lang: m.Lang, Owner: m.Owner, Evidence: m.Evidence, Entities: m.Entities,
			Links: []memory.Link{{Relation: DerivedFrom, To: m.ID.String()}}, Tags: m.Tags, Source: memory.Source{Plugin: "dream"},
			Confidence: m.Confidence, Sensitivity: m.Sensitivity, TrueFrom: m.TrueFrom, Fields: memory.Fields{Core: new(block)}}
		why := "said of the wearer again and again: it is always in mind"
		switch {
		case healthy(m):
			why = "about the wearer's health: it is always in mind"
		case m.Pinned:
			why = "pinned, and about the wearer: it is always in mind"
		case m.Heard < again:
			why = "asked for again and again: it is always in mind"
		}
		p.add(Step{Kind: Promote, Into: id, IntoText: m.Text, Candidate: &c, Reason: why}, m)
	}
}

// lasting reports whether a memory belongs in the block about the wearer.
func (p *planner) lasting(m *memory.Memory) bool {
	if m.State != memory.Active || m.Type != memory.Semantic || p.taken[m.ID] || p.gone[m.ID] || !wearers(m) ||
		m.Slot == nil || m.Slot.Subject != "user" || !hasAny(m, aboutWearer) {
		return false
	}
	return healthy(m) || m.Pinned || m.Heard >= again || p.in.Uses[m.ID].Count >= again
}

// wearers reports whether a memory is the wearer's own, and does not belong to another user, an
// agent, or one run.
func wearers(m *memory.Memory) bool { return m.Owner == memory.Owner{User: memory.WearerUser} }

func healthy(m *memory.Memory) bool { return hasAny(m, aboutHealth) }

func hasAny(m *memory.Memory, tags []string) bool {
	return slices.ContainsFunc(tags, func(t string) bool { return slices.Contains(m.Tags, t) })
}
