package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/locket-dev/locket/sync/envelope"
)

// The parts of a snapshot lie at the relay as blobs before its checkpoint is there,
// and after it went. What lies there so is noted first: a process that is killed in
// between, or does not hear an answer, leaves none behind, and takes none away from
// a checkpoint that is there.

// maxNoted is how many parts are noted at most, so that the state with them is
// well under a record's 256 KB.
const maxNoted = 1024

// noteParts notes what lies at the relay of a checkpoint that is not there yet, or
// is about to go; nil: nothing does. The manifest is the last.
func (r *Replica) noteParts(ctx context.Context, parts []envelope.Hash) error {
	next := r.st.next()
	next.Parts = parts[max(0, len(parts)-maxNoted):]
	return r.save(ctx, next)
}

// leaveNoParts deals with what a round that broke off has noted: it goes, but where
// its checkpoint is there. Then the answer that it was taken had not come, or it
// was not dropped yet.
func (r *Replica) leaveNoParts(ctx context.Context) error {
	parts := r.st.Parts
	switch {
	case len(parts) == 0:
		return nil
	case slices.ContainsFunc(r.seen, func(l *listed) bool { return slices.Contains(parts, l.Manifest) }):
		return r.noteParts(ctx, nil)
	}
	return r.dropParts(ctx, parts)
}

// dropParts has the relay delete the parts of a snapshot, after which none are noted.
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
