package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/trade"
)

// Buyer buys at a market for apps, with the wearer's key and money there, as far as
// the wearer allowed: see [AppBuying]. Each call is for the app in its context, see
// [Spending]; without one it is ErrUnsupported.
type Buyer interface {
	// FindGoods searches the market that the app buys at.
	FindGoods(ctx context.Context, q GoodsQuery) (GoodsAnswer, error)
	// Quote gives a listing with what stands between the app and it.
	Quote(ctx context.Context, listing trade.Hash) (Quote, error)
	// OrderGoods orders a version of a listing: ErrConflict where it is not the newest,
	// or costs another price. Nothing is owed before it is paid.
	OrderGoods(ctx context.Context, r GoodsOrder) (Purchase, error)
	// PayGoods pays an order. Waits says that the wearer has to approve it first.
	// ErrLimit: it is over what is left of the budget. The same again changes nothing.
	PayGoods(ctx context.Context, order trade.Hash) (Purchase, error)
	// FetchGoods gives an order of the app's with what was delivered of it.
	FetchGoods(ctx context.Context, order trade.Hash) (Purchase, error)
}

// AppBuying is what an app may buy. What is not named is not allowed.
type AppBuying struct {
	Market     string   `json:"market"`               // URL of the relay with the market
	Budget     string   `json:"budget"`               // 10.00 EUR: what it may pay in 30 days, and the currency
	Alone      string   `json:"alone,omitempty"`      // 2.00 EUR: the price up to which it does not ask the wearer; absent: it always asks
	Categories []string `json:"categories,omitempty"` // only listings in one of these
}

// Spender is an app that buys.
type Spender struct {
	App string
	AppBuying
}

type spenderKey struct{}

// WithSpender returns a context in which an app buys.
func WithSpender(ctx context.Context, s *Spender) context.Context {
	return context.WithValue(ctx, spenderKey{}, s)
}

// Spending returns the app that buys, or nil.
func Spending(ctx context.Context) *Spender {
	s, _ := ctx.Value(spenderKey{}).(*Spender)
	return s
}

// GoodsQuery searches listings. What fits has all words.
type GoodsQuery struct {
	Words    string `query:"q" doc:"words that a listing has"`
	Language string `query:"language" doc:"BCP 47: en, zh-Hans"`
	Limit    int    `query:"limit" min:"1" max:"20" default:"10" doc:"how many"`
	Skip     int    `query:"skip" min:"0" max:"1000" default:"0" doc:"listings to leave out first"`
}

// Goods is a listing. Its texts are a stranger's: data, and no instruction.
type Goods struct {
	Listing     trade.Hash `json:"listing"`
	Version     trade.Hash `json:"version"` // that an order names
	Title       string     `json:"title"`
	Description string     `json:"description,omitempty"`
	Sample      []string   `json:"sample,omitempty"`
	Categories  []string   `json:"categories"`
	Languages   []string   `json:"languages"`
	Redaction   []string   `json:"redaction"`
	Licence     string     `json:"licence,omitempty"`
	Items       int        `json:"items"`
	Price       string     `json:"price"`
	Seller      trade.Key  `json:"seller"`
}

// GoodsAnswer has listings that fit.
type GoodsAnswer struct {
	Goods []Goods `json:"goods"`
	Total int     `json:"total"`
}

// Quote is a listing with the terms on which the app may buy it.
type Quote struct {
	Goods
	Left  string `json:"left"`             // of the app's budget
	Asks  bool   `json:"asks,omitempty"`   // the wearer has to approve the payment
	Bars  string `json:"barred,omitempty"` // why the app may not buy it; absent: it may
	Terms string `json:"terms"`            // what can't be had back
}

// GoodsOrder orders what was quoted.
type GoodsOrder struct {
	Version trade.Hash `json:"version"` // as quoted
	Price   string     `json:"price"`   // as quoted
}

// Purchase is an order of an app's.
type Purchase struct {
	Order    trade.Hash         `json:"order"`
	Listing  trade.Hash         `json:"listing"`
	Title    string             `json:"title"`
	Price    string             `json:"price"`
	Phase    trade.Phase        `json:"phase"`
	Deadline time.Time          `json:"deadline,omitzero"` // when the phase ends
	Waits    bool               `json:"waits,omitempty"`   // for the wearer's approval: pay again after it
	Items    []memory.Candidate `json:"items,omitempty"`   // what was delivered, each checked against the listing
}

type goodsOf struct {
	ID trade.Hash `path:"id" doc:"64 hexadecimal characters"`
}

var buying = topic[Buyer]{findGoods, quoteGoods, orderGoods, payGoods, fetchGoods}

var (
	findGoods = takes(RightBuy, spec{
		method: "GET", path: "/v1/goods", id: "findGoods",
		summary: "Search the market that the app may buy at", gives: "Listings that fit",
	}, Buyer.FindGoods)

	quoteGoods = takes(RightBuy, spec{
		method: "GET", path: "/v1/goods/{id}", id: "quoteGoods",
		summary: "What a listing costs, and whether the app may buy it", gives: "The quote",
	}, func(s Buyer, ctx context.Context, in goodsOf) (Quote, error) { return s.Quote(ctx, in.ID) })

	orderGoods = takes(RightBuy, spec{
		method: "POST", path: "/v1/purchases", id: "orderGoods", made: true,
		summary: "Order what was quoted", gives: "The order; nothing is owed before it is paid",
	}, Buyer.OrderGoods)

	payGoods = takes(RightBuy, spec{
		method: "POST", path: "/v1/purchases/{id}/payment", id: "payGoods",
		summary: "Pay an order from the wearer's balance, within the app's budget",
		about:   "Over the sum that the wearer set, the wearer is asked (see the consents), and waits is true: pay again once that is answered.",
		gives:   "The order",
	}, func(s Buyer, ctx context.Context, in goodsOf) (Purchase, error) { return s.PayGoods(ctx, in.ID) })

	fetchGoods = takes(RightBuy, spec{
		method: "GET", path: "/v1/purchases/{id}", id: "fetchGoods",
		summary: "How an order stands, with what was delivered", gives: "The order",
	}, func(s Buyer, ctx context.Context, in goodsOf) (Purchase, error) { return s.FetchGoods(ctx, in.ID) })
)

// FindGoods searches the market that the app may buy at.
func (c *Client) FindGoods(ctx context.Context, q GoodsQuery) (GoodsAnswer, error) {
	return findGoods.call(ctx, c, q)
}

// Quote gives a listing with the terms on which the app may buy it.
func (c *Client) Quote(ctx context.Context, listing trade.Hash) (Quote, error) {
	return quoteGoods.call(ctx, c, goodsOf{listing})
}

// OrderGoods orders what was quoted.
func (c *Client) OrderGoods(ctx context.Context, r GoodsOrder) (Purchase, error) {
	return orderGoods.call(ctx, c, r)
}

// PayGoods pays an order.
func (c *Client) PayGoods(ctx context.Context, order trade.Hash) (Purchase, error) {
	return payGoods.call(ctx, c, goodsOf{order})
}

// FetchGoods gives an order with what was delivered.
func (c *Client) FetchGoods(ctx context.Context, order trade.Hash) (Purchase, error) {
	return fetchGoods.call(ctx, c, goodsOf{order})
}
