package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay/pgtest"
	"github.com/locket-dev/locket/cloud/worker/queue/postgres"
	"github.com/locket-dev/locket/memory"
)

var cluster pgtest.Cluster

func TestMain(m *testing.M) {
	if os.Getenv(victimEnv) != "" {
		os.Exit(victim())
	}
	os.Exit(cluster.Main(m))
}

var space = memory.SpaceID{1, 2, 3}

func task(subject string, kind Kind) Task {
	return Task{Space: space, Kind: kind, Subject: subject, Version: "1"}
}

// opened opens a queue with almost no pause between attempts.
func opened(t *testing.T, o Options) *Queue {
	t.Helper()
	if o.Pause == 0 {
		o.Pause = time.Millisecond
	}
	o.Look = 20 * time.Millisecond
	q, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
	return q
}

// working does jobs in a space until the test ends, or until stop.
func working(t *testing.T, q *Queue, do Handler) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	q.Enter(space)
	ended := make(chan error, 1)
	go func() { ended <- q.Run(ctx, do) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(stop)
	return stop
}

func add(t *testing.T, q *Queue, tasks ...Task) {
	t.Helper()
	if n, err := q.Add(t.Context(), tasks...); err != nil || n != len(tasks) {
		t.Fatalf("%d of %d added: %v", n, len(tasks), err)
	}
}

// until waits for n jobs of a state.
func until(t *testing.T, q *Queue, s State, n int) []Job {
	t.Helper()
	for tick := time.NewTicker(10 * time.Millisecond); ; {
		list, err := q.List(t.Context(), Filter{State: s})
		if err != nil {
			t.Fatal(err)
		}
		if len(list) >= n {
			return list
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("%d jobs are %s, want %d", len(list), s, n)
		}
	}
}

// Both databases pass the same tests.
func TestQueue(t *testing.T) {
	for name, fresh := range map[string]func(*testing.T) Options{
		"sqlite":   func(t *testing.T) Options { return Options{File: filepath.Join(t.TempDir(), "queue.db")} },
		"postgres": func(t *testing.T) Options { return Options{DB: postgres.At(cluster.Database(t))} },
	} {
		t.Run(name, func(t *testing.T) {
			for what, test := range map[string]func(*testing.T, Options){
				"once": testOnce, "fails": testFails, "waits": testWaits, "stops": testStops, "priority": testPriority,
				"budget": testBudget, "control": testControl, "leave": testLeave, "each": testEach, "bad": testBad, "pages": testPages,
			} {
				t.Run(what, func(t *testing.T) { test(t, fresh(t)) })
			}
		})
	}
}

func testOnce(t *testing.T, o Options) {
	q := opened(t, o)
	add(t, q, task("a", Read))
	if n, err := q.Add(t.Context(), task("a", Read)); n != 0 || err != nil {
		t.Fatalf("added twice: %d, %v", n, err)
	}
	stop := working(t, q, func(_ context.Context, r *Running) error {
		r.By("tesseract")
		return nil
	})
	j := until(t, q, Done, 1)[0]
	if j.Space != space || j.Subject != "a" || j.Kind != Read || j.Version != "1" || j.Engine != "tesseract" || j.Attempts != 1 || j.Reason != "" || j.Priority != NormalPriority {
		t.Errorf("%+v", j)
	}
	stop()
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	q = opened(t, o)
	if n, err := q.Add(t.Context(), task("a", Read)); n != 0 || err != nil {
		t.Errorf("what is done was added again: %d, %v", n, err)
	}
	other := task("a", Read)
	other.Version = "2"
	add(t, q, other, task("a", Caption), task("b", Read))
	if c, err := q.Counts(t.Context(), space); err != nil || len(c) != 2 || c[0] != (Count{Kind: Caption, Waiting: 1}) || c[1] != (Count{Kind: Read, Waiting: 2, Done: 1}) {
		t.Errorf("%+v, %v", c, err)
	}
}

func testFails(t *testing.T, o Options) {
	q := opened(t, o)
	add(t, q, task("poor", Read), task("bad", Transcribe))
	working(t, q, func(_ context.Context, r *Running) error {
		r.By("x")
		if r.Subject == "bad" {
			return fmt.Errorf("told: %w", &ParkError{Reason: "no such format"})
		}
		return &RetryError{Reason: fmt.Sprintf("busy %d", r.Attempts), After: 2 * time.Millisecond}
	})
	for _, j := range until(t, q, Parked, 2) {
		want := Job{Attempts: MaxAttempts, Reason: "busy 5 (tried 5 times)"}
		if j.Subject == "bad" {
			want = Job{Attempts: 1, Reason: "no such format"}
		}
		if j.Attempts != want.Attempts || !strings.Contains(j.Reason, want.Reason) || j.Engine != "x" {
			t.Errorf("%+v", j)
		}
		if j, err := q.Job(t.Context(), j.ID); err != nil || len(j.Failures) != want.Attempts || j.Failures[0].At.IsZero() {
			t.Errorf("%+v, %v", j, err)
		}
	}
}

func testWaits(t *testing.T, o Options) {
	q := opened(t, o)
	add(t, q, task("a", Read))
	working(t, q, func(context.Context, *Running) error {
		return &WaitError{After: time.Hour, Reason: "the keys are not here yet"}
	})
	for {
		j := until(t, q, Waiting, 1)[0]
		if j.Reason == "" {
			continue // it was not handled yet
		}
		if j.Attempts != 0 || j.Reason != "the keys are not here yet" || time.Until(j.Next) < 59*time.Minute {
			t.Errorf("%+v", j)
		}
		break
	}
}

