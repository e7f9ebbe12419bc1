package lan

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/mdns"
	"github.com/miekg/dns"
)

var (
	ours   = []byte("a key of thirty-two bytes or so.")
	others = []byte("another wearer's, of as many too")
	now    = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
)

// Members recognise a beacon, in its window and those beside it, at its address; nobody else does,
// and the beacons of two windows have nothing in common.
func TestBeacon(t *testing.T) {
	at := netip.MustParseAddrPort("192.168.1.7:4711")
	n := now.UnixNano() / int64(window)
	name := nameOf(ours, n, []byte("12345678"), at)
	for what, tt := range map[string]struct {
		key  []byte
		now  time.Time
		name string
		at   string
		want bool
	}{
		"a member":               {ours, now, name, at.String(), true},
		"a clock that is ahead":  {ours, now.Add(window), name, at.String(), true},
		"a clock that is behind": {ours, now.Add(-window), name, at.String(), true},
		"an hour later":          {ours, now.Add(4 * window), name, at.String(), false},
		"another wearer":         {others, now, name, at.String(), false},
		"announced elsewhere":    {ours, now, name, "192.168.1.8:4711", false},
		"another port":           {ours, now, name, "192.168.1.7:80", false},
		"no beacon":              {ours, now, "printer", at.String(), false},
		"a short one":            {ours, now, "12-34", at.String(), false},
	} {
		if got := knows([][]byte{tt.key}, tt.now, tt.name, netip.MustParseAddrPort(tt.at)); got != tt.want {
			t.Errorf("%s: %v", what, got)
		}
	}
	if knows(nil, now, name, at) {
		t.Error("known without a key")
	}
}

// The announced name reveals nothing, and is different in the next window.
func TestBeaconChangesEachWindow(t *testing.T) {
	clock := now
	c := &Config{Port: 4711, Keys: func() [][]byte { return [][]byte{ours} }, Now: func() time.Time { return clock }}
	b := &beacon{l: &Lan{c: *c}, ip: netip.MustParseAddr("192.168.1.7")}
	ask := func() string {
		var all []string
		for _, r := range b.Records(dns.Question{Name: service + ".local.", Qtype: dns.TypePTR, Qclass: dns.ClassINET}) {
			all = append(all, r.String())
		}
		return strings.Join(all, "\n")
	}
	first := ask()
	if first == "" || first != ask() {
		t.Fatalf("within a window: %q", first)
	}
	clock = clock.Add(window)
	second := ask()
	for _, word := range strings.FieldsFunc(first, func(r rune) bool { return strings.ContainsRune("-. \t\n", r) }) {
		if len(word) == 16 && strings.Contains(second, word) {
			t.Errorf("%s is announced in two windows", word)
		}
	}
	b.l.c.Keys = func() [][]byte { return nil }
	if got := ask(); got != "" {
		t.Errorf("announced without a key: %s", got)
	}
}

// loopback returns an interface with multicast that every machine has.
func loopback(t *testing.T) net.Interface {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback != 0 {
			return i
		}
	}
	t.Fatal("no loopback interface")
	return net.Interface{}
}

// Two members find each other over real multicast, with each kind of address that works here,
// despite a stranger who announces the same service; and the stranger finds nobody.
func TestFoundByMulticast(t *testing.T) {
	lo := loopback(t)
	noise, err := mdns.NewMDNSService("Ana's phone", service, "", "ana.local.", 4713, []net.IP{{127, 0, 0, 1}}, []string{"hello"})
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := mdns.NewServer(&mdns.Config{Zone: noise, Iface: &lo})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Shutdown()
	meet(t, lo, Addresses(&lo)[:1])
	for _, i := range multicasting(t) {
		var takes []netip.Addr
		for _, ip := range Addresses(&i) {
			if heardOn(t, &i, ip) {
				takes = append(takes, ip)
			}
		}
		t.Logf("%s takes multicast by %s", i.Name, takes)
		if len(takes) > 0 {
			meet(t, i, takes)
		}
	}
}

// spoken is the service that the tests announce and look for, for this process only, because other
// processes of this machine are heard, too.
var spoken = fmt.Sprintf("_lk%d._tcp", os.Getpid())

// answered asks the network until it gives the expected answer, with a maximum number of attempts:
// on a busy machine an answer may come too late.
func answered[T comparable](t *testing.T, ask func(within time.Duration) []T, want ...T) {
	t.Helper()
	var got []T
	for range 10 {
		if got = ask(time.Second); slices.Equal(got, want) {
			return
		}
	}
	t.Errorf("%+v, want %+v", got, want)
}

