package market

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
	"github.com/locket-dev/locket/sync/translog"
)

// aDay is a day in seconds.
const aDay = 24 * 60 * 60

// offerOf returns a listing as buyers see it; h has what the market says about it.
func offerOf(l *trade.Offer, h *trade.Hit) serve.Offer {
	v := serve.Offer{ID: l.ID(), Version: l.Hash, Number: int(l.Number), Title: l.Title, Price: trade.Price(l.Price, l.Currency), Minor: l.Price, Code: l.Currency,
		Seller: l.Seller, Items: int(l.Items), Sold: int(h.Sold), Reviews: int(h.Reviews), Description: l.Description, Categories: serve.NonNil(l.Categories), Languages: serve.NonNil(l.Languages),
		Counts: make(map[string]int, len(l.Counts)), Sample: l.Sample, Licence: l.Licence, Terms: l.Terms, Redaction: l.Redaction, DeliverDays: float64(l.Deliver) / aDay, AcceptDays: float64(l.Accept) / aDay, EveryDays: float64(l.Period) / aDay, Answers: answerLimits(&l.Listing), Marks: int(l.Marks), Entry: l.Entry}
	for t, n := range l.Counts {
		v.Counts[t] = int(n)
	}
	if h.Reviews > 0 {
		v.Stars = float64(h.Stars) / float64(h.Reviews)
	}
	if l.Since > 0 {
		v.Since = time.Unix(l.Since, 0).UTC()
	}
	if l.Until > 0 {
		v.Until = time.Unix(l.Until, 0).UTC()
	}
	return v
}

// Search returns listings of a market.
func Search(ctx context.Context, m *remote.Market, q serve.OfferQuery) (out serve.OffersAnswer, err error) {
	in := url.Values{"limit": {strconv.Itoa(q.Limit)}, "skip": {strconv.Itoa(q.Skip)}}
	for name, v := range map[string]string{"q": q.Words, "category": q.Category, "language": q.Language} {
		if v != "" {
			in.Set(name, v)
		}
	}
	if q.Most != "" {
		minor, code, err := trade.ParsePrice(q.Most)
		if err != nil {
			return out, fmt.Errorf("%w: most: %w", memory.ErrInvalid, err)
		}
		in.Set("most", strconv.FormatUint(minor, 10))
		in.Set("currency", code)
	}
	if q.Newest {
		in.Set("sort", "newest")
	}
	f, ls, err := m.Search(ctx, in)
	if err != nil {
		return out, err
	}
	out = serve.OffersAnswer{Offers: make([]serve.Offer, len(ls)), Facets: make([]serve.OfferFacet, len(f.Facets)), Total: int(f.Total)}
	for i, l := range ls {
		out.Offers[i] = offerOf(l, &f.Hits[i])
	}
	for i, x := range f.Facets {
		out.Facets[i] = serve.OfferFacet{Kind: x.Kind, Value: x.Value, Count: int(x.Count)}
	}
	return out, nil
}

// offerToAPI returns a listing with its reviews, checked against a log; nil: there is none.
func offerToAPI(s *trade.Shown, l *trade.Offer, log *translog.Signed) (v serve.Offer) {
	v = offerOf(l, &s.Hit)
	v.State = s.State
	if len(s.Notice) > 0 {
		kind := trade.Withdrawal
		if s.State == trade.Removed {
			kind = trade.Takedown
		}
		if n, _, _, err := trade.ReadNotice(kind, s.Notice); err == nil && n.Listing == l.ID() {
			v.Why = n.Reason
		}
	}
	v.Said, v.Check, _ = reviewsOf(s, l, log)
	for i := range s.Origins {
		o := &s.Origins[i]
		m, by, err := trade.ReadMove(o.Move)
		if err != nil || by != l.Seller || m.Offer != l.ID() || m.Market != l.Market {
			continue
		}
		was := serve.OfferOrigin{Market: m.From, Listing: m.Listing, Sold: int(o.Sold), Reviews: int(o.Reviews)}
		was.Said = reviewsBefore(o, &was, l.Seller, log)
		if o.Reviews > 0 {
			was.Stars = float64(o.Stars) / float64(o.Reviews)
		}
		v.Before = append(v.Before, was)
	}
	return v
}

// offered returns the newest version of a live listing of the market.
func offered(ctx context.Context, m *remote.Market, listing trade.Hash, terms *trade.Terms) (*trade.Offer, error) {
	shown, l, err := m.Show(ctx, listing)
	switch {
	case err != nil:
		return nil, err
	case l.Market != terms.Market:
		return nil, fmt.Errorf("listing %s: it is for another market: %w", l.ID(), remote.ErrAnswer)
	case shown.State != trade.Live:
		return nil, fmt.Errorf("listing %s: %w: it is %s", l.ID(), serve.ErrConflict, shown.State)
	}
	return l, nil
}

