package node

import (
	"context"

	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/apps"
	"github.com/locket-dev/locket/node/serve"
)

// appStore is apps.Store over the open node. What it writes is not of memories, so
// it waits for the store alone, and not for what is being extracted.
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

// Services gives what the local API's routes call.
func (n *Node) Services() serve.Services {
	return apps.Guard(serve.Services{
		Reader: n, Writer: n, Recaller: n, Forgetter: n, Intake: n, Zoner: n, Keeper: n, MediaReader: n, Keys: n, Vault: n,
		Devices: n, Syncer: n, Relayer: n, Membership: n, Sharer: n, Granter: n, Plugger: n, Tracer: n, Settler: n,
		Modeller: n, Enginer: n, Dreamer: n, Grapher: n, Refuser: n, Diagnostics: n, Exchange: n,
		Calendar: n, Watcher: n,
	}, n.apps, n.cfg.Wearer)
}
