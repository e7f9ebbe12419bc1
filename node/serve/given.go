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
	// GivenKey returns the wearer's key for readers; it is made at the first call.
	GivenKey(ctx context.Context) (GivenKey, error)
	// OpenGiven opens the link of somebody who shares with the wearer's key.
	// Errors: memory.ErrInvalid, memory.ErrNotFound if the relay does not serve it
	// to that key, ErrRelay.
	OpenGiven(ctx context.Context, r OpenGivenRequest) (GivenShare, error)
	// LeaveGiven removes what was fetched of a share, or returns
	// memory.ErrNotFound. The person who shares is not told.
	LeaveGiven(ctx context.Context, id memory.SpaceID) error
}

// GivenKey is the key that the wearer gives to people who share something. It is
// not secret.
type GivenKey struct {
	Key   string `json:"key"`
	Words string `json:"words"` // words that identify the key, to compare
}

// OpenGivenRequest names a share by its link.
type OpenGivenRequest struct {
	Link string `json:"link"`
	From string `json:"from,omitempty"` // name of the person who shares; only the wearer sees it
}

// LeftGiven is the answer to DELETE /v1/given/{share}.
type LeftGiven struct {
	ID memory.SpaceID `json:"id"`
}

type givenOf struct {
	Share memory.SpaceID `path:"share" doc:"its id"`
}

// SharedBy marks a memory of another person: its owner, and how long it is shared.
type SharedBy struct {
	By    string         `json:"by"`              // the owner's name, as the wearer set it
	Share memory.SpaceID `json:"share"`           // the share that it belongs to
	Order string         `json:"order,omitempty"` // the order with which it was bought; absent: it is shared
	Until time.Time      `json:"until,omitzero"`  // when it expires; absent: it stays until it is revoked
}

// GivenShare is what one other person shares with the wearer, or a bundle that the
// wearer bought.
type GivenShare struct {
	ID       memory.SpaceID  `json:"id"`
	By       string          `json:"by"`              // the owner's name, as the wearer set it
	Order    string          `json:"order,omitempty"` // the order with which it was bought; absent: it is shared
	Title    string          `json:"title,omitempty"` // title of the listing, if it was bought
	Relay    string          `json:"relay"`           // URL of the relay or the market
	Opened   time.Time       `json:"opened"`
	Fetched  time.Time       `json:"fetched,omitzero"` // when the relay last answered
	Until    time.Time       `json:"until,omitzero"`
	Ended    time.Time       `json:"ended,omitzero"` // since when the relay no longer serves it; it is no longer searched
	Memories []memory.Memory `json:"memories"`
}

// GivenAnswer lists what others share.
type GivenAnswer struct {
	Shares []GivenShare `json:"shares"`
}

var givenTopic = topic[Given]{listGiven.untyped, giveKey.untyped, openGiven.untyped, leaveGiven.untyped}

var (
	listGiven = plainList[GivenAnswer](RightOwner, spec{
		method: "GET", path: "/v1/given", id: "listGiven",
		summary: "List what others share with the wearer, and what the wearer bought",
		about:   "Search, ask and context use these memories, marked with shared_by. They are never reconciled with the wearer's own memories, synced or exported.",
		gives:   "The shares, each with its memories",
	}, Given.GivenShares)

	giveKey = plainRoute(RightOwner, spec{
		method: "POST", path: "/v1/given/key", id: "givenKey",
		summary: "Get the wearer's key, which others need to share with the wearer", gives: "The key, which is created at the first request, and words to compare it",
	}, Given.GivenKey)

	openGiven = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/given", id: "openGiven", slow: true,
		summary: "Open what another person shares with the wearer", gives: "The share, as fetched",
	}, Given.OpenGiven)

	leaveGiven = jsonRoute(RightOwner, spec{
		method: "DELETE", path: "/v1/given/{share}", id: "leaveGiven",
		summary: "Remove what another person shares", gives: "It is no longer used in answers; the link opens it again",
	}, func(s Given, ctx context.Context, in givenOf) (LeftGiven, error) {
		return LeftGiven{in.Share}, s.LeaveGiven(ctx, in.Share)
	})
)

// GivenShares lists what others share with the wearer.
func (c *Client) GivenShares(ctx context.Context) ([]GivenShare, error) {
	return items(ctx, c, listGiven, none{})
}

// GivenKey returns the wearer's key for readers.
func (c *Client) GivenKey(ctx context.Context) (GivenKey, error) {
	return call(ctx, c, giveKey, none{})
}

// OpenGiven opens what another person shares.
func (c *Client) OpenGiven(ctx context.Context, r OpenGivenRequest) (GivenShare, error) {
	return call(ctx, c, openGiven, r)
}

// LeaveGiven removes what another person shares.
func (c *Client) LeaveGiven(ctx context.Context, id memory.SpaceID) error {
	_, err := call(ctx, c, leaveGiven, givenOf{id})
	return err
}
