package remotes

import (
	"context"
	"slices"

	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/envstore"
)

// peerTries is how many rounds may fail before another device is taken to be
// gone: it is met anew when it is found again.
const peerTries = 3

// PeerName names the place that another device is.
func PeerName(id memory.MemberID) string { return "device " + id.String() }

// Peer carries to and from another device of the space that was found at a
// URL, for as long as it answers there. Who is no member is passed over, and so
// is another URL of a device that is met.
func (p *Places) Peer(id memory.MemberID, url string) error {
	if id == p.c.Self || !slices.ContainsFunc(p.Shelf.Members(), func(m envelope.Member) bool { return m.ID == id }) {
		return nil
	}
	name := PeerName(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at[name] != nil { // it has several addresses
		return nil
	}
	at, err := p.c.Open(url)
	if err != nil {
		return err
	}
	pl := &place{name: name, url: url, peer: true}
	pl.carrier, err = p.Shelf.Carry(envstore.Carrier{Name: name, At: at, Self: p.c.Self, Owner: p.owner(), Peer: true, Now: p.c.Now, Progress: pl.progress})
	if err != nil {
		return err
	}
	pl.standing, pl.lacks = pl.carrier.Standing(), pl.carrier.Lacks()
	p.at[name] = pl
	p.wire()
	if p.life != nil {
		p.begin(pl)
	}
	return nil
}

// drop ends what goes on with a place. The lock is held.
func (p *Places) drop(pl *place) {
	if p.at[pl.name] == pl {
		delete(p.at, pl.name)
		p.wire()
	}
	if pl.stop != nil {
		pl.stop()
	}
}

// lost drops another device that no longer answers.
func (p *Places) lost(pl *place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(pl)
}

// meetPeer is a peer's loop.
func (p *Places) meetPeer(ctx context.Context, pl *place) {
	pace := retry.Backoff{First: firstWait, Most: longWait}
	for failed := 0; failed < peerTries && ctx.Err() == nil; {
		changed := p.Shelf.Changed()
		if err := p.round(ctx, pl); err != nil {
			failed++
			p.c.Log.Debug("lan", "place", pl.name, "error", err)
			pace.Wait(ctx)
			continue
		}
		failed = 0
		pace.Reset()
		pl.listen(ctx, changed)
	}
	p.lost(pl)
}