// quoted returns a version that is still offered at the quoted price.
func quoted(ctx context.Context, m *remote.Market, version trade.Hash, price string, terms *trade.Terms) (*trade.Offer, error) {
	l, err := offered(ctx, m, version, terms)
	if err != nil {
		return nil, err
	}
	if now := trade.Price(l.Price, l.Currency); l.Hash != version || now != price {
		return nil, fmt.Errorf("%w: it is offered in another version, at %s, and was quoted at %.40s: ask for a quote again", serve.ErrConflict, now, price)
	}
	return l, nil
}

// OrderQuoted orders a version of a listing at the quoted price. question is empty unless the
// listing sells answers. ErrConflict: it is not offered at that price any more.
func (b *Buyer) OrderQuoted(ctx context.Context, m *remote.Market, by trade.Party, terms *trade.Terms, address string, version trade.Hash, price, question string) (*Bought, error) {
	l, err := quoted(ctx, m, version, price, terms)
	if err != nil {
		return nil, err
	}
	return b.orderOrAsk(ctx, m, by, address, l, question)
}

// PurchaseOf returns an order in the form in which it is shown.
func PurchaseOf(o *Bought) serve.Purchase {
	v := serve.Purchase{Order: o.State.ID, Listing: o.State.Offer.ID(), Title: o.State.Offer.Title, Phase: o.State.Phase, Price: trade.Price(o.State.Order.Price, o.State.Order.Currency),
		Market: o.Market, Reason: o.State.Reason, Reviewable: o.State.Reviewable() && !o.Reviewed, Answer: o.State.Order.Question != nil}
	if o.State.Back > 0 {
		v.Back = trade.Price(o.State.Back, o.State.Order.Currency)
	}
	if o.State.Deadline > 0 {
		v.Deadline = time.Unix(o.State.Deadline, 0).UTC()
	}
	return v
}

// OpenAll checks and opens what was delivered with an order. It first fetches it if necessary, and
// makes it be searched.
func (b *Buyer) OpenAll(ctx context.Context, o *Bought) ([]memory.Candidate, error) {
	if !o.IsComplete() {
		if err := b.Refresh(ctx, o); err != nil {
			return nil, err
		}
	}
	items, err := b.Open(o)
	if err != nil {
		return nil, err
	}
	return items, b.ResumeSearching(o)
}

// Report reports to a market's operator what is wrong with a listing.
func Report(ctx context.Context, m *remote.Market, by trade.Party, listing trade.Hash, reason string, at time.Time) error {
	signed, _, err := trade.SignNotice(trade.Report, trade.Notice{Listing: listing, Reason: reason, At: at.Unix()}, by)
	if err != nil {
		return fmt.Errorf("%w: %w", memory.ErrInvalid, err)
	}
	return m.Report(ctx, signed)
}

// Shopper implements serve.Shopper, serve.Subscriber, serve.Carrier, serve.Verifier and
// serve.Arbiter, on top of the Purse of an open node.
type Shopper struct{ of opened.Of[*Purse] }

// NewShopper makes a Shopper.
func NewShopper(of opened.Of[*Purse]) *Shopper { return &Shopper{of} }

// at calls f with the market at an address, or that of the node's relay.
func (s *Shopper) at(ctx context.Context, address string, f func(ctx context.Context, b *Buyer, address string, m *remote.Market, by trade.Party, terms *trade.Terms) error) error {
	return s.of.During(ctx, func(ctx context.Context, p *Purse) error {
		address = cmp.Or(address, p.c.Relay())
		if address == "" {
			return errNoMarket
		}
		b := p.c.Buyer
		return refusal(b.WithMarket(ctx, address, func(m *remote.Market, by trade.Party, terms trade.Terms) error {
			return f(ctx, b, address, m, by, &terms)
		}))
	})
}

func (s *Shopper) Offers(ctx context.Context, q serve.OfferQuery) (v serve.OffersAnswer, err error) {
	err = s.at(ctx, q.Market, func(ctx context.Context, _ *Buyer, _ string, m *remote.Market, _ trade.Party, _ *trade.Terms) error {
		v, err = Search(ctx, m, q)
		return err
	})
	return v, err
}

func (s *Shopper) Offer(ctx context.Context, market string, id trade.Hash) (v serve.Offer, err error) {
	err = s.at(ctx, market, func(ctx context.Context, b *Buyer, address string, m *remote.Market, _ trade.Party, terms *trade.Terms) error {
		v, _, err = b.Show(ctx, m, address, terms, id)
		return err
	})
	return v, err
}

func (s *Shopper) ReportOffer(ctx context.Context, r serve.OfferReport) (v serve.Offer, err error) {
	err = s.at(ctx, r.Market, func(ctx context.Context, b *Buyer, address string, m *remote.Market, by trade.Party, terms *trade.Terms) error {
		if v, _, err = b.Show(ctx, m, address, terms, r.ID); err != nil {
			return err
		}
		return Report(ctx, m, by, v.ID, r.Reason, b.now())
	})
	return v, err
}

