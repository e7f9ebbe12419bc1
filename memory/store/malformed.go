package store

import (
	"iter"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Limits of the quarantine. Beyond them, the oldest entries are removed, except
// those that can be tried again, because a device was told that they are safe.
const (
	MaxMalformed      = 1000
	MaxMalformedBytes = 4 << 20 // of all Data together
	MaxMalformedData  = 4 << 10 // of the Data of one entry
)

// Malformed is input that broke a rule and is kept for inspection.
type Malformed struct {
	Seq    uint64    `json:"-"`
	At     time.Time `json:"at"`
	Topic  string    `json:"topic"`
	Reason string    `json:"reason"`
	Size   int       `json:"size"`          // of the whole message, in bytes
	Data   []byte    `json:"data"`          // the beginning of the message, up to MaxMalformedData bytes
	Blob   memory.ID `json:"blob,omitzero"` // the blob with the whole message, if there is one
	// Again is what the component that quarantined the input needs to try it
	// again, besides the content. nil means that it can't be tried again.
	Again []byte `json:"again,omitempty"`
}

// Quarantine stores malformed input. It truncates long data, and sets Size if
// that is 0.
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

// passMalformed takes the oldest entry out of the limits. The entry is removed,
// or, if it can be tried again, kept without being counted.
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

// Malformed returns the entries in quarantine, oldest first.
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

// Quarantined reports whether an entry is still in quarantine.
func (t *Tx) Quarantined(seq uint64) (bool, error) {
	_, ok, err := t.get(keyOf(kindMalformed, u64(seq)))
	return ok, err
}

// DropMalformed removes an entry from quarantine, with the blob of its whole
// message. If there is no such entry, it returns nil.
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
