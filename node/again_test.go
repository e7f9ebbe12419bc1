package node

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// If a day is added ten times, each time under new event names, then memories,
// assertions, histories and utterances are the same as after the first time.
func TestRepeatedDayChangesNothing(t *testing.T) {
	t.Parallel()
	n := newNode(t, nil)
	ctx := t.Context()
	morning := time.Date(2026, 9, 14, 7, 0, 0, 0, time.UTC)
	day := []struct{ who, said string }{
		{"Ana", "I live in Ghent."}, {"Bo", "我搬到上海了。"}, {"Ana", "My sister Rita is allergic to peanuts."},
		{"Ana", "My dentist appointment is on Thursday at nine."}, {"Ana", "No, it's Friday."}, {"Bo", "yes"}, {"Bo", "yes"},
		{"Ana", "The wifi password is Xq7-pine-Tr0ut-88"}, {"Ana", "Where did I put the keys?"}, {"Ana", "I like tea."}, {"Ana", "I don't like tea any more."},
		{"Bo", "To make cocoa, first heat the milk, then stir in the powder, then serve."},
	}
	var first string
	for round := range 10 {
		for i, l := range day {
			r := serve.AddRequest{Text: l.said, Speaker: l.who, At: morning.Add(time.Duration(i) * 7 * time.Second)}
			res, err := n.Add(ctx, r)
			if err != nil {
				t.Fatal(err)
			}
			if round > 0 && (len(res.Changes) > 0 || len(res.Refusals) != 1 || res.Refusals[0].Kind != "repeated") {
				t.Fatalf("round %d, %q: %+v", round, l.said, res)
			}
		}
		if got := remembered(t, n); round == 0 {
			first = got
		} else if got != first {
			t.Fatalf("round %d: not as after the first:\n%s\n%s", round, first, got)
		}
	}
	if _, err := n.Add(ctx, serve.AddRequest{Text: "I live in Ghent.", Speaker: "Ana", At: morning.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if remembered(t, n) == first {
		t.Error("what is said again an hour later is not heard")
	}
}

// remembered returns everything that is remembered, as text.
func remembered(t *testing.T, n *Node) string {
	t.Helper()
	var out []any
	err := n.view(t.Context(), func(_ *session, tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{States: []memory.State{memory.Active, memory.Superseded, memory.Archived, memory.Erased}, Oldest: true}) {
			if err != nil {
				return err
			}
			as, err := tx.Assertions(m.ID)
			if err != nil {
				return err
			}
			out = append(out, m, len(as))
		}
		for c, err := range tx.Changes(0) {
			if err != nil {
				return err
			}
			out = append(out, c)
		}
		for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
			if err != nil {
				return err
			}
			out = append(out, u)
		}
		return nil
	})
	b, wrong := json.Marshal(out)
	if err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	return fmt.Sprintf("%d: %s", len(out), b)
}
