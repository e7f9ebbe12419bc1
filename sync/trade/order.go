package trade

import (
	"fmt"
)

// Order is a buyer's order of one version of a listing.
type Order struct {
	Version   uint     `cbor:"1,keyasint"`
	Market    Key      `cbor:"2,keyasint"`
	Listing   Hash     `cbor:"3,keyasint"` // hash of the version
	Price     uint64   `cbor:"4,keyasint"` // the price in that version
	Currency  string   `cbor:"5,keyasint"`
	Buyer     Key      `cbor:"6,keyasint"` // the buyer, who signs it
	Recipient string   `cbor:"7,keyasint"` // the bundle's key is sealed to it; used for this order only
	Nonce     [16]byte `cbor:"8,keyasint"` // from which the buyer can derive the identity again
	Created   int64    `cbor:"9,keyasint"`
	// Question is set if an answer is ordered; nil: the bundle is ordered.
	Question *Question `cbor:"10,keyasint,omitempty"`
}

// SignOrder returns the signed form, and the order's id.
func SignOrder(o Order, buyer Party) ([]byte, Hash, error) {
	o.Version, o.Buyer = Version, buyer.Key
	if err := o.check(); err != nil {
		return nil, Hash{}, err
	}
	return signBody(domainOrder, &o, buyer)
}

// ReadOrder parses an order, checks signature, form and limits, and returns the order's id.
func ReadOrder(b []byte) (o Order, id Hash, err error) {
	by, id, err := read(domainOrder, b, &o, MaxOrder)
	if err != nil {
		return o, id, fmt.Errorf("order: %w", err)
	}
	if by != o.Buyer {
		return o, id, fmt.Errorf("order: buyer: %w", ErrSignature)
	}
	return o, id, o.check()
}

func (o *Order) check() error {
	switch {
	case o.Version != Version:
		return fmt.Errorf("order: version: %w: %d", ErrForm, o.Version)
	case o.Market.IsZero(), o.Listing.IsZero(), o.Created <= 0:
		return fmt.Errorf("order: %w: market, listing and time are needed", ErrForm)
	case o.Price == 0 || o.Price > MaxPrice || !currency.MatchString(o.Currency):
		return fmt.Errorf("order: price: %w: %d %.10q", ErrForm, o.Price, o.Currency)
	}
	if err := Text(o.Recipient, 1, 2048, false); err != nil {
		return fmt.Errorf("order: recipient: %w", err)
	}
	return o.Question.check()
}

// fits reports whether the order is for this version, at its price and market.
func (o *Order) fits(l *Offer) error {
	if o.Listing != l.Hash || o.Price != l.Price || o.Currency != l.Currency {
		return fmt.Errorf("order of %d %s: %w, %d %s", o.Price, o.Currency, ErrPrice, l.Price, l.Currency)
	}
	if o.Market != l.Market {
		return fmt.Errorf("order: market: %w: it is for another market", ErrParty)
	}
	if o.Buyer == l.Seller {
		return fmt.Errorf("order: buyer: %w: nobody buys from themselves", ErrParty)
	}
	return o.asks(l)
}

// Act is what a step does.
type Act string

// The acts, and who may do each.
const (
	Fund    Act = "fund"    // market: the price is held
	Deliver Act = "deliver" // seller: the bundle's key, or the answer, sealed to the order's recipient
	Accept  Act = "accept"  // buyer: the seller is paid
	Dispute Act = "dispute" // buyer: the arbiter decides
	Decide  Act = "decide"  // arbiter: how much goes back to the buyer
	Cancel  Act = "cancel"  // buyer before it is funded, or seller at any time: the price goes back
	Expire  Act = "expire"  // market: a deadline has passed
)

// Step moves an order.
type Step struct {
	Version  uint   `cbor:"1,keyasint"`
	Order    Hash   `cbor:"2,keyasint"`
	Prev     Hash   `cbor:"3,keyasint"` // hash of the previous step; of the order in the first step
	Act      Act    `cbor:"4,keyasint"`
	At       int64  `cbor:"5,keyasint"` // by the clock of the party that made it; nothing depends on it
	Wrapped  []byte `cbor:"6,keyasint"` // deliver: the bundle's key, or the answer, sealed
	Evidence []byte `cbor:"7,keyasint"` // dispute: sealed to the arbiter
	Reason   string `cbor:"8,keyasint"` // dispute, decide, cancel: the reason in words, which the market can read
	Refund   uint64 `cbor:"9,keyasint"` // decide: minor units that go back to the buyer
}

