package node

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/serve"
)

// After a worker's transcript has arrived, its recording no longer waits. An
// answer that turns out to contain a secret is erased, and that is reported.
func TestTranscriptOfAWorker(t *testing.T) {
	n := newNode(t, nil)
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	recording := memory.ID{1}
	say := func(id memory.ID, rank memory.Rank, text, content string, tags []string, links []memory.Link) {
		t.Helper()
		c := memory.Candidate{Type: memory.Resource, Text: text, Owner: memory.Owner{User: memory.WearerUser}, Tags: tags, Links: links, Confidence: .5,
			Evidence: []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: 1, Seq: 1}, At: time.Now()}}}
		c.Fields.Resource = &memory.ResourceFields{Title: "x", MediaType: "text/plain", Content: content}
		err := o.engine.Commit(t.Context(), func(tx *store.Tx) error {
			_, err := o.engine.AssertTx(tx, rank, memory.Assertion{Memory: id, Act: memory.ActPropose, Candidate: &c})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	say(recording, memory.RankDevice, "Recording of 2.0 s of speech"+extract.WaitingText, "", []string{"recording", memory.WaitingTag}, nil)
	of := []memory.Link{{Relation: "transcript_of", To: recording.String()}}
	say(memory.ID{2}, memory.RankCloud, "Transcript", "the heron is back at the pond", []string{"transcript"}, of)
	m, err := n.Get(t.Context(), recording)
	if err != nil || slices.Contains(m.Tags, memory.WaitingTag) || strings.Contains(m.Text, "waiting") {
		t.Errorf("it still waits: %q %v, %v", m.Text, m.Tags, err)
	}
	other := memory.ID{5} // a plugin heard words in it during a replay
	say(other, memory.RankDevice, "Recording of 3.0 s of speech"+extract.WaitingText, "", []string{"recording", memory.WaitingTag}, nil)
	if err := o.gate.UnmarkWaiting(t.Context(), []memory.ID{other, {6}}); err != nil {
		t.Fatal(err)
	}
	if m, err := n.Get(t.Context(), other); err != nil || slices.Contains(m.Tags, memory.WaitingTag) || strings.Contains(m.Text, "waiting") {
		t.Errorf("it still waits: %q %v, %v", m.Text, m.Tags, err)
	}
	if hits := search(t, n, serve.SearchRequest{Query: "heron pond"}); len(hits) == 0 {
		t.Error("the transcript is not found")
	}
	say(memory.ID{4}, memory.RankCloud, "Empty", "", nil, of)
	say(memory.ID{3}, memory.RankCloud, "Transcript", "so the wifi password is tulip-42-harbor, write it down", nil, nil)
	if _, err := n.Get(t.Context(), memory.ID{3}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("an answer with a secret in it: %v", err)
	}
	for r, err := range n.Export(t.Context(), serve.ExportOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(r.Data), "tulip-42") {
			t.Error("the secret is in the export")
		}
	}
	refusals, err := n.Refusals(t.Context(), 5)
	if err != nil || len(refusals) == 0 || refusals[0].Kind != "secret" {
		t.Errorf("refusals: %v, %v", refusals, err)
	}
}

// Text that a person adds unchanged is checked for secrets as well.
func TestSecretInPlainTextIsRefused(t *testing.T) {
	n := newNode(t, nil)
	no := false
	text := "the wifi password is tulip-42-harbor"
	if _, err := n.Add(t.Context(), serve.AddRequest{Text: text, Infer: &no}); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("added: %v", err)
	}
	res, err := n.Add(t.Context(), serve.AddRequest{Text: "Ana likes herons", Infer: &no})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Update(t.Context(), res.Changes[0].Memory, serve.UpdateRequest{Text: &text}); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("corrected: %v", err)
	}
}
