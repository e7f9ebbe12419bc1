package worker

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// A recording that is larger than a worker reads is not downloaded. It would stay on the worker's
// disk, and the disk is that of all spaces.
func TestHugeRecordingIsNotFetched(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	dirs, err := places(joined(t, o, relay, granted))
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	id := o.source("audio/wav", []byte("one"), "recording", "waiting")
	j, err := readJoined(dirs[0])
	o.ok(err)
	s, err := openSpace(t.Context(), dirs[0], j, time.Now, slog.New(slog.DiscardHandler))
	o.ok(err)
	defer func() { o.ok(s.close()) }()
	o.ok(s.replica.Sync(t.Context()))
	src, err := s.source(t.Context(), id)
	o.ok(err)
	name, err := memory.ParseID(src.Fields.Resource.Blob)
	o.ok(err)
	note, err := s.ledger.RemoteBlob(t.Context(), name)
	o.ok(err)
	for _, n := range []struct{ plain, size uint64 }{{maxMedia + 1, note.Size}, {note.Plain, 1 << 30}} { // the second lies
		note.Plain, note.Size = n.plain, n.size
		o.ok(s.store.Update(t.Context(), func(tx *store.Tx) error {
			return tx.PutMeta("sync/"+j.Space.String()+"/blob/"+name.String(), note)
		}))
		if _, err := s.media(t.Context(), src); !errors.Is(err, memory.ErrInvalid) {
			t.Error(n, err)
		}
	}
	if came, err := os.ReadDir(filepath.Join(dirs[0], "coming")); len(came) > 0 || err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(came, err)
	}
}
