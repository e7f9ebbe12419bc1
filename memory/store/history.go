package store

import (
	"fmt"
	"iter"

	"github.com/locket-dev/locket/memory"
)

func changeKey(seq uint64) []byte { return keyOf(kindChange, u64(seq)) }

// putChange numbers a change and writes it. It is found by each memory that it
// may have words of: its own, the other, and those in causes.
func (t *Tx) putChange(c *memory.Change, causes ...memory.ID) error {
	t.state.head.Seq.Change++
	c.Seq = t.state.head.Seq.Change
	if err := t.save(changeKey(c.Seq), c); err != nil {
		return err
	}
	ids := map[memory.ID]bool{}
	for _, id := range append([]memory.ID{c.Memory, c.Other}, causes...) {
		if id.IsZero() || ids[id] {
			continue
		}
		ids[id] = true
		if err := t.put(keyOf(kindChangeOf, id[:], u64(c.Seq)), nil); err != nil {
			return err
		}
	}
	return nil
}

// History gives the changes of one memory, oldest first.
func (t *Tx) History(id memory.ID) ([]memory.Change, error) {
	var out []memory.Change
	err := t.changesOf(id, func(c *memory.Change) error {
		if c.Memory == id {
			out = append(out, *c)
		}
		return nil
	})
	return out, err
}

// changesOf calls fn with each change that names a memory.
func (t *Tx) changesOf(id memory.ID, fn func(*memory.Change) error) error {
	for e, err := range t.scan(keyOf(kindChangeOf, id[:]), nil, false) {
		if err != nil {
			return err
		}
		c, ok, err := load[memory.Change](t, changeKey(seqOf(e.key)))
		if err != nil {
			return err
		}
		if ok {
			if err := fn(&c); err != nil {
				return err
			}
		}
	}
	return nil
}

// Changes gives every change that is numbered over seq, in order.
func (t *Tx) Changes(seq uint64) iter.Seq2[memory.Change, error] {
	return list[memory.Change](t, kindChange, seq)
}

// list gives the records of a kind that is numbered, over seq, in order.
func list[T any](t *Tx, k kind, seq uint64) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for e, err := range t.scan(keyOf(k), keyOf(k, u64(seq+1)), false) {
			var v T
			if err == nil {
				v, err = decode[T](e.key, e.plain)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// Assertions gives what was said of one memory, in order of dots; what waits
// for a proposal too.
func (t *Tx) Assertions(id memory.ID) ([]memory.Assertion, error) { return t.assertionsOf(id) }

// outboxRecord names an assertion that other members have yet to get.
type outboxRecord struct {
	Memory memory.ID  `json:"m"`
	Dot    memory.Dot `json:"d"`
}

// Outgoing is one entry of the outbox.
type Outgoing struct {
	Seq       uint64 // grows by the entry; grants no gapless order
	Assertion memory.Assertion
}

// Outbox gives the assertions made here that were not sent, numbered over
// seq, in order.
func (t *Tx) Outbox(seq uint64) iter.Seq2[Outgoing, error] {
	return func(yield func(Outgoing, error) bool) {
		for e, err := range t.scan(keyOf(kindOutbox), keyOf(kindOutbox, u64(seq+1)), false) {
			var o Outgoing
			if err == nil {
				o, err = t.outgoing(e)
			}
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}

func (t *Tx) outgoing(e entry) (o Outgoing, err error) {
	r, err := decode[outboxRecord](e.key, e.plain)
	if err != nil {
		return o, err
	}
	a, ok, err := load[assertionRecord](t, assertionKey(r.Memory, r.Dot))
	if err == nil && !ok {
		err = damaged(e.key, fmt.Sprintf("names an assertion of %s that is not there", r.Memory))
	}
	return Outgoing{seqOf(e.key), a.Assertion}, err
}

// Sent takes entries up to seq out of the outbox.
func (t *Tx) Sent(seq uint64) error {
	for e, err := range t.scan(keyOf(kindOutbox), nil, false) {
		if err != nil {
			return err
		}
		if seqOf(e.key) > seq {
			return nil
		}
		if err := t.del(e.key); err != nil {
			return err
		}
	}
	return nil
}
