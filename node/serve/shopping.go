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
	Market   string `query:"market" doc:"URL of the relay with the market; the node's relay if absent"`
	Words    string `query:"q" doc:"words that a listing has"`
	Category string `query:"category" doc:"only of this category"`
	Language string `query:"language" doc:"only in this language: en, zh-Hans"`
	Most     string `query:"most" doc:"only up to this price: 5.00 EUR"`
	Newest   bool   `query:"newest" default:"false" doc:"the newest first; else the best match"`
	Limit    int    `query:"limit" min:"1" max:"50" default:"20" doc:"how many"`
	Skip     int    `query:"skip" min:"0" max:"1000" default:"0" doc:"listings to leave out first"`
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
	Stars   float64    `json:"stars,omitempty"` // average

	Description string         `json:"description,omitempty"`
	Categories  []string       `json:"categories"`
	Languages   []string       `json:"languages"`
	Counts      map[string]int `json:"counts"` // items of each type
	Sample      []string       `json:"sample,omitempty"`
	Licence     string         `json:"licence"`
	Terms       string         `json:"terms,omitempty"`
	Redaction   []string       `json:"redaction,omitempty"` // kinds of redaction
	Since       time.Time      `json:"since,omitzero"`
	Until       time.Time      `json:"until,omitzero"`
	DeliverDays float64        `json:"deliver_days"`
	AcceptDays  float64        `json:"accept_days"`
	EveryDays   float64        `json:"every_days,omitempty"` // length of a subscription's period
	Answers     *AnswerLimits  `json:"answers,omitempty"`    // it sells answers, each at the price; absent: it sells the bundle
	Marks       int            `json:"marks,omitempty"`      // places where the words of each buyer's copy differ, which reveal to the seller who passed it on; 0: none do
	Entry       bool           `json:"entry,omitempty"`      // it sells the entry to a community
	Said        []OfferReview  `json:"said,omitempty"`
	Check       ReviewCheck    `json:"check,omitzero"`   // this node's check of the reviews
	Before      []OfferOrigin  `json:"before,omitempty"` // the markets where it was listed before
}

// ReviewCheck is what a node found out about the reviews that a market shows.
type ReviewCheck struct {
	Proven   int      `json:"proven"`
	Unproven int      `json:"unproven,omitempty"`
	Hidden   int      `json:"hidden,omitempty"`  // reviews that are in the market's log and older than the newest, but that the market neither shows nor explains
	Deleted  []string `json:"deleted,omitempty"` // reviews deleted by the operator, with the reasons in the log
	Stars    float64  `json:"stars,omitempty"`   // average of the proven ones
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
	Stars   float64       `json:"stars,omitempty"` // average
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
	Facets []OfferFacet `json:"facets"` // counts over all matching listings
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
	Market  string     `query:"market" doc:"URL of the relay with the market; the node's relay if absent"`
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
	Price   string     `json:"price"` // as quoted: 5.00 EUR
	// Question is what an order of an answer asks, in at most 1000 bytes. Only the seller
	// can read it.
	Question string `json:"question,omitempty"`
}

type ordersQuery struct {
	Look bool `query:"look" default:"false" doc:"ask the markets how the orders stand that have not ended"`
}

// OrdersAnswer lists orders, the one with the latest step first.
type OrdersAnswer struct {
	Orders []Purchase `json:"orders"`
	Failed []string   `json:"failed,omitempty"` // why the state of some orders is unknown
}

type orderOf struct {
	Order trade.Hash `path:"order" doc:"its id of 64 hexadecimal characters"`
}

// OpenedOrder is an order with what was delivered.
type OpenedOrder struct {
	Purchase
	Broken string `json:"broken,omitempty"` // how it differs from the listing: a reason for a dispute
	Item   int    `json:"item,omitempty"`   // number of the item that differs from the listing, from 1; 0: not a single item
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
	Voucher string     `json:"voucher,omitempty"` // a voucher to pay with; what is left over stays in the wearer's balance
	Item    int        `json:"item,omitempty"`    // for a dispute: the item, from 1; 0: the key is wrong
	Reason  string     `json:"reason,omitempty"`  // for a dispute: the reason, for the seller, the arbiter and the market
	Stars   int        `json:"stars,omitempty"`   // for a review: 1 to 5
	Text    string     `json:"text,omitempty"`    // for a review: its text
}

type toOrder[B any] struct {
	Order trade.Hash `path:"order" doc:"its id of 64 hexadecimal characters"`
	Body  B
}

// FundsRequest may change the wearer's balance at a market.
type FundsRequest struct {
	Market  string `json:"market,omitempty"`
	Voucher string `json:"voucher,omitempty"` // a voucher to pay in
	Amount  string `json:"amount,omitempty"`  // the amount to pay out as a voucher: 5.00 EUR
}

// Funds is the wearer's balance at a market.
type Funds struct {
	Has     []string `json:"has"`               // one amount for each currency
	Pays    []string `json:"pays"`              // the ways to pay: voucher, stripe
	Voucher string   `json:"voucher,omitempty"` // the voucher that was paid out; whoever has it can use it
}

var shopping = topic[Shopper]{findOffers.untyped, showOffer.untyped, reportOffer.untyped, orderOffer.untyped, listOrders.untyped, openOrder.untyped, moveOrder.untyped, changeFunds.untyped}

var (
	findOffers = jsonRoute(RightOwner, spec{
		method: "GET", path: "/v1/market/offers", id: "findOffers",
		summary: "Search a market", gives: "Listings, and how many there are of each category, language and currency",
	}, Shopper.Offers)

	showOffer = jsonRoute(RightOwner, spec{
		method: "GET", path: "/v1/market/offers/{listing}", id: "showOffer",
		summary: "Show a listing of a market, with its reviews", gives: "The newest version",
	}, func(s Shopper, ctx context.Context, in offerOf) (Offer, error) {
		return s.Offer(ctx, in.Market, in.Listing)
	})

	reportOffer = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/reports", id: "reportOffer",
		summary: "Tell a market's operator what is wrong with a listing", gives: "The listing",
	}, Shopper.ReportOffer)

	orderOffer = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/orders", id: "orderOffer", made: true,
		summary: "Order a listing as it was quoted", gives: "The order, which is not paid",
	}, Shopper.Order)

	listOrders = fieldRoute[ordersQuery](RightOwner, spec{
		method: "GET", path: "/v1/market/orders", id: "listOrders",
		summary: "List what was ordered", gives: "The orders, the last moved first",
	}, Shopper.Orders)

	openOrder = fieldRoute[orderOf](RightOwner, spec{
		method: "GET", path: "/v1/market/orders/{order}", id: "openOrder",
		summary: "Check what was bought against its listing, and show it", gives: "The order, with what came",
	}, Shopper.OpenOrder)

	moveOrder = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/orders/{order}", id: "moveOrder",
		summary: "Pay, cancel, accept, dispute or review an order",
		about:   "The market holds the price until the order is accepted, or the time to accept is over. Then the seller is paid, and that can't be had back.",
		gives:   "The order",
	}, func(s Shopper, ctx context.Context, in toOrder[OrderStep]) (Purchase, error) {
		in.Body.Order = in.Order
		return s.MoveOrder(ctx, in.Body)
	})

	changeFunds = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/funds", id: "changeFunds",
		summary: "What the wearer has at a market; put a voucher there, or take something out as one", gives: "What is there",
	}, Shopper.Funds)
)
