package market

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/trade"
)

// PurseConfig is what a Purse needs.
type PurseConfig struct {
	Buyer *Buyer
	Relay func() string // the market if the wearer names none; empty: there is none
	Store Store
	// AskApproval asks the wearer about an order of an app that costs more than it may pay
	// alone, and reports whether the wearer has agreed. A refusal is serve.ErrForbidden.
	AskApproval func(ctx context.Context, app, alone string, order memory.ID, what string) (bool, error)
	Now         func() time.Time
}

// Purse buys for apps with the wearer's key and money, each within its budget. What an
// app has to pay is counted before the market is told, so that neither a crash nor a
// lost answer lets it pay more. Its methods are safe for concurrent use.
type Purse struct {
	c  PurseConfig
	mu sync.Mutex // guards what is counted; not held while a market is asked
	by sync.Map   // a *sync.Mutex for each app, so that it makes one order at a time
}

// NewPurse makes a Purse.
func NewPurse(c PurseConfig) *Purse { return &Purse{c: c} }

// purchase is an order of an app.
type purchase struct {
	App      string     `json:"app"`
	Order    trade.Hash `json:"order"`
	Minor    uint64     `json:"minor"`
	Currency string     `json:"currency"`
	Made     time.Time  `json:"made"`
	Paid     time.Time  `json:"paid,omitzero"`  // when it was to be paid; it counts from then on
	Asked    memory.ID  `json:"asked,omitzero"` // what the wearer was asked before a question was sent; zero: nothing
}

const (
	purchasesMeta = "purchases"
	budgetFor     = 30 * 24 * time.Hour
	maxUnpaid     = 5 // orders of one app
	orderLives    = 24 * time.Hour
)

func (p *Purse) purchases(ctx context.Context) (list []purchase, err error) {
	err = p.c.Store.View(ctx, func(tx *store.Tx) error { _, err := tx.Meta(purchasesMeta, &list); return err })
	return list, err
}

// change stores the list that f returns, without purchases that ended long ago.
func (p *Purse) change(ctx context.Context, f func([]purchase) []purchase) error {
	now := p.c.Now()
	return p.c.Store.Commit(ctx, func(tx *store.Tx) error {
		var list []purchase
		if _, err := tx.Meta(purchasesMeta, &list); err != nil {
			return err
		}
		list = slices.DeleteFunc(f(list), func(b purchase) bool { return now.Sub(b.Made) > 6*budgetFor })
		return tx.PutMeta(purchasesMeta, list)
	})
}

// left returns what remains of an app's budget, in minor units. Orders that ended
// without payment, and refunds, do not count.
func (p *Purse) left(s *serve.Spender, list []purchase) (uint64, string, error) {
	most, code, err := trade.ParsePrice(s.Budget)
	if err != nil {
		return 0, "", err
	}
	for _, b := range list {
		if b.App != s.App || b.Currency != code || b.Paid.IsZero() || p.c.Now().Sub(b.Paid) >= budgetFor {
			continue
		}
		costs := b.Minor
		if o, err := Read(p.c.Buyer.file(b.Order)); err == nil {
			if o.State.Phase == trade.Expired {
				costs = 0
			}
			costs -= min(costs, o.State.Back)
		}
		most -= min(most, costs)
	}
	return most, code, nil
}

// bars returns why an app may not buy a listing; empty: it may.
func bars(s *serve.Spender, l *trade.Offer, left uint64, code string) string {
	switch {
	case l.Entry:
		return "it is the entry to a community, which only the wearer may buy"
	case l.Currency != code:
		return "it costs " + l.Currency + ", and the budget is in " + code
	case len(s.Categories) > 0 && !slices.ContainsFunc(l.Categories, func(c string) bool { return slices.Contains(s.Categories, c) }):
		return "it is in no category that the app may buy in"
	case l.Price > left:
		return "of the budget, " + trade.Price(left, code) + " are left"
	}
	return ""
}

// asks reports whether the wearer has to approve a price.
func asks(s *serve.Spender, price uint64) bool {
	alone, _, err := trade.ParsePrice(s.Alone)
	return err != nil || price > alone
}

func goodsOf(l *trade.Offer) serve.Goods {
	return serve.Goods{Listing: l.ID(), Version: l.Hash, Title: l.Title, Description: l.Description, Sample: l.Sample, Categories: serve.NonNil(l.Categories), Languages: serve.NonNil(l.Languages),
		Redaction: serve.NonNil(l.Redaction), Licence: l.Licence, Items: int(l.Items), Price: trade.Price(l.Price, l.Currency), Seller: l.Seller, Answers: answerLimits(&l.Listing)}
}

// cannotUndo is the notice when an app pays.
const cannotUndo = "The market holds the price until the order is accepted, or the time to accept is over. Then the seller is paid, and that can't be had back. " +
	"Before, the wearer can dispute what came (locket market dispute)."

