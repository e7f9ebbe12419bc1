package api_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay/voucher"
	"github.com/locket-dev/locket/cloud/market/pay/x402"
	"github.com/locket-dev/locket/cloud/market/pay/x402/x402test"
	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/cloud/market/tabletest"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
)

// paid is a market that takes payments by x402, with a listing of 5.00 EUR, an agent's wallet and
// the facilitator.
type paid struct {
	*service
	db                      *tables.DB
	side                    *x402test.Side
	agent                   *x402test.Wallet
	listing                 *trade.Offer
	seller, buyer, stranger *remote.Market
	later                   atomic.Int64 // how far the market's clock is ahead; nanoseconds
}

func newPaid(t *testing.T) *paid { return newPaidThrough(t, nil) }

// newPaidThrough is newPaid with something between the market and the facilitator, behind a proxy
// that says from which address an agent comes.
func newPaidThrough(t *testing.T, between func(facilitator string) string) *paid {
	p := &paid{db: tabletest.SQLite(t), side: x402test.New(t), agent: x402test.NewWallet("agent")}
	arbiter, err := envelope.SignRequest(envelope.Request{Key: tradetest.Arbiter.Key[:], Recipient: seal.NewIdentity().Recipient().String()}, tradetest.Arbiter.Sign)
	if err != nil {
		t.Fatal(err)
	}
	vouchers, err := voucher.New(p.db, bytes.Repeat([]byte{5}, 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	facilitator, change := p.side.URL, func(*api.Config) {}
	if between != nil {
		facilitator, change = between(facilitator), proxied
	}
	agents, err := x402.New(p.db, x402.Config{Facilitator: facilitator, PayTo: x402test.PayTo, Network: x402test.Network, Asset: x402test.Asset, AssetName: x402test.Token,
		AssetVer: x402test.Version, Decimals: 6, Currency: "EUR", Base: "https://market.example", Secret: bytes.Repeat([]byte{6}, 32)})
	if err != nil {
		t.Fatal(err)
	}
	m, err := market.New(market.Config{DB: p.db, Key: tradetest.MarketKey, Arbiter: arbiter, Vouchers: vouchers, X402: agents,
		Now: func() time.Time { return time.Now().Add(time.Duration(p.later.Load())) }})
	if err != nil {
		t.Fatal(err)
	}
	p.service = serve(t, relay.Config{}, func(c *api.Config) { c.Market = m; change(c) })
	p.seller, p.buyer, p.stranger = p.trader(2), p.trader(3), p.trader(9)
	items, _ := tradetest.Bundle(t)
	p.listing = tradetest.Listing(t, items, nil)
	p.ok(p.seller.Publish(t.Context(), p.listing, items))
	p.side.Fund(p.agent.Address, 100_000_000)
	return p
}

// order makes an order, and returns it with the address at which an agent pays it.
func (p *paid) order() (trade.Hash, *trade.State, string) {
	p.t.Helper()
	signed, _, id := tradetest.Order(p.t, p.listing, seal.NewIdentity())
	_, st, err := p.buyer.Order(p.t.Context(), signed)
	p.ok(err)
	page, err := p.buyer.Checkout(p.t.Context(), id, "x402")
	p.ok(err)
	return id, st, strings.Replace(page.URL, "https://market.example", "http://"+p.addr, 1)
}

// send requests an address, and returns the answer with its body.
func (p *paid) send(method, url string, h http.Header) (*http.Response, []byte, error) {
	r, err := http.NewRequestWithContext(p.t.Context(), method, url, nil)
	if err != nil {
		return nil, nil, err
	}
	if h != nil {
		r.Header = h.Clone()
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	return a, body, err
}

func (p *paid) ask(url string, h http.Header, want int) (http.Header, market.AgentAnswer) {
	p.t.Helper()
	a, body, err := p.send(http.MethodGet, url, h)
	p.ok(err)
	if a.StatusCode != want {
		p.t.Fatalf("%s is answered %s, want %d: %s", url, a.Status, want, body)
	}
	var said market.AgentAnswer
	p.ok(json.Unmarshal(body, &said))
	return a.Header, said
}

// stands checks an order's phase, the buyer's balance at the market in minor units, what the
// network moved in units of the token, and that the ledger's sums are zero.
func (p *paid) stands(id trade.Hash, phase trade.Phase, has, moved int64) {
	p.t.Helper()
	_, st, err := p.buyer.Get(p.t.Context(), id)
	p.ok(err)
	var have int64
	list, err := p.buyer.Balance(p.t.Context())
	p.ok(err)
	for _, b := range list {
		have += b.Spend
	}
	if st.Phase != phase || have != has || p.side.BalanceOf(x402test.PayTo) != moved {
		p.t.Fatalf("the order is %s, want %s; the buyer has %d, want %d; %d were moved, want %d", st.Phase, phase, have, has, p.side.BalanceOf(x402test.PayTo), moved)
	}
	p.ok(p.db.Read(p.t.Context(), func(tx *sql.Tx) error { return ledger.New(p.db.Dialect, nil).Check(p.t.Context(), tx) }))
}

// An agent requests an order's address, is told the price, pays, and the order is funded once,
// however often the agent asks.
func TestX402PaysAnOrder(t *testing.T) {
	p := newPaid(t)
	terms, err := p.buyer.Terms(t.Context())
	p.ok(err)
	if strings.Join(terms.Pays, " ") != "voucher x402" {
		t.Fatalf("ways to pay: %v", terms.Pays)
	}
	id, _, url := p.order()
	head, said := p.ask(url, nil, 402)
	if said.Payment != "required" {
		t.Errorf("%+v", said)
	}
	if h, _ := p.ask(url, x402test.NewWallet("poor").Pay(t, head, nil), 402); x402test.Read(t, h).Error != "invalid_exact_evm_insufficient_balance" {
		t.Errorf("refused: %+v", x402test.Read(t, h))
	}
	p.stands(id, trade.Ordered, 0, 0)
	payment := p.agent.Pay(t, head, nil)
	first, _ := p.ask(url, payment, 200)
	for range 2 {
		if h, _ := p.ask(url, payment, 200); h.Get(x402.FieldResponse) == "" || h.Get(x402.FieldResponse) != first.Get(x402.FieldResponse) {
			t.Errorf("the same payment again gets another answer: %q", h.Get(x402.FieldResponse))
		}
	}
	p.ask(url, p.agent.Pay(t, head, nil), 200) // the payment is not taken
	p.stands(id, trade.Funded, 0, 5_000_000)
	_, st, err := p.buyer.Get(t.Context(), id)
	p.ok(err)
	step, _ := tradetest.Step(t, st, trade.Cancel, tradetest.Seller, func(s *trade.Step) { s.Reason = "It is somebody's secret." })
	_, _, err = p.seller.Step(t.Context(), id, step)
	p.ok(err)
	p.stands(id, trade.Refunded, 500, 5_000_000)
	if _, said := p.ask(url, nil, 200); said.Phase != trade.Funded || said.Payment != "settled" || said.Reason != "" { // what happened afterwards only concerns its parties
		t.Errorf("whoever has the address is told %+v", said)
	}

	// While the facilitator is away, nothing is sent.
	id, _, url = p.order()
	head, _ = p.ask(url, nil, 402)
	p.side.Set(func(x *x402test.Side) { x.ChangeAnswer = func(_ string, a map[string]any) { clear(a) } })
	p.ask(url, p.agent.Pay(t, head, nil), 503)
	p.stands(id, trade.Ordered, 500, 5_000_000)
	p.side.Set(func(x *x402test.Side) { x.ChangeAnswer, x.Pending = nil, 1 })
	if _, said := p.ask(url, p.agent.Pay(t, head, nil), 202); said.Payment != "pending" {
		t.Errorf("%+v", said)
	}
	p.ask(url, nil, 202) // so that no agent signs again
	p.ask(url, p.agent.Pay(t, head, nil), 202)
	p.stands(id, trade.Ordered, 500, 10_000_000)
}

// Money that came too late for its order belongs to the buyer, who has it paid out to an address.
// The operator does that by hand, and names the transaction.
func TestX402PaysOutByHand(t *testing.T) {
	p := newPaid(t)
	id, st, url := p.order()
	head, _ := p.ask(url, nil, 402)
	p.side.Set(func(x *x402test.Side) { x.BeforeSettle = func() { p.cancel(id, st) } })
	p.ask(url, p.agent.Pay(t, head, nil), 409)
	p.side.Set(func(x *x402test.Side) { x.BeforeSettle = nil })
	p.ask(url, p.agent.Pay(t, head, nil), 409) // the payment is not taken
	p.stands(id, trade.Expired, 500, 5_000_000)

	ctx, operator := t.Context(), p.trader(1)
	_, err := p.buyer.Open(ctx)
	p.is(err, remote.ErrForbidden)
	p.is(p.buyer.CloseOpen(ctx, trade.Closed{}), remote.ErrForbidden)
	out := trade.Payout{Key: trade.Hash{1}, Minor: 200, Currency: "EUR", Spend: true, To: "0x1"}
	_, err = p.buyer.Payout(ctx, out)
	p.is(err, remote.ErrRefused)
	out.To = p.agent.Address
	p.tables(`CREATE TRIGGER broken BEFORE INSERT ON x402_payouts BEGIN SELECT RAISE(ABORT, 'broken'); END`)
	if _, err = p.buyer.Payout(ctx, out); err == nil {
		t.Error("it is paid out, and nobody knows to whom")
	}
	p.stands(id, trade.Expired, 500, 5_000_000) // it has not left the ledger
	p.tables(`DROP TRIGGER broken`)
	for range 2 {
		_, err = p.buyer.Payout(ctx, out)
		p.ok(err)
	}
	_, err = p.buyer.Payout(ctx, trade.Payout{Key: trade.Hash{9}, Minor: 99, Currency: "EUR", Spend: true, To: p.agent.Address})
	p.is(err, remote.ErrRefused) // only the operator may do this
	out.To = x402test.PayTo      // the same key with another recipient
	_, err = p.buyer.Payout(ctx, out)
	p.is(err, remote.ErrTrade)
	_, err = p.buyer.Payout(ctx, trade.Payout{Key: trade.Hash{2}, Minor: 301, Currency: "EUR", Spend: true, To: p.agent.Address})
	p.is(err, remote.ErrTrade)
	p.stands(id, trade.Expired, 300, 5_000_000)
	all, err := operator.Open(ctx)
	p.ok(err)
	if len(all) != 1 || !all[0].Payout || all[0].Address != p.agent.Address || all[0].Amount != "2000000" || all[0].By != tradetest.Party(3).Key.String() || all[0].Network != x402test.Network || all[0].Asset != x402test.Asset {
		t.Fatalf("what waits: %+v", all)
	}
	closed := trade.Closed{ID: all[0].ID, Transaction: "0x" + strings.Repeat("cd", 32)}
	for wrong, want := range map[trade.Closed]error{
		{ID: closed.ID}:                      remote.ErrNotFound, // a payout is either paid or waits
		{ID: closed.ID, Transaction: "0xcd"}: remote.ErrRefused,
		{ID: trade.Hash{1}}:                  remote.ErrNotFound,
		{Transaction: closed.Transaction}:    remote.ErrNotFound,
	} {
		p.is(operator.CloseOpen(ctx, wrong), want)
	}
	for range 2 {
		p.ok(operator.CloseOpen(ctx, closed))
	}
	closed.Transaction = "0x" + strings.Repeat("ef", 32)
	p.is(operator.CloseOpen(ctx, closed), remote.ErrNotFound)
	if all, err = operator.Open(ctx); err != nil || len(all) != 0 {
		t.Errorf("what waits: %+v, %v", all, err)
	}
}

// tables runs a query on the market's database.
func (p *paid) tables(query string) {
	p.t.Helper()
	p.ok(p.db.Change(p.t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(p.t.Context(), query)
		return err
	}))
}

// A corrupt order does not keep anybody from money that was taken for it.
func TestX402MoneyOfABrokenOrder(t *testing.T) {
	p := newPaid(t)
	_, _, url := p.order()
	head, _ := p.ask(url, nil, 402)
	p.side.Set(func(x *x402test.Side) { x.BeforeSettle = func() { p.tables(`UPDATE orders SET signed = x'00'`) } })
	_, _, err := p.send(http.MethodGet, url, p.agent.Pay(t, head, nil))
	p.ok(err)
	list, err := p.buyer.Balance(t.Context())
	p.ok(err)
	if len(list) != 1 || list[0].Spend != 500 || p.side.BalanceOf(x402test.PayTo) != 5_000_000 {
		t.Errorf("the buyer has %+v after %d were moved", list, p.side.BalanceOf(x402test.PayTo))
	}
}

// The facilitator fails a payer while another payment of the order is on its way: the answer says
// so, so that nobody signs again. Caches keep no answer, not even errors.
func TestX402AnswerTellsOfAPendingPayment(t *testing.T) {
	p := newPaid(t)
	id, _, url := p.order()
	head, _ := p.ask(url, nil, 402)
	p.side.Set(func(x *x402test.Side) {
		x.ChangeAnswer = func(_ string, a map[string]any) {
			clear(a)
			p.tables(`INSERT INTO x402_payments (id, of, buyer, minor, currency, payer, request, valid_before, state, at)
				VALUES ('another', '` + id.String() + `', 'ada', 500, 'EUR', '0x', '{}', 9999999999, 'sent', 1)`)
		}
	})
	if h, said := p.ask(url, p.agent.Pay(t, head, nil), 202); said.Payment != "pending" || h.Get(x402.FieldResponse) == "" {
		t.Errorf("%+v", said)
	}
	for _, where := range []string{url, url + "0", strings.Replace(url, id.String(), "1", 1)} {
		a, _, err := p.send(http.MethodGet, where, nil)
		p.ok(err)
		if a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s can be kept: %q", a.Status, a.Header.Get("Cache-Control"))
		}
	}
}

func (p *paid) cancel(id trade.Hash, st *trade.State) {
	b, _ := tradetest.Step(p.t, st, trade.Cancel, tradetest.Buyer, func(x *trade.Step) { x.Reason = "no" })
	if _, _, err := p.buyer.Step(p.t.Context(), id, b); err != nil {
		p.t.Error(err)
	}
}
