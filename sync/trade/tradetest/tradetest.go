// Package tradetest makes parties, bundles and listings for tests.
package tradetest

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/trade/bundle"
)

// Party returns a party by a number.
func Party(n byte) trade.Party { return trade.PartyOf(PartyKey(n)) }

// PartyKey returns the key of a party.
func PartyKey(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

// MarketKey is the key of Market.
var MarketKey = PartyKey(1)

// The parties of tests.
var Market, Seller, Buyer, Arbiter = Party(1), Party(2), Party(3), Party(4)

// Sentences are the texts of the bundle.
var Sentences = []string{"Tomatoes want water at the root before nine.", "The greenhouse door sticks when it rains.", "Basil grows well beside the tomatoes.", "番茄要在早上浇水。"}

// Key returns the bundle's key.
func Key(tb testing.TB) *seal.Key {
	k, err := seal.KeyFromBytes(bytes.Repeat([]byte{7}, seal.KeySize))
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

// Bundle returns the sealed items, and their content.
func Bundle(tb testing.TB) ([][]byte, []memory.Candidate) {
	var ms []memory.Candidate
	for _, s := range Sentences {
		ms = append(ms, memory.Candidate{Type: memory.Semantic, Text: s, Confidence: 1, Owner: memory.Owner{User: "shared"}})
	}
	items, err := bundle.Seal(Key(tb), ms)
	if err != nil {
		tb.Fatal(err)
	}
	return items, ms
}

// Listing returns a listing of the bundle, modified by change, which may be nil.
func Listing(tb testing.TB, items [][]byte, change func(*trade.Listing)) *trade.Offer {
	root, size, err := trade.Root(items)
	if err != nil {
		tb.Fatal(err)
	}
	l := trade.Listing{Number: 1, Market: Market.Key, Arbiter: Arbiter.Key, Title: "Notes of a garden", Description: "What grew, and how.",
		Categories: []string{"garden"}, Languages: []string{"en"}, Items: uint32(len(items)), Counts: map[string]uint32{"semantic": uint32(len(items))},
		Sample: []string{"Beans want poles."}, Licence: "personal use", Price: 500, Currency: "EUR", Redaction: []string{"names"}, Root: root, Size: size,
		Commitment: bundle.Commitment(Key(tb)), Deliver: 7 * 24 * 3600, Accept: 3 * 24 * 3600, Created: 1_800_000_000}
	if change != nil {
		change(&l)
	}
	o, err := trade.SignListing(l, Seller)
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

// Answers makes a listing sell answers from the bundle: up to half of it to each buyer, and up to
// three quarters to all.
func Answers(tb testing.TB) func(*trade.Listing) {
	return func(l *trade.Listing) {
		id := bundle.Asker(Key(tb))
		defer id.Zero()
		l.Answers = &trade.Answers{To: id.Recipient().String(), Each: l.Items / 2, All: l.Items * 3 / 4}
	}
}

// Order returns an order of a listing by Buyer, with the given identity.
func Order(tb testing.TB, l *trade.Offer, id *seal.Identity) ([]byte, trade.Order, trade.Hash) {
	b, _, err := trade.SignOrder(trade.Order{Market: l.Market, Listing: l.Hash, Price: l.Price, Currency: l.Currency, Recipient: id.Recipient().String(),
		Created: 1_800_000_000}, Buyer)
	if err != nil {
		tb.Fatal(err)
	}
	o, hash, err := trade.ReadOrder(b)
	if err != nil {
		tb.Fatal(err)
	}
	return b, o, hash
}

// Step signs and reads a step that follows a state.
func Step(tb testing.TB, s *trade.State, act trade.Act, by trade.Party, change func(*trade.Step)) ([]byte, trade.ParsedStep) {
	st := trade.Step{Order: s.ID, Prev: s.Last, Act: act, At: 1}
	switch act {
	case trade.Deliver:
		st.Wrapped = []byte("wrapped")
	case trade.Dispute:
		st.Evidence, st.Reason = []byte("sealed"), "it is empty"
	}
	if change != nil {
		change(&st)
	}
	b, _, err := trade.SignStep(st, by)
	if err != nil {
		tb.Fatal(err)
	}
	t, err := trade.ReadStep(b)
	if err != nil {
		tb.Fatal(err)
	}
	return b, t
}

// Deal is an order whose steps a test makes. The market stamps each a second after the previous
// one.
type Deal struct {
	tb     testing.TB
	market trade.Party
	Chain  trade.Chain
	State  *trade.State
}

// NewDeal returns an order of a listing that Market took at the given time, in Unix seconds.
func NewDeal(tb testing.TB, l *trade.Offer, buyer trade.Party, nonce [16]byte, recipient string, at int64) *Deal {
	tb.Helper()
	return NewDealAt(tb, l, Market, buyer, nonce, recipient, at)
}

// NewDealAt returns an order at another market.
func NewDealAt(tb testing.TB, l *trade.Offer, market, buyer trade.Party, nonce [16]byte, recipient string, at int64) *Deal {
	tb.Helper()
	b, id, err := trade.SignOrder(trade.Order{Market: l.Market, Listing: l.Hash, Price: l.Price, Currency: l.Currency, Nonce: nonce, Recipient: recipient,
		Created: 1_800_000_000}, buyer)
	d := &Deal{tb: tb, market: market, Chain: trade.Chain{Listing: l.Signed, Order: b}}
	if err == nil {
		d.Chain.Stamp, err = trade.SignStamp(id, at, market)
	}
	if err == nil {
		d.State, err = d.Chain.Replay()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// Until returns a copy of the deal after its first steps, which continues independently.
func (d *Deal) Until(steps int) *Deal {
	d.tb.Helper()
	n := *d
	n.Chain.Links = d.Chain.Links[:steps:steps]
	var err error
	if n.State, err = n.Chain.Replay(); err != nil {
		d.tb.Fatal(err)
	}
	return &n
}

// Step makes a party make a step, which change may modify.
func (d *Deal) Step(act trade.Act, by trade.Party, change func(*trade.Step)) {
	d.tb.Helper()
	b, taken := Step(d.tb, d.State, act, by, change)
	s, err := d.State.Apply(&taken, d.State.At+1)
	if err != nil {
		d.tb.Fatal(err)
	}
	stamp, err := trade.SignStamp(taken.Hash, s.At, d.market)
	if err != nil {
		d.tb.Fatal(err)
	}
	d.State, d.Chain.Links = s, append(d.Chain.Links[:len(d.Chain.Links):len(d.Chain.Links)], trade.Link{Step: b, Stamp: stamp})
}

// Deliver makes the market fund the order, and Seller deliver Key.
func (d *Deal) Deliver() {
	d.tb.Helper()
	d.Step(trade.Fund, Market, nil)
	wrapped, err := bundle.Wrap(Key(d.tb), d.State.Order.Recipient, d.State.ID)
	if err != nil {
		d.tb.Fatal(err)
	}
	d.Step(trade.Deliver, Seller, func(s *trade.Step) { s.Wrapped = wrapped })
}
