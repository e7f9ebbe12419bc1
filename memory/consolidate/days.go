package consolidate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
)

// A day is summarised, once it is over, if it has at least dayFrom memories, by at most dayLines of
// them.
const (
	dayFrom  = 6
	dayLines = 5
)

// days summarises days that are over, by the lines that share most words with the rest of the day,
// in their order. It is an extract: no word in it is new.
func (p *planner) days() {
	today := p.in.Wall.In(p.in.Zone).Format(time.DateOnly)
	all := map[string][]*memory.Memory{}
	for _, m := range p.all {
		d := p.at(m).In(p.in.Zone).Format(time.DateOnly)
		// An expired memory still belongs to its day; a memory that was merged into another does
		// not.
		shown := m.State == memory.Active || m.State == memory.Archived && m.Into.IsZero()
		if shown && d < today && m.Type != memory.Resource && m.Type != memory.Core && len(m.Evidence) > 0 && !p.gone[m.ID] &&
			m.Owner.Agent == "" && m.Owner.Run == "" && !isDerived(m) {
			all[d] = append(all[d], m)
		}
	}
	for _, d := range slices.Sorted(maps.Keys(all)) {
		ms := all[d]
		if len(ms) < dayFrom {
			continue
		}
		id := p.in.ID("day " + d)
		picked := p.central(ms)
		c := p.summary(d, picked)
		if was := p.byID[id]; was != nil && (was.Text == c.Text || !p.may(was) || was.State != memory.Active) {
			continue
		}
		p.steps = append(p.steps, Step{Kind: Summarise, Memory: id, Into: id, Text: c.Text, Candidate: &c, Stamp: TextFingerprint(picked...),
			Reason: fmt.Sprintf("%s is over, and has %d memories", d, len(ms))})
	}
}

// at returns the time of a memory's first evidence, including that of the memories merged into it.
func (p *planner) at(m *memory.Memory) time.Time {
	if first, ok := p.since[m.ID]; ok {
		return first
	}
	return m.When()
}

// isDerived reports whether a memory was made from others.
func isDerived(m *memory.Memory) bool {
	return slices.ContainsFunc(m.Links, func(l memory.Link) bool { return l.Relation == DerivedFrom })
}

// central returns the lines that share most words with the others, in the order
// in which they were said. If lines are equal, the earlier one is first.
func (p *planner) central(ms []*memory.Memory) []*memory.Memory {
	ms = slices.Clone(ms)
	sorting.Sort(ms, func(a, b *memory.Memory) int {
		return cmp.Or(p.at(a).Compare(p.at(b)), slices.Compare(a.ID[:], b.ID[:]))
	})
	df := map[string]int{}
	for _, m := range ms {
		for w := range reconcile.Shingles(m.Text) {
			df[w]++
		}
	}
	score := make(map[*memory.Memory]int, len(ms)) // in 64ths, so that every machine gets the same sums
	for _, m := range ms {
		words := reconcile.Shingles(m.Text)
		for w := range words {
			score[m] += 64 * (df[w] - 1) / (len(words) + 4)
		}
	}
	best := slices.Clone(ms)
	sorting.Stable(best, func(a, b *memory.Memory) int { return score[b] - score[a] })
	best = best[:min(dayLines, len(best))]
	return slices.DeleteFunc(ms, func(m *memory.Memory) bool { return !slices.Contains(best, m) })
}

func (p *planner) summary(day string, ms []*memory.Memory) memory.Candidate {
	var text strings.Builder
	text.WriteString(day + ":")
	c := memory.Candidate{Type: memory.Episodic, Owner: ms[0].Owner, Lang: ms[0].Lang, Tags: []string{"summary"}, Source: memory.Source{Plugin: "dream"},
		Slot:   &memory.Slot{Subject: "day " + day, Attribute: "summary", Value: day},
		Fields: memory.Fields{Episodic: &memory.EpisodicFields{EventType: "day", Started: p.at(ms[0]), Ended: p.at(ms[len(ms)-1])}}, Confidence: 1}
	for _, m := range ms {
		text.WriteString(" " + m.Text)
		c.Sensitivity = max(c.Sensitivity, m.Sensitivity)
		c.Confidence = min(c.Confidence, m.Confidence)
		c.Links = append(c.Links, memory.Link{Relation: DerivedFrom, To: m.ID.String()})
		// The evidence does not name their sources, because then forgetting one line would forget
		// the summary of the whole day.
		c.Evidence = append(c.Evidence, memory.Evidence{At: p.at(m), Speaker: m.Evidence[0].Speaker})
	}
	c.Text = text.String()
	return c
}
