package consolidate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
)

// TakesIn is the relation from a memory to those whose content it combines, as
// a worker proposes it in a dream. Its only effect is that the node's next
// dream checks whether the memory really has their content.
const TakesIn = "takes_in"

// mostTaken is how many memories one memory can combine.
const mostTaken = 6

// Covers returns an error if a text does not say everything that a memory says.
// The text must have all of the memory's names, numbers and negations, and four
// fifths of its other words.
func Covers(text string, m *memory.Memory) error {
	said, says := reconcile.Shingles(text), reconcile.Shingles(m.Text)
	if len(says) == 0 || len(text) > memory.MaxText {
		return errors.New("there is nothing to compare")
	}
	both := 0
	for _, w := range slices.Sorted(maps.Keys(says)) {
		switch {
		case said[w] || said[strings.ToLower(w)]:
			both++
		case reconcile.Distinguishes(w):
			return fmt.Errorf("%q is not in it", w)
		}
	}
	if 5*both < 4*len(says) {
		return fmt.Errorf("%d of %d words are in it", both, len(says))
	}
	return nil
}

// adds reports whether a text has words that make a difference and that none of
// the given memories has.
func adds(text string, of []*memory.Memory) bool {
	known := map[string]bool{}
	for _, m := range of {
		for w := range reconcile.Shingles(m.Text) {
			known[strings.ToLower(w)] = true
		}
	}
	for w := range reconcile.Shingles(text) {
		if reconcile.Distinguishes(w) && !known[strings.ToLower(w)] {
			return true
		}
	}
	return false
}

// adopt merges memories into one that a worker has proposed for them, if its
// text says everything that they say and nothing else. It merges all of them or
// none.
func (p *planner) adopt() {
	for _, into := range p.all {
		if into.State != memory.Active || into.Rank != memory.RankCloud || p.taken[into.ID] || into.Slot != nil {
			continue
		}
		of := p.takenIn(into)
		if len(of) < 2 || adds(into.Text, of) || slices.ContainsFunc(of, func(m *memory.Memory) bool { return Covers(into.Text, m) != nil }) {
			continue
		}
		for _, m := range of {
			p.add(Step{Kind: Merge, Into: into.ID, IntoText: into.Text, Reason: "a worker has worded it together with others, and all of it is there"}, m, into)
			p.gone[m.ID] = true
			p.takeIn(into, m)
		}
	}
}

// takenIn returns the memories that another one combines, or nil if one of them
// is of another kind or must not be archived by a machine.
func (p *planner) takenIn(into *memory.Memory) (of []*memory.Memory) {
	for _, l := range into.Links {
		if l.Relation != TakesIn {
			continue
		}
		id, err := memory.ParseID(l.To)
		m := p.byID[id]
		if err != nil || m == nil || m == into || len(of) == mostTaken || slices.Contains(of, m) || m.State != memory.Active || !p.may(m) || m.Slot != nil || m.Negates ||
			m.Type != into.Type || m.Type == memory.Core || m.Type == memory.Resource || m.Owner != into.Owner || m.Sensitivity > into.Sensitivity ||
			m.Type == memory.Episodic && !day(m).Equal(day(into)) {
			return nil
		}
		of = append(of, m)
	}
	return of
}
