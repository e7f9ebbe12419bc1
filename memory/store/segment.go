package store

import (
	"fmt"
	"iter"

	"github.com/locket-dev/locket/memory"
)

// Segment is a part of the recall index, stored as a blob under a name.
type Segment struct {
	Name string    `json:"n"`
	Blob memory.ID `json:"b"`
	Size int64     `json:"s"` // bytes
	Seq  uint64    `json:"q"` // number in the document log up to which it covers
}

// PutSegment stores a segment, and replaces one of the same name. seq is the
// number of the document log up to which the segment covers.
func (t *Tx) PutSegment(name string, seq uint64, data []byte) error {
	if err := t.DeleteSegment(name); err != nil {
		return err
	}
	key, err := t.namedKey(kindSegment, name)
	if err != nil {
		return err
	}
	id, err := t.putBlob(data)
	if err != nil {
		return err
	}
	return t.save(key, Segment{Name: name, Blob: id, Size: int64(len(data)), Seq: seq})
}

// Segment returns a segment and a reader of its bytes, or [memory.ErrNotFound].
// The reader can be used after the transaction, and the caller must close it.
func (t *Tx) Segment(name string) (s Segment, r *BlobReader, err error) {
	key, err := t.namedKey(kindSegment, name)
	if err != nil {
		return s, nil, err
	}
	s, ok, err := load[Segment](t, key)
	if err == nil && !ok {
		err = fmt.Errorf("store: segment %q: %w", name, memory.ErrNotFound)
	}
	if err != nil {
		return s, nil, err
	}
	r, err = t.OpenBlob(s.Blob)
	return s, r, err
}

// Segments returns all segments, in no particular order.
func (t *Tx) Segments() iter.Seq2[Segment, error] {
	return under[Segment](t, keyOf(kindSegment))
}

// DeleteSegment removes a segment. If there is none, it returns nil.
func (t *Tx) DeleteSegment(name string) error {
	key, err := t.namedKey(kindSegment, name)
	if err != nil {
		return err
	}
	s, ok, err := load[Segment](t, key)
	if err != nil || !ok {
		return err
	}
	if err := t.DeleteBlob(s.Blob); err != nil {
		return err
	}
	return t.del(key)
}