// Find searches an app's market, or returns one listing.
func (p *Purse) Find(ctx context.Context, s *serve.Spender, q serve.GoodsQuery) (out serve.GoodsAnswer, err error) {
	list, err := p.purchases(ctx)
	if err != nil {
		return out, err
	}
	left, code, err := p.left(s, list)
	if err != nil {
		return out, err
	}
	out = serve.GoodsAnswer{Goods: []serve.Goods{}, Left: trade.Price(left, code), Terms: cannotUndo}
	err = p.c.Buyer.WithMarket(ctx, s.Market, func(m *remote.Market, _ trade.Party, terms trade.Terms) error {
		var ls []*trade.Offer
		if q.Listing != "" {
			id, err := hashOf(q.Listing)
			if err != nil {
				return err
			}
			l, err := offered(ctx, m, id, &terms)
			if err != nil {
				return err
			}
			ls, out.Total = append(ls, l), 1
		} else {
			f, found, err := m.Search(ctx, url.Values{"q": {q.Words}, "limit": {strconv.Itoa(q.Limit)}, "skip": {strconv.Itoa(q.Skip)}})
			if err != nil {
				return err
			}
			ls, out.Total = found, int(f.Total)
		}
		for _, l := range ls {
			g := goodsOf(l)
			g.Asks, g.Bars = asks(s, l.Price), bars(s, l, left, code)
			out.Goods = append(out.Goods, g)
		}
		return nil
	})
	return out, refusal(err)
}

func hashOf(text string) (h trade.Hash, err error) {
	if err := h.UnmarshalText([]byte(strings.ToLower(text))); err != nil {
		return h, fmt.Errorf("%w: id: %.80q: want 64 hexadecimal characters", memory.ErrInvalid, text)
	}
	return h, nil
}

// Order orders a listing at the quoted price.
func (p *Purse) Order(ctx context.Context, s *serve.Spender, version trade.Hash, price, question string) (out serve.Purchase, err error) {
	one, _ := p.by.LoadOrStore(s.App, new(sync.Mutex))
	one.(*sync.Mutex).Lock() // so that it has no more than maxUnpaid
	defer one.(*sync.Mutex).Unlock()
	list, err := p.purchases(ctx)
	if err != nil {
		return out, err
	}
	unpaid := 0
	for _, b := range list {
		if b.App == s.App && b.Paid.IsZero() && p.c.Now().Sub(b.Made) < orderLives {
			unpaid++
		}
	}
	if unpaid >= maxUnpaid {
		return out, fmt.Errorf("%w: %d orders of the app wait for payment; each lapses after a day", serve.ErrLimit, unpaid)
	}
	left, code, err := p.left(s, list)
	if err != nil {
		return out, err
	}
	err = p.c.Buyer.WithMarket(ctx, s.Market, func(m *remote.Market, by trade.Party, terms trade.Terms) error {
		l, err := quoted(ctx, m, version, price, &terms)
		if err != nil {
			return err
		}
		if why := bars(s, l, left, code); why != "" {
			return fmt.Errorf("%w: %s", serve.ErrForbidden, why)
		}
		made := purchase{App: s.App, Minor: l.Price, Currency: l.Currency, Made: p.c.Now().UTC()}
		if question != "" && l.Answers != nil && asks(s, l.Price) {
			if made.Asked, err = p.mayAsk(ctx, s, list, l, question); err != nil {
				return err
			}
		}
		o, err := p.c.Buyer.orderOrAsk(ctx, m, by, s.Market, l, question)
		if err != nil {
			return err
		}
		out, made.Order = PurchaseOf(o), o.State.ID
		return p.change(ctx, func(list []purchase) []purchase { return append(list, made) })
	})
	return out, refusal(err)
}

// mayAsk gets the wearer's consent to a question before it is sent, because the seller
// can read it even if the order is not paid. The consent is for one order, and also
// covers its payment.
func (p *Purse) mayAsk(ctx context.Context, s *serve.Spender, list []purchase, l *trade.Offer, question string) (id memory.ID, err error) {
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "market question %q %s %q %d", s.App, l.Hash, question, n))
		id = memory.ID(sum[:16])
		if !slices.ContainsFunc(list, func(b purchase) bool { return b.Asked == id }) {
			break
		}
	}
	yes, err := p.c.AskApproval(ctx, s.App, s.Alone, id, fmt.Sprintf("%s for an answer of %s, who is asked: %s", trade.Price(l.Price, l.Currency), l.Title, question))
	if err == nil && !yes {
		err = fmt.Errorf("%w: the wearer is asked first, because the order carries the question; nothing was ordered: order again once the wearer has agreed", serve.ErrForbidden)
	}
	return id, err
}

