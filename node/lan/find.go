package lan

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/sorting"
)

// Service is a service that is announced in the network.
type Service struct {
	Name string         // of the instance: the part before the service's own name
	Host string         // such as kitchen.local
	At   netip.AddrPort // IPv4
}

// Find asks the network who serves a service, such as "_wyoming._tcp", and returns the IPv4
// addresses that answered within a time, sorted. Anybody in the network may have answered, with any
// address of it. Interfaces nil means all that are up and have multicast, without loopback.
func Find(ctx context.Context, service string, within time.Duration, interfaces []net.Interface) []netip.AddrPort {
	var found []netip.AddrPort
	for _, s := range Services(ctx, service, within, interfaces) {
		found = append(found, s.At)
	}
	return slices.Compact(found)
}

// Services is [Find] with the names that were announced. They are sorted by address, and then by
// name. If several hosts announce the same name, all of them are included.
func Services(ctx context.Context, service string, within time.Duration, interfaces []net.Interface) []Service {
	if interfaces == nil {
		all, _ := net.Interfaces() // without interfaces nothing is found
		for _, i := range all {
			if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagMulticast != 0 && i.Flags&net.FlagLoopback == 0 {
				interfaces = append(interfaces, i)
			}
		}
	}
	var mu sync.Mutex
	var found []Service
	var asking sync.WaitGroup
	for _, i := range interfaces {
		asking.Go(func() {
			list, _ := ask(ctx, service, within, &i) // an interface that can't be queried finds nothing
			mu.Lock()
			defer mu.Unlock()
			found = append(found, list...)
		})
	}
	asking.Wait()
	sorting.Sort(found, func(a, b Service) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Host, b.Host))
	})
	return slices.Compact(found)
}

// plain returns a DNS name as people write it. DNS libraries write \. for a dot within a label, and
// \195 for a byte (RFC 4343, section 2.1). A name that would not be printable is returned
// unchanged.
func plain(name string) string {
	var b []byte
	for i := 0; i < len(name); i++ {
		if name[i] != '\\' || i+1 == len(name) {
			b = append(b, name[i])
			continue
		}
		v, digits := 0, 0
		for digits < 3 && i+1+digits < len(name) && name[i+1+digits] >= '0' && name[i+1+digits] <= '9' {
			v = 10*v + int(name[i+1+digits]-'0')
			digits++
		}
		if digits == 3 && v < 256 {
			b = append(b, byte(v))
			i += 3
			continue
		}
		i++
		b = append(b, name[i])
	}
	if s := string(b); utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	return name
}

// IsOwn reports whether an address is one of this machine's.
func IsOwn(ip netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(all, func(a net.Addr) bool {
		p, err := netip.ParsePrefix(a.String())
		return err == nil && p.Addr().Unmap() == ip
	})
}
