package worker

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/testing/relaytest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

// serveRelay starts a relay on its own port, and returns its address.
func serveRelay(t *testing.T) string {
	t.Helper()
	return relaytest.Serve(t, t.TempDir(), relay.Config{}, api.Config{Drain: time.Second}).URL
}

// owner is a wearer's device, as far as a worker needs it.
type owner struct {
	*keys
	t       *testing.T
	member  memory.MemberID
	genesis *envelope.Entry
	store   *store.Store
	ledger  *journal.Journal
	at      *upstream.Space
	replica *replica.Replica
	ticker  memory.Ticker
	events  uint64
}

// Wrap seals a key for another member, like an owner's ring.
func (o *owner) Wrap(n uint32, to *seal.Recipient) ([]byte, error) {
	some := seal.Epochs{}
	for i := uint32(1); i <= n; i++ {
		some[i], _ = o.Epoch(i)
	}
	return seal.SealEpochs(to, o.space, some)
}

func newOwner(t *testing.T, relay string) *owner {
	t.Helper()
	id, err := newIdentity(t.TempDir())
	o := &owner{t: t, keys: &keys{id: id}, member: memory.MemberID{1}}
	o.ok(err)
	copy(o.space[:], id.public())
	o.Add(seal.Epochs{1: seal.NewKey()})
	rootSeed := seal.NewKey().Bytes()
	root, recovery := ed25519.NewKeyFromSeed(rootSeed), seal.NewIdentity().Recipient()
	me := envelope.Member{ID: o.member, Key: id.public(), Recipient: id.pair.Recipient().String(), Role: envelope.Owner}
	e := &envelope.Entry{Version: envelope.Version, Space: o.space, N: 1, Action: envelope.Found, At: time.Now().Unix(), Epoch: 1,
		Root: root.Public().(ed25519.PublicKey), Recovery: recovery.String(), Member: &me}
	for _, w := range []struct {
		to  memory.MemberID
		key *seal.Recipient
	}{{memory.MemberID{}, recovery}, {o.member, id.pair.Recipient()}} {
		sealed, err := o.Wrap(1, w.key)
		o.ok(err)
		e.Wraps = append(e.Wraps, envelope.Wrap{To: w.to, Keys: sealed})
	}
	o.ok(e.Sign(envelope.KeySigner(root)))
	o.genesis = e
	o.store, err = store.Open(store.Options{Dir: filepath.Join(t.TempDir(), "store"), Key: id.store, Derive: reconcile.Derive, Diff: reconcile.Diff})
	o.ok(err)
	r, err := remote.New(relay, remote.Option{})
	o.ok(err)
	t.Cleanup(func() {
		r.Close()
		if err := o.store.Close(); err != nil {
			t.Error(err)
		}
	})
	o.ledger = &journal.Journal{Space: o.space, Member: o.member, Store: o.store, OnClock: o.ticker.Observe}
	o.at = upstream.New(r.Space(o.space, o.member, httpsig.KeySigner(id.sign)), "")
	o.replica, err = replica.New(replica.Config{Space: o.space, Member: o.member, Genesis: e.Bytes(), Remote: o.at, Journal: o.ledger, Keys: o, Temp: t.TempDir()})
	o.ok(err)
	o.sync()
	return o
}

