package archive_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/archive"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/cloud/relay/objects"
	"github.com/locket-dev/locket/cloud/relay/pgtest"
	"github.com/locket-dev/locket/cloud/relay/postgres"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
)

var cluster pgtest.Cluster

func TestMain(m *testing.M) { os.Exit(cluster.Main(m)) }

var now = time.Unix(1_790_000_000, 0)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// place is a store, and a way to take a snapshot of it.
type place struct {
	relay.Restorer
	snapshot func() relay.Snapshot
}

func folder(t *testing.T) place {
	dir := t.TempDir()
	s, err := embedded.Open(t.Context(), dir)
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	return place{s, func() relay.Snapshot {
		x, err := embedded.OpenSnapshot(t.Context(), dir)
		check(t, err)
		return x
	}}
}

func database(t *testing.T) place {
	url, dir := cluster.Database(t), t.TempDir()
	m, err := postgres.Migrate(url)
	check(t, err)
	_, err = m.Up(t.Context())
	check(t, errors.Join(err, m.Close()))
	blobs := func() objects.Objects {
		o, err := objects.OpenFolder(dir)
		check(t, err)
		return o
	}
	s, err := postgres.Open(t.Context(), url, blobs())
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	return place{s, func() relay.Snapshot {
		x, err := postgres.OpenSnapshot(t.Context(), url, blobs())
		check(t, err)
		return x
	}}
}

// settle stores a household with a history: a removed member, a forgotten body, blobs, one of them
// in several pieces.
func settle(t *testing.T, s relay.Store, name string) *storetest.Household {
	t.Helper()
	h, ctx := storetest.NewHousehold(t, name), t.Context()
	appendLog := func(e *envelope.Entry) {
		var f *relay.Founding
		if e.N == 1 {
			f = &relay.Founding{Account: relay.AccountID(h.Root.Public())}
		}
		check(t, s.AppendLog(ctx, e, f, relay.Quota{}))
	}
	for _, e := range h.Entries {
		appendLog(e)
	}
	last := h.Delta(h.Writer, "two")
	ds := []*envelope.Delta{h.Delta(h.Owner, "one"), last, h.Delta(h.Owner, "three")}
	_, err := s.Append(ctx, h.Space, h.State.N(), ds, relay.Quota{}, now)
	check(t, err)
	_, err = s.Forget(ctx, h.Space, []relay.Ref{{Member: h.Owner.ID, Position: ds[0].Header.Position()}})
	check(t, err)
	appendLog(h.Remove(h.Owner, h.Writer, last.Header.Position()))
	c := &envelope.Checkpoint{Space: h.Space, Author: h.Owner.ID, Head: h.State.Head(), Epoch: h.State.Epoch(), Cursor: 1, Manifest: envelope.Hash{1}, Size: 1,
		Places: []envelope.Place{{Member: h.Owner.ID, Incarnation: 1, Seq: 1, Hash: ds[0].Header.Hash()}}}
	check(t, c.Sign(envelope.KeySigner(h.Owner.Key)))
	v := &envelope.Vote{Space: h.Space, Member: h.Owner.ID, Checkpoint: c.Hash(), Verdict: envelope.Agree, Head: h.State.Head()}
	check(t, v.Sign(envelope.KeySigner(h.Owner.Key)))
	check(t, s.PutRecord(ctx, h.Space, relay.Record{ID: c.Hash(), About: c.Hash(), Bytes: c.Bytes()}, relay.Quota{}))
	check(t, s.PutRecord(ctx, h.Space, relay.Record{ID: v.Hash(), About: c.Hash(), Bytes: v.Bytes()}, relay.Quota{}))
	put(t, s, h, []byte("small "+name))
	put(t, s, h, bytes.Repeat([]byte(name), 500_000))
	_, err = s.WriteBlob(ctx, h.Space, relay.BlobID{1}, h.Owner.ID, 100, 0, []byte("begun"), relay.Quota{}, now)
	check(t, err)
	return h
}

func put(t *testing.T, s relay.Store, h *storetest.Household, whole []byte) relay.BlobID {
	t.Helper()
	id := relay.BlobID(sha256.Sum256(whole))
	for at := 0; at < len(whole); {
		end := min(at+relay.MaxChunk, len(whole))
		_, err := s.WriteBlob(t.Context(), h.Space, id, h.Owner.ID, int64(len(whole)), int64(at), whole[at:end], relay.Quota{}, now)
		check(t, err)
		at = end
	}
	return id
}

func backup(t *testing.T, p place) ([]byte, archive.Count) {
	t.Helper()
	s := p.snapshot()
	defer func() { check(t, s.Close()) }()
	var b bytes.Buffer
	n, err := archive.Backup(t.Context(), s, &b)
	check(t, err)
	return b.Bytes(), n
}

