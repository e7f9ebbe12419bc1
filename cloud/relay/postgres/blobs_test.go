package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/objects"
	"github.com/locket-dev/locket/cloud/relay/storetest"
)

func accountOf(h *storetest.Household) relay.AccountID { return relay.AccountID(h.Root.Public()) }

// objectsIn lists the files in a folder.
func objectsIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	check(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	}))
	return names
}

// Two relays store the same blob at once: it is there once, complete, and no part of either upload
// is left.
func TestConcurrentUploadsOfOneBlob(t *testing.T) {
	url, dir := migrated(t), t.TempDir()
	a := store(t, url, dir)
	b := store(t, url, dir)
	h, _ := settle(t, a, "two")
	whole := make([]byte, 100_000)
	rand.Read(whole)
	id := relay.BlobID(sha256.Sum256(whole))
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i, s := range []*Store{a, b} {
		wg.Go(func() {
			for offset := int64(0); offset < int64(len(whole)); {
				end := min(offset+9_000, int64(len(whole)))
				at, err := s.WriteBlob(t.Context(), h.Space, id, h.Owner.ID, int64(len(whole)), offset, whole[offset:end], relay.Quota{}, now)
				if err != nil && !errors.Is(err, relay.ErrOffset) {
					errs[i] = err
					return
				}
				offset = at.Offset
			}
		})
	}
	wg.Wait()
	check(t, errors.Join(errs...))
	r, n, err := b.OpenBlob(t.Context(), h.Space, id)
	check(t, err)
	got, err := io.ReadAll(r)
	check(t, errors.Join(err, r.Close()))
	if n != int64(len(whole)) || !bytes.Equal(got, whole) {
		t.Fatal("other bytes")
	}
	check(t, a.DeleteBlob(t.Context(), h.Space, id, nil))
	if left, _ := filepath.Glob(filepath.Join(dir, h.Space.String(), id.String(), "*")); len(left) > 0 {
		t.Fatal(left)
	}
}

// A deleted account leaves nothing: no row in any table names it, its spaces or its blobs, and none
// of its objects exists, even if the objects could not be reached at that time.
func TestDeletedAccountLeavesNothing(t *testing.T) {
	url, dir := migrated(t), t.TempDir()
	folder, err := objects.OpenFolder(dir)
	check(t, err)
	fails := &failing{Objects: folder}
	s, err := Open(t.Context(), url, fails)
	check(t, err)
	defer s.Close()
	h, _ := settle(t, s, "gone")
	other, _ := settle(t, s, "other")
	before := len(objectsIn(t, dir))
	fails.remove = errors.New("the bucket is away")
	if err := s.DeleteAccount(t.Context(), accountOf(h)); err == nil {
		t.Fatal("the deletion reports success although the bucket failed")
	}
	fails.remove = nil
	check(t, s.Sweep(t.Context(), now))
	check(t, s.Sweep(t.Context(), time.Now().Add(2*linger)))
	if after := objectsIn(t, dir); len(after) != 1 { // the other account's finished blob
		t.Errorf("%d of %d: %s", len(after), before, after)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, h.Space.String()+"*")); len(left) > 0 {
		t.Error(left)
	}
	conn, err := pgx.Connect(t.Context(), url) // as a role that sees everything
	check(t, err)
	defer conn.Close(t.Context())
	tables, err := conn.Query(t.Context(), "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
	check(t, err)
	names, err := pgx.CollectRows(tables, pgx.RowTo[string])
	check(t, err)
	for _, table := range names {
		rows, err := conn.Query(t.Context(), "SELECT x::text FROM "+table+" x")
		check(t, err)
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		check(t, err)
		for _, text := range texts {
			for what, b := range map[string][]byte{"account": h.Root.Public(), "space": h.Space[:], "member": h.Owner.ID[:]} {
				if bytes.Contains([]byte(text), []byte(hex.EncodeToString(b))) {
					t.Errorf("%s: %s is still there", table, what)
				}
			}
		}
	}
	if a, err := s.Account(t.Context(), accountOf(other)); err != nil || a.Blobs != 1 {
		t.Error(a, err)
	}
}

// failing is an [objects.Objects] that can be made to fail.
type failing struct {
	objects.Objects
	put, remove error
}

func (f *failing) Put(ctx context.Context, name string, r io.Reader) error {
	if f.put != nil {
		_, _ = io.CopyN(io.Discard, r, 3) // in the middle
		return f.put
	}
	return f.Objects.Put(ctx, name, r)
}

