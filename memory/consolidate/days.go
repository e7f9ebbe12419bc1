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

// A day is summed up once it is over and has so many memories, by as many of
// them as evidence holds at most.
const (
	dayFrom  = 6
	dayLines = 5
)

// days sums up days that are over: the lines that share most with the rest of
// the day (an extract: no word in it is new), in their order.
func (p *planner) days() {
	today := p.in.Wall.In(p.in.Zone).Format(time.DateOnly)
	all := map[string][]*memory.Memory{}
	for _, m := range p.all {
		d := p.at(m).In(p.in.Zone).Format(time.DateOnly)
		// What had its day belongs to the day all the same; what another took in does not.
		shown := m.State == memory.Active || m.State == memory.Archived && m.Into.IsZero()
		if shown && d < today && m.Type != memory.Resource && m.Type != memory.Core && len(m.Evidence) > 0 && !p.gone[m.ID] &&
			m.Owner.Agent == "" && m.Owner.Run == "" && !made(m) {
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
		p.steps = append(p.steps, Step{Kind: Summarise, Memory: id, Into: id, Text: c.Text, Candidate: &c, Stamp: Words(picked...),
			Reason: fmt.Sprintf("%s is over, and has %d memories", d, len(ms))})
	}
}

// at is when a memory's first evidence is of, that of those which it takes in
// among it.
func (p *planner) at(m *memory.Memory) time.Time {
	if first, ok := p.since[m.ID]; ok {
		return first
	}
	return m.When()
}

// made reports whether a memory was made of others.
func made(m *memory.Memory) bool {
	return slices.ContainsFunc(m.Links, func(l memory.Link) bool { return l.Relation == DerivedFrom })
}

// central returns the lines that share most words with the others, in the order
// in which they were said. Ties go to the earlier.
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
	score := make(map[*memory.Memory]int, len(ms)) // in 64ths, so that every machine adds up alike
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
		// Not their sources: who forgets one line would lose the whole day by it.
		c.Evidence = append(c.Evidence, memory.Evidence{At: p.at(m), Speaker: m.Evidence[0].Speaker})
	}
	c.Text = text.String()
	return c
}
