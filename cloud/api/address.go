package api

import (
	"github.com/cloudwego/hertz/pkg/app"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/internal/clientaddr"
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
	a := clientaddr.Parse(c.RemoteAddr().String())
	if !a.IsValid() {
		return c.RemoteAddr().String()
	}
	var lines []string
	for _, line := range c.Request.Header.PeekAll("X-Forwarded-For") {
		lines = append(lines, string(line))
	}
	return clientaddr.Customer(s.Proxies.From(a, lines)).String()
}

// forwarded returns the address from which a request came, if a proxy forwarded
// it, and an empty string otherwise.
func (s *Server) forwarded(c *app.RequestContext) string {
	if !s.Proxies.Has(clientaddr.Parse(c.RemoteAddr().String())) {
		return ""
	}
	return s.address(c)
}
