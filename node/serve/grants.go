package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Granter lets workers in, shows what they report, and takes back what they said.
type Granter interface {
	// AddGrant lets one into the wearer's space, or into a feed of its own.
	AddGrant(ctx context.Context, r GrantRequest) (Grant, error)
	Grants(ctx context.Context) ([]Grant, error)
	// RevokeGrant puts one out, by name, member id or key: nothing new gets to
	// it from then on.
	RevokeGrant(ctx context.Context, who string) (Grant, error)
	// TendGrants fills feeds with what is new, and takes what workers said.
	TendGrants(ctx context.Context) (FeedsTended, error)
	// WorkerLog returns what a worker (by name, member id or key) has reported:
	// a claim of its own, signed by it. At most limit reads, the newest first.
	WorkerLog(ctx context.Context, who string, limit int) (WorkerLog, error)
	// Revert takes back what workers said, or shows what it would take.
	Revert(ctx context.Context, r RevertRequest) (Reverted, error)
}

// GrantRequest lets a worker in.
type GrantRequest struct {
	Key         string              `json:"key"` // as the worker's owner gives it
	Name        string              `json:"name,omitempty"`
	Types       []memory.Type       `json:"types,omitempty"`      // that it may propose; of a feed also what it gets
	Transcribe  bool                `json:"transcribe,omitempty"` // it may add transcripts
	PerEvidence int                 `json:"per_evidence,omitempty"`
	Feed        bool                `json:"feed,omitempty"`       // into a feed, not into the wearer's space
	Recordings  bool                `json:"recordings,omitempty"` // of a feed: recordings and photos, but those near a secret
	Sensitivity *memory.Sensitivity `json:"sensitivity,omitempty"`
	Since       time.Time           `json:"since,omitzero"` // of a feed: learnt at or after
}

// Grant is a worker that was let in.
type Grant struct {
	Member      memory.MemberID `json:"member"`
	Name        string          `json:"name"`
	Feed        bool            `json:"feed,omitempty"`
	Space       memory.SpaceID  `json:"space"`
	Types       []memory.Type   `json:"types"`
	Transcribe  bool            `json:"transcribe,omitempty"`
	PerEvidence int             `json:"per_evidence"`
	Memories    int             `json:"memories,omitempty"` // of a feed
	Added       time.Time       `json:"added,omitzero"`
	Removed     time.Time       `json:"removed,omitzero"`
	Relay       string          `json:"relay"`
	Welcome     string          `json:"welcome"` // for the worker's owner: where it was let in
}

// GrantsAnswer lists the workers.
type GrantsAnswer struct {
	Grants []Grant `json:"grants"`
}

// FeedsTended is what went to workers, and what came back.
type FeedsTended struct {
	Feeds int `json:"feeds"`
	Taken int `json:"taken"` // assertions and transcripts of workers
}

// WorkerLog is a worker's own account of its work.
type WorkerLog struct {
	Member  memory.MemberID `json:"member"`
	Name    string          `json:"name,omitempty"`
	Feed    bool            `json:"feed"`
	Reports int             `json:"reports"`           // that are kept here
	Missing int             `json:"missing"`           // whose numbers are between those that are kept
	At      time.Time       `json:"at,omitzero"`       // of the last one, by the worker's clock
	Came    time.Time       `json:"came,omitzero"`     // by this device's
	Work    []WorkerJobs    `json:"work"`              // as of the last one
	Tokens  int64           `json:"tokens,omitempty"`  // that the space has cost that day (UTC)
	Dollars float64         `json:"dollars,omitempty"` // at the prices that the worker was told
	Reads   []WorkerRead    `json:"reads"`             // the newest first
}

// WorkerJobs is where the jobs of one kind stand.
type WorkerJobs struct {
	Kind    string         `json:"kind"`
	Engine  string         `json:"engine,omitempty"`
	Waiting int64          `json:"waiting"`
	Running int64          `json:"running"`
	Done    int64          `json:"done"`
	Parked  int64          `json:"parked"`
	Reasons []WorkerReason `json:"reasons"` // of those that are parked, or wait for one
}

// WorkerReason is why jobs don't go on.
type WorkerReason struct {
	Reason string `json:"reason"`
	Jobs   int    `json:"jobs"`
}

