package journal_test

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/envelope"
)

// Two devices of one space bring the same twenty photos, as when both import a
// phone's pictures. The relay then has each photo's bytes once.
func TestTwentyPhotosOfTwoDevices(t *testing.T) {
	dir := t.TempDir()
	url := serveRelayIn(t, dir)
	a := newMember(t, url, nil)
	b := a.let(url, envelope.Owner, nil)
	var plain int64
	bring := func(m *member, first byte) {
		rng := rand.NewChaCha8([32]byte{1})
		plain = 0
		for i := range byte(20) {
			photo := make([]byte, 150_000+7_919*int(i))
			rng.Read(photo)
			plain += int64(len(photo))
			kept, err := m.store.WriteBlob(t.Context(), bytes.NewReader(photo))
			if err != nil {
				t.Fatal(err)
			}
			m.update(func(tx *store.Tx) error { return tx.KeepBlob(kept, memory.ID{first + i}) })
			m.say(fact(first+i, "A photo."))
		}
		m.sync()
	}
	lie := func() (n int64) {
		err := filepath.WalkDir(filepath.Join(dir, "blobs"), func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			info, err := e.Info()
			n += info.Size()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	bring(a, 1)
	one := lie()
	b.sync()
	bring(b, 101)
	both := lie()
	t.Logf("%d bytes of photos on each: %d sealed bytes of one device at the relay, %d of both", plain, one, both)
	if one < plain || both != one {
		t.Error("what is alike is not there once")
	}
}
