package embedded

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/envelope"
)

var write = flag.Bool("write-format", false, "write the database of the newest version into testdata")

const format1 = "testdata/relay-1.db.gz"

// day makes the stored content: the same bytes each time.
func day(t *testing.T) (*storetest.Household, []*envelope.Delta, []byte) {
	h := storetest.NewHousehold(t, "format 1")
	return h, []*envelope.Delta{h.Delta(h.Owner, "one"), h.Delta(h.Writer, "two"), h.Delta(h.Owner, "three")}, []byte("sealed bytes of a blob")
}

// A store of the first version can be opened, with its content.
func TestFormat1Opens(t *testing.T) {
	h, ds, blob := day(t)
	id := relay.BlobID(sha256.Sum256(blob))
	ctx, now := t.Context(), time.Unix(1_790_000_000, 0)
	if *write {
		dir := t.TempDir()
		s, err := Open(ctx, dir)
		check(t, err)
		for i, e := range h.Entries {
			var f *relay.Founding
			if i == 0 {
				f = &relay.Founding{Account: relay.AccountID(h.Root.Public())}
			}
			check(t, s.AppendLog(ctx, e, f, relay.Quota{}))
		}
		_, err = s.Append(ctx, h.Space, h.State.N(), ds, relay.Quota{}, now)
		check(t, err)
		_, err = s.Forget(ctx, h.Space, []relay.Ref{{Member: h.Writer.ID, Position: ds[1].Header.Position()}})
		check(t, err)
		_, err = s.WriteBlob(ctx, h.Space, id, h.Owner.ID, int64(len(blob)), 0, blob, relay.Quota{}, now)
		check(t, err)
		check(t, s.Sweep(ctx, now))
		check(t, s.Close())
		db, err := os.ReadFile(filepath.Join(dir, "relay.db"))
		check(t, err)
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, err = z.Write(db)
		check(t, err)
		check(t, z.Close())
		check(t, os.WriteFile(format1, b.Bytes(), 0o644))
	}
	dir := t.TempDir()
	f, err := os.Open(format1)
	check(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	check(t, err)
	db, err := io.ReadAll(z)
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, "relay.db"), db, 0o600))
	s, err := Open(ctx, dir)
	check(t, err)
	defer s.Close()
	page, err := s.After(ctx, h.Space, 0, 9, 1<<20)
	check(t, err)
	for i, want := range []*envelope.Delta{ds[0], ds[1].WithoutBody(), ds[2]} {
		if !bytes.Equal(page[i].Delta, want.Bytes()) {
			t.Errorf("delta %d differs", i)
		}
	}
	log, err := s.Log(ctx, h.Space, 0, 9)
	check(t, err)
	if len(log) != 3 || !bytes.Equal(log[2], h.Entries[2].Bytes()) {
		t.Error("another log")
	}
	b, err := s.Blob(ctx, h.Space, id)
	check(t, err)
	if want := (relay.Blob{Author: h.Owner.ID, Size: int64(len(blob)), Offset: int64(len(blob)), Done: true}); b != want {
		t.Errorf("%+v", b)
	}
	a, err := s.Account(ctx, relay.AccountID(h.Root.Public()))
	check(t, err)
	if len(a.Spaces) != 1 || a.Deltas != 3 || a.Blobs != 1 {
		t.Errorf("%+v", a)
	}
}

// A store of a future version is refused.
func TestNewerFormatIsRefused(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir)
	check(t, err)
	_, err = s.write.ExecContext(t.Context(), "PRAGMA user_version = 1000")
	check(t, err)
	check(t, s.Close())
	if s, err := Open(t.Context(), dir); err == nil {
		s.Close()
		t.Fatal("opened")
	}
}

// After a sweep, forgotten data is in none of the store's files.
func TestSweptDataLeavesTheDisk(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir)
	check(t, err)
	defer s.Close()
	h := storetest.NewHousehold(t, "forgotten")
	for i, e := range h.Entries {
		var f *relay.Founding
		if i == 0 {
			f = &relay.Founding{Account: relay.AccountID(h.Root.Public())}
		}
		check(t, s.AppendLog(t.Context(), e, f, relay.Quota{}))
	}
	body := "these very bytes are to go: " + string(bytes.Repeat([]byte("again "), 2000))
	d := h.Delta(h.Owner, body)
	_, err = s.Append(t.Context(), h.Space, h.State.N(), []*envelope.Delta{d}, relay.Quota{}, time.Unix(1_790_000_000, 0))
	check(t, err)
	if !onDisk(t, dir, "these very bytes") || !onDisk(t, dir, "again again") {
		t.Fatal("the bytes of the delta are not on the disk, so the test shows nothing")
	}
	_, err = s.Forget(t.Context(), h.Space, []relay.Ref{{Member: h.Owner.ID, Position: d.Header.Position()}})
	check(t, err)
	check(t, s.Sweep(t.Context(), time.Unix(1_790_000_000, 0)))
	if onDisk(t, dir, "these very bytes") || onDisk(t, dir, "again again") {
		t.Fatal("the bytes of the forgotten delta are still on the disk")
	}
}

func onDisk(t *testing.T, dir, text string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "relay.db*"))
	check(t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		check(t, err)
		if bytes.Contains(b, []byte(text)) {
			return true
		}
	}
	return false
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
