package extract

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/wasm/abi"
)

// The language that a plugin finds for a line is stored with the line, is shown
// to later plugins, and becomes that of memories that name none. A language
// that the device names itself has priority.
func TestLanguageIsPassedToLaterPlugins(t *testing.T) {
	language := &script{id: "language", kinds: "text", answer: func(*abi.Event) (abi.Output, error) {
		return abi.Output{Annotations: []abi.Annotation{{Kind: "language", Text: "de", Number: 0.8}, {Kind: "language", Text: "en", Number: 0.2}}}, nil
	}}
	facts := &script{id: "facts", kinds: "text", answer: func(ev *abi.Event) (abi.Output, error) {
		return abi.Output{Candidates: []abi.Candidate{{Type: "semantic", Text: ev.Text, Confidence: .9, Sensitivity: "personal", Spans: []abi.Span{{Start: 0, End: len(ev.Text)}}}}}, nil
	}}
	b := newBench(t, language, facts)
	b.must(b.text("Ich wohne in Ulm."))
	said := b.text("Je vis à Metz.")
	said.Lang = "fr"
	b.must(said)
	if len(facts.saw) != 2 || facts.saw[0].Lang != "de" || facts.saw[1].Lang != "fr" {
		t.Fatalf("%+v", facts.saw)
	}
	if err := b.store.View(t.Context(), func(tx *store.Tx) error {
		for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
			if err != nil {
				return err
			}
			if want := map[string]string{"Ich wohne in Ulm.": "de", "Je vis à Metz.": "fr"}[u.Text]; u.Lang != want {
				t.Errorf("%q is in %q, want %q", u.Text, u.Lang, want)
			}
		}
		for m, err := range tx.Memories(store.Filter{Types: []memory.Type{memory.Semantic}}) {
			if err != nil {
				return err
			}
			if want := map[string]string{"Ich wohne in Ulm.": "de", "Je vis à Metz.": "fr"}[m.Text]; m.Lang != want {
				t.Errorf("memory %q is in %q, want %q", m.Text, m.Lang, want)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
