package api_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/page"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
	synclog "github.com/locket-dev/locket/sync/translog"
)

// A siege: somebody does the worst that he may, from addresses that a proxy
// names, and the others are served.

// proxied has the relay believe where a request says that it came from.
func proxied(c *api.Config) { c.Proxies = clientaddr.Proxies{netip.MustParsePrefix("127.0.0.0/8")} }

// stores runs a test on either store.
func stores(t *testing.T, change func(*api.Config), f func(*testing.T, *service)) {
	t.Run("embedded", func(t *testing.T) { f(t, serve(t, relay.Config{}, change)) })
	t.Run("postgres", func(t *testing.T) { f(t, instance(t, database(t, &cluster), t.TempDir(), change)) })
}

// member gives a request by a person of a household.
func (s *service) member(h *storetest.Household, p *storetest.Person, method, path string) *raw {
	r := s.owner(h, method, path)
	r.key, r.p.KeyID = p.Key, h.Space.String()+"/"+p.ID.String()
	return r
}

// came has a request say where it came from.
func came(from string, r *raw) *raw {
	r.spoil = func(h http.Header) { h.Set("X-Forwarded-For", from) }
	return r
}

// stall sends a request but for the last byte of its body.
func (s *service) stall(t *testing.T, r *raw, sent int) net.Conn {
	t.Helper()
	var whole bytes.Buffer
	s.ok(r.request(t, s.addr).Write(&whole))
	c, err := net.Dial("tcp", s.addr)
	s.ok(err)
	t.Cleanup(func() { c.Close() })
	head := bytes.Index(whole.Bytes(), []byte("\r\n\r\n")) + 4
	_, _ = c.Write(whole.Bytes()[:head+sent]) // it may be refused before all has gone
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

// Who sends a head and no body, or half of one, holds no room that others need:
// neither somebody without a key, nor a member who was removed, nor an account.
func TestThreatStalledUploads(t *testing.T) {
	// Who stalls is not let go for as long as this takes.
	stores(t, func(c *api.Config) { proxied(c); c.Head = time.Hour }, func(t *testing.T, s *service) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		honest, hostile, unknown := s.settle("honest"), s.settle("hostile"), storetest.NewHousehold(t, "unknown")
		last := honest.Delta(honest.Writer, "the last")
		s.ok(s.as(honest, honest.Owner).AppendLog(t.Context(), honest.Remove(honest.Owner, honest.Writer, last.Header.Position()), ""))
		body := bytes.Repeat([]byte{1}, envelope.MaxEntry)
		for i := range 300 { // that declare 75 MiB
			r := came(fmt.Sprintf("203.0.113.%d", i%6), s.member(unknown, unknown.Owner, "POST", "/log"))
			r.body = body
			s.stall(t, r, 9<<10) // 8 KiB come before the request is looked at
		}
		s.served(t, honest, 50)
		big := bytes.Repeat([]byte{1}, 1<<20)
		for i := range 100 { // that send 100 MiB
			r := came("198.51.100.1", s.member(honest, honest.Writer, "POST", "/deltas"))
			if i%2 == 0 {
				r = came("198.51.100.2", s.member(hostile, hostile.Owner, "POST", "/deltas"))
			}
			r.body = big
			s.stall(t, r, len(big)-1)
		}
		for range 60 { // that send 15 MiB without a key
			r := came("198.51.100.3", s.member(unknown, unknown.Owner, "POST", "/log"))
			r.body = body
			s.stall(t, r, len(body)-1)
		}
		for kind := page.Kind(""); kind != page.Busy; { // once they have come, there is no room for more of that address
			r := came("198.51.100.3", s.member(unknown, unknown.Owner, "POST", "/log"))
			r.body = body
			if _, _, kind = r.do(t, s.addr); ctx.Err() != nil {
				t.Fatalf("there is room for all: %q", kind)
			}
		}
		if strings.Contains(s.metrics(), `locket_relay_held_bytes{of="strangers"} 0`) {
			t.Error("who has no key takes the room of those who have one")
		}
		for range 30 { // a member of the account that may only read
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
		founded := storetest.NewHousehold(t, "new") // and somebody without a key founds a space
		r := came("192.0.2.7", s.owner(founded, "POST", "/log"))
		r.body = founded.Entries[0].Bytes()
		if res, p, _ := r.do(t, s.addr); res.StatusCode != 204 {
			t.Fatal(res.Status, p.Detail)
		}
	})
}

// Whatever a request asks for, a body that does not come holds up no signed round of others: a
// delta, a blob, a snapshot with a vote, a compaction, and what takes them away.
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
			t.Fatal("it can't be signed")
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

// unread asks for something and reads no more of the answer than its status.
func (s *service) unread(t *testing.T, r *raw) (status string, c net.Conn) {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	s.ok(err)
	t.Cleanup(func() { c.Close() })
	s.ok(c.(*net.TCPConn).SetReadBuffer(4 << 10))
	s.ok(r.request(t, s.addr).Write(c))
	b := make([]byte, len("HTTP/1.1 200"))
	_, err = io.ReadFull(c, b)
	s.ok(err)
	return string(b[9:]), c
}

// besieged has an account fetch n times from many addresses and read nothing: from least to most
// answers are given, all else is refused, another account has its own, and so has the first
// once its connections are closed.
func (s *service) besieged(t *testing.T, fetch func(from string, h *storetest.Household) (string, net.Conn), hostile, honest *storetest.Household, n, least, most int) {
	t.Helper()
	given, held := map[string]int{}, []net.Conn{}
	for i := range n {
		status, c := fetch(fmt.Sprintf("203.0.113.%d", i%20), hostile)
		given[status]++
		held = append(held, c)
	}
	if given["200"] > most || given["200"] < least || given["503"] != n-given["200"] {
		t.Errorf("%v", given)
	}
	for range 3 {
		if status, _ := fetch("192.0.2.7", honest); status != "200" {
			t.Errorf("another account: %s", status)
		}
	}
	for _, c := range held {
		c.Close()
	}
	for status := ""; status != "200" && t.Context().Err() == nil; status, _ = fetch("203.0.113.1", hostile) {
	}
}

// Who asks for pages and reads none of them has so many held in memory, and the others
// have theirs. What was written, or given up, counts no more.
func TestThreatPagesUnread(t *testing.T) {
	stores(t, proxied, func(t *testing.T, s *service) {
		honest, hostile := s.settle("honest"), s.settle("hostile")
		for _, h := range []*storetest.Household{honest, hostile} {
			for range 8 {
				_, err := s.as(h, h.Owner).Append(t.Context(), []*envelope.Delta{h.Delta(h.Owner, strings.Repeat("x", 500<<10))})
				s.ok(err)
			}
		}
		fetch := func(from string, h *storetest.Household) (status string, c net.Conn) {
			t.Helper()
			return s.unread(t, came(from, s.member(h, h.Owner, "GET", "/deltas")))
		}
		s.besieged(t, fetch, hostile, honest, 60, 5, 12) // ask for 240 MB
	})
}

// So has who asks for photos: each is an open file, or a connection to the bucket.
func TestThreatBlobsUnread(t *testing.T) {
	stores(t, proxied, func(t *testing.T, s *service) {
		honest, hostile := s.settle("honest"), s.settle("hostile")
		whole := bytes.Repeat([]byte("photo"), 1<<20)
		id, err := s.as(hostile, hostile.Owner).PutBlob(t.Context(), bytes.NewReader(whole))
		s.ok(err)
		_, err = s.as(honest, honest.Owner).PutBlob(t.Context(), bytes.NewReader(whole))
		s.ok(err)
		fetch := func(from string, h *storetest.Household) (string, net.Conn) {
			t.Helper()
			return s.unread(t, came(from, s.member(h, h.Owner, "GET", "/blobs/"+id.String())))
		}
		s.besieged(t, fetch, hostile, honest, 500, 300, 350)
	})
}

// What a market gives to whoever has made a key, or to anybody, is not held in memory without
// end either, and members have their pages however much of it nobody reads.
func TestThreatMarketUnread(t *testing.T) {
	s := withMarket(t, proxied)
	ctx, h := t.Context(), s.settle("honest")
	seller, buyer, operator := s.trader(2), s.trader(3), s.trader(1)
	items := make([][]byte, 40)
	for i := range items {
		items[i] = bytes.Repeat([]byte{byte(i)}, 50<<10)
	}
	l := tradetest.Listing(t, items, nil)
	s.ok(seller.Publish(ctx, l, items))
	signed, _, id := tradetest.Order(t, l, seal.NewIdentity())
	_, _, err := buyer.Order(ctx, signed)
	s.ok(err)
	codes, err := operator.Issue(ctx, trade.Issue{Batch: "first", Count: 1, Minor: 500, Currency: "EUR", Until: time.Now().Add(time.Hour).Unix()})
	s.ok(err)
	_, st, err := buyer.Pay(ctx, id, trade.Payment{Voucher: codes.Codes[0]})
	s.ok(err)
	b, _ := tradetest.Step(t, st, trade.Deliver, tradetest.Seller, nil)
	_, _, err = seller.Step(ctx, id, b)
	s.ok(err)
	bundle := func(from string) *raw {
		r := s.member(h, h.Owner, "GET", "")
		r.path, r.key, r.p.KeyID = "/v1/market/orders/"+id.String()+"/bundle", tradetest.PartyKey(3), "market/"+tradetest.Buyer.Key.String()
		return came(from, r)
	}
	entries := func(from string) *raw {
		r := came(from, s.member(h, h.Owner, "GET", ""))
		r.path, r.unsigned = "/v1/market/log/tile/entries/000", true
		return r
	}
	s.ok(s.tables.Change(ctx, func(tx *sql.Tx) error {
		for i := range 255 { // beside the listing
			if _, err := s.translog.Append(ctx, tx, synclog.Entry{Kind: synclog.TakenDown, Subject: fmt.Sprint(i), Reason: strings.Repeat("r", synclog.MaxReason)}); err != nil {
				return err
			}
		}
		return nil
	}))
	_, err = s.translog.Publish(ctx)
	s.ok(err)
	for i, what := range []struct {
		ask         func(from string) *raw
		times       int
		least, most int
	}{{bundle, 40, 2, 6}, {entries, 120, 10, 40}} {
		given := map[string]int{}
		for range what.times {
			status, _ := s.unread(t, what.ask(fmt.Sprintf("203.0.113.%d", i)))
			given[status]++
		}
		if given["200"] > what.most || given["200"] < what.least || given["503"] != what.times-given["200"] {
			t.Errorf("%d: %v", i, given)
		}
		if status, _ := s.unread(t, what.ask("192.0.2.7")); status != "200" {
			t.Errorf("%d: another address: %s", i, status)
		}
	}
	s.served(t, h, 5)
}

// One account's requests use up no nonces of another's, and those that are
// refused none at all.
func TestThreatNoncesUsedUp(t *testing.T) {
	s := serve(t, relay.Config{Quota: relay.Quota{PerMinute: 200}}, func(c *api.Config) { c.Nonces = 300 })
	honest, hostile := s.settle("honest"), s.settle("hostile")
	for range 400 {
		s.member(hostile, hostile.Owner, "GET", "/log").do(t, s.addr)
	}
	s.served(t, honest, 20)
}

// A member who was removed takes none of the account's requests, and a hostile
// one not those of the others.
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
	t.Run("owner", func(t *testing.T) { // the root has requests of its own
		h := s.settle("owner")
		for range 150 {
			s.member(h, h.Owner, "GET", "/log").do(t, s.addr)
		}
		s.ok(s.as(h, h.Root).AppendLog(t.Context(), h.Remove(h.Root, h.Owner), ""))
	})
}

// Nobody fills the mailboxes of all: those whose time is over don't count, and
// one address leaves so many.
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

// hold opens a connection from an address of this machine, which has many on
// Linux, and asks something, so that it is one that waits for a next request.
func hold(t *testing.T, s *service, from string) error {
	t.Helper()
	return askHealth(dial(t, s, from))
}

// dial opens one that has asked nothing.
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

// One address holds so many connections, one member so many that wait, and
// behind a proxy one address so many requests.
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
	t.Run("too many that wait", func(t *testing.T) { // each costs the relay memory
		s := serve(t, relay.Config{}, nil)
		other := dial(t, s, "127.0.0.1") // has waited longest, and its address has this one alone
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

// What was signed for one relay is nothing at another: one that was told no
// name answers for this machine's own alone.
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
