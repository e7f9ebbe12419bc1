package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/sync/trade"
)

// Subscriber buys each new period of a subscription listing, for the wearer.
type Subscriber interface {
	// Subscriptions returns all subscriptions, including those that have ended. No
	// market is asked.
	Subscriptions(ctx context.Context) (SubscriptionsAnswer, error)
	// Subscribe subscribes to a listing, and buys the newest period at once. An
	// earlier subscription to it continues with the new limits. If the period was not
	// bought, that is no error: the subscription says why.
	Subscribe(ctx context.Context, r SubscribeRequest) (Subscription, error)
	// RenewSubscriptions buys the periods that are due.
	RenewSubscriptions(ctx context.Context) (SubscriptionsAnswer, error)
	// EndSubscription ends a subscription: no further period is bought. What was
	// bought stays.
	EndSubscription(ctx context.Context, listing trade.Hash) (Subscription, error)
}

// SubscribeRequest says what is bought, and within which limits.
type SubscribeRequest struct {
	Market  string     `json:"market,omitempty"`
	Listing trade.Hash `json:"listing"`
	Most    string     `json:"most"`           // highest price for one period, such as 5.00 EUR
	Periods int        `json:"periods"`        // number of periods to pay at most, 1 or more
	Until   time.Time  `json:"until,omitzero"` // from this time on, nothing is paid
}

// Subscription is the wearer's decision about a subscription listing.
type Subscription struct {
	Listing   trade.Hash    `json:"listing"`
	Title     string        `json:"title"`
	Market    string        `json:"market"`
	Most      string        `json:"most"`    // highest price for one period
	Periods   int           `json:"periods"` // number of periods to pay at most
	Paid      int           `json:"paid"`    // number of periods that were paid
	Until     time.Time     `json:"until,omitzero"`
	EveryDays float64       `json:"every_days"`     // length of a period
	Last      trade.Renewal `json:"last,omitempty"` // what the last check did
	Why       string        `json:"why,omitempty"`
	Ended     time.Time     `json:"ended,omitzero"`
}

// SubscriptionsAnswer lists subscriptions.
type SubscriptionsAnswer struct {
	Subscriptions []Subscription `json:"subscriptions"`
	Failed        []string       `json:"failed,omitempty"` // why some can't be read, or were not renewed
}

type subscriptionOf struct {
	Listing trade.Hash `path:"listing" doc:"its id of 64 hexadecimal characters"`
}

var subscriptionsTopic = topic[Subscriber]{listSubscriptions.untyped, subscribe.untyped, renewSubscriptions.untyped, endSubscription.untyped}

var (
	listSubscriptions = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/market/subscriptions", id: "listSubscriptions",
		summary: "List the wearer's subscriptions", gives: "The subscriptions, each with its last action and the reason",
	}, Subscriber.Subscriptions)

	subscribe = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/subscriptions", id: "subscribe",
		summary: "Subscribe to a listing: buy each of its periods",
		about:   "The newest period is bought at once, and each later one as soon as its items are there. The wearer's money at the market pays. Each period is an order of its own. A period is not bought if it costs more than the limit, or if there is not enough money at the market.",
		gives:   "The subscription, with what was done",
	}, Subscriber.Subscribe)

	renewSubscriptions = plainRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/renewals", id: "renewSubscriptions",
		summary: "Buy the periods that are due now", gives: "The subscriptions, with what was done",
	}, Subscriber.RenewSubscriptions)

	endSubscription = fieldRoute[subscriptionOf](RightOwner, spec{
		method: "DELETE", path: "/v1/market/subscriptions/{listing}", id: "endSubscription",
		summary: "End a subscription: buy no further period", gives: "The ended subscription; what was bought stays",
	}, Subscriber.EndSubscription)
)
