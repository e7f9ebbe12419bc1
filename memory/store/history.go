package store

import (
	"iter"

	"github.com/locket-dev/locket/memory"
)

func changeKey(seq uint64) []byte { return keyOf(kindChange, u64(seq)) }

// putChange numbers a change and writes it. It is found under each memory whose
// words it may contain: its own memory, the other memory, and those in causes.
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

// History returns the changes of one memory, oldest first.
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

// ChangesNaming returns the changes that name a memory, its own and those of others,
// oldest first.
func (t *Tx) ChangesNaming(id memory.ID) ([]memory.Change, error) {
	var out []memory.Change
	err := t.changesOf(id, func(c *memory.Change) error {
		out = append(out, *c)
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

// Changes returns every change with a number greater than seq, in order.
func (t *Tx) Changes(seq uint64) iter.Seq2[memory.Change, error] {
	return each(t, keyOf(kindChange), keyOf(kindChange, u64(seq+1)), false, decoded[memory.Change])
}

// LastChange returns the number of the latest change that the transaction sees,
// without its own.
func (t *Tx) LastChange() (uint64, error) {
	h, _, err := t.store.secrets.readHead(t.txn)
	return h.Seq.Change, err
}

// Assertions returns the assertions about one memory, in the order of dots.
// Those that wait for a proposal are included.
func (t *Tx) Assertions(id memory.ID) ([]memory.Assertion, error) { return t.assertionsOf(id) }
