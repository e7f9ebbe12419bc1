package exchange

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/remotes"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envstore"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/sync/replica"
)

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
		r := serve.Relay{URL: s.Name, Kind: serve.RelayMirror, Member: s.Member, Synced: s.Synced, Lacks: s.Lacks, Blobs: s.Blobs, Busy: s.Busy, Done: s.Done, All: s.Todo, Retry: s.Retry, Trouble: serve.NonNil(s.Trouble)}
		switch {
		case s.Primary:
			r.Kind = serve.RelayPrimary
		case s.Peer:
			r.Kind = serve.RelayPeer
		}
		r.Metered = r.Blobs > 0 && !s.Peer && sy.c.Metered != nil && sy.c.Metered(ctx)
		if s.Err != nil {
			r.Error = replica.DescribeError(s.Err)
		}
		out = append(out, r)
	}
	return out, nil
}

// checkRelay returns a relay's URL in the form in which it is stored.
func checkRelay(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%w: relay %q: want a URL such as https://relay.example:8443", memory.ErrInvalid, text)
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

// withRelay changes something about a relay, and returns the list. If the node has no envelope
// store, check is called before one is created, which can't be reversed.
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
		if _, at := sy.Relay(); p.Primary() != at { // pairings, shares and the market use the new relay from now on
			err = errors.Join(err, sy.setPrimary(p.Primary()))
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

// foundSpaceAt creates the wearer's space at a relay, unless the relay has it.
func foundSpaceAt(ctx context.Context, sy *Syncing, url string) error {
	genesis, err := membership.Genesis(sy.c.Ring.Locked)
	if err != nil {
		return err
	}
	relay, err := openRelay(url, sy.c.HTTP, sy.c.Now)
	if err != nil {
		return err
	}
	defer relay.Close()
	if err := envstore.FoundSpace(ctx, sy.spaceAt(relay), genesis); err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	return nil
}

// checkUsed returns an error unless the node syncs through the relay.
func checkUsed(_ context.Context, sy *Syncing, url string) error {
	if url != sy.Primary() {
		return fmt.Errorf("relay %s: %w", url, remotes.ErrUnknown)
	}
	return nil
}

func (sc Syncer) AddRelay(ctx context.Context, url string) ([]serve.Relay, error) {
	return sc.withRelay(ctx, url, foundSpaceAt, func(p *remotes.Remotes, url string) error {
		sy, r, err := sc.replica()
		if err != nil {
			return err
		}
		if err := sy.Round(ctx, r); err != nil && ctx.Err() != nil { // this fetches what only the old relay has
			return err
		}
		return p.Add(ctx, url)
	})
}

func (sc Syncer) RemoveRelay(ctx context.Context, url string) ([]serve.Relay, error) {
	return sc.withRelay(ctx, url, checkUsed, func(p *remotes.Remotes, url string) error {
		if url == p.Primary() {
			if err := sc.fetchFromPrimary(ctx); err != nil {
				return err
			}
			if err := sc.copyToEnvelopes(ctx, p); err != nil {
				return err
			}
		}
		return p.Remove(ctx, url)
	})
}

func (sc Syncer) MoveRelay(ctx context.Context, url string) ([]serve.Relay, error) {
	return sc.withRelay(ctx, url, foundSpaceAt, func(p *remotes.Remotes, url string) error {
		sy, r, err := sc.replica()
		if err != nil {
			return err
		}
		if err := sy.Round(ctx, r); err != nil && ctx.Err() != nil {
			return err
		}
		if err := sc.fetchFromPrimary(ctx); err != nil {
			return err
		}
		if err := sc.copyToEnvelopes(ctx, p); err != nil {
			return err
		}
		return p.Move(ctx, url)
	})
}
