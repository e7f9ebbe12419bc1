package api_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
	synclog "github.com/locket-dev/locket/sync/translog"
)

// unread sends a request and reads only the status of the answer.
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

// besieged makes an account fetch n times from many addresses without reading. Between least and
// most answers are given, the others are refused; on a slow machine the relay gives up the first
// ones meanwhile, and gives as many again. Another account is still served, and so is the
// first once its connections are closed.
func (s *service) besieged(t *testing.T, fetch func(from string, h *storetest.Household) (string, net.Conn), hostile, honest *storetest.Household, n, least, most int) {
	t.Helper()
	given, held := map[string]int{}, []net.Conn{}
	began := time.Now()
	for i := range n {
		status, c := fetch(fmt.Sprintf("203.0.113.%d", i%20), hostile)
		given[status]++
		held = append(held, c)
	}
	if most *= 1 + int(time.Since(began)/api.WriteTimeout); given["200"] > most || given["200"] < least || given["503"] != n-given["200"] {
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

// Somebody who requests pages without reading them has only so many in memory, and others still get
// theirs. Answers that were written or given up do not count any more.
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
		s.besieged(t, fetch, hostile, honest, 60, 5, 12) // they request 240 MB
	})
}

// The same holds for photos: each is an open file, or a connection to the bucket.
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

// A market's answers, to keys or to anybody, are limited in memory, too, and members still get
// their pages however many of them nobody reads.
func TestThreatMarketUnread(t *testing.T) {
	s := withMarket(t, proxied)
	ctx, h := t.Context(), s.settle("honest")
	items := make([][]byte, 40)
	for i := range items {
		items[i] = bytes.Repeat([]byte{byte(i)}, 50<<10)
	}
	_, st := s.sold(items)
	id := st.ID
	b, _ := tradetest.Step(t, st, trade.Deliver, tradetest.Seller, nil)
	_, _, err := s.trader(2).Step(ctx, id, b)
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
		for i := range 255 { // apart from the listing
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
