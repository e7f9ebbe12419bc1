package worker

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory"
)

// identityOf returns the file with the only space's keys.
func identityOf(t *testing.T, home string) string {
	t.Helper()
	dirs, err := places(home)
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	return filepath.Join(dirs[0], identityFile)
}

// gone waits until a file no longer exists.
func gone(t *testing.T, file string) {
	t.Helper()
	for tick := time.NewTicker(5 * time.Millisecond); t.Context().Err() == nil; <-tick.C {
		if _, err := os.Stat(file); os.IsNotExist(err) {
			return
		}
	}
	t.Fatalf("%s is still there", file)
}

// When a grant ends, the keys are destroyed first, even if a job does not react; the rest is
// removed as soon as the job ends.
func TestKeysAreDestroyedBeforeJobsEnd(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	identity := identityOf(t, home)
	log := &said{}
	w, err := Open(t.Context(), Config{Home: home, Cache: cache, Log: slog.New(log)})
	o.ok(err)
	began, letGo, cut := make(chan struct{}), make(chan struct{}), make(chan struct{})
	w.kinds = []workKind{{kind: queue.Graph, engine: byRules,
		tasks: func(_ context.Context, s *space) ([]queue.Task, error) {
			return []queue.Task{{Space: s.joined.Space, Kind: queue.Graph, Subject: "x"}}, nil
		},
		do: func(ctx context.Context, _ *space, _ *queue.Running) error {
			close(began)
			<-ctx.Done()
			close(cut)
			<-letGo // a pure computation, which ignores the context
			return nil
		}}}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	<-began
	o.ok(o.replica.RemoveMember(t.Context(), w.Spaces()[0].Member, nil))
	<-cut
	gone(t, identity)
	select {
	case <-log.heard(removedMessage):
		t.Error("the job has not let go")
	default:
	}
	close(letGo)
	log.wait(t, removedMessage)
	if left, err := os.ReadDir(filepath.Join(home, spacesDir)); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	stop()
	o.ok(<-ended)
	o.ok(w.Close())
}

// When the grant ends, a job that waits for a model or a program is interrupted.
func TestRevocationInterruptsWaitingJobs(t *testing.T) {
	for name, setup := range map[string]func(t *testing.T) (Engines, <-chan struct{}){
		"a model": func(t *testing.T) (Engines, <-chan struct{}) {
			s := llmtest.New(t, llmtest.Options{})
			came, never := make(chan struct{}, 1), make(chan struct{})
			t.Cleanup(func() { close(never) })
			s.Script(llmtest.Holds(came, never, llmtest.Say("late")))
			return sees(s), came
		},
		"a program": func(t *testing.T) (Engines, <-chan struct{}) {
			runs := t.TempDir() // a program can only write to the folder of its run
			path := fake(t, "tesseract", `case "$1" in --list-langs) echo eng;; *) : > began; sleep 100000;; esac`)
			came := make(chan struct{})
			go func() {
				for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
					if began, err := filepath.Glob(filepath.Join(runs, "*", "began")); err == nil && len(began) > 0 {
						close(came)
						return
					}
				}
			}()
			e := Engines{Speech: "none", Path: path, Dir: runs}
			e.Limits.Wall = time.Hour
			return e, came
		},
	} {
		t.Run(name, func(t *testing.T) {
			relay := serveRelay(t)
			o := newOwner(t, relay)
			home := joined(t, o, relay, granted)
			o.source("image/png", day(t, "note.png"))
			engines, came := setup(t)
			w, log, _ := run(t, Config{Home: home, Engines: engines})
			<-came
			o.ok(o.replica.RemoveMember(t.Context(), w.Spaces()[0].Member, nil))
			log.wait(t, removedMessage)
			if jobs, err := w.Queue().List(t.Context(), queue.Filter{}); err != nil || len(jobs) > 0 {
				t.Errorf("%+v, %v", jobs, err)
			}
		})
	}
}

// After a crash following the destruction of the keys, the next start removes the space's data and
// jobs.
func TestStartFinishesARemoval(t *testing.T) {
	for name, crash := range map[string]func(identity string) error{
		"before the file is gone": func(f string) error { return os.WriteFile(f, make([]byte, 69), 0o600) },
		"after":                   os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			relay := serveRelay(t)
			o := newOwner(t, relay)
			home := joined(t, o, relay, granted)
			q, err := queue.Open(t.Context(), jobsOf(Config{Home: home}))
			o.ok(err)
			_, err = q.Add(t.Context(), queue.Task{Space: o.space, Kind: queue.Read, Subject: memory.ID{1}.String(), Version: "1"})
			o.ok(err)
			o.ok(q.Close())
			o.ok(crash(identityOf(t, home)))
			w, err := Open(t.Context(), Config{Home: home, Cache: cache, Engines: Engines{Speech: "none", Sight: "none"}})
			o.ok(err)
			jobs, err := w.Queue().List(t.Context(), queue.Filter{})
			if left, e := os.ReadDir(filepath.Join(home, spacesDir)); err != nil || e != nil || len(left) > 0 || len(jobs) > 0 || len(w.Spaces()) > 0 {
				t.Errorf("%v, %v, %v, %+v", left, e, err, jobs)
			}
			o.ok(w.Close())
		})
	}
}
