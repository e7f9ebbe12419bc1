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
	// PayOutSales withdraws earnings from a market, as a voucher.
	PayOutSales(ctx context.Context, r PayoutRequest) (Payout, error)
}

// ListingRequest says what is sold, where and for how much.
type ListingRequest struct {
	Bundle      ShareRequest `json:"bundle"`             // as for a share; to, title and expires stay empty
	Market      string       `json:"market"`             // URL of the relay with the market; empty: the node's relay
	Replaces    string       `json:"replaces,omitempty"` // the listing of which this is the next version
	Title       string       `json:"title"`
	Description string       `json:"description,omitempty"`
	Categories  []string     `json:"categories"`        // in lower case, with hyphens
	Languages   []string     `json:"languages"`         // BCP 47: en, zh-Hans
	Sample      []string     `json:"sample,omitempty"`  // shown to everybody; the seller makes it
	Licence     string       `json:"licence,omitempty"` // empty: personal use
	Terms       string       `json:"terms,omitempty"`
	Price       string       `json:"price"`                  // 5.00 EUR
	Approve     bool         `json:"approve,omitempty"`      // each sale waits for the seller's approval
	DeliverDays int          `json:"deliver_days,omitempty"` // 0: 7
	AcceptDays  int          `json:"accept_days,omitempty"`  // 0: 3
	EveryDays   int          `json:"every_days,omitempty"`   // for a subscription: each period is a version of its own; 0: none
	Unmarked    bool         `json:"unmarked,omitempty"`     // all copies are the same, so nobody can tell who passed one on; later versions are unmarked, too
	// Answers: questions are answered at the price, and the bundle is not sold.
	Answers *ListingAnswers `json:"answers,omitempty"`
	// Entry sells the entry to a community of the wearer, named by its name or id, instead of
	// memories: whoever pays is admitted.
	Entry string `json:"entry,omitempty"`
}

// ListingAnswers says how much of a bundle answers may show, in percent of its memories,
// each counted once.
type ListingAnswers struct {
	Each int `json:"each,omitempty"` // to one buyer, 1 to 100; 0: 10
	All  int `json:"all,omitempty"`  // to all buyers together, 1 to 100; 0: 50
}

// AnswerLimits are the limits of a listing that sells answers, in memories.
type AnswerLimits struct {
	Each int `json:"each"` // shown to one buyer at most, by all answers together
	All  int `json:"all"`  // shown to all buyers together at most
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
	Held      string     `json:"held,omitempty"` // why this home does not deliver it: your policy
	// Answers are the limits of a listing that sells answers; nil: it sells its bundle.
	Answers *AnswerLimits `json:"answers,omitempty"`
	Marks   int           `json:"marks,omitempty"` // places where each buyer's copy differs from another's; 0: none do
	// Unmarked: the seller chose unmarked copies, for this version and each that follows.
	Unmarked bool `json:"unmarked,omitempty"`
	// Entry is the community to which the entry is sold; absent: none.
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
	Paid     string      `json:"paid,omitempty"`    // what the seller was paid, fees included
	Waits    bool        `json:"waits,omitempty"`   // it waits for approval
	Deadline time.Time   `json:"deadline,omitzero"` // when the phase expires
	Reason   string      `json:"reason,omitempty"`
	Question string      `json:"question,omitempty"` // the question that waits, or was answered just now
	Answer   []string    `json:"answer,omitempty"`   // the parts of the bundle that the buyer is shown
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
	Order string `path:"order" doc:"its id, or 8 characters of it or more"`
	Body  SaleRequest
}

// PayoutRequest withdraws earnings from a market.
type PayoutRequest struct {
	Market string `json:"market,omitempty"` // URL; empty: the node's relay
	Amount string `json:"amount"`           // 5.00 EUR
}

// Payout is what a market paid.
type Payout struct {
	Voucher string `json:"voucher"` // whoever has it can use it
}

