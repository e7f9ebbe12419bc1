package node

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// homes returns the homes that are currently believed to be the wearer's.
func homes(t *testing.T, n *Node) (out []string) {
	t.Helper()
	err := n.view(t.Context(), func(_ *session, tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			if m.Slot != nil && m.Slot.Attribute == "home" && m.State == memory.Active && !m.Negates {
				out = append(out, m.Slot.Value)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

// What was said at an unknown time is kept beside what is there, and what is said later
// ends both.
func TestUndatedStatementEndsNothing(t *testing.T) {
	n := newNode(t, nil)
	hear(t, n, time.Now().Add(-time.Hour), "Ana", "I live in Lisbon.")
	add := func(r serve.AddRequest) serve.AddResult {
		t.Helper()
		res, err := n.Add(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	old := serve.AddRequest{Text: "I live in Ghent.", Undated: true, Key: "letta-1"}
	if add(old).Repeated || !add(old).Repeated {
		t.Error("the same line came twice")
	}
	add(serve.AddRequest{Text: "I don't live in Lisbon any more.", Undated: true, Key: "letta-2"})
	if got := homes(t, n); !slices.Equal(got, []string{"Ghent", "Lisbon"}) {
		t.Errorf("%q", got)
	}
	add(serve.AddRequest{Text: "I live in Porto."})
	if got := homes(t, n); !slices.Equal(got, []string{"Porto"}) {
		t.Errorf("then %q", got)
	}
}

// What the instructions leave out is not kept verbatim either, and what is kept verbatim
// is not counted as refused.
func TestInstructionsApplyToVerbatimText(t *testing.T) {
	n := newNode(t, nil)
	if err := n.SetInstructions(t.Context(), "Never remember anything about my health"); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"I take aspirin for my migraine", "The rope hangs behind the barn door"} {
		res, err := n.Add(t.Context(), serve.AddRequest{Text: text, Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		if about := strings.Contains(text, "aspirin"); about != (len(res.Changes) == 0) || about != (len(res.Refusals) == 1 && res.Refusals[0].Kind == "instructions") {
			t.Errorf("%q: %+v", text, res)
		}
	}
	list, err := n.Refusals(t.Context(), 10)
	if err != nil || len(list) != 1 || list[0].Kind != "instructions" {
		t.Errorf("%+v, %v", list, err)
	}
	tally, err := n.Tally(t.Context())
	if err != nil || tally.Taken != 1 || len(tally.Refused) != 1 || tally.Refused[0].Count != 1 {
		t.Errorf("%+v, %v", tally, err)
	}
}
