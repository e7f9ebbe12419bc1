package node

import (
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// A question about a photo is stored, says what it waits for, and is answered
// by what a worker says to it. A secret, a secret photo, and something that is
// not a photo are refused.
func TestAskAboutAPhoto(t *testing.T) {
	n := newNode(t, nil)
	ctx := t.Context()
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	photo := func(seq uint64, sensitivity memory.Sensitivity) memory.ID {
		t.Helper()
		ev := memory.EventID{Device: "glasses", Boot: 1, Seq: seq}
		c := memory.Candidate{Type: memory.Resource, Text: "Photo of a note", Owner: memory.Owner{User: memory.WearerUser}, Confidence: 1, Sensitivity: sensitivity, TrueFrom: n.now(),
			Source: memory.Source{Plugin: "scene"}, Evidence: []memory.Evidence{{Event: ev, At: n.now()}},
			Fields: memory.Fields{Resource: &memory.ResourceFields{MediaType: "image/jpeg", Blob: memory.ID{9}.String()}}}
		id := o.ring.MemoryID(ev, "scene", "photo")
		if _, err := o.engine.Assert(ctx, engine.PersonAuthority, func(*store.Tx) ([]memory.Assertion, error) {
			return []memory.Assertion{{Memory: id, Act: memory.ActPropose, Candidate: &c, Source: c.Source}}, nil
		}); err != nil {
			t.Fatal(err)
		}
		return id
	}
	note := photo(1, memory.Private)
	ask := serve.AskRequest{Question: "When is the swap?", Photo: note}
	first, err := n.Ask(ctx, ask)
	if err != nil || first.Answer != "" || first.Known || !strings.Contains(first.Waits, "no relay") || first.Question.IsZero() || len(first.Evidence) != 1 || first.Evidence[0].ID != note {
		t.Fatalf("%+v, %v", first, err)
	}
	q, err := n.Get(ctx, first.Question)
	if err != nil || q.Text != ask.Question || q.Links[0] != (memory.Link{Relation: "asks_about", To: note.String()}) || q.Tags[0] != "question" || q.Rank != memory.RankPerson || q.Sensitivity != memory.Private {
		t.Errorf("%+v, %v", q, err)
	}
	ask.Question = "  when is the  swap? "
	if again, err := n.Ask(ctx, ask); err != nil || again.Question != first.Question {
		t.Errorf("asked again: %+v, %v", again, err)
	}
	c := memory.Candidate{Type: memory.Resource, Text: "On Saturday.", Owner: memory.Owner{User: "x"}, Confidence: .5, Sensitivity: memory.Private, Metadata: memory.Metadata{"known": "true"},
		Source: memory.Source{Plugin: "worker/question", Model: "vision llava"}, Links: []memory.Link{{Relation: "answer_to", To: first.Question.String()}},
		Evidence: q.Evidence, Fields: memory.Fields{Resource: &memory.ResourceFields{MediaType: "text/plain", Content: "On Saturday."}}}
	if err := o.sharing.TakeClaims(ctx, []memory.Assertion{{Memory: memory.ID{7}, Act: memory.ActPropose, Candidate: &c, Source: c.Source}}, nil); err != nil {
		t.Fatal(err)
	}
	res, err := n.Ask(ctx, ask)
	if err != nil || res.Answer != "On Saturday." || !res.Known || !res.Cited || res.Waits != "" || res.Model != "vision llava" || len(res.Citations) != 2 {
		t.Errorf("%+v, %v", res, err)
	}
	for what, r := range map[string]serve.AskRequest{
		"a secret":       {Question: "Is the Wi-Fi password HarborKite4471 on it?", Photo: note},
		"a secret photo": {Question: "What is it?", Photo: photo(2, memory.Secret)},
		"no photo":       {Question: "What is it?", Photo: first.Question},
		"too long":       {Question: strings.Repeat("what ", 300), Photo: note},
	} {
		if res, err := n.Ask(ctx, r); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%s: %+v, %v", what, res, err)
		}
	}
	if _, err := n.Ask(ctx, serve.AskRequest{Question: "What is it?", Photo: memory.ID{5}}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("no memory: %v", err)
	}
}
