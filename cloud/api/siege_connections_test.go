package api_test

import (
	"errors"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
)

// hold opens a connection from an address of this machine, which has many on Linux, and sends a
// request, so that the connection then waits for the next one.
func hold(t *testing.T, s *service, from string) error {
	t.Helper()
	return askHealth(dial(t, s, from))
}

// dial opens a connection without a request.
func dial(t *testing.T, s *service, from string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := d.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal("the test needs several addresses of 127.0.0.0/8, as Linux has them: ", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// The number of connections of an address, of waiting connections, and of an address's requests
// behind a proxy is limited.
func TestThreatConnectionsHeld(t *testing.T) {
	t.Run("idle", func(t *testing.T) {
		s := serve(t, relay.Config{}, func(c *api.Config) { c.MaxConns, c.ConnsPerAddress = 40, 10 })
		h := s.settle("idle")
		refused := 0
		for range 60 {
			if hold(t, s, "127.0.0.2") != nil {
				refused++
			}
		}
		if refused != 50 {
			t.Errorf("%d are refused", refused)
		}
		s.served(t, h, 5)
	})
	t.Run("too many that wait", func(t *testing.T) { // each one costs the relay memory
		s := serve(t, relay.Config{}, nil)
		other := dial(t, s, "127.0.0.1") // it has waited longest, and is the only one of its address
		s.ok(askHealth(other))
		const most, more = 64, 20
		var held []net.Conn
		for range most + more {
			c := dial(t, s, "127.0.0.2")
			s.ok(askHealth(c))
			held = append(held, c)
		}
		for i, c := range held[:more] {
			s.ok(c.SetReadDeadline(time.Now().Add(10 * time.Minute)))
			if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("connection %d stays: %v", i, err)
			}
		}
		for _, c := range append(held[more:], other) {
			s.ok(askHealth(c))
		}
	})
	t.Run("opened again and again", func(t *testing.T) {
		s := serve(t, relay.Config{}, nil)
		h := s.settle("opened")
		refused := 0
		for range 300 {
			c := dial(t, s, "127.0.0.2")
			if askHealth(c) != nil {
				refused++
			}
			s.ok(c.Close())
		}
		if refused == 0 {
			t.Error("one address opens as many as it likes")
		}
		s.served(t, h, 5)
	})
	t.Run("streams", func(t *testing.T) {
		s := serve(t, relay.Config{}, func(c *api.Config) { c.ConnsPerAddress = 4 * relay.MaxListeners })
		h := s.settle("streams")
		refused := 0
		for range relay.MaxListeners {
			req := s.member(h, h.Reader, "GET", "/events").request(t, s.addr)
			res, err := http.DefaultClient.Do(req)
			s.ok(err)
			t.Cleanup(func() { res.Body.Close() })
			if res.StatusCode == 503 {
				refused++
			}
		}
		if refused == 0 {
			t.Error("a member waits as often as it likes")
		}
		res, err := http.DefaultClient.Do(s.member(h, h.Owner, "GET", "/events").request(t, s.addr))
		s.ok(err)
		s.ok(res.Body.Close())
		if res.StatusCode != 200 {
			t.Error("the others can't wait: ", res.Status)
		}
	})
	t.Run("behind a proxy", func(t *testing.T) {
		s := serve(t, relay.Config{}, func(c *api.Config) { proxied(c); c.ConnsPerAddress = 10 })
		h := s.settle("proxy")
		status := func(from string, who *storetest.Person) int {
			res, err := http.DefaultClient.Do(came(from, s.member(h, who, "GET", "/events")).request(t, s.addr))
			s.ok(err)
			t.Cleanup(func() { res.Body.Close() })
			return res.StatusCode
		}
		refused := 0
		for range 30 {
			if status("203.0.113.9", h.Reader) == 503 {
				refused++
			}
		}
		if refused != 20 {
			t.Errorf("%d are refused", refused)
		}
		if got := status("198.51.100.1", h.Owner); got != 200 {
			t.Errorf("another address is refused: %d", got)
		}
	})
}
