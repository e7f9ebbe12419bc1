package serve

import (
	"errors"
	"slices"
)

// Services is what a node does, one narrow interface for each topic. A topic
// without a service answers "unsupported". All methods are safe for concurrent
// use and obey their context. Ids are whole there: the routes resolve what a
// person abbreviated.
type Services struct {
	Reader      Reader
	Writer      Writer
	Recaller    Recaller
	Forgetter   Forgetter
	Intake      Intake
	Zoner       Zoner
	Keeper      Keeper
	MediaReader MediaReader
	Keys        Keys
	Vault       Vault
	Devices     Devices
	Syncer      Syncer
	Relayer     Relayer
	Membership  Membership
	Sharer      Sharer
	Granter     Granter
	Plugger     Plugger
	Tracer      Tracer
	Settler     Settler
	Modeller    Modeller
	Dreamer     Dreamer
	Grapher     Grapher
	Refuser     Refuser
	Diagnostics Diagnostics
	Exchange    Exchange
}

// routes is the table: every route, over the handler's services.
func (h *handler) routes() []bound {
	s := &h.Services
	return slices.Concat(
		reading.bind(h, s.Reader),
		changing.bind(h, s.Writer),
		batching.bind(h, &batcher{s.Writer, h.problemOf}),
		recalling.bind(h, s.Recaller),
		forgetting.bind(h, &planner{Forgetter: s.Forgetter, now: h.now}),
		pausing.bind(h, &pauser{s.Intake, h.now}),
		zoning.bind(h, s.Zoner),
		keeping.bind(h, s.Keeper),
		media.bind(h, s.MediaReader),
		locking.bind(h, s.Keys),
		vaulting.bind(h, &opener{s.Vault, h.now}),
		wearing.bind(h, s.Devices),
		syncing.bind(h, s.Syncer),
		relaying.bind(h, s.Relayer),
		belonging.bind(h, s.Membership),
		sharing.bind(h, s.Sharer),
		granting.bind(h, s.Granter),
		plugging.bind(h, s.Plugger),
		tracing.bind(h, s.Tracer),
		settling.bind(h, s.Settler),
		modelling.bind(h, s.Modeller),
		dreaming.bind(h, s.Dreamer),
		graphing.bind(h, s.Grapher),
		refusing.bind(h, s.Refuser),
		diagnosing.bind(h, s.Diagnostics),
		exchanging.bind(h, s.Exchange),
		itself.bind(h, h),
	)
}

// What a service may answer besides the errors of package memory. The
// handler turns each into a problem of a type of its own; any other error is
// "internal", whose text goes to the log and not to the caller.
var (
	// ErrPassphrase: the passphrase opens nothing.
	ErrPassphrase = errors.New("wrong passphrase")
	// ErrVaultLocked: the vault is closed; unlock it for a while first.
	ErrVaultLocked = errors.New("vault is locked")
	// ErrConflict: it exists already, or its state does not allow this.
	ErrConflict = errors.New("conflict")
	// ErrSigner: the archive has no signature, or one of a key that is none of
	// the wearer's devices.
	ErrSigner = errors.New("not signed by a device of yours")
	// ErrUnsupported: this node can't do that, as it is set up.
	ErrUnsupported = errors.New("not supported here")
	// ErrCold: it is at the relay, which can't be reached now.
	ErrCold = errors.New("it is cold, and can't be fetched now")
)
