package api_test

import (
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/internal/clientaddr"
)

// Behind a proxy, a client with many requests does not use up the allowance of others.
func TestClientsBehindAProxyHaveTheirOwnLimits(t *testing.T) {
	s := serve(t, relay.Config{}, func(c *api.Config) {
		c.StrangersPerMinute, c.Proxies = 1, clientaddr.Proxies{netip.MustParsePrefix("127.0.0.0/8")}
	})
	for _, c := range []struct {
		from   string
		status int
	}{{"203.0.113.9", 204}, {"203.0.113.9", 429}, {"198.51.100.1", 204}, {"203.0.113.9", 429}, {"2001:db8::1", 204}, {"2001:db8::2", 429}} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.addr+"/v1/mailboxes/"+strings.Repeat("0", 32), nil)
		s.ok(err)
		req.Header.Set("X-Forwarded-For", c.from)
		res, err := http.DefaultClient.Do(req)
		s.ok(err)
		_, err = io.Copy(io.Discard, res.Body)
		s.ok(err)
		res.Body.Close()
		if res.StatusCode != c.status {
			t.Errorf("from %s: %s, want %d", c.from, res.Status, c.status)
		}
	}
}
