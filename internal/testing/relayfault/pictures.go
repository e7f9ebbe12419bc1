package relayfault

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/envelope"
)

// pictures checks that the relay has each picture that a device has and a note names, and no other.
func (w *world) pictures() error {
	named, _, err := w.living()[0].ledger().NamedBlobs(w.ctx)
	if err != nil {
		return err
	}
	dir := filepath.Join(w.relay.dir, "blobs", w.space.id.String())
	for _, d := range w.living() {
		for _, b := range w.blobs {
			note, err := d.journal.RemoteBlob(w.ctx, b.name)
			if errors.Is(err, memory.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			f, _, err := d.journal.OpenBlob(w.ctx, b.name)
			if errors.Is(err, memory.ErrNotFound) && !b.cooled {
				continue
			}
			if err == nil {
				err = f.Close()
			}
			if err != nil && !errors.Is(err, memory.ErrNotFound) {
				return err
			}
			w.report.Held++
			if _, err := os.Stat(filepath.Join(dir, note.Sealed.String())); err != nil {
				return fmt.Errorf("%s names the picture of %d, which it has or was shown, and the relay has not: %w", d.name, b.owner[0], err)
			}
		}
	}
	// Only the sender knew what was sent by a device that was removed, is not an owner, or was
	// restored.
	if slices.ContainsFunc(w.devices, func(d *device) bool { return d.removed || d.restored || d.role != envelope.Owner }) {
		return nil
	}
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, f := range files {
		var id envelope.Hash
		if id.UnmarshalText([]byte(f.Name())) == nil && !named[id] {
			return fmt.Errorf("the relay has blob %s, which nobody names", id)
		}
	}
	w.report.Pictures++
	return err
}

func (w *world) sameBlob(d *device, b *blob) error {
	return d.store.View(w.ctx, func(tx *store.Tx) error { return w.sameBlobIn(tx, d, b) })
}

// sameBlobIn checks that a device's blob is unchanged.
func (w *world) sameBlobIn(tx *store.Tx, d *device, b *blob) error {
	r, err := tx.OpenBlob(b.name)
	if errors.Is(err, memory.ErrNotFound) {
		return nil // it was never fetched
	}
	if err != nil {
		return err
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, b.bytes) {
		return fmt.Errorf("%s has another blob than %s kept: %d bytes of %d, %v", d.name, b.by.name, len(got), len(b.bytes), err)
	}
	if erased, err := gone(tx, b.owner); err != nil || erased {
		return errors.Join(err, fmt.Errorf("%s still has the blob of a memory that was erased", d.name))
	}
	return nil
}
