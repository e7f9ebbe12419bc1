package extract

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm/abi"
)

// curious is a plugin that is shown memories.
type curious struct {
	script
	types []memory.Type
}

func (c *curious) Reads() []memory.Type { return c.types }

// TestShown: a plugin is shown memories of its types that are relevant to the
// event, but none that is private, secret or in the vault; the trace records
// which.
func TestShown(t *testing.T) {
	teller := &script{id: "teller", kinds: "text", answer: func(ev *abi.Event) (abi.Output, error) {
		if ev.Text != "tell" {
			return abi.Output{}, nil
		}
		out := abi.Output{}
		for _, c := range []abi.Candidate{
			{Type: "semantic", Text: "Ana likes the heron on the lake", Sensitivity: "personal"},
			{Type: "semantic", Text: "Ana fears the heron in her dreams", Sensitivity: "private"},
			{Type: "episodic", Text: "Ana saw a heron with Tom yesterday", Sensitivity: "public"},
			{Type: "vault", Text: "password of the heron club", Label: "heron club", Secret: "x", Sensitivity: "secret"},
		} {
			c.Confidence = .9
			out.Candidates = append(out.Candidates, c)
		}
		return out, nil
	}}
	c := &curious{script: script{id: "curious", kinds: "text", answer: nothing}, types: []memory.Type{memory.Semantic}}
	all := &curious{script: script{id: "all", kinds: "text", answer: nothing}, types: []memory.Type{memory.Semantic, memory.Episodic, memory.Vault}}
	b := newBench(t, teller, c, all)
	b.must(b.text("tell"))
	ev := b.text("What about the heron?")
	b.must(ev)
	got := c.saw[1].Memories
	if len(got) != 1 || got[0].Text != "Ana likes the heron on the lake" || got[0].Type != "semantic" || got[0].At == 0 {
		t.Errorf("shown: %+v", got)
	}
	for _, m := range all.saw[1].Memories {
		if strings.Contains(m.Text, "fears") || strings.Contains(m.Text, "password") {
			t.Errorf("shown although it is private, or of the vault: %+v", m)
		}
	}
	if len(teller.saw[1].Memories) != 0 {
		t.Errorf("one that reads nothing was shown %+v", teller.saw[1].Memories)
	}
	other := b.text("Tell me about the heron.")
	other.User = "bea"
	b.must(other)
	if in := all.saw[2]; len(in.Memories) != 0 || len(in.Before) != 0 || in.Wearer != "bea" {
		t.Errorf("another user's line was shown with %+v, %+v, of %s", in.Memories, in.Before, in.Wearer)
	}
	trace, err := b.x.TraceOf(t.Context(), ev.ID)
	if err != nil || len(trace.Steps[1].Read) != 1 || trace.Steps[1].Read[0] != got[0].ID {
		t.Errorf("%+v, %v", trace, err)
	}
}
