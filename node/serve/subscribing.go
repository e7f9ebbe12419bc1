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
	Most    string     `json:"most"`           // maximum price of one period: 5.00 EUR
	Periods int        `json:"periods"`        // how many periods are paid at most, at least 1
	Until   time.Time  `json:"until,omitzero"` // nothing is paid from this time on
}

// Subscription is the wearer's decision about a subscription listing.
type Subscription struct {
	Listing   trade.Hash    `json:"listing"`
	Title     string        `json:"title"`
	Market    string        `json:"market"`
	Most      string        `json:"most"`    // maximum price of one period
	Periods   int           `json:"periods"` // how many periods are paid at most
	Paid      int           `json:"paid"`    // how many periods were paid
	Until     time.Time     `json:"until,omitzero"`
	EveryDays float64       `json:"every_days"`     // length of a period
	Last      trade.Renewal `json:"last,omitempty"` // the result of the last renewal
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

var subscribing = topic[Subscriber]{listSubscriptions.untyped, subscribe.untyped, renewSubscriptions.untyped, endSubscription.untyped}

var (
	listSubscriptions = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/market/subscriptions", id: "listSubscriptions",
		summary: "List what the wearer subscribed to", gives: "The subscriptions, with what was done last and why",
	}, Subscriber.Subscriptions)

	subscribe = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/subscriptions", id: "subscribe",
		summary: "Buy each period of a listing that grows",
		about:   "The newest period is bought at once, and each that follows once its items are there, from what the wearer has at the market. Each is an order of its own. What costs more, or comes without money there, is not bought.",
		gives:   "The subscription, with what was done",
	}, Subscriber.Subscribe)

	renewSubscriptions = plainRoute(RightOwner, spec{
		method: "POST", path: "/v1/market/renewals", id: "renewSubscriptions",
		summary: "Buy the periods that are due now", gives: "The subscriptions, with what was done",
	}, Subscriber.RenewSubscriptions)

	endSubscription = fieldRoute[subscriptionOf](RightOwner, spec{
		method: "DELETE", path: "/v1/market/subscriptions/{listing}", id: "endSubscription",
		summary: "Buy no further period of a listing", gives: "The subscription, which has ended; what was bought stays",
	}, Subscriber.EndSubscription)
)
