package serve_test

import (
	"testing"

	"github.com/locket-dev/locket/node/serve"
)

// tally: what is refused is counted by reason, with its share.
func tally(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	if _, err := c.Add(ctx, serve.AddRequest{Text: "My favourite colour is blue."}); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"Where did I put the keys?", "Where did I put the bike?", "Who has the map?"} {
		res, err := c.Add(ctx, serve.AddRequest{Text: q})
		if err != nil || len(res.Refusals) == 0 {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	got, err := c.Tally(ctx)
	if err != nil || got.Taken == 0 || len(got.Refused) == 0 || got.Refused[0].Count != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	if s := got.Refused[0].Share; s <= 0.5 || s >= 1 {
		t.Errorf("a share of %v", s)
	}
}
