package lan

import (
	"net"
	"net/netip"
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

// Members know a beacon, in its window and those beside it, at its address;
// nobody else does, and no two windows have one in common.
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

// What is announced names nothing, and is otherwise in the next window.
func TestBeaconTurns(t *testing.T) {
	clock := now
	c := &Config{Port: 4711, Keys: func() [][]byte { return [][]byte{ours} }, Now: func() time.Time { return clock }}
	b := &beacon{c: c, ip: netip.MustParseAddr("192.168.1.7")}
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
	c.Keys = func() [][]byte { return nil }
	if got := ask(); got != "" {
		t.Errorf("announced without a key: %s", got)
	}
}

// loopback is an interface with multicast that every machine has.
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

// Two members find each other over real multicast, past a stranger who
// announces the same service, and the stranger finds nobody.
func TestFoundByMulticast(t *testing.T) {
	lo := loopback(t)
	start := func(port int, key []byte) (*Lan, chan netip.AddrPort) {
		found := make(chan netip.AddrPort, 64)
		l, err := Start(Config{Port: port, Keys: func() [][]byte { return [][]byte{key} }, Interfaces: []net.Interface{lo}, Found: func(a netip.AddrPort) {
			select {
			case found <- a:
			default:
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(l.Close)
		return l, found
	}
	noise, err := mdns.NewMDNSService("Ana's phone", service, "", "ana.local.", 4713, []net.IP{{127, 0, 0, 1}}, []string{"hello"})
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := mdns.NewServer(&mdns.Config{Zone: noise, Iface: &lo})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Shutdown()
	_, another := start(4714, others)
	_, first := start(4711, ours)
	_, second := start(4712, ours)
	if got := <-second; got != netip.MustParseAddrPort("127.0.0.1:4711") {
		t.Errorf("the second found %s", got)
	}
	if got := <-first; got != netip.MustParseAddrPort("127.0.0.1:4712") { // its next question, at the latest
		t.Errorf("the first found %s", got)
	}
	if len(another) > 0 {
		t.Errorf("another wearer's device found %s", <-another)
	}
}
