package api_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
)

// Siege tests: somebody does the worst that is allowed, from addresses that a proxy names, and the
// others are still served.

// proxied makes the relay believe the address that a request names.
func proxied(c *api.Config) { c.Proxies = clientaddr.Proxies{netip.MustParsePrefix("127.0.0.0/8")} }

// stores runs a test on both kinds of store.
func stores(t *testing.T, change func(*api.Config), f func(*testing.T, *service)) {
	t.Run("embedded", func(t *testing.T) { f(t, serve(t, relay.Config{}, change)) })
	t.Run("postgres", func(t *testing.T) { f(t, instance(t, database(t, &cluster), t.TempDir(), change)) })
}

// member makes a request of a household's member.
func (s *service) member(h *storetest.Household, p *storetest.Person, method, path string) *raw {
	r := s.owner(h, method, path)
	r.key, r.p.KeyID = p.Key, h.Space.String()+"/"+p.ID.String()
	return r
}

// came adds the address from which a request seems to come.
func came(from string, r *raw) *raw {
	r.spoil = func(h http.Header) { h.Set("X-Forwarded-For", from) }
	return r
}

// stall sends a request without the last byte of its body.
func (s *service) stall(t *testing.T, r *raw, sent int) net.Conn {
	t.Helper()
	var whole bytes.Buffer
	s.ok(r.request(t, s.addr).Write(&whole))
	c, err := net.Dial("tcp", s.addr)
	s.ok(err)
	t.Cleanup(func() { c.Close() })
	head := bytes.Index(whole.Bytes(), []byte("\r\n\r\n")) + 4
	_, _ = c.Write(whole.Bytes()[:head+sent]) // it may be refused before everything is sent
	return c
}

// served checks that a household's owner can append, now and for a while.
func (s *service) served(t *testing.T, h *storetest.Household, times int) {
	t.Helper()
	as := s.as(h, h.Owner)
	for i := range times {
		if _, err := as.Append(t.Context(), []*envelope.Delta{h.Delta(h.Owner, "honest")}); err != nil {
			t.Fatalf("append %d: %v", i, err)
		}
	}
}

// Clients that send a head without a body, or with half of one, take no room that others need,
// whether they have no key, were removed, or belong to an account.
func TestThreatStalledUploads(t *testing.T) {
	// Stalled requests are not ended during the test.
	stores(t, func(c *api.Config) { proxied(c); c.Head = time.Hour }, func(t *testing.T, s *service) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		honest, hostile, unknown := s.settle("honest"), s.settle("hostile"), storetest.NewHousehold(t, "unknown")
		last := honest.Delta(honest.Writer, "the last")
		s.ok(s.as(honest, honest.Owner).AppendLog(t.Context(), honest.Remove(honest.Owner, honest.Writer, last.Header.Position()), ""))
		body := bytes.Repeat([]byte{1}, envelope.MaxEntry)
		for i := range 300 { // they declare 75 MiB
			r := came(fmt.Sprintf("203.0.113.%d", i%6), s.member(unknown, unknown.Owner, "POST", "/log"))
			r.body = body
			s.stall(t, r, 9<<10) // 8 KiB come before the request is handled
		}
		s.served(t, honest, 50)
		big := bytes.Repeat([]byte{1}, 1<<20)
		for i := range 100 { // they send 100 MiB
			r := came("198.51.100.1", s.member(honest, honest.Writer, "POST", "/deltas"))
			if i%2 == 0 {
				r = came("198.51.100.2", s.member(hostile, hostile.Owner, "POST", "/deltas"))
			}
			r.body = big
			s.stall(t, r, len(big)-1)
		}
		for range 60 { // they send 15 MiB without a key
			r := came("198.51.100.3", s.member(unknown, unknown.Owner, "POST", "/log"))
			r.body = body
			s.stall(t, r, len(body)-1)
		}
		for kind := page.Kind(""); kind != page.Busy; { // once they have come, there is no room for more from that address
			r := came("198.51.100.3", s.member(unknown, unknown.Owner, "POST", "/log"))
			r.body = body
			if _, _, kind = r.do(t, s.addr); ctx.Err() != nil {
				t.Fatalf("there is room for all: %q", kind)
			}
		}
		if strings.Contains(s.metrics(), `locket_relay_held_bytes{of="strangers"} 0`) {
			t.Error("who has no key takes the room of those who have one")
		}
		for range 30 { // a member of the honest account who may only read
			r := came("198.51.100.4", s.member(honest, honest.Reader, "POST", "/deltas"))
			r.body = big
			s.stall(t, r, len(big)-1)
		}
		s.served(t, honest, 50)
		put, sum := s.owner(honest, "PUT", ""), sha256.Sum256(big)
		put.path += fmt.Sprintf("/blobs/%x", sum)
		chunk(big, fmt.Sprintf("bytes 0-%d/%d", len(big)-1, len(big)))(put)
		if res, p, _ := put.do(t, s.addr); res.StatusCode != 201 {
			t.Fatal("an owner has no room for a blob: ", res.Status, p.Detail)
		}
		founded := storetest.NewHousehold(t, "new") // and a client without a key founds a space
		r := came("192.0.2.7", s.owner(founded, "POST", "/log"))
		r.body = founded.Entries[0].Bytes()
		if res, p, _ := r.do(t, s.addr); res.StatusCode != 204 {
			t.Fatal(res.Status, p.Detail)
		}
	})
}

