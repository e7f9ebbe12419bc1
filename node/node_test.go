package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/plugincache"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/wasm"
)

var compiled string // plugins, shared by the tests

func TestMain(m *testing.M) {
	if engines.IsProcess(os.Args) {
		os.Exit(engines.ServeProcess(os.Stdin, os.Stdout, os.Stderr))
	}
	if wasm.IsWorker(os.Args) {
		os.Exit(wasm.ServeWorker(os.Stdin, os.Stdout, os.Stderr))
	}
	if os.Getenv(revertEnv) != "" {
		fmt.Fprintln(os.Stderr, runRevert())
		os.Exit(1)
	}
	if os.Getenv(hearingEnv) != "" {
		fmt.Fprintln(os.Stderr, runHearing())
		os.Exit(1)
	}
	if os.Getenv(scanEnv) != "" {
		fmt.Fprintln(os.Stderr, runScan())
		os.Exit(1)
	}
	if os.Getenv(flowHome) != "" {
		fmt.Fprintln(os.Stderr, runFlow())
		os.Exit(1)
	}
	plugincache.Run(func(dir string) (int, error) {
		compiled = dir
		return m.Run(), nil
	})
}

const passphrase = "correct horse"

// newNode returns an open node in a home of its own.
func newNode(t *testing.T, change func(*config.Config)) *Node {
	t.Helper()
	n := initNode(t, change, InitOptions{Passphrase: passphrase, Work: 4})
	if err := n.Unlock(t.Context(), passphrase); err != nil {
		t.Fatal(err)
	}
	return n
}

// initNode returns a locked one. With a key file it opens faster.
func initNode(t *testing.T, change func(*config.Config), opt InitOptions) *Node {
	t.Helper()
	cfg := config.Config{Home: filepath.Join(t.TempDir(), "home"), Wearer: "Ana", Zone: "Europe/Lisbon", Broker: config.Broker{Listen: "127.0.0.1:0"}, Disk: config.Disk{Reserve: 32e6}}
	if change != nil {
		change(&cfg)
	}
	cfg.Defaults()
	if _, err := Init(cfg, opt); err != nil {
		t.Fatal(err)
	}
	worker, err := wasm.SelfWorker()
	if err != nil {
		t.Fatal(err)
	}
	n, err := Open(cfg, Options{Cache: compiled, Version: "test", Worker: worker})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return n
}

// hear has the node hear a line, as if a wearable had sent it.
func hear(t *testing.T, n *Node, at time.Time, speaker, text string) {
	t.Helper()
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ev := memory.Event{ID: memory.EventID{Device: "pin", Boot: 1, Seq: uint64(at.UnixNano())}, Kind: memory.KindText, At: at, Received: at, Clock: memory.ClockWall, Text: text, Speaker: speaker}
	if _, err := o.process(t.Context(), ev); err != nil {
		t.Fatal(err)
	}
}

// process takes one event through the chain.
func (o *session) process(ctx context.Context, ev memory.Event) (extract.Outcome, error) {
	lock := o.engine.AcquireWriter()
	defer lock.Release()
	return o.extract.Process(ctx, lock, ev)
}

func search(t *testing.T, n *Node, r serve.SearchRequest) []serve.Hit {
	t.Helper()
	res, err := n.Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res.Hits
}

func has(hits []serve.Hit, text string, state memory.State) bool {
	for _, h := range hits {
		if h.Memory != nil && h.Memory.State == state && h.Memory.Slot != nil && h.Memory.Slot.Value == text {
			return true
		}
	}
	return false
}

// What is true now, what was true then, and what was believed then.
func TestAsOfAndKnownAt(t *testing.T) {
	n := newNode(t, nil)
	spring := time.Date(2025, 3, 3, 9, 0, 0, 0, time.UTC)
	autumn := time.Date(2025, 10, 6, 9, 0, 0, 0, time.UTC)
	hear(t, n, spring, "Ana", "I live in Ghent.")
	hear(t, n, autumn, "Ana", "I moved to Lyon.")
	q := serve.SearchRequest{Query: "where does Ana live", Only: "memories"}
	if hits := search(t, n, q); !has(hits, "Lyon", memory.Active) || has(hits, "Ghent", memory.Superseded) {
		t.Errorf("now: %v", hits)
	}
	q.AsOf = autumn.AddDate(0, -1, 0)
	if hits := search(t, n, q); !has(hits, "Ghent", memory.Superseded) || has(hits, "Lyon", memory.Active) {
		t.Errorf("as of September: %v", hits)
	}
	q.AsOf, q.History = time.Time{}, true
	if hits := search(t, n, q); !has(hits, "Ghent", memory.Superseded) || !has(hits, "Lyon", memory.Active) {
		t.Errorf("with history: %v", hits)
	}
	q.History, q.KnownAt = false, time.Now().Add(-time.Hour)
	if hits := search(t, n, q); len(hits) != 0 {
		t.Errorf("an hour ago nothing was known: %v", hits)
	}
}