// of returns an order of an app with its state at the market.
func (p *Purse) of(ctx context.Context, s *serve.Spender, order trade.Hash) (*Bought, error) {
	list, err := p.purchases(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(list, func(b purchase) bool { return b.App == s.App && b.Order == order }) {
		return nil, fmt.Errorf("order %s: %w", order, memory.ErrNotFound)
	}
	o, err := Read(p.c.Buyer.file(order))
	if err != nil {
		return nil, err
	}
	return o, refusal(p.c.Buyer.Refresh(ctx, o))
}

// pay pays an order from the wearer's balance at the market.
func (p *Purse) pay(ctx context.Context, s *serve.Spender, order trade.Hash) (out serve.Purchase, err error) {
	if _, err := Read(p.c.Buyer.file(order)); err != nil { // no lock for an order that does not exist
		return out, fmt.Errorf("order %s: %w", order, memory.ErrNotFound)
	}
	err = p.c.Buyer.moving(ctx, order, func() error {
		o, err := p.of(ctx, s, order)
		if err != nil {
			return err
		}
		if out = PurchaseOf(o); o.State.Phase != trade.Ordered {
			return nil
		}
		if out.Waits, err = p.count(ctx, s, o); err != nil || out.Waits {
			return err
		}
		err = p.c.Buyer.WithMarket(ctx, o.Market, func(m *remote.Market, _ trade.Party, _ trade.Terms) error { return p.c.Buyer.pay(ctx, m, o, "") })
		if err != nil {
			return refusal(err)
		}
		out = PurchaseOf(o)
		return nil
	})
	return out, err
}

// count takes an order's price from the app's budget, or reports that the wearer has to
// approve it first.
func (p *Purse) count(ctx context.Context, s *serve.Spender, o *Bought) (waits bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	order := o.State.ID
	list, err := p.purchases(ctx)
	if err != nil {
		return false, err
	}
	approved := false // before it was ordered
	for i := range list {
		if list[i].Order == order {
			list[i].Paid = time.Time{} // it counts once
			approved = list[i].Asked != memory.ID{}
		}
	}
	left, code, err := p.left(s, list)
	if err != nil {
		return false, err
	}
	if why := bars(s, o.State.Offer, left, code); why != "" {
		return false, fmt.Errorf("%w: %s", serve.ErrLimit, why)
	}
	if !approved && asks(s, o.State.Order.Price) {
		v := PurchaseOf(o)
		yes, err := p.c.AskApproval(ctx, s.App, s.Alone, memory.ID(order[:16]), fmt.Sprintf("%s for %s, order %s", v.Price, v.Title, order.String()[:10]))
		if err != nil || !yes {
			return true, err
		}
	}
	return false, p.change(ctx, func(list []purchase) []purchase {
		for i := range list {
			if list[i].Order == order {
				list[i].Paid = p.c.Now().UTC()
			}
		}
		return list
	})
}

// Fetch returns an order with what was delivered.
func (p *Purse) Fetch(ctx context.Context, s *serve.Spender, order trade.Hash) (out serve.Purchase, err error) {
	o, err := p.of(ctx, s, order)
	if err != nil {
		return out, err
	}
	out = PurchaseOf(o)
	if ph := o.State.Phase; ph == trade.Delivered || ph == trade.Accepted || ph == trade.Settled {
		out.Items, err = p.c.Buyer.Open(o)
		if errors.Is(err, ErrNotDelivered) {
			err = nil
		}
	}
	return out, err
}

// AppBuyer implements serve.Buyer.
type AppBuyer struct{ of opened.Of[*Purse] }

// NewAppBuyer makes an AppBuyer.
func NewAppBuyer(of opened.Of[*Purse]) AppBuyer { return AppBuyer{of} }

func (a AppBuyer) Goods(ctx context.Context, q serve.GoodsQuery) (v serve.GoodsAnswer, err error) {
	err = a.during(ctx, func(ctx context.Context, p *Purse, s *serve.Spender) error { v, err = p.Find(ctx, s, q); return err })
	return v, err
}

func (a AppBuyer) Purchase(ctx context.Context, r serve.PurchaseRequest) (v serve.Purchase, err error) {
	id, err := hashOf(r.ID)
	if err != nil {
		return v, err
	}
	err = a.during(ctx, func(ctx context.Context, p *Purse, s *serve.Spender) error {
		switch r.Act {
		case serve.OrderGoods:
			v, err = p.Order(ctx, s, id, r.Price, r.Question)
		case serve.PayGoods:
			v, err = p.pay(ctx, s, id)
		case serve.FetchGoods:
			v, err = p.Fetch(ctx, s, id)
		default:
			err = fmt.Errorf("%w: act: %.40q: want order, pay or fetch", memory.ErrInvalid, r.Act)
		}
		return err
	})
	return v, err
}

// during calls f for the app in a context.
func (a AppBuyer) during(ctx context.Context, f func(context.Context, *Purse, *serve.Spender) error) error {
	s := serve.Spending(ctx)
	if s == nil {
		return fmt.Errorf("%w: only an app buys this way", serve.ErrUnsupported)
	}
	return a.of.During(ctx, func(ctx context.Context, p *Purse) error { return f(ctx, p, s) })
}
