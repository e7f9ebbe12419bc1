package relayfault

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/claim"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

// blob is a memory's picture.
type blob struct {
	by      *device
	name    memory.ID
	owner   memory.ID
	bytes   []byte
	excused bool
	cooled  bool // a device has dropped its bytes, after the relay had shown that it has them
}

// picture makes a device store a blob for a memory.
func (w *world) picture(d *device) error {
	unique := word()
	b := &blob{by: d, owner: memory.ID{byte(1 + w.rng.IntN(6))}, bytes: bytes.Repeat([]byte("picture "+unique+" "), 20+w.rng.IntN(3))}
	if len(w.blobs) > 0 && w.rng.IntN(2) == 0 { // the same as an earlier one, perhaps of another device
		b.bytes = w.blobs[w.rng.IntN(len(w.blobs))].bytes
	}
	erased := false
	err := d.store.View(w.ctx, func(tx *store.Tx) (err error) {
		erased, err = gone(tx, b.owner)
		return err
	})
	if err != nil || erased {
		return err
	}
	kept, err := d.store.WriteBlob(w.ctx, bytes.NewReader(b.bytes))
	if err != nil {
		return err
	}
	b.name = kept.ID
	err = d.store.Update(w.ctx, func(tx *store.Tx) error { return tx.KeepBlob(kept, b.owner) })
	w.tell("%s: blob of %d: %v", d.name, b.owner[0], err)
	if err == nil {
		w.blobs = append(w.blobs, b)
	}
	return err
}

// cool makes a device drop the bytes of a picture, like a node that needs the room.
func (w *world) cool(d *device) error {
	for _, b := range w.blobs {
		note, err := d.journal.RemoteBlob(w.ctx, b.name)
		if errors.Is(err, memory.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		shown, err := replica.ShowsBlob(w.ctx, upstream.New(d.at, ""), note, func() (io.ReadCloser, error) {
			f, _, err := d.journal.OpenBlob(w.ctx, b.name)
			return f, err
		})
		if errors.Is(err, memory.ErrNotFound) {
			continue
		}
		if err != nil || !(claim.Bytes{Noted: true, Shown: shown}).MayGo() {
			w.tell("%s: the relay does not show a picture: %v", d.name, err)
			return w.named(d, err)
		}
		gone := false
		err = d.store.Update(w.ctx, func(tx *store.Tx) (err error) { gone, err = tx.CoolBlob(b.name); return err })
		if gone {
			w.tell("%s: cooled a picture of %d", d.name, b.owner[0])
			b.cooled = true
		}
		if gone || err != nil {
			return err
		}
	}
	return nil
}

// fetch makes a device ask for a blob. What it stores must be that one.
func (w *world) fetch(d *device) error {
	if len(w.blobs) == 0 {
		return nil
	}
	b := w.blobs[w.rng.IntN(len(w.blobs))]
	err := d.rep.FetchBlob(w.ctx, b.name)
	w.tell("%s: fetch: %v", d.name, err)
	if err != nil {
		if errors.Is(err, memory.ErrNotFound) {
			return nil
		}
		return w.named(d, err)
	}
	return w.sameBlob(d, b)
}

// restore restores a device from its backup. What it had not sent is lost with its disk.
func (w *world) restore(d *device) error {
	if !d.backup {
		return w.change(d)
	}
	unsent := map[memory.Dot]bool{}
	utterances := map[memory.ID]bool{}
	erasing := false
	err := d.store.View(w.ctx, func(tx *store.Tx) error {
		for o, err := range tx.Outbox(0) {
			if err != nil {
				return err
			}
			switch {
			case o.Assertion != nil:
				unsent[o.Assertion.Dot] = true
			case o.Utterance != nil:
				utterances[o.Utterance.ID] = true
			case o.Forget != nil:
				erasing = true
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range w.said {
		forgotten := erasing && slices.ContainsFunc(w.erased, func(e *said) bool { return e.by == d && e.id == s.id })
		if s.by == d && (unsent[s.dot] || s.utter && utterances[s.id] || forgotten) {
			s.excused = true
		}
	}
	if erasing {
		for _, s := range w.erased {
			s.excused = s.excused || s.by == d
		}
	}
	for _, b := range w.blobs {
		b.excused = b.excused || b.by == d
	}
	w.report.Restored++
	w.tell("%s: put back from the backup", d.name)
	return d.putBack()
}
