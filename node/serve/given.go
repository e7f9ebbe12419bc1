package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Given is what others share with the wearer.
type Given interface {
	// GivenShares returns the shares that were opened here, the latest first.
	GivenShares(ctx context.Context) ([]GivenShare, error)
}

// SharedBy marks a memory of another person: whose it is, and until when.
type SharedBy struct {
	By    string         `json:"by"`             // the owner's name, as the wearer has set it
	Share memory.SpaceID `json:"share"`          // the share that it belongs to
	Until time.Time      `json:"until,omitzero"` // when it expires; absent: when it is revoked
}

// GivenShare is what one other person shares with the wearer.
type GivenShare struct {
	ID       memory.SpaceID  `json:"id"`
	By       string          `json:"by"` // the owner's name, as the wearer has set it
	Relay    string          `json:"relay"`
	Opened   time.Time       `json:"opened"`
	Fetched  time.Time       `json:"fetched,omitzero"` // the last time the relay answered
	Until    time.Time       `json:"until,omitzero"`
	Ended    time.Time       `json:"ended,omitzero"` // since when the relay no longer serves it, so that it is not searched
	Memories []memory.Memory `json:"memories"`
}

// GivenAnswer lists what others share.
type GivenAnswer struct {
	Shares []GivenShare `json:"shares"`
}

var giving = topic[Given]{listGiven}

var listGiven = asks(RightOwner, spec{
	method: "GET", path: "/v1/given", id: "listGiven",
	summary: "List what others share with the wearer",
	about:   "These memories answer in search, ask and context, marked with shared_by. They are never reconciled with the wearer's own, synced or exported.",
	gives:   "The shares, each with its memories",
}, func(s Given, ctx context.Context) (GivenAnswer, error) {
	list, err := s.GivenShares(ctx)
	return GivenAnswer{Some(list)}, err
})

// GivenShares lists what others share with the wearer.
func (c *Client) GivenShares(ctx context.Context) ([]GivenShare, error) {
	v, err := listGiven.call(ctx, c, none{})
	return v.Shares, err
}