// What recall has just returned, and an assistant reads aloud, is not learnt
// from.
func TestRecalledTextIsNotLearnt(t *testing.T) {
	n := newNode(t, nil)
	now := time.Now()
	hear(t, n, now.Add(-time.Hour), "Ana", "My sister Rita is allergic to peanuts and strawberries.")
	hits := search(t, n, serve.SearchRequest{Query: "what is Rita allergic to"})
	if len(hits) == 0 {
		t.Fatal("nothing found")
	}
	before, err := n.List(t.Context(), serve.ListQuery{State: serve.AnyState, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	hear(t, n, now, "", hits[0].Text)
	after, err := n.List(t.Context(), serve.ListQuery{State: serve.AnyState, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	if len(after.Memories) != len(before.Memories) {
		t.Errorf("%d memories became %d", len(before.Memories), len(after.Memories))
	}
	refusals, err := n.Refusals(t.Context(), 10)
	if err != nil || len(refusals) == 0 || refusals[0].Kind != "feedback" {
		t.Errorf("refusals: %v, %v", refusals, err)
	}
}

// Hearing the same day again leaves the memories as they were.
func TestRepeatedEventsChangeNothing(t *testing.T) {
	n := newNode(t, nil)
	lines := []string{"I live in Ghent.", "My sister Rita is allergic to peanuts.", "I have the dentist on Thursday at four."}
	count := func() int {
		page, err := n.List(t.Context(), serve.ListQuery{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		return len(page.Memories)
	}
	began := time.Date(2025, 3, 3, 9, 0, 0, 0, time.UTC)
	first := 0
	for day := range 5 {
		for i, l := range lines {
			hear(t, n, began.Add(time.Duration(day)*time.Minute+time.Duration(i)*time.Second), "Ana", l)
		}
		if day == 0 {
			first = count()
		}
	}
	if got := count(); got != first || first < 3 {
		t.Errorf("%d memories after the first time, %d after the fifth", first, got)
	}
}

// Retention uses the time of events, and spares what is pinned.
func TestRetention(t *testing.T) {
	n := newNode(t, func(c *config.Config) {
		c.Retention.Utterance.Age = config.Duration(24 * time.Hour)
	})
	began := time.Date(2025, 3, 3, 9, 0, 0, 0, time.UTC)
	hear(t, n, began, "Ana", "The heron stood in the reeds all morning.")
	hear(t, n, began.Add(time.Hour), "Ana", "I live in Ghent.")
	hear(t, n, began.AddDate(0, 0, 3), "Ana", "The heron came back to the reeds.")
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := o.applyRetention(t.Context(), o.latest()); err != nil {
		t.Fatal(err)
	}
	hits := search(t, n, serve.SearchRequest{Query: "heron reeds", Only: "utterances"})
	if len(hits) != 1 || hits[0].Text != "The heron came back to the reeds." {
		t.Errorf("utterances: %v", hits)
	}
	if hits := search(t, n, serve.SearchRequest{Query: "where does Ana live", Only: "memories"}); !has(hits, "Ghent", memory.Active) {
		t.Error("the memory went with the line that it quotes")
	}
}

// A second process is refused the home, and is told which process has it.
func TestOneProcessPerHome(t *testing.T) {
	n := newNode(t, nil)
	if _, err := Open(n.cfg, Options{}); !errors.Is(err, memory.ErrInUse) {
		t.Errorf("a second open: %v", err)
	}
	if _, err := Init(n.cfg, InitOptions{KeyFile: true}); !errors.Is(err, ErrHomeExists) {
		t.Errorf("a second init: %v", err)
	}
}

// A pause outlives the process, and ends on its own.
func TestPauseSurvivesARestart(t *testing.T) {
	n := newNode(t, nil)
	until := time.Now().Add(time.Hour)
	if _, err := n.Pause(t.Context(), until); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(n.cfg, Options{Cache: compiled})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := again.Status(context.Background())
	if err != nil || !s.Pause.Paused || !s.Pause.Until.Equal(until) || !s.Locked {
		t.Errorf("%+v, %v", s.Pause, err)
	}
}
