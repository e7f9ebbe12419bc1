package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Granter adds and removes workers, shows their reports, and reverts what they
// said.
type Granter interface {
	// AddGrant adds a worker to the wearer's space, or to a feed of its own.
	AddGrant(ctx context.Context, r GrantRequest) (Grant, error)
	Grants(ctx context.Context) ([]Grant, error)
	// RevokeGrant removes a worker, by name, member id or key. From then on it
	// gets nothing new.
	RevokeGrant(ctx context.Context, who string) (Grant, error)
	// TendGrants adds new memories to the feeds, and takes over what workers said.
	TendGrants(ctx context.Context) (FeedsTended, error)
	// WorkerLog returns a worker's reports (by name, member id or key), with at
	// most limit reads, the newest first. The worker has signed them, but they
	// are only claims.
	WorkerLog(ctx context.Context, who string, limit int) (WorkerLog, error)
	// Revert takes back what workers said, or shows what it would take back.
	Revert(ctx context.Context, r RevertRequest) (Reverted, error)
}

// GrantRequest adds a worker.
type GrantRequest struct {
	Key         string              `json:"key"` // key from the worker's operator
	Name        string              `json:"name,omitempty"`
	Types       []memory.Type       `json:"types,omitempty"`      // types that it may propose; in a feed, also the types that it gets
	Transcribe  bool                `json:"transcribe,omitempty"` // it may add transcripts
	PerEvidence int                 `json:"per_evidence,omitempty"`
	Feed        bool                `json:"feed,omitempty"`       // give it a feed of its own, instead of access to the wearer's space
	Recordings  bool                `json:"recordings,omitempty"` // in a feed: include recordings and photos, except those near a secret
	Sensitivity *memory.Sensitivity `json:"sensitivity,omitempty"`
	Since       time.Time           `json:"since,omitzero"` // for a feed: only memories learnt at or after this time
}

// Grant is a worker that was added.
type Grant struct {
	Member      memory.MemberID `json:"member"`
	Name        string          `json:"name"`
	Feed        bool            `json:"feed,omitempty"`
	Space       memory.SpaceID  `json:"space"`
	Types       []memory.Type   `json:"types"`
	Transcribe  bool            `json:"transcribe,omitempty"`
	PerEvidence int             `json:"per_evidence"`
	Memories    int             `json:"memories,omitempty"` // number of memories in its feed
	Added       time.Time       `json:"added,omitzero"`
	Removed     time.Time       `json:"removed,omitzero"`
	Relay       string          `json:"relay"`
	Welcome     string          `json:"welcome"` // for the worker's operator: the space to which it was added
}

// GrantsAnswer lists the workers.
type GrantsAnswer struct {
	Grants []Grant `json:"grants"`
}

// FeedsTended says what was sent to workers, and what was taken over from them.
type FeedsTended struct {
	Feeds int `json:"feeds"`
	Taken int `json:"taken"` // number of assertions and transcripts that were taken over from workers
}

// WorkerLog is a worker's own report of its work.
type WorkerLog struct {
	Member  memory.MemberID `json:"member"`
	Name    string          `json:"name,omitempty"`
	Feed    bool            `json:"feed"`
	Reports int             `json:"reports"`           // reports that are stored here
	Missing int             `json:"missing"`           // reports that are missing between the stored ones, by their numbers
	At      time.Time       `json:"at,omitzero"`       // time of the last report, by the worker's clock
	Came    time.Time       `json:"came,omitzero"`     // when it arrived, by this device's clock
	Work    []WorkerJobs    `json:"work"`              // according to the last report
	Tokens  int64           `json:"tokens,omitempty"`  // tokens that were used for this space that day (UTC)
	Dollars float64         `json:"dollars,omitempty"` // their cost, at the worker's configured prices
	Reads   []WorkerRead    `json:"reads"`             // the newest first
}

// WorkerJobs is the state of the jobs of one kind.
type WorkerJobs struct {
	Kind    string         `json:"kind"`
	Engine  string         `json:"engine,omitempty"`
	Waiting int64          `json:"waiting"`
	Running int64          `json:"running"`
	Done    int64          `json:"done"`
	Parked  int64          `json:"parked"`
	Reasons []WorkerReason `json:"reasons"` // why jobs are parked or wait
}

// WorkerReason says why jobs do not continue.
type WorkerReason struct {
	Reason string `json:"reason"`
	Jobs   int    `json:"jobs"`
}

