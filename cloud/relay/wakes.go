package relay

import (
	"context"
	"sync"
)

// Wake names what changed: a space or a mailbox.
type Wake struct {
	Mailbox bool
	ID      [16]byte
}

// Wakes carries wake-ups between the relays that use one store. Wake-ups may be
// lost, so listeners also look for changes from time to time.
type Wakes interface {
	// Send sends a wake-up to the other relays soon. It does not block.
	Send(Wake)
	// Run sends and listens until ctx is done, and then returns nil. It calls
	// heard with the wake-ups of others, and missed when some may have been
	// lost.
	Run(ctx context.Context, heard func(Wake), missed func()) error
}

// Run receives wake-ups from the other relays, and shares the counts of requests
// with them, until ctx is done. It returns at once if there are no other relays.
func (r *Relay) Run(ctx context.Context) error {
	var sharing sync.WaitGroup
	sharing.Go(func() { r.keepSharing(ctx) })
	defer sharing.Wait()
	if r.config.Wakes == nil {
		return nil
	}
	return r.config.Wakes.Run(ctx, r.wakeHere, func() {
		r.hub.wakeAll()
		r.mail.wakeAll()
	})
}

// wakeHere wakes listeners of this relay.
func (r *Relay) wakeHere(w Wake) {
	if w.Mailbox {
		r.mail.wake(w.ID)
	} else {
		r.hub.wake(w.ID)
	}
}

// wake wakes listeners of this relay and of the others.
func (r *Relay) wake(w Wake) {
	r.wakeHere(w)
	if r.config.Wakes != nil {
		r.config.Wakes.Send(w)
	}
}
