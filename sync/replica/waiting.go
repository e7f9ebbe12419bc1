package replica

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

// A photo or recording can't be sent while its file can't be read, or while the
// relay has no room for it. It stays in the outbox and is tried again in the
// next round. The entries after it are sent meanwhile.

var (
	// ErrHeld reports that everything was sent except some blobs that can't be
	// sent now.
	ErrHeld = errors.New("waits to be sent")
	// ErrUnreadable reports that a blob's bytes can't be read on this disk.
	ErrUnreadable = errors.New("it can't be read here")
)

// Failed reports whether a round failed for another reason than waiting blobs.
func Failed(err error) bool { return err != nil && !errors.Is(err, ErrHeld) }

// waiting names a blob that is held. It is an outbox entry, or a blob that was
// sent and has to be checked again.
type waiting struct {
	seq    uint64
	sealed envelope.Hash
}

func (w waiting) compare(o waiting) int {
	return cmp.Or(cmp.Compare(w.seq, o.seq), bytes.Compare(w.sealed[:], o.sealed[:]))
}

// deferredBlob describes a blob that this round does not send.
type deferredBlob struct {
	name string
	err  error
}

// concernsOneBlob reports whether err concerns only one blob, so that other entries
// can still be sent.
func concernsOneBlob(err error) bool {
	return errors.Is(err, ErrUnreadable) || errors.Is(err, ErrNoRoom) || errors.Is(err, ErrRefused) || errors.Is(err, ErrBlob)
}

// deferBlob makes this round continue without a blob.
func (r *Replica) deferBlob(w waiting, what string, err error) {
	if r.deferred == nil {
		r.deferred = map[waiting]deferredBlob{}
	}
	r.deferred[w] = deferredBlob{what, err}
	r.c.Log.Warn("sync: a blob waits, and the rest continues", "blob", what, "error", err)
}

// sendable returns the outbox entries that can be tried now. It leaves out held
// blobs, and blobs at least as large as one for which the relay had no room.
func (r *Replica) sendable(out []Outgoing) []Outgoing {
	r.tooLargeWaiting = 0
	return slices.DeleteFunc(out, func(o Outgoing) bool {
		if _, is := r.deferred[waiting{seq: o.Seq}]; is {
			return true
		}
		large := !o.Blob.IsZero() && r.tooLarge > 0 && o.Size >= r.tooLarge
		if large {
			r.tooLargeWaiting++
		}
		return large
	})
}

// outbox returns the next entries that can be tried, at most limit.
func (r *Replica) outbox(ctx context.Context, limit int) ([]Outgoing, error) {
	for look := limit; ; look *= 2 {
		out, err := r.c.Journal.Outbox(ctx, look)
		if err != nil {
			return nil, err
		}
		all := len(out) < look
		if out = r.sendable(out); len(out) > 0 || all {
			return out[:min(len(out), limit)], nil
		}
	}
}

// maxNamedBlobs is how many waiting blobs an error lists one by one.
const maxNamedBlobs = 3

// deferredError returns ErrHeld with the names of the waiting blobs and the reasons, or
// nil if no blob waits.
func (r *Replica) deferredError() error {
	if len(r.deferred) == 0 {
		return nil
	}
	var said []string
	all := sorting.Sorted(maps.Keys(r.deferred), waiting.compare)
	for _, w := range all[:min(len(all), maxNamedBlobs)] {
		said = append(said, fmt.Sprintf("%s %v: %v", r.deferred[w].name, ErrHeld, r.deferred[w].err))
	}
	if more := len(all) + r.tooLargeWaiting - len(said); more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	return &deferredBlobsError{strings.Join(said, "; "), r.deferred}
}

// deferredBlobsError is ErrHeld with the reason for each blob.
type deferredBlobsError struct {
	text  string
	blobs map[waiting]deferredBlob
}

func (e *deferredBlobsError) Error() string { return e.text }

func (e *deferredBlobsError) Unwrap() []error {
	out := []error{ErrHeld}
	for _, h := range e.blobs {
		out = append(out, h.err)
	}
	return out
}

// deferredProblems returns a problem for each blob that the last round did not send.
func (r *Replica) deferredProblems() (out []Problem) {
	for _, w := range sorting.Sorted(maps.Keys(r.deferred), waiting.compare) {
		h := r.deferred[w]
		out = append(out, Problem{At: r.c.Now(), Member: r.c.Member, Waits: true, Reason: fmt.Sprintf("%s %v: %v", h.name, ErrHeld, h.err)})
	}
	return out
}

// blob returns a function that opens a blob on this disk. Read errors are
// [ErrUnreadable].
func (r *Replica) blob(ctx context.Context, name memory.ID) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		f, _, err := r.c.Journal.OpenBlob(ctx, name)
		if err != nil {
			return nil, unreadable(err)
		}
		return blobReader{f}, nil
	}
}

// blobReader turns read errors of a file into ErrUnreadable.
type blobReader struct{ io.ReadCloser }

func (b blobReader) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	return n, unreadable(err)
}

func unreadable(err error) error {
	for _, other := range []error{memory.ErrNotFound, memory.ErrDamaged, memory.ErrLocked, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, other) {
			return err
		}
	}
	if err == nil || err == io.EOF { // callers of io.Reader compare with io.EOF
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnreadable, err)
}
