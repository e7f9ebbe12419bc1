package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay/pgtest"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/trade"
)

// story is the story of a sale: a seller with a node, a buyer who is only a key, an agent that buys
// for another wearer within a budget, an arbiter, and two operators, one of whom sees the other's
// log. No file of an operator may contain what was sold.
type story struct {
	t                      *testing.T
	seller, buyer, arbiter *home
	market, second         *relay
	vouchers, there        func(count string) []string // at the two markets
	database               string                      // database of the second market
	listing                struct{ ID string }
	publish                []string // the seller's description
}

func (s *story) at(args ...string) []string { return append(args, "--at", s.market.url) }

// is runs a home's command that prints an order, and checks its phase.
func (s *story) is(h *home, phase string, args ...string) string {
	s.t.Helper()
	var o order
	h.mustJSON(&o, args...)
	if o.Phase != phase {
		s.t.Fatalf("%s: it is %s, want %s", strings.Join(args, " "), o.Phase, phase)
	}
	return o.Order
}

// buy buys the listing, with a voucher or from a refund.
func (s *story) buy(voucher string) string {
	s.t.Helper()
	return s.is(s.buyer, "funded", s.at("market", "buy", s.listing.ID, "--voucher", voucher, "--yes")...)
}

func newStory(t *testing.T) (s *story, other *relay) {
	s = &story{t: t}
	var key string
	s.arbiter, key = keyed(t)
	s.buyer, _ = keyed(t)
	marketKey, secondKey, witnessKey := filepath.Join(t.TempDir(), "market.key"), filepath.Join(t.TempDir(), "market.key"), filepath.Join(t.TempDir(), "market.key")
	keys := func(file, kind string) string {
		t.Helper()
		for line := range strings.Lines(cloud(t, "market", "keys", "--market-key", file, "--market-name", "market.test", "--witness-name", "other.test")) {
			if k, is := strings.CutPrefix(line, kind+" "); is {
				return strings.TrimSpace(k)
			}
		}
		t.Fatalf("no %s key", kind)
		return ""
	}
	other = newRelay(t, "--open", "--market-key", witnessKey, "--witness", keys(marketKey, "log"), "--witness-name", "other.test")
	s.market, s.vouchers = newMarket(t, marketKey, key, "--market-fee", "10", "--market-witness", other.url+" "+keys(witnessKey, "witness"))
	var cluster pgtest.Cluster
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	s.database = cluster.Database(t)
	cloud(t, "migrate", "up", "--db", s.database)
	s.second, s.there = newMarket(t, secondKey, key, "--db", s.database, "--blobs", "file://"+t.TempDir())

	s.seller = newHome(t)
	for _, line := range sold {
		s.seller.must("add", "--plain", line, "--tag", "garden")
	}
	s.publish = []string{"market", "publish", "--tag", "garden", "--redact", "names,places,times=month", "--category", "garden", "--language", "en", "--sample", "Beans want poles.", "--yes"}
	return s, other
}

// One story with real processes. At its end the first operator is dead, then the second. The buyer
// can still read, and nothing that the two stored contains a word of what was sold.
func TestThreatOperatorReadsBundle(t *testing.T) {
	s, other := newStory(t)
	s.lists()
	first, opened := s.sells()
	s.agentBuys(opened)
	s.answers()
	s.disputes()
	s.forgets()
	s.verified()
	period := s.subscribes()
	saved := filepath.Join(s.buyer.dir, "garden.bought")
	s.buyer.must("market", "open", first, "--save", saved)
	s.market.kill()
	if again := s.buyer.must("market", "open", saved); again != opened {
		t.Errorf("with the operator dead:\n%s", again)
	}
	if _, errs, code := s.arbiter.try("market", "open", saved); code == 0 || !strings.Contains(errs, "another key") {
		t.Errorf("opened by another: exit %d, %s", code, errs)
	}
	s.moves()
	s.second.kill()
	s.buyer.must("market", "open", period)
	other.kill()
	for _, dir := range []string{s.market.dir, other.dir, filepath.Join(s.buyer.dir, "reader")} {
		clean(t, dir)
	}
	cleanDatabase(t, s.database)
}