// A job that is interrupted because the worker stops is like new.
func testStops(t *testing.T, o Options) {
	q := opened(t, o)
	add(t, q, task("a", Read))
	began := make(chan bool)
	stop := working(t, q, func(ctx context.Context, _ *Running) error {
		close(began)
		<-ctx.Done()
		return ctx.Err()
	})
	<-began
	stop()
	if j := until(t, q, Waiting, 1)[0]; j.Attempts != 0 || j.Reason != "" {
		t.Errorf("%+v", j)
	}
}

// A space that is left while the worker ends is still left.
func TestLeaveDuringShutdown(t *testing.T) {
	q := opened(t, Options{File: filepath.Join(t.TempDir(), "queue.db")})
	add(t, q, task("a", Read))
	left := make(chan error, 1)
	q.leaves = []leave{{space, left}}
	ctx, end := context.WithCancel(t.Context())
	end()
	r := run{q: q}
	if err := r.maintain(ctx); err != nil {
		t.Error(err)
	}
	if err := <-left; err != nil {
		t.Error(err)
	}
	if list, err := q.List(t.Context(), Filter{}); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// Leaving a space interrupts what runs in it, and nothing is left.
func testLeave(t *testing.T, o Options) {
	q := opened(t, o)
	other := Task{Space: memory.SpaceID{9}, Kind: Read, Subject: "x"}
	add(t, q, task("a-very-own-name", Read), other)
	began, cut := make(chan bool, 9), make(chan bool, 9)
	working(t, q, func(ctx context.Context, r *Running) error {
		if r.Space != space {
			return nil
		}
		began <- true
		<-ctx.Done()
		cut <- true
		return &ParkError{Reason: "for this very reason"}
	})
	<-began
	if err := q.Leave(t.Context(), space); err != nil {
		t.Fatal(err)
	}
	<-cut
	q.Enter(other.Space)
	until(t, q, Done, 1)
	if list, err := q.List(t.Context(), Filter{}); err != nil || len(list) != 1 || list[0].Space != other.Space {
		t.Errorf("%+v, %v", list, err)
	}
	if err := q.Leave(t.Context(), memory.SpaceID{7}); err != nil { // moves everything into the file
		t.Fatal(err)
	}
	if o.File == "" {
		add(t, q, task("a-very-own-name", Read)) // the worker may join it again
		return
	}
	files, _ := filepath.Glob(o.File + "*")
	for _, f := range files {
		b, err := os.ReadFile(f)
		for _, s := range []string{"a-very-own-name", "for this very reason", space.String()} {
			if err != nil || bytes.Contains(b, []byte(s)) {
				t.Errorf("%s still holds %q, %v", f, s, err)
			}
		}
	}
}

func testEach(t *testing.T, o Options) {
	const jobs = 40
	o.Parallel = 4
	q := opened(t, o)
	var tasks []Task
	for i := range jobs {
		tasks = append(tasks, task(fmt.Sprint(i), Read))
	}
	add(t, q, tasks...)
	var mu sync.Mutex
	seen, most, now := map[string]int{}, 0, 0
	count := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		now += n
		most = max(most, now)
	}
	working(t, q, func(context.Context, *Running) error {
		count(1)
		defer count(-1)
		runtime.Gosched()
		return nil
	})
	for _, j := range until(t, q, Done, jobs) {
		seen[j.Subject] += j.Attempts
	}
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != jobs || most > o.Parallel {
		t.Errorf("%d jobs, %d at a time", len(seen), most)
	}
	for s, n := range seen {
		if n != 1 {
			t.Errorf("%s was done %d times", s, n)
		}
	}
}

func testBad(t *testing.T, o Options) {
	q := opened(t, o)
	for _, bad := range []Task{{}, {Space: space, Kind: "x", Subject: "a"}, {Space: space, Kind: Read}, {Kind: Read, Subject: "a"}, task(strings.Repeat("a", 101), Read)} {
		if n, err := q.Add(t.Context(), task("good", Read), bad); !errors.Is(err, memory.ErrInvalid) || n != 0 {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if list, err := q.List(t.Context(), Filter{}); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// A list can be longer than a page.
func testPages(t *testing.T, o Options) {
	q := opened(t, o)
	q.page = 5
	var tasks []Task
	for i := range 2*q.page + 3 {
		tasks = append(tasks, task(fmt.Sprint(i), Read))
	}
	add(t, q, tasks...)
	list, err := q.List(t.Context(), Filter{Space: space, Kind: Read})
	if err != nil || len(list) != len(tasks) || list[0].Subject != tasks[len(tasks)-1].Subject || list[len(list)-1].Subject != "0" {
		t.Errorf("%d jobs, %v", len(list), err)
	}
}

func TestOpenRefuses(t *testing.T) {
	if _, err := Open(t.Context(), Options{DB: postgres.At("postgres://secret:word@[:1/x")}); err == nil || strings.Contains(err.Error(), "word") {
		t.Error(err)
	}
	if _, err := OpenBeside(t.Context(), Options{File: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{File: other}); err == nil {
		t.Error("something else was opened")
	}
}
