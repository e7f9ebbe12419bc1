package lan

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/net/ipv4"
)

// group is the address to which multicast DNS questions are sent (RFC 6762, section 3).
var group = net.UDPAddr{IP: net.IPv4(224, 0, 0, 251), Port: 5353}

// maxRecords is how many answers to one question are kept. Anybody in the network may send as many
// as they like.
const maxRecords = 4096

// records are the answers from an interface's network.
type records struct {
	networks []netip.Prefix // of the interface; answers from elsewhere, or about addresses elsewhere, do not count

	mu       sync.Mutex
	services []*dns.SRV
	hosts    map[string][]netip.Addr // by name in lower case
	n        int
}

// ask asks an interface's network who serves a service, by multicast DNS over IPv4. It keeps every
// answer. mdns.Query would keep only the first or the last of each name, depending on when they
// came.
func ask(ctx context.Context, service string, within time.Duration, i *net.Interface) ([]Service, error) {
	r := &records{networks: networks(i), hosts: map[string][]netip.Addr{}}
	own := slices.IndexFunc(r.networks, func(p netip.Prefix) bool { return p.Addr().Is4() })
	if own < 0 {
		return nil, fmt.Errorf("lan: %s has no IPv4 address", i.Name)
	}
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: r.networks[own].Addr().AsSlice()})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := ipv4.NewPacketConn(conn).SetMulticastInterface(i); err != nil {
		return nil, err
	}
	q := new(dns.Msg).SetQuestion(service+".local.", dns.TypePTR)
	q.RecursionDesired = false
	b, err := q.Pack()
	if err != nil {
		return nil, err
	}
	listening := []*net.UDPConn{conn}
	// Some devices answer only to the group. If another program has exclusive use of its port,
	// these answers are not received.
	if all, err := net.ListenMulticastUDP("udp4", i, &group); err == nil {
		defer all.Close()
		listening = append(listening, all)
	}
	var reading sync.WaitGroup
	defer reading.Wait()
	until := time.Now().Add(within)
	for _, c := range listening {
		if err := c.SetReadDeadline(until); err != nil {
			return nil, err
		}
		defer context.AfterFunc(ctx, func() { c.Close() })()
		reading.Go(func() { r.read(c) })
	}
	if _, err := conn.WriteToUDP(b, &group); err != nil {
		for _, c := range listening {
			c.Close()
		}
		return nil, err
	}
	reading.Wait()
	return r.list(service), nil
}

// networks returns the networks of an interface.
func networks(i *net.Interface) (all []netip.Prefix) {
	addrs, _ := i.Addrs() // without addresses, no answer is near
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// near reports whether an address is in one of the interface's networks.
func (r *records) near(ip netip.Addr) bool {
	return slices.ContainsFunc(r.networks, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// read reads answers until the connection's deadline, or until it is closed.
func (r *records) read(c *net.UDPConn) {
	b := make([]byte, 64<<10)
	for {
		n, from, err := c.ReadFromUDPAddrPort(b)
		if ne := net.Error(nil); errors.Is(err, net.ErrClosed) || errors.As(err, &ne) && ne.Timeout() {
			return
		}
		var m dns.Msg
		if err != nil || !r.near(from.Addr().Unmap()) || m.Unpack(b[:n]) != nil || !m.Response {
			continue
		}
		r.add(append(m.Answer, m.Extra...))
	}
}

func (r *records) add(list []dns.RR) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rr := range list {
		if rr.Header().Ttl == 0 || r.n == maxRecords { // a TTL of 0 means goodbye (RFC 6762, section 10.1)
			continue
		}
		switch rr := rr.(type) {
		case *dns.SRV:
			r.services = append(r.services, rr)
			r.n++
		case *dns.A:
			if ip, ok := netip.AddrFromSlice(rr.A); ok && r.near(ip.Unmap()) {
				name := strings.ToLower(rr.Hdr.Name)
				r.hosts[name] = append(r.hosts[name], ip.Unmap())
				r.n++
			}
		}
	}
}

// list returns the services at each of their hosts' addresses, at most maxRecords: some thousand
// services at a host of some thousand addresses would be millions.
func (r *records) list(service string) (found []Service) {
	end := "." + service + ".local."
	for _, s := range r.services {
		name := s.Hdr.Name
		cut := len(name) - len(end)
		if cut <= 0 || !strings.EqualFold(name[cut:], end) || s.Port == 0 {
			continue
		}
		for _, ip := range r.hosts[strings.ToLower(s.Target)] {
			if len(found) == maxRecords {
				return found
			}
			found = append(found, Service{plain(name[:cut]), plain(strings.TrimSuffix(s.Target, ".")), netip.AddrPortFrom(ip, s.Port)})
		}
	}
	return found
}
