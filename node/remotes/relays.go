package remotes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envstore"
	"github.com/locket-dev/locket/sync/replica"
)

// save stores the list. The caller holds the lock.
func (p *Remotes) save(k relayList) error {
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(p.path(), b); err != nil {
		return err
	}
	p.list = k
	return nil
}

// Add makes another relay a mirror and copies everything there. It retries after a
// failure: the relay is on the list as soon as it has the space.
func (p *Remotes) Add(ctx context.Context, url string) error {
	p.mu.Lock()
	if p.at[url] != nil {
		p.mu.Unlock()
		return fmt.Errorf("relay %s: %w", url, ErrKnown)
	}
	err := p.open(url)
	r := p.at[url]
	p.mu.Unlock()
	if err != nil {
		return err
	}
	first := p.round(ctx, r)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !r.lastStanding().Founded {
		delete(p.at, url)
		return errors.Join(first, r.carrier.Forget())
	}
	k := p.list
	k.Left = slices.DeleteFunc(slices.Clone(k.Left), func(s string) bool { return s == url })
	if url != p.c.Primary {
		k.Added = append(slices.Clone(k.Added), url)
	}
	if err := p.save(k); err != nil {
		return err
	}
	p.wire()
	if p.life != nil {
		p.begin(r)
	}
	return first
}

// Remove stops using a relay. The primary can be removed if another relay has
// everything that is here, and shows its blobs; that one then becomes the primary.
func (p *Remotes) Remove(ctx context.Context, url string) error {
	p.mu.Lock()
	r := p.at[url]
	if r == nil || r.peer {
		p.mu.Unlock()
		return fmt.Errorf("relay %s: %w", url, ErrUnknown)
	}
	left := slices.DeleteFunc(p.relays(), func(s string) bool { return s == url })
	next := "" // the primary afterwards
	if p.relays()[0] == url {
		p.mu.Unlock()
		var err error
		if next, err = p.completeRelay(ctx, left); err != nil {
			return fmt.Errorf("relay %s: %w", url, err)
		}
		p.mu.Lock()
		if p.at[url] != r || p.at[next] == nil { // another call was faster
			p.mu.Unlock()
			return fmt.Errorf("relay %s: %w", url, ErrUnknown)
		}
	}
	k := p.list
	k.Added = slices.DeleteFunc(slices.Clone(k.Added), func(s string) bool { return s == url })
	if url == p.c.Primary {
		k.Left = append(slices.Clone(k.Left), url)
	}
	if next != "" {
		k.Primary = next
	}
	if err := p.save(k); err != nil {
		p.mu.Unlock()
		return err
	}
	delete(p.at, url)
	p.wire()
	if r.stop != nil {
		r.stop()
	}
	p.mu.Unlock()
	r.round.Lock() // wait for the current round
	defer r.round.Unlock()
	return r.carrier.Forget()
}

// lastStanding returns the standing after the last round.
func (r *remote) lastStanding() envstore.Standing {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.standing
}

// isComplete reports whether a remote had everything at its last check.
func (p *Remotes) isComplete(r *remote) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err == nil && !r.standing.Synced.IsZero() && r.lacks == 0 && !r.standing.Failing
}

// completeRelay returns the first of several relays that has everything that is here, and
// shows its blobs.
func (p *Remotes) completeRelay(ctx context.Context, of []string) (string, error) {
	var errs []error
	for _, url := range of {
		p.mu.Lock()
		r := p.at[url]
		p.mu.Unlock()
		if r == nil || !p.isComplete(r) {
			continue
		}
		if err := p.prove(ctx, r); err == nil {
			return url, nil
		} else if errs = append(errs, err); ctx.Err() != nil {
			break
		}
	}
	if len(errs) > 0 {
		return "", errors.Join(errs...)
	}
	return "", ErrLast
}

// prove makes sure that a remote has all blobs of the space that the store has. The
// remote has to show them: it may have lost some since they were sent, and only
// what it shows can be fetched from it again.
func (p *Remotes) prove(ctx context.Context, r *remote) error {
	all, err := p.c.Blobs(ctx)
	if err != nil {
		return err
	}
	r.round.Lock()
	defer r.round.Unlock()
	r.carrier.Owner = p.owner()
	for id := range all {
		if err := r.carrier.Prove(ctx, id); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Move makes another relay the primary once it has everything that the old one has:
// log, deltas, blobs. The old one stays a mirror until it is removed. What was
// copied before a failure need not be copied again.
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
	for _, r := range from { // fetch what the old ones have that is not here yet
		if err := p.round(ctx, r); err != nil {
			p.c.Log.Warn("moving the primary relay: the old one does not answer, so only what is on this device is moved", "remote", r.name, "error", err)
		}
	}
	if err := p.fetchBlobs(ctx, from); err != nil {
		return err
	}
	for range 2 { // the second round shows what the first one sent
		if err := p.round(ctx, to); err != nil {
			return err
		}
	}
	if !p.isComplete(to) {
		return fmt.Errorf("relay %s: it lacks something that is here: %q", url, to.lastStanding().Trouble)
	}
	if err := p.prove(ctx, to); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	k := p.list
	k.Primary = url
	if err := p.save(k); err != nil {
		return err
	}
	p.wire()
	return nil
}

// fetchBlobs fetches every blob that is not here from the first remote that has it.
func (p *Remotes) fetchBlobs(ctx context.Context, from []*remote) error {
	all, err := p.c.Blobs(ctx)
	if err != nil {
		return err
	}
	for id, limit := range all {
		if _, here := p.BlobRemotes(id); here {
			continue
		}
		var errs error
		brought := len(from) == 0
		for _, r := range from {
			err := r.carrier.Download(ctx, id, limit)
			if err == nil || errors.Is(err, replica.ErrNotFound) {
				brought = true // its author deleted it, so nobody has it
				break
			}
			errs = errors.Join(errs, err)
		}
		if !brought {
			return fmt.Errorf("moving the primary relay: blob: %w", errs)
		}
	}
	return nil
}

// SyncFolder exchanges with a folder once.
func (p *Remotes) SyncFolder(ctx context.Context, dir string, space memory.SpaceID) (envstore.FolderSync, error) {
	if _, err := os.Stat(dir); err != nil {
		return envstore.FolderSync{}, err
	}
	wanted, err := p.c.Blobs(ctx)
	if err != nil {
		return envstore.FolderSync{}, err
	}
	return p.Envelopes.SyncFolder(ctx, envstore.OpenFolder(dir, space), p.c.Self, wanted)
}
