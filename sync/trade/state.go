package trade

import "fmt"

// Phase is the phase of an order.
type Phase string

// The phases. The last four are final.
const (
	Ordered   Phase = "ordered"
	Funded    Phase = "funded"
	Delivered Phase = "delivered"
	Disputed  Phase = "disputed"
	Accepted  Phase = "accepted" // the seller has the whole price
	Settled   Phase = "settled"  // the arbiter divided the price
	Refunded  Phase = "refunded" // the buyer has the whole price back
	Expired   Phase = "expired"  // nothing was ever paid
)

// Ended reports whether no phase follows.
func (p Phase) Ended() bool {
	return p == Accepted || p == Settled || p == Refunded || p == Expired
}

// Paid reports whether the order's price was held at some time. It may have gone back
// since.
func (p Phase) Paid() bool { return p != Ordered && p != Expired }

// Times that no listing sets, in seconds.
const (
	FundWithin   = 24 * 60 * 60
	DecideWithin = 14 * 24 * 60 * 60
	KeepUnpaid   = 30 * 24 * 60 * 60 // how long a market keeps an order that was never paid, after its last step
)

// State is what follows from a chain. Amounts are minor units of the order's
// currency. After it was funded, Held, Paid and Back add up to the price.
type State struct {
	Offer    *Offer
	Order    Order
	ID       Hash // id of the order
	Phase    Phase
	Last     Hash   // hash of the last step, or of the order before the first step
	At       int64  // when the last step was taken, by the market
	Deadline int64  // when the phase expires; 0 at an end
	Steps    int    // number of steps taken
	Held     uint64 // by the market
	Paid     uint64 // to the seller, including the market's fees
	Back     uint64 // to the buyer
	Wrapped  []byte // the bundle's key, or the answer, sealed, once it is delivered
	Evidence []byte // evidence of a dispute, sealed
	Reason   string // reason of the last step
}

// Begin returns the state of an order that the market took at the given time.
func Begin(l *Offer, o Order, id Hash, at int64) (*State, error) {
	if err := o.fits(l); err != nil {
		return nil, err
	}
	return &State{Offer: l, Order: o, ID: id, Phase: Ordered, Last: id, At: at, Deadline: at + FundWithin}, nil
}

// Apply returns the state after a step that the market took at the given time, in Unix seconds. s
// does not change. The caller has to check whether a step is known already: for a known one, Apply
// returns [ErrChain].
func (s *State) Apply(t *ParsedStep, at int64) (*State, error) {
	if t.Order != s.ID || t.Prev != s.Last {
		return nil, fmt.Errorf("%s: %w", t.Act, ErrChain)
	}
	if at < s.At {
		return nil, fmt.Errorf("%s: %w: its timestamp is before that of the step that it follows", t.Act, ErrLate)
	}
	if err := s.allows(t, at); err != nil {
		return nil, err
	}
	n := *s
	n.Last, n.At, n.Deadline, n.Reason = t.Hash, at, 0, t.Reason
	n.Steps++
	price := s.Order.Price
	switch t.Act {
	case Fund:
		n.Phase, n.Held, n.Deadline = Funded, price, at+int64(s.Offer.Deliver)
	case Deliver:
		n.Phase, n.Wrapped, n.Deadline = Delivered, t.Wrapped, at+int64(s.Offer.Accept)
	case Accept:
		n.end(Accepted, 0)
	case Dispute:
		n.Phase, n.Evidence, n.Deadline = Disputed, t.Evidence, at+DecideWithin
	case Decide:
		switch t.Refund {
		case 0:
			n.end(Accepted, 0)
		case price:
			n.end(Refunded, price)
		default:
			n.end(Settled, t.Refund)
		}
	case Cancel:
		n.end(Refunded, price)
	case Expire:
		if s.Phase == Delivered { // a buyer who says nothing has accepted
			n.end(Accepted, 0)
		} else {
			n.end(Refunded, price)
		}
	}
	return &n, nil
}

// end divides the held amount. If nothing is held, the order has expired.
func (s *State) end(p Phase, back uint64) {
	if s.Held == 0 {
		s.Phase = Expired
		return
	}
	s.Phase, s.Back, s.Paid, s.Held = p, back, s.Held-back, 0
}

// allows returns an error unless this party may make the step in this phase, at this time.
func (s *State) allows(t *ParsedStep, at int64) error {
	buyer, seller := s.Order.Buyer, s.Offer.Seller
	by := map[Act]Key{Fund: s.Offer.Market, Deliver: seller, Accept: buyer, Dispute: buyer, Decide: s.Offer.Arbiter, Expire: s.Offer.Market, Cancel: seller}[t.Act]
	if t.Act == Cancel && s.Phase == Ordered && t.By == buyer {
		by = buyer
	}
	if t.By != by {
		return fmt.Errorf("%s: %w", t.Act, ErrParty)
	}
	in := map[Act][]Phase{Fund: {Ordered}, Deliver: {Funded}, Accept: {Delivered, Disputed}, Dispute: {Delivered}, Decide: {Disputed},
		Cancel: {Ordered, Funded, Delivered, Disputed}, Expire: {Ordered, Funded, Delivered, Disputed}}[t.Act]
	ok := false
	for _, p := range in {
		ok = ok || p == s.Phase
	}
	if !ok {
		return fmt.Errorf("%s: %w: it is %s", t.Act, ErrPhase, s.Phase)
	}
	if late := at >= s.Deadline; late != (t.Act == Expire) {
		if late {
			return fmt.Errorf("%s: %w: its deadline has passed", t.Act, ErrLate)
		}
		return fmt.Errorf("%s: %w: %d seconds are left", t.Act, ErrLate, s.Deadline-at)
	}
	if s.Offer.Answers == nil && s.Offer.Marks == 0 && len(t.Wrapped) > MaxWrapped {
		return fmt.Errorf("%s: wrapped: %w: %d bytes, at most %d", t.Act, ErrForm, len(t.Wrapped), MaxWrapped)
	}
	if t.Act == Decide && t.Refund > s.Order.Price {
		return fmt.Errorf("%s: refund: %w: %d of %d", t.Act, ErrForm, t.Refund, s.Order.Price)
	}
	return nil
}

// Reviewable reports whether the order is a receipt: it has ended, and a key was delivered.
func (s *State) Reviewable() bool {
	return s.Phase.Ended() && len(s.Wrapped) > 0
}