// MarketMove says where the listings of this home move to.
type MarketMove struct {
	To      string `json:"to"`                // URL of the relay with the other market
	Abandon bool   `json:"abandon,omitempty"` // the present market is dead: it is not asked, and the listings are not withdrawn there
	DryRun  bool   `json:"dry_run,omitempty"` // only say what would move
}

// MovedListing is a listing that moved.
type MovedListing struct {
	Listing trade.Hash `json:"listing"`      // its id where it was
	Now     trade.Hash `json:"now,omitzero"` // its id at the other market
	Title   string     `json:"title"`
	Orders  int        `json:"orders"`         // number of orders that moved with it
	Open    int        `json:"open,omitempty"` // in a dry run: the orders that have not ended
	Why     string     `json:"why,omitempty"`  // why it did not move, or only partly; another call continues the move
}

// MovesAnswer lists the listings that moved.
type MovesAnswer struct {
	Moves []MovedListing `json:"moves"`
}

type listingFileOf struct {
	Listing string `path:"listing" doc:"its id, or 8 characters of it or more"`
}

type listingOf struct {
	Listing string `path:"listing" doc:"its id, or 8 characters of it or more"`
	Reason  string `query:"reason" doc:"why, for everybody to read; may be absent"`
}

var selling = topic[Seller]{previewListing.untyped, publishListing.untyped, listListings.untyped, withdrawListing.untyped, moveListings.untyped, listSales.untyped, settleSale.untyped, payOutSales.untyped, listingFile.untyped, traceCopy.untyped}

var (
	previewListing = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/preview", id: "previewListing",
		summary: "Show what a bundle for sale would hold", gives: "What its buyers would see; nothing has left the node",
	}, Seller.PreviewListing)

	publishListing = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/listings", id: "publishListing", made: true,
		summary: "Seal a bundle and list it at a market", gives: "It is listed",
	}, Seller.PublishListing)

	listListings = plainList[ListingsAnswer](RightOwner, spec{
		method: "GET", path: "/v1/market/listings", id: "listListings",
		summary: "List what this home sells", gives: "The listings, the newest first",
	}, Seller.Listings)

	withdrawListing = jsonRoute(RightOwner, spec{
		method: "DELETE", path: "/v1/market/listings/{listing}", id: "withdrawListing",
		summary: "End a listing", gives: "Nobody finds or orders it any more; what was ordered goes on",
	}, func(s Seller, ctx context.Context, in listingOf) (Listing, error) {
		return s.WithdrawListing(ctx, in.Listing, in.Reason)
	})

	moveListings = listRoute[MovesAnswer](RightOwner, spec{
		method: "POST", path: "/v1/market/moves", id: "moveListings",
		summary: "List at another market what this home sells, with its paid orders", gives: "What moved, and what did not",
	}, Seller.MoveListings)

	listingFile = rawRoute[Seller, listingFileOf, []byte](RightOwner, spec{
		method: "GET", path: "/v1/market/listings/{listing}/car", id: "listingFile",
		summary: "What this home sells as a file that others' tools read", gives: "A CAR file with the sealed items and the listing",
	}, carFile, func(w http.ResponseWriter, r *http.Request, s Seller, in listingFileOf) error {
		b, err := s.ListingFile(r.Context(), in.Listing)
		return writeFile(w, MediaTypeCAR, b, err)
	})

	listSales = plainList[SalesAnswer](RightOwner, spec{
		method: "GET", path: "/v1/market/sales", id: "listSales",
		summary: "Look for orders, and deliver what needs no approval", gives: "The sales, the last moved first",
	}, Seller.Sales)

	settleSale = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/sales/{order}", id: "settleSale",
		summary: "Deliver the key of a sale, or refund it", gives: "The sale",
	}, func(s Seller, ctx context.Context, in settled) (Sale, error) {
		in.Body.Order = in.Order
		return s.SettleSale(ctx, in.Body)
	})

	payOutSales = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/payouts", id: "payOutSales",
		summary: "Take what was earned out of a market", gives: "A voucher, which whoever has it can use",
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