func (f *failing) Remove(ctx context.Context, prefix string) error {
	if f.remove != nil {
		return f.remove
	}
	return f.Objects.Remove(ctx, prefix)
}

// If the object store is full, a blob stays as it was, and continues once there is room.
func TestObjectStoreIsFull(t *testing.T) {
	folder, err := objects.OpenFolder(t.TempDir())
	check(t, err)
	fails := &failing{Objects: folder}
	s, err := Open(t.Context(), migrated(t), fails)
	check(t, err)
	defer s.Close()
	h, _ := settle(t, s, "full")
	whole := []byte("the first half, and the second")
	id := relay.BlobID(sha256.Sum256(whole))
	write := func(from, to int) (relay.Blob, error) {
		return s.WriteBlob(t.Context(), h.Space, id, h.Owner.ID, int64(len(whole)), int64(from), whole[from:to], relay.Quota{}, now)
	}
	_, err = write(0, 15)
	check(t, err)
	for _, why := range []error{syscall.ENOSPC, errors.New("the bucket is away")} {
		fails.put = why
		b, err := write(15, len(whole))
		if err == nil || errors.Is(err, relay.ErrFull) != (why == syscall.ENOSPC) || b.Offset != 15 {
			t.Fatal(b, err)
		}
	}
	// The last part is there, and the store fails while the parts are joined.
	fails.put = nil
	count := 0
	s.objects = &nth{failing: fails, fail: func() bool { count++; return count == 2 }}
	if b, err := write(15, len(whole)); err == nil || b.Done {
		t.Fatal(b, err)
	}
	s.objects = fails
	b, err := write(15, len(whole))
	check(t, err)
	if !b.Done {
		t.Fatalf("%+v", b)
	}
}

// nth fails some of the puts.
type nth struct {
	*failing
	fail func() bool
}

func (n *nth) Put(ctx context.Context, name string, r io.Reader) error {
	if n.fail() {
		return errors.New("the bucket went away")
	}
	return n.failing.Put(ctx, name, r)
}

// A sweep leaves blobs that were continued after it found them stale.
func TestSweepKeepsContinuedUploads(t *testing.T) {
	s := store(t, migrated(t), t.TempDir())
	h, _ := settle(t, s, "sweep")
	later := now.Add(2 * relay.UnfinishedBy)
	put := func(tag byte, offset, end int64, at time.Time) relay.BlobID {
		t.Helper()
		whole := append([]byte{tag}, "the first half, and the second"...)
		id := relay.BlobID(sha256.Sum256(whole))
		_, err := s.WriteBlob(t.Context(), h.Space, id, h.Owner.ID, int64(len(whole)), offset, whole[offset:end], relay.Quota{}, at)
		check(t, err)
		return id
	}
	stale, goneOn, done := put(1, 0, 10, now), put(2, 0, 10, now), put(3, 0, 10, now)
	put(2, 10, 15, later)
	put(3, 10, 31, later)
	before := now
	for id, want := range map[relay.BlobID]error{stale: relay.ErrNotFound, goneOn: nil, done: nil} {
		if err := s.forgetBlob(t.Context(), h.Space, id, only{before: &before}); err != nil && !errors.Is(err, relay.ErrNotFound) {
			t.Fatal(err)
		}
		if _, err := s.Blob(t.Context(), h.Space, id); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", id, err, want)
		}
	}
}

// away is objects that can't be removed now.
type away struct{ objects.Objects }

func (away) Remove(context.Context, string) error { return objects.ErrUnavailable }

// Expired rows in the database are removed whether the objects answer or not.
func TestSweepWithoutObjects(t *testing.T) {
	folder, err := objects.OpenFolder(t.TempDir())
	check(t, err)
	s, err := Open(t.Context(), migrated(t), away{folder})
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	settle(t, s, "away") // with an unfinished blob
	_, err = s.Post(t.Context(), relay.MailboxID{1}, []byte("hello"), now, now.Add(time.Minute))
	check(t, err)
	_, err = s.Once(t.Context(), [16]byte{1}, now)
	check(t, err)
	if err := s.Sweep(t.Context(), now.Add(2*relay.UnfinishedBy)); !errors.Is(err, relay.ErrUnavailable) {
		t.Error(err)
	}
	var left int
	check(t, s.pool.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM mailboxes) + (SELECT count(*) FROM nonces)").Scan(&left))
	if left != 0 {
		t.Errorf("%d are left whose time is over", left)
	}
}
