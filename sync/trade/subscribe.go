package trade

import "fmt"

// MinPeriod and MaxPeriod bound the period of a subscription, in seconds.
const (
	MinPeriod = 24 * 60 * 60
	MaxPeriod = 366 * 24 * 60 * 60
)

// Follows checks that a listing may be the version after another one. Each version of a
// subscription is an issue: the items of one period, under a key of its own, which only the orders
// of that issue get.
func (l *Listing) Follows(was *Offer) error {
	bad := func(field, what string) error { return fmt.Errorf("listing: %s: %w: %s", field, ErrForm, what) }
	switch {
	case l.Seller != was.Seller || l.First != was.ID() || l.Prev != was.Hash || l.Number != was.Number+1:
		return fmt.Errorf("listing: version %d: %w", l.Number, ErrChain)
	case l.Period != was.Period:
		return bad("period", "the versions of a listing have one")
	case (l.Answers == nil) != (was.Answers == nil):
		return bad("answers", "the versions of a listing sell answers, or all sell their bundles")
	case l.Entry != was.Entry:
		return bad("entry", "the versions of a listing sell the entry to a community, or none does")
	case l.Period > 0 && (l.Commitment == was.Commitment || l.Root == was.Root):
		return bad("commitment", "each period has a key and items of its own")
	}
	return nil
}

// Subscription is a buyer's decision, made once, for all following periods. Only the buyer has it;
// no market sees it. Each period has an ordinary order, which is paid when its items are available.
type Subscription struct {
	Listing  Hash   `json:"listing"`
	Market   Key    `json:"market"`
	Seller   Key    `json:"seller"`
	Period   uint32 `json:"period"`   // seconds
	Most     uint64 `json:"most"`     // for one period, in minor units
	Currency string `json:"currency"` // currency of Most
	Periods  uint32 `json:"periods"`  // greatest number of periods that are paid
	Since    int64  `json:"since"`    // when it began, in Unix seconds
	Until    int64  `json:"until"`    // nothing is paid from this time on; 0: no end
	Ended    int64  `json:"ended"`    // when the buyer ended it; 0: it is running
}

// Renewal says what has to be done for a subscription.
type Renewal string

// The renewals.
const (
	Wait   Renewal = "wait"   // wait for the next period
	Buy    Renewal = "buy"    // order this period
	Settle Renewal = "settle" // pay the order of this period
	Lapse  Renewal = "lapse"  // this period is not bought; a later one may be
	End    Renewal = "end"    // nothing is bought any more
)

// PaidPeriods counts the periods that were paid and whose price was not refunded completely.
func (s *Subscription) PaidPeriods(orders []*State) (n uint32) {
	for _, o := range orders {
		if o.Offer.ID() == s.Listing && o.Phase.Paid() && o.Back < o.Order.Price {
			n++
		}
	}
	return n
}

// Next returns what to do about the newest issue, and why. orders are all orders of the listing
// that the buyer has. It is a pure function, so a node that asks often, or is interrupted anywhere,
// pays no period twice.
func (s *Subscription) Next(newest *Offer, orders []*State, now int64) (Renewal, string) {
	paid := s.PaidPeriods(orders)
	switch {
	case s.Ended > 0 && s.Ended <= now:
		return End, "you ended it"
	case s.Until > 0 && s.Until <= now:
		return End, "its time is over"
	case newest.ID() != s.Listing || newest.Market != s.Market || newest.Seller != s.Seller || newest.Period != s.Period:
		return End, "the listing is another than the one that you subscribed to"
	case paid >= s.Periods:
		return End, fmt.Sprintf("%d periods are paid", paid)
	}
	for _, o := range orders {
		if o.Offer.Hash != newest.Hash {
			continue
		}
		switch {
		case o.Phase == Ordered && now < o.Deadline:
			if o.Order.Price > s.Most || o.Order.Currency != s.Currency {
				return Lapse, "it costs more than you allow"
			}
			return Settle, "it is ordered"
		case !o.Phase.Paid():
			return Lapse, "it was not paid in time"
		case o.Phase == Refunded:
			return Lapse, "its price came back"
		}
		return Wait, "this period is paid"
	}
	switch {
	case newest.Currency != s.Currency || newest.Price > s.Most:
		return Lapse, "it costs more than you allow"
	case now < s.Since || int64(paid) > (now-s.Since)/int64(s.Period)+1:
		return Wait, "the periods come faster than the listing says"
	}
	return Buy, "a period is there"
}
