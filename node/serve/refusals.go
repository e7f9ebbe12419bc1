package serve

import (
	"context"
	"maps"
	"slices"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// Refuser reports how much of what was heard is remembered, and what was
// refused.
type Refuser interface {
	// Refusals returns the newest refusals first, at most limit.
	Refusals(ctx context.Context, limit int) ([]RefusedLine, error)
	// Tally returns counts of this node since the home was made.
	Tally(ctx context.Context) (Tally, error)
	// Rescan runs the present plugins on quarantined texts. These texts were
	// quarantined because a plugin that looks for secrets failed on them. A
	// text that passes is removed from quarantine. Rescan returns ErrConflict
	// while such a plugin is disabled after faults.
	Rescan(ctx context.Context) (Rescanned, error)
}

// MaxList is the maximum number of refusals or quarantined inputs in one
// answer.
const MaxList = 1000

// RefusalsAnswer lists refusals, newest first.
type RefusalsAnswer struct {
	Refusals []RefusedLine `json:"refusals"`
}

// RefusedLine is a refusal with the line that it is about.
type RefusedLine struct {
	memory.Refusal
	Words string `json:"words,omitempty"` // the first words of the line; absent: there is no line, more than one, or it had a secret
}

// Tally counts the outcomes of what was heard.
type Tally struct {
	Taken   uint64    `json:"taken"`   // statements that became a memory, or evidence for one
	Refused []Refused `json:"refused"` // the most frequent kind first
}

// Refused is one reason why statements were refused.
type Refused struct {
	Kind  string  `json:"kind"`
	Count uint64  `json:"count"`
	Share float64 `json:"share"` // of everything that was taken or refused, 0 to 1
}

// NewTally computes the shares.
func NewTally(taken uint64, refused map[string]uint64) Tally {
	t := Tally{Taken: taken, Refused: []Refused{}}
	all := taken
	for _, n := range refused {
		all += n
	}
	for _, kind := range slices.Sorted(maps.Keys(refused)) {
		t.Refused = append(t.Refused, Refused{Kind: kind, Count: refused[kind], Share: float64(refused[kind]) / float64(max(all, 1))})
	}
	sorting.Stable(t.Refused, func(a, b Refused) int { return int(min(b.Count, 1<<30)) - int(min(a.Count, 1<<30)) })
	return t
}

// Rescanned is the result of Rescan.
type Rescanned struct {
	Texts   int             `json:"texts"` // number of texts that were in quarantine
	Left    int             `json:"left"`  // number of texts on which a plugin failed again; they stay in quarantine
	Changes []memory.Change `json:"changes"`
}

var refusalsTopic = topic[Refuser]{refusals.untyped, tally.untyped, rescan.untyped}

var (
	refusals = fieldList[RefusalsAnswer, limitQuery](RightOwner, spec{
		method: "GET", path: "/v1/refusals", id: "refusals",
		summary: "List what was said and not remembered, newest first", gives: "The refusals",
	}, Refuser.Refusals)

	tally = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/refusals/tally", id: "tally",
		summary: "Count how much of what was heard became a memory, and how much was refused, by reason", gives: "The counts since the home was made",
	}, Refuser.Tally)

	rescan = plainRoute(RightOwner, spec{
		method: "POST", path: "/v1/refusals/retry", id: "rescan",
		summary: "Retry quarantined texts on which a plugin that removes words had failed", gives: "The result",
	}, Refuser.Rescan)
)

// Refusals returns the newest refusals first; limit 0: DefaultPage.
func (c *Client) Refusals(ctx context.Context, limit int) ([]RefusedLine, error) {
	return items(ctx, c, refusals, limitQuery{limit})
}

// Tally returns how much of what was heard is remembered.
func (c *Client) Tally(ctx context.Context) (Tally, error) { return call(ctx, c, tally, none{}) }

// Rescan tries quarantined texts again.
func (c *Client) Rescan(ctx context.Context) (Rescanned, error) { return call(ctx, c, rescan, none{}) }
