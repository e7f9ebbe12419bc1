package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/cloud/worker/queue/postgres"
	generated "github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
)

// A job of another worker about something that has not arrived here is left to the worker that has
// it. A job ends if its subject was forgotten, if nobody else could have added it, or if nobody
// took it for an hour.
func TestJobWaitsForItsSubject(t *testing.T) {
	there := lineOf(1, "talk", time.Now())
	s := lined(t, there)
	s.memberCtx, s.end = context.WithCancel(t.Context())
	defer s.end()
	s.ready.Store(true)
	forgotten := memory.ID{9}
	if err := s.engine.Commit(t.Context(), func(tx *store.Tx) error { return tx.EraseRemote(store.Targets{Memories: []memory.ID{forgotten}}) }); err != nil {
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
		w := &Worker{c: Config{DB: postgres.At(c.db)}, spaces: map[memory.SpaceID]*space{{1}: s}, kinds: []workKind{{kind: c.kind, engine: "x", do: func(context.Context, *space, *queue.Running) error {
			did = true
			return nil
		}}}}
		w.c.Log = slog.New(slog.DiscardHandler)
		err := w.runJob(t.Context(), &queue.Running{Job: queue.Job{Space: memory.SpaceID{1}, Kind: c.kind, Subject: c.subject, Added: c.added}})
		wait, waits := errors.AsType[*queue.WaitError](err)
		if waits != c.waits || did == c.waits || waits && wait.After <= 0 || !waits && err != nil {
			t.Errorf("%s: done %v, %v", name, did, err)
		}
	}
}

// Two workers on one database do each job once between them, whichever of them has its subject
// first, and one continues where the other has ended.
func TestTwoWorkersShareJobs(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	db := cluster.Database(t)
	first, second := joined(t, o, relay, granted), joined(t, o, relay, granted)
	number := 0
	note := func() memory.ID {
		t.Helper()
		number++
		b, err := generated.RenderNote([]string{"Plums for Mei", fmt.Sprint("Saturday at ", number, " o'clock"), fmt.Sprint(100+number, " grams of flour")})
		o.ok(err)
		return o.source("image/png", b)
	}
	once := func(sources ...memory.ID) {
		t.Helper()
		for _, src := range sources {
			o.await(src)
		}
		for _, src := range sources {
			if got := o.answers(src); len(got) != 1 {
				t.Errorf("%d answers to one photo: %+v", len(got), got)
			}
		}
	}
	before := []memory.ID{note(), note(), note()}
	_, _, stop := run(t, Config{Home: first, DB: postgres.At(db)})
	other, _, _ := run(t, Config{Home: second, DB: postgres.At(db)})
	once(append(before, note(), note(), note())...)
	stop()
	late := note()
	once(late)
	for { // a job ends after its answer was sent
		done, err := other.Queue().List(t.Context(), queue.Filter{Kind: queue.Read, State: queue.Done})
		o.ok(err)
		if len(done) > number {
			t.Fatalf("%d jobs are done for %d photos", len(done), number)
		}
		if len(done) == number {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}
