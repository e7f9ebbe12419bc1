package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/objects"
	"github.com/locket-dev/locket/memory"
)

// A chunk is first stored as an object and then gets a row. No lock is held while
// objects are written. If two relays write a chunk at the same offset, one of them
// changes the row, and the other one's object is removed later. With the last
// chunk, all parts are joined into one object. If the join is interrupted before
// the table marks the blob as done, a repetition of the last chunk joins the parts
// again. The row holds the state of the SHA-256 of all bytes so far, so that no
// chunk is read twice for it. The names of objects are
//
//	SPACE/ID/UPLOAD/whole
//	SPACE/ID/UPLOAD/OFFSET-RANDOM
//
// UPLOAD is random. A blob that is deleted and uploaded again has objects with
// other names, so the deletion of the first can't touch the second.

type upload struct {
	relay.Blob
	id    []byte
	state []byte // state of the SHA-256; null after the blob is done
}

func folder(space memory.SpaceID, blob relay.BlobID, id []byte) string {
	return space.String() + "/" + blob.String() + "/" + hex.EncodeToString(id) + "/"
}

func (s *Store) Blob(ctx context.Context, id memory.SpaceID, blob relay.BlobID) (relay.Blob, error) {
	u, err := s.upload(ctx, id, blob)
	if err != nil {
		return relay.Blob{}, fmt.Errorf("blob: %w", err)
	}
	return u.Blob, nil
}

const selectBlob = "SELECT upload, author, size, at, state, done FROM blobs WHERE account = $1 AND space = $2 AND id = $3"

func (u *upload) scan(r pgx.Row) error {
	var author []byte
	err := r.Scan(&u.id, &author, &u.Size, &u.Offset, &u.state, &u.Done)
	copy(u.Author[:], author)
	return err
}

func (s *Store) upload(ctx context.Context, id memory.SpaceID, blob relay.BlobID) (u upload, err error) {
	err = s.of(ctx, id, func(account relay.AccountID) error {
		found := false
		err := s.read(ctx, account, func(r pgx.Rows) error {
			found = true
			return u.scan(r)
		}, selectBlob, account[:], id[:], blob[:])
		if err == nil && !found {
			err = relay.ErrNotFound
		}
		return err
	})
	return u, err
}

func (s *Store) WriteBlob(ctx context.Context, id memory.SpaceID, blob relay.BlobID, author memory.MemberID, size, offset int64, chunk []byte, quota relay.Quota, now time.Time) (relay.Blob, error) {
	u, err := s.upload(ctx, id, blob)
	if errors.Is(err, relay.ErrNotFound) {
		u, err = s.begin(ctx, id, blob, author, size, quota, now)
	}
	if err != nil {
		return relay.Blob{}, fmt.Errorf("write blob: %w", err)
	}
	end := offset + int64(len(chunk))
	switch {
	case u.Size != size:
		return u.Blob, fmt.Errorf("blob of %d bytes: %w: it was begun with %d", size, relay.ErrOffset, u.Size)
	case end <= u.Offset && (u.Done || u.Offset < u.Size):
		return u.Blob, nil // the chunk or the blob is here already
	case end <= u.Offset:
		err = s.join(ctx, id, blob, &u) // all parts are here, but they were not joined
	case offset != u.Offset:
		return u.Blob, fmt.Errorf("chunk at %d: %w, at %d", offset, relay.ErrOffset, u.Offset)
	default:
		err = s.appendChunk(ctx, id, blob, &u, chunk, now)
	}
	if errors.Is(err, relay.ErrBlob) {
		return relay.Blob{}, errors.Join(err, s.forgetBlob(ctx, id, blob, only{upload: u.id}))
	}
	if err != nil {
		return u.Blob, fmt.Errorf("write blob: %w", wrap(err))
	}
	return u.Blob, nil
}

