package replica

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

// The parts of a snapshot are blobs that lie at the relay before its checkpoint
// does, and after the checkpoint was dropped. The state notes each part first.
// So if the process is killed in between, or does not get an answer, no part
// stays at the relay for ever, and no part of an existing checkpoint is
// deleted.

// maxNoted bounds the number of noted parts, so that the stored state stays
// well below the 256 KB of a record.
const maxNoted = 1024

// noteParts records the parts of a checkpoint that is not at the relay yet, or
// is about to be dropped. The manifest's hash comes last. nil means that there
// are none.
func (r *Replica) noteParts(ctx context.Context, parts []envelope.Hash) error {
	next := r.st.clone()
	next.Parts = parts[max(0, len(parts)-maxNoted):]
	return r.save(ctx, next)
}

// cleanUpParts handles the parts that an interrupted round noted. It deletes
// them unless their checkpoint is there; then either the relay's answer was
// lost, or the checkpoint was not dropped yet.
func (r *Replica) cleanUpParts(ctx context.Context) error {
	parts := r.st.Parts
	switch {
	case len(parts) == 0:
		return nil
	case slices.ContainsFunc(r.checkpoints, func(l *listed) bool { return slices.Contains(parts, l.Manifest) }):
		return r.noteParts(ctx, nil)
	}
	return r.dropParts(ctx, parts)
}

// dropParts deletes a snapshot's parts from the relay and then their notes.
func (r *Replica) dropParts(ctx context.Context, parts []envelope.Hash) error {
	for _, id := range parts {
		if err := r.c.Remote.DeleteBlob(ctx, id, nil); err != nil && !errors.Is(err, ErrForbidden) {
			return fmt.Errorf("drop part of a snapshot: %w", err)
		}
	}
	return r.noteParts(ctx, nil)
}

func (r *Replica) sendPart(ctx context.Context, path string, id envelope.Hash) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	got, err := r.c.Remote.Upload(ctx, f)
	if err == nil && got != id {
		err = ErrBlob
	}
	if err != nil {
		return fmt.Errorf("send part of a snapshot: %w", err)
	}
	return nil
}

func (r *Replica) part(id envelope.Hash) string { return filepath.Join(r.c.Temp, id.String()+".part") }

// fetchPart downloads one sealed part and returns its bytes. The remote is not asked for a
// part that is on this disk.
func (r *Replica) fetchPart(ctx context.Context, id envelope.Hash, size uint32) ([]byte, error) {
	if b, err := os.ReadFile(r.part(id)); err == nil && uint32(len(b)) == size && envelope.Hash(sha256.Sum256(b)) == id {
		return b, nil
	}
	if err := os.MkdirAll(r.c.Temp, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(r.part(id), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = r.c.Remote.Download(ctx, id, f, int64(size))
	if errors.Is(err, ErrBlob) {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, int64(size)))
}

func (r *Replica) openPart(ctx context.Context, l *listed, id envelope.Hash, size uint32) ([]byte, error) {
	key, ok := r.c.Keys.Epoch(l.Epoch)
	if !ok {
		return nil, fmt.Errorf("%w: the key of epoch %d is not here", ErrSnapshot, l.Epoch)
	}
	b, err := r.fetchPart(ctx, id, size)
	if err == nil && uint32(len(b)) != size {
		err = fmt.Errorf("%w: a part has %d bytes, not %d", ErrSnapshot, len(b), size)
	}
	if err != nil {
		return nil, err
	}
	plain, err := seal.OpenBody(key, b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	return plain, nil
}

func (r *Replica) manifest(ctx context.Context, l *listed) (*delta.Manifest, error) {
	plain, err := r.openPart(ctx, l, l.Manifest, l.Size)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if err := os.Remove(r.part(l.Manifest)); err != nil {
		return nil, err
	}
	return delta.UnpackManifest(l.source(), plain)
}

// chunks calls f with the items of each chunk, in order. It does not download
// chunks that are already on this disk.
func (r *Replica) chunks(ctx context.Context, l *listed, m *delta.Manifest, f func([]delta.Item) error) error {
	for i, c := range m.Chunks {
		plain, err := r.openPart(ctx, l, c.Sealed, c.Size)
		if err != nil {
			return fmt.Errorf("chunk %d: %w", i+1, err)
		}
		items, err := delta.Unpack(l.source(), i+1, plain)
		clear(plain)
		if err != nil {
			return err
		}
		if err := f(items); err != nil {
			return err
		}
	}
	return nil
}
