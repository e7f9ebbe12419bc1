package store

import (
	"fmt"
	"iter"
	"time"

	"github.com/locket-dev/locket/memory"
)

// coveredPage is how many entries one call of IndexCovered examines.
const coveredPage = 500

// IndexCovered records that stored segments of the index cover the log up to
// number seq. It removes entries of documents that no longer exist. One call
// does a limited amount of work; the next call continues.
func (t *Tx) IndexCovered(seq uint64) error {
	if t.state == nil {
		return errReadOnly
	}
	n, covered := 0, &t.state.head.Seq.Covered
	seq = min(seq, t.state.head.Seq.Document)
	for d, err := range t.IndexPending(*covered) {
		if err != nil {
			return err
		}
		if d.Seq > seq {
			break
		}
		if n++; n > coveredPage {
			return nil
		}
		if d.Gone {
			if err := t.del(keyOf(kindDocument, u64(d.Seq))); err != nil {
				return err
			}
		}
		*covered = d.Seq
	}
	*covered = max(*covered, seq)
	return nil
}

// ClearQuarantined empties the quarantine.
func (t *Tx) ClearQuarantined() error {
	var all []uint64
	for m, err := range t.Quarantined() {
		if err != nil {
			return err
		}
		all = append(all, m.Seq)
	}
	for _, seq := range all {
		if err := t.DropQuarantined(seq); err != nil {
			return err
		}
	}
	return nil
}

// Device is a record that an earlier version kept of each wearable. A store may still have some.
type Device struct {
	Name        string          `json:"name"`
	Credentials []byte          `json:"credentials"` // a hash, never the password
	Description memory.Metadata `json:"description,omitempty"`
	Added       time.Time       `json:"added"`
	Seen        time.Time       `json:"seen,omitzero"`
	Disabled    bool            `json:"disabled,omitempty"`
}

// Device returns a device by name, or [memory.ErrNotFound].
func (t *Tx) Device(name string) (d Device, err error) {
	key, err := t.namedKey(kindDevice, name)
	if err != nil {
		return d, err
	}
	d, ok, err := load[Device](t, key)
	if err == nil && !ok {
		err = fmt.Errorf("store: device %q: %w", name, memory.ErrNotFound)
	}
	return d, err
}

// Devices returns all devices, in no particular order.
func (t *Tx) Devices() iter.Seq2[Device, error] {
	return under[Device](t, keyOf(kindDevice))
}

// PutDevice stores a device, and replaces one of the same name.
func (t *Tx) PutDevice(d Device) error {
	key, err := t.namedKey(kindDevice, d.Name)
	if err != nil {
		return err
	}
	return t.save(key, d)
}

// DeleteDevice removes a device. If there is none, it returns nil.
func (t *Tx) DeleteDevice(name string) error {
	key, err := t.namedKey(kindDevice, name)
	if err != nil {
		return err
	}
	return t.del(key)
}

// RefusalsOf returns the refusals of one event, in the order in which they
// came.
func (t *Tx) RefusalsOf(e memory.EventID) ([]memory.Refusal, error) {
	var out []memory.Refusal
	for x, err := range t.scan(t.eventPrefix(kindRefusalEvent, e), nil, false) {
		if err != nil {
			return nil, err
		}
		r, ok, err := load[memory.Refusal](t, keyOf(kindRefusal, u64(seqOf(x.key))))
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, r)
		}
	}
	return out, nil
}

// ExpireUtterance removes an utterance whose retention has ended, and tells the
// index. Unlike [Tx.Erase], it does not keep the id: the mark of the event
// keeps the utterance from coming back. If there is none, it returns nil.
func (t *Tx) ExpireUtterance(id memory.ID) error {
	document, err := t.dropUtterance(id)
	if err != nil || document == 0 {
		return err
	}
	_, err = t.logDocument(document, Document{Kind: UtteranceDocument, ID: id, Gone: true})
	return err
}