// A service that announces itself is found, and another is not.
func TestFind(t *testing.T) {
	lo := loopback(t)
	zone, err := mdns.NewMDNSService("faster-whisper", spoken, "", "box.local.", 10300, []net.IP{{127, 0, 0, 1}}, []string{""})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mdns.NewServer(&mdns.Config{Zone: zone, Iface: &lo})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Shutdown()
	at := netip.MustParseAddrPort("127.0.0.1:10300")
	answered(t, func(within time.Duration) []netip.AddrPort {
		return Find(t.Context(), spoken, within, []net.Interface{lo})
	}, at)
	answered(t, func(within time.Duration) []Service {
		return Services(t.Context(), spoken, within, []net.Interface{lo})
	}, Service{"faster-whisper", "box.local", at})
	if !IsOwn(at.Addr()) {
		t.Error("an address of ours is not")
	}
	if got := Find(t.Context(), "_printer._tcp", time.Second, []net.Interface{lo}); len(got) != 0 {
		t.Errorf("%v", got)
	}
	if IsOwn(netip.MustParseAddr("192.0.2.1")) {
		t.Error("an address of nobody's is ours")
	}
}

// announce announces a service on an interface.
func announce(t *testing.T, lo net.Interface, name, host, ip string) {
	t.Helper()
	zone, err := mdns.NewMDNSService(name, spoken, "", host, 10700, []net.IP{net.ParseIP(ip)}, []string{""})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mdns.NewServer(&mdns.Config{Zone: zone, Iface: &lo})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Shutdown(); err != nil {
			t.Error(err)
		}
	})
}

// Names are as people write them; all hosts that answer to a name are listed; and an address
// outside the network is ignored.
func TestServices(t *testing.T) {
	lo := loopback(t)
	announce(t, lo, "Küche", "küche.local.", "127.0.0.1")
	announce(t, lo, `Living\.Room`, "living.local.", "127.0.0.1")
	announce(t, lo, "kitchen", "one.local.", "127.0.0.3")
	announce(t, lo, "kitchen", "two.local.", "127.0.0.2")
	announce(t, lo, "elsewhere", "elsewhere.local.", "192.0.2.7")
	want := []Service{
		{"Küche", "küche.local", netip.MustParseAddrPort("127.0.0.1:10700")},
		{"Living.Room", "living.local", netip.MustParseAddrPort("127.0.0.1:10700")},
		{"kitchen", "two.local", netip.MustParseAddrPort("127.0.0.2:10700")},
		{"kitchen", "one.local", netip.MustParseAddrPort("127.0.0.3:10700")},
	}
	slices.SortStableFunc(want, func(a, b Service) int { return a.At.Compare(b.At) })
	answered(t, func(within time.Duration) []Service {
		return Services(t.Context(), spoken, within, []net.Interface{lo})
	}, want...)
	over := make([]dns.RR, maxRecords+1)
	for i := range over {
		over[i] = &dns.SRV{Hdr: dns.RR_Header{Name: "a._x._tcp.local.", Ttl: 1}, Port: 1}
	}
	r := &records{hosts: map[string][]netip.Addr{}}
	if r.add(over); len(r.services) != maxRecords {
		t.Errorf("%d records are kept", len(r.services))
	}
	many := &records{networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, hosts: map[string][]netip.Addr{}}
	for i := range maxRecords / 2 {
		at := net.IPv4(10, 0, byte(i>>8), byte(i))
		a := &dns.A{Hdr: dns.RR_Header{Name: "h.local.", Ttl: 1}, A: at}
		many.add([]dns.RR{&dns.SRV{Hdr: dns.RR_Header{Name: "a._x._tcp.local.", Ttl: 1}, Port: 1, Target: "h.local."}, a})
	}
	if found := many.list("_x._tcp"); len(found) != maxRecords { // each service at each address would be four million
		t.Errorf("%d services are listed", len(found))
	}
}

