package journal

import (
	"bytes"
	"context"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// doubted lists the sealed blobs whose presence at the relay has to be checked.
func (j *Journal) doubted() pages[envelope.Hash] { return pages[envelope.Hash]{j, "doubts"} }

func (j *Journal) doubt(tx *store.Tx, id envelope.Hash) error { return j.doubted().add(tx, id) }

func (j *Journal) RecordDoubt(ctx context.Context, id envelope.Hash) error {
	return j.Store.Update(ctx, func(tx *store.Tx) error { return j.doubt(tx, id) })
}

func (j *Journal) Doubts(ctx context.Context) (out []replica.Doubt, err error) {
	err = j.Store.View(ctx, func(tx *store.Tx) error {
		ids, err := j.doubted().all(tx)
		if err != nil || len(ids) == 0 {
			return err
		}
		var named map[envelope.Hash]*delta.Blob
		for _, id := range ids {
			b, err := j.namedBy(tx, id)
			if err == nil && b == nil && named == nil { // the list may be incomplete
				named, err = j.notesOfBlobs(tx)
			}
			if err != nil {
				return err
			}
			if b == nil {
				b = named[id]
			}
			out = append(out, replica.Doubt{Sealed: id, Note: b})
		}
		return nil
	})
	return out, err
}

// sealedNamesList returns the name of the list of blobs whose notes name one sealed blob.
func (j *Journal) sealedNamesList(id envelope.Hash) string { return j.note("names", id.String()) }

// namedBy returns a note that names a sealed blob. It looks at the list of such
// notes, and prefers a blob whose bytes are on this device. It returns nil if
// there is none.
func (j *Journal) namedBy(tx *store.Tx, sealed envelope.Hash) (by *delta.Blob, err error) {
	names, all, err := namesOf(tx, j.sealedNamesList(sealed))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		b := new(delta.Blob)
		if ok, err := tx.Meta(j.note("blob", name), b); err != nil {
			return nil, err
		} else if !ok || b.Sealed != sealed {
			continue
		}
		id, err := memory.ParseID(name)
		if err != nil {
			return nil, err
		}
		here, err := tx.HasBlob(id)
		if err != nil || here {
			return b, err
		}
		by = b
	}
	if !all { // the list is full; a blob whose bytes are here may be missing from it
		by = nil
	}
	return by, nil
}

func (j *Journal) RemoveDoubts(ctx context.Context, done []envelope.Hash) error {
	over := map[envelope.Hash]bool{}
	for _, id := range done {
		over[id] = true
	}
	return j.Store.Update(ctx, func(tx *store.Tx) error {
		return j.doubted().remove(tx, func(id envelope.Hash) bool { return over[id] })
	})
}

// notesOfBlobs returns one note for each sealed blob that a note names, preferably of
// a blob whose bytes are here.
func (j *Journal) notesOfBlobs(tx *store.Tx) (map[envelope.Hash]*delta.Blob, error) {
	out, here := map[envelope.Hash]*delta.Blob{}, map[envelope.Hash]bool{}
	for name, err := range tx.MetaNames(j.note("blob") + "/") {
		if err != nil {
			return nil, err
		}
		b := new(delta.Blob)
		if _, err := tx.Meta(name, b); err != nil {
			return nil, err
		}
		if here[b.Sealed] {
			continue
		}
		id, err := memory.ParseID(b.Name)
		if err != nil {
			return nil, err
		}
		if here[b.Sealed], err = tx.HasBlob(id); err != nil {
			return nil, err
		}
		if out[b.Sealed] == nil || here[b.Sealed] {
			out[b.Sealed] = b
		}
	}
	return out, nil
}

// NotedBlobs returns one note of each sealed blob that is named, preferably of
// a blob whose bytes are here, in the order of the hashes.
func (j *Journal) NotedBlobs(ctx context.Context) (out []delta.Blob, err error) {
	err = j.Store.View(ctx, func(tx *store.Tx) error {
		named, err := j.notesOfBlobs(tx)
		for _, b := range named {
			out = append(out, *b)
		}
		return err
	})
	sorting.Sort(out, func(a, b delta.Blob) int { return bytes.Compare(a.Sealed[:], b.Sealed[:]) })
	return out, err
}

// NamedBlobs returns the sealed blobs that notes name, and the cursor up to which
// everything was taken with its bodies. The cursor is 0 if a body that may name
// blobs is withheld.
func (j *Journal) NamedBlobs(ctx context.Context) (named map[envelope.Hash]bool, heard uint64, err error) {
	named = map[envelope.Hash]bool{}
	err = j.Store.View(ctx, func(tx *store.Tx) error {
		s, _, err := j.loadState(tx)
		if err != nil {
			return err
		}
		if s.Via == j.remoteID() {
			if lacks, err := j.lacksNames(tx, s.MissingBodies); err != nil {
				return err
			} else if !lacks {
				heard = s.Cursor
			}
		}
		notes, err := j.notesOfBlobs(tx)
		for id := range notes {
			named[id] = true
		}
		return err
	})
	return named, heard, err
}
