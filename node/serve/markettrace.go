package serve

import (
	"context"

	"github.com/locket-dev/locket/sync/trade"
)

// CopyMarks says at how many places one buyer's copy of a bundle differs from another's.
type CopyMarks struct {
	Spots  int  `json:"spots"`
	Marked bool `json:"marked"` // there are enough places, so the copies will differ
	Robust bool `json:"robust"` // the origin of a copy can be found even if a third is missing and a tenth of the words are replaced
	Least  int  `json:"least"`  // how many are enough
}

// MaxTraced is the maximum length of a text whose origin is asked for, in bytes.
const MaxTraced = 1 << 20

// TraceRequest asks whose copy of a bundle a text comes from.
type TraceRequest struct {
	Listing string `json:"-"`
	Text    string `json:"text" maxLength:"1048576"` // what somebody passed on, or a part of it
}

type traced struct {
	Listing string `path:"listing" doc:"its id, or 8 characters of it or more"`
	Body    TraceRequest
}

// CopyTrace is what a text reveals about its origin.
type CopyTrace struct {
	Spots  int           `json:"spots"`  // places where copies of the listing's bundles differ
	Read   int           `json:"read"`   // how many of them are in the text
	Orders int           `json:"orders"` // orders that were delivered and are compared
	Found  []TracedOrder `json:"found"`  // the most likely first, five at most
}

// TracedOrder says how well a text agrees with the copy of one order.
type TracedOrder struct {
	Order trade.Hash `json:"order"`
	Buyer trade.Key  `json:"buyer"`
	Read  int        `json:"read"`
	Agree int        `json:"agree"`
	// Chance is an upper bound on the probability that any order agrees this well although
	// its copy had no part in the text.
	Chance float64 `json:"chance"`
	Sure   bool    `json:"sure"` // Chance is at most 1 in 1,000,000
}

var traceCopy = jsonRoute(RightOwner, spec{
	method: "POST", path: "/v1/market/listings/{listing}/trace", id: "traceCopy", body: 2*MaxTraced + MaxBody,
	summary: "Say whose copy of a bundle a text is from", gives: "The orders whose marks it has, the likeliest first",
}, func(s Seller, ctx context.Context, in traced) (CopyTrace, error) {
	in.Body.Listing = in.Listing
	return s.TraceCopy(ctx, in.Body)
})

// TraceCopy finds out whose copy of a bundle a text comes from.
func (c *Client) TraceCopy(ctx context.Context, r TraceRequest) (CopyTrace, error) {
	return call(ctx, c, traceCopy, traced{r.Listing, r})
}
