package envstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// A new store takes from a broken one everything before the damage, removes
// again the bodies that were removed there, and reports the rest.
func TestRefill(t *testing.T) {
	log, state := world(t)
	old := t.TempDir()
	s := newStore(t, old, log)
	p, w := &author{actor: phone, state: state}, &author{actor: watch, state: state}
	first := p.say(t, "one")
	take(t, s, first, w.say(t, "two"), p.say(t, "three"), p.say(t, "four"), w.say(t, "five"))
	if err := s.Forget(t.Context(), []replica.Ref{{Member: phone.id, Position: first.Header.Position()}}); err != nil {
		t.Fatal(err)
	}
	id, err := s.Upload(t.Context(), bytes.NewReader([]byte("a photo")))
	if err != nil {
		t.Fatal(err)
	}
	bad, err := s.Upload(t.Context(), bytes.NewReader([]byte("another")))
	if err != nil {
		t.Fatal(err)
	}
	if found, err := s.Check(t.Context()); len(found) > 0 || err != nil {
		t.Fatalf("a sound store: %v, %v", found, err)
	}
	three := s.folder.deltaPath(chain{phone.id, 1}, 2)
	for _, path := range []string{three, s.folder.blobPath(bad)} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)-2] ^= 1
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := s.Check(t.Context()); len(found) != 2 || err != nil {
		t.Errorf("found %v, %v", found, err)
	}
	fresh, err := Open(t.TempDir(), log[0].Bytes())
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[envelope.Hash]int64{id: 100, bad: 100}
	met, err := fresh.Refill(t.Context(), old, wanted)
	if err != nil || met.Took != 3 || met.Blobs != 1 || len(met.Trouble) != 2 {
		t.Errorf("%+v, %v", met, err)
	}
	ref := replica.Ref{Member: phone.id, Position: first.Header.Position()}
	if d, err := fresh.read(ref); err != nil || d.Body != nil {
		t.Errorf("what was taken away is back: %+v, %v", d, err)
	}
	last := ref
	if last.Seq = 2; !fresh.HasDelta(ref) || fresh.HasDelta(last) {
		t.Errorf("reaches %v", fresh.ChainEnds())
	}
	if found, err := fresh.Check(t.Context()); len(found) > 0 || err != nil {
		t.Errorf("the new one: %v, %v", found, err)
	}
}

// A list with an invalid line is damaged, however long the line is, because the
// rest of the list says what was removed.
func TestInvalidLongLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gone")
	ref := chain{member: memory.MemberID{1}, incarnation: 2}.ref
	line := chain{member: memory.MemberID{1}, incarnation: 2}.String() + " 1\n"
	if err := os.WriteFile(path, []byte(line+strings.Repeat("\x00", 1<<17)+"\n"+line), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := readRefs(path); !errors.Is(err, memory.ErrDamaged) {
		t.Errorf("%v, %v", got, err)
	}
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := readRefs(path); err != nil || len(got) != 1 || got[0] != ref(1) {
		t.Errorf("%v, %v", got, err)
	}
}

// A full disk, a disk that does not answer, or an interrupted check does not
// mean that the store is broken.
func TestTransientErrorsAreNotDamage(t *testing.T) {
	for err, want := range map[error]bool{
		envelope.ErrForm: true,
		&os.PathError{Op: "open", Path: "x", Err: os.ErrNotExist}:              true,
		&os.PathError{Op: "read", Path: "x", Err: io.ErrNoProgress}:            false,
		&os.LinkError{Op: "rename", Old: "x", New: "y", Err: os.ErrPermission}: false,
		os.NewSyscallError("fsync", syscall.EIO):                               false,
		fmt.Errorf("check: %w", context.Canceled):                              false,
	} {
		if IsCorrupt(err) != want {
			t.Errorf("%v: want %v", err, want)
		}
	}
	if IsCorrupt(nil) {
		t.Error("no error")
	}
}

// blobRemote is a remote that only has blobs.
type blobRemote struct {
	replica.Remote
	has map[envelope.Hash]string
}

func (b *blobRemote) Upload(_ context.Context, r io.ReadSeeker) (envelope.Hash, error) {
	all, err := io.ReadAll(r)
	id := hashOf(all)
	b.has[id] = string(all)
	return id, err
}

func (b *blobRemote) Deltas(context.Context, uint64) ([]replica.Placed, error) { return nil, nil }

func (b *blobRemote) Download(_ context.Context, id envelope.Hash, f io.ReadWriteSeeker, _ int64) error {
	if _, ok := b.has[id]; !ok {
		return replica.ErrNotFound
	}
	_, err := io.WriteString(f, b.has[id])
	return err
}

func (b *blobRemote) DeleteBlob(_ context.Context, id envelope.Hash, _ *uint64) error {
	delete(b.has, id)
	return nil
}

// If a blob's file is lost or damaged here, the blob stays at the remotes and
// can be fetched from there. A deleted blob is removed from them, unless the
// same bytes came again.
func TestLostBlobStaysAtRemotes(t *testing.T) {
	log, _ := world(t)
	s := newStore(t, t.TempDir(), log)
	at := &blobRemote{has: map[envelope.Hash]string{}}
	c, err := s.Carry(Carrier{Name: "x", Remote: at, Self: phone.id, Owner: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Fetch(at.Download)
	put := func(text string) envelope.Hash {
		t.Helper()
		id, err := s.Upload(t.Context(), bytes.NewReader([]byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	carry := func() {
		t.Helper()
		if err := c.carryBlobs(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	lost, bent, deleted, again := put("lost"), put("bent"), put("deleted"), put("again")
	carry()
	if len(at.has) != 4 {
		t.Fatal(at.has)
	}
	if err := errors.Join(os.Remove(s.folder.blobPath(lost)), os.WriteFile(s.folder.blobPath(bent), []byte("bend"), 0o600),
		s.DeleteBlob(t.Context(), deleted, nil), s.DeleteBlob(t.Context(), again, nil)); err != nil {
		t.Fatal(err)
	}
	put("again")
	carry()
	if _, there := at.has[deleted]; there || len(at.has) != 3 {
		t.Errorf("the remote has %v", at.has)
	}
	for id, want := range map[envelope.Hash]string{lost: "lost", bent: "bent", again: "again"} {
		f, err := os.Create(filepath.Join(t.TempDir(), "f"))
		if err != nil {
			t.Fatal(err)
		}
		err = s.Download(t.Context(), id, f, 100)
		b, _ := os.ReadFile(f.Name())
		if f.Close(); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", want, b, err)
		}
	}
	if err := os.Remove(s.folder.blobPath(again)); err != nil {
		t.Fatal(err)
	}
	carry()
	if at.has[again] == "" {
		t.Error("one that came again, and is lost, was deleted")
	}
}

func hashOf(b []byte) envelope.Hash { return envelope.Hash(sha256.Sum256(b)) }
