package store

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/locket-dev/locket/memory"
)

// Small records that a caller names. The name stands in the key as a MAC, and
// in clear within the sealed value.

type cursorRecord struct {
	Name string `json:"n"`
	At   uint64 `json:"a"`
}

type metaRecord struct {
	Name  string          `json:"n"`
	Value cbor.RawMessage `json:"v"`
}

func (t *Tx) namedKey(k kind, name string) ([]byte, error) {
	if name == "" || len(name) > memory.MaxName {
		return nil, fmt.Errorf("%w: name: %d bytes, want 1 to %d", memory.ErrInvalid, len(name), memory.MaxName)
	}
	return keyOf(k, t.store.secrets.mac16("name", []byte(name))), nil
}

// SetCursor remembers how far something got.
func (t *Tx) SetCursor(name string, at uint64) error {
	key, err := t.namedKey(kindCursor, name)
	if err != nil {
		return err
	}
	return t.save(key, cursorRecord{name, at})
}

// Cursor gives what SetCursor was told last, 0 where it wasn't.
func (t *Tx) Cursor(name string) (uint64, error) {
	key, err := t.namedKey(kindCursor, name)
	if err != nil {
		return 0, err
	}
	r, _, err := load[cursorRecord](t, key)
	return r.At, err
}

// PutMeta keeps a small value, which is encoded as CBOR by its JSON tags.
func (t *Tx) PutMeta(name string, value any) error {
	key, plain, err := t.metaOf(name, value)
	if err != nil {
		return err
	}
	return t.put(key, plain)
}

// FitsMeta is what PutMeta would say of a value's size: [memory.ErrInvalid] where it
// is too large. Nothing is written.
func (t *Tx) FitsMeta(name string, value any) error {
	key, plain, err := t.metaOf(name, value)
	if err != nil {
		return err
	}
	return fits(key, plain)
}

func (t *Tx) metaOf(name string, value any) (key, plain []byte, err error) {
	if key, err = t.namedKey(kindMeta, name); err != nil {
		return nil, nil, err
	}
	if plain, err = encode(value); err != nil {
		return nil, nil, err
	}
	plain, err = encode(metaRecord{name, plain})
	return key, plain, err
}

// Meta fills value, a pointer, with what PutMeta kept; ok is false, and value
// as it was, where there is nothing.
func (t *Tx) Meta(name string, value any) (ok bool, err error) {
	key, err := t.namedKey(kindMeta, name)
	if err != nil {
		return false, err
	}
	r, ok, err := load[metaRecord](t, key)
	if err != nil || !ok {
		return false, err
	}
	if err := decoding.Unmarshal(r.Value, value); err != nil {
		return false, fmt.Errorf("store: meta %q into %T: %w", name, value, err)
	}
	return true, nil
}

// MetaNames gives the names of the small values that begin with a prefix, in no
// order that means anything. It reads all of them.
func (t *Tx) MetaNames(prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for e, err := range t.scan(keyOf(kindMeta), nil, false) {
			var r metaRecord
			if err == nil {
				r, err = decode[metaRecord](e.key, e.plain)
			}
			if err == nil && !strings.HasPrefix(r.Name, prefix) {
				continue
			}
			if !yield(r.Name, err) || err != nil {
				return
			}
		}
	}
}

// DeleteMeta removes a value; none there is no error.
func (t *Tx) DeleteMeta(name string) error {
	key, err := t.namedKey(kindMeta, name)
	if err != nil {
		return err
	}
	return t.del(key)
}

// Device is a wearable that may connect.
type Device struct {
	Name        string          `json:"name"`
	Credentials []byte          `json:"credentials"` // a hash, never the password
	Description memory.Metadata `json:"description,omitempty"`
	Added       time.Time       `json:"added"`
	Seen        time.Time       `json:"seen,omitzero"`
	Disabled    bool            `json:"disabled,omitempty"`
}

// PutDevice writes a device, or replaces the one of its name.
func (t *Tx) PutDevice(d Device) error {
	key, err := t.namedKey(kindDevice, d.Name)
	if err != nil {
		return err
	}
	return t.save(key, d)
}

// Device gives one by name, or [memory.ErrNotFound].
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

// DeleteDevice removes a device; none there is no error.
func (t *Tx) DeleteDevice(name string) error {
	key, err := t.namedKey(kindDevice, name)
	if err != nil {
		return err
	}
	return t.del(key)
}

// Devices gives all, in no order that means anything.
func (t *Tx) Devices() iter.Seq2[Device, error] {
	return func(yield func(Device, error) bool) {
		for e, err := range t.scan(keyOf(kindDevice), nil, false) {
			var d Device
			if err == nil {
				d, err = decode[Device](e.key, e.plain)
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}
