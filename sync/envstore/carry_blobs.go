package envstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// carryBlobs uploads the store's blobs, and deletes at the remote the blobs
// that were deleted here. again is the content of the file again from before
// the deltas were pushed.
func (c *Carrier) carryBlobs(ctx context.Context, again []looked) error {
	blobs, err := c.store.folder.blobs()
	if err != nil {
		return err
	}
	if err := c.deleteBlobs(ctx, blobs); err != nil {
		return err
	}
	if c.metered(ctx) {
		return nil
	}
	has := setOf(c.st.Blobs)
	due, err := c.inOrder(ctx, slices.DeleteFunc(slices.Clone(blobs), func(id envelope.Hash) bool { return has[id] }))
	if err != nil {
		return err
	}
	var bad error      // errors of single blobs; the others are still sent
	var tooLarge int64 // the remote has no room for blobs of at least this size, in bytes; 0: unknown
	for _, id := range due {
		if c.metered(ctx) { // since the last blob
			return bad
		}
		size := c.store.folder.sizeOf(id)
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
	return errors.Join(bad, c.askForBlobs(ctx, again, setOf(blobs)))
}

func (c *Carrier) metered(ctx context.Context) bool { return c.Metered != nil && c.Metered(ctx) }

// holdsAlone reports whether err concerns only one blob.
func holdsAlone(err error) bool {
	return errors.Is(err, memory.ErrDamaged) || errors.Is(err, replica.ErrUnreadable) || errors.Is(err, replica.ErrNoRoom) || errors.Is(err, replica.ErrRefused)
}

// inOrder sorts blobs for the upload: first the blobs that UploadFirst returns, then
// by size, the smallest first.
func (c *Carrier) inOrder(ctx context.Context, due []envelope.Hash) ([]envelope.Hash, error) {
	c.store.folder.bySize(due)
	if c.UploadFirst == nil || len(due) < 2 {
		return due, nil
	}
	first, err := c.UploadFirst(ctx, due)
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

// askForBlobs asks the remote for the blobs in again once more. The remote claimed
// to have them before it got a delta that names them. askForBlobs uploads those
// that it has lost since.
func (c *Carrier) askForBlobs(ctx context.Context, again []looked, here map[envelope.Hash]bool) error {
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
		case errors.Is(err, memory.ErrDamaged): // a check or a repair reports it
		case holdsAlone(err):
			bad = errors.Join(bad, err)
		case err != nil:
			return err
		}
	}
	if bad != nil { // the next round asks for it again
		return bad
	}
	c.st.Again = last
	return nil
}

// deleteBlobs deletes at the remote the blobs that were deleted here, but not
// those whose files were lost. It first reads the remote's deltas to the end,
// because a member may have named a blob again. It deletes nothing while this
// device's replica has not read those deltas.
func (c *Carrier) deleteBlobs(ctx context.Context, blobs []envelope.Hash) error {
	c.waits = false
	deleted, err := c.store.deleted()
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
	if c.NamedBlobs != nil {
		_, end := c.store.Position()
		var heard uint64
		if named, heard, err = c.NamedBlobs(ctx); err != nil {
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
		err := c.Remote.DeleteBlob(ctx, id, &at)
		if errors.Is(err, replica.ErrConflict) {
			c.waits = true
			return nil
		}
		if err != nil && !errors.Is(err, replica.ErrForbidden) {
			return fmt.Errorf("%s: delete blob: %w", c.Name, err)
		}
		if err != nil && c.Owner {
			continue // the next round tries again
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

// upload uploads a blob if the remote does not have it. If the bytes on this
// disk are damaged, upload sends nothing and returns [memory.ErrDamaged].
func (c *Carrier) upload(ctx context.Context, id envelope.Hash) error {
	f, err := c.store.folder.openBlob(id)
	if err != nil {
		return fmt.Errorf("%s: blob %s: %w: %w", c.Name, id, replica.ErrUnreadable, err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return fmt.Errorf("%s: blob %s: %w: %w", c.Name, id, replica.ErrUnreadable, err)
	}
	if is := envelope.Hash(sum.Sum(nil)); is != id {
		return fmt.Errorf("%s: blob %s: %w: the bytes in the store are of %s", c.Name, id, memory.ErrDamaged, is)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	sent, err := c.Remote.Upload(ctx, f)
	if err == nil && sent != id {
		err = fmt.Errorf("%w: the bytes in the store are of %s", memory.ErrDamaged, sent)
	}
	if err != nil {
		return fmt.Errorf("%s: blob %s: %w", c.Name, id, err)
	}
	return nil
}

// Download downloads a blob from the remote into the store, so that another remote
// can get it. If the store has the blob, Download returns nil.
func (c *Carrier) Download(ctx context.Context, id envelope.Hash, limit int64) error {
	if f, err := c.store.folder.openBlob(id); err == nil {
		return f.Close()
	}
	f, err := os.CreateTemp(c.store.root, ".blob.tmp*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := c.Remote.Download(ctx, id, f, limit); err != nil {
		return fmt.Errorf("%s: blob %s: %w", c.Name, id, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return c.store.folder.putBlob(id, f, limit)
}

// provenPiece is the number of bytes of a blob that Prove requests from the remote.
const provenPiece = 4096

// Prove makes sure that the remote has a blob of the store: it uploads the blob if
// the remote lacks it, and has the remote show a piece at a random offset. It does not rely on what
// the standing says about the blob. If the remote shows something else, an owner replaces the
// remote's copy. The error is [replica.ErrBlob] if the remote shows something else even then, and
// [fs.ErrNotExist] if the store lacks the blob.
func (c *Carrier) Prove(ctx context.Context, id envelope.Hash) error {
	if err := c.upload(ctx, id); err != nil {
		return err
	}
	err := c.shows(ctx, id)
	if c.Owner && (errors.Is(err, replica.ErrBlob) || errors.Is(err, replica.ErrNotFound)) {
		if err := c.Remote.DeleteBlob(ctx, id, nil); err != nil { // it takes no blob that it believes to have
			return fmt.Errorf("%s: blob %s: %w", c.Name, id, err)
		}
		if err := c.upload(ctx, id); err != nil {
			return err
		}
		err = c.shows(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("%s: blob %s: %w", c.Name, id, err)
	}
	return nil
}

func (c *Carrier) shows(ctx context.Context, id envelope.Hash) error {
	f, err := c.store.folder.openBlob(id)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	want := make([]byte, min(provenPiece, info.Size()))
	from := rand.Int64N(info.Size() - int64(len(want)) + 1)
	if _, err := f.ReadAt(want, from); err != nil {
		return err
	}
	got, err := c.Remote.Piece(ctx, id, from, int64(len(want)), info.Size())
	if err == nil && !bytes.Equal(got, want) {
		err = fmt.Errorf("%w: %d bytes from %d on", replica.ErrBlob, len(want), from)
	}
	return err
}
