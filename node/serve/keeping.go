package serve

import (
	"context"
	"fmt"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Keeper reports how long memories are kept, and where.
type Keeper interface {
	// Retention returns the rules, and what they would remove now.
	Retention(ctx context.Context, q RetentionQuery) (RetentionAnswer, error)
	// Tiers counts hot and cold memories.
	Tiers(ctx context.Context) (Tiers, error)
	// MoveTiers fetches memories, or cools down to the budget. Memories that
	// can't be fetched are listed in the answer and are no error.
	MoveTiers(ctx context.Context, r MoveRequest) (MoveAnswer, error)
}

// RetentionQuery is the input of GET /v1/retention.
type RetentionQuery struct {
	// Try has retention settings, one per line. They replace the node's settings for this
	// answer only.
	Try string `query:"try" doc:"settings of retention to use for this answer only, one per line, such as retention.rules=type:episodic 90d"`
}

// RetentionAnswer is the answer to GET /v1/retention.
type RetentionAnswer struct {
	Clock      time.Time `json:"clock,omitzero"` // time of the latest event, from which ages are counted; absent: there were no events
	Rules      []string  `json:"rules"`          // rules of the configuration, or those to try, in order
	Memories   []Ending  `json:"memories"`       // oldest first
	Utterances []Ending  `json:"utterances"`
}

// Ending is a memory whose time is up, and the rule.
type Ending struct {
	Related
	Why string `json:"why"` // the rule that ends it
}

// HotBudget is how much may be hot; 0: no limit.
type HotBudget struct {
	Records int   `json:"records"` // 0: no limit
	Bytes   int64 `json:"bytes"`
}

// Tiers is the answer to GET /v1/tiers.
type Tiers struct {
	Budget         HotBudget `json:"budget"`
	Hot            int       `json:"hot"`                   // memories in any state that are completely on this device
	HotBytes       int64     `json:"hot_bytes,omitempty"`   // bytes that they took at the last measurement; only with a budget in bytes
	Cold           int       `json:"cold"`                  // memories of which only a stub is on this device
	Media          int       `json:"media"`                 // photos and recordings on this device
	MediaBytes     int64     `json:"media_bytes,omitempty"` // bytes that they take
	ColdMedia      int       `json:"cold_media"`            // photos and recordings that are only at the relay
	ColdMediaBytes int64     `json:"cold_media_bytes,omitempty"`
	Packs          int       `json:"packs"` // blobs at the relay that hold the cold memories
	PackedBytes    int64     `json:"packed_bytes"`
	Wanted         int       `json:"wanted,omitempty"`  // groups of memories that were requested
	Leaving        int       `json:"leaving,omitempty"` // packs at the relay that are no longer needed
	Fetched        int       `json:"fetched"`           // memories fetched since the node was opened
	Blocked        string    `json:"blocked,omitempty"` // why the budget can't be kept
	Missing        string    `json:"missing,omitempty"` // why cold memories can't be fetched now
}

// MoveRequest is the body of POST /v1/tiers. Exactly one of its fields is set.
type MoveRequest struct {
	Fetch []memory.ID `json:"fetch,omitempty"` // memories to fetch, at most 1000
	All   bool        `json:"all,omitempty"`   // fetch everything
	Cool  bool        `json:"cool,omitempty"`  // move memories out now, to keep the budget
}

// MoveAnswer says what was moved, and the state afterwards.
type MoveAnswer struct {
	Tiers
	Back   int         `json:"back"`   // memories that were fetched
	Cooled int         `json:"cooled"` // memories that became cold
	Left   []memory.ID `json:"left"`   // requested memories that can't be fetched now
}

// maxFetch is how many memories one request names at most.
const maxFetch = 1000

var retentionTopic = topic[Keeper]{getRetention.untyped, getTiers.untyped, moveTiers.untyped}

var (
	getRetention = jsonRoute(RightOwner, spec{
		method: "GET", path: "/v1/retention", id: "retention",
		summary: "Show how long memories are kept, and what would be removed now", gives: "The rules, and what has reached its end by them",
	}, Keeper.Retention)

	getTiers = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/tiers", id: "tiers",
		summary: "Count the memories that are fully on this device (hot), and those with only a stub here (cold)", gives: "The budget, and the present state",
	}, Keeper.Tiers)

	moveTiers = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/tiers", id: "moveTiers",
		summary: "Fetch cold memories, or move memories out to keep the budget", gives: "What was moved, and the memories that can't be fetched now",
	}, Keeper.MoveTiers)
)

func (r *MoveRequest) check() error {
	switch {
	case countTrue(len(r.Fetch) > 0, r.All, r.Cool) != 1:
		return kindInvalid.problem("fetch", "fetch, all, cool: want one of them")
	case len(r.Fetch) > maxFetch:
		return kindInvalid.problem("fetch", fmt.Sprintf("fetch: %d ids, at most %d", len(r.Fetch), maxFetch))
	}
	return nil
}

// Retention returns what retention would end now.
func (c *Client) Retention(ctx context.Context, q RetentionQuery) (RetentionAnswer, error) {
	return call(ctx, c, getRetention, q)
}

// Tiers returns how much is hot and cold.
func (c *Client) Tiers(ctx context.Context) (Tiers, error) { return call(ctx, c, getTiers, none{}) }

// MoveTiers fetches memories, or cools them.
func (c *Client) MoveTiers(ctx context.Context, r MoveRequest) (MoveAnswer, error) {
	return call(ctx, c, moveTiers, r)
}
