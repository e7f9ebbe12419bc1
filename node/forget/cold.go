package forget

import (
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// mayTake reports whether a cold memory may have to be forgotten: the want names
// it, or it rests on a source that was taken, or it is linked to something that was
// taken. The caller fetches it and chooses again. It is true for more memories than
// are forgotten in the end.
func mayTake(w *Want, chosen *Chosen, c *store.Cold) bool {
	m := &c.Memory
	own := slices.Clone(m.Evidence)
	for i := range c.Assertions {
		if a := &c.Assertions[i]; a.Candidate != nil {
			own = append(own, a.Candidate.Evidence...)
		}
		own = append(own, c.Assertions[i].Evidence...)
	}
	goes := func(e memory.Evidence) bool {
		return !e.Utterance.IsZero() && slices.ContainsFunc(chosen.Utterances, func(u memory.Utterance) bool { return u.ID == e.Utterance }) ||
			!e.Event.IsZero() && slices.Contains(chosen.Events, e.Event)
	}
	if slices.ContainsFunc(own, goes) {
		return true
	}
	for _, l := range m.Links {
		id, err := memory.ParseID(l.To)
		if err == nil && slices.ContainsFunc(chosen.Memories, func(m memory.Memory) bool { return m.ID == id }) {
			return true
		}
	}
	if len(w.IDs) > 0 || !w.matchesContent(m) {
		return false
	}
	return !w.hasTimeOrDevice() || w.inPeriod(m.Learnt) || slices.ContainsFunc(own, func(e memory.Evidence) bool { return w.matchesEvidence(&e, m.Learnt) })
}

// cold takes a cold memory that the want names by its id. Its sources are not known
// here, and stay; to forget them too, the memory is fetched first.
func (c *chooser) cold(id memory.ID) (bool, error) {
	s, is, err := c.tx.Cold(id)
	if err != nil || !is || c.memories[id] != nil {
		return is && err == nil, err
	}
	c.order = append(c.order, id)
	c.memories[id] = &memory.Memory{ID: id, Candidate: memory.Candidate{Type: s.Type}, State: s.State, Learnt: s.Learnt, Cold: true}
	return true, nil
}
