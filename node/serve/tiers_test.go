package serve_test

import (
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// tiers counts what is hot and moves nothing unnecessarily; a locked node can't
// say.
func tiers(t *testing.T, c *serve.Client) {
	id := added(t, c, plain("The bike is blue"))
	s, err := c.Tiers(t.Context())
	if err != nil || s.Hot != 1 || s.Cold != 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	for _, r := range []serve.MoveRequest{{Fetch: []memory.ID{id}}, {All: true}, {Cool: true}} {
		if a, err := c.MoveTiers(t.Context(), r); err != nil || a.Hot != 1 || a.Back+a.Cooled != 0 || a.Left == nil || len(a.Left) != 0 {
			t.Errorf("%+v: %+v, %v", r, a, err)
		}
	}
	for _, r := range []serve.MoveRequest{{}, {All: true, Cool: true}, {Fetch: make([]memory.ID, 1001)}} {
		_, err := c.MoveTiers(t.Context(), r)
		want(t, err, memory.ErrInvalid)
	}
	if _, err := c.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = c.Tiers(t.Context())
	want(t, err, memory.ErrLocked)
}
