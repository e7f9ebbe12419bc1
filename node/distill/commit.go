package distill

import (
	"context"
	"errors"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/judge"
	"github.com/locket-dev/locket/memory/store"
)

// commit writes the memories of an answer, and that its messages are done, in one
// transaction. If something that the model was shown was removed or changed since,
// it writes nothing and fresh is false, because the answer may repeat what the
// wearer has just forgotten.
func (w *Worker) commit(ctx context.Context, tasks []store.Task, b *judge.Batch, ids *shown, ops []judge.Operation) (done Done, fresh bool, err error) {
	rulings := judge.Rule(b, ops, w.source(), w.cfg.Owner)
	err = w.node.Commit(ctx, func(tx *store.Tx, secret func(string) (bool, error)) error {
		done = Done{}
		if fresh, err = ids.isUnchanged(tx); err != nil || !fresh {
			return err
		}
		for i := range rulings {
			r := rulings[i]
			if r.Verdict != memory.Refuse {
				if err := w.safe(&r, secret); err != nil {
					return err
				}
			}
			if r.Verdict == memory.Refuse {
				done.Refused++
				if err := tx.Refuse(w.refusal(b, &r)); err != nil {
					return err
				}
				continue
			}
			got, err := w.assert(tx, &r)
			if err != nil {
				return err
			}
			done.Changes = append(done.Changes, got...)
		}
		return drop(tx, tasks)
	})
	return done, fresh, err
}

// isUnchanged reports whether everything that was shown still exists and says the same.
func (s *shown) isUnchanged(tx *store.Tx) (bool, error) {
	for id, text := range s.utterances {
		u, err := tx.Utterance(id)
		if errors.Is(err, memory.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if u.Text != text {
			return false, nil
		}
	}
	for id, text := range s.memories {
		m, err := tx.Memory(id)
		if errors.Is(err, memory.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if m.State == memory.Erased || m.Text != text {
			return false, nil
		}
	}
	return true, nil
}

// safe refuses operations that contain a secret.
func (w *Worker) safe(r *judge.Ruling, secret func(string) (bool, error)) error {
	if r.Candidate == nil {
		return nil
	}
	texts := []string{r.Candidate.Text}
	if r.Candidate.Slot != nil {
		texts = append(texts, r.Candidate.Slot.Value)
	}
	if f := r.Candidate.Fields.Procedural; f != nil {
		texts = append(texts, f.Steps...)
	}
	found, err := secret(strings.Join(texts, "\n"))
	if err == nil && found {
		r.Verdict, r.Reason = memory.Refuse, "it holds a secret"
	}
	return err
}

func (w *Worker) refusal(b *judge.Batch, r *judge.Ruling) memory.Refusal {
	m := r.Message
	if m == nil {
		m = &b.Messages[0]
	}
	return memory.Refusal{Event: m.Event, At: m.At, Plugin: Plugin, Kind: "model", Reason: r.Reason}
}

// assertByRuling makes an assertion by a ruling, with a device's rank.
func (w *Worker) assertByRuling(tx *store.Tx, r *judge.Ruling, a memory.Assertion) ([]memory.Change, error) {
	a.Source = w.source()
	a.Source.Device = r.Message.Event.Device
	return w.node.AssertTx(tx, memory.RankDevice, a)
}

// closing returns the assertion that ends a memory because of what a ruling quotes.
func closing(m *memory.Memory, r *judge.Ruling) memory.Assertion {
	return memory.Assertion{Memory: m.ID, Act: memory.ActClose, Patch: &memory.Patch{Validity: &memory.Validity{From: m.TrueFrom, To: r.Message.At}},
		Reason: "by what was said in " + r.Message.Utterance.String()} // not the words themselves, because they would outlive the utterance here
}

// assertOne asserts a ruling, without what follows from it.
func (w *Worker) assertOne(tx *store.Tx, r *judge.Ruling) (changes []memory.Change, err error) {
	if r.Known != nil && r.Verdict != memory.Add {
		now, err := tx.Memory(r.Known.ID)
		if err != nil && !errors.Is(err, memory.ErrNotFound) {
			return nil, err
		}
		if err != nil || !may(now) || now.Pinned && r.Verdict != memory.Noop {
			return nil, tx.Refuse(memory.Refusal{Event: r.Message.Event, At: r.Message.At, Plugin: Plugin, Kind: "model", Reason: "what it would change was changed meanwhile"})
		}
	}
	say := func(a memory.Assertion) error {
		got, err := w.assertByRuling(tx, r, a)
		changes = append(changes, got...)
		return err
	}
	closes := r.Verdict == memory.Delete || r.Verdict == memory.Update && r.Candidate.Slot == nil
	switch {
	case r.Verdict == memory.Noop && r.Known == nil:
	case r.Verdict == memory.Noop:
		err = say(memory.Assertion{Memory: r.Known.ID, Act: memory.ActReinforce, Evidence: []memory.Evidence{r.Evidence}})
	case closes:
		err = say(closing(r.Known, r))
	}
	if err != nil || r.Candidate == nil {
		return changes, err
	}
	id := w.node.MemoryID(r.Message.Event, Plugin, r.Candidate.Fingerprint())
	return changes, say(memory.Assertion{Memory: id, Act: memory.ActPropose, Candidate: r.Candidate})
}
