package worker

import (
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
)

// asks adds a question about a photo, as the node keeps it, by a rank.
func (o *owner) asks(photo memory.ID, question string, rank memory.Rank) memory.ID {
	o.t.Helper()
	id := memory.DeriveID([]byte("test"), memory.EventID{Device: "pin", Boot: 1, Seq: 1}, "person", question)
	c := memory.Candidate{Type: memory.Resource, Text: question, Owner: memory.Owner{User: ownerOf}, Tags: []string{tagQuestion}, Confidence: 1, Sensitivity: memory.Private,
		Source: memory.Source{Plugin: "person"}, Links: []memory.Link{{Relation: asksAbout, To: photo.String()}},
		Evidence: []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: 1, Seq: 1}}}, Fields: memory.Fields{Resource: &memory.ResourceFields{MediaType: "text/plain", Content: question}}}
	o.ok(o.store.Update(o.t.Context(), func(tx *store.Tx) error {
		dot, err := tx.NextDot(o.member)
		if err != nil {
			return err
		}
		_, err = tx.Assert(memory.Assertion{Dot: dot, Clock: o.ticker.Tick(), Rank: rank, Space: o.space, Memory: id, Act: memory.ActPropose, Candidate: &c, Source: c.Source})
		return err
	}))
	o.sync()
	return id
}

// A question about a photo is answered by the model that sees, with what it took
// and by what in the photo; what the photo doesn't show is said to be not known.
// A worker's question is asked of nobody.
func TestQuestionsAboutPhotos(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{})
	s.Otherwise(llmtest.Func(func(r *llmtest.Request) string {
		switch {
		case !strings.Contains(r.System, "a question about it"):
			return "A note on a wall."
		case r.Pictures == 1 && strings.Contains(r.Last(), "When is the swap?"):
			return `{"known":true,"answer":"On Saturday. The Wi-Fi password is HarborKite4471.","seen":"the second line"}`
		}
		return `{"known":false,"answer":"","seen":""}`
	}))
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	note := o.source("image/png", day(t, "note.png"))
	when := o.asks(note, "When is the swap?", memory.RankPerson)
	who := o.asks(note, "Who wrote it?", memory.RankPerson)
	o.asks(note, "Whose is it?", memory.RankCloud)
	w, _, _ := run(t, Config{Home: home, Engines: sees(s)})
	m := o.await(when)
	if !strings.HasPrefix(m.Text, "On Saturday.") || strings.Contains(m.Text, "Kite") || m.Rank != memory.RankCloud || m.Source.Plugin != "worker/question" || m.Source.Model != "vision test-model" ||
		m.Metadata["known"] != "true" || m.Metadata["seen"] != "the second line" || m.Metadata["prompt"] != "question.v1" || m.Evidence[0].Event.Seq != 1 ||
		m.Links[0] != (memory.Link{Relation: AnswerTo, To: when.String()}) || m.Links[1] != (memory.Link{Relation: AnswerAbout, To: note.String()}) {
		t.Errorf("%+v", m)
	}
	spentOf(t, &m)
	if m := o.await(who); m.Text != unseen || m.Metadata["known"] != "false" {
		t.Errorf("%+v", m)
	}
	o.accepted()
	_, reads := o.told(w.Spaces()[0].Member, func(_ delta.ReportContent, reads []delta.Read) bool { return len(reads) == 3 })
	for _, r := range reads {
		if r.Kind == "question" && (len(r.Of) != 2 || r.Of[1] != note.String()) || r.To != host(s.URL) {
			t.Errorf("%+v", r)
		}
	}
	for _, r := range s.Requests() {
		if strings.Contains(r.Body, "Whose is it?") {
			t.Error("a worker's question was asked")
		}
	}
}
