package api_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/objects"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/remote/page"
)

// trouble expects an answer that says what is wrong and when to retry, and reveals nothing of the
// relay's internals.
func trouble(t *testing.T, s *service, r *raw, status int, want page.Kind) {
	t.Helper()
	res, p, kind := r.do(t, s.addr)
	wait, err := strconv.Atoi(res.Header.Get("Retry-After"))
	if res.StatusCode != status || kind != want || err != nil || wait < 1 {
		t.Fatalf("%s %s, Retry-After %q: %s", res.Status, kind, res.Header.Get("Retry-After"), s.logs)
	}
	if p.Detail != map[page.Kind]string{page.Full: relay.ErrFull.Error(), page.Unavailable: relay.ErrUnavailable.Error()}[kind] {
		t.Errorf("it tells %q", p.Detail)
	}
}

// chunksOf makes requests for a blob's three chunks, sent by the household's owner.
func chunksOf(s *service, h *storetest.Household, whole []byte) (id relay.BlobID, all []func() *raw) {
	id = sha256.Sum256(whole)
	for at := 0; at < len(whole); at += page.MaxChunk {
		end := min(at+page.MaxChunk, len(whole))
		all = append(all, func() *raw {
			r := s.owner(h, "PUT", "/blobs/"+id.String())
			chunk(whole[at:end], fmt.Sprintf("bytes %d-%d/%d", at, end-1, len(whole)))(r)
			return r
		})
	}
	return id, all
}

func whole3(t *testing.T) []byte {
	b := make([]byte, 2*page.MaxChunk+7)
	rand.Read(b)
	return b
}

// same expects a blob to be there, complete.
func same(t *testing.T, s *service, h *storetest.Household, id relay.BlobID, whole []byte) {
	t.Helper()
	f := file(t)
	if _, err := s.as(h, h.Reader).GetBlob(t.Context(), [32]byte(id), f, int64(len(whole))); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, whole) {
		t.Fatal("other bytes: ", len(got), err)
	}
}

// moody is an object store that fails on demand.
type moody struct {
	objects.Objects
	fault atomic.Pointer[error]
	after atomic.Int64 // puts that succeed before it fails
}

func (m *moody) set(err error) { m.fault.Store(&err) }

func (m *moody) now() error {
	if p := m.fault.Load(); p != nil {
		return *p
	}
	return nil
}

func (m *moody) Put(ctx context.Context, name string, r io.Reader) error {
	if err := m.now(); err != nil && m.after.Add(-1) < 0 {
		return err
	}
	return m.Objects.Put(ctx, name, r)
}

func (m *moody) Open(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	if err := m.now(); err != nil {
		return nil, err
	}
	return m.Objects.Open(ctx, name, offset)
}

func (m *moody) Remove(ctx context.Context, prefix string) error {
	if err := m.now(); err != nil {
		return err
	}
	return m.Objects.Remove(ctx, prefix)
}

func (m *moody) Check(ctx context.Context) error {
	if err := m.now(); err != nil {
		return err
	}
	return m.Objects.Check(ctx)
}

// A bucket is full or away, under relays on PostgreSQL, at each chunk of a blob: the same holds,
// and existing blobs are not reported missing.
func TestFullBucket(t *testing.T) {
	folder, err := objects.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	blobs := &moody{Objects: folder}
	s := over(t, database(t, &cluster), blobs, nil, nil)
	h := s.settle("full bucket")
	whole := whole3(t)
	id, chunks := chunksOf(s, h, whole)
	full, away := fmt.Errorf("%w: of a test", objects.ErrFull), fmt.Errorf("%w: of a test", objects.ErrUnavailable)
	for i, c := range chunks {
		blobs.set(full)
		trouble(t, s, c(), 507, page.Full)
		blobs.set(away)
		trouble(t, s, c(), 503, page.Unavailable)
		blobs.set(nil)
		if res, _, kind := c().do(t, s.addr); res.StatusCode != map[bool]int{false: 204, true: 201}[i == len(chunks)-1] {
			t.Fatal(i, res.Status, kind)
		}
	}
	blobs.set(away)
	trouble(t, s, s.owner(h, "GET", "/blobs/"+id.String()), 503, page.Unavailable)
	s.send(h, h.Owner, "what needs no blob goes on")
	blobs.set(nil)
	same(t, s, h, id, whole)
}

// The bucket goes away when all chunks of a blob are there and are being joined. The blob is not
// reported as complete; otherwise nobody would send its end again, and it would be deleted with the
// unfinished ones.
func TestBucketFailsWhileChunksAreJoined(t *testing.T) {
	folder, err := objects.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	blobs := &moody{Objects: folder}
	s := over(t, database(t, &cluster), blobs, nil, nil)
	h := s.settle("at the end")
	whole := whole3(t)
	id, chunks := chunksOf(s, h, whole)
	for _, c := range chunks[:2] {
		if res, _, kind := c().do(t, s.addr); res.StatusCode != 204 {
			t.Fatal(res.Status, kind)
		}
	}
	blobs.after.Store(1) // the put of the chunk itself
	blobs.set(fmt.Errorf("%w: of a test", objects.ErrUnavailable))
	trouble(t, s, chunks[2](), 503, page.Unavailable)
	blobs.set(nil)
	if got, err := s.as(h, h.Owner).PutBlob(t.Context(), bytes.NewReader(whole)); err != nil || [32]byte(got) != [32]byte(id) {
		t.Fatal(err)
	}
	same(t, s, h, id, whole)
}

// A database whose disk is full reports that by a code of its own. Nothing of the append is stored,
// and the same deltas are accepted once there is room.
func TestFullDatabase(t *testing.T) {
	url := database(t, &cluster)
	s := instance(t, url, t.TempDir(), nil)
	h := s.settle("full database")
	s.send(h, h.Owner, "before")
	db, err := pgx.Connect(t.Context(), url)
	s.ok(err)
	defer db.Close(context.Background())
	_, err = db.Exec(t.Context(), `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION USING ERRCODE = ''disk_full'', MESSAGE = ''could not extend file''; END';
		CREATE TRIGGER no_room BEFORE INSERT ON deltas FOR EACH ROW EXECUTE FUNCTION no_room()`)
	s.ok(err)
	d := page.EncodeItems([][]byte{h.Delta(h.Owner, "first").Bytes(), h.Delta(h.Owner, "second").Bytes()})
	send := func() *raw { r := s.owner(h, "POST", "/deltas"); r.body = d; return r }
	trouble(t, s, send(), 507, page.Full)
	if ds, _, err := s.as(h, h.Reader).Pull(t.Context(), 0, 9, 0); err != nil || len(ds) != 1 {
		t.Fatal("part of it is there: ", len(ds), err)
	}
	_, err = db.Exec(t.Context(), "DROP TRIGGER no_room ON deltas")
	s.ok(err)
	if res, _, kind := send().do(t, s.addr); res.StatusCode != 200 {
		t.Fatal(res.Status, kind)
	}
	if ds, _, err := s.as(h, h.Reader).Pull(t.Context(), 0, 9, 0); err != nil || len(ds) != 3 {
		t.Fatal(len(ds), err)
	}
}
