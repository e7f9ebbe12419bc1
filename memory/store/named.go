package store

import (
	"fmt"
	"iter"
	"strings"

	"github.com/fxamacker/cbor/v2"

	"github.com/locket-dev/locket/memory"
)

// These are small records that a caller names. The key contains a MAC of the
// name; the name itself is in the sealed value.

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

// SetCursor stores how far something has got.
func (t *Tx) SetCursor(name string, at uint64) error {
	key, err := t.namedKey(kindCursor, name)
	if err != nil {
		return err
	}
	return t.save(key, cursorRecord{name, at})
}

// Cursor returns what SetCursor stored last, or 0.
func (t *Tx) Cursor(name string) (uint64, error) {
	key, err := t.namedKey(kindCursor, name)
	if err != nil {
		return 0, err
	}
	r, _, err := load[cursorRecord](t, key)
	return r.At, err
}

// PutMeta stores a small value, encoded as CBOR with its JSON tags.
func (t *Tx) PutMeta(name string, value any) error {
	key, plain, err := t.metaOf(name, value)
	if err != nil {
		return err
	}
	return t.put(key, plain)
}

// FitsMeta returns [memory.ErrInvalid] if a value is too large for PutMeta. It
// writes nothing.
func (t *Tx) FitsMeta(name string, value any) error {
	key, plain, err := t.metaOf(name, value)
	if err != nil {
		return err
	}
	return checkSize(key, plain)
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

// Meta decodes into value, a pointer, what PutMeta stored. If there is nothing,
// ok is false and value is unchanged.
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

// MetaNames returns the names with a given prefix of all small values, in no particular order. It
// reads all small values.
func (t *Tx) MetaNames(prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for r, err := range under[metaRecord](t, keyOf(kindMeta)) {
			if err == nil && !strings.HasPrefix(r.Name, prefix) {
				continue
			}
			if !yield(r.Name, err) || err != nil {
				return
			}
		}
	}
}

// DeleteMeta removes values. It ignores names that have none.
func (t *Tx) DeleteMeta(names ...string) error {
	for _, name := range names {
		key, err := t.namedKey(kindMeta, name)
		if err != nil {
			return err
		}
		if err := t.del(key); err != nil {
			return err
		}
	}
	return nil
}
