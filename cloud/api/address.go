package api

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/cloudwego/hertz/pkg/app"

	"github.com/locket-dev/locket/cloud/relay"
)

// pace limits requests by address. An IPv6 address counts as its /64, which is
// one customer.
func (s *Server) pace(c *app.RequestContext) error {
	if wait, ok := s.strangers.Take(s.address(c)); !ok {
		return &relay.QuotaError{What: "requests a minute without a key", Limit: s.StrangersPerMinute, Wait: wait}
	}
	return nil
}

// address returns the address for which a request is counted.
func (s *Server) address(c *app.RequestContext) string {
	a, ok := parsed(c.RemoteAddr())
	if !ok {
		return c.RemoteAddr().String()
	}
	return customer(s.cameFrom(a, c))
}

func parsed(a net.Addr) (netip.Addr, bool) {
	p, err := netip.ParseAddrPort(a.String())
	return p.Addr().Unmap(), err == nil
}

// forwarded returns the address from which a request came, if a proxy forwarded
// it, and an empty string otherwise.
func (s *Server) forwarded(c *app.RequestContext) string {
	if a, ok := parsed(c.RemoteAddr()); !ok || !s.isProxy(a) {
		return ""
	}
	return s.address(c)
}

func customer(a netip.Addr) string {
	if a.Is6() {
		p, _ := a.WithZone("").Prefix(64) // an IPv6 address has more than 64 bits
		return p.String()
	}
	return a.String()
}

// cameFrom returns the address from which a request came. This is the address
// of the connection. If that is a proxy's, it is the last address in the
// proxies' list that is not a proxy. Anybody can have written what stands
// before it.
func (s *Server) cameFrom(a netip.Addr, c *app.RequestContext) netip.Addr {
	var named []string
	for _, line := range c.Request.Header.PeekAll("X-Forwarded-For") { // a proxy extends a line, or adds one
		named = append(named, strings.Split(string(line), ",")...)
	}
	for _, text := range slices.Backward(named) {
		if !s.isProxy(a) {
			break
		}
		next, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			break // the request counts as the proxy's own
		}
		a = next.Unmap()
	}
	return a
}

func (s *Server) isProxy(a netip.Addr) bool {
	return slices.ContainsFunc(s.Proxies, func(p netip.Prefix) bool { return p.Contains(a.WithZone("")) })
}