// begin makes the row of a new blob, unless another request made it meanwhile.
func (s *Store) begin(ctx context.Context, id memory.SpaceID, blob relay.BlobID, author memory.MemberID, size int64, quota relay.Quota, now time.Time) (u upload, err error) {
	u = upload{Blob: relay.Blob{Author: author, Size: size}, id: make([]byte, 16)}
	rand.Read(u.id)
	if u.state, err = sha256.New().(encoding.BinaryMarshaler).MarshalBinary(); err != nil {
		return u, err
	}
	err = s.inSpace(ctx, "begin blob", id, func(tx pgx.Tx, a *relay.Account, _ relay.Space) error {
		if err := u.scan(tx.QueryRow(ctx, selectBlob, a.ID[:], id[:], blob[:])); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if err := quota.Room(*a, size, 1); err != nil {
			return err
		}
		if err := use(ctx, tx, a.ID, size, 1); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "INSERT INTO blobs VALUES ($1, $2, $3, $4, $5, $6, 0, $7, false, $8)",
			a.ID[:], id[:], blob[:], u.id, author[:], size, u.state, now.Unix()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "INSERT INTO chores VALUES ($1, $2, $3, $4, $5)", a.ID[:], id[:], blob[:], u.id, now.Add(relay.UnfinishedBy).Unix())
		return err
	})
	return u, err
}

// appendChunk adds a chunk to the upload.
func (s *Store) appendChunk(ctx context.Context, id memory.SpaceID, blob relay.BlobID, u *upload, chunk []byte, now time.Time) error {
	sum, err := resume(u.state)
	if err != nil {
		return err
	}
	sum.Write(chunk)
	end := u.Offset + int64(len(chunk))
	if end == u.Size && relay.BlobID(sum.Sum(nil)) != blob {
		return relay.ErrBlob
	}
	state, err := sum.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return err
	}
	tag := make([]byte, 8)
	rand.Read(tag)
	name := fmt.Sprintf("%s%d-%x", folder(id, blob, u.id), u.Offset, tag)
	alone := u.Offset == 0 && end == u.Size
	if alone {
		name = folder(id, blob, u.id) + "whole" // a concurrent writer would write the same bytes
	}
	if err := s.put(ctx, name, bytes.NewReader(chunk)); err != nil {
		return err
	}
	err = s.of(ctx, id, func(account relay.AccountID) error {
		return s.change(ctx, "note chunk", account, func(tx pgx.Tx, _ *relay.Account) error {
			moved, err := tx.Exec(ctx, "UPDATE blobs SET at = $6, state = $7, touched = $8 WHERE account = $1 AND space = $2 AND id = $3 AND upload = $4 AND at = $5 AND NOT done",
				account[:], id[:], blob[:], u.id, u.Offset, end, state, now.Unix())
			if err != nil {
				return err
			}
			if moved.RowsAffected() == 0 {
				return errOvertaken
			}
			if alone {
				return finish(ctx, tx, account, id, blob, u.id)
			}
			_, err = tx.Exec(ctx, "INSERT INTO parts VALUES ($1, $2, $3, $4, $5, $6, $7)", account[:], id[:], blob[:], u.Offset, u.id, name, len(chunk))
			return err
		})
	})
	if errors.Is(err, errOvertaken) {
		return s.overtaken(ctx, id, blob, u, end)
	}
	if err != nil {
		return err
	}
	u.Offset, u.state, u.Done = end, state, alone
	if end == u.Size && !alone {
		return s.join(ctx, id, blob, u)
	}
	return nil
}

// errOvertaken: another relay wrote a chunk at this offset, or the blob was
// deleted.
var errOvertaken = errors.New("another relay wrote this chunk first, or the blob was deleted")

// overtaken answers according to the present rows. The unused object is removed
// together with the others of its upload.
func (s *Store) overtaken(ctx context.Context, id memory.SpaceID, blob relay.BlobID, u *upload, end int64) error {
	now, err := s.upload(ctx, id, blob)
	if err != nil {
		return err
	}
	lost := *u
	*u = now
	if bytes.Equal(lost.id, now.id) && now.Offset == now.Size && !now.Done {
		return s.join(ctx, id, blob, u) // the other relay may have stopped before the join
	}
	if !bytes.Equal(lost.id, now.id) || end > now.Offset {
		return fmt.Errorf("chunk at %d: %w, at %d", lost.Offset, relay.ErrOffset, now.Offset)
	}
	return nil
}

