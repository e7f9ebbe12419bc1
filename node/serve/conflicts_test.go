package serve_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// conflicts: a machine's statement against a pinned memory is shown as a conflict, and settled
// once.
func conflicts(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	for _, tt := range []struct {
		subject string
		s       serve.SettleRequest
		want    string
	}{{"favourite colour", serve.SettleRequest{Choose: 1}, "blue"}, {"favourite fruit", serve.SettleRequest{Choose: 2}, "green"}, {"favourite number", serve.SettleRequest{Write: "seven"}, "seven"}} {
		say := func(value string) memory.ID {
			res, err := c.Add(ctx, serve.AddRequest{Text: "My " + tt.subject + " is " + value + "."})
			if err != nil || len(res.Changes) == 0 {
				t.Fatalf("%+v, %v", res, err)
			}
			return res.Changes[0].Memory
		}
		if _, err := c.Pin(ctx, say("blue").String(), true); err != nil {
			t.Fatal(err)
		}
		if open, err := c.Conflicts(ctx); err != nil || len(open) != 0 {
			t.Fatalf("%+v, %v", open, err)
		}
		say("green")
		open, err := c.Conflicts(ctx)
		if err != nil || len(open) != 1 || len(open[0].Sides) != 2 || open[0].Kind != "pin" || open[0].Why == "" {
			t.Fatalf("%s: %+v, %v", tt.subject, open, err)
		}
		if a, b := open[0].Sides[0], open[0].Sides[1]; !strings.Contains(a.Text, "blue") || !strings.Contains(b.Text, "green") || !a.Here || a.At.IsZero() {
			t.Fatalf("%s: %+v", tt.subject, open)
		}
		_, err = c.Settle(ctx, open[0].ID, serve.SettleRequest{Choose: 3})
		want(t, err, memory.ErrInvalid)
		_, err = c.Settle(ctx, "zzzzzzzz", tt.s)
		want(t, err, memory.ErrNotFound)
		done, err := c.Settle(ctx, open[0].ID[:8], tt.s)
		if err != nil || done.ID != open[0].ID || len(done.Changes) == 0 {
			t.Fatalf("%s: %+v, %v", tt.subject, done, err)
		}
		_, err = c.Settle(ctx, open[0].ID, tt.s)
		want(t, err, memory.ErrNotFound)
		// The settlement is taken back: the same conflict is open again, with the same sides, and
		// is settled again.
		settled, err := c.Settlements(ctx)
		if err != nil || len(settled) == 0 || settled[0].ID != open[0].ID || !strings.Contains(settled[0].Text, tt.want) || settled[0].At.IsZero() {
			t.Fatalf("%s: settled %+v, %v", tt.subject, settled, err)
		}
		_, err = c.Unsettle(ctx, "zzzzzzzz")
		want(t, err, memory.ErrNotFound)
		back, err := c.Unsettle(ctx, open[0].ID[:8])
		if err != nil || back.ID != open[0].ID {
			t.Fatalf("%s: %+v, %v", tt.subject, back, err)
		}
		if now, err := c.Conflicts(ctx); err != nil || !reflect.DeepEqual(now, open) {
			t.Errorf("%s: taken back, and there is %+v, want %+v, %v", tt.subject, now, open, err)
		}
		_, err = c.Unsettle(ctx, open[0].ID)
		want(t, err, memory.ErrNotFound)
		if _, err := c.Settle(ctx, open[0].ID, tt.s); err != nil {
			t.Fatal(err)
		}
		list, err := c.List(ctx, serve.ListQuery{})
		var held []string
		for _, m := range list.Memories {
			if strings.Contains(m.Text, tt.subject) {
				held = append(held, m.Slot.Value)
			}
		}
		if err != nil || len(held) != 1 || held[0] != tt.want {
			t.Errorf("%s: %q is held, want %s", tt.subject, held, tt.want)
		}
	}
}
