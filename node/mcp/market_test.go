package mcp_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay/voucher"
	"github.com/locket-dev/locket/cloud/market/tabletest"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/internal/testing/relaytest"
	"github.com/locket-dev/locket/node/config"
	buyers "github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/node/mcp"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// shop serves a market, and makes vouchers for 20.00 EUR.
func shop(t *testing.T) (url string, code func() string) {
	t.Helper()
	db := tabletest.SQLite(t)
	arbiter, err := envelope.SignRequest(envelope.Request{Key: tradetest.Arbiter.Key[:], Recipient: seal.NewIdentity().Recipient().String()}, tradetest.Arbiter.Sign)
	if err != nil {
		t.Fatal(err)
	}
	vouchers, err := voucher.New(db, bytes.Repeat([]byte{5}, 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := market.New(market.Config{DB: db, Key: tradetest.MarketKey, Arbiter: arbiter, Vouchers: vouchers})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	return relaytest.Serve(t, t.TempDir(), relay.Config{}, api.Config{Market: m, Drain: time.Second}).URL, func() string {
		t.Helper()
		n++
		codes, err := m.Issue(t.Context(), strings.Repeat("x", n), 1, ledger.Money{Minor: 2000, Currency: "EUR"}, time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return codes[0]
	}
}

// An agent uses tools to search, get a quote, order, pay and fetch, with the wearer's
// money: no more than the budget in all, and above a certain sum only once the wearer
// said yes.
func TestThreatAgentOverspends(t *testing.T) {
	ctx := t.Context()
	url, code := shop(t)
	seller := serve.InProcess(serve.New(serve.Options{Services: nodetest.New(t, nodetest.Cheap).Services()}))
	defer seller.Close()
	no := false
	if _, err := seller.Add(ctx, serve.AddRequest{Text: "Tomatoes want water at the root.", Infer: &no, Tags: []string{"garden"}}); err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for title, price := range map[string]string{"Cheap garden": "1.50 EUR", "Dear garden": "5.00 EUR", "Golden garden": "9.00 EUR", "Dollar garden": "1.00 USD"} {
		l, err := seller.PublishListing(ctx, serve.ListingRequest{Bundle: serve.ShareRequest{Tags: []string{"garden"}}, Market: url, Title: title, Categories: []string{"garden"}, Languages: []string{"en"}, Price: price})
		if err != nil {
			t.Fatal(err)
		}
		ids[title] = l.ID.String()
	}
	if _, err := seller.PublishListing(ctx, serve.ListingRequest{Bundle: serve.ShareRequest{Tags: []string{"garden"}}, Market: url, Title: "Other garden", Categories: []string{"travel"}, Languages: []string{"en"}, Price: "0.50 EUR"}); err != nil {
		t.Fatal(err)
	}

	var dir string
	home := nodetest.New(t, func(c *config.Config) { nodetest.Cheap(c); dir = c.Home })
	services := home.Services()
	handler := serve.New(serve.Options{Services: services, ForApps: func(api http.Handler) map[string]serve.Door {
		return map[string]serve.Door{"/mcp": {Handler: mcp.Handler(api, "test")}}
	}})
	owner := serve.InProcess(handler)
	defer owner.Close()
	server := httptest.NewServer(handler)
	defer server.Close()
	session := func(key serve.Secret) *sdk.ClientSession {
		t.Helper()
		s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &sdk.StreamableClientTransport{Endpoint: server.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer{string(key)}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	may := serve.AppRequest{Name: "shopper", Can: []serve.Right{serve.RightBuy}, Types: []string{"semantic"}, Requests: 1000, Buying: &serve.AppBuying{Market: url, Budget: "8.00 EUR", Alone: "2.00 EUR", Categories: []string{"garden"}}}
	for what, change := range map[string]func(*serve.AppRequest){
		"no budget":        func(r *serve.AppRequest) { r.Buying = nil },
		"no right":         func(r *serve.AppRequest) { r.Can = []serve.Right{serve.RightRead} },
		"no sum":           func(r *serve.AppRequest) { b := *r.Buying; b.Budget = "much"; r.Buying = &b },
		"another currency": func(r *serve.AppRequest) { b := *r.Buying; b.Alone = "2.00 USD"; r.Buying = &b },
		"no market":        func(r *serve.AppRequest) { b := *r.Buying; b.Market = ""; r.Buying = &b },
	} {
		r := may
		change(&r)
		if _, err := owner.AddApp(ctx, r); err == nil {
			t.Errorf("%s: it is let in", what)
		}
	}
	app, err := owner.AddApp(ctx, may)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := owner.AddApp(ctx, serve.AppRequest{Name: "reader", Can: []serve.Right{serve.RightRead}, Types: []string{"semantic"}})
	if err != nil {
		t.Fatal(err)
	}
	if list, err := session(plain.Key).ListTools(ctx, nil); err != nil || slices.ContainsFunc(list.Tools, func(t *sdk.Tool) bool { return strings.HasPrefix(t.Name, "market_") }) {
		t.Errorf("an app without the right has the tools: %v", err)
	}
	if _, err := owner.WithKey(plain.Key).Goods(ctx, serve.GoodsQuery{}); !errors.Is(err, serve.ErrForbidden) {
		t.Errorf("without the right: %v", err)
	}
	if _, err := owner.Goods(ctx, serve.GoodsQuery{}); !errors.Is(err, serve.ErrForbidden) && !errors.Is(err, serve.ErrUnsupported) {
		t.Errorf("the owner: %v", err)
	}

	s := session(app.Key)
	var found serve.GoodsAnswer
	text := call(t, s, "market_search", map[string]any{"query": "garden"}, &found)
	if found.Total != 5 || !strings.HasPrefix(text, "<memory note=") || !strings.Contains(text, "Cheap garden") {
		t.Fatalf("%+v\n%s", found, text)
	}
	type quoted struct {
		serve.Goods
		Left string
	}
	quote := func(title string) quoted {
		t.Helper()
		var a serve.GoodsAnswer
		if text := call(t, s, "market_quote", map[string]any{"id": ids[title]}, &a); len(a.Goods) != 1 || a.Terms == "" {
			t.Fatal(text)
		}
		return quoted{a.Goods[0], a.Left}
	}
	order := func(title string) string {
		t.Helper()
		q := quote(title)
		var p serve.Purchase
		if text := call(t, s, "market_order", map[string]any{"id": q.Version.String(), "price": q.Price}, &p); strings.HasPrefix(text, "error") || p.Phase != trade.Ordered {
			t.Fatal(text)
		}
		return p.Order.String()
	}
	pay := func(order string) (p serve.Purchase, text string) {
		t.Helper()
		text = call(t, s, "market_pay", map[string]any{"id": order}, &p)
		return p, text
	}
	for title, want := range map[string]string{"Golden garden": "8.00 EUR are left", "Dollar garden": "the budget is in EUR"} {
		q := quote(title)
		if !strings.Contains(q.Bars, want) {
			t.Errorf("%s: %+v", title, q)
		}
		if text := call(t, s, "market_order", map[string]any{"id": q.Version.String(), "price": q.Price}, nil); !strings.Contains(text, want) {
			t.Errorf("%s: %s", title, text)
		}
	}
	for _, g := range found.Goods {
		if g.Title == "Other garden" {
			if text := call(t, s, "market_order", map[string]any{"id": g.Version.String(), "price": g.Price}, nil); !strings.Contains(text, "in no category") {
				t.Error(text)
			}
		}
	}
	if q := quote("Cheap garden"); q.Asks || q.Bars != "" || q.Left != "8.00 EUR" {
		t.Errorf("%+v", q)
	} else if text := call(t, s, "market_order", map[string]any{"id": q.Version.String(), "price": "0.50 EUR"}, nil); !strings.Contains(text, "was quoted at") {
		t.Error(text)
	}

	// Below the sum it pays without asking, from what the wearer has there and nothing
	// else.
	cheap := order("Cheap garden")
	if _, text := pay(cheap); !strings.HasPrefix(text, "error") {
		t.Errorf("paid of nothing: %s", text)
	}
	b := &buyers.Buyer{Dir: filepath.Join(dir, "reader")}
	if err := b.WithMarket(ctx, url, func(m *remote.Market, _ trade.Party, _ trade.Terms) error {
		list, err := m.Deposit(ctx, code())
		if err == nil && (len(list) != 1 || list[0].Spend != 2000) {
			t.Errorf("deposit: %+v", list)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the same again is one payment
		if p, text := pay(cheap); p.Phase != trade.Funded {
			t.Fatal(text)
		}
	}
	if left := quote("Cheap garden").Left; left != "6.50 EUR" {
		t.Errorf("left: %s", left)
	}
	if _, err := seller.Sales(ctx); err != nil {
		t.Fatal(err)
	}
	var got serve.Purchase
	if text := call(t, s, "market_fetch", map[string]any{"id": cheap}, &got); len(got.Items) != 1 || got.Items[0].Text != "Tomatoes want water at the root." || !strings.HasPrefix(text, "<memory") {
		t.Errorf("fetched: %s", text)
	}

	// Above it, the wearer is asked about this order, and nothing is paid before.
	dear := order("Dear garden")
	if p, text := pay(dear); !p.Waits || p.Phase != trade.Ordered {
		t.Fatal(text)
	}
	list, err := owner.Consents(ctx)
	if err != nil || len(list) != 1 || list[0].Who != "app:shopper" || list[0].Action != "buy" || len(list[0].Waits) != 1 || !strings.Contains(list[0].Waits[0].Text, "5.00 EUR for Dear garden") {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := owner.AnswerConsent(ctx, serve.ConsentAnswer{ID: list[0].ID, Act: "allow", Remember: true}); err == nil {
		t.Error("a yes to all that it would pay")
	}
	seen := serve.ConsentSeen{ID: list[0].Waits[0].ID, Mark: list[0].Waits[0].Mark}
	if v, err := owner.AnswerConsent(ctx, serve.ConsentAnswer{ID: list[0].ID, Act: "allow", Of: []serve.ConsentSeen{seen}}); err != nil || len(v.Shown) != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	again := order("Dear garden") // the yes is for one order
	if p, text := pay(again); p.Phase != trade.Ordered || !p.Waits && !strings.Contains(text, "are left") {
		t.Errorf("another order: %s", text)
	}
	if p, text := pay(dear); p.Phase != trade.Funded {
		t.Fatal(text)
	}
	if _, text := pay(again); !strings.Contains(text, "1.50 EUR are left") {
		t.Errorf("over the budget: %s", text)
	}
	if last := order("Cheap garden"); true {
		if p, text := pay(last); p.Phase != trade.Funded {
			t.Error(text)
		}
	}
	if q := quote("Cheap garden"); q.Left != "0.00 EUR" || q.Bars == "" {
		t.Errorf("%+v", q)
	}
	// Refunded money may be spent again.
	if _, err := seller.SettleSale(ctx, serve.SaleRequest{Order: dear, Act: serve.RefundSale, Reason: "no"}); err != nil {
		t.Fatal(err)
	}
	if text := call(t, s, "market_fetch", map[string]any{"id": dear}, &got); got.Phase != trade.Refunded {
		t.Error(text)
	}
	if q := quote("Cheap garden"); q.Left != "5.00 EUR" {
		t.Errorf("%+v", q)
	}

	// An answer is bought like a bundle, with the question.
	asked, err := seller.PublishListing(ctx, serve.ListingRequest{Bundle: serve.ShareRequest{Tags: []string{"garden"}}, Market: url, Title: "Ask a gardener", Categories: []string{"garden"}, Languages: []string{"en"},
		Price: "0.50 EUR", Answers: &serve.ListingAnswers{Each: 100, All: 100}})
	if err != nil {
		t.Fatal(err)
	}
	ids["Ask"] = asked.ID.String()
	q := quote("Ask")
	if q.Answers == nil || q.Answers.Each != 1 {
		t.Errorf("%+v", q)
	}
	if text := call(t, s, "market_order", map[string]any{"id": q.Version.String(), "price": q.Price}, nil); !strings.Contains(text, "asks a question") {
		t.Errorf("ordered without a question: %s", text)
	}
	if text := call(t, s, "market_order", map[string]any{"id": q.Version.String(), "price": q.Price, "question": "when do tomatoes want water?"}, &got); !got.Answer {
		t.Fatal(text)
	}
	question := got.Order.String()
	if p, text := pay(question); p.Phase != trade.Funded {
		t.Fatal(text)
	}
	if _, err := seller.Sales(ctx); err != nil {
		t.Fatal(err)
	}
	if text := call(t, s, "market_fetch", map[string]any{"id": question}, &got); !got.Answer || len(got.Items) != 1 || got.Items[0].Text != "Tomatoes want water at the root." {
		t.Errorf("the answer: %s", text)
	}
	if _, err := seller.SettleSale(ctx, serve.SaleRequest{Order: question, Act: serve.RefundSale, Reason: "as a present"}); err != nil {
		t.Fatal(err)
	}
	if text := call(t, s, "market_fetch", map[string]any{"id": question}, &got); got.Phase != trade.Refunded {
		t.Error(text)
	}

	// A no also holds for anything else it would pay above the sum; another app sees
	// none of it.
	if _, err := owner.AnswerConsent(ctx, serve.ConsentAnswer{ID: list[0].ID, Act: "refuse"}); err != nil {
		t.Fatal(err)
	}
	if _, text := pay(again); !strings.Contains(text, "the wearer said no") {
		t.Error(text)
	}
	may.Name = "other"
	other, err := owner.AddApp(ctx, may)
	if err != nil {
		t.Fatal(err)
	}
	if text := call(t, session(other.Key), "market_fetch", map[string]any{"id": cheap}, nil); !strings.Contains(text, "not found") {
		t.Errorf("another app's order: %s", text)
	}
	log, err := owner.AppLog(ctx, "shopper", 100)
	if err != nil || !slices.ContainsFunc(log.Entries, func(u serve.AppUse) bool { return u.Did == "pay 5.00 EUR "+dear[:10] }) {
		t.Errorf("the account: %+v, %v", log.Entries, err)
	}
	if !slices.ContainsFunc(log.Entries, func(u serve.AppUse) bool { return strings.Contains(u.Did, `asking "when do tomatoes want water?"`) }) {
		t.Errorf("the question is not in the account: %+v", log.Entries)
	}
}
