package query

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// ending says that a line is no longer true.
type ending struct {
	until time.Time      // when it stopped being true
	by    *memory.Memory // what took its place; nil: nothing
}

// endingOf reads the superseded memories of a line, as far as the asker may see
// them. If a memory was only said again, it still holds, and the line has not
// ended: the result is nil.
func endingOf(tx *store.Tx, past []memory.ID, sees filter.Filter) (*ending, error) {
	var out *ending
	for m, err := range tx.MemoriesOf(past) {
		if err != nil {
			return nil, err
		}
		if !sees.Match(&filter.Item{Memory: m}) {
			continue
		}
		if m.State != memory.Superseded {
			return nil, nil
		}
		e := &ending{until: m.TrueTo}
		if e.until.IsZero() {
			e.until = m.Unlearnt
		}
		same := m.Repeats
		for steps := 0; !m.Into.IsZero() && steps < 100; steps++ { // after several moves, the last home is the current one
			if m, err = tx.Memory(m.Into); errors.Is(err, memory.ErrNotFound) {
				break
			} else if err != nil {
				return nil, err
			}
			if m.State == memory.Active {
				if same {
					return nil, nil
				}
				e.by = m
				break
			}
			same = same && m.Repeats
		}
		out = e
	}
	return out, nil
}

// saidAgain adds to past the lines among the hits that only repeat a line of past:
// if "I live in Oslo" was said twice, both lines have ended. Memories that repeat
// another are in no index, so they are looked up in the slot of the memory that
// they repeat.
func saidAgain(tx *store.Tx, hits []serve.Hit, past map[memory.ID][]memory.ID) error {
	open := map[memory.ID]bool{} // lines that may have ended
	for i := range hits {
		if h := &hits[i]; h.Utterance != nil && len(past[h.ID]) == 0 {
			open[h.ID] = true
		}
	}
	groups := map[string]bool{}
	for _, ids := range past {
		for m, err := range tx.MemoriesOf(ids) {
			if err != nil {
				return err
			}
			groups[m.Group] = true
		}
	}
	for key := range groups {
		if len(open) == 0 {
			return nil
		}
		group, err := tx.Group(key)
		if err != nil {
			return err
		}
		for i := range group {
			o := &group[i]
			if !o.Repeats || o.State != memory.Superseded || len(o.Evidence) == 0 {
				continue
			}
			if line := o.Evidence[0].Utterance; open[line] {
				past[line] = []memory.ID{o.ID}
				delete(open, line)
			}
		}
	}
	return nil
}

// bring makes a hit of a memory that the search did not find. ok is false if the
// memory may not be a hit.
type bring func(m *memory.Memory, score float64) (hit serve.Hit, ok bool, err error)

// demote puts each line that has ended behind the memory that took its place. If
// the search did not find that memory, bring makes the hit. The score of a moved
// line is at most that of the hit before it, and its part "past" says how much it
// lost. sees selects the memories that the asker may know of.
func demote(tx *store.Tx, hits []serve.Hit, past map[memory.ID][]memory.ID, k int, sees filter.Filter, bring bring) ([]serve.Hit, error) {
	for _, h := range slices.Clone(hits) {
		id := h.ID
		if len(past[id]) == 0 {
			continue
		}
		e, err := endingOf(tx, past[id], sees)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(hits, func(h serve.Hit) bool { return h.ID == id })
		if e == nil || at < 0 {
			continue
		}
		hits[at].Until = e.until
		if e.by == nil {
			continue
		}
		line := hits[at]
		to := slices.IndexFunc(hits, func(h serve.Hit) bool { return h.ID == e.by.ID })
		switch {
		case to < 0:
			hit, ok, err := bring(e.by, line.Score)
			if err != nil {
				return nil, err
			}
			if ok {
				hit.Parts[recall.PartReplaces] = line.Score
				hits = slices.Insert(hits, at, hit)
			}
		case to > at:
			if lost := line.Score - hits[to].Score; lost > 0 {
				line.Parts = maps.Clone(line.Parts)
				line.Parts[recall.PartPast], line.Score = -lost, hits[to].Score
			}
			copy(hits[at:], hits[at+1:to+1])
			hits[to] = line
		}
	}
	return hits[:min(len(hits), k)], nil
}
