package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

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
			if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42501" {
				err = fmt.Errorf("%w of %s: %s", ErrLogin, OperatorRole, e.Message)
			}
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

// collected reads the rows of a query.
func collected[T any](ctx context.Context, q interface {
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
}, one pgx.RowToFunc[T], query string, args ...any) ([]T, error) {
	rows, _ := q.Query(ctx, query, args...) // rows have the error, too
	out, err := pgx.CollectRows(rows, one)
	return out, wrap(err)
}

// inSnapshot reads the rows of a query about a space, as list does.
func inSnapshot[T any](ctx context.Context, s *Snapshot, id memory.SpaceID, one pgx.RowToFunc[T], query string, more ...any) ([]T, error) {
	account, err := s.owner(ctx, id)
	if err != nil {
		return nil, err
	}
	return collected(ctx, s.conn, one, query, append([]any{account, id[:]}, more...)...)
}

func (s *Snapshot) Accounts(ctx context.Context, after relay.AccountID, limit int) ([]relay.Account, error) {
	return collected(ctx, s.conn, func(r pgx.CollectableRow) (a relay.Account, err error) {
		var id []byte
		var spaces [][]byte
		err = r.Scan(&id, &a.Bytes, &a.Blobs, &a.Day, &a.Deltas, &spaces)
		copy(a.ID[:], id)
		for _, b := range spaces {
			a.Spaces = append(a.Spaces, memory.SpaceID(b))
		}
		return a, err
	}, `SELECT account, bytes, blobs, day, deltas, ARRAY(SELECT space FROM spaces s WHERE s.account = a.account ORDER BY space)
		FROM accounts a WHERE account > $1 ORDER BY account LIMIT $2`, after[:], limit)
}

func (s *Snapshot) Invites(ctx context.Context) ([]relay.Invite, error) {
	return collected(ctx, s.conn, func(r pgx.CollectableRow) (i relay.Invite, err error) {
		var b []byte
		err = r.Scan(&b, &i.Used)
		copy(i.Hash[:], b)
		return i, err
	}, "SELECT hash, used FROM invites ORDER BY hash")
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

func (s *Snapshot) Space(ctx context.Context, id memory.SpaceID) (head relay.Space, err error) {
	account, err := s.owner(ctx, id)
	if err == nil {
		copy(head.Account[:], account)
		err = wrap(scanHead(s.conn.QueryRow(ctx, selectHead, account, id[:]), &head))
	}
	return head, err
}

func (s *Snapshot) Log(ctx context.Context, id memory.SpaceID, n uint64, limit int) ([][]byte, error) {
	return inSnapshot(ctx, s, id, pgx.RowTo[[]byte], selectLog, int64(n), limit)
}

func (s *Snapshot) After(ctx context.Context, id memory.SpaceID, cursor uint64, limit, size int) ([]relay.Placed, error) {
	return inSnapshot(ctx, s, id, scanPlaced, selectAfter, int64(cursor), limit, size)
}

func (s *Snapshot) Records(ctx context.Context, id memory.SpaceID) ([]relay.Record, error) {
	return inSnapshot(ctx, s, id, relay.ScanRecord[pgx.CollectableRow], selectRecords)
}

func (s *Snapshot) StoredBlobs(ctx context.Context, id memory.SpaceID, after relay.BlobID, limit int) ([]relay.StoredBlob, error) {
	return inSnapshot(ctx, s, id, func(r pgx.CollectableRow) (b relay.StoredBlob, err error) {
		var blob, author []byte
		err = r.Scan(&blob, &author, &b.Size)
		copy(b.ID[:], blob)
		copy(b.Author[:], author)
		return b, err
	}, "SELECT id, author, size FROM blobs WHERE account = $1 AND space = $2 AND id > $3 AND done ORDER BY id LIMIT $4", after[:], limit)
}

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
