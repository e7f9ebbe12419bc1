package exchange

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/remotes"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/replica"
)

// EnvelopesDir is the folder of the envelope store, for a node that syncs with more
// than one relay.
const EnvelopesDir = "shelf"

// exchange is a node's side of sync: its replica, and the remotes if the replica
// works on an envelope store.
type exchange struct {
	replica *replica.Replica
	remotes *remotes.Remotes // nil: the replica talks to one relay directly
	lan     *lanSync         // nil: the node meets nobody in the same network
}

func (x *exchange) start() {
	x.replica.Start()
	if x.remotes != nil {
		x.remotes.Start()
	}
	if x.lan != nil {
		x.lan.start()
	}
}

func (x *exchange) stop() {
	if x.lan != nil {
		x.lan.stop()
	}
	x.replica.Stop()
	if x.remotes != nil {
		x.remotes.Stop()
	}
}

func (x *exchange) close() {
	x.stop()
	x.replica.Close()
}

// Replica returns the replica, or nil if the node syncs with nobody.
func (sy *Syncing) Replica() *replica.Replica {
	if x := sy.exchange.Load(); x != nil {
		return x.replica
	}
	return nil
}

// openEnvelopes makes the exchange of a node with an envelope store.
func (sy *Syncing) openEnvelopes() error {
	genesis, err := membership.Genesis(sy.c.Ring.Locked)
	if err != nil {
		return err
	}
	p, err := remotes.Open(remotes.Config{Dir: sy.path(EnvelopesDir), Genesis: genesis, Self: sy.c.Ring.Member(), Primary: sy.c.Sync.Relay,
		Open: func(url string) (replica.Remote, error) {
			relay, ok, err := openPeer(url, sy.c.Now, sy.lanKeys)
			if !ok {
				relay, err = openRelay(url, sy.c.HTTP, sy.c.Now)
			}
			if err != nil {
				return nil, err
			}
			return sy.spaceAt(relay), nil
		},
		Blobs:       func(ctx context.Context) (map[envelope.Hash]int64, error) { return sy.journal.Blobs(ctx) },
		NamedBlobs:  sy.journal.NamedBlobs,
		UploadFirst: sy.journal.PinnedBlobs,
		Metered:     sy.c.Metered, MeteredVaries: sy.c.Sync.Metered == config.MeteredAuto, RetryAfter: retryAfter, Log: sy.c.Log, Now: sy.c.Now, Spans: sy.c.Spans})
	if err != nil {
		return err
	}
	known, err := sy.journal.Entries(context.Background())
	if err != nil {
		return err
	}
	for _, b := range known { // these blobs were sent to the relay before there was an envelope store
		e, err := envelope.ParseEntry(b)
		if err == nil {
			err = p.Envelopes.TakeEntry(e)
		}
		if err != nil {
			return fmt.Errorf("%w: log: %w", remotes.ErrEnvelopes, err)
		}
	}
	if !sy.HasRelay() {
		if err := sy.setPrimary(p.Primary()); err != nil {
			return err
		}
	}
	r, err := sy.newReplica(p.Envelopes, p)
	if err != nil {
		return err
	}
	x := &exchange{replica: r, remotes: p}
	if sy.c.Sync.LAN {
		x.lan = sy.newLANSync(p)
	}
	sy.exchange.Store(x)
	return nil
}

// retryAfter returns how long a relay asked not to be contacted when it refused.
func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*remote.Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

// remotes returns the node's remotes. It creates an envelope store if there was none.
func (sc Syncer) remotes() (*remotes.Remotes, *Syncing, func(), error) {
	sy, release, err := sc.of.Use()
	if err != nil {
		return nil, nil, nil, err
	}
	sy.replacing.Lock()
	defer sy.replacing.Unlock()
	x := sy.exchange.Load()
	if x != nil && x.remotes != nil {
		return x.remotes, sy, release, nil
	}
	running := sy.running.Load()
	if x != nil {
		x.close()
	}
	if err := sy.openEnvelopes(); err != nil {
		err = errors.Join(err, sy.reopenSync(x, running))
		release()
		return nil, nil, nil, err
	}
	x = sy.exchange.Load()
	if running {
		x.start()
	}
	return x.remotes, sy, release, nil
}

// reopenSync goes back to a single relay after an envelope store could not be opened, and
// restarts the exchange if it was running.
func (sy *Syncing) reopenSync(was *exchange, running bool) error {
	if was == nil {
		return nil
	}
	r, err := sy.newReplica(sy.Space(), nil)
	if err != nil {
		return err
	}
	x := &exchange{replica: r}
	sy.exchange.Store(x)
	if running {
		x.start()
	}
	return nil
}

// Primary returns the URL of the primary relay. It is empty if there is none.
func (sy *Syncing) Primary() string {
	if p := sy.Remotes(); p != nil {
		return p.Primary()
	}
	return sy.at.Load().url
}

// Round runs one round of sync, with every remote if there are several. The error is
// [replica.ErrHeld] if only blobs that have to wait were not sent.
func (sy *Syncing) Round(ctx context.Context, r *replica.Replica) error {
	x := sy.exchange.Load()
	if x == nil || x.remotes == nil {
		return r.Sync(ctx)
	}
	if x.lan != nil && !r.Running() {
		x.lan.waitForPeer(ctx)
	}
	came := x.remotes.Round(ctx)
	synced := r.Sync(ctx)
	if replica.Failed(synced) {
		return errors.Join(came, synced)
	}
	if err := x.remotes.Round(ctx); err != nil && synced != nil { // sends what this round made here
		return fmt.Errorf("%w; %v", err, synced)
	} else if err != nil {
		return err
	}
	return synced
}
