package store

import (
	"fmt"
	"iter"
	"os"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Owned describes a blob that belongs to a memory or an utterance.
type Owned struct {
	ID        memory.ID
	Owner     memory.ID
	Size      int64     // bytes of plaintext
	WrittenAt time.Time // when its file was written on this device
	Waits     bool      // it is in the outbox
}

// OwnedBlobs returns the blobs that have an owner and whose files are on this
// device.
func (t *Tx) OwnedBlobs() iter.Seq2[Owned, error] {
	return func(yield func(Owned, error) bool) {
		for e, err := range t.scan(keyOf(kindBlob), nil, false) {
			var r blobRecord
			if err == nil {
				r, err = decode[blobRecord](e.key, e.plain)
			}
			if err != nil {
				yield(Owned{}, err)
				return
			}
			if r.Owner.IsZero() {
				continue
			}
			o := Owned{ID: memory.ID(e.key[1:]), Owner: r.Owner, Size: r.Size}
			info, err := os.Stat(t.store.blobPath(o.ID))
			if err != nil {
				continue // Verify reports damaged ones
			}
			o.WrittenAt = info.ModTime()
			if o.Waits, err = t.posted(r.Outbox); !yield(o, err) || err != nil {
				return
			}
		}
	}
}

// CoolBlob removes a blob from this device. The caller has to know that it can
// be fetched again; it then comes back by [Tx.KeepRemoteBlob]. ok is false if
// the blob is not here, or waits in the outbox.
func (t *Tx) CoolBlob(id memory.ID) (ok bool, err error) {
	r, ok, err := load[blobRecord](t, blobKey(id))
	if err != nil || !ok {
		return false, err
	}
	if waits, err := t.posted(r.Outbox); err != nil || waits {
		return false, err
	}
	return true, t.DeleteBlob(id)
}

// HasBlob reports whether a blob is on this device.
func (t *Tx) HasBlob(id memory.ID) (bool, error) {
	_, ok, err := t.get(blobKey(id))
	return ok, err
}

// PostBlob puts a blob into the outbox that need not be on this device. The
// sender has to know where it is.
func (t *Tx) PostBlob(id, owner memory.ID) error {
	if t.state == nil {
		return errReadOnly
	}
	if id.IsZero() || owner.IsZero() {
		return fmt.Errorf("%w: store: blob %s of %s", memory.ErrInvalid, id, owner)
	}
	_, err := t.post(outboxRecord{Blob: id, Memory: owner})
	return err
}
