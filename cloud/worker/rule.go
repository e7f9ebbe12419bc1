package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/judge"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
)

// commitRulings asserts the content of rulings, in one transaction, as far as a worker
// may: see [delta.Accept]. It asserts nothing if something that the model was
// shown was changed or removed meanwhile. Calling it again asserts nothing new.
func (s *space) commitRulings(ctx context.Context, t *talk, rulings []judge.Ruling, g *delta.Grant, cost string) (said int, err error) {
	secret, done, err := s.idKey()
	if err != nil {
		return 0, err
	}
	defer done()
	limit := cmp.Or(g.PerEvidence, delta.MaxPerEvidence)
	err = s.engine.Commit(ctx, func(tx *store.Tx) error {
		said = 0
		if ok, err := isUnchanged(tx, t, rulings); err != nil || !ok {
			return err
		}
		cited := map[memory.ID]int{} // number of assertions that cite an utterance
		for i := range rulings {
			r := &rulings[i]
			if r.Verdict == memory.Refuse || cited[r.Evidence.Utterance] >= limit {
				continue
			}
			as := s.assertionsOf(r, secret)
			for _, a := range as {
				fresh, err := s.assertOnce(tx, a, cost)
				if err != nil {
					return err
				}
				if fresh {
					said++
					cited[r.Evidence.Utterance]++
				}
			}
		}
		return nil
	})
	if err == nil && said > 0 {
		s.notify()
	}
	return said, err
}

// assertionsOf returns the assertions of a ruling. It depends on who said what is
// known. A person's word is not contradicted by a model. A device's word is
// ended by a proposal that it no longer holds, which the node treats like
// something that it hears. A worker's word is closed by the worker.
func (s *space) assertionsOf(r *judge.Ruling, secret []byte) (out []memory.Assertion) {
	propose := func(c *memory.Candidate) memory.Assertion {
		return memory.Assertion{Memory: memory.DeriveID(secret, r.Evidence.Event, c.Source.Plugin, c.Fingerprint()), Act: memory.ActPropose, Candidate: c}
	}
	k := r.Known
	switch {
	case r.Verdict == memory.Noop && k != nil && !k.Pinned:
		out = append(out, memory.Assertion{Memory: k.ID, Act: memory.ActReinforce, Evidence: []memory.Evidence{r.Evidence}, Source: r.Source})
	case r.Verdict == memory.Delete && k.Rank < memory.RankPerson, r.Verdict == memory.Update && k.Slot == nil && k.Rank < memory.RankPerson:
		if k.Rank == memory.RankCloud {
			v := memory.Validity{From: k.TrueFrom, To: r.Message.At}
			out = append(out, memory.Assertion{Memory: k.ID, Act: memory.ActClose, Patch: &memory.Patch{Validity: &v}, Source: r.Source})
		} else {
			src := r.Source
			src.Device = r.Message.Event.Device
			no := memory.Candidate{Type: k.Type, Text: k.Text, Lang: k.Lang, Owner: k.Owner, Slot: k.Slot, Negates: true, Fields: k.Fields, Evidence: []memory.Evidence{r.Evidence},
				Source: src, Confidence: .5, Sensitivity: max(k.Sensitivity, memory.Personal)}
			out = append(out, propose(&no))
		}
	}
	if r.Candidate != nil {
		out = append(out, propose(r.Candidate))
	}
	return out
}

// isUnchanged reports whether everything that a model was shown still exists and is
// unchanged.
func isUnchanged(tx *store.Tx, t *talk, rulings []judge.Ruling) (bool, error) {
	for _, shown := range slices.Concat(t.lines, t.earlier) {
		u, err := tx.Utterance(shown.ID)
		if errors.Is(err, memory.ErrNotFound) || err == nil && u.Text != shown.Text {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	for i := range rulings {
		k := rulings[i].Known
		if k == nil {
			continue
		}
		m, err := tx.Memory(k.ID)
		if errors.Is(err, memory.ErrNotFound) || err == nil && (m.State != memory.Active || m.Text != k.Text || m.Pinned) {
			rulings[i] = judge.Ruling{Verdict: memory.Refuse, Reason: "what it would change was changed meanwhile"}
			continue
		}
		if err != nil {
			return false, err
		}
		k.Rank = m.Rank
	}
	return true, nil
}

// assertOnce asserts something with a worker's rank, unless the same was said before.
// If a proposes nothing, its own source is used.
func (s *space) assertOnce(tx *store.Tx, a memory.Assertion, cost string) (fresh bool, err error) {
	known, err := tx.Assertions(a.Memory)
	if err != nil {
		return false, err
	}
	for _, k := range known {
		if k.Act == a.Act && k.Dot.Member == s.joined.Member && (a.Act != memory.ActReinforce || len(k.Evidence) == 1 && k.Evidence[0].Utterance == a.Evidence[0].Utterance && k.Evidence[0].Event == a.Evidence[0].Event) &&
			a.Act != memory.ActCorrect {
			return false, nil
		}
	}
	if a.Act == memory.ActPropose && len(known) > 0 {
		return false, nil // another worker said it first
	}
	if a.Candidate != nil {
		if err := a.Candidate.Validate(); err != nil {
			return false, err
		}
		a.Source = a.Candidate.Source
	}
	a.Reason = cmp.Or(a.Reason, "found by a model; the batch took "+cost)
	_, err = s.engine.AssertTx(tx, memory.RankCloud, a)
	return err == nil, err
}

// idKey returns the key from which the space's ids are derived. done erases it.
func (s *space) idKey() (secret []byte, done func(), err error) {
	first, ok := s.keys.Epoch(1)
	if !ok {
		return nil, nil, fmt.Errorf("%w: the key of the first epoch", memory.ErrLocked)
	}
	key := first.Derive("memory ids") // members derive it in the same way
	secret = key.Bytes()
	return secret, func() { clear(secret); key.Zero() }, nil
}
