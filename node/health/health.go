// Package health reports whether all is well with a node. It also finishes a
// repair with what only an open node can do: fetch from the relay, use the index,
// and assert memories again. Package repair has the part for a home that no
// process has open.
package health

import (
	"context"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/cold"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/exchange"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Engine is the part of engine.Engine that this package uses.
type Engine interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
	Commit(ctx context.Context, fn func(*store.Tx) error) error
	AcquireWriter() *engine.Writer
	AssertAs(tx *store.Tx, id memory.ID, c *memory.Candidate, m *memory.Memory) error
}

// Patient can report its health, as the models do.
type Patient interface {
	Doctor(ctx context.Context, add func(check, level, advice, format string, args ...any) *serve.Finding) error
}

// Config is what the health checks of an open node need.
type Config struct {
	Home      string
	Metered   func(context.Context) bool // reports whether the connection costs by the byte, so that photos are not checked at the relay; nil: it never does
	Engine    Engine
	Store     *store.Store
	Index     *recall.Index
	Ring      *keyring.Ring
	Sync      *exchange.Syncing
	Cold      *cold.Keeper
	Models    []Patient
	HasPlugin func(id string) bool
}

// Health is the health part of an open node.
type Health struct{ c Config }

// New makes a Health.
func New(c Config) *Health { return &Health{c} }

// View implements opened.Viewer.
func (h *Health) View(ctx context.Context, fn func(*store.Tx) error) error {
	return h.c.Engine.View(ctx, fn)
}

// Syncs reports the state of sync.
type Syncs interface {
	SyncStatus(context.Context) (serve.SyncStatus, error)
	Relays(context.Context) ([]serve.Relay, error)
}

// Checks implements serve.Diagnostics, except for Status.
type Checks struct {
	of     opened.Of[*Health]
	cfg    *config.Config
	status func(context.Context) (serve.Status, error)
	sync   Syncs
}

// NewChecks makes Checks. status returns the node's status.
func NewChecks(of opened.Of[*Health], cfg *config.Config, status func(context.Context) (serve.Status, error), sync Syncs) Checks {
	return Checks{of, cfg, status, sync}
}
