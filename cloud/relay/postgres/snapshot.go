package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/objects"
	"github.com/locket-dev/locket/memory"
)

// OperatorRole is the role as which a backup reads. Its login must be a member
// of the role.
const OperatorRole = "locket_operator"

// Snapshot is a [relay.Snapshot] of a database: one read-only transaction that
// sees one state of the data of all tenants.
type Snapshot struct {
	conn    *pgx.Conn
	objects objects.Objects
	space   memory.SpaceID // of the last call
	account []byte
}

var _ relay.Snapshot = (*Snapshot)(nil)

// OpenSnapshot takes a snapshot of the present state. Close also closes the
// objects.
func OpenSnapshot(ctx context.Context, url string, blobs objects.Objects) (*Snapshot, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, errors.Join(wrap(err), blobs.Close())
	}
	s := &Snapshot{conn: conn, objects: blobs}
	for _, sql := range []string{"SET ROLE " + OperatorRole, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return nil, errors.Join(fmt.Errorf("open snapshot: %w", wrap(err)), s.Close())
		}
	}
	var version int64
	err = conn.QueryRow(ctx, "SELECT max(version_id) FROM goose_db_version WHERE is_applied").Scan(&version)
	if want, _ := latest(); err == nil && version != want {
		err = fmt.Errorf("%w: version %d, this program needs %d", ErrTables, version, want)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open snapshot: %w", wrap(err)), s.Close())
	}
	return s, nil
}

// Close ends the snapshot.
func (s *Snapshot) Close() error {
	return errors.Join(s.conn.Close(context.Background()), s.objects.Close())
}

// each runs a query and calls f for each row.
func (s *Snapshot) each(ctx context.Context, f func(pgx.Rows) error, query string, args ...any) error {
	rows, err := s.conn.Query(ctx, query, args...)
	if err != nil {
		return wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return wrap(rows.Err())
}

// Accounts implements [relay.Snapshot].
func (s *Snapshot) Accounts(ctx context.Context, after relay.AccountID, limit int) (out []relay.Account, err error) {
	err = s.each(ctx, func(r pgx.Rows) error {
		var a relay.Account
		var id []byte
		var spaces [][]byte
		if err := r.Scan(&id, &a.Bytes, &a.Blobs, &a.Day, &a.Deltas, &spaces); err != nil {
			return err
		}
		copy(a.ID[:], id)
		for _, b := range spaces {
			a.Spaces = append(a.Spaces, memory.SpaceID(b))
		}
		out = append(out, a)
		return nil
	}, `SELECT account, bytes, blobs, day, deltas, ARRAY(SELECT space FROM spaces s WHERE s.account = a.account ORDER BY space)
		FROM accounts a WHERE account > $1 ORDER BY account LIMIT $2`, after[:], limit)
	return out, err
}

// Invites implements [relay.Snapshot].
func (s *Snapshot) Invites(ctx context.Context) (out []relay.Invite, err error) {
	err = s.each(ctx, func(r pgx.Rows) error {
		var b []byte
		var i relay.Invite
		err := r.Scan(&b, &i.Used)
		copy(i.Hash[:], b)
		out = append(out, i)
		return err
	}, "SELECT hash, used FROM invites ORDER BY hash")
	return out, err
}

// owner returns the account of a space.
func (s *Snapshot) owner(ctx context.Context, id memory.SpaceID) ([]byte, error) {
	if s.account != nil && s.space == id {
		return s.account, nil
	}
	var account []byte
	if err := s.conn.QueryRow(ctx, "SELECT account FROM directory WHERE space = $1", id[:]).Scan(&account); err != nil {
		return nil, wrap(err)
	}
	s.space, s.account = id, account
	return account, nil
}

// Space implements [relay.Snapshot].
func (s *Snapshot) Space(ctx context.Context, id memory.SpaceID) (head relay.Space, err error) {
	account, err := s.owner(ctx, id)
	if err == nil {
		copy(head.Account[:], account)
		err = wrap(scanHead(s.conn.QueryRow(ctx, selectHead, account, id[:]), &head))
	}
	return head, err
}

// Log implements [relay.Snapshot].
func (s *Snapshot) Log(ctx context.Context, id memory.SpaceID, n uint64, limit int) (out [][]byte, err error) {
	account, err := s.owner(ctx, id)
	if err != nil {
		return nil, err
	}
	err = s.each(ctx, func(r pgx.Rows) error {
		var b []byte
		err := r.Scan(&b)
		out = append(out, b)
		return err
	}, selectLog, account, id[:], int64(n), limit)
	return out, err
}

// After implements [relay.Snapshot].
func (s *Snapshot) After(ctx context.Context, id memory.SpaceID, cursor uint64, limit, size int) (out []relay.Placed, err error) {
	account, err := s.owner(ctx, id)
	if err != nil {
		return nil, err
	}
	err = s.each(ctx, func(r pgx.Rows) error {
		p, err := scanPlaced(r)
		out = append(out, p)
		return err
	}, selectAfter, account, id[:], int64(cursor), limit, size)
	return out, err
}

// Records implements [relay.Snapshot].
func (s *Snapshot) Records(ctx context.Context, id memory.SpaceID) (out []relay.Record, err error) {
	account, err := s.owner(ctx, id)
	if err != nil {
		return nil, err
	}
	err = s.each(ctx, func(r pgx.Rows) error {
		var x relay.Record
		var name, about []byte
		err := r.Scan(&name, &about, &x.Bytes)
		copy(x.ID[:], name)
		copy(x.About[:], about)
		out = append(out, x)
		return err
	}, "SELECT id, about, record FROM records WHERE account = $1 AND space = $2 ORDER BY n", account, id[:])
	return out, err
}

// StoredBlobs implements [relay.Snapshot].
func (s *Snapshot) StoredBlobs(ctx context.Context, id memory.SpaceID, after relay.BlobID, limit int) (out []relay.StoredBlob, err error) {
	account, err := s.owner(ctx, id)
	if err != nil {
		return nil, err
	}
	err = s.each(ctx, func(r pgx.Rows) error {
		var blob, author []byte
		var b relay.StoredBlob
		err := r.Scan(&blob, &author, &b.Size)
		copy(b.ID[:], blob)
		copy(b.Author[:], author)
		out = append(out, b)
		return err
	}, "SELECT id, author, size FROM blobs WHERE account = $1 AND space = $2 AND id > $3 AND done ORDER BY id LIMIT $4", account, id[:], after[:], limit)
	return out, err
}

// OpenBlob implements [relay.Snapshot].
func (s *Snapshot) OpenBlob(ctx context.Context, id memory.SpaceID, blob relay.BlobID) (io.ReadSeekCloser, int64, error) {
	account, err := s.owner(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	var u upload
	if err := u.scan(s.conn.QueryRow(ctx, selectBlob, account, id[:], blob[:])); err != nil {
		return nil, 0, wrap(err)
	}
	r := &object{ctx: ctx, objects: s.objects, name: folder(id, blob, u.id) + "whole", size: u.Size}
	if err := r.first(); errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("open blob: %w", relay.ErrNotFound)
	} else if err != nil {
		return nil, 0, fmt.Errorf("open blob: %w", err)
	}
	return r, u.Size, nil
}
