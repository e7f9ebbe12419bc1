package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/sync/trade"
)

// Shopper buys at a market for the wearer, with the wearer's key and money. For apps see
// [Buyer]. A market is the URL of its relay; empty: the node's relay.
type Shopper interface {
	// Offers searches a market.
	Offers(ctx context.Context, q OfferQuery) (OffersAnswer, error)
	// Offer returns a listing with its reviews.
	Offer(ctx context.Context, market string, id trade.Hash) (Offer, error)
	// ReportOffer reports to the market's operator what is wrong with a listing.
	ReportOffer(ctx context.Context, r OfferReport) (Offer, error)
	// Order orders a version of a listing at a price. Nothing is owed before it is paid.
	// ErrConflict: it is not the newest version, or the price is different.
	Order(ctx context.Context, r OrderRequest) (Purchase, error)
	// Orders returns all orders of this home, including those of apps. With look, the
	// markets are asked for the state of the orders that have not ended.
	Orders(ctx context.Context, look bool) (OrdersAnswer, error)
	// OpenOrder asks for the state of an order, checks what was delivered against the
	// listing, and returns it.
	OpenOrder(ctx context.Context, order trade.Hash) (OpenedOrder, error)
	// MoveOrder takes the next step of an order. ErrConflict: the order's phase has no such
	// step.
	MoveOrder(ctx context.Context, r OrderStep) (Purchase, error)
	// Funds returns the wearer's balance at a market, after it has paid in or paid out a
	// voucher if requested.
	Funds(ctx context.Context, r FundsRequest) (Funds, error)
}

// OfferQuery searches listings. A listing matches if it has all words.
type OfferQuery struct {
	Market   string `query:"market" doc:"URL of the relay with the market; absent: the node's relay"`
	Words    string `query:"q" doc:"words that a listing must have"`
	Category string `query:"category" doc:"only listings in this category"`
	Language string `query:"language" doc:"only listings in this language, such as en or zh-Hans"`
	Most     string `query:"most" doc:"only up to this price, such as 5.00 EUR"`
	Newest   bool   `query:"newest" default:"false" doc:"true: newest first; false: best match first"`
	Limit    int    `query:"limit" min:"1" max:"50" default:"20" doc:"number of listings"`
	Skip     int    `query:"skip" min:"0" max:"1000" default:"0" doc:"number of listings to skip"`
}

// Offer is a listing as buyers see it. A stranger wrote its texts. Counts of sales are only
// what the market claims. So are the counts of reviews if many listings are shown, or if
// Check has an error. Otherwise Reviews and Stars count only reviews that were proven.
type Offer struct {
	ID      trade.Hash `json:"id"`
	Version trade.Hash `json:"version"` // the version that an order names
	Number  int        `json:"number"`
	State   string     `json:"state,omitempty"` // live, withdrawn or removed
	Why     string     `json:"why,omitempty"`   // why it ended
	Title   string     `json:"title"`
	Price   string     `json:"price"`
	Minor   uint64     `json:"minor"`
	Code    string     `json:"currency"`
	Seller  trade.Key  `json:"seller"`
	Items   int        `json:"items"`
	Sold    int        `json:"sold"`
	Reviews int        `json:"reviews"`
	Stars   float64    `json:"stars,omitempty"` // average of the reviews

	Description string         `json:"description,omitempty"`
	Categories  []string       `json:"categories"`
	Languages   []string       `json:"languages"`
	Counts      map[string]int `json:"counts"` // number of items, by type
	Sample      []string       `json:"sample,omitempty"`
	Licence     string         `json:"licence"`
	Terms       string         `json:"terms,omitempty"`
	Redaction   []string       `json:"redaction,omitempty"` // kinds of things that were redacted
	Since       time.Time      `json:"since,omitzero"`
	Until       time.Time      `json:"until,omitzero"`
	DeliverDays float64        `json:"deliver_days"`
	AcceptDays  float64        `json:"accept_days"`
	EveryDays   float64        `json:"every_days,omitempty"` // length of a subscription's periods
	Answers     *AnswerLimits  `json:"answers,omitempty"`    // it sells answers, each at the price; absent: it sells the bundle
	Marks       int            `json:"marks,omitempty"`      // places at which the words of each buyer's copy differ, so that the seller can tell who passed it on; 0: copies are not marked
	Entry       bool           `json:"entry,omitempty"`      // it sells access to a community
	Said        []OfferReview  `json:"said,omitempty"`
	Check       ReviewCheck    `json:"check,omitzero"`   // this node's check of Said
	Before      []OfferOrigin  `json:"before,omitempty"` // markets where it was listed before
}

