package serve

import (
	"context"
	"net/http"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/trade"
)

// Seller sells bundles of copies at markets. A listing is named by its id, and a sale by its
// order's id; at least 8 characters are needed.
type Seller interface {
	// PreviewListing shows what a bundle would contain; nothing leaves the node.
	PreviewListing(ctx context.Context, r ListingRequest) (SharePreview, error)
	// PublishListing seals a bundle and lists it. It returns ErrConflict if r.Bundle.Confirm
	// belongs to another preview, and memory.ErrNotFound if nothing fits.
	PublishListing(ctx context.Context, r ListingRequest) (Listing, error)
	// Listings returns everything that this home listed, the newest first.
	Listings(ctx context.Context) ([]Listing, error)
	// WithdrawListing ends a listing. Orders from before continue.
	WithdrawListing(ctx context.Context, id, reason string) (Listing, error)
	// MoveListings lists what this home sells at another market, with its history.
	MoveListings(ctx context.Context, r MarketMove) ([]MovedListing, error)
	// Sales looks for orders, delivers those that need no approval, and returns all sales.
	Sales(ctx context.Context) ([]Sale, error)
	// SettleSale delivers the key of a sale that waits for approval, or refunds it.
	SettleSale(ctx context.Context, r SaleRequest) (Sale, error)
	// ListingFile returns the newest version of a listing as a CAR file, with its sealed items.
	ListingFile(ctx context.Context, id string) ([]byte, error)
	// TraceCopy finds out whose copy of a bundle a text comes from. It returns ErrConflict if the
	// copies have no marks.
	TraceCopy(ctx context.Context, r TraceRequest) (CopyTrace, error)
	// PayOutSales withdraws earnings from a market, as a voucher. Without an amount it only says what
	// is there.
	PayOutSales(ctx context.Context, r PayoutRequest) (Payout, error)
}

// ListingRequest says what is sold, where and for how much.
type ListingRequest struct {
	Bundle      ShareRequest `json:"bundle"`             // selects as for a share; to, title and expires stay empty
	Market      string       `json:"market"`             // URL of the relay with the market; empty: the node's relay
	Replaces    string       `json:"replaces,omitempty"` // id of a listing of which this is the next version
	Title       string       `json:"title"`
	Description string       `json:"description,omitempty"`
	Categories  []string     `json:"categories"`        // in lower case, with hyphens
	Languages   []string     `json:"languages"`         // BCP 47: en, zh-Hans
	Sample      []string     `json:"sample,omitempty"`  // lines by the seller that everybody can see
	Licence     string       `json:"licence,omitempty"` // empty: personal use
	Terms       string       `json:"terms,omitempty"`
	Price       string       `json:"price"`                  // such as 5.00 EUR
	Approve     bool         `json:"approve,omitempty"`      // each sale waits for the seller's approval
	DeliverDays int          `json:"deliver_days,omitempty"` // days to deliver; 0: 7
	AcceptDays  int          `json:"accept_days,omitempty"`  // days to accept; 0: 3
	EveryDays   int          `json:"every_days,omitempty"`   // length of a subscription's periods; each period is a version of its own; 0: no subscription
	Unmarked    bool         `json:"unmarked,omitempty"`     // all copies are the same, so nobody can tell who passed one on; later versions are unmarked, too
	// Answers means that the listing sells answers to questions at the price, and nobody can buy the
	// bundle.
	Answers *ListingAnswers `json:"answers,omitempty"`
	// Entry is the name or id of a community of the wearer's. The listing sells access to it instead
	// of memories: whoever pays is added.
	Entry string `json:"entry,omitempty"`
}

// ListingAnswers says how much of a bundle answers may show, in percent of its memories,
// each counted once.
type ListingAnswers struct {
	Each int `json:"each,omitempty"` // for one buyer, 1 to 100; 0: 10
	All  int `json:"all,omitempty"`  // for all buyers together, 1 to 100; 0: 50
}

// AnswerLimits are the limits of a listing that sells answers, in memories.
type AnswerLimits struct {
	Each int `json:"each"` // memories that all answers may show to one buyer
	All  int `json:"all"`  // memories that all answers may show to all buyers together
}