func (o *owner) ok(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

func (o *owner) sync() {
	o.t.Helper()
	o.ok(o.replica.Sync(o.t.Context()))
}

// let grants a request, and returns the welcome.
func (o *owner) let(request string, g delta.Grant) string {
	o.t.Helper()
	r, err := envelope.ParseRequest(request)
	o.ok(err)
	id := r.Member(o.space)
	status, err := o.replica.Status(o.t.Context())
	o.ok(err)
	key, _ := o.Epoch(status.Epoch)
	o.ok(o.replica.AddMember(o.t.Context(), envelope.Member{ID: id, Key: r.Key, Recipient: r.Recipient, Role: envelope.Extractor,
		Grant: replica.SealGrant(g, o.space, id, status.Epoch, key)}, "worker"))
	return envelope.Welcome{Space: o.space, Genesis: o.genesis.Hash()}.String()
}

// source adds a recording or a photo with its bytes, and syncs.
func (o *owner) source(media string, data []byte, tags ...string) memory.ID {
	o.t.Helper()
	o.events++
	at := time.Date(2026, 9, 14, 10, 0, int(o.events), 0, time.UTC) // all have the same description
	ev := memory.EventID{Device: "pin", Boot: 1, Seq: o.events}
	id := memory.DeriveID([]byte("test"), ev, "speech", "source")
	c := memory.Candidate{Type: memory.Resource, Text: "Source", Owner: memory.Owner{User: "mei"}, Tags: tags, Confidence: 1,
		Sensitivity: memory.Private, Evidence: []memory.Evidence{{Event: ev, At: at}}, TrueFrom: at, TrueTo: at.Add(11 * time.Second), Source: memory.Source{Device: "pin", Plugin: "speech"}}
	b, err := o.store.WriteBlob(o.t.Context(), bytes.NewReader(data))
	o.ok(err)
	c.Fields.Resource = &memory.ResourceFields{Title: "Source", MediaType: media, Blob: b.ID.String()}
	o.ok(o.store.Update(o.t.Context(), func(tx *store.Tx) error {
		dot, err := tx.NextDot(o.member)
		if err != nil {
			return err
		}
		if _, err = tx.Assert(memory.Assertion{Dot: dot, Clock: o.ticker.Tick(), Rank: memory.RankDevice, Space: o.space, Memory: id, Act: memory.ActPropose, Candidate: &c, Source: c.Source}); err != nil {
			return err
		}
		return tx.KeepBlob(b, id)
	}))
	o.sync()
	return id
}

// answers returns the memories linked to a source, as the owner knows them.
func (o *owner) answers(src memory.ID) (out []memory.Memory) {
	o.t.Helper()
	o.ok(o.store.View(o.t.Context(), func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			for _, l := range m.Links {
				if l.To == src.String() {
					out = append(out, *m)
				}
			}
		}
		return nil
	}))
	return out
}

// await syncs until a source has an answer.
func (o *owner) await(src memory.ID) memory.Memory {
	o.t.Helper()
	for {
		o.sync()
		if got := o.answers(src); len(got) > 0 {
			return got[0]
		}
		o.waitMore()
	}
}

// waitMore waits until the relay has something new.
func (o *owner) waitMore() {
	o.t.Helper()
	status, err := o.replica.Status(o.t.Context())
	o.ok(err)
	ctx, cancel := context.WithTimeout(o.t.Context(), 10*time.Minute)
	defer cancel()
	err = o.at.Wait(ctx, status.Cursor)
	if ctx.Err() != nil {
		ps, _ := o.replica.Problems(o.t.Context())
		o.t.Fatalf("nothing came; problems: %+v", ps)
	}
	o.ok(err)
}

// said is a log that signals when a message comes.
type said struct {
	mu   sync.Mutex
	seen map[string]chan struct{}
	text strings.Builder
}

func (s *said) heard(message string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]chan struct{}{}
	}
	if s.seen[message] == nil {
		s.seen[message] = make(chan struct{})
	}
	return s.seen[message]
}

func (s *said) Enabled(context.Context, slog.Level) bool { return true }
func (s *said) WithAttrs([]slog.Attr) slog.Handler       { return s }
func (s *said) WithGroup(string) slog.Handler            { return s }
func (s *said) Handle(_ context.Context, r slog.Record) error {
	c := s.heard(r.Message)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool { s.text.WriteString(" " + a.String()); return true })
	s.text.WriteByte('\n')
	select {
	case <-c:
	default:
		close(c)
	}
	return nil
}

func (s *said) wait(t *testing.T, message string) {
	t.Helper()
	select {
	case <-s.heard(message):
	case <-time.After(10 * time.Minute):
		s.mu.Lock()
		defer s.mu.Unlock()
		t.Fatalf("%q was not said, but\n%s", message, s.text.String())
	}
}

func day(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "day", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
