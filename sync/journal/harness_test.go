package journal_test

import (
	"errors"
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/testing/relaytest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

func serveRelay(t *testing.T) (url string) {
	t.Helper()
	return serveRelayIn(t, t.TempDir())
}

func serveRelayIn(t *testing.T, dir string) (url string) {
	t.Helper()
	return serveRelayOf(t, dir, relay.Config{})
}

func serveRelayOf(t *testing.T, dir string, of relay.Config) (url string) {
	t.Helper()
	return relaytest.Serve(t, dir, of, api.Config{}).URL
}

// member is a member of a space, with a store and keys of its own.
type member struct {
	t     *testing.T
	url   string
	dir   string
	ring  *keyring.Ring
	store *store.Store
	at    *remote.Space
	*replica.Replica
	vault     bool
	envelopes bool                                  // it syncs with an envelope store on its own disk
	snap      *replica.Snapshots                    // nil: none; Archive and At are filled in
	remote    func(replica.Remote) replica.Remote   // nil: unchanged
	lies      func(replica.Archive) replica.Archive // nil: none
	disk      func(replica.Journal) replica.Journal // nil: unchanged
	now       func() time.Time
	more      seal.Epochs // further keys
	picture   memory.ID   // picture that lived stores
	tick      memory.Ticker
}

func newMember(t *testing.T, url string, join *keyring.Joining) *member {
	t.Helper()
	m, _ := newMemberOf(t, url, join)
	return m
}

// newMemberWords founds a space, and returns its phrase.
func newMemberWords(t *testing.T, url string) (m *member, phrase string) {
	t.Helper()
	return newMemberOf(t, url, nil)
}

func newMemberOf(t *testing.T, url string, join *keyring.Joining) (m *member, phrase string) {
	t.Helper()
	m = &member{t: t, url: url, dir: t.TempDir()}
	var err error
	if m.ring, phrase, err = keyring.Create(filepath.Join(m.dir, "keys"), keyring.CreateOptions{KeyFile: keyring.DefaultKeyFile, Join: join, FoundSpace: membership.FoundSpace("")}); err != nil {
		t.Fatal(err)
	}
	r, err := remote.New(url, remote.Option{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	m.at = r.Space(m.ring.Space(), m.ring.Member(), m.ring.SignRequest)
	m.open()
	t.Cleanup(func() { m.close(); m.ring.Close() })
	return m, phrase
}

func (m *member) open() {
	m.t.Helper()
	var err error
	if m.store, err = store.Open(store.Options{Dir: filepath.Join(m.dir, "store"), Key: m.ring.StoreKey(), Derive: reconcile.Derive, Diff: reconcile.Diff,
		Reserve: 1 << 20, Accept: true}); err != nil {
		m.t.Fatal(err)
	}
	genesis, err := membership.Genesis(m.ring.Locked)
	if err != nil {
		m.t.Fatal(err)
	}
	at, l := upstream.New(m.at, ""), &journal.Journal{Space: m.ring.Space(), Member: m.ring.Member(), Store: m.store, Vault: m.vault, OnClock: m.tick.Observe, Envelopes: m.envelopes}
	cfg := replica.Config{Local: m.envelopes, Space: m.ring.Space(), Member: m.ring.Member(), Genesis: genesis, Remote: at, Journal: l, Keys: keys{m.ring, m.more},
		Temp: filepath.Join(m.dir, "parts"), Now: m.now}
	if m.remote != nil {
		cfg.Remote = m.remote(at)
	}
	if m.disk != nil {
		cfg.Journal = m.disk(l)
	}
	if m.snap != nil {
		s := *m.snap
		s.Archive = l
		if m.lies != nil {
			s.Archive = m.lies(l)
		}
		if s.At == nil {
			s.At = at
		}
		cfg.Snapshots = &s
	}
	m.Replica, err = replica.New(cfg)
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *member) close() {
	m.t.Helper()
	m.Close()
	if err := m.store.Close(); err != nil {
		m.t.Error(err)
	}
}

type keys struct {
	ring *keyring.Ring
	more seal.Epochs // if not nil, new keys are kept here, as the ring does on disk
}

func (k keys) Sign(domain string, msg []byte) ([]byte, error) { return k.ring.DeviceSign(domain, msg) }

func (k keys) Epoch(n uint32) (*seal.Key, bool) {
	if key := k.more[n]; key != nil {
		return key, true
	}
	return k.ring.Epoch(k.ring.Space(), n)
}

func (k keys) Take(sealed []byte) error {
	e, err := seal.OpenEpochs(k.ring.DeviceIdentity(), k.ring.Space(), sealed)
	if err != nil {
		return err
	}
	if k.more != nil {
		maps.Copy(k.more, e)
		return nil
	}
	return k.ring.KeepEpochs(k.ring.Space(), e)
}

func (k keys) Wrap(n uint32, to *seal.Recipient) ([]byte, error) {
	e := seal.Epochs{}
	for i := uint32(1); i <= n; i++ {
		e[i], _ = k.Epoch(i)
	}
	return seal.SealEpochs(to, k.ring.Space(), e)
}

// let adds another member.
func (m *member) let(url string, role envelope.Role, grant *delta.Grant) *member {
	m.t.Helper()
	d := keyring.NewDevice()
	who := membership.MemberOf(d, role)
	epoch, _ := m.ring.Epoch(m.ring.Space(), 1)
	if grant != nil {
		who.Grant = replica.SealGrant(*grant, m.ring.Space(), who.ID, 1, epoch)
	}
	if err := m.AddMember(m.t.Context(), who, "another"); err != nil {
		m.t.Fatal(err)
	}
	genesis, err := membership.Genesis(m.ring.Locked)
	if err != nil {
		m.t.Fatal(err)
	}
	join, err := membership.Joining(d, genesis, seal.Epochs{1: epoch})
	if err != nil {
		m.t.Fatal(err)
	}
	return newMember(m.t, url, join)
}

func (m *member) sync() {
	m.t.Helper()
	if err := m.Sync(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
}

func (m *member) update(fn func(*store.Tx) error) {
	m.t.Helper()
	if err := m.store.Update(m.t.Context(), fn); err != nil {
		m.t.Fatal(err)
	}
}

// say asserts as this member.
func (m *member) say(as ...memory.Assertion) {
	m.t.Helper()
	m.update(func(tx *store.Tx) error {
		for _, a := range as {
			dot, err := tx.NextDot(m.ring.Member())
			if err != nil {
				return err
			}
			a.Dot, a.Clock, a.Space = dot, m.tick.Tick(), m.ring.Space()
			if a.Rank == 0 {
				a.Rank = memory.RankPerson
			}
			if _, err := tx.Assert(a); err != nil {
				return err
			}
		}
		return nil
	})
}

func (m *member) memory(id memory.ID) (got *memory.Memory) {
	m.t.Helper()
	err := m.store.View(m.t.Context(), func(tx *store.Tx) (err error) {
		got, err = tx.Memory(id)
		return err
	})
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		m.t.Fatal(err)
	}
	return got
}

func fact(n byte, text string) memory.Assertion {
	return memory.Assertion{Memory: memory.ID{n}, Act: memory.ActPropose, Candidate: &memory.Candidate{Type: memory.Semantic, Sensitivity: memory.Personal, Text: text,
		Owner: memory.Owner{User: "wearer"}, Confidence: 1}}
}

func pair(t *testing.T) (a, b *member) {
	url := serveRelay(t)
	a = newMember(t, url, nil)
	return a, a.let(url, envelope.Owner, nil)
}
