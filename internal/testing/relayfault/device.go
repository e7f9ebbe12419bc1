package relayfault

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	syncjournal "github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

// space is a wearer's space: its root, and its beginning.
type space struct {
	id       memory.SpaceID
	root     ed25519.PrivateKey
	recovery *seal.Identity
	genesis  []byte
}

func newSpace() (*space, error) {
	_, root, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	s := &space{root: root, recovery: seal.NewIdentity()}
	rand.Read(s.id[:])
	return s, nil
}

// device is a member's side: keys, store, replica.
type device struct {
	w     *world
	space *space
	name  string
	id    memory.MemberID
	role  envelope.Role
	sign  ed25519.PrivateKey
	pair  *seal.Identity
	keys  map[uint32]*seal.Key // keys of epochs
	dir   string
	under *seal.Key // the store's key

	store   *store.Store
	journal *journal
	rep     *replica.Replica
	relay   *remote.Relay
	at      *remote.Space
	skew    time.Duration
	tick    *memory.Ticker

	backup     bool // there is a copy of the store
	restored   bool // it was restored, at least once
	backupKeys map[uint32]*seal.Key
	removed    bool
}

func (w *world) newDevice(s *space, name string, role envelope.Role) (*device, error) {
	_, sign, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	d := &device{w: w, space: s, name: name, role: role, sign: sign, pair: seal.NewIdentity(), keys: map[uint32]*seal.Key{},
		dir: filepath.Join(w.o.Dir, name), under: seal.NewKey()}
	rand.Read(d.id[:])
	d.tick = &memory.Ticker{Now: d.now}
	return d, nil
}

func (d *device) member() envelope.Member {
	return envelope.Member{ID: d.id, Key: d.sign.Public().(ed25519.PublicKey), Recipient: d.pair.Recipient().String(), Role: d.role}
}

func (d *device) now() time.Time { return time.Now().Add(d.skew) }

// found makes a space and its first device.
func (w *world) found(s *space, name string) (*device, error) {
	d, err := w.newDevice(s, name, envelope.Owner)
	if err != nil {
		return nil, err
	}
	d.keys[1] = seal.NewKey()
	m := d.member()
	e := &envelope.Entry{Version: envelope.Version, Space: s.id, N: 1, Action: envelope.Found, At: time.Now().Unix(), Epoch: 1,
		Root: s.root.Public().(ed25519.PublicKey), Recovery: s.recovery.Recipient().String(), Member: &m}
	for _, to := range []struct {
		id  memory.MemberID
		key *seal.Recipient
	}{{memory.MemberID{}, s.recovery.Recipient()}, {d.id, d.pair.Recipient()}} {
		keys, err := seal.SealEpochs(to.key, s.id, d.keys)
		if err != nil {
			return nil, err
		}
		e.Wraps = append(e.Wraps, envelope.Wrap{To: to.id, Keys: keys})
	}
	if err := e.Sign(envelope.KeySigner(s.root)); err != nil {
		return nil, err
	}
	s.genesis = e.Bytes()
	return d, errors.Join(d.open(false), d.sync())
}

// open opens store and replica. accept: the store was restored.
func (d *device) open(accept bool) error {
	var err error
	d.store, err = store.Open(store.Options{Dir: d.dir, Key: d.under, Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: 1 << 20, Accept: accept})
	if err != nil {
		return fmt.Errorf("%s: open: %w", d.name, err)
	}
	return d.begin()
}

// begin makes a replica that only knows what is on the disk.
func (d *device) begin() error {
	if d.relay == nil {
		var err error
		if d.relay, err = remote.New(d.w.relay.URL, remote.Option{Now: d.now, HTTP: &http.Client{Transport: &http.Transport{MaxResponseHeaderBytes: 16 << 10, DisableCompression: true}}}); err != nil {
			return err
		}
		d.at = d.relay.Space(d.space.id, d.id, httpsig.KeySigner(d.sign))
	}
	d.journal = &journal{Journal: d.ledger(), left: -1}
	var err error
	d.rep, err = replica.New(replica.Config{Space: d.space.id, Member: d.id, Genesis: d.space.genesis, Remote: upstream.New(d.at, ""),
		Journal: d.journal, Keys: keys{d}, Temp: filepath.Join(d.dir, "parts"), Now: d.now})
	return err
}

func (d *device) ledger() *syncjournal.Journal {
	return &syncjournal.Journal{Space: d.space.id, Member: d.id, Store: d.store, OnClock: d.tick.Observe}
}

