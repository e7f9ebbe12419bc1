package serve_test

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

func asked(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	id := added(t, c, plain("The red kayak lies in Lindau"))
	res, err := c.Ask(ctx, serve.AskRequest{Question: "red kayak"})
	if err != nil || !res.Known || res.Answer != "" || res.Model != "" || res.Cited || len(res.Evidence) == 0 || res.Evidence[0].ID != id {
		t.Fatalf("%+v, %v", res, err)
	}
	if res, err = c.Ask(ctx, serve.AskRequest{Question: "quantum chromodynamics"}); err != nil || res.Known || !strings.Contains(res.Answer, "don't know") {
		t.Fatalf("%+v, %v", res, err)
	}
	for _, r := range []serve.AskRequest{{}, {Question: " "}, {Question: "x", Budget: -1}} {
		_, err := c.Ask(ctx, r)
		want(t, err, memory.ErrInvalid)
	}
}
