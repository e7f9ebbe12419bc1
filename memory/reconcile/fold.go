package reconcile

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// fold makes one memory from the assertions about it, or returns nil if nobody
// has proposed it.
func fold(id memory.ID, as []*memory.Assertion) *item {
	sorting.Sort(as, func(a, b *memory.Assertion) int { return a.Dot.Compare(b.Dot) })
	as = standing(as)
	v := authorityOf(as)
	if v.shown == nil {
		return nil
	}
	shown, first := v.shown, v.first()
	it := &item{first: first}
	m := &it.mem
	m.ID, m.Space, m.Group = id, shown.Space, shown.Candidate.Group()
	m.Candidate, m.Rank = *shown.Candidate, shown.Rank
	m.State, m.Learnt = memory.Active, first.Clock.Time()
	if told := shown.Candidate.Evidence; len(told) > 1 {
		m.Said = slices.MaxFunc(told, func(a, b memory.Evidence) int { return a.At.Compare(b.At) }).At
	}
	for _, a := range as {
		if a.Rank > memory.RankCloud || !v.vault {
			it.evidence = append(it.evidence, evidenceOf(a)...)
		}
	}
	it.setEvidence()

	if e := pick(as, memory.ActErase); len(e) > 0 {
		gone := e[0]
		for _, a := range e[1:] {
			if a.Clock.Compare(gone.Clock) < 0 {
				gone = a
			}
		}
		it.from = m.Learnt
		it.mem = memory.Memory{ID: id, Space: m.Space, Group: m.Group, State: memory.Erased, Rank: memory.RankPerson,
			Candidate: memory.Candidate{Type: m.Type, Owner: m.Owner}, Learnt: m.Learnt, Unlearnt: gone.Clock.Time()}
		it.evidence = nil
		return it
	}

	m.Pinned = v.pin != nil
	it.correct(as, &v)
	shaping := slices.DeleteFunc(slices.Clone(as), func(a *memory.Assertion) bool { return !v.shapes(a) })
	m.Tags = tags(shaping)
	it.value, it.thing = valueOf(m), thingOf(m)
	it.from = standsAt(m, saidAt(shaping, m.Learnt))
	if m.TrueFrom.IsZero() && m.Type != memory.Episodic {
		m.TrueFrom = it.from
	}
	states := func(a *memory.Assertion) bool { return isState(a) && v.counts(a) }
	if s := winner(as, states); s != nil {
		switch s.Act {
		case memory.ActArchive:
			s = lastArchive(unopposed(as, states), s)
			m.State, m.Unlearnt, m.Into = memory.Archived, s.Clock.Time(), s.Into
			it.putAway = s.Rank
		case memory.ActClose:
			m.State, m.Unlearnt = memory.Superseded, s.Clock.Time()
			m.TrueTo = s.Patch.Validity.To
			if m.TrueTo.IsZero() || m.TrueTo.Before(m.TrueFrom) {
				m.TrueTo = m.TrueFrom
			}
		}
	}
	it.hearsay = m.Rank < memory.RankPerson && !m.Pinned && !slices.ContainsFunc(v.shaping, func(p *memory.Assertion) bool { return !p.Candidate.IsHearsay() })
	it.workers = v.theirs && v.pin == nil && it.putAway <= memory.RankCloud
	return it
}

// standing returns the assertions without the withdrawn ones and without the
// withdrawals.
func standing(as []*memory.Assertion) []*memory.Assertion {
	gone := map[memory.Dot]memory.Rank{} // the highest rank that has withdrawn each dot
	person := false
	for _, a := range as {
		if a.Act == memory.ActWithdraw {
			for _, d := range a.Seen {
				gone[d] = max(gone[d], a.Rank)
			}
		}
	}
	takenBack := func(a *memory.Assertion) bool {
		return a.Rank <= gone[a.Dot] && (a.Rank < memory.RankPerson || a.Settles() != "")
	}
	for _, a := range as {
		person = person || a.Rank == memory.RankPerson && a.Act != memory.ActWithdraw && !takenBack(a)
	}
	return slices.DeleteFunc(slices.Clone(as), func(a *memory.Assertion) bool {
		return a.Act == memory.ActWithdraw || takenBack(a) && !(person && a.Act == memory.ActPropose)
	})
}

// valueOf returns what is compared within a group. In a slot that holds one value at
// a time it is the value. In a slot with many values it says whether the value is
// liked or disliked. A group without a slot is one statement, so the time at which it
// happened is compared.
func valueOf(m *memory.Memory) string {
	switch {
	case m.Slot == nil:
		return happened(&m.Candidate)
	case m.Slot.Many && !memory.MultiValued(m.Slot.Attribute):
		return memory.Normal(m.Slot.Attribute)
	}
	return memory.SameValue(m.Slot.Value)
}

// thingOf names what a resource is about: its file, and the memories that it was made of. So two
// recordings of one second, which are described in the same words, are two memories, and so are the
// transcripts "Yes." of two recordings. It is "" for other types, for a text without a source, and
// where a slot has one value at a time.
func thingOf(m *memory.Memory) string {
	f := m.Fields.Resource
	if f == nil || m.Slot != nil && !m.Slot.Many {
		return ""
	}
	thing := f.Blob
	for _, l := range m.Links { // in the order in which they were proposed
		thing += "\x1f" + l.Relation + " " + l.To
	}
	return thing
}

