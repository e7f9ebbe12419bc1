package translog

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/locket-dev/locket/sync/translog"
)

// Witness cosigns checkpoints if each continues the one before.
type Witness interface {
	// Key returns the key with which it cosigns.
	Key() note.Verifier
	// AddCheckpoint returns the line of the cosignature. The proof shows that the checkpoint begins
	// with its first old entries. [*BehindError] says that the witness has seen a different number of
	// them.
	AddCheckpoint(ctx context.Context, old int64, proof tlog.TreeProof, checkpoint []byte) ([]byte, error)
}

// BehindError is how many entries a witness says that it has seen.
type BehindError struct{ Size int64 }

func (b *BehindError) Error() string { return fmt.Sprintf("the witness has seen %d entries", b.Size) }

func (l *Log) keys() []note.Verifier {
	var all []note.Verifier
	for _, w := range l.witnesses {
		all = append(all, w.Key())
	}
	return all
}

// cosign adds the lines of the witnesses that have not signed msg. The error names those that
// failed.
func (l *Log) cosign(ctx context.Context, msg []byte, size int64) ([]byte, error) {
	var failed []error
	for _, w := range l.witnesses {
		s, err := translog.Open(msg, l.key, w.Key())
		if err == nil && len(s.Cosigned) > 0 {
			continue
		}
		var line []byte
		if err == nil {
			line, err = l.ask(ctx, w, msg, size)
		}
		if err == nil {
			// A signature that can't be verified would make the checkpoint invalid for
			// readers who know the witness.
			if s, err = translog.Open(append(msg[:len(msg):len(msg)], line...), l.key, w.Key()); err == nil {
				err = s.RequireWitnesses(1)
			}
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("witness %s: %w", w.Key().Name(), err))
			continue
		}
		msg = s.Note
	}
	return msg, errors.Join(failed...)
}

func (l *Log) ask(ctx context.Context, w Witness, msg []byte, size int64) ([]byte, error) {
	old := int64(0)
	for range 3 { // it answers with the size that it has, which may have grown since
		proof, err := l.consistency(ctx, old, size)
		if err != nil {
			return nil, err
		}
		line, err := w.AddCheckpoint(ctx, old, proof, msg)
		if b, ok := errors.AsType[*BehindError](err); ok && b.Size != old && b.Size <= size {
			old = b.Size
			continue
		}
		return line, err
	}
	return nil, errors.New("it gives a different number of entries each time")
}
