package store

import (
	"errors"
	"iter"

	"github.com/locket-dev/locket/memory"
)

// outboxRecord names something that has to be sent to other members: an
// assertion, an utterance, a blob with its owner, or an erasure.
type outboxRecord struct {
	Memory    memory.ID  `json:"m,omitzero"`
	Dot       memory.Dot `json:"d,omitzero"`
	Utterance memory.ID  `json:"u,omitzero"`
	Blob      memory.ID  `json:"b,omitzero"`
	Forget    *Targets   `json:"f,omitempty"`
}

// Outgoing is one entry of the outbox. Exactly one of Assertion, Utterance,
// Forget and Blob is set.
type Outgoing struct {
	Seq       uint64 // ascending, possibly with gaps
	Assertion *memory.Assertion
	Utterance *memory.Utterance
	Forget    *Targets
	Blob      memory.ID
	Owner     memory.ID // of the blob
	Size      int64     // of the blob, in bytes; 0 if it is not on this device
}

// post adds an entry to the outbox and returns its number.
func (t *Tx) post(r outboxRecord) (uint64, error) {
	t.state.head.Seq.Outbox++
	n := t.state.head.Seq.Outbox
	return n, t.save(keyOf(kindOutbox, u64(n)), r)
}

// Outbox returns what was made on this device and not sent yet, with numbers
// greater than seq, in order. It leaves out what was erased meanwhile.
func (t *Tx) Outbox(seq uint64) iter.Seq2[Outgoing, error] {
	return each(t, keyOf(kindOutbox), keyOf(kindOutbox, u64(seq+1)), false, t.outgoing)
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
		var b blobRecord
		b, _, err = load[blobRecord](t, blobKey(r.Blob))
		o.Size = b.Size
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

// Unsent returns how many assertions about a memory are in the outbox.
func (t *Tx) Unsent(id memory.ID) (n int, err error) {
	for r, err := range under[assertionRecord](t, keyOf(kindAssertion, id[:])) {
		if err != nil {
			return 0, err
		}
		waits, err := t.posted(r.Outbox)
		if err != nil {
			return 0, err
		}
		if waits {
			n++
		}
	}
	return n, nil
}

// Sent removes entries from the outbox by their numbers. It ignores unknown
// numbers.
func (t *Tx) Sent(seqs ...uint64) error {
	for _, n := range seqs {
		if waits, err := t.posted(n); err != nil {
			return err
		} else if waits {
			if err := t.del(keyOf(kindOutbox, u64(n))); err != nil {
				return err
			}
		}
	}
	return nil
}

// Resend puts a stored assertion into the outbox again. ok is false if it is
// not stored, or if it is in the outbox already.
func (t *Tx) Resend(id memory.ID, dot memory.Dot) (ok bool, err error) {
	if t.state == nil {
		return false, errReadOnly
	}
	key := assertionKey(id, dot)
	r, ok, err := load[assertionRecord](t, key)
	if err != nil || !ok {
		return false, err
	}
	if waits, err := t.posted(r.Outbox); err != nil || waits {
		return false, err
	}
	if r.Outbox, err = t.post(outboxRecord{Memory: id, Dot: dot}); err != nil {
		return false, err
	}
	return true, t.save(key, r)
}

// ResendErasure puts an erasure into the outbox again.
func (t *Tx) ResendErasure(targets Targets) error {
	if t.state == nil {
		return errReadOnly
	}
	_, err := t.post(outboxRecord{Forget: &targets})
	return err
}

// ResendUtterance is Resend for an utterance.
func (t *Tx) ResendUtterance(id memory.ID) (ok bool, err error) {
	if t.state == nil {
		return false, errReadOnly
	}
	r, packed, ok, err := t.utteranceRecord(id)
	if err != nil || !ok {
		return false, err
	}
	if waits, err := t.posted(r.Outbox); err != nil || waits {
		return false, err
	}
	if packed {
		if r, err = t.unpackLine(id); err != nil {
			return false, err
		}
	}
	if r.Outbox, err = t.post(outboxRecord{Utterance: id}); err != nil {
		return false, err
	}
	return true, t.save(utteranceKey(id), r)
}

// unpost removes an entry from the outbox by its number. It ignores unknown
// numbers, and 0.
func (t *Tx) unpost(n uint64) error {
	if n == 0 {
		return nil
	}
	return t.del(keyOf(kindOutbox, u64(n)))
}

// posted reports whether an entry is in the outbox. The number 0 names none.
func (t *Tx) posted(n uint64) (bool, error) {
	if n == 0 {
		return false, nil
	}
	_, waits, err := t.get(keyOf(kindOutbox, u64(n)))
	return waits, err
}

// Unposted returns what was made on this device and is not in the outbox:
// either it was sent, or its entry was lost. For a blob, it also returns the
// owner.
func (t *Tx) Unposted() iter.Seq2[Outgoing, error] {
	return func(yield func(Outgoing, error) bool) {
		for _, k := range []kind{kindAssertion, kindUtterance, kindBlob} {
			for e, err := range t.scan(keyOf(k), nil, false) {
				var o Outgoing
				made := false
				if err == nil {
					o, made, err = t.unposted(e)
				}
				if err == nil && !made {
					continue
				}
				if !yield(o, err) || err != nil {
					return
				}
			}
		}
		for l, err := range t.eachPacked() {
			var o Outgoing
			if err == nil {
				var n packedNumbers
				var waits bool
				if n, err = l.numbers(l.place()); err == nil {
					waits, err = t.posted(n.Outbox)
				}
				if err == nil && (waits || n.Outbox == 0) {
					continue
				}
				o.Seq = n.Outbox
			}
			if err == nil {
				o.Utterance, err = t.Utterance(l.id)
			}
			if !yield(o, err) || err != nil {
				return
			}
		}
	}
}

func (t *Tx) unposted(e entry) (o Outgoing, made bool, err error) {
	switch kind(e.key[0]) {
	case kindAssertion:
		r, err := decode[assertionRecord](e.key, e.plain)
		if err != nil {
			return o, false, err
		}
		o.Seq, o.Assertion = r.Outbox, &r.Assertion
	case kindUtterance:
		r, err := decode[utteranceRecord](e.key, e.plain)
		if err != nil {
			return o, false, err
		}
		u, err := decode[memory.Utterance](e.key, r.Utterance)
		if err != nil {
			return o, false, err
		}
		o.Seq, o.Utterance = r.Outbox, &u
	case kindBlob:
		r, err := decode[blobRecord](e.key, e.plain)
		if err != nil {
			return o, false, err
		}
		o.Seq, o.Blob, o.Owner = r.Outbox, memory.ID(e.key[1:]), r.Owner
	}
	waits, err := t.posted(o.Seq)
	return o, o.Seq != 0 && !waits, err
}

// ResendBlobs puts the blobs of an owner into the outbox again.
func (t *Tx) ResendBlobs(owner memory.ID) error {
	if t.state == nil {
		return errReadOnly
	}
	for e, err := range t.scan(keyOf(kindBlob), nil, false) {
		if err != nil {
			return err
		}
		r, err := decode[blobRecord](e.key, e.plain)
		if err != nil {
			return err
		}
		if r.Owner != owner || owner.IsZero() {
			continue
		}
		if waits, err := t.posted(r.Outbox); err != nil {
			return err
		} else if waits {
			continue // other blobs may still be there
		}
		if r.Outbox, err = t.post(outboxRecord{Blob: memory.ID(e.key[1:]), Memory: owner}); err != nil {
			return err
		}
		if err := t.save(e.key, r); err != nil {
			return err
		}
	}
	return nil
}

// LastPosted returns the last number that was given to an outbox entry.
func (t *Tx) LastPosted() uint64 {
	if t.state == nil {
		return 0
	}
	return t.state.head.Seq.Outbox
}
