package serve_test

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// then: what was true, and what was believed, at another time.
func then(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	spring, autumn := time.Now().AddDate(0, -10, 0), time.Now().AddDate(0, -2, 0)
	at := func(r serve.AddRequest, at time.Time) serve.AddRequest { r.At = at; return r }
	ghent := added(t, c, at(slot("home", "Ghent"), spring))
	lyon := added(t, c, at(slot("home", "Lyon"), autumn))
	added(t, c, plain("Ann likes tea"))
	summer := autumn.AddDate(0, -1, 0)
	for _, q := range []struct {
		asOf, knownAt time.Time
		want          memory.ID // the result of get for Lyon; zero: not found
		list          int
	}{
		{summer, time.Time{}, ghent, 1},
		{autumn.AddDate(0, 1, 0), time.Time{}, lyon, 1},
		{spring.AddDate(0, -1, 0), time.Time{}, memory.ID{}, 0},
		{time.Time{}, summer, memory.ID{}, 0}, // it was said to this node today
		{time.Time{}, time.Now().Add(time.Hour), lyon, 2},
		{summer, time.Now().Add(time.Hour), ghent, 1},
	} {
		m, err := c.GetAt(ctx, lyon.String(), q.asOf, q.knownAt)
		if q.want.IsZero() {
			want(t, err, memory.ErrNotFound)
		} else if err != nil || m.ID != q.want {
			t.Errorf("as of %v, known at %v: %s, %v", q.asOf, q.knownAt, m.Text, err)
		}
		page, err := c.List(ctx, serve.ListQuery{AsOf: q.asOf, KnownAt: q.knownAt})
		if err != nil || len(page.Memories) != q.list {
			t.Errorf("list as of %v, known at %v: %+v, %v", q.asOf, q.knownAt, page.Memories, err)
		}
	}
	_, err := c.List(ctx, serve.ListQuery{AsOf: summer, State: memory.Active})
	want(t, err, memory.ErrInvalid)
}
