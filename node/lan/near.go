package lan

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

// How many connections there may be at a time. A device of the wearer holds a
// stream open and makes requests beside it.
const (
	maxConns      = 256
	maxConnsOfOne = 16 // of one address
)

// Near accepts only callers from a network in which this device is, because the
// whole world can often reach an IPv6 address. One address may have 16 connections
// at a time, and all together 256. More are closed at once.
func Near(l net.Listener) net.Listener {
	return &near{Listener: l, held: map[netip.Addr]int{}}
}

type near struct {
	net.Listener

	mu   sync.Mutex
	held map[netip.Addr]int
	all  int
}

// Accept implements net.Listener.
func (l *near) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if held := l.take(c); held != nil {
			return held, nil
		}
		c.Close()
	}
}

// take gives the connection that may be handed on, or nil if it was turned away.
func (l *near) take(c net.Conn) net.Conn {
	at, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return nil
	}
	own, err := net.InterfaceAddrs()
	ip := at.AddrPort().Addr().Unmap()
	if err != nil || !isNear(ip, own) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= maxConns || l.held[ip] >= maxConnsOfOne {
		return nil
	}
	l.all++
	l.held[ip]++
	return &nearConn{Conn: c, end: sync.OnceFunc(func() { l.give(ip) })}
}

func (l *near) give(ip netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all--
	if l.held[ip]--; l.held[ip] == 0 {
		delete(l.held, ip)
	}
}

// writeWait is the time after which a caller that reads nothing is let go.
const writeWait = 30 * time.Second

// nearConn gives its place back when it is closed, and ends where its caller does not
// read. TLS writes 16 KiB at a time.
type nearConn struct {
	net.Conn
	end func()

	mu    sync.Mutex
	limit time.Time // the server's own deadline for what it writes; guarded by mu
}

// Write implements net.Conn.
func (c *nearConn) Write(b []byte) (int, error) {
	if err := c.extend(time.Now().Add(writeWait)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

func (c *nearConn) extend(to time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.limit.IsZero() && c.limit.Before(to) {
		to = c.limit
	}
	return c.Conn.SetWriteDeadline(to)
}

// SetWriteDeadline implements net.Conn.
func (c *nearConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = t
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline implements net.Conn.
func (c *nearConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// Close implements net.Conn.
func (c *nearConn) Close() error {
	c.end()
	return c.Conn.Close()
}

// isNear reports whether an address is private, link-local, or in a network in
// which this device has an address.
func isNear(ip netip.Addr, own []net.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || shared.Contains(ip) {
		return true
	}
	for _, a := range own {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Contains(ip) {
			return true
		}
	}
	return false
}
