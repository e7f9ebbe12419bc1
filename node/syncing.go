package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/remotes"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

// partsDir is where blobs lie that are on their way here, sealed.
const partsDir = "parts"

// linger is how long changes that follow others are gathered before they are
// sent; the first after a silence goes at once.
const linger = 300 * time.Millisecond

// snapshotBehind is how many deltas are read before a snapshot is taken in
// their place: one costs about as much as it saves by then.
const snapshotBehind = 200

var (
	// errNoRelay: there is none, for what lies nowhere else.
	errNoRelay = fmt.Errorf("%w: sync.relay is not set", serve.ErrUnsupported)
	// errAlone: the node syncs with nobody.
	errAlone = fmt.Errorf("%w: this node syncs with nobody: neither sync.relay nor sync.lan is set", serve.ErrUnsupported)
)

// openRelay reaches a relay, nil where there is none.
func openRelay(url string, client *http.Client, now func() time.Time) (*remote.Relay, error) {
	if url == "" {
		return nil, nil
	}
	return remote.New(url, remote.Option{HTTP: client, Now: now})
}

// openSync makes the replica of an open node that has a relay, or a shelf. Where
// the shelf can't be opened the node does without sync: nothing on it is
// touched, and the memories are all here.
func (n *Node) openSync(o *session) (err error) {
	if o.syncJournal, err = n.openLedger(o); err != nil {
		return err
	}
	o.primary = n.cfg.Sync.Relay
	if remotes.Used(n.path(shelfDir)) || n.cfg.Sync.LAN || n.cfg.Sync.Metered {
		err := n.openShelf(o)
		if errors.Is(err, remotes.ErrShelf) {
			o.unsynced = fmt.Errorf("sync is off: %w", err)
			n.log.Error("sync is off until the node is opened again", "folder", n.path(shelfDir), "error", err)
			return nil
		}
		return err
	}
	if o.relay, err = openRelay(o.primary, n.http, n.now); err != nil || o.relay == nil {
		return err
	}
	r, err := n.newReplica(o, n.spaceAt(o, o.relay), nil)
	if err == nil {
		o.exchange.Store(&exchange{replica: r})
	}
	return err
}

// spaceAt is the wearer's space at a relay.
func (n *Node) spaceAt(o *session, relay *remote.Relay) replica.Remote {
	return upstream.New(relay.Space(o.ring.Space(), o.ring.Member(), o.ring.SignRequest), n.cfg.Sync.Invite)
}

// newReplica makes one over the node's ledger: of a relay, or of a shelf, whose
// places are given then.
func (n *Node) newReplica(o *session, at replica.Remote, of *remotes.Remotes) (*replica.Replica, error) {
	genesis, err := o.ring.Genesis()
	if err != nil {
		return nil, err
	}
	local := of != nil
	o.syncJournal.Shelf = local
	var snapshots *replica.Snapshots
	var elsewhere *replica.SnapshotFallback
	if local {
		elsewhere = &replica.SnapshotFallback{Archive: o.syncJournal, At: of}
	} else if c, ok := at.(replica.Checkpoints); ok {
		snapshots = &replica.Snapshots{Archive: o.syncJournal, At: c, Every: uint64(max(0, n.cfg.Sync.Snapshots)), Behind: snapshotBehind, Compact: n.cfg.Sync.Compact}
	}
	return replica.New(replica.Config{Space: o.ring.Space(), Member: o.ring.Member(), Genesis: genesis, Remote: at, Journal: blobFilter{o.syncJournal},
		Keys: ringKeys{o.ring}, Temp: n.path(partsDir), Log: n.log, Now: n.now, BatchDelay: linger, Local: local, Snapshots: snapshots, SnapshotFallback: elsewhere, Taken: n.easing(o)})
}

// openLedger makes what the replica keeps its side of the exchange in.
func (n *Node) openLedger(o *session) (*journal.Journal, error) {
	var gone *store.Targets // of the transaction that runs, under the engine's lock
	l := &journal.Journal{Space: o.ring.Space(), Member: o.ring.Member(), Store: o.store, Vault: n.cfg.Sync.Vault, Heard: o.engine.Clock().Observe,
		Forgot: func(t store.Targets) {
			if gone == nil {
				gone = &store.Targets{}
			}
			gone.Utterances, gone.Events = append(gone.Utterances, t.Utterances...), append(gone.Events, t.Events...)
		}}
	l.Write = func(ctx context.Context, fn func(*store.Tx) error) error {
		lock := o.engine.Hold()
		defer lock.Release()
		err := o.take(ctx, lock, func(tx *store.Tx) error {
			gone = nil
			if err := fn(tx); err != nil || gone == nil {
				return err
			}
			return orderSweep(tx)
		})
		if err != nil || gone == nil {
			return err
		}
		if _, err := o.extract.Forget(ctx, lock, extract.Gone{Utterances: gone.Utterances, Events: gone.Events, Latest: n.now()}); err != nil {
			return err
		}
		if err := o.plugins.Forget(); err != nil {
			return err
		}
		return n.swept(ctx, o, lock)
	}
	return l, nil
}

// posted is told that there is something to send.
func (o *session) posted() {
	if r := o.replica(); r != nil {
		r.Notify()
	}
}

// ringKeys is replica.Keys over a ring's own space.
type ringKeys struct{ ring *keyring.Ring }

func (k ringKeys) Sign(domain string, msg []byte) ([]byte, error) {
	return k.ring.DeviceSign(domain, msg)
}

