package remote

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/trade"
)

// Market is a market at a relay's address, for the holder of a key. It verifies everything that is
// signed; counts and the order of hits are only claims of the market.
type Market struct{ caller }

// Market returns the market. sign may be nil for a caller that only reads public listings.
func (r *Relay) Market(key trade.Key, sign httpsig.Signer) *Market {
	return &Market{caller{relay: r, keyID: "market/" + key.String(), sign: sign}}
}

// Address returns the URL of the market's relay.
func (r *Relay) Address() string { return r.base.String() }

// ask sends a request and decodes the answer into a value.
func (m *Market) ask(ctx context.Context, method, path string, query url.Values, body []byte, into any) error {
	q := call{method: method, path: "/v1/market" + path, query: query, body: body, limit: trade.MaxAnswer}
	if into == nil {
		q.limit = 0
	}
	a, err := m.do(ctx, q)
	for tries := 0; paced(ctx, tries, err); tries++ {
		a, err = m.do(ctx, q)
	}
	if err != nil || into == nil {
		return err
	}
	if err := trade.Decode(a.body, into, trade.MaxAnswer); err != nil {
		return fmt.Errorf("%s %s: %w: %v", method, q.path, ErrAnswer, err)
	}
	return nil
}

// paced waits if a market refused a request only because requests come too fast, and reports
// whether to send it again.
func paced(ctx context.Context, tries int, err error) bool {
	var e *Error
	return errors.As(err, &e) && e.is == ErrQuota && retry.Paced(ctx, tries, e.RetryAfter)
}

// Terms returns the market's terms.
func (m *Market) Terms(ctx context.Context) (t trade.Terms, err error) {
	err = m.ask(ctx, "GET", "", nil, nil, &t)
	return t, err
}

// Search returns the listings that match; docs/market.md has the parameters. Each listing is
// checked.
func (m *Market) Search(ctx context.Context, q url.Values) (f trade.Found, ls []*trade.Offer, err error) {
	if err := m.ask(ctx, "GET", "/listings", q, nil, &f); err != nil {
		return f, nil, err
	}
	for _, h := range f.Hits {
		l, err := trade.ReadListing(h.Listing)
		if err != nil {
			return f, nil, fmt.Errorf("search: %w: %w", ErrAnswer, err)
		}
		ls = append(ls, l)
	}
	return f, ls, nil
}

// Show returns a listing in its newest version, by its id or the hash of a version.
func (m *Market) Show(ctx context.Context, id trade.Hash) (s trade.Shown, l *trade.Offer, err error) {
	if err = m.ask(ctx, "GET", "/listings/"+id.String(), nil, nil, &s); err != nil {
		return s, nil, err
	}
	if l, err = trade.ReadListing(s.Hit.Listing); err != nil {
		return s, nil, fmt.Errorf("listing: %w: %w", ErrAnswer, err)
	}
	ok := l.ID() == id
	for _, v := range s.Versions {
		ok = ok || v == id
	}
	if !ok {
		return s, nil, fmt.Errorf("listing: %w: it is another", ErrAnswer)
	}
	return s, l, nil
}

// Publish sends a listing with its items.
func (m *Market) Publish(ctx context.Context, l *trade.Offer, items [][]byte) error {
	var id trade.Hash
	return m.ask(ctx, "POST", "/listings", nil, trade.Encode(trade.Publication{Listing: l.Signed, Items: items}), &id)
}

// Withdraw ends a listing with its seller's signed statement.
func (m *Market) Withdraw(ctx context.Context, signed []byte) error {
	return m.send(ctx, "/withdrawals", signed)
}

// Report sends a complaint.
func (m *Market) Report(ctx context.Context, signed []byte) error {
	return m.send(ctx, "/reports", signed)
}

// Review sends a review.
func (m *Market) Review(ctx context.Context, signed []byte) error {
	return m.send(ctx, "/reviews", signed)
}

// TakeDown ends a listing with the market's own key.
func (m *Market) TakeDown(ctx context.Context, n trade.Notice) error {
	return m.send(ctx, "/takedowns", trade.Encode(n))
}

func (m *Market) send(ctx context.Context, path string, body []byte) error {
	return m.ask(ctx, "POST", path, nil, body, nil)
}

// Order sends an order. Sending the same order again returns its present state.
func (m *Market) Order(ctx context.Context, signed []byte) (*trade.Chain, *trade.State, error) {
	return m.chain(ctx, "POST", "/orders", signed)
}

// Get returns an order of this key.
func (m *Market) Get(ctx context.Context, id trade.Hash) (*trade.Chain, *trade.State, error) {
	return m.chain(ctx, "GET", "/orders/"+id.String(), nil)
}

// Step moves an order.
func (m *Market) Step(ctx context.Context, id trade.Hash, signed []byte) (*trade.Chain, *trade.State, error) {
	return m.chain(ctx, "POST", "/orders/"+id.String()+"/steps", signed)
}

