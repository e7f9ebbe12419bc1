package store

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/locket-dev/locket/memory"
)

// Cold is what a pack has of one memory.
type Cold struct {
	Memory     memory.Memory
	Assertions []memory.Assertion
}

// ReadPack returns the memories in a pack's body as they were when they turned
// cold, and stores nothing. It leaves out what was erased since.
func (t *Tx) ReadPack(n uint64, body []byte) ([]Cold, error) {
	p, ok, err := t.coldPage(n)
	if err == nil && !ok {
		err = fmt.Errorf("store: pack %d: %w", n, memory.ErrNotFound)
	}
	if err == nil {
		err = p.checkBody(body)
	}
	if err != nil {
		return nil, err
	}
	var out []Cold
	for i := range p.Units {
		records, err := p.Units[i].open(n, body)
		if err != nil {
			return nil, err
		}
		for j := range p.Units[i].Members {
			c, err := coldOf(memory.ID(p.Units[i].Members[j].ID), records)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

func coldOf(id memory.ID, records []coldRecord) (c Cold, err error) {
	for _, r := range records {
		switch kind(r.Key[0]) {
		case kindMemory:
			if memory.ID(r.Key[1:]) == id {
				m, err := decode[memoryRecord](r.Key, r.Plain)
				if err != nil {
					return c, err
				}
				got, err := m.decode(r.Key)
				if err != nil {
					return c, err
				}
				c.Memory = *got
			}
		case kindAssertion:
			if memory.ID(r.Key[1:1+idSize]) == id {
				a, err := decode[assertionRecord](r.Key, r.Plain)
				if err != nil {
					return c, err
				}
				c.Assertions = append(c.Assertions, a.Assertion)
			}
		}
	}
	return c, nil
}

// Thaw brings memories back from their pack's body, each with its whole group.
// ids nil means the whole pack. If something was said about a group meanwhile,
// or a memory of it was erased, the group is derived again. Thaw returns the
// memories that came back. It ignores ids that are not in the pack.
func (t *Tx) Thaw(n uint64, body []byte, ids []memory.ID) (back []memory.ID, err error) {
	if t.state == nil {
		return nil, errReadOnly
	}
	p, ok, err := t.coldPage(n)
	if err != nil || !ok {
		return nil, err
	}
	var left, asked []coldUnit
	for _, u := range p.Units {
		if ids == nil || slices.ContainsFunc(u.Members, func(m coldMember) bool { return slices.Contains(ids, memory.ID(m.ID)) }) {
			asked = append(asked, u)
			for j := range u.Members {
				back = append(back, memory.ID(u.Members[j].ID))
			}
		} else {
			left = append(left, u)
		}
	}
	if len(back) == 0 {
		return nil, nil
	}
	if err := p.checkBody(body); err != nil {
		return nil, err
	}
	bodies := make([][]coldRecord, len(asked))
	for i := range asked {
		if bodies[i], err = asked[i].open(n, body); err != nil {
			return nil, err
		}
	}
	p.Units = left
	t.state.head.Seq.Cold -= len(back)
	if err := t.save(coldKey(n), p); err != nil {
		return nil, err
	}
	for i := range asked {
		if err := t.putBack(&asked[i], bodies[i]); err != nil {
			return nil, err
		}
	}
	return back, nil
}

// putBack restores the records of a unit, and derives the unit again if an
// assertion came or a memory was erased.
func (t *Tx) putBack(u *coldUnit, records []coldRecord) error {
	stays := map[memory.ID]bool{}
	for i := range u.Members {
		stays[memory.ID(u.Members[i].ID)] = true
	}
	cause, before, err := t.news(u, stays)
	if err != nil {
		return err
	}
	name := ""
	for _, r := range records {
		key, plain := r.Key, r.Plain
		switch kind(key[0]) {
		case kindAssertion, kindMemory, kindChangeOf:
			if !stays[memory.ID(key[1:1+idSize])] { // erased since
				if cause == nil {
					cause = &memory.Assertion{Memory: memory.ID(key[1 : 1+idSize]), Act: memory.ActErase}
				}
				continue
			}
			if kind(key[0]) == kindMemory {
				m, err := decode[memoryRecord](key, plain)
				if err != nil {
					return err
				}
				name = m.Group
			}
		case kindChange:
			c, err := decode[memory.Change](key, plain)
			if err != nil {
				return err
			}
			if !stays[c.Memory] {
				continue
			}
			if !c.Other.IsZero() && !stays[c.Other] {
				if plain, err = encode(withoutWords(&c)); err != nil {
					return err
				}
			}
		}
		if _, newer, err := t.get(key); err != nil {
			return err
		} else if newer {
			continue
		}
		if kind(key[0]) == kindMemory {
			err = t.restoreMemory(key, plain, true)
		} else {
			err = t.put(key, plain)
		}
		if err != nil {
			return err
		}
	}
	for i := range u.Members {
		m := &u.Members[i]
		if err := t.put(keyOf(kindGroup, u.Group, m.ID), nil); err != nil {
			return err
		}
		for _, note := range m.Notes {
			if err := t.putNote(note); err != nil {
				return err
			}
		}
	}
	if err := t.del(keyOf(kindWanted, u.Group)); err != nil || name == "" {
		return err
	}
	if cause == nil {
		if moved, err := t.moved(name, stays); err != nil || !moved {
			return err
		}
	}
	return t.rejoin(name, stays, before, cause)
}

// moved reports whether one of the memories belongs to another group now, as the
// [rules] may have changed while it was cold.
func (t *Tx) moved(name string, ids map[memory.ID]bool) (bool, error) {
	for _, id := range sortedIDs(ids) {
		as, err := t.assertionsOf(id)
		if err != nil {
			return false, err
		}
		if now := groupOf(as); now != "" && now != name {
			return true, nil
		}
	}
	return false, nil
}

// restoreMemory restores a derived record and its record by time, and gives it
// a new number in the document log, because an index that is made again reads
// only that log. same is [Document.Same].
func (t *Tx) restoreMemory(key, plain []byte, same bool) error {
	r, err := decode[memoryRecord](key, plain)
	if err != nil {
		return err
	}
	m, err := r.decode(key)
	if err != nil {
		return err
	}
	if err := t.put(memoryTimeKey(m), memoryTimeValue(m)); err != nil {
		return err
	}
	if r.Document, err = t.logDocument(0, Document{Kind: MemoryDocument, ID: m.ID, Same: same}); err != nil {
		return err
	}
	return t.save(key, r)
}

// rejoin derives a group of which something came back, and every other group to
// which one of its memories now belongs. The proposal with the smallest dot
// decides; it may have been cold, or may have come since.
func (t *Tx) rejoin(name string, ids map[memory.ID]bool, before map[memory.ID]string, cause *memory.Assertion) error {
	names := map[string]bool{name: true}
	for _, id := range sortedIDs(ids) {
		as, err := t.assertionsOf(id)
		if err != nil {
			return err
		}
		now := groupOf(as)
		for _, was := range []string{name, before[id]} {
			if was == "" || was == now {
				continue
			}
			names[was] = true
			if err := t.del(append(t.groupPrefix(was), id[:]...)); err != nil {
				return err
			}
		}
		if now == "" {
			continue
		}
		names[now] = true
		if err := t.put(append(t.groupPrefix(now), id[:]...), nil); err != nil {
			return err
		}
	}
	for _, n := range slices.Sorted(maps.Keys(names)) {
		delete(t.groups, n)
		g, err := t.group(n)
		if err != nil {
			return err
		}
		if _, err := t.derive(n, g, cause); err != nil {
			return err
		}
	}
	return nil
}

// withoutWords returns a change without its words, because it named something
// that was erased.
func withoutWords(c *memory.Change) memory.Change {
	return memory.Change{Seq: c.Seq, Memory: c.Memory, Verdict: c.Verdict, At: c.At, By: c.By, Rank: c.Rank, Reason: "erased"}
}

// putNote restores a small value, unless there is a newer one.
func (t *Tx) putNote(r coldRecord) error {
	if _, newer, err := t.get(r.Key); err != nil || newer {
		return err
	}
	return t.put(r.Key, r.Plain)
}

// news returns the last assertion that came about a unit while it was cold, or
// nil, and the groups of its memories according to these assertions alone.
func (t *Tx) news(u *coldUnit, stays map[memory.ID]bool) (last *memory.Assertion, groups map[memory.ID]string, err error) {
	look := maps.Clone(stays)
	for e, err := range t.scan(keyOf(kindGroup, u.Group), nil, false) {
		if err != nil {
			return nil, nil, err
		}
		look[memory.ID(e.key[1+macSize:])] = true
	}
	groups = map[memory.ID]string{}
	for _, id := range sortedIDs(look) {
		as, err := t.assertionsOf(id)
		if err != nil {
			return nil, nil, err
		}
		groups[id] = groupOf(as)
		for i := range as {
			if last == nil || last.Before(&as[i]) {
				last = &as[i]
			}
		}
	}
	return last, groups, nil
}

// eraseCold erases a cold memory. First it restores the small values that are
// needed to erase the memory elsewhere. Then it removes the stub. If the memory
// is alone in its group, the key is removed with the stub, and nobody can
// decrypt the body any more, wherever it is. If the group has other memories,
// which need the same key, the group is requested, and is later packed again
// without this memory.
func (t *Tx) eraseCold(id memory.ID) error {
	if !t.store.cold.any() {
		return nil
	}
	pack, p, i, err := t.unitOf(id)
	if err != nil || i < 0 {
		return err
	}
	u := &p.Units[i]
	j := slices.IndexFunc(u.Members, func(m coldMember) bool { return bytes.Equal(m.ID, id[:]) })
	for _, note := range u.Members[j].Notes {
		if err := t.putNote(note); err != nil {
			return err
		}
	}
	u.Members = slices.Delete(u.Members, j, j+1)
	t.state.head.Seq.Cold--
	if len(u.Members) > 0 {
		if err := t.want(u.Group); err != nil {
			return err
		}
	} else {
		mac := u.Group
		p.Units = slices.Delete(p.Units, i, i+1)
		if err := t.del(keyOf(kindWanted, mac)); err != nil {
			return err
		}
	}
	return t.save(coldKey(pack), p)
}
