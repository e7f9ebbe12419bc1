package worker

import (
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// Expired memories that wait to be erased by a device's retention are sent to no engine, and used
// in nothing that the worker writes.
func TestExpiredMemoriesAreNotUsed(t *testing.T) {
	now := time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)
	s := lined(t)
	put := func(n byte, c memory.Candidate, name string, ends time.Time) {
		t.Helper()
		c.Text, c.Owner, c.Confidence, c.Entities, c.Expires = "About "+name, memory.Owner{User: "mei"}, 1, []memory.Entity{{Name: name}}, ends
		c.Source = memory.Source{Plugin: "person"}
		if err := s.store.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Assert(memory.Assertion{Dot: memory.Dot{Member: memory.MemberID{1}, Seq: uint64(n)}, Clock: new(memory.Ticker).Tick(), Rank: memory.RankPerson,
				Space: memory.SpaceID{1}, Memory: memory.ID{n}, Act: memory.ActPropose, Candidate: &c, Source: c.Source})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	fact := memory.Candidate{Type: memory.Semantic}
	question := memory.Candidate{Type: memory.Resource, Tags: []string{tagQuestion}, Links: []memory.Link{{Relation: asksAbout, To: memory.ID{9}.String()}}}
	question.Fields.Resource = &memory.ResourceFields{Title: "A question", MediaType: "text/plain", Content: "What is it?"}
	put(1, fact, "Ben", now.Add(time.Hour))
	put(2, fact, "Zoe", now)
	put(3, question, "Mia", now.Add(time.Hour))
	put(4, question, "Tom", now)

	for at, want := range map[time.Time][]string{now.Add(-time.Minute): {"Ben", "Mia", "Tom", "Zoe"}, now: {"Ben", "Mia"}} {
		s.now = func() time.Time { return at }
		names, err := s.names(t.Context())
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("at %s hints are %q, want %q; %v", at, names, want, err)
		}
		ms, err := s.remembered(t.Context())
		if err != nil || len(ms) != len(want) {
			t.Errorf("at %s %d are remembered, want %d; %v", at, len(ms), len(want), err)
		}
		shelf, _, err := s.wordIndex(t.Context(), []memory.Type{memory.Semantic})
		if err != nil {
			t.Fatal(err)
		}
		if near := shelf.Near("About Ben and Zoe", memory.Semantic, 9); len(near) != len(want)/2 {
			t.Errorf("at %s a model is shown %d, want %d", at, len(near), len(want)/2)
		}
		tasks, err := questionTasks(t.Context(), s)
		if err != nil || len(tasks) != len(want)/2 {
			t.Errorf("at %s there are %d questions, want %d; %v", at, len(tasks), len(want)/2, err)
		}
	}
}
