package serve

import (
	"context"
	"iter"
	"time"

	"github.com/locket-dev/locket/memory"
)

// FollowQuery selects memories to follow: one by its id, or all of a type or a time.
type FollowQuery struct {
	Memory string      `query:"memory" doc:"only this memory: its id, or at least the first 4 characters of it"`
	Type   memory.Type `query:"type" doc:"only memories of this type"`
	Since  time.Time   `query:"since" doc:"learnt at or after this time"`
	Until  time.Time   `query:"until" doc:"learnt before this time"`

	// ID is the resolved id of Memory. Sees returns what the caller may see at the moment;
	// nil: everything.
	ID   memory.ID                                                `json:"-"`
	Sees func(context.Context) (func(*memory.Memory) bool, error) `json:"-"`
}

func (q *FollowQuery) check() error {
	switch rest := q.Type != "" || !q.Since.IsZero() || !q.Until.IsZero(); {
	case q.Memory == "" && !rest:
		return kindInvalid.problem("memory", "want a memory, or a type, since or until")
	case q.Memory != "" && rest:
		return kindInvalid.problem("memory", "want only a memory, without type, since and until")
	}
	return nil
}

// Chooses reports whether the query selects a memory, regardless of who may see it.
func (q *FollowQuery) Chooses(m *memory.Memory) bool {
	switch {
	case m.State == memory.Erased, m.Negates, !q.ID.IsZero() && m.ID != q.ID, q.Type != "" && m.Type != q.Type,
		!q.Since.IsZero() && m.Learnt.Before(q.Since), !q.Until.IsZero() && !m.Learnt.Before(q.Until):
		return false
	}
	return true
}

// Followed says that the selected memories have changed.
type Followed struct {
	Change uint64 `json:"change"` // number of the last change so far, as for after when listing changes
}

var follow = streamRoute(RightRead, spec{
	method: "GET", path: "/v1/follow", id: "follow", body: -1,
	summary: "Follow one memory, or all of a type or time: get a line when one was added, changed or removed",
	about:   "A first line comes at once. From then on, each line stands for one or more changes; it does not say what changed: use other requests for that. An app gets lines about memories that it may see, or could see until then.",
	gives:   "A line for each change or group of changes, until the node is locked",
}, func(s Reader, ctx context.Context, q FollowQuery) iter.Seq2[Followed, error] {
	return func(yield func(Followed, error) bool) {
		if q.Memory != "" {
			var err error
			if q.ID, err = s.Resolve(ctx, q.Memory); err != nil {
				yield(Followed{}, err)
				return
			}
		}
		s.Follow(ctx, q)(yield)
	}
})

// Follow reports when a memory that q selects was added, has changed or went. The first
// element comes after the first such event. It ends with ctx.
func (c *Client) Follow(ctx context.Context, q FollowQuery) iter.Seq2[Followed, error] {
	return stream(ctx, c, follow, q)
}