// Listing is something that this home sells.
type Listing struct {
	ID        trade.Hash `json:"id"`
	Version   trade.Hash `json:"version"` // the newest version
	Number    int        `json:"number"`
	Market    string     `json:"market"`
	Title     string     `json:"title"`
	Price     string     `json:"price"`
	Items     int        `json:"items"`
	Approve   bool       `json:"approve,omitempty"`
	Created   time.Time  `json:"created"`
	Withdrawn time.Time  `json:"withdrawn,omitzero"`
	Why       string     `json:"why,omitempty"`  // why it was withdrawn
	Held      string     `json:"held,omitempty"` // why this home delivers nothing: the policy
	// Answers are the limits of a listing that sells answers; nil: it sells its bundle.
	Answers *AnswerLimits `json:"answers,omitempty"`
	Marks   int           `json:"marks,omitempty"` // places at which buyers' copies differ; 0: copies are not marked
	// Unmarked means that the seller chose unmarked copies, for this version and all later ones.
	Unmarked bool `json:"unmarked,omitempty"`
	// Entry is the community to which the listing sells access; absent: none.
	Entry memory.SpaceID `json:"entry,omitzero"`
}

// ListingsAnswer lists listings.
type ListingsAnswer struct {
	Listings []Listing `json:"listings"`
}

// Sale is an order of something that this home sells.
type Sale struct {
	Order    trade.Hash  `json:"order"`
	Listing  trade.Hash  `json:"listing"`
	Title    string      `json:"title"`
	Buyer    trade.Key   `json:"buyer"`
	Phase    trade.Phase `json:"phase"`
	Price    string      `json:"price"`
	Paid     string      `json:"paid,omitempty"`    // amount for the seller, including fees
	Waits    bool        `json:"waits,omitempty"`   // it waits for approval
	Deadline time.Time   `json:"deadline,omitzero"` // when the phase expires
	Reason   string      `json:"reason,omitempty"`
	Question string      `json:"question,omitempty"` // a question that waits or was just answered
	Answer   []string    `json:"answer,omitempty"`   // what the buyer is shown of the bundle
}

// SalesAnswer lists sales.
type SalesAnswer struct {
	Sales []Sale `json:"sales"`
}

// SaleAct is what is done with a sale.
type SaleAct string

// The possible acts.
const (
	DeliverSale SaleAct = "deliver" // the key goes to the buyer
	RefundSale  SaleAct = "refund"  // the price goes back to the buyer
)

// SaleRequest settles a sale.
type SaleRequest struct {
	Order  string  `json:"-"` // its id, or at least 8 characters of it
	Act    SaleAct `json:"act" enum:"deliver,refund"`
	Reason string  `json:"reason,omitempty"` // the reason of a refund, for the buyer
}

type settled struct {
	Order string `path:"order" doc:"its id, or at least 8 characters of it"`
	Body  SaleRequest
}

// PayoutRequest withdraws earnings from a market.
type PayoutRequest struct {
	Market string `json:"market,omitempty"` // URL; empty: the node's relay
	Amount string `json:"amount,omitempty"` // such as 5.00 EUR; empty: nothing, to see what is there
}

// Payout is what a market paid, and what is left there.
type Payout struct {
	Voucher     string   `json:"voucher,omitempty"`      // anyone who has it can use it
	Earned      []string `json:"earned,omitzero"`        // not paid out yet: one amount for each currency; absent: unknown
	EarnedError string   `json:"earned_error,omitempty"` // why that is unknown
}

// MarketMove says where the listings of this home move to.
type MarketMove struct {
	To      string `json:"to"`                // URL of the relay with the other market
	Abandon bool   `json:"abandon,omitempty"` // the old market is dead: it is not asked, and nothing is withdrawn there
	DryRun  bool   `json:"dry_run,omitempty"` // only show what would move
}

// MovedListing is a listing that moved.
type MovedListing struct {
	Listing trade.Hash `json:"listing"`      // its id at the old market
	Now     trade.Hash `json:"now,omitzero"` // its id at the other market
	Title   string     `json:"title"`
	Orders  int        `json:"orders"`         // number of orders that moved with it
	Open    int        `json:"open,omitempty"` // in a dry run: number of orders that have not ended
	Why     string     `json:"why,omitempty"`  // why it did not move, or only in part; the same request again continues
}

// MovesAnswer lists the listings that moved.
type MovesAnswer struct {
	Moves []MovedListing `json:"moves"`
}

type listingFileOf struct {
	Listing string `path:"listing" doc:"its id, or at least 8 characters of it"`
}

type listingOf struct {
	Listing string `path:"listing" doc:"its id, or at least 8 characters of it"`
	Reason  string `query:"reason" doc:"the reason, for everybody to read; optional"`
}

