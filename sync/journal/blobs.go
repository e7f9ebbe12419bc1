package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

func (j *Journal) OpenBlob(ctx context.Context, name memory.ID) (r io.ReadCloser, size int64, err error) {
	err = j.Store.View(ctx, func(tx *store.Tx) error {
		b, err := tx.OpenBlob(name)
		if err == nil {
			r, size = b, b.Size()
		}
		return err
	})
	return r, size, err
}

func (j *Journal) RemoteBlob(ctx context.Context, name memory.ID) (b delta.Blob, err error) {
	err = j.Store.View(ctx, func(tx *store.Tx) error {
		ok, err := tx.Meta(j.note("blob", name.String()), &b)
		if err == nil && !ok {
			err = memory.ErrNotFound
		}
		return err
	})
	return b, err
}

func (j *Journal) KeepBlob(ctx context.Context, b delta.Blob, from io.Reader) error {
	name, err := memory.ParseID(b.Name)
	if err != nil {
		return err
	}
	kept, err := j.Store.WriteRemoteBlob(ctx, name, from)
	if err != nil {
		return err
	}
	return j.Store.Update(ctx, func(tx *store.Tx) error {
		if erased, err := tx.Erased(b.Memory); err != nil || erased {
			return errors.Join(err, fmt.Errorf("blob %s: %w: what had it was erased", name, memory.ErrNotFound))
		}
		return tx.KeepRemoteBlob(kept, b.Memory)
	})
}

// maxBlob is the greatest number of sealed bytes of a blob, the same as at a
// relay.
const maxBlob = 1 << 30

// Blobs returns every blob of the space that any member has sent, with the
// greatest number of sealed bytes that it may have.
func (j *Journal) Blobs(ctx context.Context) (map[envelope.Hash]int64, error) {
	out := map[envelope.Hash]int64{}
	err := j.Store.View(ctx, func(tx *store.Tx) error {
		for name, err := range tx.MetaNames(j.note("blob") + "/") {
			if err != nil {
				return err
			}
			var b delta.Blob
			if ok, err := tx.Meta(name, &b); err != nil {
				return err
			} else if ok {
				out[b.Sealed] = int64(min(b.Size, maxBlob))
			}
		}
		for name, err := range tx.MetaNames(j.note("sent") + "/") {
			if err != nil {
				return err
			}
			var m manifest
			if _, err := tx.Meta(name, &m); err != nil {
				return err
			}
			for _, b := range m.Blobs {
				out[b.Sealed] = maxBlob
			}
		}
		return nil
	})
	return out, err
}

// noteBlob stores the note of a blob: its hash, key and owner. It does nothing
// if the owner was erased. If the blob had another note, the blob of the old
// note is doubted.
func (j *Journal) noteBlob(tx *store.Tx, b *delta.Blob) error {
	name, err := memory.ParseID(b.Name)
	if err != nil {
		return err
	}
	if erased, err := tx.Erased(b.Memory); err != nil || erased {
		if err != nil {
			return err
		}
		return j.doubt(tx, b.Sealed)
	}
	if err := j.dropNote(tx, name.String(), b); err != nil {
		return err
	}
	if err := tx.PutMeta(j.note("blob", name.String()), b); err != nil {
		return err
	}
	if err := errors.Join(addTo(tx, j.sameKeyList(b.Key), name.String()), addTo(tx, j.sealedNamesList(b.Sealed), name.String())); err != nil || b.Memory.IsZero() {
		return err
	}
	return addTo(tx, j.ownedList(b.Memory), name.String())
}

// dropNote removes the note of a blob, or replaces it by by, and doubts the
// blob that it named.
func (j *Journal) dropNote(tx *store.Tx, name string, by *delta.Blob) error {
	var b delta.Blob
	if ok, err := tx.Meta(j.note("blob", name), &b); err != nil || !ok {
		return err
	}
	if by != nil && by.Sealed == b.Sealed && bytes.Equal(by.Key, b.Key) {
		return nil
	}
	if err := j.doubt(tx, b.Sealed); err != nil {
		return err
	}
	if err := errors.Join(removeFrom(tx, j.sameKeyList(b.Key), name), removeFrom(tx, j.sealedNamesList(b.Sealed), name)); err != nil {
		return err
	}
	return tx.DeleteMeta(j.note("blob", name))
}

// sameKeyList returns the name of the list of blobs that one key seals.
func (j *Journal) sameKeyList(key []byte) string { return j.note("alike", short(string(key))) }

