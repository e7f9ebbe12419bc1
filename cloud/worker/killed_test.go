package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory"
)

// victimEnv configures the worker process that a test kills: [killable] as JSON.
const victimEnv = "LOCKET_TEST_VICTIM"

// killable is a worker with a vision model, in a separate process.
type killable struct{ Home, Cache, URL, Model string }

// victim works until it is killed.
func victim() int {
	var k killable
	err := json.Unmarshal([]byte(os.Getenv(victimEnv)), &k)
	if err == nil {
		var w *Worker
		w, err = Open(context.Background(), Config{Home: k.Home, Cache: k.Cache, Now: soon, Engines: Engines{Speech: "none", Sight: "none", VisionURL: k.URL, VisionModel: k.Model}})
		if err == nil {
			err = w.Run(context.Background())
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// start starts a worker; kill ends it like the system does when it is out of memory.
func (k killable) start(t *testing.T) (kill func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env, cmd.Stderr = append(os.Environ(), victimEnv+"="+string(b)), os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // it was killed
	}
}

// A worker process is killed again and again: while a model works, just after it has answered, and
// once the owner has an update. No frame is lost: each is in one update, and a finished update is
// not paid for again.
func TestKilledWorkerLosesNoFrame(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{})
	came, never := make(chan struct{}, 1), make(chan struct{})
	s.Script(llmtest.Holds(came, never, llmtest.Say("too late")))
	answers := make(chan struct{}, 99)
	s.Otherwise(llmtest.Func(func(r *llmtest.Request) string {
		answers <- struct{}{}
		return fmt.Sprintf(`{"summary":"%d bars were seen.","frames":[]}`, r.Pictures)
	}))
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	var ids []memory.ID
	for i := range 23 {
		ids = append(ids, o.source("image/png", scene(t, i)))
	}
	k := killable{Home: home, Cache: cache, URL: s.URL, Model: s.Model()}

	kill := k.start(t)
	<-came
	kill()
	close(never)
	kill = k.start(t)
	<-answers
	<-time.After(time.Duration(rand.IntN(int(40 * time.Millisecond)))) // anywhere between the answer and the end of the job
	kill()
	kill = k.start(t)
	first := o.until(func(m *memory.Memory) bool { return m.Source.Plugin == "worker/sequence" })
	kill()
	asked := func() (n int) {
		for _, r := range s.Requests() {
			if fmt.Sprintf("%d bars were seen.", r.Pictures) == first.Text {
				n++
			}
		}
		return n
	}
	paid := asked()
	run(t, Config{Home: home, Engines: sees(s), Now: soon})
	for _, id := range ids {
		o.await(id)
	}
	for i, id := range ids {
		if got := o.answers(id); len(got) != 1 {
			t.Errorf("frame %d is in %d updates", i, len(got))
		}
	}
	if n := asked(); n != paid {
		t.Errorf("asked %d times more for an update that was there", n-paid)
	}
	o.accepted()
}

// The result of a job is not requested, and paid for, again: a worker that was killed before the
// job had ended uses it.
func TestResultIsReusedAfterAKill(t *testing.T) {
	s := llmtest.New(t, llmtest.Options{})
	s.Otherwise(llmtest.Func(func(r *llmtest.Request) string {
		if r.Format == "" {
			return "A note on a wall."
		}
		return `{"known":true,"answer":"On Saturday.","seen":"the second line"}`
	}))
	relay := serveRelay(t)
	o := newOwner(t, relay)
	home := joined(t, o, relay, granted)
	note := o.source("image/png", day(t, "note.png"))
	when := o.asks(note, "When is the swap?", memory.RankPerson)
	w, _, _ := run(t, Config{Home: home, Engines: sees(s), Now: soon})
	o.await(when)
	o.until(func(m *memory.Memory) bool { return m.Source.Plugin == "worker/caption" })
	for _, kind := range []queue.Kind{queue.Caption, queue.Question} {
		j := await(t, w, func(j *queue.Job) bool { return j.Kind == kind && j.State == queue.Done })
		o.ok(w.Queue().Retry(t.Context(), j.ID))
		await(t, w, func(again *queue.Job) bool {
			return again.ID == j.ID && again.State == queue.Done && again.Attempts > j.Attempts
		})
	}
	if n := len(s.Requests()); n != 2 {
		t.Errorf("asked %d times", n)
	}
}
