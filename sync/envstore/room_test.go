package envstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// small is a remote with limited room for blobs, which takes no delta once that is full.
type small struct {
	*Store
	room  int64
	tried []int64
}

func (s *small) used() (n int64) {
	all, err := s.folder.blobs()
	if err != nil {
		panic(err)
	}
	for _, id := range all {
		n += s.folder.sizeOf(id)
	}
	return n
}

func (s *small) Upload(ctx context.Context, r io.ReadSeeker) (envelope.Hash, error) {
	size, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return envelope.Hash{}, err
	}
	s.tried = append(s.tried, size)
	if s.used()+size > s.room {
		return envelope.Hash{}, fmt.Errorf("%w: %d bytes", replica.ErrNoRoom, s.room)
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return envelope.Hash{}, err
	}
	return s.Store.Upload(ctx, r)
}

func (s *small) Append(ctx context.Context, d *envelope.Delta) error {
	if s.used() >= s.room {
		return replica.ErrNoRoom
	}
	return s.Store.Append(ctx, d)
}

// A blob for which a remote has no room, or that can't be read here, is
// reported and blocks nothing else.
func TestUnsendableBlobBlocksNothing(t *testing.T) {
	log, _ := world(t)
	mine, one := newStore(t, t.TempDir(), log), &small{Store: newStore(t, t.TempDir(), log), room: 100}
	large, larger, photo, last := upload(t, mine, strings.Repeat("l", 200)), upload(t, mine, strings.Repeat("m", 300)), upload(t, mine, "a photo"), upload(t, mine, "another photo")
	dark := upload(t, mine, "a dark photo")
	path := mine.folder.blobPath(dark)
	c := carrier(t, mine, "http://one", one)
	c.UploadFirst = func(context.Context, []envelope.Hash) (map[envelope.Hash]bool, error) {
		return map[envelope.Hash]bool{large: true}, os.Rename(path, path+".away")
	}
	round := func() error {
		t.Helper()
		err := c.Round(t.Context())
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
		return err
	}
	for range 2 {
		one.tried = nil
		err := round()
		if !errors.Is(err, replica.ErrNoRoom) || !errors.Is(err, replica.ErrUnreadable) || !strings.Contains(err.Error(), large.String()) || !strings.Contains(err.Error(), dark.String()) {
			t.Fatal(err)
		}
		if slices.Contains(one.tried, 300) {
			t.Error("what is larger than what there is no room for was tried")
		}
	}
	if !hasBlob(t, one.Store, photo) || !hasBlob(t, one.Store, last) || c.Waiting() != 3 {
		t.Errorf("the others do not go: %d wait", c.Waiting())
	}
	one.room = 1000
	if err := round(); !errors.Is(err, replica.ErrUnreadable) || errors.Is(err, replica.ErrNoRoom) {
		t.Fatal(err)
	}
	if !hasBlob(t, one.Store, large) || !hasBlob(t, one.Store, larger) {
		t.Error("there is room again, and they do not go")
	}
}

// A full remote removes what was forgotten, and then takes what it lacks.
func TestErasuresFreeAFullRemote(t *testing.T) {
	log, state := world(t)
	mine, one := newStore(t, t.TempDir(), log), &small{Store: newStore(t, t.TempDir(), log), room: 15}
	p := &author{actor: phone, state: state}
	blob := upload(t, mine, "a photo, sealed")
	c := carrier(t, mine, "http://one", one)
	round(t, c)
	said := p.say(t, "The photo is forgotten.")
	take(t, mine, said)
	if err := c.Round(t.Context()); !errors.Is(err, replica.ErrNoRoom) {
		t.Fatal(err)
	}
	if err := mine.DeleteBlob(t.Context(), blob, nil); err != nil {
		t.Fatal(err)
	}
	round(t, c)
	if ds, err := one.Deltas(t.Context(), 0); err != nil || len(ds) != 1 || hasBlob(t, one.Store, blob) {
		t.Errorf("%d deltas, %v", len(ds), err)
	}
}
