package exchange

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/remotes"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/sync/peer"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

// partsDir holds sealed blobs that have not arrived completely yet.
const partsDir = "parts"

// batchDelay is how long changes are collected before they are sent. The first change after a
// silence is sent at once.
const batchDelay = 300 * time.Millisecond

// snapshotBehind is the number of unread deltas from which a snapshot is read instead. At that
// number a snapshot costs about as much as it saves.
const snapshotBehind = 200

var (
	// ErrNoRelay: the operation needs the relay, and there is none.
	ErrNoRelay = fmt.Errorf("%w: this node has no relay", serve.ErrUnsupported)
	// ErrAlone: the node syncs with nobody.
	ErrAlone = fmt.Errorf("%w: this node syncs with nobody: neither sync.relay nor sync.lan is set", serve.ErrUnsupported)
)

// Syncing is the sync part of an open node. Its methods are safe for concurrent use.
type Syncing struct {
	c         Config
	at        atomic.Pointer[relayAt] // the primary relay
	journal   *journal.Journal
	startErr  error      // why there is no exchange, although there should be one
	replacing sync.Mutex // held while the exchange is replaced
	exchange  atomic.Pointer[exchange]
	running   atomic.Bool // between Start and Stop

	pairMu  sync.Mutex  // guards pairing
	pairing *invitation // the last one; nil: there was none
}

// relayAt is a relay and its URL; if relay is nil, there is none.
type relayAt struct {
	relay *remote.Relay
	url   string
}

// Config is what the sync of an open node needs.
type Config struct {
	Home   string
	Sync   config.Sync
	Wearer string
	Ring   *keyring.Ring
	Public *keyring.Locked
	Store  *store.Store
	Clock  *memory.Ticker
	HTTP   *http.Client // for relays; nil: the usual
	Life   *opened.Life
	Now    func() time.Time
	Spans  span.Sink // receives the spans of rounds; nil: there are none
	Log    *slog.Logger

	// Metered reports whether the connection costs by the byte now; nil: it never does.
	Metered func(context.Context) bool

	// CommitRemote commits what others said, and carries out here what they have forgotten.
	CommitRemote func(ctx context.Context, fn func(*store.Tx) (gone *store.Targets, err error)) error
	// CoolDuringSync keeps the budget of hot memories while a round brings many. nil: there
	// is no budget.
	CoolDuringSync func(context.Context)
	// FetchCold brings every cold memory back from the primary relay.
	FetchCold func(ctx context.Context) (missing int, err error)
}

// Open makes a Syncing. Nothing is exchanged before Start.
func Open(c Config) (*Syncing, error) {
	sy := &Syncing{c: c}
	sy.at.Store(&relayAt{url: c.Sync.Relay})
	if err := sy.open(); err != nil {
		sy.Close()
		return nil, err
	}
	return sy, nil
}

// Start exchanges in the background until Stop. Before there is a first relay it exchanges with
// nobody.
func (sy *Syncing) Start() {
	sy.running.Store(true)
	if x := sy.exchange.Load(); x != nil {
		x.start()
	}
}

// Stop ends what Start began.
func (sy *Syncing) Stop() {
	sy.running.Store(false)
	if x := sy.exchange.Load(); x != nil {
		x.stop()
	}
}

// Close ends everything. Work that was started with Life ends by itself.
func (sy *Syncing) Close() {
	if x := sy.exchange.Load(); x != nil {
		x.close()
	}
	if relay, _ := sy.Relay(); relay != nil {
		relay.Close()
	}
}

// HasRelay reports whether there is a primary relay.
func (sy *Syncing) HasRelay() bool { return sy.at.Load().relay != nil }

// Relay returns the primary relay, and its URL. Another one may be the primary later.
func (sy *Syncing) Relay() (*remote.Relay, string) {
	at := sy.at.Load()
	return at.relay, at.url
}

// Journal returns the replica's durable state.
func (sy *Syncing) Journal() *journal.Journal { return sy.journal }

// Unsynced returns why there is no exchange although there should be one, or nil.
func (sy *Syncing) Unsynced() error { return sy.startErr }

// Remotes returns the remotes with which envelopes are exchanged. nil: the replica talks to one
// relay directly.
func (sy *Syncing) Remotes() *remotes.Remotes {
	if x := sy.exchange.Load(); x != nil {
		return x.remotes
	}
	return nil
}

// Space returns the wearer's space at the primary relay. There must be one.
func (sy *Syncing) Space() replica.Remote { return sy.spaceAt(sy.at.Load().relay) }

func (sy *Syncing) path(name string) string { return filepath.Join(sy.c.Home, name) }

// openRelay makes the client of a relay, or nil if there is none.
func openRelay(url string, client *http.Client, now func() time.Time) (*remote.Relay, error) {
	if url == "" {
		return nil, nil
	}
	return remote.New(url, remote.Option{HTTP: client, Now: now})
}

// openPeer opens another device, which must know one of keys; nil: any device. ok is false if the
// URL is not that of a device.
func openPeer(url string, now func() time.Time, keys func() [][]byte) (r *remote.Relay, ok bool, err error) {
	host, ok := strings.CutPrefix(url, peer.Scheme+"://")
	if ok {
		r, err = remote.New("https://"+host, remote.Option{HTTP: peer.Client(keys), Now: now})
	}
	return r, ok, err
}

