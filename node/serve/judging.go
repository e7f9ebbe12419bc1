package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/trade"
)

// Arbiter decides disputes at a market that names the wearer's key as its arbiter.
type Arbiter interface {
	// Disputes returns the disputes at a market, with what the evidence proves. If
	// the market names another key as its arbiter, the answer says so and has no
	// disputes.
	Disputes(ctx context.Context, market string) (DisputesAnswer, error)
	// Decide divides the price of a disputed order. ErrConflict: the arbiter is
	// another one, or the order is not in dispute any more.
	Decide(ctx context.Context, r DisputeDecision) (DecidedOrder, error)
}

// DisputesAnswer lists the disputes that the wearer has to decide.
type DisputesAnswer struct {
	Arbiter  bool      `json:"arbiter"` // the wearer's key is the market's arbiter
	Disputes []Dispute `json:"disputes"`
}

// Dispute is a dispute as its arbiter sees it.
type Dispute struct {
	Order    trade.Hash        `json:"order"`
	Title    string            `json:"title"`
	Listing  trade.Hash        `json:"listing"`
	Price    string            `json:"price"`
	Until    time.Time         `json:"until"`              // when the price goes back to the buyer, if nobody decides
	Says     string            `json:"says"`               // the buyer's statement
	Place    int               `json:"place,omitempty"`    // number of the item, from 1
	Item     *memory.Candidate `json:"item,omitempty"`     // the item as the buyer got it
	Question string            `json:"question,omitempty"` // the question of an order for an answer
	Answer   []string          `json:"answer,omitempty"`
	Broken   string            `json:"broken,omitempty"`  // what is proven not to be as listed
	Nothing  string            `json:"nothing,omitempty"` // why the evidence proves nothing
}

// DisputeDecision divides a price.
type DisputeDecision struct {
	Order  trade.Hash `json:"-"`
	Market string     `json:"market,omitempty"`
	Refund string     `json:"refund"` // all, none, or the amount that goes back to the buyer: 2.50 EUR
	Reason string     `json:"reason"` // for buyer and seller
}

// DecidedOrder is an order that was decided.
type DecidedOrder struct {
	Order  trade.Hash  `json:"order"`
	Phase  trade.Phase `json:"phase"`
	Price  string      `json:"price"`
	Back   string      `json:"back,omitempty"` // amount that goes back to the buyer
	Reason string      `json:"reason,omitempty"`
}

type disputesAt struct {
	Market string `query:"market" doc:"URL of the relay with the market; absent: the node's relay"`
}

var disputesTopic = topic[Arbiter]{listDisputes.untyped, decideDispute.untyped}

var (
	listDisputes = fieldRoute[disputesAt](RightOwner, spec{
		method: "GET", path: "/v1/market/disputes", id: "listDisputes",
		summary: "As a market's arbiter, list the disputes", gives: "The disputes, with what the evidence proves; for anybody else, none",
	}, Arbiter.Disputes)

	decideDispute = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/disputes/{order}", id: "decideDispute",
		summary: "As a market's arbiter, divide the price of a disputed order",
		about:   "What is not refunded to the buyer goes to the seller. Neither can be undone.",
		gives:   "The settled order",
	}, func(s Arbiter, ctx context.Context, in toOrder[DisputeDecision]) (DecidedOrder, error) {
		in.Body.Order = in.Order
		return s.Decide(ctx, in.Body)
	})
)