// WorkerRead is something that the worker opened and gave to an engine.
type WorkerRead struct {
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`
	Subject string    `json:"subject"` // id of a memory, or another name
	Engine  string    `json:"engine"`
	Of      []string  `json:"of,omitempty"` // ids of the lines, memories or photos, if there are several
	To      string    `json:"to,omitempty"` // host to which it was sent; absent: it stayed on the worker's machine
	Report  uint64    `json:"report"`       // number of the report with this entry
	Place   string    `json:"place"`        // where the signed delta with the report is
}

// RevertRequest says what to take back: everything that workers said or an app
// wrote, or the part that the other fields select. With Undo, it undoes a
// revert.
type RevertRequest struct {
	Source string    `json:"source,omitempty"` // "worker"
	App    string    `json:"app,omitempty"`    // instead of source: revert what this app wrote
	Since  time.Time `json:"since,omitzero"`   // only what was said at or after this time, by the worker's clock
	Until  time.Time `json:"until,omitzero"`   // only what was said before this time; absent: now
	Engine string    `json:"engine,omitempty"` // only what was said with this engine
	Work   string    `json:"work,omitempty"`   // only this kind of work: transcribe, read, caption …
	Plan   bool      `json:"plan,omitempty"`   // only show what would be reverted
	ID     string    `json:"id,omitempty"`     // id for the revert, so that it can continue after an interruption; empty: a new one
	Undo   string    `json:"undo,omitempty"`   // id of a revert to undo
	// Memory, instead of source and app, reverts what machines said of one memory. If another memory
	// replaced or ended it, that other memory is meant.
	Memory memory.ID `json:"memory,omitzero"`
}

// Reverted is what was taken back, or would be.
type Reverted struct {
	ID       string           `json:"id,omitempty"` // id with which the revert can be undone; absent for a plan
	Until    time.Time        `json:"until"`        // later assertions are not affected
	Claims   int              `json:"claims"`
	Lines    int              `json:"lines,omitempty"`  // lines that workers transcribed; they are erased, and undoing does not restore them
	Unseen   int              `json:"unseen,omitempty"` // cold memories that can't be read now; what workers said about them stays
	Memories []RevertedMemory `json:"memories"`
}

// RevertedMemory is a memory whose assertions were taken back or restored.
type RevertedMemory struct {
	Memory memory.ID   `json:"memory"`
	Type   memory.Type `json:"type"`
	Text   string      `json:"text"`
	Engine string      `json:"engine,omitempty"`
	Said   time.Time   `json:"said"` // time of its last assertion
	Claims int         `json:"claims"`
	Stays  string      `json:"stays,omitempty"` // why the memory still exists
}

type grantOf struct {
	Grant string `path:"grant" doc:"name, member id or key"`
}

type workerLogQuery struct {
	Grant string `path:"grant" doc:"name or member id"`
	Limit int    `query:"limit" min:"1" max:"1000" default:"50" doc:"number of reads, newest first"`
}

var grantsTopic = topic[Granter]{addGrant.untyped, listGrants.untyped, tendGrants.untyped, revokeGrant.untyped, workerLog.untyped, revert.untyped}

var (
	addGrant = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/grants", id: "addGrant", made: true,
		summary: "Add a worker", gives: "The worker; the welcome is for its operator",
	}, Granter.AddGrant)

	listGrants = plainList[GrantsAnswer](RightOwner, spec{
		method: "GET", path: "/v1/grants", id: "listGrants",
		summary: "List the workers", gives: "The workers",
	}, Granter.Grants)

	tendGrants = plainRoute(RightOwner, spec{
		method: "POST", path: "/v1/grants/tend", id: "tendGrants",
		summary: "Fill the workers' feeds, and take over what workers said", gives: "What was done",
	}, Granter.TendGrants)

	revokeGrant = fieldRoute[grantOf](RightOwner, spec{
		method: "DELETE", path: "/v1/grants/{grant}", id: "revokeGrant",
		summary: "Remove a worker", gives: "The removed worker, which gets nothing new",
	}, Granter.RevokeGrant)

	workerLog = jsonRoute(RightOwner, spec{
		method: "GET", path: "/v1/grants/{grant}/log", id: "workerLog",
		summary: "Show a worker's reports of its work and of what it read",
		about:   "These are the worker's own claims, signed by it.", gives: "The reports",
	}, func(s Granter, ctx context.Context, in workerLogQuery) (WorkerLog, error) {
		v, err := s.WorkerLog(ctx, in.Grant, in.Limit)
		for i := range v.Work {
			v.Work[i].Reasons = NonNil(v.Work[i].Reasons)
		}
		return v, err
	})

	revert = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/revert", id: "revert",
		summary: "Revert what workers, an app or machines have said; preview or undo a revert", gives: "What was reverted, would be reverted, or was restored",
	}, Granter.Revert)
)

// AddGrant adds a worker.
func (c *Client) AddGrant(ctx context.Context, r GrantRequest) (Grant, error) {
	return call(ctx, c, addGrant, r)
}

// Grants lists the workers.
func (c *Client) Grants(ctx context.Context) ([]Grant, error) {
	return items(ctx, c, listGrants, none{})
}

// TendGrants adds new memories to the feeds, and takes over what workers said.
func (c *Client) TendGrants(ctx context.Context) (FeedsTended, error) {
	return call(ctx, c, tendGrants, none{})
}

// RevokeGrant removes a worker.
func (c *Client) RevokeGrant(ctx context.Context, who string) (Grant, error) {
	return call(ctx, c, revokeGrant, grantOf{who})
}

// WorkerLog shows what a worker has reported; limit 0: [DefaultPage] reads.
func (c *Client) WorkerLog(ctx context.Context, who string, limit int) (WorkerLog, error) {
	return call(ctx, c, workerLog, workerLogQuery{who, limit})
}

// Revert takes back what workers said.
func (c *Client) Revert(ctx context.Context, r RevertRequest) (Reverted, error) {
	return call(ctx, c, revert, r)
}
