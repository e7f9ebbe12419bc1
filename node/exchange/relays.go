package exchange

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/remotes"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/envstore"
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
	remotes *remotes.Remotes // nil: the replica speaks with one relay directly
	lan     *lanSync         // nil: it meets nobody in the same network
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

// Replica gives the replica, or nil if the node syncs with nobody.
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
		Blobs:   func(ctx context.Context) (map[envelope.Hash]int64, error) { return sy.journal.Blobs(ctx) },
		Named:   sy.journal.Named,
		First:   sy.journal.OfPinned,
		Metered: sy.c.Metered, Turns: sy.c.Sync.Metered == config.MeteredAuto, After: retryAfter, Log: sy.c.Log, Now: sy.c.Now, Spans: sy.c.Spans})
	if err != nil {
		return err
	}
	known, err := sy.journal.Entries(context.Background())
	if err != nil {
		return err
	}
	for _, b := range known { // these blobs went to the relay before there was an envelope store
		e, err := envelope.ParseEntry(b)
		if err == nil {
			err = p.Envelopes.TakeEntry(e)
		}
		if err != nil {
			return fmt.Errorf("%w: log: %w", remotes.ErrEnvelopes, err)
		}
	}
	if !sy.HasRelay() {
		if err := sy.begin(p.Primary()); err != nil {
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

// retryAfter is how long a relay asked to be left alone when it refused.
func retryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*remote.Error](err); ok {
		return e.RetryAfter
	}
	return 0
}

// remotes gives the node's remotes. It begins an envelope store if there was none.
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

// reopenSync goes back to one relay after an envelope store could not be opened, and goes on
// if there was a running exchange.
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

// Primary is the URL of the primary relay. It is empty if there is none.
func (sy *Syncing) Primary() string {
	if p := sy.Remotes(); p != nil {
		return p.Primary()
	}
	return sy.at.Load().url
}

// Round does one round of sync, with every remote if there are several. The error
// is [replica.ErrHeld] if only blobs that wait were not sent.
func (sy *Syncing) Round(ctx context.Context, r *replica.Replica) error {
	x := sy.exchange.Load()
	if x == nil || x.remotes == nil {
		return r.Sync(ctx)
	}
	if x.lan != nil && !r.Running() {
		x.lan.look(ctx)
	}
	came := x.remotes.Round(ctx)
	synced := r.Sync(ctx)
	if replica.Failed(synced) {
		return errors.Join(came, synced)
	}
	if err := x.remotes.Round(ctx); err != nil && synced != nil { // send what this round made here
		return fmt.Errorf("%w; %v", err, synced)
	} else if err != nil {
		return err
	}
	return synced
}

// Relays implements serve.Relayer.
func (sc Syncer) Relays(ctx context.Context) ([]serve.Relay, error) {
	sy, release, err := sc.of.Use()
	if err != nil {
		return nil, err
	}
	defer release()
	out := []serve.Relay{}
	x := sy.exchange.Load()
	if x == nil {
		return out, nil
	}
	if x.remotes == nil {
		return append(out, serve.Relay{URL: sy.Primary(), Kind: serve.RelayPrimary, Trouble: []string{}}), nil
	}
	for _, s := range x.remotes.Status() {
		r := serve.Relay{URL: s.Name, Kind: serve.RelayMirror, Member: s.Member, Synced: s.Synced, Lacks: s.Lacks, Blobs: s.Blobs, Busy: s.Busy, Done: s.Done, All: s.Todo, Retry: s.Retry, Trouble: serve.Some(s.Trouble)}
		switch {
		case s.Primary:
			r.Kind = serve.RelayPrimary
		case s.Peer:
			r.Kind = serve.RelayPeer
		}
		r.Metered = r.Blobs > 0 && !s.Peer && sy.c.Metered != nil && sy.c.Metered(ctx)
		if s.Err != nil {
			r.Error = replica.Told(s.Err)
		}
		out = append(out, r)
	}
	return out, nil
}

