package serve

import (
	"context"

	"github.com/locket-dev/locket/sync/trade"
)

// Verifier says what there is to know of a market before it is asked or believed.
type Verifier interface {
	// KnowsMarket reports whether the wearer has dealt with a market. Nothing is asked.
	KnowsMarket(ctx context.Context, market string) (KnownMarket, error)
	// VerifyMarket checks the market's log. That the market was caught is no error: the
	// answer says so.
	VerifyMarket(ctx context.Context, r VerifyRequest) (MarketLog, error)
}

// KnownMarket is what is known of an address.
type KnownMarket struct {
	Market string `json:"market"` // the address as it would be asked; empty: the node has no relay
	Known  bool   `json:"known"`  // it is the node's relay, or the wearer bought, sold or looked there
}

type knownOf struct {
	Market string `query:"market" doc:"URL of the relay with the market; the node's relay if absent"`
}

// VerifyRequest says how to look at a market's log.
type VerifyRequest struct {
	Market    string   `json:"market,omitempty"`
	Witnesses []string `json:"witnesses,omitempty"` // "URL KEY" of those that must have cosigned, beside those that the market names
	With      string   `json:"with,omitempty"`      // what somebody else was shown, as Note
}

// MarketLog is what a market's log was found to be.
type MarketLog struct {
	Market    string          `json:"market"` // URL
	Key       trade.Key       `json:"key"`    // of the market
	Log       string          `json:"log"`    // its name
	Size      int64           `json:"size"`   // entries
	Before    int64           `json:"before"` // entries at the last look; 0: it is the first
	Witnesses []LogWitness    `json:"witnesses"`
	Orders    []LoggedOrder   `json:"orders"`
	Listings  []LoggedReviews `json:"listings"`           // of the orders
	Note      string          `json:"note"`               // the checkpoint that was shown, signed, for another to compare
	Hides     bool            `json:"hides,omitempty"`    // it lacks what the market signed, or shows fewer entries than before, or the market does not show reviews that it has
	Missing   []string        `json:"missing,omitempty"`  // witnesses of the request that did not cosign
	Evidence  string          `json:"evidence,omitempty"` // of two histories: what convinces whoever has the market's key, as JSON
	File      string          `json:"file,omitempty"`     // where that is kept on this machine
	Unkept    string          `json:"unkept,omitempty"`   // why it could not be kept there
}

// LogWitness is one that watches the log.
type LogWitness struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Signed  bool   `json:"signed"`          // it cosigned what the market shows
	Size    int64  `json:"size,omitempty"`  // entries that it has seen, of the same history
	Error   string `json:"error,omitempty"` // why that is not known or, beside a size, why it is not known what the witness caught
}

// LoggedOrder is what the log has of an order.
type LoggedOrder struct {
	Order   trade.Hash `json:"order"`
	Title   string     `json:"title"`
	Sold    bool       `json:"sold,omitempty"`    // by this home; else it was bought
	Listed  bool       `json:"listed"`            // the version of the listing stands there
	Receipt bool       `json:"receipt,omitempty"` // of an order that ended with a key
	Waits   bool       `json:"waits,omitempty"`   // something is missing that is too new
	Hidden  bool       `json:"hidden,omitempty"`  // something is missing that must be there
	Review  string     `json:"review,omitempty"`  // the wearer's own: shown, or deleted by the operator; empty: there is none, it is missing (waits, hidden), or newer ones fill what is shown
	Why     string     `json:"why,omitempty"`     // it was deleted
}

// LoggedReviews is what a market shows of the reviews of a listing.
type LoggedReviews struct {
	Listing trade.Hash  `json:"listing"`
	Title   string      `json:"title"`
	Reviews ReviewCheck `json:"reviews"`
}

var verifying = topic[Verifier]{knowMarket.untyped, verifyMarket.untyped}

var (
	knowMarket = fieldRoute[knownOf](RightOwner, spec{
		method: "GET", path: "/v1/market/known", id: "knowMarket",
		summary: "Check whether the wearer has dealt with a market", about: "Nothing is sent to the market. A page uses this before it lets the node call an address from a link.", gives: "The address as the node would call it, and whether it is known",
	}, Verifier.KnowsMarket)

	verifyMarket = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/verifications", id: "verifyMarket",
		summary: "Check a market's log",
		about:   "Checks that the log continues the one that was seen last, that its witnesses have seen the same, and that it has the listing and the receipt of each order of this home. What was seen is kept for the next check.",
		gives:   "What was found, also if it proves that the operator cheated",
	}, Verifier.VerifyMarket)
)
