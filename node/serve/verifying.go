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
	Market string `json:"market"` // the address as the node would call it; empty: the node has no relay
	Known  bool   `json:"known"`  // it is the node's relay, or the wearer has bought, sold or searched there
}

type knownOf struct {
	Market string `query:"market" doc:"URL of the relay with the market; absent: the node's relay"`
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
	Key       trade.Key       `json:"key"`    // key of the market
	Log       string          `json:"log"`    // name of the log
	Size      int64           `json:"size"`   // number of entries
	Before    int64           `json:"before"` // number of entries at the last check; 0: this is the first check
	Witnesses []LogWitness    `json:"witnesses"`
	Orders    []LoggedOrder   `json:"orders"`
	Listings  []LoggedReviews `json:"listings"`           // the reviews of the orders' listings
	Note      string          `json:"note"`               // the signed checkpoint that the market showed, for others to compare
	Hides     bool            `json:"hides,omitempty"`    // the log lacks what the market signed or has fewer entries than before, or the market does not show reviews that are in the log
	Missing   []string        `json:"missing,omitempty"`  // requested witnesses that did not cosign
	Evidence  string          `json:"evidence,omitempty"` // if the market showed two histories: the proof, as JSON, for anyone who has the market's key
	File      string          `json:"file,omitempty"`     // where the proof is stored on this machine
	Unkept    string          `json:"unkept,omitempty"`   // why the proof could not be stored
}

// LogWitness is a witness that watches the log.
type LogWitness struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Signed  bool   `json:"signed"`          // it cosigned what the market shows
	Size    int64  `json:"size,omitempty"`  // number of entries of the same history that it has seen
	Error   string `json:"error,omitempty"` // why that is not known or, if size is set, why it is not known what the witness caught
}

// LoggedOrder is what the log has about an order.
type LoggedOrder struct {
	Order   trade.Hash `json:"order"`
	Title   string     `json:"title"`
	Sold    bool       `json:"sold,omitempty"`    // this home sold it; otherwise this home bought it
	Listed  bool       `json:"listed"`            // the log has the version of the listing
	Receipt bool       `json:"receipt,omitempty"` // the log has the receipt, for an order that ended with a key
	Waits   bool       `json:"waits,omitempty"`   // something is missing, but may be too new for the log
	Hidden  bool       `json:"hidden,omitempty"`  // something is missing that must be in the log
	Review  string     `json:"review,omitempty"`  // state of the wearer's own review: shown, or deleted by the operator; empty: there is none, it is missing (waits, hidden), or newer ones fill the list
	Why     string     `json:"why,omitempty"`     // why it was deleted
}

// LoggedReviews is what a market shows of a listing's reviews.
type LoggedReviews struct {
	Listing trade.Hash  `json:"listing"`
	Title   string      `json:"title"`
	Reviews ReviewCheck `json:"reviews"`
}

var verifyTopic = topic[Verifier]{knowMarket.untyped, verifyMarket.untyped}

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
