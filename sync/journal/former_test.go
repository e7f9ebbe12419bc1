package journal_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

// Bodies were dropped for a snapshot whose author was removed since, so nobody
// takes it. A remaining owner makes another in its place, with which a new
// device gets everything, and nothing of the old one stays at the relay.
func TestSnapshotReplacesARemovedOwners(t *testing.T) {
	url := serveRelay(t)
	a, phrase := newMemberWords(t, url)
	a.with(replica.Snapshots{Behind: 1})
	b := a.let(url, envelope.Owner, nil).with(replica.Snapshots{Behind: 1, Compact: true})
	a.say(fact(1, "It was here before."), fact(2, "This is forgotten later."))
	a.sync()
	b.sync()
	b.makeSnapshot()
	parts := b.partsOf(b.checkpoints()[0])
	a.again() // this verifies it
	b.again() // this makes the relay drop what it covers
	if n := a.bodies(); n != 0 {
		t.Fatalf("%d bodies are there", n)
	}
	a.putOut(b, phrase)
	a.erase(2)
	a.sync()
	cs := a.checkpoints()
	if len(cs) != 1 || cs[0].Author != a.ring.Member() {
		t.Fatalf("%d snapshots are there, %+v", len(cs), cs)
	}
	c := a.let(url, envelope.Owner, nil).with(replica.Snapshots{Behind: 1})
	c.sync()
	if !slices.Equal(c.knows(), a.knows()) || c.memory(memory.ID{1}) == nil {
		t.Errorf("the new device knows\n%q, not\n%q", c.knows(), a.knows())
	}
	for _, id := range parts {
		if err := upstream.New(a.at, "").Download(t.Context(), id, new(memoryFile), 1<<20); !errors.Is(err, replica.ErrNotFound) {
			t.Errorf("a part of the other's is there still: %v", err)
		}
	}
	for range 3 {
		a.again()
	}
	if again := a.checkpoints(); len(again) != 1 || again[0].Hash() != cs[0].Hash() {
		t.Error("another snapshot was made, and nothing had come")
	}
}

// partsOf returns the blobs of a snapshot.
func (m *member) partsOf(c *envelope.Checkpoint) []envelope.Hash {
	m.t.Helper()
	var f memoryFile
	if err := upstream.New(m.at, "").Download(m.t.Context(), c.Manifest, &f, 1<<20); err != nil {
		m.t.Fatal(err)
	}
	key, _ := m.ring.Epoch(c.Space, c.Epoch)
	plain, err := seal.OpenBody(key, f.b)
	if err != nil {
		m.t.Fatal(err)
	}
	manifest, err := delta.UnpackManifest(delta.Source{Space: c.Space, Author: c.Author, Cursor: c.Cursor}, plain)
	if err != nil {
		m.t.Fatal(err)
	}
	parts := []envelope.Hash{c.Manifest}
	for _, chunk := range manifest.Chunks {
		parts = append(parts, chunk.Sealed)
	}
	return parts
}

// The manifest of a lying snapshot names a photo as one of its parts. The photo
// stays when the snapshot is deleted.
func TestManifestNamesAPhoto(t *testing.T) {
	url := serveRelay(t)
	a, phrase := newMemberWords(t, url)
	a.with(replica.Snapshots{Behind: 1})
	b := a.let(url, envelope.Owner, nil).with(replica.Snapshots{Behind: 1})
	a.photo(7, 3000)
	a.sync()
	b.sync()
	named, _, err := a.journal().NamedBlobs(t.Context())
	if err != nil || len(named) != 1 {
		t.Fatal(len(named), err)
	}
	b.makeSnapshot()
	c := b.checkpoints()[0]
	m := delta.Manifest{}
	for id := range named {
		m.Chunks = append(m.Chunks, delta.Chunk{Sealed: id, Size: 3000})
	}
	plain, err := m.Pack(delta.Source{Space: c.Space, Author: c.Author, Cursor: c.Cursor})
	if err != nil {
		t.Fatal(err)
	}
	key, _ := b.ring.Epoch(b.ring.Space(), c.Epoch)
	sealed, err := seal.SealBody(key, plain)
	if err != nil {
		t.Fatal(err)
	}
	hash := c.Hash()
	if c.Manifest, err = upstream.New(b.at, "").Upload(t.Context(), bytes.NewReader(sealed)); err != nil {
		t.Fatal(err)
	}
	c.Size = uint32(len(sealed))
	if err := c.Sign(b.ring.DeviceSign); err != nil {
		t.Fatal(err)
	}
	if err := b.checkpointsAt().DropCheckpoint(t.Context(), hash); err != nil {
		t.Fatal(err)
	}
	if err := b.checkpointsAt().PutCheckpoint(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	a.putOut(b, phrase)
	a.again()
	if cs := a.checkpoints(); len(cs) != 1 || cs[0].Author != a.ring.Member() {
		t.Fatalf("%+v", cs)
	}
	for id := range named {
		if err := upstream.New(a.at, "").Download(t.Context(), id, new(memoryFile), 1<<20); err != nil {
			t.Errorf("the photo at the relay: %v", err)
		}
	}
}

// tidied is a remote that is so slow that the store is rewritten while a part of a snapshot comes.
type tidied struct {
	replica.Remote
	of    *member
	times int
}

func (r *tidied) Download(ctx context.Context, id envelope.Hash, f io.ReadWriteSeeker, limit int64) error {
	r.times++
	return errors.Join(r.of.store.Compact(ctx), r.Remote.Download(ctx, id, f, limit))
}

// A relay that sends a snapshot slowly blocks nobody: the store is not locked while its parts come.
func TestSlowSnapshotLocksNoStore(t *testing.T) {
	a, b := pair(t)
	b.with(replica.Snapshots{Compact: true, Behind: 1})
	slow := &tidied{of: a}
	a.close()
	a.remote = func(r replica.Remote) replica.Remote { slow.Remote = r; return slow }
	a.with(replica.Snapshots{Behind: 1})
	a.say(fact(1, "It was here before."))
	a.sync()
	b.sync()
	b.makeSnapshot()
	a.again() // this verifies it
	if c := b.checkpoints(); slow.times < 2 || len(c) != 1 {
		t.Fatalf("%d downloads, %d snapshots", slow.times, len(c))
	}
	if left, err := os.ReadDir(filepath.Join(a.dir, "parts")); err != nil || len(left) != 0 {
		t.Errorf("%d parts are left; %v", len(left), err)
	}
	b.again()
	if n := b.bodies(); n != 0 {
		t.Errorf("nobody has verified it: %d bodies are there", n)
	}
}