func resume(state []byte) (hash.Hash, error) {
	h := sha256.New()
	if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state); err != nil {
		return nil, fmt.Errorf("stored state of a blob: %w", err)
	}
	return h, nil
}

// join makes one object of the parts. It returns an error if their hash is wrong.
func (s *Store) join(ctx context.Context, id memory.SpaceID, blob relay.BlobID, u *upload) error {
	names, err := s.parts(ctx, id, blob, u.id)
	if err != nil {
		return err
	}
	sum := sha256.New()
	all := &sequence{ctx: ctx, objects: s.objects, names: names}
	err = s.put(ctx, folder(id, blob, u.id)+"whole", &checked{io.TeeReader(all, sum), sum, blob})
	if err := errors.Join(err, all.Close()); err != nil {
		if gone := s.confirm(ctx, id, blob, u); gone == nil {
			return nil // another relay joined the parts and removed them
		}
		return err
	}
	err = s.of(ctx, id, func(account relay.AccountID) error {
		return s.change(ctx, "finish blob", account, func(tx pgx.Tx, _ *relay.Account) error {
			return finish(ctx, tx, account, id, blob, u.id)
		})
	})
	if err != nil {
		return err
	}
	u.Done = true
	for _, n := range names {
		if err := s.objects.Delete(ctx, n); err != nil {
			break // the parts left are removed with the blob
		}
	}
	return nil
}

// confirm returns nil if the blob is done.
func (s *Store) confirm(ctx context.Context, id memory.SpaceID, blob relay.BlobID, u *upload) error {
	now, err := s.upload(ctx, id, blob)
	if err == nil && !now.Done {
		err = relay.ErrNotFound
	}
	if err == nil {
		*u = now
	}
	return err
}

// checked reads from r and checks the hash at the end. If the bytes do not have
// the blob's hash, it returns an error in place of io.EOF, so that the object is
// not stored.
type checked struct {
	io.Reader
	sum  hash.Hash
	blob relay.BlobID
}

func (c *checked) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if err == io.EOF && relay.BlobID(c.sum.Sum(nil)) != c.blob {
		err = errors.New("stored parts of a blob are not what was put")
	}
	return n, err
}

func finish(ctx context.Context, tx pgx.Tx, account relay.AccountID, id memory.SpaceID, blob relay.BlobID, up []byte) error {
	b := &pgx.Batch{}
	key := []any{account[:], id[:], blob[:], up}
	b.Queue("DELETE FROM parts WHERE account = $1 AND space = $2 AND id = $3 AND upload = $4", key...)
	b.Queue("DELETE FROM chores WHERE account = $1 AND space = $2 AND id = $3 AND upload = $4", key...)
	b.Queue("UPDATE blobs SET done = true, touched = 0, state = NULL WHERE account = $1 AND space = $2 AND id = $3 AND upload = $4 AND at = size", key...)
	res := tx.SendBatch(ctx, b)
	defer res.Close()
	for range 2 {
		if _, err := res.Exec(); err != nil {
			return err
		}
	}
	done, err := res.Exec()
	if err == nil && done.RowsAffected() == 0 {
		err = relay.ErrNotFound // the blob was deleted meanwhile
	}
	return err
}

// put stores an object.
func (s *Store) put(ctx context.Context, name string, r io.Reader) error {
	return relayError(s.objects.Put(ctx, name, r))
}

// relayError turns errors of package objects into the relay's errors.
func relayError(err error) error {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, objects.ErrFull):
		return fmt.Errorf("%w: %w", relay.ErrFull, err)
	case errors.Is(err, objects.ErrUnavailable):
		return fmt.Errorf("%w: %w", relay.ErrUnavailable, err)
	}
	return err
}
