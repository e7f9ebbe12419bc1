package lan

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// How many connections there may be at the same time. A device of the wearer holds a
// stream open and makes requests beside it.
const (
	maxStrangers = 256 // of callers that have not proved to be a member
	maxConnsOf   = 16  // of one address among those, and of one member
)

// OnlyNearby accepts only callers from a network in which this device is, because an IPv6
// address can often be reached from the whole world. Callers that have not proved to be a
// member, see [MarkKnown], may have 16 connections per address at the same time, and 256 in
// total. If there is one more, the oldest is closed: of the same address, or of the
// address that has the most. So a caller that just waits can't keep others out.
func OnlyNearby(l net.Listener) net.Listener {
	return &near{Listener: l, members: map[string][]*nearConn{}}
}

type near struct {
	net.Listener

	mu        sync.Mutex // guards the fields below; each list has the oldest first
	strangers []*nearConn
	members   map[string][]*nearConn
}

// Accept implements net.Listener.
func (l *near) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if held := l.admit(c); held != nil {
			return held, nil
		}
		c.Close()
	}
}

// admit returns the connection that may be handed on, or nil if it was rejected.
func (l *near) admit(c net.Conn) net.Conn {
	at, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return nil
	}
	own, err := net.InterfaceAddrs()
	ip := at.AddrPort().Addr().Unmap()
	if err != nil || !isNear(ip, own) {
		return nil
	}
	held := &nearConn{Conn: c, of: l, ip: ip}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.strangers = append(l.strangers, held)
	count, most := map[netip.Addr]int{}, ip
	for _, s := range l.strangers {
		if count[s.ip]++; count[s.ip] > count[most] {
			most = s.ip
		}
	}
	if count[ip] > maxConnsOf {
		most = ip
	} else if len(l.strangers) <= maxStrangers {
		return held
	}
	first := slices.IndexFunc(l.strangers, func(s *nearConn) bool { return s.ip == most })
	l.strangers[first].Conn.Close() // the server of that connection notices the end
	l.strangers = slices.Delete(l.strangers, first, first+1)
	return held
}

type connKey struct{}

// WithConn is an http.Server's ConnContext, for [MarkKnown].
func WithConn(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	return context.WithValue(ctx, connKey{}, c)
}

// MarkKnown records that a request is a member's: its connection is then closed only in
// favour of another one of that member.
func MarkKnown(ctx context.Context, member string) {
	c, ok := ctx.Value(connKey{}).(*nearConn)
	if !ok {
		return
	}
	l := c.of
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.strangers, c)
	if i < 0 {
		return // it is known already, or has ended
	}
	l.strangers = slices.Delete(l.strangers, i, i+1)
	c.member = member
	if l.members[member] = append(l.members[member], c); len(l.members[member]) > maxConnsOf {
		l.members[member][0].Conn.Close()
		l.members[member] = slices.Delete(l.members[member], 0, 1)
	}
}

func (l *near) release(c *nearConn) {
	is := func(o *nearConn) bool { return o == c }
	l.mu.Lock()
	defer l.mu.Unlock()
	l.strangers = slices.DeleteFunc(l.strangers, is)
	if of := slices.DeleteFunc(l.members[c.member], is); len(of) > 0 {
		l.members[c.member] = of
	} else {
		delete(l.members, c.member)
	}
}

// writeWait is the time after which a caller that reads nothing is disconnected.
const writeWait = 30 * time.Second

// nearConn frees its place when it is closed, and ends if its caller does not read. TLS
// writes 16 KiB at a time.
type nearConn struct {
	net.Conn
	of     *near
	ip     netip.Addr
	member string // empty: a stranger's; guarded by of.mu

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
	c.of.release(c)
	return c.Conn.Close()
}

// isNear reports whether an address is private, link-local, or in a network in
// which this device has an address.
func isNear(ip netip.Addr, own []net.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || shared.Contains(ip) {
		return true
	}
	return slices.ContainsFunc(own, func(a net.Addr) bool {
		p, err := netip.ParsePrefix(a.String())
		return err == nil && p.Contains(ip)
	})
}
