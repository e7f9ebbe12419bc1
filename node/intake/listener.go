package intake

import (
	"crypto/tls"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/mochi-mqtt/server/v2/listeners"

	"github.com/locket-dev/locket/internal/accept"
)

// connectPatience is how long a connection may take to identify itself. After that
// its keepalive applies.
const connectPatience = 10 * time.Second

// listener is a listeners.Listener for the broker. Unlike mochi's own, it limits how
// many connections there are before any password is checked, and knows when each has
// ended. (mochi adds to a WaitGroup for which it may already be waiting, and cleans
// up a connection while the device's next one is being set up.)
type listener struct {
	net.Listener
	tls          *tls.Config
	unidentified *unidentifiedConns
	unreads      *unreads
	dismiss      func() // tells every device that the broker is closing

	mu          sync.Mutex
	closed      bool
	conns       map[*limitConn]bool
	connections sync.WaitGroup
}

func newListener(l net.Listener, t *tls.Config, most int) *listener {
	return &listener{Listener: l, tls: t, unidentified: newUnidentifiedConns(most), unreads: &unreads{bytes: map[*unread]int{}}, conns: map[*limitConn]bool{}}
}

func (l *listener) Init(*slog.Logger) error { return nil }

func (l *listener) ID() string { return "devices" }

func (l *listener) Address() string { return l.Addr().String() }

func (l *listener) Protocol() string { return l.Addr().Network() }

// Serve accepts connections until it is closed.
func (l *listener) Serve(establish listeners.EstablishFn) {
	for {
		raw, err := accept.Next(l.Listener)
		if err != nil {
			return
		}
		l.serve(raw, establish)
	}
}

func (l *listener) serve(raw net.Conn, establish listeners.EstablishFn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || raw.SetDeadline(time.Now().Add(connectPatience)) != nil {
		raw.Close()
		return
	}
	if l.tls != nil {
		raw = tls.Server(raw, l.tls)
	}
	u := &unread{Conn: raw, group: l.unreads}
	c := newLimitConn(u, true)
	l.unidentified.add(c)
	c.onIdentified = func() { l.unidentified.remove(c) }
	l.conns[c] = true
	l.connections.Go(func() {
		establish(l.ID(), c) // an error means that the device left or was rejected, which is counted where it happens
		c.Close()
		u.writers.Wait()
		l.mu.Lock()
		delete(l.conns, c)
		l.mu.Unlock()
		l.unidentified.remove(c)
		close(c.ended)
	})
}

// Close ends all connections and waits for them. It does not call the function that
// mochi passes for ending them: that locks mochi's list of clients for reading twice,
// and deadlocks if a device leaves in between.
func (l *listener) Close(listeners.CloseFn) {
	l.mu.Lock()
	first := !l.closed
	l.closed = true
	l.mu.Unlock()
	if first {
		l.dismiss()
		l.Listener.Close()
	}
	l.mu.Lock()
	for c := range l.conns {
		c.Close()
	}
	l.mu.Unlock()
	l.connections.Wait()
}
