package servetest

import (
	"context"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

var _ serve.Recaller = (*Node)(nil)

// Ask implements serve.Recaller: the evidence is the answer.
func (n *Node) Ask(ctx context.Context, r serve.AskRequest) (serve.AskResult, error) {
	got, err := n.Context(ctx, serve.ContextRequest{Topic: r.Question, Budget: r.Budget, Agent: r.Agent, Run: r.Run, Filters: r.Filters})
	res := serve.AskResult{Known: got.Known, Confidence: got.Confidence, Evidence: serve.EvidenceOf(got.Items)}
	if !res.Known {
		res.Answer = "I don't know."
	}
	return res, err
}

func asked(t *testing.T, c *serve.Client, _ Subject) {
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
