package envstore

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// carryBlobs gives the place the blobs that are on the shelf, and takes from it
// those that were deleted here. again is how much of the shelf's list of that name
// was there before the place was given the deltas.
func (c *Carrier) carryBlobs(ctx context.Context, again []looked) error {
	blobs, err := c.shelf.folder.blobs()
	if err != nil {
		return err
	}
	if err := c.deleteBlobs(ctx, blobs); err != nil {
		return err
	}
	if c.Metered != nil && c.Metered() {
		return nil
	}
	has := setOf(c.st.Blobs)
	due, err := c.inOrder(ctx, slices.DeleteFunc(slices.Clone(blobs), func(id envelope.Hash) bool { return has[id] }))
	if err != nil {
		return err
	}
	var bad error      // those that can't go now, which hold up none of the others
	var tooLarge int64 // 0, or the size from which on there is no room
	for _, id := range due {
		size := c.shelf.folder.sizeOf(id)
		if tooLarge > 0 && size >= tooLarge {
			continue
		}
		err := c.upload(ctx, id)
		if errors.Is(err, replica.ErrNoRoom) {
			tooLarge = max(size, 1)
		}
		if holdsAlone(err) {
			bad = errors.Join(bad, err)
			continue
		}
		if err != nil {
			return errors.Join(bad, err)
		}
		c.st.Blobs = append(c.st.Blobs, id)
	}
	return errors.Join(bad, c.askAgain(ctx, again, setOf(blobs)))
}

// holdsAlone reports whether what keeps a blob from going keeps no other from it.
func holdsAlone(err error) bool {
	for _, alone := range []error{memory.ErrDamaged, replica.ErrUnreadable, replica.ErrNoRoom, replica.ErrRefused} {
		if errors.Is(err, alone) {
			return true
		}
	}
	return false
}

// inOrder gives blobs as they go: a photo before an hour of sound, and those that
// are first before both.
func (c *Carrier) inOrder(ctx context.Context, due []envelope.Hash) ([]envelope.Hash, error) {
	c.shelf.folder.bySize(due)
	if c.First == nil || len(due) < 2 {
		return due, nil
	}
	first, err := c.First(ctx, due)
	if err != nil {
		return nil, err
	}
	var ahead, after []envelope.Hash
	for _, id := range due {
		if first[id] {
			ahead = append(ahead, id)
		} else {
			after = append(after, id)
		}
	}
	return append(ahead, after...), nil
}

// askAgain asks the place for blobs that it was said to have before it was given
// a delta that names them, and gives it those that were taken from it since.
func (c *Carrier) askAgain(ctx context.Context, again []looked, here map[envelope.Hash]bool) error {
	asked := map[envelope.Hash]bool{}
	var bad error
	last := 0
	for _, l := range again {
		id := l.id
		if last = l.n; last <= c.st.Again || asked[id] || !here[id] {
			continue
		}
		asked[id] = true
		err := c.upload(ctx, id)
		switch {
		case errors.Is(err, memory.ErrDamaged): // that was named, or will be by a repair
		case holdsAlone(err):
			bad = errors.Join(bad, err)
		case err != nil:
			return err
		}
	}
	if bad != nil { // it is asked once more
		return bad
	}
	c.st.Again = last
	return nil
}

// deleteBlobs takes from the place what was deleted here, not what is lost here.
// The place is heard to its end first: what somebody has named there since stays,
// and where this device's replica has not heard of it yet, the deletion waits.
func (c *Carrier) deleteBlobs(ctx context.Context, blobs []envelope.Hash) error {
	c.waits = false
	deleted, err := c.shelf.deleted()
	if err != nil {
		return err
	}
	here, isDeleted := setOf(blobs), setOf(deleted)
	c.st.Unblobbed = slices.DeleteFunc(c.st.Unblobbed, func(id envelope.Hash) bool { return !isDeleted[id] })
	done := map[envelope.Hash]int{}
	for _, id := range c.st.Unblobbed {
		done[id]++
	}
	due := slices.DeleteFunc(deleted, func(id envelope.Hash) bool {
		done[id]--
		return here[id] || done[id] >= 0
	})
	if len(due) == 0 {
		return nil
	}
	if err := c.pull(ctx); err != nil {
		return err
	}
	named := map[envelope.Hash]bool{}
	if c.Named != nil {
		_, end := c.shelf.At()
		var heard uint64
		if named, heard, err = c.Named(ctx); err != nil {
			return err
		}
		if c.waits = heard < end; c.waits {
			return nil
		}
	}
	at := c.st.Cursor
	for _, id := range due {
		if named[id] {
			continue
		}
		err := c.At.DeleteBlob(ctx, id, &at)
		if errors.Is(err, replica.ErrConflict) {
			c.waits = true
			return nil
		}
		if err != nil && !errors.Is(err, replica.ErrForbidden) {
			return fmt.Errorf("%s: delete blob: %w", c.Name, err)
		}
		if err != nil && c.Owner {
			continue // it is asked again
		}
		c.st.Unblobbed = append(c.st.Unblobbed, id)
		c.st.Blobs = slices.DeleteFunc(c.st.Blobs, func(h envelope.Hash) bool { return h == id })
	}
	return nil
}

func setOf(ids []envelope.Hash) map[envelope.Hash]bool {
	out := make(map[envelope.Hash]bool, len(ids))
	for _, id := range ids {
		out[id] = true
	}
	return out
}

// upload gives the place a blob, where it has not got it. [memory.ErrDamaged], and
// nothing was given: the bytes on the shelf are others.
func (c *Carrier) upload(ctx context.Context, id envelope.Hash) error {
	f, err := c.shelf.folder.openBlob(id)
	if err != nil {
		return fmt.Errorf("%s: blob %s: %w: %w", c.Name, id, replica.ErrUnreadable, err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return fmt.Errorf("%s: blob %s: %w: %w", c.Name, id, replica.ErrUnreadable, err)
	}
	if is := envelope.Hash(sum.Sum(nil)); is != id {
		return fmt.Errorf("%s: blob %s: %w: the bytes on the shelf are of %s", c.Name, id, memory.ErrDamaged, is)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	sent, err := c.At.Upload(ctx, f)
	if err == nil && sent != id {
		err = fmt.Errorf("%w: the bytes on the shelf are of %s", memory.ErrDamaged, sent)
	}
	if err != nil {
		return fmt.Errorf("%s: blob %s: %w", c.Name, id, err)
	}
	return nil
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