// open makes the replica of an open node that has a relay or an envelope store. If the store can't
// be opened, the node works without sync. The store is not touched then, and all memories are on
// the device.
func (sy *Syncing) open() (err error) {
	sy.journal = sy.newJournal()
	if remotes.HasStore(sy.path(EnvelopesDir)) || sy.c.Sync.LAN || sy.c.Metered != nil {
		err := sy.openEnvelopes()
		if errors.Is(err, remotes.ErrEnvelopes) {
			sy.startErr = fmt.Errorf("sync is off: %w", err)
			sy.c.Log.Error("sync is off until the node is opened again", "folder", sy.path(EnvelopesDir), "error", err)
			return nil
		}
		return err
	}
	if err := sy.setPrimary(sy.c.Sync.Relay); err != nil || !sy.HasRelay() {
		return err
	}
	r, err := sy.newReplica(sy.Space(), nil)
	if err == nil {
		sy.exchange.Store(&exchange{replica: r})
	}
	return err
}

// setPrimary makes a relay the primary one. An empty url means none.
func (sy *Syncing) setPrimary(url string) error {
	relay, err := openRelay(url, sy.c.HTTP, sy.c.Now)
	if err == nil {
		sy.at.Store(&relayAt{relay, url})
	}
	return err
}

// spaceAt returns the wearer's space at a relay.
func (sy *Syncing) spaceAt(relay *remote.Relay) replica.Remote {
	return upstream.New(relay.Space(sy.c.Ring.Space(), sy.c.Ring.Member(), sy.c.Ring.SignRequest), sy.c.Sync.Invite)
}

// newReplica makes a replica over the node's journal. It talks to a relay, or to an envelope
// store, whose remotes are then given in of.
func (sy *Syncing) newReplica(at replica.Remote, of *remotes.Remotes) (*replica.Replica, error) {
	genesis, err := membership.Genesis(sy.c.Ring.Locked)
	if err != nil {
		return nil, err
	}
	local := of != nil
	sy.journal.Envelopes = local
	taken := sy.c.CoolDuringSync
	if sy.at.Load().url == "" {
		taken = nil // nothing turns cold
	}
	var snapshots *replica.Snapshots
	var elsewhere *replica.SnapshotFallback
	if local {
		elsewhere = &replica.SnapshotFallback{Archive: sy.journal, At: of}
	} else if c, ok := at.(replica.Checkpoints); ok {
		snapshots = &replica.Snapshots{Archive: sy.journal, At: c, Every: uint64(max(0, sy.c.Sync.Snapshots)), Behind: snapshotBehind, Compact: sy.c.Sync.Compact}
	}
	return replica.New(replica.Config{Space: sy.c.Ring.Space(), Member: sy.c.Ring.Member(), Genesis: genesis, Remote: at, Journal: blobFilter{sy.journal},
		Keys: Keys{sy.c.Ring}, Temp: sy.path(partsDir), Log: sy.c.Log, Now: sy.c.Now, Spans: sy.c.Spans, BatchDelay: batchDelay, Local: local, Snapshots: snapshots, SnapshotFallback: elsewhere, OnTaken: taken})
}

// newJournal makes the durable state of the replica.
func (sy *Syncing) newJournal() *journal.Journal {
	var gone *store.Targets // what the current transaction removes; guarded by the engine's lock
	return &journal.Journal{Space: sy.c.Ring.Space(), Member: sy.c.Ring.Member(), Store: sy.c.Store, Vault: sy.c.Sync.Vault, OnClock: sy.c.Clock.Observe,
		OnErased: func(t store.Targets) {
			if gone == nil {
				gone = &store.Targets{}
			}
			gone.Utterances, gone.Events = append(gone.Utterances, t.Utterances...), append(gone.Events, t.Events...)
		},
		Write: func(ctx context.Context, fn func(*store.Tx) error) error {
			return sy.c.CommitRemote(ctx, func(tx *store.Tx) (*store.Targets, error) {
				gone = nil
				err := fn(tx)
				return gone, err
			})
		}}
}

// OnPosted is called when there is something to send.
func (sy *Syncing) OnPosted() {
	if r := sy.Replica(); r != nil {
		r.Notify()
	}
}

// replica returns the open node's replica. If it is closed while it is used, its methods fail with
// replica.ErrClosed.
func (sc Syncer) replica() (*Syncing, *replica.Replica, error) {
	sy, release, err := sc.of.Use()
	if err != nil {
		return nil, nil, err
	}
	defer release()
	r, err := sy.Active()
	return sy, r, err
}

// Active returns the replica, or why there is none.
func (sy *Syncing) Active() (*replica.Replica, error) {
	if r := sy.Replica(); r != nil {
		return r, nil
	}
	if sy.startErr != nil {
		return nil, sy.startErr
	}
	return nil, ErrAlone
}

// FetchBlob fetches the bytes of a resource that another device has.
func (sy *Syncing) FetchBlob(ctx context.Context, name memory.ID) error {
	r, err := sy.Active()
	if err != nil {
		return err
	}
	return r.FetchBlob(ctx, name)
}
