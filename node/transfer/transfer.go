// Package transfer exports what a node knows as an archive, imports archives, and
// lets others follow the node's changes.
package transfer

import (
	"context"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/cold"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envelope"
)

// Engine is the part of engine.Engine that this package uses.
type Engine interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
	Commit(ctx context.Context, fn func(*store.Tx) error) error
	CommitInReserve(ctx context.Context, fn func(*store.Tx) error) error
	AssertTx(tx *store.Tx, rank memory.Rank, as ...memory.Assertion) ([]memory.Change, error)
}

// Config is what the transfers of an open node need.
type Config struct {
	Engine Engine
	Store  *store.Store // stores the blobs
	Cold   *cold.Keeper
	Ring   *keyring.Ring
	Life   *opened.Life
	Wearer string
	Zone   string // as configured

	Location *time.Location // for times without a zone

	Members    func(context.Context) ([]envelope.Member, error) // returns the members of the space; nil: there is nobody to ask
	FetchMedia func(ctx context.Context, blob memory.ID) error  // fetches a blob from the relay
	Now        func() time.Time
	VaultUntil func() time.Time                                                // zero: the vault is closed
	Reveal     func(ctx context.Context, id memory.ID) (serve.Revealed, error) // opens a secret, and records that
}

// Transfer is the transfer part of an open node.
type Transfer struct{ c Config }

// New makes a Transfer.
func New(c Config) *Transfer { return &Transfer{c} }

// View implements opened.Viewer.
func (t *Transfer) View(ctx context.Context, fn func(*store.Tx) error) error {
	return t.c.Engine.View(ctx, fn)
}

// Archives implements serve.Exchange.
type Archives struct {
	of      opened.Of[*Transfer]
	foreign chan struct{} // holds one item while another system's file is read
}

// NewArchives makes an Archives.
func NewArchives(of opened.Of[*Transfer]) Archives { return Archives{of, make(chan struct{}, 1)} }
