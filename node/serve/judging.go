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
	Arbiter  bool      `json:"arbiter"` // the market names the wearer's key
	Disputes []Dispute `json:"disputes"`
}

// Dispute is a dispute as its arbiter sees it.
type Dispute struct {
	Order    trade.Hash        `json:"order"`
	Title    string            `json:"title"`
	Listing  trade.Hash        `json:"listing"`
	Price    string            `json:"price"`
	Until    time.Time         `json:"until"`              // when the price goes back to the buyer without a decision
	Says     string            `json:"says"`               // the buyer's words
	Place    int               `json:"place,omitempty"`    // of the item, from 1
	Item     *memory.Candidate `json:"item,omitempty"`     // as the buyer received it
	Question string            `json:"question,omitempty"` // for an order of an answer: the question
	Answer   []string          `json:"answer,omitempty"`
	Broken   string            `json:"broken,omitempty"`  // what certainly differs from the listing
	Nothing  string            `json:"nothing,omitempty"` // why the evidence proves nothing
}

// DisputeDecision divides a price.
type DisputeDecision struct {
	Order  trade.Hash `json:"-"`
	Market string     `json:"market,omitempty"`
	Refund string     `json:"refund"` // all, none, or the amount that goes back to the buyer: 2.50 EUR
	Reason string     `json:"reason"` // for both
}

// DecidedOrder is an order that was decided.
type DecidedOrder struct {
	Order  trade.Hash  `json:"order"`
	Phase  trade.Phase `json:"phase"`
	Price  string      `json:"price"`
	Back   string      `json:"back,omitempty"` // what goes back to the buyer
	Reason string      `json:"reason,omitempty"`
}

type disputesAt struct {
	Market string `query:"market" doc:"URL of the relay with the market; the node's relay if absent"`
}

var judging = topic[Arbiter]{listDisputes.untyped, decideDispute.untyped}

var (
	listDisputes = fieldRoute[disputesAt](RightOwner, spec{
		method: "GET", path: "/v1/market/disputes", id: "listDisputes",
		summary: "As a market's arbiter: list what is in dispute", gives: "The disputes, with what the evidence proves; none for anybody else",
	}, Arbiter.Disputes)

	decideDispute = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/disputes/{order}", id: "decideDispute",
		summary: "As a market's arbiter: divide the price of a disputed order",
		about:   "What does not go back to the buyer goes to the seller. Neither can be taken back.",
		gives:   "The order, which is settled",
	}, func(s Arbiter, ctx context.Context, in toOrder[DisputeDecision]) (DecidedOrder, error) {
		in.Body.Order = in.Order
		return s.Decide(ctx, in.Body)
	})
)
