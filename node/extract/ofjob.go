package extract

import (
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
)

// assert asserts one proposal. If it ends an employment, what the wearer or another person had
// through that job (boss, pay) ends, too, with the same evidence. What the same event says about
// those slots stays.
func (x *Extractor) assert(tx *store.Tx, p *pending, pr *proposal, known memory.ID) ([]memory.Change, error) {
	slots := reconcile.OfJob(pr.cand.Slot)
	if len(slots) == 0 {
		return x.assertOne(tx, pr, known)
	}
	before, err := tx.Group(pr.cand.Group())
	if err != nil {
		return nil, err
	}
	changes, err := x.assertOne(tx, pr, known)
	if err != nil {
		return nil, err
	}
	after, err := tx.Group(pr.cand.Group())
	if err != nil {
		return nil, err
	}
	for _, was := range reconcile.JobsEnded(before, after) {
		for _, slot := range slots {
			more, err := x.endWithJob(tx, p, pr, slot, was, after)
			if err != nil {
				return nil, err
			}
			changes = append(changes, more...)
		}
	}
	return changes, nil
}

// endWithJob ends the values of a slot that belonged to the job that pr ended.
func (x *Extractor) endWithJob(tx *store.Tx, p *pending, pr *proposal, slot memory.Slot, was *memory.Memory, employers []memory.Memory) (changes []memory.Change, err error) {
	end := pr.cand
	end.Slot, end.Negates, end.Fields = &slot, true, memory.Fields{Semantic: &memory.SemanticFields{}}
	had, err := tx.Group(end.Group())
	if err != nil {
		return nil, err
	}
	for i := range had {
		m := &had[i]
		inEvent := slices.ContainsFunc(m.Evidence, func(e memory.Evidence) bool { return e.Event == p.event.ID })
		if m.Slot == nil || inEvent || !reconcile.EndsWithJob(m, was, employers, p.event.At) {
			continue
		}
		slot.Value = m.Slot.Value
		id := x.keys.MemoryID(p.event.ID, pr.cand.Source.Plugin, end.Fingerprint())
		more, err := x.assertOne(tx, &proposal{id: id, cand: end}, memory.ID{})
		if err != nil {
			return nil, err
		}
		changes = append(changes, more...)
	}
	return changes, nil
}
