package queue

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay/pgtest"
	"github.com/locket-dev/locket/cloud/worker/queue/base"
	"github.com/locket-dev/locket/cloud/worker/queue/postgres"
	"github.com/locket-dev/locket/memory"
)

// crashing starts a PostgreSQL that can be killed, and returns it with the
// address of a database.
func crashing(t *testing.T) (*pgtest.Cluster, string) {
	t.Helper()
	c := &pgtest.Cluster{Durable: true}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	url, err := c.New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c, url
}

// restart starts a killed PostgreSQL again, and waits until a queue reaches it.
func restart(t *testing.T, c *pgtest.Cluster, q *Queue) {
	t.Helper()
	if err := c.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := q.List(t.Context(), Filter{}); err == nil {
			return // old connections fail once
		}
		<-time.After(10 * time.Millisecond)
	}
}

// The database crashes during a job and is away when the job ends. The worker continues, no job is
// lost, and the one whose end could not be stored is done once more at worst.
func TestDatabaseCrashesInAJob(t *testing.T) {
	durable, url := crashing(t)
	q := opened(t, Options{DB: postgres.At(url), Lease: patient})
	q.settle = 15 * time.Second // River gives up after 7 where connections are refused
	began, end := make(chan string, 9), make(chan bool)
	working(t, q, func(_ context.Context, r *Running) error {
		began <- r.Subject
		<-end
		return nil
	})
	add(t, q, task("a", Read), task("b", Read))
	first := <-began
	if err := durable.Kill(); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Add(t.Context(), task("c", Read)); err == nil {
		t.Errorf("%d added without a database", n)
	}
	close(end)
	restart(t, durable, q)
	add(t, q, task("c", Read))
	jobs := until(t, q, Done, 3)
	runs := map[string]int{first: 1}
	for len(began) > 0 {
		runs[<-began]++
	}
	for _, j := range jobs {
		if n := runs[j.Subject]; n < 1 || n > 2 || n == 2 && j.Subject != first {
			t.Errorf("%s was done %d times: %+v", j.Subject, n, j)
		}
	}
}

// gaveUp is a log handler. It sends on now when River gives up storing how a job
// ended.
type gaveUp struct {
	slog.Handler
	now chan bool
}

func (gaveUp) Enabled(context.Context, slog.Level) bool { return true }

func (g gaveUp) WithAttrs([]slog.Attr) slog.Handler { return g }

func (g gaveUp) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "giving up") {
		g.now <- true
	}
	return nil
}

// The database is away until River gives up storing how a job ended. The worker continues, and does
// that job once more.
func TestDatabaseIsAwayForLong(t *testing.T) {
	durable, url := crashing(t)
	log := gaveUp{slog.DiscardHandler, make(chan bool, 9)}
	q := opened(t, Options{DB: postgres.At(url), Lease: 2 * time.Second, Log: slog.New(log)})
	q.settle = 4 * time.Second
	began, end := make(chan string, 9), make(chan bool)
	add(t, q, task("a", Read))
	working(t, q, func(_ context.Context, r *Running) error {
		began <- r.Subject
		<-end
		return nil
	})
	<-began
	if err := durable.Kill(); err != nil {
		t.Fatal(err)
	}
	close(end)
	<-log.now
	restart(t, durable, q)
	j, err := q.Job(t.Context(), until(t, q, Done, 1)[0].ID)
	if err != nil || j.Attempts < 2 || len(began) < 1 || len(j.Failures) != j.Attempts-1 || slices.ContainsFunc(j.Failures, func(f Failure) bool { return f.Reason != lostReason }) {
		t.Errorf("%+v, %v, done %d times more", j, err, len(began)) // more than once on a busy machine
	}
}

