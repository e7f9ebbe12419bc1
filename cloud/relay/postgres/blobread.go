package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
)

// parts returns the names of an upload's parts, in order.
func (s *Store) parts(ctx context.Context, id memory.SpaceID, blob relay.BlobID, up []byte) (names []string, err error) {
	err = s.of(ctx, id, func(account relay.AccountID) error {
		names = nil
		return s.read(ctx, account, func(r pgx.Rows) error {
			var n string
			err := r.Scan(&n)
			names = append(names, n)
			return err
		}, "SELECT name FROM parts WHERE account = $1 AND space = $2 AND id = $3 AND upload = $4 ORDER BY at", account[:], id[:], blob[:], up)
	})
	return names, err
}

// sequence reads objects one after another.
type sequence struct {
	ctx     context.Context // of the request that it answers
	objects interface {
		Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error)
	}
	names []string
	open  io.ReadCloser
}

func (q *sequence) Read(b []byte) (int, error) {
	for {
		if q.open == nil {
			if len(q.names) == 0 {
				return 0, io.EOF
			}
			r, err := q.objects.Open(q.ctx, q.names[0], 0)
			if err != nil {
				return 0, relayError(err)
			}
			q.open, q.names = r, slices.Clone(q.names[1:])
		}
		n, err := q.open.Read(b)
		if err == io.EOF {
			if err = q.Close(); n == 0 && err == nil {
				continue
			}
		}
		return n, err
	}
}

func (q *sequence) Close() error {
	if q.open == nil {
		return nil
	}
	r := q.open
	q.open = nil
	return r.Close()
}

func (s *Store) OpenBlob(ctx context.Context, id memory.SpaceID, blob relay.BlobID) (io.ReadSeekCloser, int64, error) {
	u, err := s.upload(ctx, id, blob)
	if err == nil && !u.Done {
		err = relay.ErrNotFound
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open blob: %w", err)
	}
	r := &object{ctx: ctx, objects: s.objects, name: folder(id, blob, u.id) + "whole", size: u.Size}
	if err := r.first(); errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("open blob: %w", relay.ErrNotFound) // deleted a moment ago
	} else if err != nil {
		return nil, 0, fmt.Errorf("open blob: %w", err)
	}
	return r, u.Size, nil
}