var saleTopic = topic[Seller]{previewListing.untyped, publishListing.untyped, listListings.untyped, withdrawListing.untyped, moveListings.untyped, listSales.untyped, settleSale.untyped, payOutSales.untyped, listingFile.untyped, traceCopy.untyped}

var (
	previewListing = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/preview", id: "previewListing",
		summary: "Preview a bundle for sale", gives: "What its buyers would see; nothing has left the node",
	}, Seller.PreviewListing)

	publishListing = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/listings", id: "publishListing", made: true,
		summary: "Seal a bundle and list it at a market", gives: "The listing",
	}, Seller.PublishListing)

	listListings = plainList[ListingsAnswer](RightOwner, spec{
		method: "GET", path: "/v1/market/listings", id: "listListings",
		summary: "List what this home sells", gives: "The listings, newest first",
	}, Seller.Listings)

	withdrawListing = jsonRoute(RightOwner, spec{
		method: "DELETE", path: "/v1/market/listings/{listing}", id: "withdrawListing",
		summary: "Withdraw a listing", gives: "The listing, which nobody can find or order any more; existing orders continue",
	}, func(s Seller, ctx context.Context, in listingOf) (Listing, error) {
		return s.WithdrawListing(ctx, in.Listing, in.Reason)
	})

	moveListings = listRoute[MovesAnswer](RightOwner, spec{
		method: "POST", path: "/v1/market/moves", id: "moveListings",
		summary: "Move what this home sells, with its paid orders, to another market", gives: "The listings, with the reason for each that did not move",
	}, Seller.MoveListings)

	listingFile = rawRoute[Seller, listingFileOf, []byte](RightOwner, spec{
		method: "GET", path: "/v1/market/listings/{listing}/car", id: "listingFile",
		summary: "Get a listing as a CAR file, which other tools can read", gives: "A CAR file with the sealed items and the listing",
	}, carFile, func(w http.ResponseWriter, r *http.Request, s Seller, in listingFileOf) error {
		b, err := s.ListingFile(r.Context(), in.Listing)
		return writeFile(w, MediaTypeCAR, b, err)
	})

	listSales = plainList[SalesAnswer](RightOwner, spec{
		method: "GET", path: "/v1/market/sales", id: "listSales",
		summary: "Check for orders, and deliver those that need no approval", gives: "The sales, most recently changed first",
	}, Seller.Sales)

	settleSale = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/sales/{order}", id: "settleSale",
		summary: "Deliver the key of a sale, or refund the price", gives: "The sale",
	}, func(s Seller, ctx context.Context, in settled) (Sale, error) {
		in.Body.Order = in.Order
		return s.SettleSale(ctx, in.Body)
	})

	payOutSales = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/payouts", id: "payOutSales",
		summary: "See and pay out earnings from a market", gives: "What is left there and, with an amount, a voucher; anyone who has it can use it",
	}, Seller.PayOutSales)
)

// PreviewListing shows what a bundle would contain.
func (c *Client) PreviewListing(ctx context.Context, r ListingRequest) (SharePreview, error) {
	return call(ctx, c, previewListing, r)
}

// PublishListing lists a bundle.
func (c *Client) PublishListing(ctx context.Context, r ListingRequest) (Listing, error) {
	return call(ctx, c, publishListing, r)
}

// Listings lists what this home sells.
func (c *Client) Listings(ctx context.Context) ([]Listing, error) {
	return items(ctx, c, listListings, none{})
}

// WithdrawListing ends a listing.
func (c *Client) WithdrawListing(ctx context.Context, id, reason string) (Listing, error) {
	return call(ctx, c, withdrawListing, listingOf{id, reason})
}

// MoveListings lists at another market what this home sells.
func (c *Client) MoveListings(ctx context.Context, r MarketMove) ([]MovedListing, error) {
	return items(ctx, c, moveListings, r)
}

// Sales looks for orders, and returns all sales.
func (c *Client) Sales(ctx context.Context) ([]Sale, error) {
	return items(ctx, c, listSales, none{})
}

// SettleSale delivers or refunds a sale.
func (c *Client) SettleSale(ctx context.Context, r SaleRequest) (Sale, error) {
	return call(ctx, c, settleSale, settled{r.Order, r})
}

// PayOutSales withdraws earnings from a market.
func (c *Client) PayOutSales(ctx context.Context, r PayoutRequest) (Payout, error) {
	return call(ctx, c, payOutSales, r)
}