// ownedList returns the name of the list of blobs that belong to a memory.
func (j *Journal) ownedList(id memory.ID) string { return j.note("owns", id.String()) }

// dropBlobs removes the notes of the blobs of these memories, and with them the
// keys.
func (j *Journal) dropBlobs(tx *store.Tx, owners []memory.ID) error {
	for _, id := range owners {
		names, err := j.ownedBy(tx, id)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := j.dropNote(tx, name, nil); err != nil {
				return err
			}
		}
		if err := tx.DeleteMeta(j.ownedList(id)); err != nil {
			return err
		}
	}
	return nil
}

// dropSomeBlobs is dropBlobs for a memory with more blobs than one transaction
// can drop. It drops as many as fit. any reports whether it dropped any.
func (j *Journal) dropSomeBlobs(tx *store.Tx, id memory.ID) (any bool, err error) {
	names, err := j.ownedBy(tx, id)
	if err != nil || len(names) <= store.SomePage {
		return false, err
	}
	for _, name := range names[:store.SomePage] {
		if err := errors.Join(j.dropNote(tx, name, nil), removeFrom(tx, j.ownedList(id), name)); err != nil {
			return false, err
		}
	}
	return true, nil
}

// ownedBy returns the names of the blobs that now belong to a memory.
func (j *Journal) ownedBy(tx *store.Tx, id memory.ID) (names []string, err error) {
	listed, all, err := namesOf(tx, j.ownedList(id))
	if err != nil {
		return nil, err
	}
	if !all {
		if listed, err = j.notedBlobNames(tx); err != nil {
			return nil, err
		}
	}
	for _, name := range listed {
		var b delta.Blob
		ok, err := tx.Meta(j.note("blob", name), &b)
		if err != nil {
			return nil, err
		}
		if ok && b.Memory == id {
			names = append(names, name)
		}
	}
	return names, nil
}

// notedBlobNames returns the names of all blobs that have a note.
func (j *Journal) notedBlobNames(tx *store.Tx) (names []string, err error) {
	prefix := j.note("blob") + "/"
	names, err = store.Collect(tx.MetaNames(prefix))
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], prefix)
	}
	return names, err
}

func (j *Journal) NotesByKey(ctx context.Context, key []byte) (out []delta.Blob, err error) {
	err = j.Store.View(ctx, func(tx *store.Tx) error {
		names, all, err := namesOf(tx, j.sameKeyList(key))
		if err == nil && !all && len(names) == 0 {
			names, err = j.notedBlobNames(tx)
		}
		if err != nil {
			return err
		}
		for _, name := range names {
			var b delta.Blob
			ok, err := tx.Meta(j.note("blob", name), &b)
			if err != nil {
				return err
			}
			if ok && bytes.Equal(b.Key, key) {
				out = append(out, b)
			}
		}
		return nil
	})
	return out, err
}

// MissingBlobs returns the blobs whose bytes are not on this device: blobs of other
// members that were never downloaded, and blobs that turned cold.
func (j *Journal) MissingBlobs(tx *store.Tx) (out []delta.Blob, err error) {
	here := map[string]bool{}
	for o, err := range tx.OwnedBlobs() {
		if err != nil {
			return nil, err
		}
		here[o.ID.String()] = true
	}
	prefix := j.note("blob") + "/"
	for name, err := range tx.MetaNames(prefix) {
		if err != nil {
			return nil, err
		}
		if here[strings.TrimPrefix(name, prefix)] {
			continue
		}
		var b delta.Blob
		ok, err := tx.Meta(name, &b)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, b)
		}
	}
	return out, nil
}

// resendBlobs puts all blobs of an owner into the outbox again. A blob that is
// not on this device is announced again by its note.
func (j *Journal) resendBlobs(tx *store.Tx, owner memory.ID) error {
	if err := tx.ResendBlobs(owner); err != nil {
		return err
	}
	names, err := j.ownedBy(tx, owner)
	if err != nil {
		return err
	}
	for _, text := range names {
		name, err := memory.ParseID(text)
		if err != nil {
			return fmt.Errorf("blobs of %s: %w: %v", owner, memory.ErrDamaged, err)
		}
		if here, err := tx.HasBlob(name); err != nil || here {
			if err != nil {
				return err
			}
			continue
		}
		if err := tx.PostBlob(name, owner); err != nil {
			return err
		}
	}
	return nil
}
