package node_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/market"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// order is an order at a market, with the file that its buyer stores.
type order struct {
	*tradetest.Deal
	t    *testing.T
	file string
}

func (o *order) keep(items [][]byte) {
	o.t.Helper()
	if err := (&market.Bought{Market: "https://market.example", Chain: o.Chain, Items: items}).Save(o.file); err != nil {
		o.t.Fatal(err)
	}
}

// newOrder makes an order of the reader whose folder is dir, for a bundle of items.
func newOrder(t *testing.T, dir string, ms []memory.Candidate) (*order, [][]byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "orders"), 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := keyring.ReaderKey(filepath.Join(dir, "reader.key"))
	if err != nil {
		t.Fatal(err)
	}
	items, err := bundle.Seal(tradetest.Key(t), ms)
	if err != nil {
		t.Fatal(err)
	}
	deal := tradetest.NewDeal(t, tradetest.Listing(t, items, nil), trade.Party{Key: trade.KeyOf(d.Key()), Sign: d.Sign}, [16]byte{5}, d.OrderIdentity([16]byte{5}).Recipient().String(), time.Now().Unix())
	return &order{deal, t, filepath.Join(dir, "orders", deal.State.ID.String()+".bought")}, items
}

// What was bought is found like a given share: marked with its seller, for the wearer and
// for apps within their scope, and never as the wearer's own. It is not found any more
// when it expires, while it is disputed, when the price is refunded, and when the wearer
// turns it off.
func TestBoughtMemoriesAreFound(t *testing.T) {
	ben := newDevice(t, "", 63)
	ctx := t.Context()
	ben.init()
	ben.tell("My tomatoes stand on the balcony.", nil)
	c := serve.InProcess(serve.New(serve.Options{Services: ben.Services()}))
	defer c.Close()

	until := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
	var ms []memory.Candidate
	for _, text := range []string{"The tomatoes want water every second day.", "I live in Graz.", "The basil stands beside the tomatoes."} {
		ms = append(ms, memory.Candidate{Type: memory.Semantic, Text: text, Confidence: 1, Owner: memory.Owner{User: memory.WearerUser}, Expires: until})
	}
	ms[1].Slot = &memory.Slot{Subject: memory.WearerUser, Attribute: "home", Value: "Graz"}
	o, items := newOrder(t, filepath.Join(ben.cfg.Home, "reader"), ms)
	const question = "when do the tomatoes want water"
	hits := func(c *serve.Client) []serve.Hit {
		t.Helper()
		res, err := c.Search(ctx, serve.SearchRequest{Query: question})
		if err != nil {
			t.Fatal(err)
		}
		return res.Hits
	}
	silent := func(when string) {
		t.Helper()
		for _, h := range hits(c) {
			if h.SharedBy != nil {
				t.Errorf("%s: %q answers", when, h.Text)
			}
		}
		if list, err := c.GivenShares(ctx); err != nil || len(list) != 0 {
			t.Errorf("%s: %+v, %v", when, list, err)
		}
	}
	o.keep(nil)
	silent("not paid")
	o.Deliver()
	o.keep(nil)
	silent("delivered, and not fetched")
	o.keep(items)

	mark := serve.SharedBy{By: "seller " + o.State.Offer.Seller.String()[:8], Share: memory.SpaceID(o.State.ID[:16]), Order: o.State.ID.String(), Until: until}
	app, err := c.AddApp(ctx, serve.AppRequest{Name: "garden", Can: []serve.Right{serve.RightRead}, Types: []string{"semantic"}})
	if err != nil {
		t.Fatal(err)
	}
	blind, err := c.AddApp(ctx, serve.AppRequest{Name: "diary", Can: []serve.Right{serve.RightRead}, Types: []string{"episodic"}})
	if err != nil {
		t.Fatal(err)
	}
	for who, client := range map[string]*serve.Client{"the wearer": c, "an app": c.WithKey(app.Key)} {
		got := hits(client)
		if len(got) < 2 || !strings.Contains(got[0].Text, "every second day") || got[0].SharedBy == nil || *got[0].SharedBy != mark {
			t.Fatalf("%s is shown %+v", who, got)
		}
		around, err := client.Context(ctx, serve.ContextRequest{Topic: question})
		if err != nil || !strings.Contains(around.Text, "shared by "+mark.By) {
			t.Errorf("%s has in mind:\n%s\n%v", who, around.Text, err)
		}
		said, err := client.Ask(ctx, serve.AskRequest{Question: question})
		if err != nil || !said.Known || len(said.Evidence) == 0 || said.Evidence[0].SharedBy == nil || *said.Evidence[0].SharedBy != mark {
			t.Errorf("%s is answered %+v, %v", who, said, err)
		}
	}
	if got := hits(c.WithKey(blind.Key)); len(got) != 0 {
		t.Errorf("an app that sees nothing of the kind: %+v", got)
	}
	// The seller's home is not the wearer's, and nothing became the wearer's own.
	if res, err := c.Search(ctx, serve.SearchRequest{Query: "where do I live"}); err != nil || len(res.Hits) > 0 && res.Hits[0].SharedBy == nil && strings.Contains(res.Hits[0].Text, "Graz") {
		t.Errorf("where Ben lives: %+v, %v", res.Hits, err)
	}
	if page, err := c.List(ctx, serve.ListQuery{Limit: 100}); err != nil || len(page.Memories) != 1 {
		t.Errorf("Ben's own are %+v, %v", page.Memories, err)
	}
	list, err := c.GivenShares(ctx)
	if err != nil || len(list) != 1 || list[0].Order != mark.Order || list[0].Title != o.State.Offer.Title || len(list[0].Memories) != 3 || !list[0].Until.Equal(until) {
		t.Errorf("what is given: %+v, %v", list, err)
	}

	ben.skew = 49 * time.Hour
	silent("lapsed")
	ben.skew = 0
	deal := *o.Deal
	delivered := &order{&deal, t, o.file}
	o.Step(trade.Dispute, trade.Party{Key: o.State.Order.Buyer, Sign: buyerOf(t, ben.cfg.Home).Sign}, nil)
	o.keep(items)
	silent("disputed")
	delivered.Step(trade.Cancel, tradetest.Seller, func(s *trade.Step) { s.Reason = "I was wrong." })
	delivered.keep(items)
	silent("refunded")
	o.Step(trade.Decide, tradetest.Arbiter, func(s *trade.Step) { s.Reason = "It is as listed." })
	o.keep(items)
	if got := hits(c); len(got) < 2 {
		t.Errorf("the arbiter left the price with the seller: %+v", got)
	}
	if err := c.LeaveGiven(ctx, mark.Share); err != nil {
		t.Fatal(err)
	}
	silent("left")
	buyer := &market.Buyer{Dir: filepath.Join(ben.cfg.Home, "reader")}
	b, err := buyer.Find(mark.Order[:8])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := buyer.Open(b); err != nil {
		t.Errorf("what was left is still the buyer's: %v", err)
	}
	if err := buyer.ResumeSearching(b); err != nil || len(hits(c)) < 2 {
		t.Errorf("after ResumeSearching the bundle is not found: %v", err)
	}
	// A file that somebody changed is not used, and does not prevent others from being
	// used.
	text, err := os.ReadFile(o.file)
	if err == nil {
		text[len(text)-1] ^= 1
		err = os.WriteFile(o.file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := hits(c); len(got) != 1 {
		t.Errorf("a changed file: %+v", got)
	}
}

// A step that the order's phase does not allow is a conflict, and not a failure of the
// node.
func TestOrderStepInTheWrongPhase(t *testing.T) {
	ben := newDevice(t, "", 63)
	ben.init()
	o, _ := newOrder(t, filepath.Join(ben.cfg.Home, "reader"), []memory.Candidate{{Type: memory.Semantic, Text: "Basil likes sun.", Confidence: 1, Owner: memory.Owner{User: memory.WearerUser}}})
	o.Step(trade.Cancel, trade.Party{Key: o.State.Order.Buyer, Sign: buyerOf(t, ben.cfg.Home).Sign}, nil)
	o.keep(nil)
	at := httptest.NewServer(serve.New(serve.Options{Services: ben.Services()}))
	defer at.Close()
	for _, step := range []string{`{"act":"accept"}`, `{"act":"dispute","item":1,"reason":"it is wet"}`} { // the other steps ask the market first
		r, err := http.Post(at.URL+"/v1/market/orders/"+o.State.ID.String(), "application/json", strings.NewReader(step))
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != http.StatusConflict {
			t.Errorf("%s: %d %s, %v", step, r.StatusCode, b, err)
		}
	}
}

func buyerOf(t *testing.T, home string) *keyring.Device {
	d, err := keyring.ReaderKey(filepath.Join(home, "reader", "reader.key"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
