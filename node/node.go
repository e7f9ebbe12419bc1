// Package node assembles the device daemon. Package intake takes what wearables send and puts it
// into the event journal. Package pump gives it to package extract, which makes memories of it.
// Package query finds them again. A [Node] provides the services of the local API.
//
// A home is a folder:
//
//	config.toml    settings
//	keys/          the keyring
//	journal/       the event journal: events that were taken and are not processed yet, sealed
//	store/         records, blobs, index segments, sealed
//	devices.json   wearables and the hashes of their passwords, signed
//	plugins/       extractors besides the built-in ones
//	shelf/         the envelope store, if the node has more than one remote
//	parts/         uploads and downloads of sync that are under way, sealed
//	shares/        spaces of what the wearer shares
//	reader/        what others share with the wearer, and the key for it
//	broken/        what a repair put aside
//	cache/         compiled plugins; may be deleted
//	locket.sock    the daemon's API, and api.token where it listens on TCP
//	pause.json     a pause, over restarts, signed
//	zones.json     the wearer's private zones, which a locked node obeys too, signed
//	lock           held by the one process that has the home open
//
// A node is locked or open. While it is locked it has only public keys: it takes events, seals them
// into the journal, and answers nothing about memories. While it is open it has all keys and does
// everything.
package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/filelock"
	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/category"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store/journal"
	"github.com/locket-dev/locket/node/apps"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/dream"
	"github.com/locket-dev/locket/node/edit"
	"github.com/locket-dev/locket/node/enginehost"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/exchange"
	"github.com/locket-dev/locket/node/forget"
	"github.com/locket-dev/locket/node/health"
	"github.com/locket-dev/locket/node/intake"
	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/node/match"
	"github.com/locket-dev/locket/node/models"
	"github.com/locket-dev/locket/node/plugins"
	"github.com/locket-dev/locket/node/policy/consent"
	"github.com/locket-dev/locket/node/policy/rulebook"
	"github.com/locket-dev/locket/node/query"
	"github.com/locket-dev/locket/node/remotes"
	"github.com/locket-dev/locket/node/sharing"
	"github.com/locket-dev/locket/node/tiers"
	"github.com/locket-dev/locket/node/transfer"
	"github.com/locket-dev/locket/node/vault"
	"github.com/locket-dev/locket/node/voices"
	"github.com/locket-dev/locket/node/wearables"
)

// Folders of a home.
const (
	keysDir    = "keys"
	journalDir = "journal"
	storeDir   = "store"
	cacheDir   = "cache"
	sharesDir  = "shares"
	readerDir  = "reader" // what others share with the wearer, and the key for it
)

// Node is one home, open in this process. Its methods are safe for concurrent use. The embedded
// services belong to the packages of their topics. Their parts of an open node are made at each
// unlock, see session.
type Node struct {
	dream.Dreamer
	plugins.Plugger
	transfer.Archives
	query.Reader
	exchange.Syncer
	vault.Opener
	*wearables.Wearables
	health.Checks
	models.Modeller
	tiers.Keeper
	sharing.Sharer
	rulebook.Policer
	forget.Forgetter
	edit.Writer
	enginehost.Enginer
	voices.Voicer

	cfg      config.Config
	zone     *time.Location
	log      *slog.Logger
	version  string
	started  time.Time
	lock     *filelock.Lock
	public   *keyring.Locked
	journal  *journal.Journal
	devices  *wearables.List
	cache    string
	ready    string
	worker   []string
	engines  []string
	now      func() time.Time
	metered  func(context.Context) bool // reports whether traffic costs money now; nil: it never does
	http     *http.Client
	spans    span.Sink
	sorter   *category.Sorter
	words    *recall.Dictionary // nil: none is configured
	apps     *apps.Book
	agreer   consent.Agreer
	comparer match.Comparer
	seller   market.Seller
	buyer    market.AppBuyer
	shopper  *market.Shopper
	rules    []config.Rule // the retention rules

	mu          sync.RWMutex // guards the fields below, except those that have their own lock or are atomic; a user of the session holds it for reading
	open        *session     // nil: locked
	intake      *intake.Intake
	fleetIntake atomic.Pointer[intake.Intake] // the same as intake, for callers that do not hold mu
	signer      *keyring.Ring                 // of the open session; nil: locked; guarded by paused.changing
	broker      *intake.Broker
	web         atomic.Pointer[intake.Web] // runs beside broker; nil: none
	client      *intake.Client
	running     bool
	paused      pauseTimer // has its own lock
	private     private    // has its own lock
	closed      bool
}

