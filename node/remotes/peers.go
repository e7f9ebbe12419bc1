package remotes

import (
	"context"
	"slices"

	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/envstore"
)

// peerTries is how many rounds may fail before a peer is dropped. It is met
// again when it is found again.
const peerTries = 3

// PeerName returns the name of the remote that another device is.
func PeerName(id memory.MemberID) string { return "device " + id.String() }

// Peer exchanges with another device of the space at a URL, for as long as it
// answers there. It ignores a device that is not a member, and another URL of a
// device with which it exchanges already.
func (p *Remotes) Peer(id memory.MemberID, url string) error {
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
	pl := &remote{name: name, url: url, peer: true}
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

// drop ends the exchange with a remote. The caller holds the lock.
func (p *Remotes) drop(pl *remote) {
	if p.at[pl.name] == pl {
		delete(p.at, pl.name)
		p.wire()
	}
	if pl.stop != nil {
		pl.stop()
	}
}

// lost drops a peer that no longer answers.
func (p *Remotes) lost(pl *remote) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(pl)
}

// meetPeer is the loop of a peer.
func (p *Remotes) meetPeer(ctx context.Context, pl *remote) {
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
