// Package clientaddr finds the address for which a request counts against a limit.
package clientaddr

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Loopback reports whether a host, a name or an address without a port, is this machine. It only
// looks at the text: no name is looked up, and no name but localhost counts.
func Loopback(host string) bool {
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && a.Unmap().IsLoopback()
}

// LoopbackHost is Loopback for a Host header, with a port or without one.
func LoopbackHost(hostport string) bool {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return Loopback(host)
	}
	return Loopback(hostport)
}

// Parse parses "HOST:PORT", as in net.Addr and http.Request.RemoteAddr. An IPv4 address within IPv6
// becomes IPv4. The result is invalid if text is not such an address.
func Parse(text string) netip.Addr {
	p, err := netip.ParseAddrPort(text)
	if err != nil {
		return netip.Addr{}
	}
	return p.Addr().Unmap()
}

// Customer returns what limits count by. This is the address itself, or the first
// address of its /64 for IPv6, because one customer has all addresses of that network.
// Loopback stays as it is.
func Customer(a netip.Addr) netip.Addr {
	a = a.WithZone("")
	if a.Is6() && !a.IsLoopback() {
		p, _ := a.Prefix(64) // an IPv6 address has more than 64 bits
		return p.Addr()
	}
	return a
}

// Proxies are networks of reverse proxies whose X-Forwarded-For is believed.
type Proxies []netip.Prefix

// ParseProxies reads addresses and networks such as 10.0.0.0/8.
func ParseProxies(texts []string) (Proxies, error) {
	var out Proxies
	for _, text := range texts {
		if a, err := netip.ParseAddr(text); err == nil {
			out = append(out, netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(text)
		if err != nil || p.Addr().Is4In6() {
			return nil, fmt.Errorf("%q: want an address or a network, such as 10.0.0.0/8", text)
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// Has reports whether an address is a proxy's.
func (p Proxies) Has(a netip.Addr) bool {
	a = a.WithZone("")
	return slices.ContainsFunc(p, func(n netip.Prefix) bool { return n.Contains(a) })
}

// From returns the address from which a request came. a is the address of its connection, and
// forwarded are its X-Forwarded-For lines in their order. If a is a proxy's, the answer is the last
// address in these lines that is not a proxy's. What comes before it may be written by anybody.
func (p Proxies) From(a netip.Addr, forwarded []string) netip.Addr {
	var named []string
	for _, line := range forwarded { // a proxy extends a line, or adds one
		named = append(named, strings.Split(line, ",")...)
	}
	for _, text := range slices.Backward(named) {
		if !p.Has(a) {
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
