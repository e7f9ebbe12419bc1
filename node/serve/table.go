package serve

import (
	"errors"
	"slices"
)

// Services is what a node can do, with a narrow interface for each topic. A
// topic without a service answers "unsupported". All methods are safe for
// concurrent use and obey their context. They get complete ids: the routes
// resolve abbreviated ones.
type Services struct {
	Reader      Reader
	Writer      Writer
	Eraser      Eraser
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
	Communer    Communer
	Comparer    Comparer
	Seller      Seller
	Given       Given
	Policer     Policer
	Granter     Granter
	Plugger     Plugger
	Tracer      Tracer
	Settler     Settler
	Modeller    Modeller
	Enginer     Enginer
	Voicer      Voicer
	Dreamer     Dreamer
	Grapher     Grapher
	Refuser     Refuser
	Diagnostics Diagnostics
	Exchange    Exchange
	Apps        Apps
	Calendar    Calendar
	Watcher     Watcher
	Hearer      Hearer // nil: nothing is heard while it is spoken
	Consoler    Consoler
	Consenter   Consenter
	Consents    Consents
	Buyer       Buyer
	Shopper     Shopper
	Subscriber  Subscriber
	Carrier     Carrier
	Arbiter     Arbiter
	Verifier    Verifier
	VaultAsker  VaultAsker
}

// routes is the table: every route, over the handler's services.
func (h *handler) routes() []bound {
	s := &h.Services
	return slices.Concat(
		reading.over(s.Reader),
		changing.over(s.Writer),
		batching.over(&batcher{s.Writer, h.problemOf}),
		erasing.over(s.Eraser),
		recalling.over(s.Recaller),
		forgetting.over(&planner{Forgetter: s.Forgetter, now: h.now}),
		pausing.over(&pauser{s.Intake, h.now}),
		zoning.over(s.Zoner),
		keeping.over(s.Keeper),
		media.over(s.MediaReader),
		locking.over(s.Keys),
		vaulting.over(&opener{s.Vault, h.now}),
		wearing.over(s.Devices),
		syncing.over(s.Syncer),
		relaying.over(s.Relayer),
		belonging.over(&letter{s.Membership, s.Keys, &h.keys}),
		sharing.over(s.Sharer),
		communing.over(s.Communer),
		comparing.over(s.Comparer),
		selling.over(s.Seller),
		giving.over(s.Given),
		policing.over(s.Policer),
		granting.over(s.Granter),
		plugging.over(s.Plugger),
		tracing.over(s.Tracer),
		settling.over(s.Settler),
		modelling.over(s.Modeller),
		beside.over(s.Enginer),
		speaking.over(s.Voicer),
		dreaming.over(s.Dreamer),
		graphing.over(s.Grapher),
		refusing.over(s.Refuser),
		diagnosing.over(s.Diagnostics),
		exchanging.over(s.Exchange),
		lettingIn.over(s.Apps),
		remembering.over(s.Calendar),
		watching.over(&watcher{s.Watcher, s.Hearer}),
		consoling.over(s.Consoler),
		consenting.over(s.Consenter),
		agreeing.over(s.Consents),
		buying.over(s.Buyer),
		shopping.over(s.Shopper),
		subscribing.over(s.Subscriber),
		carrying.over(s.Carrier),
		judging.over(s.Arbiter),
		verifying.over(s.Verifier),
		asking.over(s.VaultAsker),
		itself.over(h),
	)
}

// A service may return these errors, and those of package memory. The handler
// turns each into a problem of its own type. Any other error is "internal"; its
// text is logged and not sent to the caller.
var (
	// ErrPassphrase: the passphrase is wrong.
	ErrPassphrase = errors.New("wrong passphrase")
	// ErrVaultLocked: the vault is closed; unlock it for a while first.
	ErrVaultLocked = errors.New("vault is locked")
	// ErrConflict: it exists already, or its state does not allow this.
	ErrConflict = errors.New("conflict")
	// ErrChanged: it has changed since the caller read it.
	ErrChanged = errors.New("changed since it was read")
	// ErrSigner: the archive has no signature, or one by a key that belongs to
	// none of the wearer's devices.
	ErrSigner = errors.New("not signed by a device of yours")
	// ErrUnsupported: this node can't do that with its configuration.
	ErrUnsupported = errors.New("not supported here")
	// ErrKey: the key belongs to no app, or to an app that was revoked or has
	// expired.
	ErrKey = errors.New("no app has this key")
	// ErrForbidden: the app has no right to it.
	ErrForbidden = errors.New("the app may not do this")
	// ErrLimit: the app has used up its present limit.
	ErrLimit = errors.New("the app has reached a limit")
	// ErrSecret: the text may not be stored outside the vault. It is also a
	// memory.ErrInvalid.
	ErrSecret = errors.New("it holds a secret")
	// ErrCold: the memory is at the relay, which can't be reached now.
	ErrCold = errors.New("it is cold, and can't be fetched now")
)
