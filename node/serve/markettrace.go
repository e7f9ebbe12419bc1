package serve

import (
	"context"

	"github.com/locket-dev/locket/sync/trade"
)

// CopyMarks says at how many places one buyer's copy of a bundle differs from another's.
type CopyMarks struct {
	Spots  int  `json:"spots"`
	Marked bool `json:"marked"` // there are enough places, and copies will differ
	Robust bool `json:"robust"` // a copy can be told even if a third of it is missing and a tenth of its words are changed
	Least  int  `json:"least"`  // number of places that is enough
}

// MaxTraced is the maximum length of a text whose origin is asked for, in bytes.
const MaxTraced = 1 << 20

// TraceRequest asks whose copy of a bundle a text comes from.
type TraceRequest struct {
	Listing string `json:"-"`
	Text    string `json:"text" maxLength:"1048576"` // what somebody passed on, or a part of it
}

type traced struct {
	Listing string `path:"listing" doc:"its id, or at least 8 characters of it"`
	Body    TraceRequest
}

// CopyTrace is what a text reveals about its origin.
type CopyTrace struct {
	Spots  int           `json:"spots"`  // number of places at which copies of the listing's bundles differ
	Read   int           `json:"read"`   // how many of them the text has
	Orders int           `json:"orders"` // number of delivered orders that are compared
	Found  []TracedOrder `json:"found"`  // likeliest first, at most five
}

// TracedOrder says how well a text agrees with the copy of one order.
type TracedOrder struct {
	Order trade.Hash `json:"order"`
	Buyer trade.Key  `json:"buyer"`
	Read  int        `json:"read"`
	Agree int        `json:"agree"`
	// Chance is an upper bound on the probability that any order whose copy had no part in the text
	// agrees as well.
	Chance float64 `json:"chance"`
	Sure   bool    `json:"sure"` // Chance is at most 1 in 1,000,000
}

var traceCopy = jsonRoute(RightOwner, spec{
	method: "POST", path: "/v1/market/listings/{listing}/trace", id: "traceCopy", body: 2*MaxTraced + MaxBody,
	summary: "Find out from whose copy of a bundle a text comes", gives: "The orders whose marks are in the text, likeliest first",
}, func(s Seller, ctx context.Context, in traced) (CopyTrace, error) {
	in.Body.Listing = in.Listing
	return s.TraceCopy(ctx, in.Body)
})

// TraceCopy finds out whose copy of a bundle a text comes from.
func (c *Client) TraceCopy(ctx context.Context, r TraceRequest) (CopyTrace, error) {
	return call(ctx, c, traceCopy, traced{r.Listing, r})
}
