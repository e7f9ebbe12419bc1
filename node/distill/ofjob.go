package distill

import (
	"errors"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/judge"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
)

// assert asserts a ruling. If it ends an employment, what somebody had through that job (boss, pay)
// ends, too, with the same words as evidence. What these words say about those slots stays.
func (w *Worker) assert(tx *store.Tx, r *judge.Ruling) ([]memory.Change, error) {
	group, of, err := employer(tx, r)
	if err != nil {
		return nil, err
	}
	slots := reconcile.OfJob(of.Slot)
	if len(slots) == 0 {
		return w.assertOne(tx, r)
	}
	before, err := tx.Group(group)
	if err != nil {
		return nil, err
	}
	changes, err := w.assertOne(tx, r)
	if err != nil {
		return nil, err
	}
	after, err := tx.Group(group)
	if err != nil {
		return nil, err
	}
	for _, was := range reconcile.JobsEnded(before, after) {
		for i := range slots {
			of.Slot = &slots[i]
			had, err := tx.Group(of.Group())
			if err != nil {
				return nil, err
			}
			for k := range had {
				m := &had[k]
				said := slices.ContainsFunc(m.Evidence, func(e memory.Evidence) bool { return e.Event == r.Message.Event })
				if m.Slot == nil || said || !may(m) || !reconcile.EndsWithJob(m, was, after, r.Message.At) {
					continue
				}
				got, err := w.assertByRuling(tx, r, closing(m, r))
				if err != nil {
					return nil, err
				}
				changes = append(changes, got...)
			}
		}
	}
	return changes, nil
}

// employer returns the group of the employers that a ruling may end, and a candidate for that slot.
// The candidate has no slot if the ruling is not about an employer.
func employer(tx *store.Tx, r *judge.Ruling) (group string, of memory.Candidate, err error) {
	if c := r.Candidate; c != nil && len(reconcile.OfJob(c.Slot)) > 0 {
		return c.Group(), memory.Candidate{Type: c.Type, Owner: c.Owner, Slot: c.Slot}, nil
	}
	if r.Known == nil || len(reconcile.OfJob(r.Known.Slot)) == 0 {
		return "", of, nil
	}
	m, err := tx.Memory(r.Known.ID)
	if errors.Is(err, memory.ErrNotFound) {
		return "", of, nil
	}
	if err != nil {
		return "", of, err
	}
	return m.Group, memory.Candidate{Type: m.Type, Owner: m.Owner, Slot: m.Slot}, nil
}
