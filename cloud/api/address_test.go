package api

import (
	"net/netip"
	"testing"

	"github.com/cloudwego/hertz/pkg/app"
)

// Who comes through a proxy is counted by what the proxy says, and by nothing
// that anybody else has written.
func TestCameFrom(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
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
		s := &Server{Config: Config{Proxies: proxies}}
		r := new(app.RequestContext)
		for _, line := range c.forwarded {
			r.Request.Header.Add("X-Forwarded-For", line)
		}
		if got := s.cameFrom(netip.MustParseAddr(c.from), r); got != netip.MustParseAddr(c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
