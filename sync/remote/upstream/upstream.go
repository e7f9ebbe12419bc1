// Package upstream lets a replica use a space at a relay over HTTP.
package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
	"github.com/locket-dev/locket/sync/replica"
)

// Space implements replica.Remote and replica.Checkpoints. It is safe for concurrent use.
type Space struct {
	at     *remote.Space
	invite string
	stream stream
}

var (
	_ replica.Remote      = (*Space)(nil)
	_ replica.Checkpoints = (*Space)(nil)
)

// New returns a space; invite is the code that a new account may need, or empty.
func New(at *remote.Space, invite string) *Space {
	return &Space{at: at, invite: invite, stream: stream{wake: at.Wake}}
}

// as converts a relay's error to the replica's errors.
func as(err error) error {
	for _, p := range []struct{ theirs, ours error }{
		{remote.ErrAhead, replica.ErrAhead},
		{remote.ErrConflict, replica.ErrConflict},
		{remote.ErrFork, replica.ErrFork},
		{remote.ErrForbidden, replica.ErrForbidden},
		{remote.ErrNotFound, replica.ErrNotFound},
		{remote.ErrBlob, replica.ErrBlob},
		{remote.ErrRefused, replica.ErrRefused},
		{remote.ErrGap, envelope.ErrGap},
		{remote.ErrChains, envelope.ErrChains},
		{remote.ErrUnknownHead, envelope.ErrUnknownHead},
	} {
		if errors.Is(err, p.theirs) {
			return fmt.Errorf("%w: %w", p.ours, err)
		}
	}
	if e, ok := errors.AsType[*remote.Error](err); ok && errors.Is(e, remote.ErrQuota) && (e.What == "bytes" || e.What == "blobs") {
		return fmt.Errorf("%w: %w", replica.ErrNoRoom, err)
	}
	return err
}

// Log implements replica.Remote. It returns one page. The caller verifies it before it
// asks for the next, so a relay can't fill the memory with false entries.
func (s *Space) Log(ctx context.Context, n uint64) ([][]byte, error) {
	entries, err := s.at.LogPage(ctx, n)
	var out [][]byte
	for _, e := range entries {
		out = append(out, e.Bytes())
	}
	return out, as(err)
}

func (s *Space) AppendLog(ctx context.Context, e *envelope.Entry) error {
	invite := ""
	if e.Action == envelope.Found {
		invite = s.invite
	}
	return as(s.at.AppendLog(ctx, e, invite))
}

func (s *Space) Deltas(ctx context.Context, after uint64) ([]replica.Placed, error) {
	page, err := s.at.Placed(ctx, after, page.MaxDeltas)
	var out []replica.Placed
	for _, p := range page {
		out = append(out, replica.Placed{Cursor: p.Cursor, Delta: p.Delta})
	}
	return out, as(err)
}

func (s *Space) Append(ctx context.Context, d *envelope.Delta) error {
	_, err := s.at.Append(ctx, []*envelope.Delta{d})
	return as(err)
}

// Wait implements replica.Remote with the relay's stream of wake-ups, which continues for a while
// between two calls. It also returns when the membership log changes, when there are other
// checkpoints or votes, and, after a while, if the relay claims to have something and has shown
// nothing.
func (s *Space) Wait(ctx context.Context, after uint64) error { return as(s.stream.wait(ctx, after)) }

// StopIdleStream ends the stream of wake-ups if nobody waits for one.
func (s *Space) StopIdleStream() { s.stream.endIdle() }

func (s *Space) Forget(ctx context.Context, refs []replica.Ref) error {
	var out []remote.Ref
	for _, r := range refs {
		out = append(out, remote.Ref(r))
	}
	_, err := s.at.Forget(ctx, out)
	return as(err)
}

func (s *Space) Upload(ctx context.Context, r io.ReadSeeker) (envelope.Hash, error) {
	id, err := s.at.PutBlob(ctx, r)
	return envelope.Hash(id), as(err)
}

func (s *Space) Holds(ctx context.Context, id envelope.Hash, size int64) (bool, error) {
	offset, of, err := s.at.HasBlob(ctx, remote.BlobID(id))
	if errors.Is(err, remote.ErrNotFound) {
		return false, nil
	}
	return offset == size && of == size, as(err)
}

func (s *Space) Piece(ctx context.Context, id envelope.Hash, from, n, size int64) ([]byte, error) {
	b, err := s.at.BlobPiece(ctx, remote.BlobID(id), from, n, size)
	return b, as(err)
}

func (s *Space) Download(ctx context.Context, id envelope.Hash, f io.ReadWriteSeeker, limit int64) error {
	_, err := s.at.GetBlob(ctx, remote.BlobID(id), f, limit)
	return as(err)
}

func (s *Space) DeleteBlob(ctx context.Context, id envelope.Hash, at *uint64) error {
	err := s.at.DeleteBlob(ctx, remote.BlobID(id), at)
	if errors.Is(err, remote.ErrNotFound) {
		return nil
	}
	return as(err)
}
