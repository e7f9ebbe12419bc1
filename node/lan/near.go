package lan

import (
	"net"
	"net/netip"
	"sync"
)

// Connections at a time. A wearer's device holds a stream and asks beside it.
const (
	maxConns      = 256
	maxConnsOfOne = 16 // of one address
)

// Near listens to those alone who are in a network of this device, because an
// address of IPv6 is often one that the whole world reaches. One address has 16
// connections at a time, and all have 256: one too many is closed at once.
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

// take gives the connection that is handed on; nil: it is turned away.
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

// nearConn makes room for another where it ends.
type nearConn struct {
	net.Conn
	end func()
}

// Close implements net.Conn.
func (c *nearConn) Close() error {
	c.end()
	return c.Conn.Close()
}

// isNear reports whether an address is private, of the link, or of a network in
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
