package store

import (
	"iter"

	"github.com/locket-dev/locket/memory"
)

// MaxRefusals is how many refusals are kept; the oldest are removed first.
const MaxRefusals = 10_000

// Refuse stores why something did not become a memory.
func (t *Tx) Refuse(r memory.Refusal) error {
	if t.state == nil {
		return errReadOnly
	}
	if err := t.tally(0, r.Kind); err != nil {
		return err
	}
	t.state.head.Seq.Refusal++
	n := t.state.head.Seq.Refusal
	if err := t.save(keyOf(kindRefusal, u64(n)), r); err != nil {
		return err
	}
	if err := t.put(append(t.eventPrefix(kindRefusalEvent, r.Event), u64(n)...), nil); err != nil {
		return err
	}
	if n <= MaxRefusals {
		return nil
	}
	return t.dropRefusal(n - MaxRefusals)
}

// Unrefuse removes the refusals of one event, because it became a memory after all, and returns how
// many there were.
func (t *Tx) Unrefuse(e memory.EventID) (int, error) {
	if t.state == nil {
		return 0, errReadOnly
	}
	var ns []uint64
	for x, err := range t.scan(t.eventPrefix(kindRefusalEvent, e), nil, false) {
		if err != nil {
			return 0, err
		}
		ns = append(ns, seqOf(x.key))
	}
	for _, n := range ns {
		r, ok, err := load[memory.Refusal](t, keyOf(kindRefusal, u64(n)))
		if err == nil && ok {
			err = t.untally(r.Kind)
		}
		if err == nil {
			err = t.dropRefusal(n)
		}
		if err != nil {
			return 0, err
		}
	}
	return len(ns), nil
}

func (t *Tx) dropRefusal(n uint64) error {
	key := keyOf(kindRefusal, u64(n))
	r, ok, err := load[memory.Refusal](t, key)
	if err != nil || !ok {
		return err
	}
	if err := t.del(append(t.eventPrefix(kindRefusalEvent, r.Event), u64(n)...)); err != nil {
		return err
	}
	return t.del(key)
}

// Refusals returns the stored refusals, latest first.
func (t *Tx) Refusals() iter.Seq2[memory.Refusal, error] {
	return each(t, keyOf(kindRefusal), nil, true, decoded[memory.Refusal])
}