// On every route, bodies that do not come block no signed request of others: a delta, a blob, a
// snapshot with a vote, a compaction, and the deletions.
func TestThreatStalledOnEachRoute(t *testing.T) {
	s := withMarket(t, proxied, func(c *api.Config) { c.Head = time.Hour })
	honest, hostile := s.settle("honest"), s.settle("hostile")
	mailbox := strings.Repeat("0", 64)
	for i, route := range []struct {
		method, path string
		size         int
	}{
		{"POST", "/deltas", 4 << 20}, {"POST", "/log", envelope.MaxEntry}, {"POST", "/forget", 16 << 10}, {"POST", "/checkpoints", envelope.MaxCheckpoint},
		{"POST", "/votes", envelope.MaxVote}, {"POST", "/compact", 64}, {"PUT", "/blobs/" + mailbox, 1 << 20},
		{"POST", "/v1/mailboxes/" + mailbox[:32], page.MaxMessage}, {"POST", "/v1/market/listings", 1 << 20}, {"POST", "/v1/market/moves", 4 << 10},
	} {
		body := bytes.Repeat([]byte{1}, route.size)
		for n := range 20 + min(150, 8<<20/route.size) {
			r := came(fmt.Sprintf("203.0.113.%d", n%4), s.owner(hostile, route.method, route.path))
			if strings.HasPrefix(route.path, "/v1/") {
				r.path = route.path
			}
			r.body = body
			if route.method == "PUT" {
				chunk(body, fmt.Sprintf("bytes 0-%d/%d", len(body)-1, len(body)))(r)
			}
			s.stall(t, r, len(body)-1)
		}
		as := s.as(honest, honest.Owner)
		d := honest.Delta(honest.Owner, "honest")
		at, err := as.Append(t.Context(), []*envelope.Delta{d})
		s.ok(err)
		manifest := []byte(fmt.Sprintf("manifest %d", i))
		id, err := as.PutBlob(t.Context(), bytes.NewReader(manifest))
		s.ok(err)
		c := checkpoint(t, honest, honest.Owner, manifest, d)
		if c.Cursor = at[0]; c.Sign(envelope.KeySigner(honest.Owner.Key)) != nil {
			t.Fatal("the checkpoint can't be signed")
		}
		s.ok(as.PutCheckpoint(t.Context(), c))
		s.ok(s.as(honest, honest.Writer).PutVote(t.Context(), vote(t, honest, honest.Writer, c, envelope.Agree)))
		if got, err := as.Checkpoints(t.Context()); err != nil || len(got) == 0 {
			t.Fatal(len(got), err)
		}
		if n, err := as.Forget(t.Context(), []remote.Ref{{Member: honest.Owner.ID, Position: d.Header.Position()}}); err != nil || n != 1 {
			t.Fatal(n, err)
		}
		s.ok(as.DropCheckpoint(t.Context(), c.Hash()))
		s.ok(as.DeleteBlob(t.Context(), id, nil))
	}
}

