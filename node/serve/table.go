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
		memoriesTopic.with(s.Reader),
		memoryChangeTopic.with(s.Writer),
		batchTopic.with(&batcher{s.Writer, h.problemOf}),
		eraseTopic.with(s.Eraser),
		recallTopic.with(s.Recaller),
		forgetTopic.with(&planner{Forgetter: s.Forgetter, now: h.now}),
		pauseTopic.with(&pauser{s.Intake, h.now}),
		zonesTopic.with(s.Zoner),
		retentionTopic.with(s.Keeper),
		mediaTopic.with(s.MediaReader),
		keysTopic.with(s.Keys),
		vaultTopic.with(&opener{s.Vault, h.now}),
		wearablesTopic.with(s.Devices),
		syncTopic.with(s.Syncer),
		relaysTopic.with(s.Relayer),
		membersTopic.with(&letter{s.Membership, s.Keys, &h.keys}),
		sharesTopic.with(s.Sharer),
		communitiesTopic.with(s.Communer),
		interestsTopic.with(s.Comparer),
		saleTopic.with(s.Seller),
		givenTopic.with(s.Given),
		policyTopic.with(s.Policer),
		grantsTopic.with(s.Granter),
		pluginsTopic.with(s.Plugger),
		tracesTopic.with(s.Tracer),
		conflictsTopic.with(s.Settler),
		modelTopic.with(s.Modeller),
		enginesTopic.with(s.Enginer),
		voicesTopic.with(s.Voicer),
		dreamsTopic.with(s.Dreamer),
		graphTopic.with(s.Grapher),
		refusalsTopic.with(s.Refuser),
		healthTopic.with(s.Diagnostics),
		exchangeTopic.with(s.Exchange),
		appsTopic.with(s.Apps),
		selfTopic.with(&introducer{s.Apps, s.Calendar}),
		daysTopic.with(s.Calendar),
		liveTopic.with(&watcher{s.Watcher, s.Hearer}),
		consoleTopic.with(s.Consoler),
		vaultWaitTopic.with(s.Consenter),
		consentsTopic.with(s.Consents),
		buyTopic.with(s.Buyer),
		ordersTopic.with(s.Shopper),
		subscriptionsTopic.with(s.Subscriber),
		moveTopic.with(s.Carrier),
		disputesTopic.with(s.Arbiter),
		verifyTopic.with(s.Verifier),
		vaultAskTopic.with(s.VaultAsker),
		apiTopic.with(h),
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
