package serve

import (
	"context"
	"fmt"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Keeper tells how long memories are kept, and where.
type Keeper interface {
	// Retention returns the rules, and what would go if they were applied now.
	Retention(ctx context.Context) (RetentionAnswer, error)
	// Tiers counts hot and cold memories.
	Tiers(ctx context.Context) (Tiers, error)
	// MoveTiers fetches, or cools down to the budget. What can't be fetched is
	// named in the answer, and no error.
	MoveTiers(ctx context.Context, r MoveRequest) (MoveAnswer, error)
}

// RetentionAnswer is the answer to GET /v1/retention.
type RetentionAnswer struct {
	Clock      time.Time `json:"clock,omitzero"` // of events, by which ages count; absent: there was none
	Rules      []string  `json:"rules"`          // of the configuration, in order
	Memories   []Ending  `json:"memories"`       // oldest first
	Utterances []Ending  `json:"utterances"`
}

// Ending is what has been kept for long enough, and by which rule.
type Ending struct {
	Related
	Why string `json:"why"` // the rule by which it ends
}

// HotBudget is how much may be hot; 0: no limit.
type HotBudget struct {
	Records int   `json:"records"` // 0: no limit
	Bytes   int64 `json:"bytes"`
}

// Tiers is the answer to GET /v1/tiers.
type Tiers struct {
	Budget         HotBudget `json:"budget"`
	Hot            int       `json:"hot"`                   // memories that are here whole
	HotBytes       int64     `json:"hot_bytes,omitempty"`   // that they take, when last weighed: with a budget in bytes
	Cold           int       `json:"cold"`                  // memories of which a stub is here
	Media          int       `json:"media"`                 // photos and recordings that are here
	MediaBytes     int64     `json:"media_bytes,omitempty"` // that they take
	ColdMedia      int       `json:"cold_media"`            // photos and recordings that lie at the relay alone
	ColdMediaBytes int64     `json:"cold_media_bytes,omitempty"`
	Packs          int       `json:"packs"` // blobs at the relay that hold them
	PackedBytes    int64     `json:"packed_bytes"`
	Wanted         int       `json:"wanted,omitempty"`  // groups of memories that something waits for
	Leaving        int       `json:"leaving,omitempty"` // packs that nothing needs, and that are at the relay still
	Fetched        int       `json:"fetched"`           // memories, since the node was opened
	Blocked        string    `json:"blocked,omitempty"` // what keeps the budget from being kept
	Missing        string    `json:"missing,omitempty"` // why cold memories can't be fetched now
}

// MoveRequest is the body of POST /v1/tiers. One of its fields is set.
type MoveRequest struct {
	Fetch []memory.ID `json:"fetch,omitempty"` // at most 1000
	All   bool        `json:"all,omitempty"`   // fetch everything
	Cool  bool        `json:"cool,omitempty"`  // keep the budget, now
}

// MoveAnswer says what was moved, and how it is now.
type MoveAnswer struct {
	Tiers
	Back   int         `json:"back"`   // memories that were fetched
	Cooled int         `json:"cooled"` // memories that turned cold
	Left   []memory.ID `json:"left"`   // of those asked for: can't be fetched now
}

// maxFetch is how many memories one request names at most.
const maxFetch = 1000

var keeping = topic[Keeper]{getRetention, getTiers, moveTiers}

var (
	getRetention = asks(RightOwner, spec{
		method: "GET", path: "/v1/retention", id: "retention",
		summary: "Tell how long memories are kept and what would go now", gives: "The rules, and what has been kept for long enough",
	}, Keeper.Retention)

	getTiers = asks(RightOwner, spec{
		method: "GET", path: "/v1/tiers", id: "tiers",
		summary: "Count the memories that are here whole, and those of which a stub is", gives: "The budget, and how it is kept",
	}, Keeper.Tiers)

	moveTiers = takes(RightOwner, spec{
		method: "POST", path: "/v1/tiers", id: "moveTiers",
		summary: "Fetch cold memories, or keep the budget now", gives: "What was moved; what can't be fetched now is named",
	}, Keeper.MoveTiers)
)

func (r *MoveRequest) check() error {
	switch {
	case oneOf(len(r.Fetch) > 0, r.All, r.Cool) != 1:
		return kindInvalid.problem("fetch", "fetch, all, cool: want one of them")
	case len(r.Fetch) > maxFetch:
		return kindInvalid.problem("fetch", fmt.Sprintf("fetch: %d ids, at most %d", len(r.Fetch), maxFetch))
	}
	return nil
}

// Retention asks what retention would end now.
func (c *Client) Retention(ctx context.Context) (RetentionAnswer, error) {
	return getRetention.call(ctx, c, none{})
}

// Tiers asks how much is hot and cold.
func (c *Client) Tiers(ctx context.Context) (Tiers, error) { return getTiers.call(ctx, c, none{}) }

// MoveTiers fetches, or cools.
func (c *Client) MoveTiers(ctx context.Context, r MoveRequest) (MoveAnswer, error) {
	return moveTiers.call(ctx, c, r)
}
