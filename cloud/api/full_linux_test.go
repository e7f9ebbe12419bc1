package api_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/pgtest"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote/page"
)

// The disk under the blobs of an embedded relay is full. The relay says so, keeps what it has, and
// continues once there is room. Linux has a device that is always full.
func TestFullDiskUnderBlobs(t *testing.T) {
	s := serve(t, relay.Config{}, nil)
	h := s.settle("full")
	whole := whole3(t)
	id, chunks := chunksOf(s, h, whole)
	if res, _, kind := chunks[0]().do(t, s.addr); res.StatusCode != 204 {
		t.Fatal(res.Status, kind)
	}
	part := filepath.Join(s.dir, "blobs", h.Space.String(), id.String()+".part")
	s.ok(os.Rename(part, part+".kept"))
	s.ok(os.Symlink("/dev/full", part))
	for range 2 {
		trouble(t, s, chunks[1](), 507, page.Full)
	}
	s.send(h, h.Owner, "what needs no blob goes on")
	s.ok(os.Rename(part+".kept", part))
	if got, err := s.as(h, h.Owner).PutBlob(t.Context(), bytes.NewReader(whole)); err != nil || [32]byte(got) != [32]byte(id) {
		t.Fatal(err)
	}
	same(t, s, h, id, whole)
}

// The disk under a relay's database is really full. Senders are told to retry, nothing acknowledged
// is lost, nothing refused appears, and the relay recovers by itself once there is room, even if
// the database had to be restarted.
func TestFullDiskUnderDatabase(t *testing.T) {
	disk, err := os.MkdirTemp("", "full") // the server runs as another user, who needs access
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(disk) })
	if err := errors.Join(os.Chmod(disk, 0o755), syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=160m")); err != nil {
		t.Fatalf("a small file system is needed for this test, which takes root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	c := pgtest.Cluster{Durable: true, Under: disk}
	t.Cleanup(func() { c.Stop() })
	s := instance(t, database(t, &c), t.TempDir(), nil)
	h := s.settle("full database")
	ballast := filepath.Join(disk, "ballast")
	s.ok(os.WriteFile(ballast, make([]byte, 40<<20), 0o600))

	// give sends a delta, and returns the relay's answer.
	give := func(d *envelope.Delta) *http.Response {
		r := s.owner(h, "POST", "/deltas")
		r.body = page.EncodeItems([][]byte{d.Bytes()})
		res, _, _ := r.do(t, s.addr)
		return res
	}
	var all []*envelope.Delta
	var refused *envelope.Delta
	for refused == nil {
		text := make([]byte, 60<<10)
		rand.Read(text)
		d := h.Delta(h.Owner, string(text))
		if res := give(d); res.StatusCode == http.StatusOK {
			all = append(all, d)
		} else {
			refused = d
		}
	}
	for i := range 5 {
		res := give(refused)
		if n, err := strconv.Atoi(res.Header.Get("Retry-After")); res.StatusCode != 507 && res.StatusCode != 503 || err != nil || n < 1 {
			t.Errorf("try %d: %s, Retry-After %q", i, res.Status, res.Header.Get("Retry-After"))
		}
	}
	s.ok(os.Remove(ballast))
	for res := give(refused); res.StatusCode != http.StatusOK; res = give(refused) {
		n, err := strconv.Atoi(res.Header.Get("Retry-After"))
		if !c.Runs() { // PostgreSQL stops if its journal has no room
			s.ok(c.Restart(t.Context()))
		}
		if err != nil || n < 1 || !wait.For(t.Context(), 100*time.Millisecond) {
			t.Fatal(res.Status, err)
		}
	}
	all = append(all, refused)
	var got []*envelope.Delta
	for cursor := uint64(0); ; {
		ds, next, err := s.as(h, h.Reader).Pull(t.Context(), cursor, 100, 0)
		s.ok(err)
		if len(ds) == 0 {
			break
		}
		got, cursor = append(got, ds...), next
	}
	if len(got) != len(all) {
		t.Fatalf("%d deltas of %d", len(got), len(all))
	}
	for i := range got {
		if !bytes.Equal(got[i].Bytes(), all[i].Bytes()) {
			t.Fatalf("delta %d differs", i)
		}
	}
}
