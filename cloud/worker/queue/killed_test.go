package queue

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue/postgres"
	"github.com/locket-dev/locket/internal/testing/long"
)

// victimEnv configures the worker process that a test kills: a PostgreSQL's address or a file.
const victimEnv = "LOCKET_TEST_VICTIM"

// optionsAt returns the options for a PostgreSQL's address or a file.
func optionsAt(where string, lease time.Duration) Options {
	if strings.HasPrefix(where, "postgres://") {
		return Options{DB: postgres.At(where), Lease: lease}
	}
	return Options{File: where, Lease: lease}
}

// victim takes the first job and never ends it.
func victim() int {
	q, err := Open(context.Background(), optionsAt(os.Getenv(victimEnv), 2*time.Second))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	q.Enter(space)
	err = q.Run(context.Background(), func(ctx context.Context, r *Running) error {
		fmt.Println("began " + r.Subject)
		<-ctx.Done()
		return nil
	})
	fmt.Println(err)
	return 1
}

// patient is the lease of workers that stay alive, long enough for a busy machine.
const patient = 20 * time.Second

// kill starts a worker process, and kills it during the job about subject.
func kill(t *testing.T, where, subject string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), victimEnv+"="+where)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "began "+subject+"\n" {
		t.Errorf("the worker said %q", line)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}

// A worker process is killed during a job: the next one does it, once. KILLS sets how many are
// killed.
func TestKilledWorkersJobIsDoneByTheNext(t *testing.T) {
	file := t.TempDir() + "/queue.db"
	for name, where := range map[string]string{"postgres": cluster.Database(t), "sqlite": file} {
		t.Run(name, func(t *testing.T) {
			o := optionsAt(where, patient)
			q := opened(t, o)
			for i := range long.Kills(t, 1) {
				subject := fmt.Sprint("a", i)
				add(t, q, task(subject, Read))
				if o.File != "" {
					if err := q.Close(); err != nil { // one process at a time
						t.Fatal(err)
					}
				}
				kill(t, where, subject)
				if o.File != "" {
					q = opened(t, o)
				}
				did := make(chan *Running, 9)
				stop := working(t, q, func(_ context.Context, r *Running) error {
					did <- r
					return nil
				})
				until(t, q, Done, i+1)
				stop()
				r := <-did
				if r.Subject != subject || r.Attempts != 2 || len(did) > 0 {
					t.Fatalf("%s %d, and %d more", r.Subject, r.Attempts, len(did))
				}
				if j, err := q.Job(t.Context(), r.ID); err != nil || j.State != Done || len(j.Failures) != 1 || j.Failures[0].Reason != endedReason {
					t.Fatalf("%+v, %v", j, err)
				}
			}
		})
	}
}

// A job that kills each worker is parked at the end.
func TestDeadlyJobIsParked(t *testing.T) {
	file := t.TempDir() + "/queue.db"
	q := opened(t, Options{File: file})
	add(t, q, task("a", Read))
	for range MaxAttempts {
		if err := q.Close(); err != nil {
			t.Fatal(err)
		}
		kill(t, file, "a")
		q = opened(t, Options{File: file})
	}
	list, err := q.List(t.Context(), Filter{})
	if err != nil || len(list) != 1 || list[0].State != Parked || !strings.Contains(list[0].Reason, endedReason) {
		t.Fatalf("%+v, %v", list, err)
	}
}

// Two workers on one PostgreSQL: no job is done twice, a living worker keeps its job, and a space
// that one of them leaves continues with the other.
func TestTwoWorkersOnPostgreSQL(t *testing.T) {
	o := Options{DB: postgres.At(cluster.Database(t)), Lease: patient, Parallel: 2}
	a, b := opened(t, o), opened(t, o)
	const jobs = 60
	did := make(chan string, 2*jobs)
	for name, q := range map[string]*Queue{"a": a, "b": b} {
		working(t, q, func(_ context.Context, r *Running) error {
			did <- name + " " + r.Subject
			return nil
		})
	}
	for i := range jobs {
		add(t, a, task(fmt.Sprint(i), Read))
	}
	until(t, b, Done, jobs)
	by := map[string]int{}
	for range jobs {
		who, _, _ := strings.Cut(<-did, " ")
		by[who]++
	}
	t.Log(by)
	if len(did) > 0 {
		t.Errorf("%d jobs were done twice", len(did))
	}
	if err := a.Leave(t.Context(), space); err != nil {
		t.Fatal(err)
	}
	add(t, b, task("after", Read))
	until(t, b, Done, jobs+1)
	if got := <-did; got != "b after" {
		t.Error(got)
	}
}

// A worker whose lease has ended because its machine was busy does not take its own job for
// interrupted.
func TestLateWorkerKeepsItsJob(t *testing.T) {
	q := opened(t, Options{DB: postgres.At(cluster.Database(t)), Lease: patient})
	add(t, q, task("a", Read))
	began, end := make(chan bool, 9), make(chan bool)
	working(t, q, func(context.Context, *Running) error {
		began <- true
		<-end
		return nil
	})
	<-began
	if _, err := q.base.DB.ExecContext(t.Context(), `DELETE FROM locket_worker`); err != nil {
		t.Fatal(err)
	}
	if err := q.beat(t.Context(), nil); err != nil { // the spaces' leases are renewed later
		t.Fatal(err)
	}
	close(end)
	if j := until(t, q, Done, 1)[0]; j.Attempts != 1 || len(began) > 0 {
		t.Errorf("%+v", j)
	}
}