// One account's requests use up no nonces of another's, and refused requests use up none at all.
func TestThreatNoncesUsedUp(t *testing.T) {
	s := serve(t, relay.Config{Quota: relay.Quota{PerMinute: 200}}, func(c *api.Config) { c.Nonces = 300 })
	honest, hostile := s.settle("honest"), s.settle("hostile")
	for range 400 {
		s.member(hostile, hostile.Owner, "GET", "/log").do(t, s.addr)
	}
	s.served(t, honest, 20)
}

// A removed member uses up none of the account's requests, and a hostile one none of the other
// members'.
func TestThreatMemberStarvesTheAccount(t *testing.T) {
	s := serve(t, relay.Config{Quota: relay.Quota{PerMinute: 100}}, nil)
	for _, who := range []string{"removed", "reader", "writer"} {
		t.Run(who, func(t *testing.T) {
			h := s.settle(who)
			p := h.Writer
			switch who {
			case "removed":
				s.ok(s.as(h, h.Owner).AppendLog(t.Context(), h.Remove(h.Owner, h.Writer), ""))
			case "reader":
				p = h.Reader
			}
			for range 150 {
				r := s.member(h, p, "POST", "/deltas")
				r.body = []byte("nonsense")
				r.do(t, s.addr)
			}
			s.served(t, h, 20)
			s.ok(s.root(h).Space(h.Space).Delete(t.Context()))
		})
	}
	t.Run("owner", func(t *testing.T) { // the root's requests are counted separately
		h := s.settle("owner")
		for range 150 {
			s.member(h, h.Owner, "GET", "/log").do(t, s.addr)
		}
		s.ok(s.as(h, h.Root).AppendLog(t.Context(), h.Remove(h.Root, h.Owner), ""))
	})
}

// Nobody can fill everybody's mailboxes: expired ones don't count, and one address may leave only
// so many.
func TestThreatMailboxesFilled(t *testing.T) {
	stores(t, func(c *api.Config) { proxied(c); c.MessagesPerAddress = 50 }, func(t *testing.T, s *service) {
		post := func(from string, box, n int) int {
			req, err := http.NewRequestWithContext(t.Context(), "POST", fmt.Sprintf("http://%s/v1/mailboxes/%032x", s.addr, box), strings.NewReader(fmt.Sprint(n)))
			s.ok(err)
			req.Header.Set("X-Forwarded-For", from)
			res, err := http.DefaultClient.Do(req)
			s.ok(err)
			_, err = io.Copy(io.Discard, res.Body)
			s.ok(errors.Join(err, res.Body.Close()))
			return res.StatusCode
		}
		refused := false
		for n := 0; n < 200 && !refused; n++ {
			refused = post("203.0.113.9", n, 0) == 429
		}
		if !refused {
			t.Error("one address leaves as many as it likes")
		}
		for n := range 6 {
			if got := post("198.51.100.1", 1<<20, n); got != 201 {
				t.Fatalf("message %d of a pairing: %d", n, got)
			}
		}
	})
}

// A request signed for one relay is invalid at another. A relay without a configured name only
// accepts requests for this machine's own.
func TestThreatRequestPassedOn(t *testing.T) {
	for name, c := range map[string]struct {
		names  []string
		host   string
		status int
	}{
		"another's, no name given":   {nil, "other.example", 401},
		"another's":                  {[]string{"relay.example"}, "other.example", 401},
		"its own":                    {[]string{"relay.example"}, "relay.example", 200},
		"its own, in capitals":       {[]string{"relay.example"}, "Relay.Example", 200},
		"this machine's":             {nil, "localhost:7440", 200},
		"this machine's, by IPv6":    {nil, "[::1]:7440", 200},
		"this machine's as a prefix": {nil, "127.0.0.1.example", 401},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, relay.Config{}, nil)
			h := s.settle("passed on")
			s.api.Authorities = c.names
			r := s.owner(h, "GET", "/log")
			r.host = c.host
			if res, _, kind := r.do(t, s.addr); res.StatusCode != c.status || c.status == 401 && kind != page.Forged {
				t.Error(res.Status, kind)
			}
		})
	}
}
