package api

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/accept"
	"github.com/locket-dev/locket/internal/clientaddr"
)

// If each read had its own deadline, a client that sends a byte from time to
// time could hold a connection for ever. Therefore there is one deadline for
// the whole head of a request, one for the whole body and one for each piece of
// it, according to their sizes, and another for the time between two requests.

const (
	slowestBody  = 8 << 10          // least bytes/s of a body
	bodyPiece    = 16 << 10         // bytes of a body that have a deadline of their own
	lingerTime   = 5 * time.Second  // for reading the rest of a refused body, while its sender reads the answer
	writeTimeout = 30 * time.Second // for each piece that is written
	writePiece   = 64 << 10
)

type connKey struct{}

// connOf returns the connection of a request.
func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}

type listener struct {
	net.Listener
	server *Server

	mu       sync.Mutex
	conns    map[*conn]struct{}
	draining bool
}

// Accept returns connections while there is room. A connection beyond the limit
// is closed at once.
func (l *listener) Accept() (net.Conn, error) {
	for {
		nc, err := accept.Next(l.Listener)
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: nc, listener: l, address: l.address(nc), head: l.server.Head, idle: l.server.Idle, waiting: true, limit: time.Now().Add(l.server.Head)}
		if l.register(c) {
			l.server.idle.add(c)
			return c, nil
		}
		nc.Close()
	}
}

// address returns the address for which a connection is counted. It is empty
// for a proxy, because a proxy's requests are counted instead.
func (l *listener) address(nc net.Conn) string {
	a := clientaddr.Parse(nc.RemoteAddr().String())
	switch {
	case !a.IsValid():
		return nc.RemoteAddr().String()
	case l.server.Proxies.Has(a):
		return ""
	}
	return clientaddr.Customer(a).String()
}

// register registers a connection if there is room for it.
func (l *listener) register(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.conns) >= l.server.MaxConns || c.address != "" && !l.server.mayOpen(c.address) {
		return false
	}
	l.conns[c] = struct{}{}
	return true
}

// mayOpen counts a new connection of an address.
func (s *Server) mayOpen(address string) bool {
	if _, ok := s.opened.Take(address); !ok {
		return false
	}
	return s.conns.reserve(holder{address: address}, 1)
}

// drain closes the connections that wait for a next request.
func (l *listener) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.draining = true
	for c := range l.conns {
		c.closeIfIdle()
	}
}

func (l *listener) closeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		c.Conn.Close()
	}
}

func (l *listener) isDraining() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.draining
}

// conn is a connection that knows how far its request is. Hertz reads and
// writes it from one goroutine; drain looks at it from another.
type conn struct {
	net.Conn
	listener   *listener
	address    string
	head, idle time.Duration

	mu       sync.Mutex
	waiting  bool      // for the first byte of a request
	limit    time.Time // deadline of what is being read
	piece    time.Time // deadline of the piece of a body that is being read; zero if there is none
	received int       // bytes of this piece
	written  []func()  // called when the answer is written
}

// whenWritten has f called once the answer to the present request is written,
// or the connection closed.
func (c *conn) whenWritten(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = append(c.written, f)
}

// onWritten is called when nothing more is to be written: Hertz writes the whole
// answer before it reads on.
func (c *conn) onWritten() {
	c.mu.Lock()
	fs := c.written
	c.written = nil
	c.mu.Unlock()
	for _, f := range fs {
		f()
	}
}

// begin is called after the head of a request. size is the number of bytes of
// the body that may still come.
func (c *conn) begin(size int) {
	c.onWritten()
	c.listener.server.idle.remove(c)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting, c.received = false, 0
	c.limit = time.Now().Add(c.head + time.Duration(size)*time.Second/slowestBody)
	c.piece = c.nextPiece()
}

// nextPiece returns the deadline of the next piece of the body.
func (c *conn) nextPiece() time.Time {
	return time.Now().Add(c.head + bodyPiece*time.Second/slowestBody)
}

// end is called when the request is answered. closing says that no other
// request may follow, only the rest of the body.
func (c *conn) end(closing bool) {
	c.mu.Lock()
	c.waiting, c.piece = !closing, time.Time{}
	if closing {
		c.limit = time.Now().Add(lingerTime)
	} else {
		c.limit = time.Now().Add(c.idle)
	}
	c.mu.Unlock()
	if !closing {
		c.listener.server.idle.add(c)
	}
}

func (c *conn) closeIfIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting {
		c.Conn.SetReadDeadline(time.Unix(1, 0)) // this does not interrupt what is being written
		c.limit = time.Unix(1, 0)
	}
}

// Read reads with the deadline of the request's present part.
func (c *conn) Read(b []byte) (int, error) {
	c.onWritten()
	c.mu.Lock()
	limit := c.limit
	if !c.piece.IsZero() && c.piece.Before(limit) {
		limit = c.piece
	}
	err := c.Conn.SetReadDeadline(limit)
	c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	if n > 0 && c.countReceived(n) {
		c.listener.server.idle.remove(c)
	}
	return n, err
}

// countReceived counts received bytes and reports whether they are the first of a
// request.
func (c *conn) countReceived(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting {
		c.waiting = false
		c.limit = time.Now().Add(c.head)
		return true
	}
	if c.received += n; !c.piece.IsZero() && c.received >= bodyPiece {
		c.received, c.piece = 0, c.nextPiece()
	}
	return false
}

// Write has a deadline for each piece: a slow reader is accepted, while a dead
// one must not keep resources.
func (c *conn) Write(b []byte) (int, error) {
	n := 0
	for {
		piece := b[n:min(len(b), n+writePiece)]
		if err := c.Conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return n, err
		}
		m, err := c.Conn.Write(piece)
		n += m
		if err != nil || n == len(b) {
			return n, err
		}
	}
}

// SetReadDeadline does nothing, because Hertz must not change the deadlines.
func (c *conn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing, for the same reason.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline does nothing, for the same reason.
func (c *conn) SetDeadline(time.Time) error { return nil }

// Close closes the connection and makes room for another.
func (c *conn) Close() error {
	c.onWritten()
	c.listener.mu.Lock()
	if _, ok := c.listener.conns[c]; ok && c.address != "" {
		c.listener.server.conns.release(holder{address: c.address}, 1)
	}
	delete(c.listener.conns, c)
	c.listener.mu.Unlock()
	c.listener.server.idle.remove(c)
	return c.Conn.Close()
}
