package console

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"golang.org/x/mod/sumdb/note"

	cloud "github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay/stripe"
	"github.com/locket-dev/locket/cloud/market/pay/stripe/stripetest"
	"github.com/locket-dev/locket/cloud/market/pay/voucher"
	"github.com/locket-dev/locket/cloud/market/tabletest"
	"github.com/locket-dev/locket/cloud/market/translog"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
	synclog "github.com/locket-dev/locket/sync/translog"
)

// marketHow has the settings in which a test market differs from the default.
type marketHow struct {
	key     ed25519.PrivateKey // nil: tradetest.MarketKey
	arbiter string             // as locket share key prints it; empty: tradetest.Arbiter
}

// served is a running market.
type served struct {
	url      string
	vouchers []string // of 6 EUR
	log      *translog.Log
	signer   note.Signer                  // of the log
	shows    atomic.Pointer[http.Handler] // the log that buyers see
}

// serveMarket runs a relay with a market, and returns its address and vouchers of 6 EUR.
func serveMarket(t *testing.T) (url string, vouchers []string) {
	t.Helper()
	s := startMarket(t, marketHow{})
	return s.url, s.vouchers
}

func startMarket(t *testing.T, how marketHow) *served {
	t.Helper()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if how.key == nil {
		how.key = tradetest.MarketKey
	}
	if how.arbiter == "" {
		var err error
		how.arbiter, err = envelope.SignRequest(envelope.Request{Key: tradetest.Arbiter.Key[:], Recipient: seal.NewIdentity().Recipient().String()}, tradetest.Arbiter.Sign)
		ok(err)
	}
	db := tabletest.SQLite(t)
	pay, err := voucher.New(db, bytes.Repeat([]byte{5}, 32), nil)
	ok(err)
	cards, err := stripe.New(db, stripe.Config{Key: "sk_test_123", Webhook: stripetest.Secret, Success: "https://market.example/paid", Cancel: "https://market.example/left", API: stripetest.New(t).URL})
	ok(err)
	var v served
	v.signer, err = synclog.LogSigner("market.test", how.key)
	ok(err)
	v.log, err = translog.New(db, v.signer)
	ok(err)
	shows := v.log.Handler()
	v.shows.Store(&shows)
	m, err := market.New(market.Config{DB: db, Key: how.key, Arbiter: how.arbiter, Vouchers: pay, Pages: cards, Log: v.log, LogName: "market.test"})
	ok(err)
	store, err := embedded.Open(t.Context(), t.TempDir())
	ok(err)
	t.Cleanup(func() { _ = store.Close() })
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	ok(err)
	logs := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*v.shows.Load()).ServeHTTP(w, r) })
	s := cloud.New(cloud.Config{Relay: relay.New(store, relay.Config{}), Market: m, MarketLog: logs, StrangersPerMinute: 10000, Drain: time.Second})
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	v.vouchers, err = pay.Issue(t.Context(), "may", 2, ledger.Money{Minor: 600, Currency: "EUR"}, time.Now().Add(time.Hour))
	ok(err)
	v.url = "http://" + ln.Addr().String()
	return &v
}

// The market's page lists what the wearer sells: a waiting order is delivered by keyboard,
// another is refunded, and the listing is withdrawn.
func TestMarket(t *testing.T) {
	url, vouchers := serveMarket(t)
	infer := false
	if _, err := api(t).Add(t.Context(), serve.AddRequest{Text: "Marrows want a warm wall.", Infer: &infer, Tags: []string{"marrow"}}); err != nil {
		t.Fatal(err)
	}
	const title = "Marrows <b>of a year</b>"
	out, err := command(home, "--json", "market", "publish", "--at", url, "--tag", "marrow", "--redact", "names,places,times=month", "--category", "garden", "--language", "en",
		"--sample", "Beans want poles.", "--price", "5.00 EUR", "--title", title, "--approve", "--yes")
	if err != nil {
		t.Fatal(err)
	}
	var listing serve.Listing
	if err := json.Unmarshal([]byte(out), &listing); err != nil {
		t.Fatal(err)
	}
	buyer, _ := reader(t)
	for _, code := range vouchers {
		if _, err := command(buyer, "market", "buy", listing.ID.String(), "--voucher", code, "--yes", "--at", url); err != nil {
			t.Fatal(err)
		}
	}

	b := open(t, plain)
	b.visit("/market", ".market .rows li")
	b.says(title)
	b.press("[data-act=sales]")
	b.do(chromedp.WaitVisible(".sales li:nth-child(2)"))
	b.says("waiting for you")
	b.accessible("market")
	b.do(chromedp.ScrollIntoView(".sales"))
	b.shoot("market")
	b.press(".sales li:nth-child(1) .button")
	b.says("the buyer has the key")
	b.do(chromedp.Click(".sales li:nth-child(2) .danger"), chromedp.WaitVisible("dialog [name=reason]"))
	b.accessible("refund")
	b.do(chromedp.SendKeys("dialog [name=reason]", "I was wrong."), chromedp.KeyEvent(kb.Enter), chromedp.WaitNotPresent("dialog"))
	b.says("got the full price back")
	sales, err := api(t).Sales(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var phases []trade.Phase
	for _, s := range sales {
		phases = append(phases, s.Phase)
	}
	slices.Sort(phases)
	if !slices.Equal(phases, []trade.Phase{trade.Delivered, trade.Refunded}) {
		t.Errorf("the sales are %q", phases)
	}
	b.do(chromedp.Click(".market .rows li .danger"), chromedp.WaitVisible("dialog .danger"), chromedp.Click("dialog .danger"), chromedp.WaitNotPresent("dialog"))
	b.until(`document.querySelector(".market .badge.warn")?.innerText === "withdrawn"`)
	if found, err := command(buyer, "market", "search", "marrows", "--at", url); err != nil || strings.Contains(found, title) {
		t.Errorf("it is found after it was withdrawn: %s, %v", found, err)
	}

	phone := open(t, look{"zh-CN", 360, 740, true})
	phone.visit("/market", ".market .rows li")
	phone.do(chromedp.Evaluate(`document.querySelector(".market").scrollIntoView()`, nil))
	phone.fits("market")
	phone.accessible("market")
	phone.shoot("market-phone")
}
