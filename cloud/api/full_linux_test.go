package api_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/sync/remote/page"
)

// A disk without room under the blobs of an embedded relay: it says so, keeps
// what it has, and goes on from there once there is room. Linux has a device
// that never has any.
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
