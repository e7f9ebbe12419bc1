package trade

import (
	"fmt"
	"slices"
)

// Move is a party's signed request that a market takes over a listing or an order from another
// market. A listing is moved by its seller, and an order by its buyer or its seller. The old market
// is not involved.
type Move struct {
	Version uint  `cbor:"1,keyasint"`
	Market  Key   `cbor:"2,keyasint"` // the market that takes it over
	From    Key   `cbor:"3,keyasint"` // the market where it was
	Listing Hash  `cbor:"4,keyasint"` // id of the listing there
	Offer   Hash  `cbor:"5,keyasint"` // of a listing: the id of the same bundle's listing at Market; of an order: zero
	Order   Hash  `cbor:"6,keyasint"` // of an order: its id; of a listing: zero
	Last    Hash  `cbor:"7,keyasint"` // of an order: its last step
	At      int64 `cbor:"8,keyasint"` // by the clock of the party that made it; nothing depends on it
}

// Moving is a move with the listing or order that it moves, in the form in which it is sent.
type Moving struct {
	_       struct{} `cbor:",toarray"`
	Move    []byte   // signed
	Listing []byte   // of a listing: its newest version at From
	Order   []byte   // of an order: its [Chain], encoded
	Review  []byte   // of an order: its buyer's review; empty: none
}

// MaxMoving is the greatest length of an encoded [Moving], in bytes.
const MaxMoving = MaxChain + 2*MaxNote

// ParsedMoving is a parsed [Moving], with all checks that need nothing else.
type ParsedMoving struct {
	Move
	By     Key
	Offer  *Offer  // as it was listed at From
	State  *State  // of an order; nil: a listing was moved
	Review *Review // nil: none
	Sent   Moving
}

// SignMove returns the signed form.
func SignMove(m Move, by Party) ([]byte, error) {
	m.Version = Version
	if err := m.check(); err != nil {
		return nil, err
	}
	b, _, err := signBody(domainMove, &m, by)
	return b, err
}

func (m *Move) check() error {
	switch {
	case m.Version != Version || m.Market.IsZero() || m.From.IsZero() || m.Listing.IsZero() || m.At <= 0:
		return fmt.Errorf("move: %w: version, markets, listing and time are needed", ErrForm)
	case m.Market == m.From:
		return fmt.Errorf("move: %w: it is at this market already", ErrForm)
	case m.Offer.IsZero() == m.Order.IsZero() || m.Order.IsZero() != m.Last.IsZero():
		return fmt.Errorf("move: %w: it is of a listing or of an order", ErrForm)
	}
	return nil
}

// ReadMove parses and checks a signed move.
func ReadMove(b []byte) (m Move, by Key, err error) {
	if by, _, err = read(domainMove, b, &m, MaxNote); err != nil {
		return m, by, fmt.Errorf("move: %w", err)
	}
	return m, by, m.check()
}

// ReadMoving parses a move and checks all signatures, that the mover is a party, that the objects
// are those that the move names, and that an order was at least paid.
func ReadMoving(in Moving) (m *ParsedMoving, err error) {
	m = &ParsedMoving{Sent: in}
	if m.Move, m.By, err = ReadMove(in.Move); err != nil {
		return nil, err
	}
	if m.Order.IsZero() {
		if m.Offer, err = ReadListing(in.Listing); err != nil {
			return nil, fmt.Errorf("move: %w", err)
		}
		if len(in.Order) > 0 || len(in.Review) > 0 {
			return nil, fmt.Errorf("move: %w: a listing has to be moved without its orders", ErrForm)
		}
		return m, m.of(m.Offer.Seller)
	}
	var c Chain
	if err := Decode(in.Order, &c, MaxChain); err != nil {
		return nil, fmt.Errorf("move: order: %w", err)
	}
	if m.State, err = c.Replay(); err != nil {
		return nil, fmt.Errorf("move: %w", err)
	}
	m.Offer = m.State.Offer
	switch {
	case len(in.Listing) > 0:
		return nil, fmt.Errorf("move: %w: an order brings its own listing", ErrForm)
	case m.State.ID != m.Order || m.State.Last != m.Last:
		return nil, fmt.Errorf("move: %w: the order is a different one, or has moved on", ErrChain)
	case !m.State.Phase.Paid():
		return nil, fmt.Errorf("move: %w: the order was never paid", ErrPhase)
	}
	if len(in.Review) > 0 {
		r, by, _, err := ReadReview(in.Review)
		if err == nil {
			err = m.State.CheckReview(&r, by)
		}
		if err != nil {
			return nil, fmt.Errorf("move: %w", err)
		}
		m.Review = &r
	}
	return m, m.of(m.Offer.Seller, m.State.Order.Buyer)
}

// of checks that the objects are those that the move names, and that one of its parties made the
// move.
func (m *ParsedMoving) of(parties ...Key) error {
	if m.Offer.ID() != m.Listing || m.Offer.Market != m.From {
		return fmt.Errorf("move: %w: the listing is a different one, or of another market", ErrChain)
	}
	if !slices.Contains(parties, m.By) {
		return fmt.Errorf("move: %w", ErrParty)
	}
	return nil
}

// Same reports whether a listing sells the same of the same bundle by the same seller, under the
// same key: reviews of copies say nothing about answers.
func (l *Listing) Same(o *Listing) bool {
	return l.Seller == o.Seller && l.Root == o.Root && l.Commitment == o.Commitment && l.Items == o.Items && l.Size == o.Size &&
		(l.Answers == nil) == (o.Answers == nil) && l.Entry == o.Entry && l.Period == o.Period
}

// Extends reports whether a chain equals another one or continues it with more steps. Both have
// been replayed. What is signed counts, and not the signature: a party can sign the same step again
// with other bytes.
func (c *Chain) Extends(was *Chain) bool {
	if len(c.Links) < len(was.Links) || !sameBody(c.Order, was.Order) || !sameBody(c.Stamp, was.Stamp) {
		return false
	}
	for i := range was.Links {
		if !sameBody(c.Links[i].Step, was.Links[i].Step) || !sameBody(c.Links[i].Stamp, was.Links[i].Stamp) {
			return false
		}
	}
	return true
}

// sameBody reports whether one key has signed the same in both.
func sameBody(a, b []byte) bool {
	var x, y signed
	return string(a) == string(b) || Decode(a, &x, MaxStep) == nil && Decode(b, &y, MaxStep) == nil && x.By == y.By && string(x.Body) == string(y.Body)
}

// Origin is an earlier listing at another market, as a market shows it. Sold, Reviews and Stars
// count orders that ended there; each has a receipt that the other market signed.
type Origin struct {
	Move    []byte   `cbor:"1,keyasint"` // signed by the seller
	Sold    uint32   `cbor:"2,keyasint"`
	Reviews uint32   `cbor:"3,keyasint"`
	Stars   uint32   `cbor:"4,keyasint"`           // the sum of all
	Said    [][]byte `cbor:"5,keyasint"`           // signed reviews, the newest first
	Proofs  []Proof  `cbor:"6,keyasint,omitempty"` // proofs of Said, in its order
	Ordered [][]byte `cbor:"7,keyasint,omitempty"` // signed: the versions that the orders of Proofs name
}

// MaxMovedOrders is how many orders of one listing may move with it.
const MaxMovedOrders = 1000
