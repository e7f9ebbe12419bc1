package market_test

import (
	"bytes"
	"database/sql"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/market"
	"github.com/locket-dev/locket/cloud/market/ledger"
	"github.com/locket-dev/locket/cloud/market/pay/voucher"
	"github.com/locket-dev/locket/cloud/market/tables"
	log "github.com/locket-dev/locket/cloud/market/translog"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/tradetest"
	"github.com/locket-dev/locket/sync/translog"
)

// house is a market with a settable clock.
type house struct {
	*testing.T
	*market.Market
	db  *tables.DB
	now time.Time
	log *log.Log
}

// each runs f with a market in each kind of database.
func each(t *testing.T, f func(*house)) {
	databases.Each(t, func(t *testing.T, db *tables.DB) { on(t, db, f) })
}

// on runs f with a market in a database.
func on(t *testing.T, db *tables.DB, f func(*house)) {
	h := &house{T: t, db: db, now: time.Unix(1_800_000_000, 0)}
	now := func() time.Time { return h.now }
	vouchers, err := voucher.New(db, bytes.Repeat([]byte{5}, 32), now)
	h.ok(err)
	text, err := envelope.SignRequest(envelope.Request{Key: tradetest.Arbiter.Key[:], Recipient: seal.NewIdentity().Recipient().String()}, tradetest.Arbiter.Sign)
	h.ok(err)
	signer, err := translog.LogSigner("market.test", tradetest.MarketKey)
	h.ok(err)
	h.log, err = log.New(db, signer)
	h.ok(err)
	h.Market, err = market.New(market.Config{DB: db, Key: tradetest.MarketKey, Arbiter: text, Fee: 1000, Vouchers: vouchers, Log: h.log, Listings: 3, Bytes: 6 << 20, Now: now})
	h.ok(err)
	f(h)
	h.books()
}

func (h *house) ok(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

func (h *house) is(err, want error) {
	h.Helper()
	if !errors.Is(err, want) {
		h.Fatalf("got %v, want %v", err, want)
	}
}

// books checks that the ledger adds up.
func (h *house) books() {
	h.Helper()
	h.ok(h.db.Read(h.Context(), func(tx *sql.Tx) error { return ledger.New(h.db.Dialect, nil).Check(h.Context(), tx) }))
}

// list publishes the tests' bundle.
func (h *house) list(change func(*trade.Listing)) (*trade.Offer, [][]byte) {
	h.Helper()
	items, _ := tradetest.Bundle(h)
	l := tradetest.Listing(h, items, change)
	_, err := h.Publish(h.Context(), &trade.Publication{Listing: l.Signed, Items: items}, tradetest.Seller.Key)
	h.ok(err)
	return l, items
}

func (h *house) voucher(n string) string {
	h.Helper()
	codes, err := h.Issue(h.Context(), n, 1, ledger.Money{Minor: 700, Currency: "EUR"}, h.now.Add(240*time.Hour))
	h.ok(err)
	return codes[0]
}

// funded orders a listing and pays.
func (h *house) funded(l *trade.Offer, code string) (*trade.State, *seal.Identity) {
	h.Helper()
	id := seal.NewIdentity()
	signed, _, hash := tradetest.Order(h, l, id)
	for range 2 { // the second changes nothing
		_, err := h.Order(h.Context(), signed, tradetest.Buyer.Key)
		h.ok(err)
	}
	c, err := h.Pay(h.Context(), hash, trade.Payment{Voucher: code}, tradetest.Buyer.Key)
	h.ok(err)
	s, err := c.Replay()
	h.ok(err)
	if s.Phase != trade.Funded {
		h.Fatalf("it is %s", s.Phase)
	}
	return s, id
}

// step makes a party's step, twice: the second time changes nothing.
func (h *house) step(s *trade.State, act trade.Act, by trade.Party, change func(*trade.Step)) *trade.State {
	h.Helper()
	b, _ := tradetest.Step(h, s, act, by, change)
	var c trade.Chain
	var err error
	for range 2 {
		c, err = h.Step(h.Context(), s.ID, b, by.Key)
		h.ok(err)
	}
	n, err := c.Replay()
	h.ok(err)
	if n.Steps != s.Steps+1 {
		h.Fatalf("%d steps after %d", n.Steps, s.Steps)
	}
	return n
}

func (h *house) has(spend, earned int64) {
	h.Helper()
	b, err := h.Balance(h.Context(), tradetest.Buyer.Key)
	h.ok(err)
	e, err := h.Balance(h.Context(), tradetest.Seller.Key)
	h.ok(err)
	if spend > 0 && (len(b) != 1 || b[0].Spend != spend) || earned > 0 && (len(e) != 1 || e[0].Earned != earned) || earned == 0 && len(e) > 0 && e[0].Earned > 0 {
		h.Fatalf("buyer %+v, seller %+v, want %d and %d", b, e, spend, earned)
	}
}

func (h *house) wrote(kinds ...translog.Kind) {
	h.Helper()
	_, err := h.log.Publish(h.Context())
	h.ok(err)
	raw, err := h.log.Entries(h.Context(), 0, 10)
	h.ok(err)
	var got []translog.Kind
	for _, b := range raw {
		e, err := translog.DecodeEntry(b)
		h.ok(err)
		got = append(got, e.Kind)
	}
	if !slices.Equal(got, kinds) {
		h.Fatalf("the log has %v, want %v", got, kinds)
	}
}

// two returns a voucher, after another was added to the buyer's account.
func (h *house) two() string {
	h.Helper()
	h.ok(h.db.Change(h.Context(), func(tx *sql.Tx) error {
		return ledger.New(h.db.Dialect, nil).Deposit(h.Context(), tx, "x", "voucher", ledger.Buyer(tradetest.Buyer.Key.String()), ledger.Money{Minor: 300, Currency: "EUR"})
	}))
	return h.voucher("b")
}
