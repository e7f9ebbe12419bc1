package extract

import (
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/wasm/abi"
)

// "Someone" may be another person each time, so no fact is made of what they say about themselves
// or about their kin.
func TestNoFactsOfSomeone(t *testing.T) {
	lives := &script{id: "lives", kinds: "text", answer: func(ev *abi.Event) (abi.Output, error) {
		var out abi.Output
		for _, who := range []string{ev.Speaker, ev.Speaker + "'s sister"} {
			out.Candidates = append(out.Candidates, abi.Candidate{Type: "semantic", Text: who + " lives in " + ev.Text, Subject: who, Predicate: "lives in", Object: ev.Text, Confidence: .9,
				Slot: &abi.Slot{Subject: who, Attribute: "home", Value: ev.Text}, Spans: []abi.Span{{End: len(ev.Text)}}})
		}
		return out, nil
	}}
	b := newBench(t, lives)
	for _, said := range [][2]string{{"someone", "Ghent"}, {"Someone", "Oslo"}, {"S1-a41f", "Paris"}} {
		ev := b.text(said[1])
		ev.Speaker = said[0]
		b.must(ev)
	}
	var facts, lines []string
	refused := 0
	err := b.store.View(t.Context(), func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Semantic}}) {
			if err != nil {
				return err
			}
			facts = append(facts, m.Text)
		}
		for u, err := range tx.Utterances(b.at.AddDate(-1, 0, 0), b.at.AddDate(1, 0, 0)) {
			if err != nil {
				return err
			}
			lines = append(lines, u.Speaker+" "+u.Text)
		}
		for r, err := range tx.Refusals() {
			if err != nil {
				return err
			}
			if r.Kind == "speaker" && r.Plugin == "lives" {
				refused++
			}
		}
		return nil
	})
	slices.Sort(facts)
	if err != nil || !slices.Equal(facts, []string{"S1-a41f lives in Paris", "S1-a41f's sister lives in Paris"}) || len(lines) != 3 || refused != 4 {
		t.Errorf("%q, %q, %d refused, %v", facts, lines, refused, err)
	}
}