// WorkerRead is something that the worker opened and gave to an engine.
type WorkerRead struct {
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`
	Subject string    `json:"subject"` // a memory's id, or another name
	Engine  string    `json:"engine"`
	Of      []string  `json:"of,omitempty"` // ids of the lines, memories or photos, where it is several
	To      string    `json:"to,omitempty"` // host that it was sent to; absent: it stayed on the worker's machine
	Report  uint64    `json:"report"`       // number of the report that says so
	Place   string    `json:"place"`        // of the signed delta that the report stands in
}

// RevertRequest says what to take back: what workers said or an app wrote, all of it or what the
// other fields choose; or, with Undo, a revert.
type RevertRequest struct {
	Source string    `json:"source,omitempty"` // "worker"
	App    string    `json:"app,omitempty"`    // in place of source: what this app wrote
	Since  time.Time `json:"since,omitzero"`   // said at or after, by the worker's clock
	Until  time.Time `json:"until,omitzero"`   // said before; absent: now
	Engine string    `json:"engine,omitempty"` // by this one only
	Work   string    `json:"work,omitempty"`   // of this kind only: transcribe, read, caption …
	Plan   bool      `json:"plan,omitempty"`   // only show it
	ID     string    `json:"id,omitempty"`     // to do it under, so that it can be gone on with after an interruption; empty: one is made
	Undo   string    `json:"undo,omitempty"`   // id of a revert that is to be taken back
}

// Reverted is what was taken back, or would be.
type Reverted struct {
	ID       string           `json:"id,omitempty"` // to undo it by; absent of a plan
	Until    time.Time        `json:"until"`        // what was said later is left
	Claims   int              `json:"claims"`
	Lines    int              `json:"lines,omitempty"`  // that workers heard; they are erased, and no undo brings them back
	Unseen   int              `json:"unseen,omitempty"` // cold memories that can't be looked at now: what workers said of them stays
	Memories []RevertedMemory `json:"memories"`
}

// RevertedMemory is one that claims were taken of, or said of again.
type RevertedMemory struct {
	Memory memory.ID   `json:"memory"`
	Type   memory.Type `json:"type"`
	Text   string      `json:"text"`
	Engine string      `json:"engine,omitempty"`
	Said   time.Time   `json:"said"` // the last of its claims
	Claims int         `json:"claims"`
	Stays  string      `json:"stays,omitempty"` // why the memory is there all the same
}

type grantOf struct {
	Grant string `path:"grant" doc:"name, member id or key"`
}

type workerLogQuery struct {
	Grant string `path:"grant" doc:"name or member id"`
	Limit int    `query:"limit" min:"1" max:"1000" default:"50" doc:"reads, the newest first"`
}

var granting = topic[Granter]{addGrant, listGrants, tendGrants, revokeGrant, workerLog, revert}

var (
	addGrant = takes(RightOwner, spec{
		method: "POST", path: "/v1/grants", id: "addGrant", made: true,
		summary: "Let a worker in", gives: "It is in; the welcome is for its owner",
	}, Granter.AddGrant)

	listGrants = asks(RightOwner, spec{
		method: "GET", path: "/v1/grants", id: "listGrants",
		summary: "List the workers", gives: "The workers",
	}, func(s Granter, ctx context.Context) (GrantsAnswer, error) {
		list, err := s.Grants(ctx)
		return GrantsAnswer{list}, err
	})

	tendGrants = asks(RightOwner, spec{
		method: "POST", path: "/v1/grants/tend", id: "tendGrants",
		summary: "Fill feeds and take what workers said", gives: "What was done",
	}, Granter.TendGrants)

	revokeGrant = takes(RightOwner, spec{
		method: "DELETE", path: "/v1/grants/{grant}", id: "revokeGrant",
		summary: "Put a worker out", gives: "It gets nothing new",
	}, func(s Granter, ctx context.Context, in grantOf) (Grant, error) {
		return s.RevokeGrant(ctx, in.Grant)
	})

	workerLog = takes(RightOwner, spec{
		method: "GET", path: "/v1/grants/{grant}/log", id: "workerLog",
		summary: "What a worker has reported of its work and of what it read",
		about:   "A claim of the worker's own, which it signed.", gives: "Its account",
	}, func(s Granter, ctx context.Context, in workerLogQuery) (WorkerLog, error) {
		v, err := s.WorkerLog(ctx, in.Grant, in.Limit)
		for i := range v.Work {
			v.Work[i].Reasons = notNil(v.Work[i].Reasons)
		}
		return v, err
	})

	revert = takes(RightOwner, spec{
		method: "POST", path: "/v1/revert", id: "revert",
		summary: "Take back what workers said or an app wrote, or show what that would take", gives: "What was taken back, would be, or stands again",
	}, Granter.Revert)
)

// AddGrant lets a worker in.
func (c *Client) AddGrant(ctx context.Context, r GrantRequest) (Grant, error) {
	return addGrant.call(ctx, c, r)
}

// Grants lists the workers.
func (c *Client) Grants(ctx context.Context) ([]Grant, error) {
	v, err := listGrants.call(ctx, c, none{})
	return v.Grants, err
}

// TendGrants fills feeds, and takes what workers said.
func (c *Client) TendGrants(ctx context.Context) (FeedsTended, error) {
	return tendGrants.call(ctx, c, none{})
}

// RevokeGrant puts a worker out.
func (c *Client) RevokeGrant(ctx context.Context, who string) (Grant, error) {
	return revokeGrant.call(ctx, c, grantOf{who})
}

// WorkerLog shows what a worker has reported; limit 0: [DefaultPage] reads.
func (c *Client) WorkerLog(ctx context.Context, who string, limit int) (WorkerLog, error) {
	return workerLog.call(ctx, c, workerLogQuery{who, limit})
}

// Revert takes back what workers said.
func (c *Client) Revert(ctx context.Context, r RevertRequest) (Reverted, error) {
	return revert.call(ctx, c, r)
}