// Options are settings that the configuration does not have.
type Options struct {
	Log     *slog.Logger     // nil: nothing is logged
	Version string           // for Status
	Cache   string           // folder for compiled plugins; empty: in the home
	Ready   string           // folder of compiled plugins that all homes of the machine share, see wasm.Options; empty: none
	Now     func() time.Time // the clock of assertions; nil: time.Now
	Worker  []string         // command of a plugin's worker process, see wasm.SelfWorker; nil: third-party plugins are not run
	HTTP    *http.Client     // client for the relay; nil: the usual
	Engines []string         // command of an engine's process; nil: engines.Self's
	Spans   span.Sink        // receives the spans of the node's work; nil: there are none
	Places  engines.Places   // where engines are looked for; zero: the usual addresses on loopback
}

// ErrNoHome: there is no node in this folder yet.
var ErrNoHome = errors.New("no node here")

// Open opens a home, locked. Errors: ErrNoHome, memory.ErrInUse.
func Open(cfg config.Config, opt Options) (_ *Node, err error) {
	n := &Node{cfg: cfg, log: opt.Log, version: opt.Version, started: time.Now(), cache: opt.Cache, ready: opt.Ready, worker: opt.Worker, engines: opt.Engines, now: opt.Now, http: opt.HTTP, spans: opt.Spans}
	if n.now == nil {
		n.now = time.Now
	}
	n.metered = n.meteredNow()
	n.makeServices(opt)
	if n.cache == "" {
		n.cache = filepath.Join(cfg.Home, cacheDir)
	}
	if n.log == nil {
		n.log = slog.New(slog.DiscardHandler)
	}
	if n.zone, err = location(cfg.Zone); err != nil {
		return nil, err
	}
	if n.words, err = readDictionary(cfg.Recall.Dictionary); err != nil {
		return nil, err
	}
	if n.sorter, err = n.categories(); err != nil {
		return nil, err
	}
	n.Forgetter = forget.NewForgetter(partOf(n, func(o *session) *forget.Forgetting { return o.forgets }), n.zone, n.waitProcessed, n.purge)
	if _, err := os.Stat(n.path(keysDir)); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNoHome, cfg.Home)
	}
	if n.lock, err = filelock.Take(n.path("lock")); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.lock.Release())
		}
	}()
	if n.public, err = keyring.Open(n.path(keysDir)); err != nil {
		return nil, err
	}
	n.Opener = vault.NewOpener(partOf(n, func(o *session) *vault.Vault { return o.vault }), n.public, n.unlocker)
	if n.devices, err = wearables.OpenList(cfg.Home, n.public.Public().Device); err != nil {
		return nil, err
	}
	n.Wearables = wearables.New(n.devices, n.cfg.Broker, func() (*keyring.Ring, func(), error) {
		o, release, err := n.use()
		if err != nil {
			return nil, nil, err
		}
		return o.ring, release, nil
	}, func() (*intake.Broker, func()) {
		n.mu.RLock()
		return n.broker, n.mu.RUnlock
	}, wearables.Web{Link: n.pageLink, Connected: func(name string) bool {
		w := n.web.Load()
		return w != nil && w.Connected(name)
	}})
	if n.rules, err = config.ParseRules(cfg.Retention.Rules); err != nil {
		return nil, fmt.Errorf("retention.rules: %w", err)
	}
	if err := n.openZones(); err != nil {
		return nil, err
	}
	n.journal, err = journal.Open(n.path(journalDir), n.public.JournalRecipient(), journal.Options{Reserve: int64(cfg.Disk.Reserve)})
	if err != nil {
		return nil, err
	}
	return n, nil
}

