package journal

import (
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// Withdraw removes workers' waiting ops that are about something that is
// being erased, or were derived from it.
func (j *Journal) Withdraw(tx *store.Tx, gone store.Targets) error {
	return j.eachParked(tx, func(ident string, w *parked) error {
		if !about(w, &gone) {
			return nil
		}
		if err := j.dropParked(tx, w.Problem.Member, ident); err != nil {
			return err
		}
		return j.clearProblem(tx, ident, nil)
	})
}

func about(w *parked, gone *store.Targets) bool {
	cites := func(es []memory.Evidence) bool {
		return slices.ContainsFunc(es, func(e memory.Evidence) bool {
			return slices.Contains(gone.Utterances, e.Utterance) || slices.Contains(gone.Events, e.Event)
		})
	}
	if u := w.Utterance; u != nil && (slices.Contains(gone.Utterances, u.ID) || slices.Contains(gone.Events, u.Event)) {
		return true
	}
	a := w.Assertion
	return a != nil && (slices.Contains(gone.Memories, a.Memory) || cites(a.Evidence) || a.Candidate != nil && cites(a.Candidate.Evidence))
}
