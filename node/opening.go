package node

import (
	"context"
	"fmt"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/tier"
	"github.com/locket-dev/locket/node/accept"
	"github.com/locket-dev/locket/node/apps"
	"github.com/locket-dev/locket/node/community"
	"github.com/locket-dev/locket/node/dream"
	"github.com/locket-dev/locket/node/edit"
	"github.com/locket-dev/locket/node/enginehost"
	"github.com/locket-dev/locket/node/exchange"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/forget"
	"github.com/locket-dev/locket/node/given"
	"github.com/locket-dev/locket/node/health"
	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/node/match"
	"github.com/locket-dev/locket/node/models"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/plugins"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/policy/consent"
	"github.com/locket-dev/locket/node/policy/rulebook"
	"github.com/locket-dev/locket/node/query"
	"github.com/locket-dev/locket/node/questions"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/node/sharing"
	"github.com/locket-dev/locket/node/tiers"
	"github.com/locket-dev/locket/node/transfer"
	"github.com/locket-dev/locket/node/vault"
	"github.com/locket-dev/locket/node/voices"
)

// openRecords opens the keys, the store, the index and the engine.
func (n *Node) openRecords(ctx context.Context, u keyring.Unlocker, o *session) (err error) {
	if o.ring, err = n.public.Unlock(ctx, u); err != nil {
		return err
	}
	if err := o.ring.KeepSpares(); err != nil {
		n.log.Warn("the copies of the keys could not be written", "error", err)
	}
	if err := n.reconcileState(o.ring); err != nil {
		return err
	}
	o.store, err = store.Open(store.Options{Dir: n.path(storeDir), Key: o.ring.StoreKey(), Derive: reconcile.Derive, Diff: reconcile.Diff,
		Small: n.small(), Reserve: uint64(n.cfg.Disk.Reserve), Log: n.log, OnPosted: func() {
			if o.sync != nil {
				o.sync.OnPosted()
			}
		}})
	if err != nil {
		return err
	}
	if err := o.store.View(ctx, n.ReadHeard); err != nil {
		return err
	}
	if o.meaning, err = models.OpenMeaning(ctx, models.MeaningConfig{Dense: n.cfg.Dense, Store: o.store, Segments: segments{o.store, meaningPrefix}, Log: n.log}); err != nil {
		return err
	}
	return n.openIndex(ctx, o)
}

// openExtraction opens what makes memories of events: plugins, the language model,
// voices, the extractor and the engines that run beside the node.
func (n *Node) openExtraction(ctx context.Context, o *session) (err error) {
	o.plugins, err = plugins.Open(ctx, plugins.Config{Dir: n.cfg.Plugins.Dir, Disabled: n.cfg.Plugins.Disabled, Cache: n.cache, SharedCache: n.cache != n.path(cacheDir),
		Ready: n.ready, NoSpare: n.small(), Worker: n.worker, Key: o.ring.StoreKey(), Engine: o.engine, Devices: n.devices.Names, OnTranscribed: func(ctx context.Context, ids []memory.ID) error { return o.gate.UnmarkWaiting(ctx, ids) }, Log: n.log})
	if err != nil {
		return err
	}
	cfg := extract.Config{Owner: memory.WearerUser, Wearer: n.cfg.Wearer, Zone: n.zone,
		KeepAudio: time.Duration(n.cfg.Retention.Audio.Age), KeepPhotos: time.Duration(n.cfg.Retention.Photo.Age)}
	o.language, err = models.OpenLanguage(ctx, models.LanguageConfig{Settings: enginehost.LLM(n.cfg.LLM, o.engine), Engine: o.engine, Wearer: n.cfg.Wearer, Zone: n.zone, Log: n.log,
		HoldsSecret: func(ctx context.Context, text string) (bool, error) { return o.extract.HoldsSecret(ctx, text) }, NoSecret: o.noSecret, MemoryID: o.ring.MemoryID})
	if err != nil {
		return err
	}
	cfg.LeftOut = o.language.LeftOut(n.sorter)
	cfg.OnSecondLook = o.language.OnSecondLook()
	own := opened.From(func() (*query.Query, *opened.Life, func(), error) { return o.query, o.life, func() {}, nil }) // without n.mu: a lock of the node waits for the answer
	o.questions = questions.New(questions.Config{Fleet: n.fleet, Ask: query.NewReader(own, n.WaitsFor, &n.paused).Ask,
		OnServed: func(at time.Time, texts ...string) { o.extract.NoteServed(at, texts...) }, Now: n.now, Log: n.log})
	cfg.OnCommitted, cfg.CarryOutOrder, cfg.IsOffRecord = o.questions.OnCommitted, n.spokenOrders(o.ring), n.paused.offRecord
	o.voices, err = voices.Open(ctx, voices.Config{Engine: o.engine, Wearer: n.cfg.Wearer, KnownOnly: n.cfg.Voices.KnownOnly, Devices: n.devices.Names,
		PlanSweep: forget.PlanSweep, PurgeSwept: func(ctx context.Context, lock *engine.Writer) error { return o.forgets.PurgeSwept(ctx, lock) }, Now: n.now, Log: n.log})
	if err != nil {
		return err
	}
	cfg.Voices, cfg.KnownOnly = o.voices, n.cfg.Voices.KnownOnly
	o.extract, err = extract.New(ctx, cfg, o.engine, o.store, o.ring, o.plugins.Chain(), n.log)
	if err != nil {
		return err
	}
	o.plugins.Serve(o.extract)
	o.engines = enginehost.New(enginehost.Config{Home: n.cfg.Home, Langs: n.cfg.Languages, LLM: n.cfg.LLM, Command: n.engines, Engine: o.engine, Extract: o.extract, Language: o.language,
		Life: o.life, Paused: func() bool { return n.paused.current().Paused || len(n.private.gate.Active(n.now())) > 0 }, Now: n.now, Log: n.log})
	o.extract.SetLive(o.engines)
	return nil
}

