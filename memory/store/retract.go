package store

import (
	"bytes"

	"github.com/locket-dev/locket/memory"
)

// AssertionOf returns the assertion with a dot, if it is stored completely. ok
// is false if there is none, or if it is cold or erased.
func (t *Tx) AssertionOf(d memory.Dot) (a memory.Assertion, ok bool, err error) {
	id, ok, err := t.get(keyOf(kindDot, dotKey(d)))
	if err != nil || !ok || len(id) != idSize {
		return a, false, err
	}
	r, ok, err := load[assertionRecord](t, assertionKey(memory.ID(id), d))
	return r.Assertion, ok, err
}

// Knows reports whether an assertion about a memory was taken under this dot,
// whether it is stored, cold, or erased since. It needs a writing transaction.
func (t *Tx) Knows(about memory.ID, d memory.Dot) (bool, error) {
	if t.state == nil {
		return false, errReadOnly
	}
	id, _, err := t.get(keyOf(kindDot, dotKey(d)))
	if err != nil || bytes.Equal(id, about[:]) {
		return err == nil, err
	}
	cold, err := t.coldDots(d.Member)
	return err == nil && cold.has(d.Seq), err
}

// Retract removes an assertion, as if it had not come. Its number stays used,
// and it is taken if it comes again. The group is derived again from the other
// assertions. A memory without a proposal disappears, together with its
// history. If the assertion is not stored, nothing happens.
func (t *Tx) Retract(a *memory.Assertion) error {
	if t.state == nil {
		return errReadOnly
	}
	before, err := t.assertionsOf(a.Memory)
	if err != nil {
		return err
	}
	was := groupOf(before)
	var from *group
	if was != "" {
		if from, err = t.group(was); err != nil {
			return err
		}
	}
	if err := t.takeOut(a); err != nil {
		return err
	}
	left, err := t.assertionsOf(a.Memory)
	if err != nil || was == "" || len(left) == len(before) {
		return err
	}
	cause := &memory.Assertion{Dot: a.Dot, Clock: a.Clock, Rank: a.Rank, Memory: a.Memory, Act: memory.ActWithdraw, Source: a.Source}
	now := groupOf(left)
	if now == was {
		from.assertions[a.Memory] = left
		_, err := t.derive(was, from, cause)
		return err
	}
	if err := t.del(append(t.groupPrefix(was), a.Memory[:]...)); err != nil {
		return err
	}
	delete(from.assertions, a.Memory)
	if _, err := t.derive(was, from, cause); err != nil {
		return err
	}
	if now == "" {
		return t.eraseHistory(a.Memory)
	}
	to, err := t.group(now)
	if err != nil {
		return err
	}
	if err := t.put(append(t.groupPrefix(now), a.Memory[:]...), nil); err != nil {
		return err
	}
	to.assertions[a.Memory] = left
	_, err = t.derive(now, to, cause)
	return err
}

// takeOut removes an assertion's record and keeps its number.
func (t *Tx) takeOut(a *memory.Assertion) error {
	key := assertionKey(a.Memory, a.Dot)
	r, ok, err := load[assertionRecord](t, key)
	if err != nil || !ok {
		return err
	}
	if err := t.unpost(r.Outbox); err != nil {
		return err
	}
	var nothing memory.ID
	if err := t.put(keyOf(kindDot, dotKey(a.Dot)), nothing[:]); err != nil {
		return err
	}
	cold, err := t.coldDots(a.Dot.Member)
	if err != nil {
		return err
	}
	if cold.has(a.Dot.Seq) {
		if err := t.save(coldDotsKey(a.Dot.Member), cold.without(a.Dot.Seq)); err != nil {
			return err
		}
	}
	return t.del(key)
}