func (d *device) close() error {
	if d.rep != nil {
		d.rep.Close()
		d.rep = nil
	}
	if d.relay != nil {
		d.relay.Close()
		d.relay = nil
	}
	if d.store == nil {
		return nil
	}
	err := d.store.Close()
	d.store = nil
	return err
}

// sync runs a round.
func (d *device) sync() error { return d.rep.Sync(d.w.ctx) }

// die drops everything that is not on the disk; whole: including the store.
func (d *device) die(whole bool) error {
	d.tick = &memory.Ticker{Now: d.now}
	if !whole {
		d.rep.Close()
		return d.begin()
	}
	return errors.Join(d.close(), d.open(false))
}

// copyAway makes a copy of the device's present state.
func (d *device) copyAway() error {
	if err := d.close(); err != nil {
		return err
	}
	if err := os.RemoveAll(d.dir + ".backup"); err != nil {
		return err
	}
	if err := os.CopyFS(d.dir+".backup", os.DirFS(d.dir)); err != nil {
		return err
	}
	d.backup, d.backupKeys = true, maps.Clone(d.keys)
	return d.open(false)
}

// putBack restores the device from the copy.
func (d *device) putBack() error {
	if err := d.close(); err != nil {
		return err
	}
	if err := os.RemoveAll(d.dir); err != nil {
		return err
	}
	if err := os.CopyFS(d.dir, os.DirFS(d.dir+".backup")); err != nil {
		return err
	}
	d.restored, d.keys = true, maps.Clone(d.backupKeys)
	d.tick = &memory.Ticker{Now: d.now}
	return d.open(true)
}

// keys implements replica.Keys.
type keys struct{ d *device }

func (k keys) Sign(domain string, msg []byte) ([]byte, error) {
	return envelope.KeySigner(k.d.sign)(domain, msg)
}

func (k keys) Epoch(n uint32) (*seal.Key, bool) {
	key, ok := k.d.keys[n]
	return key, ok
}

func (k keys) Take(sealed []byte) error {
	e, err := seal.OpenEpochs(k.d.pair, k.d.space.id, sealed)
	if err != nil {
		return err
	}
	maps.Copy(k.d.keys, e)
	return nil
}

func (k keys) Wrap(n uint32, to *seal.Recipient) ([]byte, error) {
	e := seal.Epochs{}
	for i := uint32(1); i <= n; i++ {
		if e[i] = k.d.keys[i]; e[i] == nil {
			return nil, fmt.Errorf("the key of epoch %d is not here", i)
		}
	}
	return seal.SealEpochs(to, k.d.space.id, e)
}

// errCrash: the device crashed.
var errCrash = errors.New("crash")

// journal is a ledger under a device that crashes after some writes, before or after one has
// reached the disk. From then on nothing works.
type journal struct {
	replica.Journal
	left  int // writes until then; -1: it does not crash
	after bool
	out   bool
}

func (j *journal) write(do func() error) error {
	if j.out {
		return errCrash
	}
	if j.left < 0 {
		return do()
	}
	if j.left > 0 {
		j.left--
		return do()
	}
	j.out = true
	if j.after {
		if err := do(); err != nil {
			return err
		}
	}
	return errCrash
}

// Save implements replica.Journal.
func (j *journal) Save(ctx context.Context, s replica.State, entries ...[]byte) error {
	return j.write(func() error { return j.Journal.Save(ctx, s, entries...) })
}

// Sent implements replica.Journal.
func (j *journal) Sent(ctx context.Context, sent replica.Entries, at envelope.Position, ops []delta.Op, s replica.State) error {
	return j.write(func() error { return j.Journal.Sent(ctx, sent, at, ops, s) })
}

// Apply implements replica.Journal.
func (j *journal) Apply(ctx context.Context, in replica.Incoming, s replica.State) error {
	return j.write(func() error { return j.Journal.Apply(ctx, in, s) })
}

// Quarantine implements replica.Journal.
func (j *journal) Quarantine(ctx context.Context, p replica.Problem) error {
	return j.write(func() error { return j.Journal.Quarantine(ctx, p) })
}

// RecordDoubt implements replica.BlobJournal.
func (j *journal) RecordDoubt(ctx context.Context, id envelope.Hash) error {
	return j.write(func() error { return j.Journal.RecordDoubt(ctx, id) })
}

// RemoveDoubts implements replica.BlobJournal.
func (j *journal) RemoveDoubts(ctx context.Context, ids []envelope.Hash) error {
	return j.write(func() error { return j.Journal.RemoveDoubts(ctx, ids) })
}

// RecordRemovals implements replica.Journal.
func (j *journal) RecordRemovals(ctx context.Context, f replica.Removals) error {
	return j.write(func() error { return j.Journal.RecordRemovals(ctx, f) })
}
