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

// save keeps the list. The lock is held.
func (p *Places) save(k kept) error {
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

// Add makes another relay a mirror, and carries everything there. What failed
// is tried again: the relay is in the list once it has the space.
func (p *Places) Add(ctx context.Context, url string) error {
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
	if url != p.c.House {
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

// Remove leaves a relay. The house is left once another relay has everything
// that is here: it is the house then.
func (p *Places) Remove(url string) error {
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
	if url == p.c.House {
		k.Left = append(slices.Clone(k.Left), url)
	}
	if k.House == url || k.House == "" && url == p.c.House {
		for _, s := range left {
			if p.whole(p.at[s]) {
				k.House = s
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
	pl.round.Lock() // one that runs ends first
	defer pl.round.Unlock()
	return pl.carrier.Forget()
}

// stands is how a place stood after its last round.
func (pl *place) stands() envstore.Standing {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	return pl.standing
}

// whole reports whether a place had everything when it was last looked at.
func (p *Places) whole(pl *place) bool {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	return pl.err == nil && !pl.standing.Synced.IsZero() && pl.lacks == 0 && !pl.standing.Failing
}

// Move makes another relay the house, once it has everything that the old one
// has: log, deltas, blobs. The old one stays a mirror until it is removed. What
// was carried before it failed is there the next time.
func (p *Places) Move(ctx context.Context, url string) error {
	if err := p.Add(ctx, url); err != nil && !errors.Is(err, ErrKnown) {
		return err
	}
	p.mu.Lock()
	to := p.at[url]
	var from []*place
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
	for range 2 { // the second shows what the first gave
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
	k.House = url
	if err := p.save(k); err != nil {
		return err
	}
	p.wire()
	return nil
}

// bringBlobs has every blob at a relay that another has, or the shelf.
func (p *Places) bringBlobs(ctx context.Context, to *place, from []*place) error {
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
				brought = true // nobody has what its author took away
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

// Meet exchanges with a folder, for once.
func (p *Places) Meet(ctx context.Context, dir string, space memory.SpaceID) (envstore.Met, error) {
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