// lists offers a bundle, and checks that it is found with its sample.
func (s *story) lists() {
	s.seller.mustJSON(&s.listing, s.at(append(s.publish, "--price", "5.00 EUR", "--title", "A year in a garden")...)...)
	if _, errs, code := s.seller.try(s.at(append(s.publish, "--price", "5.00 EUR", "--title", "\x1b[2J")...)...); code == 0 || !strings.Contains(errs, "title") {
		s.t.Errorf("a title that steers a terminal: exit %d, %s", code, errs)
	}
	found := s.buyer.must(s.at("market", "search", "gardens")...)
	if !strings.Contains(found, s.listing.ID[:10]) || !strings.Contains(found, "5.00 EUR") {
		s.t.Fatalf("search: %s", found)
	}
	if shown := s.buyer.must(s.at("market", "show", s.listing.ID[:10])...); !strings.Contains(shown, "Beans want poles.") {
		s.t.Fatalf("show: %s", shown)
	}
}

// sells makes the buyer buy, open, accept and review the bundle.
func (s *story) sells() (first, opened string) {
	t, buyer := s.t, s.buyer
	if _, errs, code := buyer.try(s.at("market", "buy", s.listing.ID, "--most", "4.00 EUR", "--yes")...); code == 0 || !strings.Contains(errs, "nothing was ordered") {
		t.Errorf("over what one would pay: exit %d, %s", code, errs)
	}
	first = s.buy(s.vouchers("1")[0])
	if _, errs, code := buyer.try("market", "open", first); code == 0 || !strings.Contains(errs, "not delivered") {
		t.Errorf("opened before it was delivered: exit %d, %s", code, errs)
	}
	s.seller.must("market", "sales")
	opened = buyer.must("market", "open", first)
	for _, line := range sold {
		if !strings.Contains(opened, line) {
			t.Errorf("%q is not in what was bought:\n%s", line, opened)
		}
	}
	s.is(buyer, "accepted", "market", "accept", first, "--yes")
	buyer.must("market", "review", first, "--stars", "4", "--text", "As it says.")
	if _, errs, code := buyer.try("market", "review", first, "--stars", "1", "--text", "I think again."); code == 0 || !strings.Contains(errs, "you reviewed it") {
		t.Errorf("a second review: exit %d, %s", code, errs)
	}
	if shown := buyer.must(s.at("market", "show", s.listing.ID)...); !strings.Contains(shown, "As it says.") || !strings.Contains(shown, "sold 1") {
		t.Errorf("after the review: %s", shown)
	}
	if out := buyer.must("share", "search", question); !strings.Contains(out, sold[0]) || !strings.Contains(out, "bought from seller") {
		t.Errorf("what was bought does not answer:\n%s", out)
	}
	return first, opened
}

// question is a question that the bundle answers.
const question = "when do tomatoes want water"

