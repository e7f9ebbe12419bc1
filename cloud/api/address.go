package api

import (
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/cloudwego/hertz/pkg/app"

	"github.com/locket-dev/locket/cloud/relay"
)

// pace counts by address; for IPv6 by its /64, which is one customer.
func (s *Server) pace(c *app.RequestContext) error {
	if wait, ok := s.strangers.Take(s.address(c)); !ok {
		return &relay.QuotaError{What: "requests a minute without a key", Limit: s.StrangersPerMinute, Wait: wait}
	}
	return nil
}

// address is what a request is counted under, where it came from.
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

// forwarded is the address that a proxy says a request came from; empty where
// it came by itself.
func (s *Server) forwarded(c *app.RequestContext) string {
	if a, ok := parsed(c.RemoteAddr()); !ok || !s.isProxy(a) {
		return ""
	}
	return s.address(c)
}

func customer(a netip.Addr) string {
	if a.Is6() {
		p, _ := a.WithZone("").Prefix(64) // 64 bits are there
		return p.String()
	}
	return a.String()
}

// cameFrom gives the address that a request came from: the connection's, or
// where that is a proxy's, the last that the proxies name and that is none of
// them. What stands before it anybody can have written.
func (s *Server) cameFrom(a netip.Addr, c *app.RequestContext) netip.Addr {
	var named []string
	for _, line := range c.Request.Header.PeekAll("X-Forwarded-For") { // a proxy adds to a line, or adds a line
		named = append(named, strings.Split(string(line), ",")...)
	}
	for _, text := range slices.Backward(named) {
		if !s.isProxy(a) {
			break
		}
		next, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			break // the proxy itself is counted
		}
		a = next.Unmap()
	}
	return a
}

func (s *Server) isProxy(a netip.Addr) bool {
	return slices.ContainsFunc(s.Proxies, func(p netip.Prefix) bool { return p.Contains(a.WithZone("")) })
}