// fresh is the age up to which a change still counts as news: "I moved to Lyon
// last week". What began longer before it was said counts as history, and is
// placed at its own time.
const fresh = 90 * 24 * time.Hour

// standsAt returns the time by which a memory is ordered within its group. An event
// (an appointment for next week, a visit last year) is ordered by the time at which it
// was said. A fact is ordered by the time from which it is true. If that time was not
// long before the fact was said, or the fact has memory.StillTag, it is ordered by when it
// was said: statements made in between were made without knowing of it.
func standsAt(m *memory.Memory, said time.Time) time.Time {
	if m.Type == memory.Episodic || m.TrueFrom.IsZero() {
		return said
	}
	if ago := said.Sub(m.TrueFrom); ago > 0 && (ago <= fresh || slices.Contains(m.Tags, memory.StillTag)) {
		return said
	}
	return m.TrueFrom
}

// saidAt returns the earliest time of the evidence, or learnt if no evidence has a time.
func saidAt(as []*memory.Assertion, learnt time.Time) time.Time {
	var it item
	for _, a := range as {
		it.evidence = append(it.evidence, evidenceOf(a)...)
	}
	it.setEvidence()
	if es := it.evidence; len(es) > 0 && !es[0].At.IsZero() {
		return es[0].At
	}
	return learnt
}

func evidenceOf(a *memory.Assertion) []memory.Evidence {
	switch a.Act {
	case memory.ActPropose:
		return a.Candidate.Evidence
	case memory.ActReinforce:
		return a.Evidence
	}
	return nil
}

func pick(as []*memory.Assertion, act memory.Act) []*memory.Assertion {
	var out []*memory.Assertion
	for _, a := range as {
		if a.Act == act {
			out = append(out, a)
		}
	}
	return out
}

// unopposed returns the assertions on a register that no other one on it has
// overruled. There are several if replicas wrote without knowing of each other.
// Nobody can overrule a higher rank.
func unopposed(as []*memory.Assertion, in func(*memory.Assertion) bool) []*memory.Assertion {
	overruled := map[memory.Dot]memory.Rank{} // the highest rank that overrules each dot
	var reg []*memory.Assertion
	for _, a := range as {
		if in(a) {
			reg = append(reg, a)
			for _, d := range a.Seen {
				if d != a.Dot {
					overruled[d] = max(overruled[d], a.Rank)
				}
			}
		}
	}
	left := slices.DeleteFunc(slices.Clone(reg), func(a *memory.Assertion) bool { return a.Rank <= overruled[a.Dot] })
	if len(left) == 0 {
		return reg // assertions that all overrule each other are an attack; then all of them count
	}
	return left
}

// winner returns the assertion whose value of a register is shown, or nil.
func winner(as []*memory.Assertion, in func(*memory.Assertion) bool) *memory.Assertion {
	var best *memory.Assertion
	for _, a := range unopposed(as, in) {
		if best == nil || best.Before(a) {
			best = a
		}
	}
	return best
}

// lastArchive returns the latest assertion that archives once more what s archived. A machine
// cannot overrule a person's archiving. If the statement was said again since then,
// the machine may archive it again.
func lastArchive(left []*memory.Assertion, s *memory.Assertion) *memory.Assertion {
	last := s
	for _, a := range left {
		if a.Act == memory.ActArchive && slices.Contains(a.Seen, s.Dot) && cmp.Or(last.Clock.Compare(a.Clock), last.Dot.Compare(a.Dot)) < 0 {
			last = a
		}
	}
	return last
}

// isPin reports whether a person pinned or unpinned the memory. Machines cannot pin.
func isPin(a *memory.Assertion) bool {
	return a.Rank == memory.RankPerson && (a.Act == memory.ActPin || a.Act == memory.ActUnpin)
}

func isState(a *memory.Assertion) bool {
	return a.Act == memory.ActArchive || a.Act == memory.ActRestore || a.Act == memory.ActClose
}

// tags computes an observed-remove set. A tag exists while one assertion that
// set it was not removed by somebody who knew of that assertion and has at
// least the same rank.
func tags(as []*memory.Assertion) []string {
	type set struct {
		tag string
		by  memory.Dot
	}
	gone := map[set]memory.Rank{} // the highest rank that removes each tag
	for _, a := range pick(as, memory.ActUntag) {
		for _, t := range a.Tags {
			for _, d := range a.Seen {
				gone[set{t, d}] = max(gone[set{t, d}], a.Rank)
			}
		}
	}
	there := map[string]bool{}
	for _, a := range as {
		var given []string
		switch a.Act {
		case memory.ActPropose:
			given = a.Candidate.Tags
		case memory.ActTag:
			given = a.Tags
		}
		for _, t := range given {
			if a.Rank > gone[set{t, a.Dot}] {
				there[t] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(there))
}