// agentBuys makes an agent with an app's key buy by HTTP, within its budget. What it bought is
// found in its wearer's searches until the price is refunded.
func (s *story) agentBuys(opened string) {
	t, wearer := s.t, newHome(s.t)
	address := wearer.overTCP()
	wearer.start()
	for _, code := range s.vouchers("2") {
		wearer.must(s.at("market", "deposit", "--voucher", code)...)
	}
	key := strings.TrimSpace(wearer.must("app", "add", "shopper", "--can", "buy", "--types", "semantic", "--budget", "6.00 EUR", "--alone", "5.00 EUR", "--category", "garden", "--market", s.market.url))
	ask := func(into any, method, path string, body any) int {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		var text []byte
		if body != nil {
			var err error
			if text, err = json.Marshal(body); err != nil {
				t.Fatal(err)
			}
		}
		r, err := http.NewRequestWithContext(ctx, method, "http://"+address+path, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Content-Type", "application/json")
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		if a.StatusCode == http.StatusOK {
			err = json.NewDecoder(a.Body).Decode(into)
		}
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode
	}
	var found serve.GoodsAnswer
	if code := ask(&found, "GET", "/v1/goods?q=gardens", nil); code != http.StatusOK || len(found.Goods) != 1 || found.Goods[0].Sample[0] != "Beans want poles." || found.Left != "6.00 EUR" {
		t.Fatalf("goods: %d %+v", code, found)
	}
	quote := found.Goods[0]
	var bought serve.Purchase
	buys := func(act, id string) int {
		t.Helper()
		return ask(&bought, "POST", "/v1/purchases", serve.PurchaseRequest{Act: act, ID: id, Price: quote.Price})
	}
	if code := buys("order", quote.Version.String()); code != http.StatusOK {
		t.Fatalf("ordered: %d", code)
	}
	if code := buys("pay", bought.Order.String()); code != http.StatusOK || bought.Phase != trade.Funded {
		t.Fatalf("paid: %d %+v", code, bought)
	}
	lent := bought.Order.String()
	if code := buys("order", quote.Version.String()); code != http.StatusForbidden {
		t.Errorf("over its budget: %d %+v", code, bought)
	}
	s.seller.must("market", "sales")
	if code := buys("fetch", lent); code != http.StatusOK || len(bought.Items) != len(sold) || !strings.Contains(opened, bought.Items[0].Text) {
		t.Fatalf("fetched: %d %+v", code, bought)
	}
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := inspect(t, filepath.Join(bin, "locket"), "--home", wearer.dir, "mcp", "--key-file", file, "--method", "tools/call", "--tool-name", "market_fetch", "--tool-arg", "id="+lent); err != nil || !strings.Contains(out, sold[0]) {
		t.Errorf("fetched by MCP: %v\n%s", err, out)
	}
	for _, ask := range []string{"search", "ask", "context"} {
		if out := wearer.must(ask, question); !strings.Contains(out, sold[0]) || !strings.Contains(out, "from seller") && !strings.Contains(out, "shared by seller") {
			t.Errorf("%s does not say what was bought, and from whom:\n%s", ask, out)
		}
	}
	if out, _, _ := wearer.try("list"); strings.Contains(out, sold[0]) {
		t.Errorf("what was bought became the wearer's own:\n%s", out)
	}
	s.seller.must("market", "refund", lent, "--reason", "It was the wrong year.")
	wearer.must("market", "orders")
	if out := wearer.must("search", question); strings.Contains(out, sold[0]) {
		t.Errorf("the price came back, and it answers:\n%s", out)
	}
	wearer.d.kill()
}

// answers sells an answer by rule and one after approval, and checks that a question without an
// answer costs nothing.
func (s *story) answers() {
	t, seller, buyer := s.t, s.seller, s.buyer
	var ask struct {
		ID      string
		Answers struct{ Each, All int }
	}
	terms := append(s.publish, "--answers", "--answers-each", "50", "--answers-all", "75", "--price", "0.20 EUR")
	seller.mustJSON(&ask, s.at(append(terms, "--title", "Ask somebody who digs")...)...)
	if ask.Answers.Each != 2 || ask.Answers.All != 3 {
		t.Errorf("of four: %+v", ask)
	}
	if _, errs, code := buyer.try(s.at("market", "buy", ask.ID, "--yes")...); code == 0 || !strings.Contains(errs, "market ask") {
		t.Errorf("bought a copy: exit %d, %s", code, errs)
	}
	if _, errs, code := buyer.try(s.at("market", "ask", s.listing.ID, question, "--yes")...); code == 0 || !strings.Contains(errs, "market buy") {
		t.Errorf("asked who sells copies: exit %d, %s", code, errs)
	}
	order := s.is(buyer, "funded", s.at("market", "ask", ask.ID, question, "--voucher", s.vouchers("1")[0], "--most", "0.20 EUR", "--wait", "0s", "--yes")...)
	if _, errs, code := buyer.try("market", "open", order); code == 0 || !strings.Contains(errs, "not delivered") {
		t.Errorf("opened before it was answered: exit %d, %s", code, errs)
	}
	seller.must("market", "sales")
	out := buyer.must("market", "open", order)
	if !strings.Contains(out, sold[0]) || strings.Contains(out, sold[1]) {
		t.Errorf("it answers with\n%s", out)
	}
	s.is(buyer, "accepted", "market", "accept", order, "--yes")
	unknown := s.is(buyer, "funded", s.at("market", "ask", ask.ID, "who won the chess match in Reykjavik", "--wait", "0s", "--yes")...)
	seller.must("market", "sales")
	if out := buyer.must("market", "orders"); !strings.Contains(out, unknown[:10]+"    0.20 EUR  refunded") {
		t.Errorf("a question without an answer:\n%s", out)
	}

	seller.mustJSON(&ask, s.at(append(terms, "--title", "Ask and wait", "--approve")...)...)
	order = s.is(buyer, "funded", s.at("market", "ask", ask.ID, "does the greenhouse door stick when it rains", "--wait", "0s", "--yes")...)
	if out := seller.must("market", "sales"); !strings.Contains(out, "asks     does the greenhouse") || !strings.Contains(out, "answers  "+sold[1]) || !strings.Contains(out, "waits for") {
		t.Errorf("the seller reads\n%s", out)
	}
	s.is(seller, "delivered", "market", "deliver", order)
	s.is(buyer, "disputed", "market", "dispute", order, "--reason", "I knew that.")
	if out := s.arbiter.must(s.at("market", "disputes")...); !strings.Contains(out, "does the greenhouse door stick") || !strings.Contains(out, sold[1]) {
		t.Errorf("the arbiter reads\n%s", out)
	}
	s.is(s.arbiter, "accepted", s.at("market", "decide", order, "--refund", "none", "--reason", "It is an answer.")...)
}

// disputes has an order refunded, and another divided by the arbiter.
func (s *story) disputes() {
	t := s.t
	s.is(s.seller, "refunded", "market", "refund", s.buy(s.vouchers("1")[0]), "--reason", "I was wrong.")
	third := s.buy("") // paid from the refund
	s.seller.must("market", "deliver", third)
	s.buyer.must("market", "open", third)
	s.is(s.buyer, "disputed", "market", "dispute", third, "--item", "2", "--reason", "The door is not a garden.")
	disputes := s.arbiter.must(s.at("market", "disputes")...)
	if shown := strings.Count(disputes, "the item says"); shown != 1 {
		t.Errorf("the arbiter is shown %d items:\n%s", shown, disputes)
	}
	s.is(s.arbiter, "settled", s.at("market", "decide", third, "--refund", "2.00 EUR", "--reason", "Half of it is.")...)
	earned := strings.TrimSpace(s.seller.must(s.at("market", "payout", "--earned", "--amount", "7.20 EUR")...)) // 5.00 and 3.00, minus a tenth
	if len(earned) < 20 {
		t.Errorf("a voucher: %q", earned)
	}
}

// forgets makes the wearer forget: forgotten memories must not be sold any more.
func (s *story) forgets() {
	fourth := s.buy(s.vouchers("1")[0])
	s.seller.must("forget", "--query", "greenhouse", "--yes")
	s.seller.must("market", "sales")
	if orders := s.buyer.must("market", "orders"); !strings.Contains(orders, "refunded") {
		s.t.Errorf("%s after the memories were forgotten:\n%s", fourth, orders)
	}
	if found := s.buyer.must(s.at("market", "search", "gardens")...); strings.Contains(found, s.listing.ID[:10]) {
		s.t.Errorf("still for sale: %s", found)
	}
}

// verified: the log contains what was bought, and another operator has seen it.
func (s *story) verified() {
	var verified string
	until(s.t, "the log with the receipts", func() bool {
		wait(3 * time.Second) // it is published every ten seconds
		verified = s.buyer.must(s.at("market", "verify")...)
		return strings.Count(verified, "with its receipt") == 4 // those that ended with a key
	})
	if !strings.Contains(verified, "cosigned it, and has seen") || !strings.Contains(verified, "Witness other.test") || strings.Contains(verified, "MISSING") {
		s.t.Errorf("verify: %s", verified)
	}
}

// subscribes buys a period of a growing bundle, and lets a dearer one lapse.
func (s *story) subscribes() (period string) {
	grows := s.at(append(s.publish, "--title", "Each day in a garden")...)
	s.seller.mustJSON(&s.listing, append(grows, "--every-days", "1", "--price", "2.00 EUR")...)
	var now subscription
	s.buyer.mustJSON(&now, s.at("market", "subscribe", s.listing.ID, "--most", "2.50 EUR", "--yes")...)
	if now.Last != "wait" || now.Why != "this period is paid" {
		s.t.Fatalf("subscribed: %+v", now)
	}
	s.seller.must("market", "sales")
	period = s.buyer.ordersOf(s.listing.ID)[0]
	s.buyer.must("market", "open", period)
	s.is(s.buyer, "accepted", "market", "accept", period, "--yes")
	s.buyer.must("market", "review", period, "--stars", "5", "--text", "It grew.")
	s.seller.must("add", "--plain", sold[1], "--tag", "garden")
	s.market.dayLater()
	s.seller.must(append(grows, "--replaces", s.listing.ID, "--price", "3.00 EUR")...)
	s.buyer.mustJSON(&now, "market", "renew")
	if now.Last != "lapse" || now.Why != "it costs more than you allow" || len(s.buyer.ordersOf(s.listing.ID)) != 1 {
		s.t.Errorf("a period that is dearer: %+v", now)
	}
	s.seller.must("market", "sales") // updates its copies of the orders
	return period
}
