package archive

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
)

const (
	accountsAtOnce = 100
	entriesAtOnce  = 64
	deltasAtOnce   = 256
	blobsAtOnce    = 256
	pageSize       = 4 << 20
	pieceSize      = 1 << 20
)

// Count says how much was backed up or restored.
type Count struct {
	Accounts int64 `json:"accounts"`
	Spaces   int64 `json:"spaces"`
	Entries  int64 `json:"log_entries"`
	Deltas   int64 `json:"deltas"`
	Blobs    int64 `json:"blobs"`
	Bytes    int64 `json:"blob_bytes"`
	Gone     int64 `json:"blobs_gone"` // blobs that were deleted since the snapshot, or that are incomplete
}

// Backup writes a snapshot of a store as an archive.
func Backup(ctx context.Context, from relay.Snapshot, to io.Writer) (Count, error) {
	w, err := newWriter(to)
	if err != nil {
		return Count{}, fmt.Errorf("backup: %w", err)
	}
	b := &backup{from: from, w: w}
	if err := b.run(ctx); err != nil {
		return b.Count, fmt.Errorf("backup: %w", err)
	}
	return b.Count, nil
}

type backup struct {
	Count
	from relay.Snapshot
	w    *writer
}

func (b *backup) run(ctx context.Context) error {
	invites, err := b.from.Invites(ctx)
	if err != nil {
		return err
	}
	for _, i := range invites {
		if err := b.w.put(kindInvite, invite{Hash: i.Hash, Used: i.Used}); err != nil {
			return err
		}
	}
	var last relay.AccountID
	for {
		some, err := b.from.Accounts(ctx, last, accountsAtOnce)
		if err != nil {
			return err
		}
		if len(some) == 0 {
			return b.w.end()
		}
		for _, a := range some {
			if err := b.account(ctx, a); err != nil {
				return err
			}
		}
		last = some[len(some)-1].ID
	}
}

func (b *backup) account(ctx context.Context, a relay.Account) error {
	b.Accounts++
	if err := b.w.put(kindAccount, account{ID: a.ID, Spaces: uint64(len(a.Spaces))}); err != nil {
		return err
	}
	for _, id := range a.Spaces {
		if err := b.space(ctx, id); err != nil {
			return fmt.Errorf("space %s: %w", id, err)
		}
	}
	return nil
}

func (b *backup) space(ctx context.Context, id memory.SpaceID) error {
	head, err := b.from.Space(ctx, id)
	if err != nil {
		return err
	}
	b.Spaces++
	if err := b.w.put(kindSpace, space{ID: id, Account: head.Account, Entries: head.LogN, Cursor: head.Cursor}); err != nil {
		return err
	}
	for n := uint64(0); n < head.LogN; {
		some, err := b.from.Log(ctx, id, n, entriesAtOnce)
		if err != nil {
			return err
		}
		if len(some) == 0 {
			return fmt.Errorf("log entries after %d: %w", n, relay.ErrNotFound)
		}
		for _, e := range some {
			if err := b.w.put(kindEntry, e); err != nil {
				return err
			}
		}
		n += uint64(len(some))
		b.Entries += int64(len(some))
	}
	for cursor := uint64(0); cursor < head.Cursor; {
		some, err := b.from.After(ctx, id, cursor, deltasAtOnce, pageSize)
		if err != nil {
			return err
		}
		if len(some) == 0 {
			return fmt.Errorf("deltas after %d: %w", cursor, relay.ErrNotFound)
		}
		for _, d := range some {
			if err := b.w.put(kindDelta, d.Delta); err != nil {
				return err
			}
			cursor = d.Cursor
		}
		b.Deltas += int64(len(some))
	}
	records, err := b.from.Records(ctx, id)
	if err != nil {
		return err
	}
	for _, r := range records {
		if err := b.w.put(kindRecord, record{ID: r.ID, About: r.About, Bytes: r.Bytes}); err != nil {
			return err
		}
	}
	return b.blobs(ctx, id)
}

func (b *backup) blobs(ctx context.Context, id memory.SpaceID) error {
	var last relay.BlobID
	for {
		some, err := b.from.StoredBlobs(ctx, id, last, blobsAtOnce)
		if err != nil || len(some) == 0 {
			return err
		}
		for _, s := range some {
			if err := b.blob(ctx, id, s); err != nil {
				return fmt.Errorf("blob %s: %w", s.ID, err)
			}
			last = s.ID
		}
	}
}

func (b *backup) blob(ctx context.Context, id memory.SpaceID, s relay.StoredBlob) error {
	r, size, err := b.from.OpenBlob(ctx, id, s.ID)
	if errors.Is(err, relay.ErrNotFound) {
		b.Gone++
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	if size != s.Size {
		return fmt.Errorf("it has %d bytes, and should have %d", size, s.Size)
	}
	if err := b.w.put(kindBlob, blob{ID: s.ID, Author: s.Author, Size: s.Size}); err != nil {
		return err
	}
	piece := make([]byte, pieceSize)
	for left := size; left > 0; {
		n, err := io.ReadFull(r, piece[:min(left, pieceSize)])
		if err != nil {
			if gone := b.checkDeleted(ctx, id, s.ID); !errors.Is(gone, relay.ErrNotFound) {
				return errors.Join(err, gone)
			}
			b.Gone++
			return b.w.put(kindVoid, s.ID)
		}
		if err := b.w.put(kindChunk, piece[:n]); err != nil {
			return err
		}
		left -= int64(n)
	}
	b.Blobs++
	b.Bytes += size
	return nil
}

// checkDeleted checks once more why an object could not be read to its end. It
// returns relay.ErrNotFound if the blob was deleted meanwhile.
func (b *backup) checkDeleted(ctx context.Context, space memory.SpaceID, id relay.BlobID) error {
	r, _, err := b.from.OpenBlob(ctx, space, id)
	if err != nil {
		return err
	}
	return r.Close()
}