// The database says that a worker runs a job, but the worker does not. Then the worker does it, on
// either database.
func TestOrphanedJobIsDone(t *testing.T) {
	for name, o := range map[string]Options{"sqlite": {File: t.TempDir() + "/queue.db"}, "postgres": {DB: postgres.At(cluster.Database(t))}} {
		t.Run(name, func(t *testing.T) {
			o.Lease = 2 * time.Second
			q := opened(t, o)
			q.settle = 4 * time.Second
			add(t, q, task("a", Read))
			by := `json_array('` + q.name + `')`
			if q.base.Shared {
				by = `ARRAY['` + q.name + `']`
			}
			if _, err := q.base.DB.ExecContext(t.Context(), `UPDATE river_job SET state = 'running', attempt = 1, attempted_by = `+by); err != nil {
				t.Fatal(err)
			}
			working(t, q, func(context.Context, *Running) error { return nil })
			// On a busy machine the job may be idle for longer than that. Then it counts as lost,
			// and is done once more.
			j, err := q.Job(t.Context(), until(t, q, Done, 1)[0].ID)
			if err != nil || j.Attempts < 2 || len(j.Failures) != j.Attempts-1 || slices.ContainsFunc(j.Failures, func(f Failure) bool { return f.Reason != lostReason }) {
				t.Errorf("%+v, %v", j, err)
			}
		})
	}
}

// A worker leaves a space while it renews its leases. It does not enter the space
// again.
func TestLeaveDuringLeaseRenewal(t *testing.T) {
	q := opened(t, Options{File: t.TempDir() + "/queue.db", Lease: 4 * time.Millisecond})
	working(t, q, func(context.Context, *Running) error { return nil })
	q.Enter(memory.SpaceID{9})
	for i := range 40 {
		q.Enter(space)
		add(t, q, task("a", Read))
		until(t, q, Done, 1)
		<-time.After(time.Duration(i) * 100 * time.Microsecond)
		for _, s := range []memory.SpaceID{space, {7}} { // the second one is entered after the leases were renewed once more
			if err := q.Leave(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		if err := q.base.DB.QueryRowContext(t.Context(), `SELECT count(*) FROM river_queue WHERE name = $1`, space.String()).Scan(&n); err != nil || n != 0 {
			t.Fatalf("round %d: the space that was left has %d queues, %v", i, n, err)
		}
	}
}

// Jobs are added and discarded while spaces are entered, under the race detector: River's client
// has a map of its queues without a lock.
func TestAddWhileSpacesAreJoined(t *testing.T) {
	q := opened(t, Options{File: t.TempDir() + "/queue.db", Lease: patient})
	q.o.Look = time.Minute // many queues that poll often would take all of the time
	working(t, q, func(context.Context, *Running) error { return nil })
	q.Enter(space)
	add(t, q, task("first", Read))
	until(t, q, Done, 1) // the client that runs jobs is also the one that adds them
	for i := range 200 {
		q.Enter(memory.SpaceID{byte(i + 10)})
	}
	for i := range 20 {
		other := task(strconv.Itoa(i), Read)
		other.Space = memory.SpaceID{9} // nobody enters it, so its jobs can be discarded
		add(t, q, other)
		list, err := q.List(t.Context(), Filter{Space: other.Space, State: Waiting})
		if err != nil || len(list) != 1 {
			t.Fatalf("%d wait, %v", len(list), err)
		}
		if err := q.Discard(t.Context(), list[0].ID); err != nil {
			t.Fatal(err)
		}
	}
}

// deadlocked is a client that does not end by itself.
type deadlocked struct {
	base.Client
	tries chan int
}

func (d deadlocked) StopAndCancel(ctx context.Context) error {
	<-ctx.Done()
	d.tries <- 1
	return ctx.Err()
}

// Stopping waits for jobs, but not for a client that does not end although it has none.
func TestStopIgnoresAHangingClient(t *testing.T) {
	q := opened(t, Options{File: t.TempDir() + "/queue.db"})
	q.patience = time.Millisecond
	c := deadlocked{tries: make(chan int)}
	q.doing[1] = true
	ended := make(chan error)
	go func() { ended <- (&run{q: q, client: c}).stop(t.Context()) }()
	for range 3 {
		<-c.tries
	}
	q.mu.Lock()
	delete(q.doing, 1)
	q.mu.Unlock()
	for {
		select {
		case <-c.tries:
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
			return
		}
	}
}
