package forget

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/cold"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/extract"
)

// Engine is the part of engine.Engine that this package uses.
type Engine interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
	CommitInReserve(ctx context.Context, fn func(*store.Tx) error) error
	AcquireWriter() *engine.Writer
	Erase(tx *store.Tx, by memory.Source, why string, ids ...memory.ID) ([]memory.Change, error)
	AssertAs(tx *store.Tx, id memory.ID, c *memory.Candidate, m *memory.Memory) error
}

// Chain has the extractor's part of forgetting. Its methods are called under the
// engine's write lock.
type Chain interface {
	Latest(*engine.Writer) time.Time // the time of the latest event
	HeldEvents() []extract.HeldEvent
	Forget(ctx context.Context, lock *engine.Writer, g extract.Forgotten) (held []memory.EventID, err error)
}

// Config is what forgetting on an open node needs.
type Config struct {
	Engine    Engine
	Chain     Chain
	Cold      *cold.Keeper
	Retention *config.Retention
	Rules     []config.Rule
	Log       *slog.Logger

	FetchCold     func(ctx context.Context, ids ...memory.ID) error // brings cold memories back; its error is serve.ErrCold
	Flush         func(ctx context.Context, lock *engine.Writer) error
	Compact       func(context.Context) error          // rewrites the store's files
	ForgetPlugins func() error                         // makes plugins drop what they have in memory
	Withdraw      func(*store.Tx, store.Targets) error // removes the targets from what waits to be sent
	EraseShared   func(context.Context)                // removes forgotten memories from shares
	PurgeSoon     func(done func(error))               // removes processed events from the journal
	MemoryID      func(ev memory.EventID, plugin, fingerprint string) memory.ID
}

// Forgetting is the forgetting part of an open node. Its methods are safe for
// concurrent use.
type Forgetting struct {
	c          Config
	mu         sync.Mutex   // held while something is being forgotten; taken before the engine's lock
	plans      atomic.Int64 // how many plans were confirmed
	executed   uint64       // how many plans were carried out; guarded by the engine's lock
	unfinished atomic.Bool  // a plan is not carried out completely yet
}

// New makes a Forgetting.
func New(c Config) *Forgetting { return &Forgetting{c: c} }
