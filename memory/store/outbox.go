package store

import (
	"errors"
	"iter"

	"github.com/locket-dev/locket/memory"
)

// outboxRecord names what other members have yet to get: an assertion, an
// utterance, a blob with its owner, or what was erased.
type outboxRecord struct {
	Memory    memory.ID  `json:"m,omitzero"`
	Dot       memory.Dot `json:"d,omitzero"`
	Utterance memory.ID  `json:"u,omitzero"`
	Blob      memory.ID  `json:"b,omitzero"`
	Forget    *Targets   `json:"f,omitempty"`
}

// Outgoing is one entry of the outbox. One of the four is set.
type Outgoing struct {
	Seq       uint64 // grows by the entry; grants no gapless order
	Assertion *memory.Assertion
	Utterance *memory.Utterance
	Forget    *Targets
	Blob      memory.ID
	Owner     memory.ID // of the blob
}

// post puts an entry at the end of the outbox, and gives its number.
func (t *Tx) post(r outboxRecord) (uint64, error) {
	t.state.head.Seq.Outbox++
	n := t.state.head.Seq.Outbox
	return n, t.save(keyOf(kindOutbox, u64(n)), r)
}

// Outbox gives what was made here and was not sent, numbered over seq, in
// order. What was erased meanwhile is not in it.
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
	o.Seq = seqOf(e.key)
	switch {
	case r.Forget != nil:
		o.Forget = r.Forget
	case !r.Utterance.IsZero():
		o.Utterance, err = t.Utterance(r.Utterance)
	case !r.Blob.IsZero():
		o.Blob, o.Owner = r.Blob, r.Memory
	default:
		var a assertionRecord
		var ok bool
		if a, ok, err = load[assertionRecord](t, assertionKey(r.Memory, r.Dot)); err == nil && !ok {
			err = damaged(e.key, "names an assertion that is not there: "+r.Memory.String())
		}
		o.Assertion = &a.Assertion
	}
	if errors.Is(err, memory.ErrNotFound) {
		err = damaged(e.key, "names what is not there: "+err.Error())
	}
	return o, err
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
