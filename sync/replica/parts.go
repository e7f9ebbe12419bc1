package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

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
	next := r.st.next()
	next.Parts = parts[max(0, len(parts)-maxNoted):]
	return r.save(ctx, next)
}

// leaveNoParts handles the parts that an interrupted round noted. It deletes
// them unless their checkpoint is there; then either the relay's answer was
// lost, or the checkpoint was not dropped yet.
func (r *Replica) leaveNoParts(ctx context.Context) error {
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
