package reconcile

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"maps"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// ConflictKind says how a conflict came about.
type ConflictKind string

const (
	// FieldConflict: two members changed the same field of a memory without
	// knowing of each other's change.
	FieldConflict ConflictKind = "field"
	// SlotConflict: two members, without knowing of each other, heard values of a slot that can't
	// both be true; or somebody who can't know it contradicts somebody who can.
	SlotConflict ConflictKind = "slot"
	// PinConflict: a machine's assertion differs from what a person has pinned.
	PinConflict ConflictKind = "pin"
)

// Conflict is a disagreement between replicas, or between a machine and the
// wearer. It exists until somebody who knows all of its sides decides.
type Conflict struct {
	ID    string       `json:"id"` // 13 characters; it changes when the sides, their order or their texts change
	Kind  ConflictKind `json:"kind"`
	Field string       `json:"field,omitempty"` // field of a memory, or "pin" or "state". Empty: whole memories contradict each other
	Slot  *memory.Slot `json:"slot,omitempty"`  // without its value
	Sides []Side       `json:"sides"`           // two or more; what is shown comes first
	Why   string       `json:"why"`             // why the first side is shown

	as   [][]*memory.Assertion // the assertions for each side; none for the value before any
	was  *memory.Patch         // that side
	with []string              // other fields that the same assertions changed; settled with Field
}

// Side is one of the values.
type Side struct {
	Memory  memory.ID       `json:"memory"`
	Value   string          `json:"value"`
	Text    string          `json:"text"` // of the memory, as it would be
	Negates bool            `json:"negates,omitempty"`
	Member  memory.MemberID `json:"member"`
	By      memory.Source   `json:"by"`
	Rank    memory.Rank     `json:"rank"`
	At      time.Time       `json:"at"` // when it was said to the member
}

