package serve

import (
	"context"
	"iter"
	"time"

	"github.com/locket-dev/locket/memory"
)

// FollowQuery selects memories that are followed: one by its id, or all of a type or a
// time.
type FollowQuery struct {
	Memory string      `query:"memory" doc:"only this one: whole, or 4 or more of its first characters"`
	Type   memory.Type `query:"type" doc:"only this type"`
	Since  time.Time   `query:"since" doc:"learnt at or after"`
	Until  time.Time   `query:"until" doc:"learnt before"`

	// ID is what Memory was resolved to. Sees gives what the caller may see at the moment;
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

// Chooses reports whether the query selects a memory, whoever sees it.
func (q *FollowQuery) Chooses(m *memory.Memory) bool {
	switch {
	case m.State == memory.Erased, m.Negates, !q.ID.IsZero() && m.ID != q.ID, q.Type != "" && m.Type != q.Type,
		!q.Since.IsZero() && m.Learnt.Before(q.Since), !q.Until.IsZero() && !m.Learnt.Before(q.Until):
		return false
	}
	return true
}

// Followed says that memories were other ones than before.
type Followed struct {
	Change uint64 `json:"change"` // number of the last change so far, as after in listing changes
}

var follow = streamRoute(RightRead, spec{
	method: "GET", path: "/v1/follow", id: "follow", body: -1,
	summary: "Be told when a memory, or one of a type or a time, was added, has changed or went",
	about:   "A first line comes at once: what changes from then on is told, several changes at a time. What it was is asked for elsewhere. An app is told of what it may see, or could see until then.",
	gives:   "A line each time, until the node is locked",
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

// Follow tells when something that q selects was added, has changed or went. The first
// element comes once that is so. It ends with ctx.
func (c *Client) Follow(ctx context.Context, q FollowQuery) iter.Seq2[Followed, error] {
	return stream(ctx, c, follow, q)
}
