package reconcile

import (
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// maxKnew bounds what a proposal names of those that its author knew of.
const maxKnew = 16

// SeenDots returns the dots that a proposal has to name in Seen if its author knows
// the whole group: for a slot, the values that nobody has answered yet, except
// the author's own, which are known to be earlier. With them, replicas can
// distinguish a change of mind from two devices that heard different things.
// For other proposals it returns none.
func SeenDots(group []memory.Assertion, next *memory.Assertion) []memory.Dot {
	if next.Act != memory.ActPropose || next.Candidate == nil || next.Candidate.Slot == nil {
		return nil
	}
	ps := proposals(group)
	last := slices.DeleteFunc(pastOf(ps).unanswered(settled(group, ps)), func(p *memory.Assertion) bool { return p.Dot.Member == next.Dot.Member })
	sorting.Sort(last, func(a, b *memory.Assertion) int { return b.Clock.Compare(a.Clock) })
	last = last[:min(len(last), maxKnew)]
	sorting.Sort(last, func(a, b *memory.Assertion) int { return a.Dot.Compare(b.Dot) })
	var out []memory.Dot
	for _, p := range last {
		out = append(out, p.Dot)
	}
	return out
}

// proposals are those of a group, in the order of their dots.
func proposals(group []memory.Assertion) []*memory.Assertion {
	var out []*memory.Assertion
	for i := range group {
		if group[i].Act == memory.ActPropose && group[i].Candidate != nil {
			out = append(out, &group[i])
		}
	}
	sorting.Sort(out, func(a, b *memory.Assertion) int { return a.Dot.Compare(b.Dot) })
	return slices.CompactFunc(out, func(a, b *memory.Assertion) bool { return a.Dot == b.Dot })
}

// settled leaves out the proposals of settlements that were taken back, so what they answered is
// open again. What their authors knew still counts for later proposals.
func settled(group []memory.Assertion, ps []*memory.Assertion) []*memory.Assertion {
	gone := map[memory.ID][]*memory.Assertion{}
	for i := range group {
		if a := &group[i]; a.Act == memory.ActWithdraw && a.Rank == memory.RankPerson {
			gone[a.Memory] = nil
		}
	}
	if len(gone) == 0 {
		return ps
	}
	for i := range group {
		if _, there := gone[group[i].Memory]; there {
			gone[group[i].Memory] = append(gone[group[i].Memory], &group[i])
		}
	}
	return slices.DeleteFunc(slices.Clone(ps), func(p *memory.Assertion) bool {
		as, there := gone[p.Memory]
		return there && p.Settles() != "" && !slices.ContainsFunc(standing(as), func(a *memory.Assertion) bool { return a.Dot == p.Dot })
	})
}

// seqs says up to which number a proposal's author knew each member's assertions.
type seqs map[memory.MemberID]uint64

// past records what the author of each proposal knew of the others: those named in Seen, the
// earlier ones of the same member, and those that these authors knew.
type past map[memory.Dot]seqs

// pastOf expects proposals in the order of their dots. Proposals that all claim to know each other
// form a ring, which only a liar makes. The ring is cut where it is found.
func pastOf(ps []*memory.Assertion) past {
	out := past{}
	at := make(map[memory.Dot]int, len(ps))
	for i, p := range ps {
		at[p.Dot] = i
	}
	var of func(i int) seqs
	of = func(i int) seqs {
		p := ps[i]
		if s, ok := out[p.Dot]; ok {
			return s
		}
		s := seqs{}
		out[p.Dot] = s
		take := func(j int) {
			for m, seq := range of(j) {
				s[m] = max(s[m], seq)
			}
			s[ps[j].Dot.Member] = max(s[ps[j].Dot.Member], ps[j].Dot.Seq)
		}
		if i > 0 && ps[i-1].Dot.Member == p.Dot.Member {
			take(i - 1)
		}
		for _, d := range p.Seen {
			if j, ok := at[d]; ok && d != p.Dot {
				take(j)
			}
		}
		return s
	}
	for i := range ps {
		of(i)
	}
	return out
}

// before reports whether the author of b knew a.
func (p past) before(a, b *memory.Assertion) bool {
	return a.Dot != b.Dot && p[b.Dot][a.Dot.Member] >= a.Dot.Seq
}

// unanswered returns the proposals of which no other author knew: at most one for each member, its
// last.
func (p past) unanswered(ps []*memory.Assertion) []*memory.Assertion {
	var out []*memory.Assertion
	for i, a := range ps {
		if i+1 < len(ps) && ps[i+1].Dot.Member == a.Dot.Member {
			continue
		}
		if !slices.ContainsFunc(ps, func(b *memory.Assertion) bool { return p.before(a, b) && !p.before(b, a) }) {
			out = append(out, a)
		}
	}
	return out
}
