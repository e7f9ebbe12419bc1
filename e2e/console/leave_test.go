package console

import (
	"database/sql"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/locket-dev/locket/cloud/market/tabletest"
	"github.com/locket-dev/locket/cloud/market/translog"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/trade/tradetest"
	synclog "github.com/locket-dev/locket/sync/translog"
)

// twoHistories makes a market show a second log with different content.
func (s *served) twoHistories(t *testing.T) {
	t.Helper()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	db := tabletest.SQLite(t)
	other, err := translog.New(db, s.signer)
	ok(err)
	for _, of := range []string{"a", "b", "c", "d", "e"} {
		ok(db.Change(t.Context(), func(tx *sql.Tx) error {
			_, err := other.Append(t.Context(), tx, synclog.Entry{Kind: synclog.Listed, Subject: of, Digest: synclog.Digest([]byte(of)), At: 1})
			return err
		}))
	}
	_, err = other.Publish(t.Context())
	ok(err)
	shows := other.Handler()
	s.shows.Store(&shows)
}

// Buyer and seller check whether a market shows everybody the same log, catch it showing two
// histories, and move to another market. What can't move yet is listed, and moves on the next
// try.
func TestLeaveAMarket(t *testing.T) {
	from, to := startMarket(t, marketHow{}), startMarket(t, marketHow{key: tradetest.PartyKey(20)})
	shop, seller := ownHome(t)
	own, _ := ownHome(t)
	const title = "Forgotten <b>fruit</b>"
	listing := publish(t, shop, seller, from.url, title)
	order := read[serve.Purchase](t, run(t, own, "--json", "market", "buy", listing.ID.String(), "--voucher", from.vouchers[0], "--yes", "--at", from.url)).Order.String()
	sales := func() {
		t.Helper()
		if _, err := seller.Sales(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	sales()
	run(t, own, "market", "open", order)
	run(t, own, "market", "accept", order, "--yes")
	run(t, own, "market", "review", order, "--stars", "4", "--text", "True of medlars.")
	sales()
	if _, err := from.log.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}

	check := "/market/log?market=" + from.url
	b, s := openAt(t, plain, linkOf(t, own).URL), openAt(t, plain, linkOf(t, shop).URL)
	for whose, tab := range map[string]*tab{"you bought it": b, "you sold it": s} {
		tab.visit(check, "[data-act=verify]")
		tab.press("[data-act=verify]")
		tab.says("This was the first check")
		tab.says("in the log, with its receipt")
		tab.says(whose)
		tab.settled()
		tab.accessible("log")
	}
	b.press("[data-act=verify]")
	b.says("from your last check")
	b.shoot("log")
	dir := b.downloads()
	b.press("[data-act=save-note]")
	note := saved(t, filepath.Join(dir, "market-*.txt"))
	s.press(".log summary")
	s.do(chromedp.WaitVisible("[name=with]"), chromedp.SetUploadFiles("[name=with]", []string{note}))
	s.press("[data-act=verify]")
	s.says("from your last check")
	bad := filepath.Join(t.TempDir(), "bad.txt")
	if err := os.WriteFile(bad, []byte("no checkpoint"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.do(chromedp.SetUploadFiles("[name=with]", []string{bad}))
	s.press("[data-act=verify]")
	s.says("what another was shown")
	verify := func(b *tab) { b.press("[data-act=verify]"); b.do(chromedp.WaitVisible(".found")) }
	looks(t, own, "log", check, "[data-act=verify]", verify)

	from.twoHistories(t)
	b.press("[data-act=verify]")
	b.says("The operator of this market showed two histories")
	b.says(strings.ToLower(tradetest.Market.Key.String()))
	b.says(".fork.json")
	b.shoot("log-forked")
	looks(t, own, "log-forked", check, "[data-act=verify]", verify)
	evil := openAt(t, look{"en-GB", 360, 740, false}, linkOf(t, own).URL)
	evil.spoil(hostile, []string{"log", "market", "file", "title", "name", "address", "error", "why"})
	evil.visit(check, "[data-act=verify]")
	verify(evil)
	evil.harmless("log")

	// The buyer can move an order only to a market that has its listing.
	ask := func(b *tab) {
		b.visit("/market/move", "[name=to]")
		b.do(chromedp.SendKeys("[name=to]", to.url), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible(".moves"))
	}
	ask(b)
	b.says("with your review")
	b.says("This would move")
	b.settled()
	b.accessible("move")
	b.shoot("move")
	looks(t, own, "move", "/market/move", "[name=to]", ask)
	b.press("[data-act=move-do]")
	b.do(chromedp.WaitVisible("[data-act=move-again]"))
	b.says("Not everything was moved.")
	b.says("its seller has not moved it here")
	b.accessible("move-failed")
	b.shoot("move-failed")

	s.palette("move to another market")
	s.do(chromedp.WaitVisible("[name=to]"), chromedp.SendKeys("[name=to]", to.url), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("[data-act=move-do]"))
	s.says("with 1 order")
	s.says("Money does not move")
	s.press("[data-act=move-do]")
	s.says("Everything was moved.")
	s.shoot("move-done")
	b.press("[data-act=move-again]")
	b.says("Everything was moved.")
	list, err := seller.Listings(t.Context())
	if err != nil || len(list) != 2 || list[0].Market != to.url || list[1].Withdrawn.IsZero() {
		t.Fatalf("the seller has %+v, %v", list, err)
	}
	v := read[serve.Offer](t, run(t, own, "--json", "market", "show", list[0].ID.String(), "--at", to.url))
	if len(v.Before) != 1 || v.Before[0].Sold != 1 || len(v.Before[0].Said) != 1 || v.Before[0].Said[0].Text != "True of medlars." {
		t.Errorf("what came with it: %+v", v.Before)
	}
	ask(s)
	s.says("There is nothing to move.")

	// An address where nobody answers is reported, and nothing is lost.
	s.visit("/market/move", "[name=to]")
	s.do(chromedp.SendKeys("[name=to]", "http://127.0.0.1:1"), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("[data-act=move-do]"))
	s.press("[data-act=move-do]")
	s.do(chromedp.WaitVisible("[data-act=move-again]"))
	s.says("nothing listens at 127.0.0.1:1")
}

// With a link that names a market, the node contacts nobody before the wearer agrees.
func TestThreatStrangeMarket(t *testing.T) {
	var asked atomic.Int64
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusNotFound)
	}))
	defer stranger.Close()
	own, _ := ownHome(t)
	b := openAt(t, plain, linkOf(t, own).URL)
	listing := strings.Repeat("ab", 32)
	for _, path := range []string{"/market", "/market/" + listing, "/market/log"} {
		b.visit(path+"?market="+stranger.URL, ".known")
		b.settled()
		b.says("Nothing has been sent yet.")
		b.says(stranger.URL)
		if n := asked.Load(); n != 0 {
			t.Fatalf("%s has asked %d times", path, n)
		}
	}
	looks(t, own, "known", "/market?market="+stranger.URL, ".known", nil)
	// Lookalike letters are pointed out, and an invalid address can't be agreed to.
	b.visit("/market?market=http://m%D0%B0rket.example", ".known .notice")
	b.says("xn--")
	b.visit("/market?market=http://relay.example@stranger.example", ".notice.bad")
	if js[bool](b, `!!document.querySelector("[data-act=agree]")`) {
		t.Error("an address with a user in it can be agreed to")
	}
	if n := asked.Load(); n != 0 {
		t.Fatalf("it was asked %d times", n)
	}
	b.visit("/market?market="+stranger.URL, "[data-act=agree]")
	b.press("[data-act=agree]")
	b.says("There is no market at this address.")
	if asked.Load() == 0 {
		t.Error("the stranger's market was never asked")
	}
}
