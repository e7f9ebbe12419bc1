package remotes

import (
	"context"
	"slices"

	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/envstore"
)

// peerTries is how many rounds may fail before a peer is dropped. It is used
// again when it is found again.
const peerTries = 3

// peerName returns the name of the remote for another device.
func peerName(id memory.MemberID) string { return "device " + id.String() }

// Peer exchanges with another device of the space at a URL, as long as it
// answers there. It ignores a device that is not a member, and a second URL of
// a device with which it already exchanges.
func (p *Remotes) Peer(id memory.MemberID, url string) error {
	if id == p.c.Self || !slices.ContainsFunc(p.Envelopes.Members(), func(m envelope.Member) bool { return m.ID == id }) {
		return nil
	}
	name := peerName(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at[name] != nil { // it has several addresses
		return nil
	}
	at, err := p.c.Open(url)
	if err != nil {
		return err
	}
	r := &remote{name: name, url: url, peer: true, member: id}
	r.carrier, err = p.Envelopes.Carry(envstore.Carrier{Name: name, Remote: at, Self: p.c.Self, Owner: p.owner(), Peer: true, Now: p.c.Now, Progress: r.progress})
	if err != nil {
		return err
	}
	r.standing, r.lacks = r.carrier.Standing(), r.carrier.MissingDeltas()
	p.at[name] = r
	p.wire()
	if p.life != nil {
		p.begin(r)
	}
	return nil
}

// drop ends the exchange with a remote. The caller holds the lock.
func (p *Remotes) drop(r *remote) {
	if p.at[r.name] == r {
		delete(p.at, r.name)
		p.wire()
	}
	if r.stop != nil {
		r.stop()
	}
}

// dropPeer drops a peer that no longer answers.
func (p *Remotes) dropPeer(r *remote) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(r)
}

// runPeer runs the loop of a peer.
func (p *Remotes) runPeer(ctx context.Context, r *remote) {
	pace := retry.Backoff{First: firstWait, Most: longWait}
	for failed := 0; failed < peerTries && ctx.Err() == nil; {
		changed := p.Envelopes.Changed()
		if err := p.round(ctx, r); err != nil {
			failed++
			p.c.Log.Debug("lan", "remote", r.name, "error", err)
			pace.Wait(ctx)
			continue
		}
		failed = 0
		pace.Reset()
		r.listen(ctx, changed)
	}
	p.dropPeer(r)
}
