package remotes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envstore"
	"github.com/locket-dev/locket/sync/replica"
)

// save stores the list. The caller holds the lock.
func (p *Remotes) save(k kept) error {
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(p.path(), b); err != nil {
		return err
	}
	p.kept = k
	return nil
}

// Add makes another relay a mirror and copies everything there. A failure is
// tried again: the relay is on the list as soon as it has the space.
func (p *Remotes) Add(ctx context.Context, url string) error {
	p.mu.Lock()
	if p.at[url] != nil {
		p.mu.Unlock()
		return fmt.Errorf("relay %s: %w", url, ErrKnown)
	}
	err := p.open(url)
	pl := p.at[url]
	p.mu.Unlock()
	if err != nil {
		return err
	}
	first := p.round(ctx, pl)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !pl.stands().Founded {
		delete(p.at, url)
		return errors.Join(first, pl.carrier.Forget())
	}
	k := p.kept
	k.Left = slices.DeleteFunc(slices.Clone(k.Left), func(s string) bool { return s == url })
	if url != p.c.Primary {
		k.Added = append(slices.Clone(k.Added), url)
	}
	if err := p.save(k); err != nil {
		return err
	}
	p.wire()
	if p.life != nil {
		p.begin(pl)
	}
	return first
}

// Remove leaves a relay. The primary can be left when another relay has
// everything that is here; that one is then the primary.
func (p *Remotes) Remove(url string) error {
	p.mu.Lock()
	pl := p.at[url]
	if pl == nil || pl.peer {
		p.mu.Unlock()
		return fmt.Errorf("relay %s: %w", url, ErrUnknown)
	}
	left := slices.DeleteFunc(p.relays(), func(s string) bool { return s == url })
	if p.relays()[0] == url && !slices.ContainsFunc(left, func(s string) bool { return p.whole(p.at[s]) }) {
		p.mu.Unlock()
		return fmt.Errorf("relay %s: %w", url, ErrLast)
	}
	k := p.kept
	k.Added = slices.DeleteFunc(slices.Clone(k.Added), func(s string) bool { return s == url })
	if url == p.c.Primary {
		k.Left = append(slices.Clone(k.Left), url)
	}
	if k.Primary == url || k.Primary == "" && url == p.c.Primary {
		for _, s := range left {
			if p.whole(p.at[s]) {
				k.Primary = s
				break
			}
		}
	}
	if err := p.save(k); err != nil {
		p.mu.Unlock()
		return err
	}
	delete(p.at, url)
	p.wire()
	if pl.stop != nil {
		pl.stop()
	}
	p.mu.Unlock()
	pl.round.Lock() // wait for a round under way
	defer pl.round.Unlock()
	return pl.carrier.Forget()
}

// stands returns the standing after the last round.
func (pl *remote) stands() envstore.Standing {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	return pl.standing
}

// whole reports whether a remote had everything at its last check.
func (p *Remotes) whole(pl *remote) bool {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	return pl.err == nil && !pl.standing.Synced.IsZero() && pl.lacks == 0 && !pl.standing.Failing
}

// Move makes another relay the primary once it has everything that the old one
// has: log, deltas, blobs. The old one stays a mirror until it is removed. What
// was copied before a failure is there the next time.
func (p *Remotes) Move(ctx context.Context, url string) error {
	if err := p.Add(ctx, url); err != nil && !errors.Is(err, ErrKnown) {
		return err
	}
	p.mu.Lock()
	to := p.at[url]
	var from []*remote
	for _, s := range p.relays() {
		if s != url {
			from = append(from, p.at[s])
		}
	}
	p.mu.Unlock()
	for _, pl := range from { // what the old ones have that is not here yet
		if err := p.round(ctx, pl); err != nil {
			p.c.Log.Warn("moving house: the old relay does not answer; what is here is moved", "place", pl.name, "error", err)
		}
	}
	if err := p.bringBlobs(ctx, to, from); err != nil {
		return err
	}
	for range 2 { // the second round shows what the first gave
		if err := p.round(ctx, to); err != nil {
			return err
		}
	}
	if !p.whole(to) {
		return fmt.Errorf("relay %s: it lacks some of what is here: %q", url, to.stands().Trouble)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.kept
	k.Primary = url
	if err := p.save(k); err != nil {
		return err
	}
	p.wire()
	return nil
}

// bringBlobs copies every blob that another relay or the store has to a relay.
func (p *Remotes) bringBlobs(ctx context.Context, to *remote, from []*remote) error {
	all, err := p.c.Blobs(ctx)
	if err != nil {
		return err
	}
	for id, limit := range all {
		var errs error
		brought := len(from) == 0
		for _, pl := range from {
			err := pl.carrier.Bring(ctx, id, limit)
			if err == nil || errors.Is(err, replica.ErrNotFound) {
				brought = true // its author deleted it, so nobody has it
				break
			}
			errs = errors.Join(errs, err)
		}
		if !brought {
			return fmt.Errorf("moving house: blob: %w", errs)
		}
	}
	return nil
}

// Meet exchanges with a folder once.
func (p *Remotes) Meet(ctx context.Context, dir string, space memory.SpaceID) (envstore.Met, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return envstore.Met{}, err
	}
	if !info.IsDir() {
		return envstore.Met{}, fmt.Errorf("%w: %s is no folder", memory.ErrInvalid, dir)
	}
	wanted, err := p.c.Blobs(ctx)
	if err != nil {
		return envstore.Met{}, err
	}
	return p.Shelf.Meet(ctx, envstore.OpenFolder(dir, space), p.c.Self, wanted)
}