// makeServices makes the services that need none of the home's files. Each asks for its part of the
// session when it is called.
func (n *Node) makeServices(opt Options) {
	n.Dreamer = dream.NewDreamer(n.waitProcessed, partOf(n, func(o *session) *dream.Dreams { return o.dreams }))
	n.Plugger = plugins.NewPlugger(partOf(n, func(o *session) *plugins.Plugins { return o.plugins }))
	n.Archives = transfer.NewArchives(partOf(n, func(o *session) *transfer.Transfer { return o.transfer }))
	n.Syncer = exchange.NewSyncer(partOf(n, func(o *session) *exchange.Syncing { return o.sync }))
	n.Sharer = sharing.NewSharer(partOf(n, func(o *session) *sharing.Sharing { return o.sharing }))
	n.seller = market.NewSeller(partOf(n, func(o *session) *market.Shop { return o.market }))
	n.Policer = rulebook.NewPolicer(partOf(n, func(o *session) *rulebook.Rulebook { return o.policy }))
	n.buyer = market.NewAppBuyer(partOf(n, func(o *session) *market.Purse { return o.purse }))
	n.shopper = market.NewShopper(partOf(n, func(o *session) *market.Purse { return o.purse }))
	n.agreer = consent.NewAgreer(partOf(n, func(o *session) *consent.Asker { return o.consent }))
	n.Keeper = tiers.NewKeeper(partOf(n, func(o *session) *tiers.Tiers { return o.tiers }))
	n.Modeller = models.NewModeller(partOf(n, func(o *session) *models.Language { return o.language }))
	n.Checks = health.NewChecks(partOf(n, func(o *session) *health.Health { return o.health }), &n.cfg, n.Status, n.Syncer)
	n.Reader = query.NewReader(partOf(n, func(o *session) *query.Query { return o.query }), n.WaitsFor, &n.paused)
	n.Writer = edit.NewWriter(partOf(n, func(o *session) *edit.Edits { return o.edits }), n.Members)
	n.Enginer = enginehost.NewEnginer(partOf(n, func(o *session) *enginehost.Host { return o.engines }), opt.Places, n.cfg.Languages)
	n.Voicer = voices.NewVoicer(partOf(n, func(o *session) *voices.Known { return o.voices }))
	n.comparer = match.NewComparer(partOf(n, func(o *session) *match.Matcher { return o.matcher }), n.Reader, n.Sharer)
	n.apps = apps.NewBook(appStore{n}, n.askWearer, n.now)
}

// categories returns the wearer's own categories, or the default ones if the home has no file of
// them.
func (n *Node) categories() (*category.Sorter, error) {
	list, err := config.Categories(n.cfg.Categories)
	if err != nil {
		return nil, err
	}
	if list == nil {
		list = category.Default()
	}
	s, err := category.New(list)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.cfg.Categories, err)
	}
	return s, nil
}

// PrimaryRelay is the URL of the primary relay of a home, open or not. It is empty if there is none.
func PrimaryRelay(cfg *config.Config) string {
	return remotes.PrimaryIn(homePath(cfg, exchange.EnvelopesDir), cfg.Sync.Relay)
}

func (n *Node) path(name string) string { return homePath(&n.cfg, name) }

func homePath(cfg *config.Config, name string) string { return filepath.Join(cfg.Home, name) }

func location(name string) (*time.Location, error) {
	if name == "" || name == "Local" {
		return time.Local, nil
	}
	z, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%w: zone %q: %v", memory.ErrInvalid, name, err)
	}
	return z, nil
}

// Close ends everything and drops the keys. It is safe to call twice.
func (n *Node) Close() error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return nil
	}
	n.closed = true
	n.mu.Unlock()
	err := n.Lock(context.Background())
	return errors.Join(err, n.journal.Close(), n.lock.Release())
}