// A restored store has the same content, from any kind of store into any kind: a backup of it is
// the same bytes.
func TestBackupRestoreRoundTrip(t *testing.T) {
	from := folder(t)
	a := settle(t, from, "a")
	settle(t, from, "b")
	check(t, from.AddInvite(t.Context(), [32]byte{1}))
	check(t, from.RestoreInvite(t.Context(), relay.Invite{Hash: [32]byte{2}, Used: true}))
	check(t, from.RestoreAccount(t.Context(), relay.AccountID{7})) // an account without spaces
	want, n := backup(t, from)
	if n != (archive.Count{Accounts: 3, Spaces: 2, Entries: 8, Deltas: 6, Blobs: 4, Bytes: n.Bytes}) || n.Bytes < 1_000_000 {
		t.Fatalf("%+v", n)
	}
	for name, to := range map[string]place{"folder": folder(t), "database": database(t)} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // a second time changes nothing
				m, err := archive.Restore(t.Context(), bytes.NewReader(want), to)
				check(t, err)
				if m != n {
					t.Fatalf("%+v, want %+v", m, n)
				}
			}
			if got, _ := backup(t, to); !bytes.Equal(got, want) {
				t.Fatal("a backup of it differs")
			}
			before, err := from.Account(t.Context(), relay.AccountID(a.Root.Public()))
			check(t, err)
			after, err := to.Account(t.Context(), relay.AccountID(a.Root.Public()))
			check(t, err)
			if after.Bytes != before.Bytes-100 || after.Blobs != before.Blobs-1 { // except for the unfinished blob
				t.Fatalf("%+v, was %+v", after, before)
			}
			// The restored space can continue.
			_, err = to.Append(t.Context(), a.Space, a.State.N(), []*envelope.Delta{a.Delta(a.Owner, "after")}, relay.Quota{}, now)
			check(t, err)
			if _, err := archive.Restore(t.Context(), bytes.NewReader(want), to); !errors.Is(err, relay.ErrConflict) {
				t.Fatal("an older archive over a newer store: ", err)
			}
			a = storetest.NewHousehold(t, "a")
			a = settleAgain(t, a)
		})
	}
}

// settleAgain brings a household to the state in which settle leaves it, without storing anything.
func settleAgain(t *testing.T, h *storetest.Household) *storetest.Household {
	t.Helper()
	last := h.Delta(h.Writer, "two")
	h.Delta(h.Owner, "one")
	h.Delta(h.Owner, "three")
	h.Remove(h.Owner, h.Writer, last.Header.Position())
	return h
}

// A backup shows one moment, however much is written meanwhile: no gap, no delta without its log
// entry, and everything that was acknowledged before it began.
func TestConsistentWhileServing(t *testing.T) {
	for name, open := range map[string]func(*testing.T) place{"folder": folder, "database": database} {
		t.Run(name, func(t *testing.T) {
			p := open(t)
			h, other := settle(t, p, "busy"), settle(t, p, "deleted")
			ctx, stop := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			defer wg.Wait()
			defer stop()
			written := make(chan struct{}, 1)
			wg.Go(func() {
				for ctx.Err() == nil {
					if _, err := p.Append(context.Background(), h.Space, h.State.N(), []*envelope.Delta{h.Delta(h.Owner, "more")}, relay.Quota{}, now); err != nil {
						t.Error(err)
						return
					}
					select {
					case written <- struct{}{}:
					default:
					}
				}
			})
			for i := range 4 {
				<-written
				before, err := p.Space(t.Context(), h.Space)
				check(t, err)
				b, n := backup(t, p)
				if n.Deltas < int64(before.Cursor) {
					t.Errorf("%d deltas, of %d", n.Deltas, before.Cursor)
				}
				again, err := archive.Verify(t.Context(), bytes.NewReader(b))
				check(t, err)
				if again != n {
					t.Errorf("%+v, want %+v", again, n)
				}
				if i == 1 { // the blob is deleted while the snapshot stays
					s := p.snapshot()
					check(t, p.DeleteSpace(t.Context(), other.Space))
					var b bytes.Buffer
					n, err := archive.Backup(t.Context(), s, &b)
					check(t, errors.Join(err, s.Close()))
					if n.Gone != 2 || n.Spaces != 2 {
						t.Errorf("%+v", n)
					}
					if _, err := archive.Verify(t.Context(), &b); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

// breaking is a snapshot whose objects break off early.
type breaking struct{ relay.Snapshot }

func (b breaking) OpenBlob(ctx context.Context, space memory.SpaceID, id relay.BlobID) (io.ReadSeekCloser, int64, error) {
	r, size, err := b.Snapshot.OpenBlob(ctx, space, id)
	if err == nil {
		_, err = r.Seek(1, io.SeekStart)
	}
	return r, size, err
}

// An object that exists and can't be read to its end makes the backup fail.
func TestUnreadableObjectFailsTheBackup(t *testing.T) {
	p := folder(t)
	settle(t, p, "broken")
	s := p.snapshot()
	defer func() { check(t, s.Close()) }()
	if n, err := archive.Backup(t.Context(), breaking{s}, io.Discard); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%+v, %v", n, err)
	}
}

// An archive that was changed anywhere, cut, joined or assembled from others is refused.
func TestHostileArchives(t *testing.T) {
	from := folder(t)
	settle(t, from, "hostile")
	good, _ := backup(t, from)
	refused := func(what string, b []byte) {
		t.Helper()
		if _, err := archive.Verify(t.Context(), bytes.NewReader(b)); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	for at := 0; at < len(good); at += 1 + at/8 {
		b := bytes.Clone(good)
		b[at] ^= 1
		refused("a changed byte", b)
		refused("a cut one", good[:at])
	}
	refused("one with more behind it", append(bytes.Clone(good), 0))
	refused("two in one", append(bytes.Clone(good), good...))
	refused("none", nil)
	refused("a huge record", append(bytes.Clone(good[:15]), 0xff, 0xff, 0xff, 0xff, 'a'))
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte("locket relay 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := archive.Verify(t.Context(), bytes.NewReader(b)); err == nil && len(b) < 50 {
			t.Error("taken")
		}
	})
}