// openExchange opens sync and its tiers, and the reading of what others share.
func (n *Node) openExchange(ctx context.Context, o *session) (err error) {
	budget := tier.Budget{Records: int(n.cfg.Hot.Records), Bytes: int64(n.cfg.Hot.Bytes)}
	var ease func(context.Context)
	if budget != (tier.Budget{}) {
		ease = func(ctx context.Context) { o.tiers.CoolDuringSync(ctx) }
	}
	o.sync, err = exchange.Open(exchange.Config{Home: n.cfg.Home, Sync: n.cfg.Sync, Wearer: n.cfg.Wearer, Ring: o.ring, Public: n.public, Store: o.store, Clock: o.engine.Clock(),
		HTTP: n.http, Life: o.life, Now: n.now, Log: n.log, Spans: n.spans, Metered: n.metered, CommitRemote: func(ctx context.Context, fn func(*store.Tx) (*store.Targets, error)) error {
			return o.gate.TakeDelta(ctx, fn)
		}, CoolDuringSync: ease,
		FetchCold: func(ctx context.Context) (int, error) { return o.tiers.FetchAll(ctx) }})
	if err != nil {
		return err
	}
	o.tiers = tiers.New(tiers.Config{Engine: o.engine, Store: o.store, Index: o.index, Sync: o.sync, Budget: budget, Metered: n.metered, Rules: n.rules,
		Wearer: n.cfg.Wearer, Zone: n.zone, Now: n.now, Log: n.log, Around: o.extract.Around, Flush: o.flush, Unload: o.plugins.Shrink})
	reader := &share.Reader{Dir: n.path(readerDir), HTTP: n.http, Now: n.now, Reserve: uint64(n.cfg.Disk.Reserve), Log: n.log}
	o.communities = &community.Communities{Reader: reader}
	o.matcher = &match.Matcher{Dir: reader.Dir, Now: n.now}
	if o.given, err = given.Open(ctx, reader, []given.Source{&market.Buyer{Dir: reader.Dir, HTTP: n.http, Now: n.now}, o.communities}, n.now, n.log); err != nil {
		return err
	}
	o.query = n.openQuery(o)
	o.life.Start(o.questions.Run)
	return nil
}

// openForgetting opens editing, forgetting and the gate for what others say.
func (n *Node) openForgetting(o *session) {
	o.edits = edit.New(edit.Config{Engine: o.engine, Chain: o.extract, Wearer: n.cfg.Wearer, Zone: n.zone, Now: n.now, StartTime: n.started,
		FetchCold: o.tiers.FetchCold, NoSecret: o.noSecret, MemoryID: o.ring.MemoryID, LeftOut: o.language.LeftOut(n.sorter), Disputable: o.query.Disputable})
	o.forgets = forget.New(forget.Config{Engine: o.engine, Chain: o.extract, Cold: o.tiers.Keeper, Retention: &n.cfg.Retention, Rules: n.rules, Log: n.log,
		FetchCold: o.tiers.FetchCold, Flush: o.flushHeld, Compact: o.compact, ForgetPlugins: o.plugins.Forget, Withdraw: o.sync.Journal().Withdraw, EraseShared: func(ctx context.Context) { o.sharing.Forget(ctx) },
		PurgeSoon: func(done func(error)) {
			if o.pump != nil {
				o.pump.PurgeSoon(nil, done)
			}
		}, MemoryID: o.ring.MemoryID})
	o.gate = accept.New(accept.Config{Engine: o.engine, Chain: o.extract, Now: n.now, ForgetPlugins: o.plugins.Forget, PurgeSwept: o.forgets.PurgeSwept})
}

