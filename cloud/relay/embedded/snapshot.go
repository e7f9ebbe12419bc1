package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
)

// Snapshot is a [relay.Snapshot] of a folder. It is a read transaction of
// SQLite, so another process may be serving the folder.
type Snapshot struct {
	files Store // used only for its paths
	db    *sql.DB
	tx    *sql.Tx
}

var _ relay.Snapshot = (*Snapshot)(nil)

// OpenSnapshot takes a snapshot of the present state. The caller must call
// Close.
func OpenSnapshot(ctx context.Context, dir string) (*Snapshot, error) {
	path := filepath.Join(dir, "relay.db")
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open relay store: %w", err)
	}
	db, err := open(path, "deferred", 1)
	if err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open relay store %s: %w", dir, err), db.Close())
	}
	s := &Snapshot{files: Store{blobs: filepath.Join(dir, "blobs")}, db: db, tx: tx}
	var version int64
	err = tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	if err == nil {
		_, err = s.Invites(ctx) // the transaction begins with the first read
	}
	if want, _ := latest(); err == nil && version != want {
		err = fmt.Errorf("tables of version %d, this program needs %d: see locket-cloud migrate", version, want)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open relay store %s: %w", dir, err), s.Close())
	}
	return s, nil
}

// Close ends the snapshot.
func (s *Snapshot) Close() error { return errors.Join(s.tx.Rollback(), s.db.Close()) }

func (s *Snapshot) Accounts(ctx context.Context, after relay.AccountID, limit int) ([]relay.Account, error) {
	ids, err := column(ctx, s.tx, "SELECT id FROM accounts WHERE id > ? ORDER BY id LIMIT ?", after[:], limit)
	if err != nil {
		return nil, fmt.Errorf("accounts: %w", err)
	}
	var out []relay.Account
	for _, b := range ids {
		a, err := readAccount(ctx, s.tx, relay.AccountID(b))
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// column returns the bytes of one column, for all rows.
func column(ctx context.Context, q querier, query string, args ...any) ([][]byte, error) {
	return collect(ctx, q, func(r *sql.Rows) (b []byte, err error) { return b, r.Scan(&b) }, query, args...)
}

// collect reads the rows of a query.
func collect[T any](ctx context.Context, q querier, one func(*sql.Rows) (T, error), query string, args ...any) (out []T, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		v, err := one(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

func (s *Snapshot) Invites(ctx context.Context) (out []relay.Invite, err error) {
	for _, used := range []bool{false, true} {
		some, err := column(ctx, s.tx, "SELECT hash FROM invites WHERE used = ? ORDER BY hash", used)
		if err != nil {
			return nil, fmt.Errorf("invitations: %w", err)
		}
		for _, b := range some {
			out = append(out, relay.Invite{Hash: [32]byte(b), Used: used})
		}
	}
	return out, nil
}

func (s *Snapshot) Space(ctx context.Context, id memory.SpaceID) (relay.Space, error) {
	return space(ctx, s.tx, id)
}

func (s *Snapshot) Log(ctx context.Context, id memory.SpaceID, n uint64, limit int) ([][]byte, error) {
	return readLog(ctx, s.tx, id, n, limit)
}

func (s *Snapshot) After(ctx context.Context, id memory.SpaceID, cursor uint64, limit, size int) ([]relay.Placed, error) {
	return readAfter(ctx, s.tx, id, cursor, limit, size)
}

func (s *Snapshot) Records(ctx context.Context, id memory.SpaceID) ([]relay.Record, error) {
	return readRecords(ctx, s.tx, id)
}

func (s *Snapshot) StoredBlobs(ctx context.Context, id memory.SpaceID, after relay.BlobID, limit int) ([]relay.StoredBlob, error) {
	ids, err := column(ctx, s.tx, "SELECT id FROM blobs WHERE space = ? AND id > ? AND done = 1 ORDER BY id LIMIT ?", id[:], after[:], limit)
	if err != nil {
		return nil, fmt.Errorf("blobs: %w", err)
	}
	var out []relay.StoredBlob
	for _, b := range ids {
		st, err := row(ctx, s.tx, id, relay.BlobID(b))
		if err != nil {
			return nil, err
		}
		out = append(out, relay.StoredBlob{ID: relay.BlobID(b), Author: st.Author, Size: st.Size})
	}
	return out, nil
}

func (s *Snapshot) OpenBlob(ctx context.Context, id memory.SpaceID, blob relay.BlobID) (io.ReadSeekCloser, int64, error) {
	f, err := os.Open(s.files.path(id, blob))
	if errors.Is(err, os.ErrNotExist) {
		err = relay.ErrNotFound // deleted since the snapshot
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open blob: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}
