package store

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/memory"
)

// rules is the version of the rules by which assertions are grouped (see
// [memory.Candidate.Group]) and memories are derived from them. The groups and
// the memories are stored, so a store that was written under other rules has to
// regroup and derive again what they decide otherwise. Increase it when the rules change, and let
// ruled name what is affected.
//
//	0  a denial ("not_allergies") is in no group with what it denies, and a
//	   person can't take back how a conflict was settled
//	1  both are possible
//	2  what is written in traditional characters is in one group with what is
//	   written in simplified ones
const rules = 2

// followRules brings a store up to date that was written under other rules, by
// an earlier or a later version. Every group is a transaction of its own, and
// the head gets the version after the last one, so a crash in between does no
// harm. The history gets no change, because nobody said anything. If a record is
// damaged, the store opens as it is, so that it can be repaired, and the next
// Open tries again.
func (s *Store) followRules() error {
	if s.state.head.Rules == rules || s.opt.Derive == nil || s.opt.Diff == nil {
		return nil
	}
	if err := s.roomAbove(min(s.opt.Reserve, leastRoom), 0); err != nil {
		return err
	}
	groups, stale, err := s.ruled()
	if err == nil && len(groups) > 0 {
		s.opt.Log.Info("store: deriving again by new rules", "groups", len(groups))
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if err != nil {
			break
		}
		err = s.update(func(t *Tx) error { return t.moveInto(name, groups[name], stale) })
	}
	if err == nil {
		return s.update(func(t *Tx) error {
			t.state.head.Rules, t.force = rules, true
			return nil
		})
	}
	if errors.Is(err, memory.ErrDamaged) {
		s.opt.Log.Warn("store: not derived again by new rules", "err", err)
		return nil
	}
	return err
}

// ruled returns the memories for which the rules of this version may decide otherwise, by the group
// to which they belong now, and the records by which some of them are still in another group. It
// reads all assertions, and decodes only those that have the words for it. Cold memories are looked
// at when they come back.
func (s *Store) ruled() (groups map[string][]memory.ID, stale map[memory.ID][][]byte, err error) {
	groups, stale = map[string][]memory.ID{}, map[memory.ID][][]byte{}
	err = s.View(context.Background(), func(t *Tx) error {
		ids := map[memory.ID]bool{}
		for e, err := range t.scan(keyOf(kindAssertion), nil, false) {
			if err != nil {
				return err
			}
			id := memory.ID(e.key[1 : 1+idSize])
			if low := bytes.ToLower(e.plain); ids[id] || !bytes.Contains(low, []byte("not")) && !bytes.Contains(low, []byte(memory.ActWithdraw)) && !hans.Has(string(e.plain)) {
				continue
			}
			r, err := decode[assertionRecord](e.key, e.plain)
			if err != nil {
				return err
			}
			if ruled(&r.Assertion) {
				ids[id] = true
			}
		}
		now := map[memory.ID][]byte{} // the beginning of the group's records
		for _, id := range sortedIDs(ids) {
			as, err := t.assertionsOf(id)
			if err != nil {
				return err
			}
			if name := groupOf(as); name != "" {
				groups[name] = append(groups[name], id)
				now[id] = t.groupPrefix(name)
			}
		}
		if len(now) == 0 {
			return nil
		}
		for e, err := range t.scan(keyOf(kindGroup), nil, false) {
			if err != nil {
				return err
			}
			id := memory.ID(e.key[1+macSize:])
			if in, ok := now[id]; ok && !bytes.HasPrefix(e.key, in) {
				stale[id] = append(stale[id], e.key)
			}
		}
		return nil
	})
	return groups, stale, err
}

// ruled reports whether an assertion has a different effect than under rules 0 or 1.
func ruled(a *memory.Assertion) bool {
	if a.Act == memory.ActWithdraw {
		return a.Rank == memory.RankPerson
	}
	if a.Act != memory.ActPropose || a.Candidate == nil {
		return false
	}
	c := a.Candidate
	if f := c.Fields.Resource; hans.Has(c.Text) || f != nil && hans.Has(f.Content) || c.Slot != nil && hans.Has(c.Slot.Subject+c.Slot.Attribute+c.Slot.Value) {
		return true
	}
	if c.Slot == nil || !c.Slot.Many {
		return false
	}
	attribute := memory.Normal(c.Slot.Attribute)
	return strings.HasPrefix(attribute, "not ") && memory.Opposed(attribute) != attribute
}

// moveInto takes memories out of the groups that they no longer belong to, puts
// them into their group, and derives it.
func (t *Tx) moveInto(name string, ids []memory.ID, stale map[memory.ID][][]byte) error {
	for _, id := range ids {
		for _, key := range stale[id] {
			if err := t.del(key); err != nil {
				return err
			}
		}
		if err := t.put(append(t.groupPrefix(name), id[:]...), nil); err != nil {
			return err
		}
	}
	g, err := t.group(name)
	if err == nil {
		_, err = t.derive(name, g, nil)
	}
	return err
}
