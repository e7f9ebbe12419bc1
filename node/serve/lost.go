package serve

import (
	"context"
	"time"
)

// Lost lists data that no wearable will send any more, and the times in which
// nothing was recorded.
type Lost struct {
	Since   time.Time    `json:"since"`
	Devices []DeviceLost `json:"devices"` // wearables with losses, the latest loss first
	Gaps    []Gap        `json:"gaps"`    // newest first
	Pauses  []Span       `json:"pauses"`  // pauses of all wearables, oldest first
}

// DeviceLost counts what a wearable lost.
type DeviceLost struct {
	Device string `json:"device"`
	Times  int    `json:"times"`          // number of all its losses
	More   bool   `json:"more,omitempty"` // the answer does not have all of them
}

// Gap is something that a wearable lost, as it reported.
type Gap struct {
	Device string    `json:"device"`
	At     time.Time `json:"at"`
	From   *uint64   `json:"from,omitempty"` // first number of the lost messages; To is the last. Absent: the wearable did not report the numbers
	To     *uint64   `json:"to,omitempty"`
	Why    string    `json:"why,omitempty"` // the reason that the device gave
}

// DefaultLost is how far back losses and pauses are listed if the request names
// no time.
const DefaultLost = 7 * 24 * time.Hour

type lostQuery struct {
	Since time.Time `query:"since" doc:"absent: seven days ago"`
	Limit int       `query:"limit" min:"1" max:"1000" default:"200" doc:"number of losses per wearable"`
}

var getLost = jsonRoute(RightOwner, spec{
	method: "GET", path: "/v1/lost", id: "lost",
	summary: "List what wearables lost, and when they were paused", gives: "The losses, newest first, and the pauses",
}, func(s Calendar, ctx context.Context, q lostQuery) (Lost, error) { return s.Lost(ctx, q.Since, q.Limit) })
