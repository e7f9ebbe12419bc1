package worker

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// A job of another worker, about what has not come here yet, is left to whoever
// has it; one about what was forgotten, or that nobody else could have added, or
// that nobody took up in an hour, ends.
func TestJobsOfWhatHasNotComeWait(t *testing.T) {
	there := lineOf(1, "talk", time.Now())
	s := lined(t, there)
	s.gone, s.end = context.WithCancel(t.Context())
	defer s.end()
	s.ready.Store(true)
	forgotten := memory.ID{9}
	if err := s.store.Update(t.Context(), func(tx *store.Tx) error { return tx.EraseRemote(store.Targets{Memories: []memory.ID{forgotten}}) }); err != nil {
		t.Fatal(err)
	}
	if err := s.keepBatches(t.Context(), queue.Language, []batch{{name: "cut here", Session: "talk", At: there.At, Of: []memory.ID{there.ID}}}); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for name, c := range map[string]struct {
		db      string
		kind    queue.Kind
		subject string
		added   time.Time
		waits   bool
	}{
		"a photo that has not come":        {"postgres://", queue.Read, memory.ID{8}.String(), now, true},
		"a recording that has not come":    {"postgres://", queue.Transcribe, memory.ID{8}.String(), now, true},
		"a question that has not come":     {"postgres://", queue.Question, memory.ID{8}.String(), now, true},
		"a talk that another one cut":      {"postgres://", queue.Language, "cut elsewhere", now, true},
		"the summary of one":               {"postgres://", queue.Summary, "cut elsewhere", now, true},
		"a sequence that another one cut":  {"postgres://", queue.Sequence, "cut here", now, true},
		"a talk that was cut here, too":    {"postgres://", queue.Language, "cut here", now, false},
		"all that there is":                {"postgres://", queue.Graph, "2026-09-14", now, false},
		"a photo that was forgotten":       {"postgres://", queue.Read, forgotten.String(), now, false},
		"one that nobody has":              {"postgres://", queue.Read, memory.ID{8}.String(), now.Add(-absentFor), false},
		"jobs that nobody shares":          {"", queue.Read, memory.ID{8}.String(), now, false},
		"talks of jobs that nobody shares": {"", queue.Language, "cut elsewhere", now, false},
	} {
		did := false
		w := &Worker{c: Config{DB: c.db}, spaces: map[memory.SpaceID]*space{{1}: s}, works: []trade{{kind: c.kind, engine: "x", do: func(context.Context, *space, *queue.Running) error {
			did = true
			return nil
		}}}}
		w.c.Log = slog.New(slog.DiscardHandler)
		err := w.do(t.Context(), &queue.Running{Job: queue.Job{Space: memory.SpaceID{1}, Kind: c.kind, Subject: c.subject, Added: c.added}})
		wait, waits := errors.AsType[*queue.Wait](err)
		if waits != c.waits || did == c.waits || waits && wait.After <= 0 || !waits && err != nil {
			t.Errorf("%s: done %v, %v", name, did, err)
		}
	}
}