// Conflicts returns what a group's assertions disagree about, in the order of
// their ids. It is a pure function of the set, as [Derive] is.
func Conflicts(group []memory.Assertion) []Conflict {
	byMemory := map[memory.ID][]*memory.Assertion{}
	seen := map[memory.Dot]bool{}
	for i := range group {
		if a := &group[i]; !seen[a.Dot] {
			seen[a.Dot] = true
			byMemory[a.Memory] = append(byMemory[a.Memory], a)
		}
	}
	shown := map[memory.ID]memory.Memory{}
	for _, m := range Derive(group) {
		shown[m.ID] = m
	}
	var out []Conflict
	for id, as := range byMemory {
		if m, ok := shown[id]; ok && m.State != memory.Erased {
			sorting.Sort(as, func(a, b *memory.Assertion) int { return a.Dot.Compare(b.Dot) })
			out = append(out, ofFields(&m, standing(as))...)
		}
	}
	out = append(out, ofValues(group, byMemory, shown)...)
	for i := range out {
		out[i].ID = nameOf(&out[i])
	}
	sorting.Sort(out, func(a, b Conflict) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

var nameText = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// nameOf returns a name for exactly these sides, in their order and as they are shown. A person
// who settles a conflict by its name, and by the number of a side, therefore settles what they
// were shown: another name is due when a side is corrected, although who proposed it is the same.
func nameOf(c *Conflict) string {
	var dots []memory.Dot
	for _, as := range c.as {
		for _, a := range as {
			dots = append(dots, a.Dot)
		}
	}
	sorting.Sort(dots, memory.Dot.Compare)
	of := []any{c.Kind, c.Field, dots}
	for i := range c.Sides {
		s := &c.Sides[i]
		of = append(of, s.Memory, s.Value, s.Text, s.Negates)
	}
	sum := sha256.Sum256([]byte(valueText(of)))
	return nameText.EncodeToString(sum[:8])
}

// ofFields finds the registers of one memory that hold more than one value.
func ofFields(m *memory.Memory, as []*memory.Assertion) []Conflict {
	var out []Conflict
	v := authorityOf(as)
	for _, r := range contested {
		if m.Repeats || m.State == memory.Superseded && r.name != stateField {
			continue // it is history
		}
		open := unopposed(as, func(a *memory.Assertion) bool { return r.in(a) && v.mayDiffer(a, r.name) })
		may := open
		kind := FieldConflict
		if v.pin != nil && r.name != pinField {
			may = slices.DeleteFunc(slices.Clone(open), func(a *memory.Assertion) bool { return a.Rank < memory.RankPerson })
			if len(may) < len(open) {
				kind = PinConflict
			}
			if kind == PinConflict && m.State != memory.Active {
				continue
			}
		}
		var best *memory.Assertion
		for _, a := range may {
			if best == nil || best.Before(a) {
				best = a
			}
		}
		c := Conflict{Kind: kind, Field: r.name}
		if best == nil { // only machines have changed a pinned memory, so its old value is shown
			if len(open) == 0 {
				continue
			}
			c.Sides, c.as = []Side{{Memory: m.ID, Value: r.shown(m), Text: m.Text, Rank: m.Rank, By: m.Source, At: m.Learnt}}, [][]*memory.Assertion{nil}
			c.Why = "it is pinned: no machine changes it"
			if r.of != nil {
				c.was = r.of(m)
			}
		} else {
			c.add(m, r, best)
		}
		sorting.Sort(open, func(a, b *memory.Assertion) int { return b.Clock.Compare(a.Clock) })
		for _, a := range open {
			if a != best {
				c.add(m, r, a)
			}
		}
		if len(c.Sides) < 2 {
			continue
		}
		if c.Why == "" {
			c.Why = whyShown(best, c.as[1][0])
		}
		if lead := led(out, &c); lead != nil {
			lead.with = append(lead.with, c.Field)
			if lead.was != nil && c.was != nil {
				lead.was.Value, lead.was.Fields = cmp.Or(lead.was.Value, c.was.Value), cmp.Or(lead.was.Fields, c.was.Fields)
			}
			continue
		}
		out = append(out, c)
	}
	return out
}

// led returns the conflict about the text, or else the value, that has the sides of c, if c is about
// what follows from a text: its value or its fields. A correction sets all of them. If each could be
// settled on its own, the text would say one thing, and the value another.
func led(list []Conflict, c *Conflict) *Conflict {
	if c.Field != "value" && c.Field != "fields" {
		return nil
	}
	for i := range list {
		l := &list[i]
		if (l.Field == "text" || l.Field == "value") && l.Kind == c.Kind && slices.EqualFunc(l.as, c.as, slices.Equal) {
			return l
		}
	}
	return nil
}

// add adds what an assertion sets a register to, or counts it with the side
// that says the same.
func (c *Conflict) add(m *memory.Memory, r *contest, a *memory.Assertion) {
	v := r.same(a)
	for i, as := range c.as {
		if as == nil && r.now(m) == v || as != nil && r.same(as[0]) == v {
			if as != nil {
				c.as[i] = append(c.as[i], a)
			}
			return
		}
	}
	text := m.Text
	if r.name == "text" {
		text = *a.Patch.Text
	}
	c.Sides = append(c.Sides, Side{Memory: m.ID, Value: r.show(a), Text: text, Member: a.Dot.Member, By: a.Source, Rank: a.Rank, At: a.Clock.Time()})
	c.as = append(c.as, []*memory.Assertion{a})
}

// whyShown says why one of two is shown, as [memory.Assertion.Before] orders.
func whyShown(shown, other *memory.Assertion) string {
	switch {
	case shown.Rank > other.Rank && shown.Rank == memory.RankPerson:
		return "a person said it, and a machine the other"
	case shown.Rank > other.Rank:
		return "a device said it, and a worker the other"
	case shown.Clock.Compare(other.Clock) != 0:
		return "it was said last"
	default:
		return "both were said at the same moment, and one has to be first on every device"
	}
}

// ofValues finds memories of a group that contradict each other: different values
// of one slot, and a machine's statement against a pinned memory.
func ofValues(group []memory.Assertion, byMemory map[memory.ID][]*memory.Assertion, shown map[memory.ID]memory.Memory) []Conflict {
	items := map[memory.ID]*item{}
	for id, as := range byMemory {
		if it := fold(id, as); it != nil && it.mem.State == memory.Active {
			items[id] = it // the memories that are neither ended nor archived nor erased
		}
	}
	ps := proposals(group)
	open := pastOf(ps).unanswered(settled(group, ps))
	var sides []*memory.Assertion
	for _, p := range open {
		it := items[p.Memory]
		if it == nil || it.mem.Slot == nil {
			continue
		}
		if !slices.ContainsFunc(sides, func(o *memory.Assertion) bool { return alike(items[o.Memory], it) }) {
			sides = append(sides, p)
		}
	}
	var out []Conflict
	pinned := againstPinned(items, shown)
	if len(pinned) > 1 {
		c := valuesConflict(PinConflict, pinned, items, shown)
		c.Why = "it is pinned: no machine changes it"
		out = append(out, c)
		sides = slices.DeleteFunc(sides, func(p *memory.Assertion) bool { return slices.Contains(pinned, items[p.Memory].first) })
	}
	if word := againstWord(items, shown); len(word) > 1 && len(pinned) < 2 {
		c := valuesConflict(SlotConflict, word, items, shown)
		c.Why = "who said the other can't know it"
		out = append(out, c)
		sides = slices.DeleteFunc(sides, func(p *memory.Assertion) bool { return slices.Contains(word, items[p.Memory].first) })
	}
	held := slices.ContainsFunc(sides, func(p *memory.Assertion) bool { return !items[p.Memory].mem.Negates })
	if len(sides) > 1 && held && len(pinned) < 2 {
		out = append(out, valuesConflict(SlotConflict, sides, items, shown))
	}
	return out
}

// alike reports whether two memories of a slot do not contradict each other.
func alike(a, b *item) bool {
	return (a.value == b.value || memory.MultiValued(a.mem.Slot.Attribute)) && a.mem.Negates == b.mem.Negates
}

// againstWord returns the first proposal of a memory that is shown and was said by somebody who can
// know it, followed by the first proposal of each hearsay that contradicts it.
func againstWord(items map[memory.ID]*item, shown map[memory.ID]memory.Memory) []*memory.Assertion {
	var at *item
	for _, id := range sorted(items) {
		it, m := items[id], shown[id]
		if m.State == memory.Active && !it.hearsay && !it.mem.Negates && (at == nil || at.from.Before(it.from)) {
			at = it
		}
	}
	if at == nil || at.mem.Slot != nil && memory.MultiValued(at.mem.Slot.Attribute) {
		return nil
	}
	out := []*memory.Assertion{at.first}
	for _, id := range sorted(items) {
		it, m := items[id], shown[id]
		if !it.hearsay || it.thing != at.thing || it.from.Before(at.from) {
			continue
		}
		if it.mem.Negates && names(it, at) || !it.mem.Negates && m.State == memory.Active && it.value != at.value {
			out = append(out, it.first)
		}
	}
	return out
}

// againstPinned returns the first proposal of a pinned memory that is shown,
// followed by the first proposal of each memory by which a machine contradicts it.
func againstPinned(items map[memory.ID]*item, shown map[memory.ID]memory.Memory) []*memory.Assertion {
	var at *item
	for _, id := range sorted(items) {
		if m := shown[id]; m.Pinned && m.State == memory.Active && items[id].mem.Pinned && at == nil {
			at = items[id]
		}
	}
	if at == nil {
		return nil
	}
	out := []*memory.Assertion{at.first}
	for _, id := range sorted(items) {
		it, m := items[id], shown[id]
		beside := m.State == memory.Active && it.value != at.value
		denies := it.mem.Negates && (it.value == "" || it.value == at.value) && !it.from.Before(at.from)
		if it != at && !it.mem.Pinned && it.mem.Rank < memory.RankPerson && (beside || denies) {
			out = append(out, it.first)
		}
	}
	return out
}

// byWorkers is 1 for a memory about which only workers made assertions, else 0.
func byWorkers(it *item) int {
	if it.mem.Rank == memory.RankCloud {
		return 1
	}
	return 0
}

// hearsayOrder is 1 for hearsay, else 0.
func hearsayOrder(it *item) int {
	if it.hearsay {
		return 1
	}
	return 0
}

func sorted(items map[memory.ID]*item) []memory.ID {
	return sorting.Sorted(maps.Keys(items), func(a, b memory.ID) int { return bytes.Compare(a[:], b[:]) })
}

// valuesConflict makes a conflict in which the shown memory comes first, then the latest.
func valuesConflict(kind ConflictKind, ps []*memory.Assertion, items map[memory.ID]*item, shown map[memory.ID]memory.Memory) Conflict {
	active := func(p *memory.Assertion) int {
		it := items[p.Memory]
		for _, m := range shown {
			if m.State == memory.Active && !it.mem.Negates && valueOf(&m) == it.value && (kind != PinConflict || m.Pinned) {
				return 1
			}
		}
		return 0
	}
	ps = slices.Clone(ps)
	sorting.Stable(ps, func(a, b *memory.Assertion) int {
		return cmp.Or(active(b)-active(a), hearsayOrder(items[a.Memory])-hearsayOrder(items[b.Memory]), active(a)*(byWorkers(items[a.Memory])-byWorkers(items[b.Memory])), items[b.Memory].from.Compare(items[a.Memory].from), b.Dot.Compare(a.Dot))
	})
	c := Conflict{Kind: kind}
	for _, p := range ps {
		it := items[p.Memory]
		m := &it.mem
		if c.Slot == nil && m.Slot != nil {
			c.Slot = &memory.Slot{Subject: m.Slot.Subject, Attribute: m.Slot.Attribute, Many: m.Slot.Many}
		}
		value := slotValue(m)
		if value == "" || m.Slot.Many { // in a slot with many values a side says only whether the value holds
			value = m.Text
		}
		c.Sides = append(c.Sides, Side{Memory: m.ID, Value: value, Text: m.Text, Negates: m.Negates, Member: p.Dot.Member, By: p.Source, Rank: m.Rank, At: p.Clock.Time()})
		c.as = append(c.as, []*memory.Assertion{p})
	}
	first, second := items[ps[0].Memory], items[ps[1].Memory]
	switch {
	case active(ps[0]) == 0:
		c.Why = "none is: what was said last denies the others"
	case active(ps[1]) == 1 && byWorkers(second) > byWorkers(first):
		c.Why = "the wearer said it: a worker's word alone ends nothing of that"
	case !first.from.Equal(second.from):
		c.Why = "it is so since " + first.from.Format("2006-01-02 15:04") + ", the other since " + second.from.Format("2006-01-02 15:04")
	default:
		c.Why = whyShown(ps[0], ps[1])
	}
	return c
}
