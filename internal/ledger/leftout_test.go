package ledger_test

import (
	"context"
	"testing"

	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// holding is a relay that shows no delta while on, and once serves the first
// delta as what comes next.
type holding struct {
	replica.Remote
	on, repeat *bool
}

func (h holding) Deltas(ctx context.Context, after uint64) ([]replica.Placed, error) {
	if *h.on {
		return nil, nil
	}
	page, err := h.Remote.Deltas(ctx, after)
	if err == nil && *h.repeat && after > 0 {
		*h.repeat = false
		if page, err = h.Remote.Deltas(ctx, 0); err == nil {
			page = []replica.Placed{{Cursor: after + 1, Delta: page[0].Delta}}
		}
	}
	return page, err
}

// Who had taken what a removal leaves out reads all of an honest relay after a
// lie, and goes on: that the removed one's chain counts less far by now is no
// going back of the relay.
func TestAllIsReadAgainWhereARemovalLeftOut(t *testing.T) {
	a, _ := pair(t)
	w := a.let(a.url, envelope.Writer, nil)
	c := a.let(a.url, envelope.Owner, nil)
	w.say(fact(1, "Said in time."))
	w.sync()
	on, repeat, never := false, false, false
	a.remote = func(r replica.Remote) replica.Remote { return holding{r, &on, &never} }
	c.remote = func(r replica.Remote) replica.Remote { return holding{r, &never, &repeat} }
	a.again()
	c.again()
	a.sync()
	w.say(fact(2, "Left out."))
	w.sync()
	c.sync()
	on = true
	for n := 0; ; n++ {
		err := a.RemoveMember(t.Context(), w.ring.Member(), nil)
		if err == nil {
			break
		}
		if n == 3 {
			t.Fatal(err)
		}
	}
	on = false
	c.sync()
	a.say(fact(3, "Afterwards."))
	a.sync()
	repeat = true
	c.sync()
	if repeat {
		t.Fatal("nothing was said twice")
	}
	a.say(fact(4, "And then."))
	a.sync()
	c.sync()
	if got := c.memory(fact(4, "").Memory); got == nil {
		t.Error("what was said since has not come")
	}
}
