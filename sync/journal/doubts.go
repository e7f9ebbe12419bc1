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
func (l *Journal) doubted() pages[envelope.Hash] { return pages[envelope.Hash]{l, "doubts"} }

func (l *Journal) doubt(tx *store.Tx, id envelope.Hash) error { return l.doubted().add(tx, id) }

// Doubt implements replica.BlobJournal.
func (l *Journal) Doubt(ctx context.Context, id envelope.Hash) error {
	return l.Store.Update(ctx, func(tx *store.Tx) error { return l.doubt(tx, id) })
}

// Doubts implements replica.BlobJournal.
func (l *Journal) Doubts(ctx context.Context) (out []replica.Doubt, err error) {
	err = l.view(ctx, func(tx *store.Tx) error {
		ids, err := l.doubted().all(tx)
		if err != nil || len(ids) == 0 {
			return err
		}
		var named map[envelope.Hash]*delta.Blob
		for _, id := range ids {
			b, err := l.namedBy(tx, id)
			if err == nil && b == nil && named == nil { // the list may be incomplete
				named, err = l.named(tx)
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

// names returns the name of the list of blobs whose notes name one sealed blob.
func (l *Journal) names(id envelope.Hash) string { return l.note("names", id.String()) }

// namedBy returns a note that names a sealed blob. It looks at the list of such
// notes, and prefers a blob whose bytes are on this device. It returns nil if
// there is none.
func (l *Journal) namedBy(tx *store.Tx, sealed envelope.Hash) (by *delta.Blob, err error) {
	names, all, err := namesOf(tx, l.names(sealed))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		b := new(delta.Blob)
		if ok, err := tx.Meta(l.note("blob", name), b); err != nil {
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

// Resolve implements replica.BlobJournal.
func (l *Journal) Resolve(ctx context.Context, done []envelope.Hash) error {
	over := map[envelope.Hash]bool{}
	for _, id := range done {
		over[id] = true
	}
	return l.Store.Update(ctx, func(tx *store.Tx) error {
		return l.doubted().drop(tx, func(id envelope.Hash) bool { return over[id] })
	})
}

// named returns one note for each sealed blob that a note names, preferably of
// a blob whose bytes are here.
func (l *Journal) named(tx *store.Tx) (map[envelope.Hash]*delta.Blob, error) {
	out, here := map[envelope.Hash]*delta.Blob{}, map[envelope.Hash]bool{}
	for name, err := range tx.MetaNames(l.note("blob") + "/") {
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
func (l *Journal) NotedBlobs(ctx context.Context) (out []delta.Blob, err error) {
	err = l.view(ctx, func(tx *store.Tx) error {
		named, err := l.named(tx)
		for _, b := range named {
			out = append(out, *b)
		}
		return err
	})
	sorting.Sort(out, func(a, b delta.Blob) int { return bytes.Compare(a.Sealed[:], b.Sealed[:]) })
	return out, err
}

// Named returns the sealed blobs that notes name, and the cursor up to which
// everything was taken with its bodies. The cursor is 0 if a body that may name
// blobs is withheld.
func (l *Journal) Named(ctx context.Context) (named map[envelope.Hash]bool, heard uint64, err error) {
	named = map[envelope.Hash]bool{}
	err = l.view(ctx, func(tx *store.Tx) error {
		s, _, err := l.kept(tx)
		if err != nil {
			return err
		}
		if s.Via == l.via() {
			if lacks, err := l.lacksNames(tx, s.MissingBodies); err != nil {
				return err
			} else if !lacks {
				heard = s.Cursor
			}
		}
		notes, err := l.named(tx)
		for id := range notes {
			named[id] = true
		}
		return err
	})
	return named, heard, err
}
