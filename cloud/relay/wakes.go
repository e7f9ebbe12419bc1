package relay

import (
	"context"
	"sync"
)

// Wake says what changed: a space, or a mailbox.
type Wake struct {
	Mailbox bool
	ID      [16]byte
}

// Wakes carries wake-ups between the relays that serve one store. None is
// promised to arrive: whoever listens looks again now and then.
type Wakes interface {
	// Send tells the others, soon; it does not wait.
	Send(Wake)
	// Run sends and listens until ctx is done, and gives nil then. It calls
	// heard with what others sent, and missed when something may have been lost.
	Run(ctx context.Context, heard func(Wake), missed func()) error
}

// Run takes wake-ups from the other relays, and counts requests with them,
// until ctx is done; nothing, where there are none.
func (r *Relay) Run(ctx context.Context) error {
	var sharing sync.WaitGroup
	sharing.Go(func() { r.keepSharing(ctx) })
	defer sharing.Wait()
	if r.config.Wakes == nil {
		return nil
	}
	return r.config.Wakes.Run(ctx, func(w Wake) {
		if w.Mailbox {
			r.mail.Wake(w.ID)
		} else {
			r.hub.Wake(w.ID)
		}
	}, func() {
		r.hub.WakeAll()
		r.mail.WakeAll()
	})
}

// wake wakes who listens here, and elsewhere.
func (r *Relay) wake(w Wake) {
	if w.Mailbox {
		r.mail.Wake(w.ID)
	} else {
		r.hub.Wake(w.ID)
	}
	if r.config.Wakes != nil {
		r.config.Wakes.Send(w)
	}
}
