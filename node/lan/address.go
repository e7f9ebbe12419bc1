package lan

import (
	"net"
	"net/netip"

	"github.com/locket-dev/locket/internal/sorting"
)

// Addresses returns the addresses at which an interface is reached in its network:
// its first IPv4 address and one IPv6 address. For IPv6 it prefers an address of
// the local network over a global one, and uses a link-local one, with its zone, if
// there is no other. If the interface has no address, there are none.
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

// Reachable returns the addresses at which other machines may reach this one, IPv4
// first.
func Reachable() (all []netip.Addr) {
	list, err := net.Interfaces()
	if err != nil {
		return nil
	}
	for _, i := range list {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 {
			continue
		}
		for _, a := range Addresses(&i) {
			if !a.IsLinkLocalUnicast() {
				all = append(all, a)
			}
		}
	}
	sorting.Stable(all, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
	return all
}

// rank orders IPv6 addresses by how well devices of the same network reach them.
// Lower is better.
func rank(ip netip.Addr) int {
	switch {
	case ip.IsPrivate():
		return 0
	case ip.IsLinkLocalUnicast():
		return 2
	}
	return 1
}

// shared are addresses between a carrier or an overlay and its users (RFC 6598). No
// other host can have one.
var shared = netip.MustParsePrefix("100.64.0.0/10")
