package serve

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Overseer shows what workers report, and takes back what they said.
type Overseer interface {
	// WorkerLog gives what a worker (by name, member id or key) has reported: a
	// claim of its own, signed by it. At most limit reads, the newest first.
	WorkerLog(ctx context.Context, who string, limit int) (WorkerLog, error)
	// Revert takes back what workers said, or shows what it would take.
	Revert(ctx context.Context, r RevertRequest) (Reverted, error)
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

// RevertRequest says what to take back: what workers said, all of it or what the
// other fields choose; or, with Undo, a revert.
type RevertRequest struct {
	Source string    `json:"source,omitempty"` // "worker"
	Since  time.Time `json:"since,omitzero"`   // said at or after, by the worker's clock
	Until  time.Time `json:"until,omitzero"`   // said before; zero: now
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

func (h *handler) workerLog(r *http.Request) (any, error) {
	p := readParams(r)
	limit := p.number("limit", DefaultPage, 1, MaxList)
	if p.err != nil {
		return nil, p.err
	}
	v, err := h.Service.WorkerLog(r.Context(), r.PathValue("grant"), int(limit))
	v.Work, v.Reads = notNil(v.Work), notNil(v.Reads)
	for i := range v.Work {
		v.Work[i].Reasons = notNil(v.Work[i].Reasons)
	}
	return v, err
}

func (h *handler) revert(r *http.Request) (any, error) {
	var req RevertRequest
	if err := decodeBody(r, &req, false); err != nil {
		return nil, err
	}
	v, err := h.Service.Revert(r.Context(), req)
	v.Memories = notNil(v.Memories)
	return v, err
}

// WorkerLog shows what a worker has reported; limit 0: [DefaultPage] reads.
func (c *Client) WorkerLog(ctx context.Context, who string, limit int) (v WorkerLog, err error) {
	q := url.Values{}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	return v, c.call(ctx, http.MethodGet, "/v1/grants/"+url.PathEscape(who)+"/log", q, nil, &v)
}

// Revert takes back what workers said.
func (c *Client) Revert(ctx context.Context, r RevertRequest) (v Reverted, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/revert", nil, r, &v)
}
