package extract

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/wasm/abi"
)

// TestTrace: every call is in the trace with the fate of each candidate, but no text
// is, whether it was accepted, refused or the plugin's own.
func TestTrace(t *testing.T) {
	broken := &script{id: "broken", kinds: "text", answer: func(*abi.Event) (abi.Output, error) { return abi.Output{}, errors.New("it quotes: heron") }}
	facts := &script{id: "facts", kinds: "text", answer: func(*abi.Event) (abi.Output, error) {
		out := remember("Ana saw a heron", abi.Span{Start: 0, End: 5})
		out.Candidates = append(out.Candidates, abi.Candidate{Type: "gossip", Text: "heron gossip", Confidence: 1})
		out.Annotations = []abi.Annotation{{Kind: "language", Text: "heron"}}
		return out, nil
	}}
	b := newBench(t, broken, facts)
	ev := b.text("I saw a heron.")
	out := b.must(ev)
	got, err := b.x.TraceOf(t.Context(), ev.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Steps) != 2 || got.Steps[0].Plugin != "broken" || got.Steps[0].Fault == "" || got.Steps[1].Fault != "" {
		t.Fatalf("%+v", got)
	}
	c := got.Steps[1].Candidates
	if len(c) != 2 || c[0].Verdict != memory.Add || c[0].Memory != out.Changes[0].Memory || c[1].Verdict != memory.Refuse || !c[1].Memory.IsZero() {
		t.Errorf("%+v", c)
	}
	if text, _ := json.Marshal(got); strings.Contains(string(text), "heron") {
		t.Errorf("a text is in the trace: %s", text)
	}
	if strings.Contains(b.log.String(), "heron") || !strings.Contains(b.log.String(), "broken") {
		t.Errorf("a text is in the log, or the failure isn't: %s", b.log)
	}
	// The same words again match what is known.
	again := b.text("I saw a heron.")
	b.must(again)
	if got, err = b.x.TraceOf(t.Context(), again.ID); err != nil || got.Steps[1].Candidates[0].Memory != c[0].Memory {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := b.x.TraceOf(t.Context(), memory.EventID{Device: "pin", Boot: 1, Seq: 99}); !errors.Is(err, memory.ErrNotFound) {
		t.Error(err)
	}
	// The number of traces is limited: an event that comes so much later uses the same
	// slot.
	later := b.text("Nothing.")
	later.ID.Seq = ev.ID.Seq + keptTraces
	b.must(later)
	if _, err := b.x.TraceOf(t.Context(), ev.ID); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("an old trace: %v", err)
	}
}

// TestReplay: a new plugin finds memories in what is kept of the past; if it runs
// again, it finds nothing more; and what it takes out of a text is taken out of the
// past.
func TestReplay(t *testing.T) {
	said := []string{"I saw a heron.", "The heron was grey.", "The code is 55-66."}
	b := newBench(t)
	for _, s := range said {
		b.must(b.text(s))
	}
	run := b.whole
	birds := &script{id: "birds", kinds: "text", answer: func(ev *abi.Event) (abi.Output, error) {
		if !strings.Contains(ev.Text, "heron") {
			return abi.Output{}, nil
		}
		return abi.Output{Candidates: []abi.Candidate{{Type: "episodic", Text: "Bird: " + ev.Text, Confidence: .9, Spans: []abi.Span{{End: len(ev.Text)}}}}}, nil
	}}
	first, err := b.x.Replay(t.Context(), birds, b.at.AddDate(0, 0, -1), b.at.AddDate(0, 0, 1), run)
	if err != nil || first.Events != 3 || first.Candidates != 2 || first.Known != 0 || len(first.Changes) != 2 {
		t.Fatalf("%+v, %v", first, err)
	}
	if len(birds.saw[1].Before) != 1 || birds.saw[1].Before[0].Text != said[0] {
		t.Errorf("what was said before: %+v", birds.saw[1].Before)
	}
	all := b.everything()
	second, err := b.x.Replay(t.Context(), birds, b.at.AddDate(0, 0, -1), b.at.AddDate(0, 0, 1), run)
	if err != nil || second.Known != 2 || len(second.Changes) != 0 || b.everything() != all {
		t.Errorf("again: %+v, %v", second, err)
	}
	secrets := &script{id: "secrets", first: true, kinds: "text", answer: func(ev *abi.Event) (abi.Output, error) {
		i := strings.Index(ev.Text, "55-66")
		if i < 0 {
			return abi.Output{}, nil
		}
		return abi.Output{Redactions: []abi.Redaction{{Span: abi.Span{Start: i, End: i + 5}, Kind: "code"}}}, nil
	}}
	if _, err := b.x.Replay(t.Context(), secrets, b.at.AddDate(0, 0, -1), b.at.AddDate(0, 0, 1), run); err != nil {
		t.Fatal(err)
	}
	if all := b.everything(); strings.Contains(all, "55-66") || !strings.Contains(all, "said The code is [code].") {
		t.Errorf("a secret that is found later stays:\n%s", all)
	}
}

// TestTraceUnderNames: a trace that was stored before fields had numbers belongs to no
// event, is replaced by the next one, and is removed when the event that it may belong
// to is forgotten.
func TestTraceUnderNames(t *testing.T) {
	type named struct {
		Event memory.EventID
		Kind  memory.Kind
		Steps []struct{ Plugin, Version string }
	}
	b := newBench(t, &script{id: "facts", kinds: "text", answer: func(*abi.Event) (abi.Output, error) { return abi.Output{}, nil }})
	ev := b.text("I saw a heron.")
	put := func() {
		t.Helper()
		err := b.w.Commit(t.Context(), func(tx *store.Tx) error {
			return tx.PutMeta(traceSlot(ev.ID), named{Event: ev.ID, Kind: ev.Kind})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put()
	if _, err := b.x.TraceOf(t.Context(), ev.ID); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("a trace with names: %v", err)
	}
	b.must(ev)
	if got, err := b.x.TraceOf(t.Context(), ev.ID); err != nil || len(got.Steps) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	put()
	err := b.w.Commit(t.Context(), func(tx *store.Tx) error {
		if err := forgetTrace(tx, ev.ID); err != nil {
			return err
		}
		var was named
		if there, err := tx.Meta(traceSlot(ev.ID), &was); err != nil || there {
			t.Errorf("after forgetting: %v, %v", there, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTraceIsSmall: a stored call has what happened, and no field names.
func TestTraceIsSmall(t *testing.T) {
	trace := Trace{Event: memory.EventID{Device: "pin", Boot: 1, Seq: 2}, Kind: memory.KindText, Steps: []Step{
		{Plugin: "secrets", Version: "1.0.0", Given: "text"}, {Plugin: "text", Version: "1.0.0", Given: "text"}}}
	b, err := cbor.Marshal(&trace)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Plugin", "Usage", "Fuel", "Candidates"} {
		if bytes.Contains(b, []byte(name)) {
			t.Errorf("%q is in %q", name, b)
		}
	}
	if len(b) > 150 { // 116 now, 226 with names
		t.Errorf("%d bytes", len(b))
	}
}