// Checkout returns the page on which an order is paid by card or, if how is "x402", the address at
// which an agent pays it.
func (m *Market) Checkout(ctx context.Context, id trade.Hash, how string) (c trade.Checkout, err error) {
	q := url.Values{}
	if how != "" {
		q.Set("by", how)
	}
	if err = m.ask(ctx, "POST", "/orders/"+id.String()+"/checkout", q, nil, &c); err != nil {
		return c, err
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || trade.Text(c.URL, 1, 4096, false) != nil || u.Scheme != "https" && (how == "" || u.Scheme != "http" || !clientaddr.Loopback(u.Hostname())) {
		return c, fmt.Errorf("checkout: %w: it names no page", ErrAnswer)
	}
	return c, nil
}

// Pay pays an order.
func (m *Market) Pay(ctx context.Context, id trade.Hash, p trade.Payment) (*trade.Chain, *trade.State, error) {
	return m.chain(ctx, "POST", "/orders/"+id.String()+"/payments", trade.Encode(p))
}

// chain requests an order, and replays it.
func (m *Market) chain(ctx context.Context, method, path string, body []byte) (*trade.Chain, *trade.State, error) {
	var c trade.Chain
	if err := m.ask(ctx, method, path, nil, body, &c); err != nil {
		return nil, nil, err
	}
	s, err := c.Replay()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w: %w", path, ErrAnswer, err)
	}
	return &c, s, nil
}

// Orders returns the orders of this key in a role (buyer, seller, arbiter) and a phase (empty:
// all), at most trade.MaxOrders after skip.
func (m *Market) Orders(ctx context.Context, role string, phase trade.Phase, skip int) ([]trade.Chain, []*trade.State, error) {
	return m.chains(ctx, "/orders", url.Values{"role": {role}, "phase": {string(phase)}, "skip": {strconv.Itoa(skip)}})
}

// MovedOrders returns the orders of this key that moved here from other markets, at most trade.MaxOrders
// after skip. Each is stamped by the market from which it comes.
func (m *Market) MovedOrders(ctx context.Context, skip int) ([]trade.Chain, []*trade.State, error) {
	return m.chains(ctx, "/moves", url.Values{"skip": {strconv.Itoa(skip)}})
}

// TakeOver brings a listing or an order from another market.
func (m *Market) TakeOver(ctx context.Context, v trade.Moving) error {
	return m.send(ctx, "/moves", trade.Encode(v))
}

func (m *Market) chains(ctx context.Context, path string, q url.Values) ([]trade.Chain, []*trade.State, error) {
	var all trade.Chains
	if err := m.ask(ctx, "GET", path, q, nil, &all); err != nil {
		return nil, nil, err
	}
	var out []*trade.State
	for i := range all.Orders {
		s, err := all.Orders[i].Replay()
		if err != nil {
			return nil, nil, fmt.Errorf("orders: %w: %w", ErrAnswer, err)
		}
		out = append(out, s)
	}
	return all.Orders, out, nil
}

// Bundle returns the sealed items of a paid order, checked against the listing.
func (m *Market) Bundle(ctx context.Context, s *trade.State) (items [][]byte, err error) {
	if err := m.ask(ctx, "GET", "/orders/"+s.ID.String()+"/bundle", nil, nil, &items); err != nil {
		return nil, err
	}
	return items, trade.CheckItems(&s.Offer.Listing, items)
}

// Balance returns the balances of this key.
func (m *Market) Balance(ctx context.Context) (out []trade.Balance, err error) {
	err = m.ask(ctx, "GET", "/balance", nil, nil, &out)
	return out, err
}

// Deposit adds the value of a voucher to this key's balance, and returns its balances.
func (m *Market) Deposit(ctx context.Context, voucher string) (out []trade.Balance, err error) {
	err = m.ask(ctx, "POST", "/deposits", nil, trade.Encode(trade.Payment{Voucher: voucher}), &out)
	return out, err
}

// Payout withdraws money, as a voucher.
func (m *Market) Payout(ctx context.Context, p trade.Payout) (string, error) {
	var c trade.Codes
	if err := m.ask(ctx, "POST", "/payouts", nil, trade.Encode(p), &c); err != nil {
		return "", err
	}
	if len(c.Codes) != 1 {
		return "", fmt.Errorf("payout: %w: %d codes", ErrAnswer, len(c.Codes))
	}
	return c.Codes[0], nil
}

// Issue makes vouchers, with the market's own key.
func (m *Market) Issue(ctx context.Context, i trade.Issue) (c trade.Codes, err error) {
	err = m.ask(ctx, "POST", "/vouchers", nil, trade.Encode(i), &c)
	return c, err
}

// Batches returns the batches of vouchers that were issued, with the market's own key.
func (m *Market) Batches(ctx context.Context) (out []trade.Batch, err error) {
	err = m.ask(ctx, "GET", "/vouchers", nil, nil, &out)
	return out, err
}

// Revoke ends the unused vouchers of a batch, with the market's own key.
func (m *Market) Revoke(ctx context.Context, batch string) (out trade.Revoked, err error) {
	err = m.ask(ctx, "POST", "/revocations", nil, trade.Encode(trade.Revocation{Batch: batch}), &out)
	return out, err
}

// Complaints returns the reports about live listings, with the market's own key.
func (m *Market) Complaints(ctx context.Context) (out []trade.Complaint, err error) {
	err = m.ask(ctx, "GET", "/reports", nil, nil, &out)
	return out, err
}

// Open returns what waits for the operator, with the market's own key.
func (m *Market) Open(ctx context.Context) (out []trade.Open, err error) {
	err = m.ask(ctx, "GET", "/x402", nil, nil, &out)
	return out, err
}

// CloseOpen closes such a case with its outcome, with the market's own key.
func (m *Market) CloseOpen(ctx context.Context, c trade.Closed) error {
	return m.send(ctx, "/x402", trade.Encode(c))
}