func (k ringKeys) Epoch(n uint32) (*seal.Key, bool) { return k.ring.Epoch(k.ring.Space(), n) }

func (k ringKeys) Take(sealed []byte) error {
	e, err := seal.OpenEpochs(k.ring.DeviceIdentity(), k.ring.Space(), sealed)
	if err != nil {
		return err
	}
	defer e.Zero()
	return k.ring.KeepEpochs(k.ring.Space(), e)
}

func (k ringKeys) Wrap(n uint32, to *seal.Recipient) ([]byte, error) {
	e := seal.Epochs{}
	for i := uint32(1); i <= n; i++ {
		key, ok := k.Epoch(i)
		if !ok {
			return nil, fmt.Errorf("wrap epochs: the key of %d is not here", i)
		}
		e[i] = key
	}
	return seal.SealEpochs(to, k.ring.Space(), e)
}

// replica gives the open node's. It may be closed while it is used: then its
// methods fail with replica.ErrClosed.
func (n *Node) replica() (*replica.Replica, error) {
	o, release, err := n.use()
	if err != nil {
		return nil, err
	}
	defer release()
	return o.syncing()
}

// syncing gives the replica, or why there is none.
func (o *session) syncing() (*replica.Replica, error) {
	if r := o.replica(); r != nil {
		return r, nil
	}
	if o.unsynced != nil {
		return nil, o.unsynced
	}
	return nil, errAlone
}

// fetchBlob brings the bytes of a resource that another device has onto this one.
func (o *session) fetchBlob(ctx context.Context, name memory.ID) error {
	r, err := o.syncing()
	if err != nil {
		return err
	}
	return r.FetchBlob(ctx, name)
}

// SyncStatus implements serve.Syncer.
func (n *Node) SyncStatus(ctx context.Context) (s serve.SyncStatus, err error) {
	r, err := n.replica()
	if errors.Is(err, serve.ErrUnsupported) {
		return serve.SyncStatus{Problems: []serve.SyncProblem{}}, nil
	}
	if errors.Is(err, remotes.ErrShelf) {
		return serve.SyncStatus{Relay: n.house(), Error: err.Error(), Problems: []serve.SyncProblem{}}, nil
	}
	if err != nil {
		return s, err
	}
	st, problems, err := n.standing(ctx, r)
	if err != nil {
		return s, err
	}
	house := n.house()
	s = serve.SyncStatus{Relay: house, Apart: house == "", LAN: n.cfg.Sync.LAN, Synced: st.Synced, Pending: st.Pending, Cursor: st.Cursor, Error: st.Error, Removed: st.Removed,
		Busy: st.Busy, Took: st.Took, Sent: st.Sent,
		Problems: []serve.SyncProblem{}}
	for _, p := range problems {
		s.Problems = append(s.Problems, serve.SyncProblem{At: p.At, Member: p.Member, Cursor: p.Cursor, Op: p.Op, Reason: p.Reason, Waits: p.Waits})
	}
	return s, nil
}

// standing tells of the round that runs, which may take long, or else how it is.
func (n *Node) standing(ctx context.Context, r *replica.Replica) (replica.Status, []replica.Problem, error) {
	s, runs := r.During()
	if !runs {
		s, err := r.Status(ctx)
		if err != nil {
			return s, nil, err
		}
		problems, err := r.Problems(ctx)
		return s, problems, err
	}
	o, release, err := n.use()
	if err != nil {
		return s, nil, err
	}
	defer release()
	if s.Pending, err = r.Waiting(ctx); err != nil {
		return s, nil, err
	}
	problems, err := o.syncJournal.Problems(ctx)
	return s, problems, err
}

// SyncNow implements serve.Syncer.
func (n *Node) SyncNow(ctx context.Context) (serve.SyncStatus, error) {
	r, err := n.replica()
	if err != nil {
		return serve.SyncStatus{}, err
	}
	if err := n.syncWith(ctx, r); err != nil && ctx.Err() != nil {
		return serve.SyncStatus{}, err
	}
	return n.SyncStatus(ctx) // which has the error
}

// RemoveMember implements serve.Membership.
func (n *Node) RemoveMember(ctx context.Context, id memory.MemberID, phrase serve.Secret) error {
	r, err := n.replica()
	if err != nil {
		return err
	}
	if id == n.public.Member() {
		return fmt.Errorf("%w: a device can't remove itself", serve.ErrConflict)
	}
	var root envelope.Signer
	if phrase != "" {
		if err := n.public.CheckPhrase(string(phrase)); err != nil {
			return fmt.Errorf("%w: phrase: %v", memory.ErrInvalid, err)
		}
		rec, err := keyring.Recover(string(phrase))
		if err != nil {
			return fmt.Errorf("%w: phrase: %v", memory.ErrInvalid, err)
		}
		defer rec.Zero()
		root = func(domain string, msg []byte) ([]byte, error) { return rec.Sign(domain, msg), nil }
	}
	// What it has sent until now counts. A relay that lies about that, or won't
	// take what is here, keeps nobody in.
	if err := r.Sync(ctx); err != nil {
		n.log.Warn("remove a device: sync failed before", "error", err)
	}
	return changeError(ctx, r.RemoveMember(ctx, id, root))
}

// owner is a device of the wearer's, as the log has it.
func owner(d *keyring.Device) envelope.Member { return d.Member(envelope.Owner) }
