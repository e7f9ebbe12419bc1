package shelf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// carryBlobs gives the place the blobs that are on the shelf.
func (c *Carrier) carryBlobs(ctx context.Context) error {
	blobs, err := c.shelf.folder.blobs()
	if err != nil {
		return err
	}
	deleted, err := c.shelf.deleted()
	if err != nil {
		return err
	}
	var left []envelope.Hash // of those that it has, what was not deleted here
	for _, id := range c.st.Blobs {
		if slices.Contains(blobs, id) || !slices.Contains(deleted, id) {
			left = append(left, id)
			continue
		}
		if err := c.At.DeleteBlob(ctx, id, nil); err != nil && !errors.Is(err, replica.ErrForbidden) {
			return fmt.Errorf("%s: delete blob: %w", c.Name, err)
		}
	}
	c.st.Blobs = left
	if c.Metered != nil && c.Metered() {
		return nil
	}
	c.shelf.folder.bySize(blobs) // a photo comes before an hour of sound
	for _, id := range blobs {
		if slices.Contains(c.st.Blobs, id) {
			continue
		}
		if err := c.upload(ctx, id); err != nil {
			return fmt.Errorf("%s: blob %s: %w", c.Name, id, err)
		}
		c.st.Blobs = append(c.st.Blobs, id)
	}
	return nil
}

func (c *Carrier) upload(ctx context.Context, id envelope.Hash) error {
	f, err := c.shelf.folder.openBlob(id)
	if err != nil {
		return err
	}
	defer f.Close()
	sent, err := c.At.Upload(ctx, f)
	if err == nil && sent != id {
		err = fmt.Errorf("%w: the bytes on the shelf are of %s", memory.ErrDamaged, sent)
	}
	return err
}

// Bring has a blob on the shelf that the place has, so that another place can
// be given it. One that is there already is no error.
func (c *Carrier) Bring(ctx context.Context, id envelope.Hash, limit int64) error {
	if f, err := c.shelf.folder.openBlob(id); err == nil {
		return f.Close()
	}
	f, err := os.CreateTemp(c.shelf.root, ".blob.tmp*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := c.At.Download(ctx, id, f, limit); err != nil {
		return fmt.Errorf("%s: blob %s: %w", c.Name, id, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return c.shelf.folder.putBlob(id, f, limit)
}
