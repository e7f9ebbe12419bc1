package edit_test

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// A task with a time that the wearer types is a plan. Other commands stay as they were typed, and so
// does what is said aloud by somebody else.
func TestTypedTask(t *testing.T) {
	n := nodetest.New(t, nil)
	api := serve.InProcess(serve.New(serve.Options{Services: n.Services()}))
	defer api.Close()
	for _, c := range []struct {
		r    serve.AddRequest
		typ  memory.Type
		text string // what the memory begins with
		hour int    // 0: the plan is of a day
	}{
		{serve.AddRequest{Text: "Call Mum on Wednesday at 9."}, memory.Episodic, "Ana has to call Mum on Wednesday at 9 (Wednesday ", 9},
		{serve.AddRequest{Text: "call my dentist on Tuesday at 10"}, memory.Episodic, "Ana has to call Ana's dentist on Tuesday at 10 (Tuesday ", 10},
		{serve.AddRequest{Text: "Please send the report by Friday"}, memory.Episodic, "Ana has to send the report by Friday (Friday ", 0},
		{serve.AddRequest{Text: "pay the rent on Monday"}, memory.Episodic, "Ana has to pay the rent on Monday (Monday ", 0},
		{serve.AddRequest{Text: "Buy milk and eggs"}, memory.Semantic, "Buy milk and eggs", 0},
		{serve.AddRequest{Text: "Don't call Tom on Monday"}, memory.Semantic, "Don't call Tom on Monday", 0},
		{serve.AddRequest{Text: "Tell me a joke tonight"}, memory.Semantic, "Tell me a joke tonight", 0},
		{serve.AddRequest{Text: "Call the plumber on Thursday", Speaker: "Ben"}, memory.Semantic, "Call the plumber on Thursday", 0},
		{serve.AddRequest{Text: "Open the shop on Thursday", User: "bea"}, memory.Semantic, "Open the shop on Thursday", 0},
	} {
		c.r.Keep = true
		res, err := api.Add(t.Context(), c.r)
		if err != nil || len(res.Changes) != 1 {
			t.Errorf("%s: %+v, %v", c.r.Text, res, err)
			continue
		}
		m, err := api.Get(t.Context(), res.Changes[0].Memory.String())
		if err != nil {
			t.Fatal(err)
		}
		if m.Type != c.typ || !strings.HasPrefix(m.Text, c.text) || m.Evidence[0].Excerpt != c.r.Text {
			t.Errorf("%s: %s %q, of %q", c.r.Text, m.Type, m.Text, m.Evidence[0].Excerpt)
		}
		if c.typ != memory.Episodic {
			continue
		}
		f := m.Fields.Episodic
		if f == nil || f.Started.IsZero() || c.hour != 0 && f.Started.In(nodetest.Zone(t)).Hour() != c.hour {
			t.Errorf("%s: %+v", c.r.Text, f)
		}
	}
}