// What can't be shown stays as DNS writes it.
func TestEscapedNames(t *testing.T) {
	for name, want := range map[string]string{
		`K\195\188che`: "Küche", `Living\.Room`: "Living.Room", `Ana's\ phone`: "Ana's phone", `a\\b`: `a\b`, `\0651`: "A1", `a\`: `a\`,
		`\027[31mred`: `\027[31mred`, `\195che`: `\195che`, `\999`: "999", `\12`: "12",
	} {
		if got := plain(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// meet puts two members and a stranger on an interface.
func meet(t *testing.T, i net.Interface, by []netip.Addr) {
	t.Helper()
	var all []*Lan
	start := func(port int, key []byte) chan netip.AddrPort {
		found := make(chan netip.AddrPort, 64)
		l, err := Start(Config{Port: port, Keys: func() [][]byte { return [][]byte{key} }, Interfaces: []net.Interface{i}, OnFound: func(a netip.AddrPort) {
			select {
			case found <- a:
			default:
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
		return found
	}
	defer func() {
		for _, l := range all {
			l.Close()
		}
	}()
	// The keys are made for this process, because otherwise the members of another process would be
	// found, too.
	mine, theirs := fmt.Appendf(nil, "mine in process %16d", os.Getpid()), fmt.Appendf(nil, "theirs, process %16d", os.Getpid())
	another, first, second := start(4714, theirs), start(4711, mine), start(4712, mine)
	finds := func(who string, found chan netip.AddrPort, port uint16) {
		want := map[netip.AddrPort]bool{}
		for _, ip := range by {
			want[netip.AddrPortFrom(ip, port)] = true
		}
		for len(want) > 0 { // its next question, at the latest
			at := <-found
			if at.Port() != port || !slices.Contains(Addresses(&i), at.Addr()) {
				t.Errorf("the %s found %s", who, at)
			}
			delete(want, at)
		}
	}
	finds("second", second, 4711)
	finds("first", first, 4712)
	if len(another) > 0 {
		t.Errorf("another wearer's device found %s", <-another)
	}
}

// multicasting returns the interfaces on which a node announces itself.
func multicasting(t *testing.T) (out []net.Interface) {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagMulticast != 0 && i.Flags&net.FlagLoopback == 0 {
			out = append(out, i)
		}
	}
	return out
}

// heardOn reports whether what is sent to a group on an interface comes back from it, with plain
// sockets. This is so on most machines, but not in every container.
func heardOn(t *testing.T, i *net.Interface, ip netip.Addr) bool {
	t.Helper()
	kind, group := "udp4", &net.UDPAddr{IP: net.IPv4(224, 0, 0, 250), Port: 15353}
	if ip.Is6() {
		kind, group = "udp6", &net.UDPAddr{IP: net.ParseIP("ff02::fa"), Port: 15353, Zone: i.Name}
	}
	in, err := net.ListenMulticastUDP(kind, i, group)
	if err != nil {
		return false
	}
	defer in.Close()
	out, err := net.ListenUDP(kind, &net.UDPAddr{IP: ip.AsSlice(), Zone: ip.Zone()})
	if err != nil {
		return false
	}
	defer out.Close()
	if _, err := out.WriteToUDP([]byte("anybody"), group); err != nil {
		return false
	}
	if err := in.SetReadDeadline(time.Now().Add(2 * time.Second)); err != nil {
		t.Fatal(err)
	}
	n, _, err := in.ReadFromUDP(make([]byte, 16))
	return err == nil && n == len("anybody")
}

// A device that is heard is reported with each of its addresses; a link-local one is reached on the
// interface where it was heard, and no device finds itself.
func TestAddressesOfADevice(t *testing.T) {
	var found []string
	c := Config{Port: 4711, Keys: func() [][]byte { return [][]byte{ours} }, Now: func() time.Time { return now }, OnFound: func(a netip.AddrPort) { found = append(found, a.String()) }}
	b := &beacon{l: &Lan{c: c}, iface: net.Interface{Name: "eth7"}, ip: netip.MustParseAddr("fe80::1")}
	b.l.beacons = []*beacon{b}
	hear := func(ip string, port int) {
		at := netip.MustParseAddr(ip)
		e := &mdns.ServiceEntry{Name: nameOf(ours, now.UnixNano()/int64(window), []byte("12345678"), netip.AddrPortFrom(at, uint16(port))) + "." + service + ".local.", Port: port}
		if at.Is4() {
			e.AddrV4 = at.AsSlice()
		} else {
			e.AddrV6IPAddr = &net.IPAddr{IP: at.AsSlice(), Zone: "elsewhere"}
		}
		b.processAnswer(e)
	}
	hear("192.168.1.7", 4711)
	hear("fd00::2", 4711)
	hear("fe80::2", 4711)
	hear("fe80::1", 4711) // itself
	hear("fe80::1", 4712) // another process
	hear("fe80::1", 1<<17)
	if want := []string{"192.168.1.7:4711", "[fd00::2]:4711", "[fe80::2%eth7]:4711", "[fe80::1%eth7]:4712"}; !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
}

// Nobody from outside the network counts as near, whatever this device's address is.
func TestNear(t *testing.T) {
	own := []net.Addr{&net.IPNet{IP: net.ParseIP("2001:db8:7::5"), Mask: net.CIDRMask(64, 128)}, &net.IPNet{IP: net.IPv4(203, 0, 113, 9), Mask: net.CIDRMask(24, 32)}}
	for at, want := range map[string]bool{
		"127.0.0.1": true, "::1": true, "192.168.3.4": true, "::ffff:10.0.0.1": true, "169.254.3.4": true, "100.64.0.9": true, "fd00::2": true, "fe80::9%eth0": true,
		"2001:db8:7::9": true, "203.0.113.77": true,
		"2001:db8:8::9": false, "203.0.114.1": false, "8.8.8.8": false, "100.128.0.1": false, "::ffff:8.8.8.8": false,
	} {
		if got := isNear(netip.MustParseAddr(at), own); got != want {
			t.Errorf("%s: %v", at, got)
		}
	}
	l := OnlyNearby(&callers{from: []string{"[2001:db8::1]:9", "192.168.3.4:9"}})
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if got := c.RemoteAddr().String(); strings.HasPrefix(got, "[2001") {
		t.Errorf("%s was let in", got)
	}
}

// callers is a listener to which several callers connect.
type callers struct {
	net.Listener
	from []string
}

func (c *callers) Accept() (net.Conn, error) {
	if len(c.from) == 0 {
		return nil, net.ErrClosed
	}
	at := netip.MustParseAddrPort(c.from[0])
	c.from = c.from[1:]
	return caller{at: net.TCPAddrFromAddrPort(at)}, nil
}

type caller struct {
	net.Conn
	at net.Addr
}

func (c caller) RemoteAddr() net.Addr { return c.at }
func (c caller) Close() error         { return nil }
