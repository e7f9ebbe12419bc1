package journal_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/replica"
)

// photo stores n bytes that can't be compressed, under a memory that is said.
func (m *member) photo(of byte, n int) memory.ID {
	m.t.Helper()
	b := make([]byte, n)
	rng := rand.NewChaCha8([32]byte{of})
	_, _ = rng.Read(b)
	kept, err := m.store.WriteBlob(m.t.Context(), bytes.NewReader(b))
	if err != nil {
		m.t.Fatal(err)
	}
	m.update(func(tx *store.Tx) error { return tx.KeepBlob(kept, memory.ID{of}) })
	m.say(fact(of, "A photo of a plum."))
	return kept.ID
}

// badSector is a disk that can't read one blob.
type badSector struct {
	replica.Journal
	of *memory.ID
}

func (d badSector) OpenBlob(ctx context.Context, name memory.ID) (io.ReadCloser, int64, error) {
	r, size, err := d.Journal.OpenBlob(ctx, name)
	if err == nil && name == *d.of {
		r = failing{r}
	}
	return r, size, err
}

// failing is a file of which only the beginning can be read.
type failing struct{ io.ReadCloser }

func (f failing) Read(p []byte) (int, error) {
	n, _ := f.ReadCloser.Read(p)
	return n, syscall.EIO
}

// A photo whose file can't be read blocks nothing. It is reported, stays in the
// outbox, and is sent when it can be read.
func TestUnreadableBlobBlocksNoOther(t *testing.T) {
	a, b := pair(t)
	small, middle, large := a.photo(1, 5_000), a.photo(2, 50_000), a.photo(3, 400_000)
	bad := middle
	a.disk = func(j replica.Journal) replica.Journal { return badSector{j, &bad} }
	a.close()
	a.open()
	for n := byte(4); n < 6; n++ {
		a.say(fact(n, "Said before the round."))
		err := a.Sync(t.Context())
		if !errors.Is(err, replica.ErrHeld) || !errors.Is(err, replica.ErrUnreadable) || !strings.Contains(err.Error(), middle.String()) || strings.Contains(err.Error(), large.String()) {
			t.Fatalf("round %d: %v", n, err)
		}
		b.sync()
		if b.memory(memory.ID{n}) == nil {
			t.Error("what was said did not go")
		}
	}
	for _, name := range []memory.ID{small, large} {
		if err := b.FetchBlob(t.Context(), name); err != nil {
			t.Errorf("another photo: %v", err)
		}
	}
	s, err := a.Status(t.Context())
	ps, err2 := a.Problems(t.Context())
	if err := errors.Join(err, err2); err != nil || s.Pending != 1 || s.Problems != 1 || s.Synced.IsZero() || len(ps) != 1 || !ps[0].Waits || !strings.Contains(ps[0].Reason, middle.String()) {
		t.Errorf("%+v, %+v, %v", s, ps, err)
	}
	bad = memory.ID{}
	a.sync()
	b.sync()
	if err := b.FetchBlob(t.Context(), middle); err != nil {
		t.Errorf("it can be read again: %v", err)
	}
	if ps := a.problems(); len(ps) != 0 {
		t.Errorf("named still: %q", ps)
	}
}

// A photo for which there is no room does not block others for which there is.
func TestLargeBlobBlocksNoOther(t *testing.T) {
	a := newMember(t, serveRelayOf(t, t.TempDir(), relay.Config{Quota: relay.Quota{Bytes: 200_000}}), nil)
	small, large, larger := a.photo(1, 5_000), a.photo(2, 300_000), a.photo(3, 400_000)
	a.say(memory.Assertion{Memory: memory.ID{2}, Act: memory.ActPin}) // so that the large one comes first
	err := a.Sync(t.Context())
	if !errors.Is(err, replica.ErrHeld) || !errors.Is(err, replica.ErrNoRoom) || !strings.Contains(err.Error(), large.String()) ||
		strings.Contains(err.Error(), larger.String()) || !strings.Contains(err.Error(), "1 more") {
		t.Fatalf("%v", err)
	}
	a.say(fact(4, "Said afterwards."))
	if err := a.Sync(t.Context()); !errors.Is(err, replica.ErrHeld) {
		t.Fatal(err)
	}
	if n := a.saying(memory.ID{4}); n != 1 {
		t.Errorf("what was said afterwards is in %d deltas", n)
	}
	if has, err := a.journal().RemoteBlob(t.Context(), small); err != nil || has.Plain != 5_000 {
		t.Errorf("the small one: %+v, %v", has, err)
	}
	if s, err := a.Status(t.Context()); err != nil || s.Pending != 2 || s.Synced.IsZero() {
		t.Errorf("%+v, %v", s, err)
	}
}

// Blobs have filled an account as far as they may. Assertions are still sent,
// and so are erasures, which make room for a waiting photo.
func TestErasuresFreeAFullAccount(t *testing.T) {
	a := newMember(t, serveRelayOf(t, t.TempDir(), relay.Config{Quota: relay.Quota{Bytes: 200_000}}), nil)
	a.photo(1, 60_000)
	a.sync()
	for size := 100_000; size > 0; { // for example photos of another device
		b := make([]byte, size)
		b[0], b[size-1] = byte(size), byte(size>>8)
		if _, err := a.at.PutBlob(t.Context(), bytes.NewReader(b)); errors.Is(err, remote.ErrQuota) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		} else {
			size--
		}
	}
	waits := a.photo(2, 50_000)
	if err := a.Sync(t.Context()); !errors.Is(err, replica.ErrNoRoom) {
		t.Fatal(err)
	}
	a.erase(1)
	for rounds, end := 1, time.Now().Add(10*time.Minute); ; rounds++ {
		err := a.Sync(t.Context())
		if err == nil {
			break
		}
		if !errors.Is(err, replica.ErrHeld) || time.Now().After(end) {
			t.Fatalf("round %d: %v", rounds, err)
		}
		time.Sleep(10 * time.Millisecond) // a round can send what waits only after the previous round has deleted
	}
	if has, err := a.journal().RemoteBlob(t.Context(), waits); err != nil || has.Plain != 50_000 {
		t.Errorf("what waited: %+v, %v", has, err)
	}
}
