package store

import (
	"iter"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Bounds of the quarantine. Beyond them the oldest go, but not those that can be
// tried again: a device was told that they are safe.
const (
	MaxMalformed      = 1000
	MaxMalformedBytes = 4 << 20 // of Data together
	MaxMalformedData  = 4 << 10 // of one
)

// Malformed is input that broke a rule, kept to be looked at.
type Malformed struct {
	Seq    uint64    `json:"-"`
	At     time.Time `json:"at"`
	Topic  string    `json:"topic"`
	Reason string    `json:"reason"`
	Size   int       `json:"size"`          // of the whole message, in bytes
	Data   []byte    `json:"data"`          // its beginning, up to MaxMalformedData
	Blob   memory.ID `json:"blob,omitzero"` // that holds the whole, where one does
	// Again is what whoever set it aside needs to try it again, without the
	// content; nil: it can't be.
	Again []byte `json:"again,omitempty"`
}

// Quarantine keeps malformed input. Longer data is cut; Size is set where it is 0.
func (t *Tx) Quarantine(m Malformed) error {
	if t.state == nil {
		return errReadOnly
	}
	if m.Size == 0 {
		m.Size = len(m.Data)
	}
	m.Data = m.Data[:min(len(m.Data), MaxMalformedData)]
	m.Topic = m.Topic[:min(len(m.Topic), MaxMalformedData)]
	q := &t.state.head.Seq
	q.Malformed++
	if err := t.save(keyOf(kindMalformed, u64(q.Malformed)), m); err != nil {
		return err
	}
	q.MalformedBytes += len(m.Data)
	if q.MalformedFirst == 0 {
		q.MalformedFirst = 1
	}
	for q.Malformed-q.MalformedFirst >= MaxMalformed || q.MalformedBytes > MaxMalformedBytes {
		if err := t.passMalformed(); err != nil {
			return err
		}
	}
	return nil
}

// passMalformed takes the oldest out of the bounds: it goes, or, if it can be
// tried again, stays without counting there.
func (t *Tx) passMalformed() error {
	q := &t.state.head.Seq
	key := keyOf(kindMalformed, u64(q.MalformedFirst))
	m, ok, err := load[Malformed](t, key)
	if err != nil {
		return err
	}
	if !ok {
		q.MalformedHoles--
	}
	q.MalformedFirst++
	q.MalformedBytes -= len(m.Data)
	if m.Again != nil {
		q.MalformedKept++
		return nil
	}
	return t.delMalformed(key, &m)
}

func (t *Tx) delMalformed(key []byte, m *Malformed) error {
	if !m.Blob.IsZero() {
		if err := t.DeleteBlob(m.Blob); err != nil {
			return err
		}
	}
	return t.del(key)
}

// Malformed gives what is in quarantine, oldest first.
func (t *Tx) Malformed() iter.Seq2[Malformed, error] {
	return func(yield func(Malformed, error) bool) {
		for e, err := range t.scan(keyOf(kindMalformed), nil, false) {
			var m Malformed
			if err == nil {
				m, err = decode[Malformed](e.key, e.plain)
				m.Seq = seqOf(e.key)
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// Quarantined reports whether one is in quarantine still.
func (t *Tx) Quarantined(seq uint64) (bool, error) {
	_, ok, err := t.get(keyOf(kindMalformed, u64(seq)))
	return ok, err
}

// DropMalformed takes one out of quarantine, with the blob that holds the
// whole of it; one that is not there is no error.
func (t *Tx) DropMalformed(seq uint64) error {
	if t.state == nil {
		return errReadOnly
	}
	key := keyOf(kindMalformed, u64(seq))
	m, ok, err := load[Malformed](t, key)
	if err != nil || !ok {
		return err
	}
	if q := &t.state.head.Seq; seq < q.MalformedFirst {
		q.MalformedKept--
	} else {
		q.MalformedBytes -= len(m.Data)
		q.MalformedHoles++
	}
	return t.delMalformed(key, &m)
}

// ClearMalformed empties the quarantine.
func (t *Tx) ClearMalformed() error {
	var all []uint64
	for m, err := range t.Malformed() {
		if err != nil {
			return err
		}
		all = append(all, m.Seq)
	}
	for _, seq := range all {
		if err := t.DropMalformed(seq); err != nil {
			return err
		}
	}
	return nil
}
