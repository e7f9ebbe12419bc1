package store

import (
	"bytes"
	"maps"
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// group is what a transaction has read of a group, to derive it again.
type group struct {
	assertions map[memory.ID][]memory.Assertion // of each memory, in order of dots
	derived    []memory.Memory
}

func (t *Tx) groupPrefix(name string) []byte {
	return keyOf(kindGroup, t.store.secrets.mac16("group", []byte(name)))
}

// group reads a group, or returns the one that this transaction has read.
func (t *Tx) group(name string) (*group, error) {
	if g := t.groups[name]; g != nil {
		return g, nil
	}
	if err := t.wantGroup(name); err != nil {
		return nil, err
	}
	g := &group{assertions: map[memory.ID][]memory.Assertion{}}
	for e, err := range t.scan(t.groupPrefix(name), nil, false) {
		if err != nil {
			return nil, err
		}
		id := memory.ID(e.key[1+macSize:])
		if g.assertions[id], err = t.assertionsOf(id); err != nil {
			return nil, err
		}
		m, ok, err := t.memory(id)
		if err != nil {
			return nil, err
		}
		if ok {
			g.derived = append(g.derived, *m)
		}
	}
	if t.groups != nil {
		t.groups[name] = g
	}
	return g, nil
}

// join derives a group again after an assertion about it was stored.
func (t *Tx) join(name string, a *memory.Assertion, newcomer bool) ([]memory.Change, error) {
	g, err := t.group(name)
	if err != nil {
		return nil, err
	}
	if newcomer {
		if err := t.put(append(t.groupPrefix(name), a.Memory[:]...), nil); err != nil {
			return nil, err
		}
	}
	if g.assertions[a.Memory], err = t.assertionsOf(a.Memory); err != nil {
		return nil, err
	}
	return t.derive(name, g, a)
}

// toldAlone is how many assertions that waited for a proposal get a change of
// their own in the history, because the content of a transaction is limited.
const toldAlone = 128

// catchUp is join for a proposal for which other assertions have waited. The
// history gets the changes of each of them, in the order in which they were
// made, as if nothing had waited. If there are more than [toldAlone], the
// changes of the earliest are combined.
func (t *Tx) catchUp(name string, a *memory.Assertion, waited []memory.Assertion) ([]memory.Change, error) {
	g, err := t.group(name)
	if err != nil {
		return nil, err
	}
	if err := t.put(append(t.groupPrefix(name), a.Memory[:]...), nil); err != nil {
		return nil, err
	}
	sorting.Stable(waited, func(a, b memory.Assertion) int { return a.Clock.Compare(b.Clock) }) // of dots, before
	g.assertions[a.Memory] = []memory.Assertion{*a}
	out, err := t.derive(name, g, a)
	for i := range waited {
		if err != nil {
			return nil, err
		}
		g.assertions[a.Memory] = append(g.assertions[a.Memory], waited[i])
		if i+toldAlone < len(waited) {
			continue
		}
		var changes []memory.Change
		changes, err = t.derive(name, g, &waited[i])
		out = append(out, changes...)
	}
	if err == nil {
		g.assertions[a.Memory], err = t.assertionsOf(a.Memory)
	}
	return out, err
}

// leave derives a group again without a memory that belongs to another group.
func (t *Tx) leave(name string, a *memory.Assertion) ([]memory.Change, error) {
	g, err := t.group(name)
	if err != nil {
		return nil, err
	}
	if err := t.del(append(t.groupPrefix(name), a.Memory[:]...)); err != nil {
		return nil, err
	}
	delete(g.assertions, a.Memory)
	return t.derive(name, g, a)
}

// derive writes the memories that follow from a group, and the changes that
// cause made. cause nil means that nobody said anything: then there are no
// changes.
func (t *Tx) derive(name string, g *group, cause *memory.Assertion) ([]memory.Change, error) {
	var all []memory.Assertion
	for _, id := range sortedIDs(g.assertions) {
		all = append(all, g.assertions[id]...)
	}
	was, now := g.derived, t.store.opt.Derive(all)
	for i := range now {
		now[i].Group = name
		if err := t.putMemory(&now[i]); err != nil {
			return nil, err
		}
	}
	for i := range was {
		gone := !slices.ContainsFunc(now, func(m memory.Memory) bool { return m.ID == was[i].ID })
		if gone {
			if err := t.dropMemory(was[i].ID); err != nil {
				return nil, err
			}
		}
	}
	g.derived = now
	if cause == nil {
		return nil, nil
	}
	changes := t.store.opt.Diff(was, now, *cause)
	for i := range changes {
		if err := t.putChange(&changes[i], cause.Memory); err != nil {
			return nil, err
		}
	}
	return changes, nil
}

func sortedIDs[V any](m map[memory.ID]V) []memory.ID {
	return sorting.Sorted(maps.Keys(m), func(a, b memory.ID) int { return bytes.Compare(a[:], b[:]) })
}

// Group returns the memories that are reconciled with each other under a key
// (see [memory.Candidate.Group]), in the order of their ids.
func (t *Tx) Group(key string) ([]memory.Memory, error) {
	var out []memory.Memory
	for e, err := range t.scan(t.groupPrefix(key), nil, false) {
		if err != nil {
			return nil, err
		}
		m, ok, err := t.memory(memory.ID(e.key[1+macSize:]))
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, *m)
		}
	}
	return out, nil
}