func (s *Shopper) Order(ctx context.Context, r serve.OrderRequest) (v serve.Purchase, err error) {
	err = s.at(ctx, r.Market, func(ctx context.Context, b *Buyer, address string, m *remote.Market, by trade.Party, terms *trade.Terms) error {
		o, err := b.OrderQuoted(ctx, m, by, terms, address, r.Version, r.Price, r.Question)
		if err == nil {
			v = PurchaseOf(o)
		}
		return err
	})
	return v, err
}

func (s *Shopper) Orders(ctx context.Context, look bool) (v serve.OrdersAnswer, err error) {
	v.Orders = []serve.Purchase{}
	err = s.of.During(ctx, func(ctx context.Context, p *Purse) error {
		list, err := p.c.Buyer.Orders()
		for _, o := range list {
			if look && !o.State.Phase.Ended() {
				if err := p.c.Buyer.Refresh(ctx, o); err != nil {
					v.Failed = append(v.Failed, fmt.Sprintf("%s: %v", o.State.ID.String()[:10], err))
				}
			}
			v.Orders = append(v.Orders, PurchaseOf(o))
		}
		return err
	})
	return v, err
}

func (s *Shopper) OpenOrder(ctx context.Context, order trade.Hash) (v serve.OpenedOrder, err error) {
	err = s.of.During(ctx, func(ctx context.Context, p *Purse) error {
		o, err := p.c.Buyer.Find(order.String())
		if err != nil {
			return err
		}
		if !o.State.Phase.Ended() {
			err = p.c.Buyer.Refresh(ctx, o)
		}
		v.Purchase = PurchaseOf(o)
		if !o.IsComplete() {
			return refusal(err) // nothing was delivered yet; opening a delivered order needs no market
		}
		v.Items, err = p.c.Buyer.OpenAll(ctx, o)
		if Disputable(err) {
			v.Broken, v.Item, err = err.Error(), BadPlace(err), nil
		}
		return err
	})
	return v, err
}

func (s *Shopper) MoveOrder(ctx context.Context, r serve.OrderStep) (v serve.Purchase, err error) {
	err = s.of.During(ctx, func(ctx context.Context, p *Purse) error {
		v, err = p.c.Buyer.moveOrder(ctx, &r)
		return err
	})
	return v, refusal(err)
}

// moveOrder takes a step for the wearer.
func (b *Buyer) moveOrder(ctx context.Context, r *serve.OrderStep) (v serve.Purchase, err error) {
	o, err := b.Find(r.Order.String())
	if err == nil && !o.State.Phase.Ended() {
		err = b.Refresh(ctx, o)
	}
	if err != nil {
		return v, err
	}
	page := ""
	switch r.Act {
	case serve.PayOrder:
		err = b.Pay(ctx, o, r.Voucher)
	case serve.CardOrder:
		c, cerr := b.Checkout(ctx, o, "")
		page, err = c.URL, cerr
	case serve.CancelOrder:
		err = b.Cancel(ctx, o)
	case serve.AcceptOrder:
		err = b.Accept(ctx, o)
	case serve.DisputeOrder:
		err = b.Dispute(ctx, o, r.Item-1, r.Reason)
	case serve.ReviewOrder:
		if r.Stars < 1 || r.Stars > 5 {
			return v, fmt.Errorf("%w: stars: %d: want 1 to 5", memory.ErrInvalid, r.Stars)
		}
		err = b.Review(ctx, o, uint8(r.Stars), r.Text)
	default:
		err = fmt.Errorf("%w: act: %.40q: want pay, card, cancel, accept, dispute or review", memory.ErrInvalid, string(r.Act))
	}
	v = PurchaseOf(o)
	v.Page = page
	return v, err
}

func (s *Shopper) Funds(ctx context.Context, r serve.FundsRequest) (v serve.Funds, err error) {
	if r.Voucher != "" && r.Amount != "" {
		return v, fmt.Errorf("%w: a voucher and an amount: want one of them", memory.ErrInvalid)
	}
	err = s.at(ctx, r.Market, func(ctx context.Context, b *Buyer, _ string, m *remote.Market, _ trade.Party, terms *trade.Terms) error {
		var list []trade.Balance
		var err error
		switch {
		case r.Voucher != "":
			list, err = m.Deposit(ctx, r.Voucher)
		case r.Amount != "":
			if v.Voucher, err = b.WithdrawBalance(ctx, m, terms.Market, r.Amount); err != nil {
				return err
			}
			fallthrough
		default:
			// A voucher that was paid out must not be lost because the rest of the answer failed.
			if list, err = m.Balance(ctx); v.Voucher != "" {
				err = nil
			}
		}
		v.Has, v.Pays = []string{}, serve.NonNil(terms.Pays)
		for _, b := range list {
			if b.Spend > 0 {
				v.Has = append(v.Has, trade.Price(uint64(b.Spend), b.Currency))
			}
		}
		return err
	})
	return v, err
}
