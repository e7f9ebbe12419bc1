package clientaddr

import (
	"fmt"
	"net/netip"
	"testing"
)

// A request through a proxy counts for the address that the proxy names, and for nothing that
// anybody else has written.
func TestAddressBehindProxies(t *testing.T) {
	proxies, err := ParseProxies([]string{"10.0.0.0/8", "fd00::/8"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		from      string
		forwarded []string
		want      string
	}{
		"no proxy":                           {"203.0.113.9", nil, "203.0.113.9"},
		"no proxy, and somebody's word":      {"203.0.113.9", []string{"198.51.100.1"}, "203.0.113.9"},
		"through a proxy":                    {"10.0.0.1", []string{"203.0.113.9"}, "203.0.113.9"},
		"through two":                        {"10.0.0.1", []string{"203.0.113.9, 10.7.7.7"}, "203.0.113.9"},
		"through one, and somebody's word":   {"10.0.0.1", []string{"198.51.100.1, 203.0.113.9"}, "203.0.113.9"},
		"the word in a line of its own":      {"10.0.0.1", []string{"198.51.100.1", "203.0.113.9"}, "203.0.113.9"},
		"a word that is a proxy's address":   {"10.0.0.1", []string{"10.3.3.3, 203.0.113.9"}, "203.0.113.9"},
		"from within":                        {"10.0.0.1", []string{"10.3.3.3"}, "10.3.3.3"},
		"a proxy that says nothing":          {"10.0.0.1", nil, "10.0.0.1"},
		"a proxy that says something else":   {"10.0.0.1", []string{"unknown"}, "10.0.0.1"},
		"nonsense before the last":           {"10.0.0.1", []string{"nonsense, 203.0.113.9"}, "203.0.113.9"},
		"IPv6":                               {"fd00::1", []string{"2001:db8::9"}, "2001:db8::9"},
		"IPv4 in IPv6":                       {"10.0.0.1", []string{"::ffff:203.0.113.9"}, "203.0.113.9"},
		"a proxy in another's IPv4, in IPv6": {"10.0.0.1", []string{"203.0.113.9, ::ffff:10.1.1.1"}, "203.0.113.9"},
	} {
		if got := proxies.From(netip.MustParseAddr(c.from), c.forwarded); got != netip.MustParseAddr(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestParseProxies(t *testing.T) {
	for _, text := range []string{"", "proxy", "10.0.0.0/33", "::ffff:10.0.0.0/104", "10.0.0.1:80"} {
		if p, err := ParseProxies([]string{text}); err == nil {
			t.Errorf("%q: %v", text, p)
		}
	}
	p, err := ParseProxies([]string{"10.1.2.3/8", "192.0.2.1", "::ffff:192.0.2.2", "fd00::/8"})
	if want := "[10.0.0.0/8 192.0.2.1/32 192.0.2.2/32 fd00::/8]"; err != nil || fmt.Sprint(p) != want {
		t.Error(p, err)
	}
}

// One customer's addresses count together, and two customers' don't.
func TestCustomerPrefix(t *testing.T) {
	for remote, want := range map[string]string{
		"203.0.113.9:1":            "203.0.113.9",
		"[2001:db8:0:1:2:3:4:5]:1": "2001:db8:0:1::",
		"[fe80::1%eth0]:1":         "fe80::",
		"[::1]:1":                  "::1",
		"[::ffff:127.0.0.1]:1":     "127.0.0.1",
		"[::ffff:203.0.113.9]:1":   "203.0.113.9",
	} {
		if got := Customer(Parse(remote)); got.String() != want {
			t.Errorf("%s: %s, want %s", remote, got, want)
		}
	}
	for _, remote := range []string{"", "in-process", "@", "203.0.113.9"} {
		if a := Parse(remote); a.IsValid() {
			t.Errorf("%q: %s", remote, a)
		}
	}
}