// checkRelay gives a relay's URL in the form in which it is kept.
func checkRelay(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%w: relay %q: want a URL such as https://relay.example:8443", memory.ErrInvalid, text)
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

// withRelay changes something about a relay, and gives the list. Of a node without an envelope
// store check is called before one is begun, which is for good.
func (sc Syncer) withRelay(ctx context.Context, text string, check func(ctx context.Context, sy *Syncing, url string) error, do func(p *remotes.Remotes, url string) error) ([]serve.Relay, error) {
	url, err := checkRelay(text)
	if err != nil {
		return nil, err
	}
	sy, release, err := sc.of.Use()
	if err != nil {
		return nil, err
	}
	release() // ending the exchange takes the node's lock
	if sy.Remotes() == nil {
		err = check(ctx, sy, url)
	}
	if err == nil {
		var p *remotes.Remotes
		if p, _, release, err = sc.remotes(); err != nil {
			return nil, err
		}
		release()
		err = do(p, url)
		if _, at := sy.Relay(); p.Primary() != at { // pairings, shares and the market go by the new one from now on
			err = errors.Join(err, sy.begin(p.Primary()))
		}
	}
	switch {
	case errors.Is(err, remotes.ErrUnknown):
		return nil, fmt.Errorf("%w: %w", memory.ErrNotFound, err)
	case errors.Is(err, serve.ErrConflict):
		return nil, err
	case errors.Is(err, remotes.ErrKnown), errors.Is(err, remotes.ErrLast):
		return nil, fmt.Errorf("%w: %w", serve.ErrConflict, err)
	case err != nil && ctx.Err() == nil:
		return nil, fmt.Errorf("%w: %v", serve.ErrRelay, err)
	case err != nil:
		return nil, err
	}
	return sc.Relays(ctx)
}

// foundAt begins the wearer's space at a relay, unless the relay has it.
func foundAt(ctx context.Context, sy *Syncing, url string) error {
	genesis, err := membership.Genesis(sy.c.Ring.Locked)
	if err != nil {
		return err
	}
	relay, err := openRelay(url, sy.c.HTTP, sy.c.Now)
	if err != nil {
		return err
	}
	defer relay.Close()
	if err := envstore.Found(ctx, sy.spaceAt(relay), genesis); err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	return nil
}

// usedAt gives an error unless the node syncs through the relay.
func usedAt(_ context.Context, sy *Syncing, url string) error {
	if url != sy.Primary() {
		return fmt.Errorf("relay %s: %w", url, remotes.ErrUnknown)
	}
	return nil
}

// AddRelay implements serve.Relayer.
func (sc Syncer) AddRelay(ctx context.Context, url string) ([]serve.Relay, error) {
	return sc.withRelay(ctx, url, foundAt, func(p *remotes.Remotes, url string) error {
		sy, r, err := sc.replica()
		if err != nil {
			return err
		}
		if err := sy.Round(ctx, r); err != nil && ctx.Err() != nil { // fetches what only the old relay has
			return err
		}
		return p.Add(ctx, url)
	})
}

// RemoveRelay implements serve.Relayer.
func (sc Syncer) RemoveRelay(ctx context.Context, url string) ([]serve.Relay, error) {
	return sc.withRelay(ctx, url, usedAt, func(p *remotes.Remotes, url string) error {
		if url == p.Primary() {
			if err := sc.comeHome(ctx); err != nil {
				return err
			}
			if err := sc.shelve(ctx, p); err != nil {
				return err
			}
		}
		return p.Remove(ctx, url)
	})
}

// MoveRelay implements serve.Relayer.
func (sc Syncer) MoveRelay(ctx context.Context, url string) ([]serve.Relay, error) {
	return sc.withRelay(ctx, url, foundAt, func(p *remotes.Remotes, url string) error {
		sy, r, err := sc.replica()
		if err != nil {
			return err
		}
		if err := sy.Round(ctx, r); err != nil && ctx.Err() != nil {
			return err
		}
		if err := sc.comeHome(ctx); err != nil {
			return err
		}
		if err := sc.shelve(ctx, p); err != nil {
			return err
		}
		return p.Move(ctx, url)
	})
}

// SyncFolder implements serve.Syncer.
func (sc Syncer) SyncFolder(ctx context.Context, dir string) (serve.FolderSynced, error) {
	if !filepath.IsAbs(dir) {
		return serve.FolderSynced{}, fmt.Errorf("%w: folder %q: want an absolute path", memory.ErrInvalid, dir)
	}
	// Check before an envelope store is begun for the folder: a mistyped name must
	// change nothing.
	if i, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return serve.FolderSynced{}, fmt.Errorf("%w: folder %s", memory.ErrNotFound, dir)
	} else if err == nil && !i.IsDir() {
		return serve.FolderSynced{}, fmt.Errorf("%w: %s is no folder", memory.ErrInvalid, dir)
	}
	p, sy, release, err := sc.remotes()
	if err != nil {
		return serve.FolderSynced{}, err
	}
	space := sy.c.Ring.Space()
	release()
	sy, r, err := sc.replica()
	if err != nil {
		return serve.FolderSynced{}, err
	}
	out := serve.FolderSynced{Trouble: []string{}}
	if err := sy.Round(ctx, r); err != nil && ctx.Err() != nil { // this relay may be down
		return out, err
	}
	for range 2 { // the first round sends and takes; the second sends what follows from what came
		held := r.Sync(ctx)
		if replica.Failed(held) {
			return out, held
		}
		met, err := p.Meet(ctx, dir, space)
		out.Took, out.Gave, out.Blobs = out.Took+met.Took, out.Gave+met.Gave, out.Blobs+met.Blobs
		out.Trouble = serve.Some(met.Trouble)
		if held != nil {
			out.Trouble = append(out.Trouble, held.Error())
		}
		if errors.Is(err, fs.ErrNotExist) {
			return out, fmt.Errorf("%w: folder %s", memory.ErrNotFound, dir)
		}
		if at, is := errors.AsType[*fs.PathError](err); is && strings.HasPrefix(at.Path, dir) { // the person's folder, and no matter of the node's log
			return out, fmt.Errorf("%w: folder %s: %v", memory.ErrInvalid, dir, at.Err)
		}
		if err != nil {
			return out, fmt.Errorf("folder %s: %w", dir, err)
		}
		if met.Took == 0 {
			break
		}
	}
	return out, nil
}
