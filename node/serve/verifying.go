package serve

import (
	"context"

	"github.com/locket-dev/locket/sync/trade"
)

// Verifier says what can be known about a market before the node asks it or believes
// it.
type Verifier interface {
	// KnowsMarket reports whether the wearer has dealt with a market. The market is not
	// asked.
	KnowsMarket(ctx context.Context, market string) (KnownMarket, error)
	// VerifyMarket checks the market's log. If the market was caught lying, that is no
	// error: the answer says so.
	VerifyMarket(ctx context.Context, r VerifyRequest) (MarketLog, error)
}

// KnownMarket is what is known about an address.
type KnownMarket struct {
	Market string `json:"market"` // the address that would be asked; empty: the node has no relay
	Known  bool   `json:"known"`  // it is the node's relay, or the wearer has bought, sold or looked there
}

type knownOf struct {
	Market string `query:"market" doc:"URL of the relay with the market; the node's relay if absent"`
}

// VerifyRequest says how to check a market's log.
type VerifyRequest struct {
	Market    string   `json:"market,omitempty"`
	Witnesses []string `json:"witnesses,omitempty"` // "URL KEY" of witnesses that must have cosigned, in addition to those that the market names
	With      string   `json:"with,omitempty"`      // the Note that somebody else was shown
}

// MarketLog is the result of checking a market's log.
type MarketLog struct {
	Market    string          `json:"market"` // URL
	Key       trade.Key       `json:"key"`    // of the market
	Log       string          `json:"log"`    // the log's name
	Size      int64           `json:"size"`   // entries
	Before    int64           `json:"before"` // number of entries at the last check; 0: this is the first
	Witnesses []LogWitness    `json:"witnesses"`
	Orders    []LoggedOrder   `json:"orders"`
	Listings  []LoggedReviews `json:"listings"`           // the listings of the orders
	Note      string          `json:"note"`               // the signed checkpoint that was shown, for a comparison by somebody else
	Hides     bool            `json:"hides,omitempty"`    // it lacks something that the market signed, or has fewer entries than before, or the market does not show reviews that are in it
	Missing   []string        `json:"missing,omitempty"`  // witnesses of the request that did not cosign
	Evidence  string          `json:"evidence,omitempty"` // for two different histories: the evidence that convinces anybody who has the market's key, as JSON
	File      string          `json:"file,omitempty"`     // where the evidence is stored on this machine
	Unkept    string          `json:"unkept,omitempty"`   // why the evidence could not be stored
}

// LogWitness is a witness that watches the log.
type LogWitness struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Signed  bool   `json:"signed"`          // it cosigned what the market shows
	Size    int64  `json:"size,omitempty"`  // number of entries that it has seen, of the same history
	Error   string `json:"error,omitempty"` // why that is unknown or, beside a size, why it is unknown what the witness has caught
}

// LoggedOrder is what the log has about an order.
type LoggedOrder struct {
	Order   trade.Hash `json:"order"`
	Title   string     `json:"title"`
	Sold    bool       `json:"sold,omitempty"`    // this home sold it; otherwise this home bought it
	Listed  bool       `json:"listed"`            // the version of the listing is in the log
	Receipt bool       `json:"receipt,omitempty"` // the receipt of an order that ended with a key is in the log
	Waits   bool       `json:"waits,omitempty"`   // something is missing, but it is too new
	Hidden  bool       `json:"hidden,omitempty"`  // something is missing that must be there
	Review  string     `json:"review,omitempty"`  // the wearer's own review: shown, or deleted by the operator; empty: there is none, it is missing (waits, hidden), or newer reviews fill what is shown
	Why     string     `json:"why,omitempty"`     // why it was deleted
}

// LoggedReviews is what a market shows of a listing's reviews.
type LoggedReviews struct {
	Listing trade.Hash  `json:"listing"`
	Title   string      `json:"title"`
	Reviews ReviewCheck `json:"reviews"`
}

var verifying = topic[Verifier]{knowMarket.untyped, verifyMarket.untyped}

var (
	knowMarket = fieldRoute[knownOf](RightOwner, spec{
		method: "GET", path: "/v1/market/known", id: "knowMarket",
		summary: "Whether the wearer has dealt with a market", about: "Nothing is sent anywhere. A page asks this before it has the node ask an address from a link.", gives: "The address as it would be asked",
	}, Verifier.KnowsMarket)

	verifyMarket = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/verifications", id: "verifyMarket",
		summary: "Check a market's log",
		about:   "That it goes on from the last look, that its witnesses have seen the same, and that the listing and the receipt of each order of this home stand in it. What was seen is kept for the next look.",
		gives:   "What was found, also where the operator was caught",
	}, Verifier.VerifyMarket)
)