// ParsedStep is a parsed step.
type ParsedStep struct {
	Step
	By   Key
	Hash Hash
}

// SignStep returns the signed form, and its hash.
func SignStep(s Step, by Party) ([]byte, Hash, error) {
	s.Version = Version
	if err := s.check(); err != nil {
		return nil, Hash{}, err
	}
	return signBody(domainStep, &s, by)
}

// ReadStep parses a step, and checks signature, form and limits. [State.Apply] checks whether the
// signer may make it.
func ReadStep(b []byte) (t ParsedStep, err error) {
	if t.By, t.Hash, err = read(domainStep, b, &t.Step, MaxStep); err != nil {
		return t, fmt.Errorf("step: %w", err)
	}
	return t, t.check()
}

func (s *Step) check() error {
	want := map[Act]struct{ wrapped, evidence, reason, refund bool }{
		Fund: {}, Deliver: {wrapped: true}, Accept: {}, Dispute: {evidence: true, reason: true}, Decide: {reason: true, refund: true}, Cancel: {reason: true}, Expire: {},
	}
	may, known := want[s.Act]
	switch {
	case s.Version != Version || !known:
		return fmt.Errorf("step: %w: version %d, act %.20q", ErrForm, s.Version, s.Act)
	case may.wrapped != (len(s.Wrapped) > 0) || len(s.Wrapped) > MaxReply:
		return fmt.Errorf("step %s: wrapped: %w: %d bytes", s.Act, ErrForm, len(s.Wrapped))
	case may.evidence != (len(s.Evidence) > 0) || len(s.Evidence) > MaxEvidence:
		return fmt.Errorf("step %s: evidence: %w: %d bytes, at most %d", s.Act, ErrForm, len(s.Evidence), MaxEvidence)
	case !may.reason && s.Reason != "", !may.refund && s.Refund != 0:
		return fmt.Errorf("step %s: %w: it has no reason and no refund", s.Act, ErrForm)
	}
	if err := Text(s.Reason, 0, 1000, true); err != nil {
		return fmt.Errorf("step %s: reason: %w", s.Act, err)
	}
	return nil
}

// Stamp says when the market took an order or a step.
type Stamp struct {
	Version uint  `cbor:"1,keyasint"`
	Of      Hash  `cbor:"2,keyasint"` // hash of an order or a step
	At      int64 `cbor:"3,keyasint"` // Unix seconds
}

// SignStamp returns the signed form.
func SignStamp(of Hash, at int64, market Party) ([]byte, error) {
	b, _, err := signBody(domainStamp, &Stamp{Version: Version, Of: of, At: at}, market)
	return b, err
}

func readStamp(b []byte, of Hash, market Key) (int64, error) {
	var s Stamp
	by, _, err := read(domainStamp, b, &s, MaxNote)
	switch {
	case err != nil:
		return 0, fmt.Errorf("stamp: %w", err)
	case by != market || s.Of != of || s.Version != Version:
		return 0, fmt.Errorf("stamp: %w: it is not the market's stamp of this", ErrSignature)
	}
	return s.At, nil
}

// Link is one stamped step, in the form in which it is sent.
type Link struct {
	_     struct{} `cbor:",toarray"`
	Step  []byte
	Stamp []byte
}

// Chain is everything about an order, in the form in which it is sent.
type Chain struct {
	_       struct{} `cbor:",toarray"`
	Listing []byte
	Order   []byte
	Stamp   []byte // stamp of the order
	Links   []Link
}

// MaxChain is the greatest length of an encoded chain, in bytes. Only one step of an order has
// evidence, and only one has the answer.
const MaxChain = MaxListing + MaxOrder + MaxStep + MaxReply + MaxLinks*MaxNote*2

// Replay checks each signature, and that each step may follow, and returns the order's state. It
// needs only the chain, and trusts nobody.
func (c *Chain) Replay() (*State, error) {
	l, err := ReadListing(c.Listing)
	if err != nil {
		return nil, err
	}
	o, id, err := ReadOrder(c.Order)
	if err != nil {
		return nil, err
	}
	at, err := readStamp(c.Stamp, id, l.Market)
	if err != nil {
		return nil, err
	}
	s, err := Begin(l, o, id, at)
	if err != nil {
		return nil, err
	}
	for i, link := range c.Links {
		t, err := ReadStep(link.Step)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		at, err := readStamp(link.Stamp, t.Hash, l.Market)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
		if s, err = s.Apply(&t, at); err != nil {
			return nil, fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return s, nil
}
