package forget

import (
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// takeOrphans takes memories that were made only from memories that are taken.
func (c *chooser) takeOrphans() error {
	needed := map[memory.ID]bool{}
	for _, id := range c.order {
		if m := c.memories[id]; !c.erased[id] {
			own, err := c.evidence(m)
			if err != nil {
				return err
			}
			for i := range own {
				needed[own[i].Utterance] = true
			}
		}
	}
	for id := range c.erased {
		own, err := c.evidence(c.memories[id])
		if err != nil {
			return err
		}
		for i := range own {
			if e := &own[i]; !e.Utterance.IsZero() && !needed[e.Utterance] {
				if err := c.takeSource(e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *chooser) result() (out Chosen, err error) {
	latest := func(t time.Time) {
		if t.After(out.Latest) {
			out.Latest = t
		}
	}
	for _, id := range c.order {
		m := c.memories[id]
		if c.erased[id] {
			out.Memories = append(out.Memories, *m)
			latest(m.When())
			if f := m.Fields.Episodic; f != nil && f.Place != "" {
				out.Places = append(out.Places, f.Place)
			}
		} else if left, ok := c.trimmed[id]; ok {
			out.Trimmed = append(out.Trimmed, Trimmed{*m, left})
		}
	}
	for _, u := range c.utterances {
		if u == nil {
			continue
		}
		out.Utterances = append(out.Utterances, *u)
		latest(u.At)
		latest(u.Received)
		if u.Place != "" {
			out.Places = append(out.Places, u.Place)
		}
	}
	sorting.Sort(out.Utterances, func(a, b memory.Utterance) int { return a.At.Compare(b.At) })
	for e := range c.events {
		if !e.IsZero() {
			out.Events = append(out.Events, e)
		}
	}
	sorting.Sort(out.Events, func(a, b memory.EventID) int { return strings.Compare(a.String(), b.String()) })
	slices.Sort(out.Places)
	out.Places, out.Quarantined = slices.Compact(out.Places), c.quarantined
	return out, nil
}
