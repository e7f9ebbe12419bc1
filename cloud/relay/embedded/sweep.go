package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
)

// sweepBlobs removes unfinished blobs, and files without a row, which a crash can
// leave.
func (s *Store) sweepBlobs(ctx context.Context, now time.Time) error {
	type stale struct {
		space memory.SpaceID
		blob  relay.BlobID
	}
	before := now.Add(-relay.UnfinishedBy)
	all, err := collect(ctx, s.read, func(r *sql.Rows) (st stale, err error) {
		var space, id []byte
		err = r.Scan(&space, &id)
		copy(st.space[:], space)
		copy(st.blob[:], id)
		return st, err
	}, "SELECT space, id FROM blobs WHERE done = 0 AND touched <= ?", before.Unix())
	if err != nil {
		return fmt.Errorf("sweep blobs: %w", err)
	}
	for _, st := range all {
		if err := s.sweepBlob(ctx, st.space, st.blob, before); err != nil {
			return err
		}
	}
	return s.sweepFiles(ctx)
}

// sweepBlob removes an unfinished blob, unless somebody continued it after the
// sweep looked for it. By then it may be complete, and a member may rely on it.
func (s *Store) sweepBlob(ctx context.Context, id memory.SpaceID, blob relay.BlobID, before time.Time) error {
	defer s.locks.lock(s.path(id, blob))() // so that no upload continues it now
	var stale bool
	err := s.write.QueryRowContext(ctx, "SELECT done = 0 AND touched <= ? FROM blobs WHERE space = ? AND id = ?", before.Unix(), id[:], blob[:]).Scan(&stale)
	if err == nil && stale {
		err = s.forgetBlob(ctx, id, blob, nil)
	}
	if err = found(err); errors.Is(err, relay.ErrNotFound) {
		return nil
	}
	return err
}

func (s *Store) sweepFiles(ctx context.Context) error {
	spaces, err := os.ReadDir(s.blobs)
	if err != nil {
		return fmt.Errorf("sweep blobs: %w", err)
	}
	for _, dir := range spaces {
		var space memory.SpaceID
		if err := space.UnmarshalText([]byte(dir.Name())); err != nil {
			continue // not a file of this store
		}
		files, err := os.ReadDir(filepath.Join(s.blobs, dir.Name()))
		if err != nil {
			return fmt.Errorf("sweep blobs: %w", err)
		}
		for _, f := range files {
			if err := s.sweepFile(ctx, space, f.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) sweepFile(ctx context.Context, space memory.SpaceID, name string) error {
	id, err := relay.ParseBlobID(strings.TrimSuffix(name, ".part"))
	if err != nil {
		return nil // not a file of this store
	}
	defer s.locks.lock(s.path(space, id))() // so that no upload is between its file and its row
	_, err = row(ctx, s.write, space, id)
	if !errors.Is(err, relay.ErrNotFound) {
		return err
	}
	if err := ignoreNotExist(os.Remove(filepath.Join(s.blobs, space.String(), name))); err != nil {
		return fmt.Errorf("sweep blobs: %w", err)
	}
	return nil
}
