package lan

import (
	"net"
	"net/netip"
)

// Addresses gives where an interface is reached in its network: its first IPv4
// address, and one of IPv6 (a network's own before a global one, and one of the
// link, with its zone, where there is no other). None: it has no address.
func Addresses(i *net.Interface) (all []netip.Addr) {
	addrs, err := i.Addrs()
	if err != nil {
		return nil
	}
	var four, six netip.Addr
	for _, a := range addrs {
		p, err := netip.ParsePrefix(a.String())
		if err != nil {
			continue
		}
		switch ip := p.Addr(); {
		case ip.Is4():
			if !four.IsValid() {
				four = ip
			}
		case !six.IsValid() || rank(ip) < rank(six):
			six = ip
		}
	}
	if four.IsValid() {
		all = append(all, four)
	}
	if six.IsValid() {
		if six.IsLinkLocalUnicast() {
			six = six.WithZone(i.Name)
		}
		all = append(all, six)
	}
	return all
}

// rank orders addresses of IPv6 by how well a device of the same network reaches
// them, the best first.
func rank(ip netip.Addr) int {
	switch {
	case ip.IsPrivate():
		return 0
	case ip.IsLinkLocalUnicast():
		return 2
	}
	return 1
}

// shared are addresses between a carrier or an overlay and its users (RFC 6598):
// nobody else has them.
var shared = netip.MustParsePrefix("100.64.0.0/10")
