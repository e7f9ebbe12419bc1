package embedded

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
)

// Whatever state a crash leaves between a blob's file and its row, the next chunk continues from
// what the row says.
func TestBlobAfterCrash(t *testing.T) {
	whole := []byte("the first half, and the second")
	id := relay.BlobID(sha256.Sum256(whole))
	const half = 15
	now := time.Unix(1_790_000_000, 0)
	for name, leave := range map[string]func(path string) error{
		"more in the file than in the row": func(path string) error { return os.WriteFile(path+".part", whole[:half+7], 0o600) },
		"other bytes after the row's end": func(path string) error {
			return os.WriteFile(path+".part", append(append([]byte{}, whole[:half]...), "torn"...), 0o600)
		},
		"renamed, but for the row": func(path string) error {
			if err := os.Remove(path + ".part"); err != nil {
				return err
			}
			return os.WriteFile(path, whole, 0o600)
		},
		"all there, not renamed": func(path string) error { return os.WriteFile(path+".part", whole, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), t.TempDir())
			check(t, err)
			defer s.Close()
			h := storetest.NewHousehold(t, "crash")
			check(t, s.AppendLog(t.Context(), h.Entries[0], &relay.Founding{Account: relay.AccountID(h.Root.Public())}, relay.Quota{}))
			_, err = s.WriteBlob(t.Context(), h.Space, id, h.Owner.ID, int64(len(whole)), 0, whole[:half], relay.Quota{}, now)
			check(t, err)
			check(t, leave(s.path(h.Space, id)))
			b, err := s.WriteBlob(t.Context(), h.Space, id, h.Owner.ID, int64(len(whole)), half, whole[half:], relay.Quota{}, now)
			check(t, err)
			if !b.Done {
				t.Fatalf("%+v", b)
			}
			got, err := os.ReadFile(s.path(h.Space, id))
			check(t, err)
			if string(got) != string(whole) {
				t.Fatalf("%q", got)
			}
			if left, _ := filepath.Glob(filepath.Join(s.blobs, "*", "*.part")); len(left) != 0 {
				t.Fatal(left)
			}
		})
	}
}

// A sweep leaves blobs that were continued after it found them stale.
func TestSweepKeepsContinuedUploads(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	check(t, err)
	defer s.Close()
	h := storetest.NewHousehold(t, "sweep")
	check(t, s.AppendLog(t.Context(), h.Entries[0], &relay.Founding{Account: relay.AccountID(h.Root.Public())}, relay.Quota{}))
	whole := []byte("the first half, and the second")
	begun := time.Unix(1_790_000_000, 0)
	later := begun.Add(2 * relay.UnfinishedBy)
	put := func(tag byte, offset, end int, now time.Time) relay.BlobID {
		t.Helper()
		all := append([]byte{tag}, whole...)
		id := relay.BlobID(sha256.Sum256(all))
		_, err := s.WriteBlob(t.Context(), h.Space, id, h.Owner.ID, int64(len(all)), int64(offset), all[offset:end], relay.Quota{}, now)
		check(t, err)
		return id
	}
	size := len(whole) + 1
	stale, goneOn, done := put(1, 0, 10, begun), put(2, 0, 10, begun), put(3, 0, 10, begun)
	put(2, 10, 15, later)
	put(3, 10, size, later)
	for id, want := range map[relay.BlobID]error{stale: relay.ErrNotFound, goneOn: nil, done: nil, {9}: relay.ErrNotFound} {
		check(t, s.sweepBlob(t.Context(), h.Space, id, begun))
		if _, err := s.Blob(t.Context(), h.Space, id); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", id, err, want)
		}
	}
}

// A sweep removes files that no row names, and nothing else.
func TestStrayFilesAreSwept(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	check(t, err)
	defer s.Close()
	h := storetest.NewHousehold(t, "stray")
	dir := filepath.Join(s.blobs, h.Space.String())
	check(t, os.Mkdir(dir, 0o700))
	stray := relay.BlobID{1}
	for _, name := range []string{stray.String(), stray.String() + ".part", "README"} {
		check(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	check(t, s.Sweep(t.Context(), time.Unix(1_790_000_000, 0)))
	left, err := os.ReadDir(dir)
	check(t, err)
	if len(left) != 1 || left[0].Name() != "README" {
		t.Fatal(left)
	}
}
