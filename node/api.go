package node

import (
	"context"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/apps"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/policy/consent"
	"github.com/locket-dev/locket/node/serve"
)

// appStore is apps.Store over the open node. It writes no memories, so it does not
// take the engine's lock: it need not wait for an extraction.
type appStore struct{ n *Node }

func (s appStore) View(ctx context.Context, fn func(*store.Tx) error) error {
	return s.n.view(ctx, func(_ *session, tx *store.Tx) error { return fn(tx) })
}

func (s appStore) Update(ctx context.Context, fn func(*store.Tx) error) error {
	o, release, err := s.n.use()
	if err != nil {
		return err
	}
	defer release()
	return o.store.Update(ctx, fn)
}

// Services returns the services that the routes of the local API call. A service
// comes from the package of its topic if that package can do all of it, and
// otherwise from the node.
func (n *Node) Services() serve.Services {
	return apps.Guard(serve.Services{
		Reader: n.Reader, Recaller: n.Reader, MediaReader: n.Reader, Grapher: n, Writer: n, Settler: n.Writer,
		Forgetter: n, Keeper: n, Intake: n, Zoner: n, Devices: n.Wearables, Keys: n, Vault: n,
		Syncer: n.Syncer, Relayer: n.Syncer, Membership: n.Syncer, Sharer: n.Sharer, Communer: n.Sharer, Comparer: n.comparer, Seller: n.seller, Given: n.Reader, Policer: n.Policer, Consents: n.agreer, Buyer: n.buyer, Shopper: n.shopper, Subscriber: n.shopper, Carrier: n.shopper, Arbiter: n.shopper, Verifier: n.shopper, VaultAsker: n, Granter: n.Sharer,
		Plugger: n.Plugger, Tracer: n.Plugger, Refuser: n.Plugger, Modeller: n.Modeller, Dreamer: n.Dreamer,
		Diagnostics: n, Exchange: n.Archives, Enginer: n.Enginer, Voicer: n.Voicer, Calendar: n.Reader, Watcher: n.Reader, Hearer: n.Enginer,
	}, n.apps, n.cfg.Wearer)
}

// askWearer asks the wearer whether an app may be shown the memories that were
// held back from it.
func (n *Node) askWearer(ctx context.Context, held []consent.Held) error {
	o, release, err := n.use()
	if err != nil {
		return err
	}
	defer release()
	return o.consent.Ask(ctx, held, true)
}

// AskVault implements serve.VaultAsker. An entry is revealed only if the wearer
// agrees to that reading.
func (n *Node) AskVault(ctx context.Context, r serve.VaultAsk) (v serve.VaultAnswer, err error) {
	app := serve.Asking(ctx)
	if app == nil {
		return v, serve.ErrUnsupported
	}
	o, release, err := n.use()
	if err != nil {
		return v, err
	}
	defer release()
	by := policy.Request{Kind: policy.App, Name: app.App, Key: app.Key, Purpose: r.Why}
	got, err := o.consent.ReadEntry(ctx, by, r.Entry, app.Fits)
	if err != nil {
		return v, err
	}
	if got.Entry == (memory.ID{}) {
		return serve.VaultAnswer{State: serve.VaultWaits, Lapses: got.Lapses, Asked: got.Asked}, nil
	}
	e, err := o.vault.RevealTo(ctx, got.Entry, memory.Source{Device: memory.AppDevice + app.App, Plugin: "app"})
	return serve.VaultAnswer{State: serve.VaultGiven, Entry: &e}, err
}

// appParty returns an app as the policy rules see it. The error is serve.ErrKey if
// the app's key has ended.
func (n *Node) appParty(ctx context.Context, o *session, name string) (by policy.Request, err error) {
	err = o.store.View(ctx, func(tx *store.Tx) error {
		list, err := apps.Parties(tx, n.now())
		if err != nil {
			return err
		}
		i := slices.IndexFunc(list, func(p policy.Request) bool { return p.Name == name })
		if i < 0 {
			return serve.ErrKey
		}
		by = list[i]
		return nil
	})
	return by, err
}
