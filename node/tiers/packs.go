package tiers

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/cold"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// blobPacks is cold.PackStore over the blobs of a space at its relay.
type blobPacks struct {
	at   replica.Blobs
	here func() bool // reports whether that relay is still the primary one
}

// Put implements cold.PackStore.
func (s blobPacks) Put(ctx context.Context, body []byte) ([]byte, error) {
	if !s.here() {
		return nil, errors.New("the relay has changed since the node was opened")
	}
	id, err := s.at.Upload(ctx, bytes.NewReader(body))
	return id[:], err
}

// Get implements cold.PackStore.
func (s blobPacks) Get(ctx context.Context, at []byte, size int64) ([]byte, error) {
	if len(at) != len(envelope.Hash{}) {
		return nil, fmt.Errorf("%w: %w: pack %s: not the name of a blob", cold.ErrLost, memory.ErrDamaged, hex.EncodeToString(at))
	}
	var f scroll
	err := s.at.Download(ctx, envelope.Hash(at), &f, size)
	if errors.Is(err, replica.ErrNotFound) || errors.Is(err, replica.ErrBlob) {
		err = fmt.Errorf("%w: %w", cold.ErrLost, err)
	}
	if err != nil {
		return nil, err
	}
	return f.b, nil
}

// Piece implements cold.PackStore.
func (s blobPacks) Piece(ctx context.Context, at []byte, from, n, size int64) ([]byte, error) {
	if len(at) != len(envelope.Hash{}) {
		return nil, fmt.Errorf("%w: %w: pack %s: not the name of a blob", cold.ErrLost, memory.ErrDamaged, hex.EncodeToString(at))
	}
	b, err := s.at.Piece(ctx, envelope.Hash(at), from, n, size)
	if errors.Is(err, replica.ErrNotFound) || errors.Is(err, replica.ErrBlob) {
		err = fmt.Errorf("%w: %w", cold.ErrLost, err)
	}
	return b, err
}

// Delete implements cold.PackStore.
func (s blobPacks) Delete(ctx context.Context, at []byte) error {
	if len(at) != len(envelope.Hash{}) {
		return nil
	}
	return s.at.DeleteBlob(ctx, envelope.Hash(at), nil)
}

// scroll is a file in memory: io.ReadWriteSeeker.
type scroll struct {
	b  []byte
	at int
}

func (s *scroll) Read(p []byte) (int, error) {
	if s.at >= len(s.b) {
		return 0, io.EOF
	}
	n := copy(p, s.b[s.at:])
	s.at += n
	return n, nil
}

func (s *scroll) Write(p []byte) (int, error) {
	s.b = append(s.b[:s.at], p...)
	s.at = len(s.b)
	return len(p), nil
}

func (s *scroll) Seek(offset int64, whence int) (int64, error) {
	if whence != io.SeekStart || offset < 0 || offset > int64(len(s.b)) {
		return 0, errors.New("seeks from its start only")
	}
	s.at = int(offset)
	return offset, nil
}