// openSharing opens shares, the wearer's consent and policy, and the market.
func (n *Node) openSharing(o *session) {
	o.sharing = sharing.New(sharing.Config{Dir: n.path(sharesDir), Engine: o.engine, Gate: o.gate, Cold: o.tiers.Keeper, Sync: o.sync, Ring: o.ring, Public: n.public, Life: o.life,
		HTTP: n.http, Invite: n.cfg.Sync.Invite, Reserve: uint64(n.cfg.Disk.Reserve), Wearer: n.cfg.Wearer, Zone: n.zone, Now: n.now, Log: n.log,
		Communities: o.communities, Ask: func(ctx context.Context, held []consent.Held, again bool) error {
			return o.consent.Ask(ctx, held, again)
		},
		Sees: func(by *share.Author, rules *rulebook.Rules) func(*memory.Memory) bool {
			return apps.Sees(&by.Scope, by.App, by.Key, rules, n.now())
		},
		Drop: o.forgets.Drop, Flush: o.flushHeld, Compact: o.compact})
	o.consent = consent.New(consent.Config{Store: o.store, Now: n.now, Note: o.sharing.LogConsent, Redact: o.sharing.Redact, WithdrawAllowed: o.sharing.Withdraw,
		VaultUntil: func() time.Time { return o.vault.OpenUntil() }})
	o.purse = market.NewPurse(market.PurseConfig{Buyer: &market.Buyer{Dir: n.path(readerDir), HTTP: n.http, Now: n.now}, Relay: o.sync.Primary, Store: o.engine, Now: n.now,
		AskApproval: func(ctx context.Context, app, alone string, order memory.ID, what string) (bool, error) {
			if alone == "" {
				alone = "nothing"
			}
			rule := policy.Asking("purchases over "+alone, fmt.Sprintf("The app “%s” may pay more than %s for one listing, once you say yes, each time.", app, alone))
			by, err := n.appParty(ctx, o, app)
			if err != nil {
				return false, err
			}
			by.Action = "buy"
			return o.consent.AskApproval(ctx, by, rule, order, what)
		}})
	o.market = market.New(market.Config{Bundler: o.sharing, Store: o.engine, Ring: o.ring, Dir: n.path(market.OfferedDir), Life: o.life, HTTP: n.http,
		Relay: o.sync.Primary, Now: n.now, Log: n.log, Compact: o.compact, Door: o.communities, CheckPublicTexts: o.sharing.CheckPublicTexts, NeverShared: o.sharing.NeverShared})
	o.policy = rulebook.New(rulebook.Config{Engine: o.engine, Now: n.now, WithdrawForbidden: o.sharing.Withdraw, Parties: func(ctx context.Context) ([]policy.Request, error) { return n.parties(ctx, o) }})
}

// openRest opens dreams, health, the vault and exports.
func (n *Node) openRest(o *session) {
	o.dreams = dream.New(dream.Config{Engine: o.engine, Chain: o.extract, Scanners: o.plugins.Scanners, IDs: o.ring.MemoryID, Zone: n.zone, Now: n.now,
		Uses: query.UsesKept, SaveUses: o.query.SaveUses, CarriedOutPlans: o.forgets.CarriedOutPlans, Erase: o.forgets.EraseOut})
	o.health = health.New(health.Config{Home: n.cfg.Home, Metered: n.metered, Engine: o.engine, Store: o.store, Index: o.index, Ring: o.ring, Sync: o.sync, Cold: o.tiers.Keeper,
		Models: []health.Patient{o.meaning, o.language}, HasPlugin: o.plugins.Has})
	o.vault = vault.New(vault.Config{Engine: o.engine, Ring: o.ring, OnPosted: o.sync.OnPosted})
	o.transfer = transfer.New(transfer.Config{Now: n.now, Engine: o.engine, Store: o.store, Cold: o.tiers.Keeper, Ring: o.ring, Life: o.life, Wearer: n.cfg.Wearer, Zone: n.cfg.Zone, Location: n.zone,
		Members: o.sync.SpaceMembers, FetchMedia: o.sync.FetchMedia, VaultUntil: o.vault.OpenUntil, Reveal: o.vault.Export})
}

// parties returns everyone to whom the wearer gives memories: readers, workers of
// feeds, apps.
func (n *Node) parties(ctx context.Context, o *session) ([]policy.Request, error) {
	out, err := o.sharing.Parties(ctx)
	if err != nil {
		return nil, err
	}
	err = o.store.View(ctx, func(tx *store.Tx) error {
		list, err := apps.Parties(tx, n.now())
		out = append(out, list...)
		return err
	})
	return out, err
}

// openQuery makes the query part of an open node.
func (n *Node) openQuery(o *session) *query.Query {
	return query.New(query.Config{Engine: o.engine, Models: o.meaning.Models(), Embed: o.meaning.Embed(), Model: o.language.Client, Topic: n.cfg.LLM.Topic, Given: o.given,
		Sorter: n.sorter, Wearer: n.cfg.Wearer, Zone: n.zone, Now: n.now, Log: n.log,
		OnServed: o.extract.NoteServed, FetchCold: o.tiers.FetchCold, FetchBlob: o.sync.FetchBlob, NoSecret: o.noSecret, MemoryID: o.ring.MemoryID, ConsentEdition: consent.Edition})
}