// ReviewCheck is what a node found out about the reviews that a market shows.
type ReviewCheck struct {
	Proven   int      `json:"proven"`
	Unproven int      `json:"unproven,omitempty"`
	Hidden   int      `json:"hidden,omitempty"`  // reviews in the market's log, older than the newest, that the market does not show, without a reason
	Deleted  []string `json:"deleted,omitempty"` // the reasons in the log for reviews that the operator deleted
	Stars    float64  `json:"stars,omitempty"`   // average of the proven reviews
	Error    string   `json:"error,omitempty"`   // why nothing was checked
}

// Unproven is what a review lacks.
type Unproven string

// Values of Unproven.
const (
	NoReceipt Unproven = "receipt" // an order of this listing, signed by the reviewer, whose key the seller delivered
	NotLogged Unproven = "log"     // the review, or its receipt, is not in the market's log
	SaidTwice Unproven = "twice"   // another review of the same order is shown
)

// OfferOrigin is a market where a listing was before. The counts are what that market
// certified: its claim.
type OfferOrigin struct {
	Market  trade.Key     `json:"market"`
	Listing trade.Hash    `json:"listing"`
	Sold    int           `json:"sold"`
	Reviews int           `json:"reviews"`
	Stars   float64       `json:"stars,omitempty"` // average of the reviews
	Said    []OfferReview `json:"said,omitempty"`
}

// OfferReview is a buyer's review, which names the receipt of an order.
type OfferReview struct {
	Stars int        `json:"stars"` // 1 to 5
	Text  string     `json:"text,omitempty"`
	By    trade.Key  `json:"by"`
	At    time.Time  `json:"at"`
	Order trade.Hash `json:"order"` // the order that it reviews
	// Unproven is empty if the node checked the review and found it valid.
	Unproven Unproven `json:"unproven,omitempty"`
}

// OffersAnswer has the matching listings.
type OffersAnswer struct {
	Offers []Offer      `json:"offers"`
	Facets []OfferFacet `json:"facets"` // for all listings that match
	Total  int          `json:"total"`
}

// OfferFacet is how many of the matching listings have a value.
type OfferFacet struct {
	Kind  string `json:"kind"` // category, language or currency
	Value string `json:"value"`
	Count int    `json:"count"`
}

type offerOf struct {
	Listing trade.Hash `path:"listing" doc:"its id of 64 hexadecimal characters"`
	Market  string     `query:"market" doc:"URL of the relay with the market; absent: the node's relay"`
}

// OfferReport says what is wrong with a listing.
type OfferReport struct {
	Market string     `json:"market,omitempty"`
	ID     trade.Hash `json:"id"`
	Reason string     `json:"reason"`
}

// OrderRequest orders a listing at a quoted price.
type OrderRequest struct {
	Market  string     `json:"market,omitempty"`
	Version trade.Hash `json:"version"`
	Price   string     `json:"price"` // as quoted, such as 5.00 EUR
	// Question is what an order for an answer asks, in at most 1000 bytes. Only the seller can read
	// it.
	Question string `json:"question,omitempty"`
}

type ordersQuery struct {
	Look bool `query:"look" default:"false" doc:"ask the markets for the state of orders that have not ended"`
}

// OrdersAnswer lists orders, the one with the latest step first.
type OrdersAnswer struct {
	Orders []Purchase `json:"orders"`
	Failed []string   `json:"failed,omitempty"` // why the state of some orders is not known
}

type orderOf struct {
	Order trade.Hash `path:"order" doc:"its id of 64 hexadecimal characters"`
}

// OpenedOrder is an order with what was delivered.
type OpenedOrder struct {
	Purchase
	Broken string `json:"broken,omitempty"` // why the goods are not as listed: a reason for a dispute
	Item   int    `json:"item,omitempty"`   // number of the item that is not as listed, from 1; 0: no single item
}

// OrderAct is a step that a buyer takes.
type OrderAct string

