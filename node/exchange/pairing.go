package exchange

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/sync/pairing"
	"github.com/locket-dev/locket/sync/peer"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
)

// pairLife is how long a code is valid. A relay keeps a mailbox for the same time.
const pairLife = 10 * time.Minute

// mailbox is pairing.Box at a relay.
type mailbox struct{ relay *remote.Relay }

func (m mailbox) Post(ctx context.Context, box [16]byte, message []byte) error {
	_, err := m.relay.Post(ctx, box, message)
	return err
}

func (m mailbox) Message(ctx context.Context, box [16]byte, n int) ([]byte, error) {
	for {
		b, err := m.relay.Message(ctx, box, n, page.MaxWait*time.Second)
		if err != nil || b != nil {
			return b, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

func (m mailbox) FirstMessage(ctx context.Context, box [16]byte) ([]byte, error) {
	return m.relay.Message(ctx, box, 0, 0)
}

// invitation is a pairing under way, in which this node is the existing member.
type invitation struct {
	code    pairing.Code
	url     string        // URL of the mailbox where both leave their messages
	peer    *peer.Server  // not nil: this device itself serves the mailbox
	stop    func()        // waits for the goroutine that invites
	arrived chan struct{} // closed once meeting or err is set

	mu       sync.Mutex // guards the fields below
	meeting  *pairing.Meeting
	answered bool // the person here has said whether the words are the same
	err      error
	done     bool
}

func (i *invitation) state() serve.Pairing {
	p := serve.Pairing{State: serve.PairWaiting, Code: i.code.String(), Link: pairing.Link(i.url, i.code)}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.meeting != nil {
		p.State, p.Words = serve.PairCompare, i.meeting.Words()
		p.Name, p.Platform = nameAndPlatform(i.meeting.Other.Name)
	}
	if i.done {
		p.State = serve.PairDone
	}
	if i.err != nil {
		p.State, p.Error = serve.PairFailed, i.err.Error()
	}
	return p
}

func (sc Syncer) PairInvite(ctx context.Context) (serve.Pairing, error) {
	sy, release, err := sc.of.Use()
	if err != nil {
		return serve.Pairing{}, err
	}
	defer release()
	if sy.Replica() == nil {
		return serve.Pairing{}, ErrAlone
	}
	boxes, i, err := sy.invite()
	if err != nil {
		return serve.Pairing{}, err
	}
	p := sy.c.Ring.Public()
	me := pairing.Party{Member: p.Member, Key: p.Device, Recipient: p.Pair.String(), Name: DeviceName()}
	sy.pairMu.Lock()
	defer sy.pairMu.Unlock()
	if sy.pairing != nil {
		sy.pairing.stop()
	}
	sy.pairing = i
	i.stop = sy.c.Life.Start(func(ctx context.Context) {
		ctx, stop := context.WithTimeout(ctx, pairLife)
		defer stop()
		m, err := pairing.Invite(ctx, boxes, i.code, me)
		i.mu.Lock()
		i.meeting, i.err = m, err
		i.mu.Unlock()
		close(i.arrived)
	})
	return i.state(), nil
}

// invite begins an invitation, and returns the mailbox where both sides leave their messages.
// It is at the relay, or on this device if there is no relay and the device meets others in its
// network.
func (sy *Syncing) invite() (pairing.Mailbox, *invitation, error) {
	relay, url := sy.Relay()
	i := &invitation{code: pairing.NewCode(), arrived: make(chan struct{}), url: url}
	if relay != nil {
		return mailbox{relay}, i, nil
	}
	x := sy.exchange.Load()
	if x == nil || x.lan == nil {
		return nil, nil, ErrAlone
	}
	x.lan.start()
	url, err := x.lan.url()
	if err != nil {
		return nil, nil, err
	}
	i.url, i.peer = url, x.lan.server
	return i.peer.Boxes(), i, nil
}

// readWait is how long a new device has to read the log from the device that admitted it.
const readWait = time.Minute

func waitForRead(ctx context.Context, done <-chan struct{}) error {
	ctx, stop := context.WithTimeout(ctx, readWait)
	defer stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the new device was let in, and has not read the log: %w", ctx.Err())
	}
}

var errNoPairing = fmt.Errorf("%w: no pairing is in progress", serve.ErrConflict)

func (sc Syncer) invitation() (*invitation, *Syncing, error) {
	sy, release, err := sc.of.Use()
	if err != nil {
		return nil, nil, err
	}
	defer release()
	sy.pairMu.Lock()
	defer sy.pairMu.Unlock()
	if sy.pairing == nil {
		return nil, nil, errNoPairing
	}
	return sy.pairing, sy, nil
}

func (sc Syncer) PairWait(ctx context.Context) (serve.Pairing, error) {
	i, _, err := sc.invitation()
	if err != nil {
		return serve.Pairing{}, err
	}
	select {
	case <-ctx.Done():
		return serve.Pairing{}, ctx.Err()
	case <-i.arrived:
	}
	return i.state(), nil
}

// PairConfirm implements serve.Membership. The first answer counts: after a no, a later yes
// admits nobody.
func (sc Syncer) PairConfirm(ctx context.Context, said serve.ConfirmRequest) (serve.Pairing, error) {
	i, sy, err := sc.invitation()
	if err != nil {
		return serve.Pairing{}, err
	}
	if said.Code != "" && said.Code != i.code.String() {
		return serve.Pairing{}, fmt.Errorf("%w: another pairing has begun since; the words that were compared belong to the earlier one", serve.ErrConflict)
	}
	i.mu.Lock()
	m, answered := i.meeting, i.answered
	i.answered = m != nil
	i.mu.Unlock()
	if m == nil {
		return serve.Pairing{}, fmt.Errorf("%w: the new device has not come yet", serve.ErrConflict)
	}
	if answered {
		return serve.Pairing{}, fmt.Errorf("%w: whether the words are the same was answered already", serve.ErrConflict)
	}
	if !said.Same {
		err = refuse(ctx, m)
	} else {
		err = sy.admit(ctx, i, m)
	}
	i.mu.Lock()
	i.err, i.done = err, err == nil
	i.mu.Unlock()
	i.stop()
	return i.state(), nil
}

// refuse ends a pairing whose words differ, and returns the error for it.
func refuse(ctx context.Context, m *pairing.Meeting) error {
	if err := m.Refuse(ctx); err != nil {
		return fmt.Errorf("%w; the other device could not be told: %v", pairing.ErrDiffer, err)
	}
	return pairing.ErrDiffer
}

// admit admits a new device, once the person at that device has agreed as well.
func (sy *Syncing) admit(ctx context.Context, i *invitation, m *pairing.Meeting) (err error) {
	if err := m.Agree(ctx); err != nil {
		return err
	}
	// If the caller hung up after this, there would be a member that was never told of the
	// space.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*readWait)
	defer stop()
	r, err := sy.Active()
	if err != nil {
		return err
	}
	genesis, err := membership.Genesis(sy.c.Public)
	if err != nil {
		return err
	}
	first, err := envelope.ParseEntry(genesis)
	if err != nil {
		return err
	}
	member := m.Other.As(envelope.Owner)
	if err := r.AddMember(ctx, member, m.Other.Name); err != nil {
		return fmt.Errorf("let %s in: %w", m.Other.Member, err)
	}
	if i.peer != nil {
		defer func() { // the new device reads the log here, and this process may end
			if err == nil {
				err = waitForRead(ctx, i.peer.Read(member.ID))
			}
		}()
	}
	return m.SendGrant(ctx, pairing.Grant{Space: sy.c.Public.Space(), Genesis: first.Hash(), Relay: sy.Primary(), Wearer: sy.c.Wearer}, sy.c.Ring.DeviceSign)
}
