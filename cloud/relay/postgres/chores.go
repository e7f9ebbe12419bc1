package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
)

// linger is the time after which the objects of a deleted upload are looked for
// once more. A relay that was writing an object when the row was deleted may have
// stored it afterwards.
const linger = time.Hour

// page is how many chores are done at a time.
const page = 256

// doomedDue is the due time of objects that have to be deleted at once. It is
// always in the past.
const doomedDue = 0

// doom records that the objects of blobs have to be deleted. It does so in the
// transaction that deletes their rows. where is a condition on the table blobs.
func doom(ctx context.Context, tx pgx.Tx, where string, args ...any) error {
	_, err := tx.Exec(ctx, `INSERT INTO chores SELECT account, space, id, upload, 0 FROM blobs WHERE `+where+`
		ON CONFLICT (account, space, id, upload) DO UPDATE SET due = 0`, args...)
	return err
}

type chore struct {
	account relay.AccountID
	space   memory.SpaceID
	id      relay.BlobID
	upload  []byte
	due     int64
}

// chores returns at most page chores that match where.
func (s *Store) chores(ctx context.Context, where string, args ...any) ([]chore, error) {
	return collected(ctx, s.pool, func(row pgx.CollectableRow) (c chore, err error) {
		var account, space, id []byte
		err = row.Scan(&account, &space, &id, &c.upload, &c.due)
		copy(c.account[:], account)
		copy(c.space[:], space)
		copy(c.id[:], id)
		return c, err
	}, "SELECT account, space, id, upload, due FROM chores WHERE "+where, args...)
}

func (s *Store) DeleteBlob(ctx context.Context, id memory.SpaceID, blob relay.BlobID, at *uint64) error {
	return s.forgetBlob(ctx, id, blob, only{at: at})
}

// only restricts which blob forgetBlob deletes. The zero value sets no
// restriction.
type only struct {
	upload []byte     // only this upload
	at     *uint64    // only while the space is at this cursor
	before *time.Time // only if the blob is unfinished and got no chunk since then
}

// forgetBlob removes a blob.
func (s *Store) forgetBlob(ctx context.Context, id memory.SpaceID, blob relay.BlobID, which only) error {
	var before *int64
	if which.before != nil {
		n := which.before.Unix()
		before = &n
	}
	return s.of(ctx, id, func(account relay.AccountID) error {
		var c chore
		err := s.change(ctx, "delete blob", account, func(tx pgx.Tx, _ *relay.Account) error {
			if which.at != nil {
				head, err := lockSpace(ctx, tx, account, id)
				if err != nil {
					return err
				}
				if head.Cursor != *which.at {
					return relay.ErrConflict
				}
			}
			var size int64
			key := []any{account[:], id[:], blob[:], which.upload}
			const those = "account = $1 AND space = $2 AND id = $3 AND ($4::bytea IS NULL OR upload = $4)"
			err := tx.QueryRow(ctx, "SELECT size, upload FROM blobs WHERE "+those+" AND ($5::bigint IS NULL OR NOT done AND touched <= $5) FOR UPDATE",
				append(key, before)...).Scan(&size, &c.upload)
			if err != nil {
				return err
			}
			if err := use(ctx, tx, account, -size, -1); err != nil {
				return err
			}
			if err := doom(ctx, tx, those, key...); err != nil {
				return err
			}
			b := &pgx.Batch{}
			b.Queue("DELETE FROM parts WHERE "+those, key...)
			b.Queue("DELETE FROM blobs WHERE "+those, key...)
			return tx.SendBatch(ctx, b).Close()
		})
		if err != nil {
			return err
		}
		c.account, c.space, c.id = account, id, blob
		return s.remove(ctx, c, time.Now())
	})
}

// removeDoomed deletes the objects of an account, or of one of its spaces, that
// were recorded for deletion. After a failure the record stays for the next
// sweep.
func (s *Store) removeDoomed(ctx context.Context, account relay.AccountID, space *memory.SpaceID) error {
	var only []byte
	if space != nil {
		only = space[:]
	}
	for {
		some, err := s.chores(ctx, "account = $1 AND due = $2 AND ($3::bytea IS NULL OR space = $3) LIMIT $4", account[:], doomedDue, only, page)
		if err != nil || len(some) == 0 {
			return err
		}
		for _, c := range some {
			if err := s.remove(ctx, c, time.Now()); err != nil {
				return err
			}
		}
	}
}

// remove deletes the objects of an upload, and schedules another look for them.
func (s *Store) remove(ctx context.Context, c chore, now time.Time) error {
	if err := relayError(s.objects.Remove(ctx, folder(c.space, c.id, c.upload))); err != nil {
		return err
	}
	_, err := s.pool.Exec(ctx, "UPDATE chores SET due = $5 WHERE account = $1 AND space = $2 AND id = $3 AND upload = $4",
		c.account[:], c.space[:], c.id[:], c.upload, now.Add(linger).Unix())
	return wrap(err)
}

// sweepUploads looks at every upload that is due. It deletes unfinished uploads
// that nobody continued, postpones those that go on, and removes the objects of
// uploads that no longer exist.
func (s *Store) sweepUploads(ctx context.Context, now time.Time) error {
	for {
		some, err := s.chores(ctx, "due <= $1 ORDER BY due LIMIT $2", now.Unix(), page)
		if err != nil {
			return err
		}
		for _, c := range some {
			if err := s.lookAt(ctx, c, now); err != nil {
				return err
			}
		}
		if len(some) < page {
			return nil
		}
	}
}

func (s *Store) lookAt(ctx context.Context, c chore, now time.Time) error {
	key := []any{c.account[:], c.space[:], c.id[:], c.upload}
	touched, done := int64(-1), false
	err := s.read(ctx, c.account, func(r pgx.Rows) error { return r.Scan(&touched, &done) },
		"SELECT touched, done FROM blobs WHERE account = $1 AND space = $2 AND id = $3 AND upload = $4", key...)
	if err != nil {
		return err
	}
	stale := touched + int64(relay.UnfinishedBy/time.Second)
	switch {
	case touched >= 0 && !done && stale <= now.Unix():
		before := now.Add(-relay.UnfinishedBy)
		if err := s.forgetBlob(ctx, c.space, c.id, only{upload: c.upload, before: &before}); err != nil && !errors.Is(err, relay.ErrNotFound) {
			return err
		}
		return nil
	case touched >= 0 && !done:
		_, err := s.pool.Exec(ctx, "UPDATE chores SET due = $5 WHERE account = $1 AND space = $2 AND id = $3 AND upload = $4", append(key, stale)...)
		return wrap(err)
	case touched < 0:
		if err := relayError(s.objects.Remove(ctx, folder(c.space, c.id, c.upload))); err != nil {
			return err
		}
		if c.due == doomedDue { // this is the first try
			return s.remove(ctx, c, now)
		}
	}
	_, err = s.pool.Exec(ctx, "DELETE FROM chores WHERE account = $1 AND space = $2 AND id = $3 AND upload = $4", key...)
	return wrap(err)
}