// The steps.
const (
	PayOrder     OrderAct = "pay"    // with a voucher, or from the wearer's balance at the market
	CardOrder    OrderAct = "card"   // returns a page to pay on by card
	CancelOrder  OrderAct = "cancel" // cancel an order that is not paid
	AcceptOrder  OrderAct = "accept" // each item is checked once more, and the seller is paid
	DisputeOrder OrderAct = "dispute"
	ReviewOrder  OrderAct = "review" // publish a review for everybody
)

// OrderStep is a step of an order.
type OrderStep struct {
	Order   trade.Hash `json:"-"`
	Act     OrderAct   `json:"act" enum:"pay,card,cancel,accept,dispute,review"`
	Voucher string     `json:"voucher,omitempty"` // to pay with; the rest of its value stays the wearer's at the market
	Item    int        `json:"item,omitempty"`    // for a dispute: number of the item, from 1; 0: the key is wrong
	Reason  string     `json:"reason,omitempty"`  // for a dispute: for the seller, the arbiter and the market
	Stars   int        `json:"stars,omitempty"`   // for a review, 1 to 5
	Text    string     `json:"text,omitempty"`    // for a review
}

type toOrder[B any] struct {
	Order trade.Hash `path:"order" doc:"its id of 64 hexadecimal characters"`
	Body  B
}

// FundsRequest may change the wearer's balance at a market.
type FundsRequest struct {
	Market  string `json:"market,omitempty"`
	Voucher string `json:"voucher,omitempty"` // to add
	Amount  string `json:"amount,omitempty"`  // to withdraw as a voucher, such as 5.00 EUR
}

// Funds is the wearer's balance at a market.
type Funds struct {
	Has     []string `json:"has"`               // one amount for each currency
	Pays    []string `json:"pays"`              // the ways to pay: voucher, stripe
	Voucher string   `json:"voucher,omitempty"` // the withdrawn amount; anyone who has it can use it
}

var ordersTopic = topic[Shopper]{findOffers.untyped, showOffer.untyped, reportOffer.untyped, orderOffer.untyped, listOrders.untyped, openOrder.untyped, moveOrder.untyped, changeFunds.untyped}

var (
	findOffers = jsonRoute(RightOwner, spec{
		method: "GET", path: "/v1/market/offers", id: "findOffers",
		summary: "Search a market", gives: "Listings, and their number by category, language and currency",
	}, Shopper.Offers)

	showOffer = jsonRoute(RightOwner, spec{
		method: "GET", path: "/v1/market/offers/{listing}", id: "showOffer",
		summary: "Show a listing of a market, with its reviews", gives: "The newest version of the listing",
	}, func(s Shopper, ctx context.Context, in offerOf) (Offer, error) {
		return s.Offer(ctx, in.Market, in.Listing)
	})

	reportOffer = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/reports", id: "reportOffer",
		summary: "Report a listing to the market's operator", gives: "The listing",
	}, Shopper.ReportOffer)

	orderOffer = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/orders", id: "orderOffer", made: true,
		summary: "Order a listing at the quoted price", gives: "The order, not yet paid",
	}, Shopper.Order)

	listOrders = fieldRoute[ordersQuery](RightOwner, spec{
		method: "GET", path: "/v1/market/orders", id: "listOrders",
		summary: "List the orders", gives: "The orders, most recently changed first",
	}, Shopper.Orders)

	openOrder = fieldRoute[orderOf](RightOwner, spec{
		method: "GET", path: "/v1/market/orders/{order}", id: "openOrder",
		summary: "Check a purchase against its listing, and show it", gives: "The order, with what was delivered",
	}, Shopper.OpenOrder)

	moveOrder = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/orders/{order}", id: "moveOrder",
		summary: "Pay, cancel, accept, dispute or review an order",
		about:   "The market holds the price until the order is accepted, or until the time to accept it is over. Then the seller is paid, and this can't be undone.",
		gives:   "The order",
	}, func(s Shopper, ctx context.Context, in toOrder[OrderStep]) (Purchase, error) {
		in.Body.Order = in.Order
		return s.MoveOrder(ctx, in.Body)
	})

	changeFunds = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/funds", id: "changeFunds",
		summary: "Show the wearer's money at a market; add a voucher, or withdraw an amount as one", gives: "The money that is there",
	}, Shopper.Funds)
)
