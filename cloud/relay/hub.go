package relay

import "sync"

// How many may wait for one space, or mailbox: a member can't hold all of a
// relay's connections, nor keep the others from waiting.
const (
	MaxListeners   = 512
	MaxOfOneMember = MaxListeners / 4
)

// Hub wakes whoever waits for a space, or a mailbox, in this process. A wake-up says only
// that there may be something new. Safe for concurrent use.
type Hub struct {
	mu        sync.Mutex
	listeners map[[16]byte]map[chan struct{}]string // with who it is
}

// NewHub gives one that nobody listens to.
func NewHub() *Hub { return &Hub{listeners: map[[16]byte]map[chan struct{}]string{}} }

// Listen gives a channel that gets a value after each change of space, several
// changes in one where they come fast. who names the member, or the address,
// that waits. leave ends it, and must be called.
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

// Wake wakes all who listen to space.
func (h *Hub) Wake(space [16]byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ch := range h.listeners[space] {
		select {
		case ch <- struct{}{}:
		default: // it will look anyway
		}
	}
}

// WakeAll wakes all who listen to anything.
func (h *Hub) WakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, listeners := range h.listeners {
		for ch := range listeners {
			select {
			case ch <- struct{}{}:
			default:
			}
		}
	}
}

// Listening is how many wait, for all spaces.
func (h *Hub) Listening() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, l := range h.listeners {
		n += len(l)
	}
	return n
}
