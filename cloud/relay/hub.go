package relay

import "sync"

// These limits say how many requests may wait for one space or mailbox. Without them, one
// member could use all connections of a relay, or prevent the others from waiting.
const (
	MaxListeners   = 512
	MaxOfOneMember = MaxListeners / 4
)

// Hub wakes the requests in this process that wait for a space or a mailbox. A wake-up
// says only that there may be something new. It is safe for concurrent use.
type Hub struct {
	mu        sync.Mutex
	listeners map[[16]byte]map[chan struct{}]string // the string names the waiting member or address
}

// newHub returns a hub without listeners.
func newHub() *Hub { return &Hub{listeners: map[[16]byte]map[chan struct{}]string{}} }

// Listen returns a channel that gets a value after changes of a space; several quick
// changes may give only one value. who names the member, or the address, that waits. The
// caller must call leave when it stops waiting.
func (h *Hub) Listen(space [16]byte, who string) (woken <-chan struct{}, leave func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.listeners[space]) >= MaxListeners {
		return nil, nil, ErrBusy
	}
	own := 0
	for _, w := range h.listeners[space] {
		if w == who {
			own++
		}
	}
	if own >= MaxOfOneMember {
		return nil, nil, ErrBusy
	}
	ch := make(chan struct{}, 1)
	if h.listeners[space] == nil {
		h.listeners[space] = map[chan struct{}]string{}
	}
	h.listeners[space][ch] = who
	return ch, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.listeners[space], ch)
		if len(h.listeners[space]) == 0 {
			delete(h.listeners, space)
		}
	}, nil
}

// wake wakes all that listen to a space or mailbox.
func (h *Hub) wake(space [16]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	wake(h.listeners[space])
}

func wake(listeners map[chan struct{}]string) {
	for ch := range listeners {
		select {
		case ch <- struct{}{}:
		default: // a value waits in the channel already
		}
	}
}

// wakeAll wakes all listeners.
func (h *Hub) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, listeners := range h.listeners {
		wake(listeners)
	}
}

// Listening returns the number of listeners, for all spaces together.
func (h *Hub) Listening() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, l := range h.listeners {
		n += len(l)
	}
	return n
}
