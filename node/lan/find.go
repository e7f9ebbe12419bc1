package lan

import (
	"context"
	"io"
	"log"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/mdns"

	"github.com/locket-dev/locket/internal/sorting"
)

// Find asks the network who serves a service, such as "_wyoming._tcp", and gives the
// IPv4 addresses that answered within a time, sorted. Anybody may have answered, with
// any address. Interfaces nil: those that are up and have multicast, without loopback.
func Find(ctx context.Context, service string, within time.Duration, interfaces []net.Interface) []netip.AddrPort {
	if interfaces == nil {
		all, _ := net.Interfaces() // without them nobody is found
		for _, i := range all {
			if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagMulticast != 0 && i.Flags&net.FlagLoopback == 0 {
				interfaces = append(interfaces, i)
			}
		}
	}
	var mu sync.Mutex
	var found []netip.AddrPort
	var asking sync.WaitGroup
	for _, i := range interfaces {
		asking.Go(func() {
			entries := make(chan *mdns.ServiceEntry, 64)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for e := range entries {
					ip, ok := netip.AddrFromSlice(e.AddrV4)
					if at := netip.AddrPortFrom(ip.Unmap(), uint16(e.Port)); ok && e.Port > 0 && e.Port < 1<<16 {
						mu.Lock()
						found = append(found, at)
						mu.Unlock()
					}
				}
			}()
			// An interface that can't be asked finds nobody.
			_ = mdns.QueryContext(ctx, &mdns.QueryParam{Service: service, Timeout: within, Interface: &i, Entries: entries, DisableIPv6: true, Logger: log.New(io.Discard, "", 0)})
			close(entries)
			<-done
		})
	}
	asking.Wait()
	sorting.Sort(found, netip.AddrPort.Compare)
	return slices.Compact(found)
}

// Own reports whether an address is this machine's.
func Own(ip netip.Addr) bool {
	all, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(all, func(a net.Addr) bool {
		p, err := netip.ParsePrefix(a.String())
		return err == nil && p.Addr().Unmap() == ip
	})
}
