package filter

import "github.com/locket-dev/locket/memory"

// Brief is what an index knows about an item.
type Brief struct {
	Utterance   bool
	Type        memory.Type // type of a memory
	Sensitivity memory.Sensitivity
	Rated       bool // Sensitivity is known
	Plain       bool // a memory that belongs to the wearer, and to no agent or run; false: not known
}

// Verdict says what is known from a Brief about the item's match.
type Verdict int8

// The verdicts. Unsure means that the item has to be read.
const (
	No     Verdict = -1
	Unsure Verdict = 0
	Yes    Verdict = 1
)

// Glance reports whether the item of a brief matches, if that is known.
func (f Filter) Glance(b Brief) Verdict {
	if f.root == nil {
		return Yes
	}
	return glance(f.root, &b)
}

func glance(n node, b *Brief) Verdict {
	switch n := n.(type) {
	case all:
		v := Yes
		for _, part := range n {
			v = min(v, glance(part, b))
		}
		return v
	case anyOf:
		v := No
		for _, part := range n {
			v = max(v, glance(part, b))
		}
		return v
	case negate:
		return -glance(n.node, b)
	case predicate:
		if n.glance != nil {
			return n.glance(*b)
		}
	case *condition:
		if !b.knows(n.name) {
			return Unsure
		}
		if n.match(b.item()) {
			return Yes
		}
		return No
	}
	return Unsure
}

// knows reports whether item returns the right value of a field.
func (b *Brief) knows(field string) bool {
	switch field {
	case "kind":
		return true
	case "type":
		return b.Utterance || b.Type != ""
	case "sensitivity":
		return b.Utterance || b.Rated
	case "user", "agent", "run":
		return b.Utterance || b.Plain
	}
	return false
}

// item returns the item as far as b knows it.
func (b *Brief) item() *Item {
	if b.Utterance {
		return &Item{Utterance: &memory.Utterance{}}
	}
	m := memory.Memory{Candidate: memory.Candidate{Type: b.Type, Sensitivity: b.Sensitivity}}
	if b.Plain {
		m.Owner.User = memory.WearerUser
	}
	return &Item{Memory: &m}
}
