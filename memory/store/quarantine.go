package store

import (
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Limits of the quarantine. Beyond them, the oldest entry of the source with the most entries is
// removed. A source is a device, or whatever else a topic begins with. Entries that can be tried
// again are not counted, and stay, because a device was told that they are safe.
const (
	MaxQuarantined     = 1000
	MaxQuarantinedData = 4 << 10 // bytes of the Data of one entry
)

// Quarantined is input that broke a rule and is kept for inspection.
type Quarantined struct {
	Seq    uint64    `json:"-"`
	At     time.Time `json:"at"`
	Topic  string    `json:"topic"`
	Reason string    `json:"reason"`
	Size   int       `json:"size"`          // of the whole message, in bytes
	Data   []byte    `json:"data"`          // the beginning of the message, up to MaxQuarantinedData bytes
	Blob   memory.ID `json:"blob,omitzero"` // the blob with the whole message, if there is one
	// Again is what the component that quarantined the input needs to try it
	// again, besides the content. nil means that it can't be tried again.
	Again []byte `json:"again,omitempty"`
}

// Quarantine stores malformed input. It truncates long data, and sets Size if
// that is 0.
func (t *Tx) Quarantine(m Quarantined) error {
	if t.state == nil {
		return errReadOnly
	}
	if m.Size == 0 {
		m.Size = len(m.Data)
	}
	m.Data = m.Data[:min(len(m.Data), MaxQuarantinedData)]
	m.Topic = m.Topic[:min(len(m.Topic), MaxQuarantinedData)]
	seq := &t.state.head.Seq.Quarantined
	*seq++
	if err := t.save(keyOf(kindQuarantined, u64(*seq)), m); err != nil {
		return err
	}
	if m.Again != nil {
		return nil
	}
	return t.shareQuarantine(m.source(), *seq)
}

func (m *Quarantined) source() string {
	source, _, _ := strings.Cut(m.Topic, "/")
	return source
}

// quarantineMeta has the entries that count, by source, each list with the oldest first.
// Some may have been dropped since.
const quarantineMeta = "quarantine"

// shareQuarantine counts a new entry, and removes those beyond the limits.
func (t *Tx) shareQuarantine(source string, seq uint64) error {
	of := map[string][]uint64{}
	known, err := t.Meta(quarantineMeta, &of)
	if err != nil && !errors.Is(err, memory.ErrDamaged) {
		return err
	}
	if known && err == nil {
		of[source] = append(of[source], seq)
	} else { // written by a version that did not count by source
		of = map[string][]uint64{}
		for m, err := range t.Quarantined() {
			if err == nil && m.Again == nil {
				of[m.source()] = append(of[m.source()], m.Seq)
			}
		}
	}
	n := 0
	for _, seqs := range of {
		n += len(seqs)
	}
	for ; n > MaxQuarantined; n-- {
		var most string
		var have []uint64
		for s, seqs := range of {
			if len(seqs) > len(have) || len(seqs) == len(have) && seqs[0] < have[0] {
				most, have = s, seqs
			}
		}
		if err := t.DropQuarantined(have[0]); err != nil {
			return err
		}
		if of[most] = have[1:]; len(have) == 1 {
			delete(of, most)
		}
	}
	return t.PutMeta(quarantineMeta, of)
}

func (t *Tx) delQuarantined(key []byte, m *Quarantined) error {
	if !m.Blob.IsZero() {
		if err := t.DeleteBlob(m.Blob); err != nil {
			return err
		}
	}
	return t.del(key)
}

// Quarantined returns the entries in quarantine, oldest first.
func (t *Tx) Quarantined() iter.Seq2[Quarantined, error] {
	return each(t, keyOf(kindQuarantined), nil, false, func(e entry) (Quarantined, error) {
		m, err := decode[Quarantined](e.key, e.plain)
		m.Seq = seqOf(e.key)
		return m, err
	})
}

// InQuarantine reports whether an entry is still in quarantine.
func (t *Tx) InQuarantine(seq uint64) (bool, error) {
	_, ok, err := t.get(keyOf(kindQuarantined, u64(seq)))
	return ok, err
}

// DropQuarantined removes an entry from quarantine, with the blob of its whole
// message. If there is no such entry, it returns nil.
func (t *Tx) DropQuarantined(seq uint64) error {
	if t.state == nil {
		return errReadOnly
	}
	key := keyOf(kindQuarantined, u64(seq))
	m, ok, err := load[Quarantined](t, key)
	if err != nil || !ok {
		return err
	}
	return t.delQuarantined(key, &m)
}
