package node

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/leakscan"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/forget"
	"github.com/locket-dev/locket/node/serve"
)

// What the tests below forget, and what stays. The words appear nowhere else.
const (
	goneLine  = "My brother Quintavius moved to Zanzibarra and is allergic to grobnuts."
	goneHan   = "我的朋友魏祺瑛昨天搬到霍尔果斯了。"
	keptLine  = "I live in Ghent."
	keptPlace = "kitchen"
)

var goneWords = []string{"Quintavius", "Zanzibarra", "grobnuts", "Quintavius moved to Zanzibarra"}

// send puts an event into the journal, as the broker would.
func send(t *testing.T, n *Node, ev memory.Event) {
	t.Helper()
	if ev.Received.IsZero() {
		ev.Received = ev.At
	}
	if err := n.writer().Append(t.Context(), []memory.Event{ev}); err != nil {
		t.Fatal(err)
	}
}

func said(device string, seq uint64, at time.Time, speaker, text string) memory.Event {
	return memory.Event{ID: memory.EventID{Device: device, Boot: 1, Seq: seq}, Kind: memory.KindText, At: at, Clock: memory.ClockWall, Speaker: speaker, Text: text}
}

// dig closes a node and looks for words in its home.
func dig(t *testing.T, n *Node, words ...string) leakscan.Report {
	t.Helper()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	ring := ringOf(t, n.cfg)
	defer ring.Close()
	r, err := leakscan.Home(t.Context(), n.cfg.Home, ring, words...)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Unopened) > 0 {
		t.Errorf("no key opens %v", r.Unopened)
	}
	if r.Remnants < 20 {
		t.Errorf("looked at %d values only", r.Remnants)
	}
	return r
}

// keyed returns an open node with a key file beside it.
func keyed(t *testing.T, change func(*config.Config)) *Node {
	t.Helper()
	n := initNode(t, change, InitOptions{KeyFile: true})
	if _, err := n.UnlockAsConfigured(t.Context()); err != nil {
		t.Fatal(err)
	}
	return n
}

// noonBefore returns noon of the previous day in the zone of initNode's wearer:
// yesterday at any time of the day.
func noonBefore(now time.Time) time.Time {
	now = inLisbon(now)
	y, m, d := now.Date()
	return time.Date(y, m, d-1, 12, 0, 0, 0, now.Location())
}

// inLisbon returns a time in the zone of initNode.
func inLisbon(at time.Time) time.Time {
	zone, err := time.LoadLocation("Europe/Lisbon")
	if err != nil {
		panic(err) // the nodes of these tests could not be opened either
	}
	return at.In(zone)
}

// lived returns a running node that has heard a little of everything.
func lived(t *testing.T, now time.Time) *Node {
	t.Helper()
	n := keyed(t, nil)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	yesterday, now := noonBefore(now), inLisbon(now)
	today := func(ago time.Duration) time.Time { // in the early morning, it is the time of midnight
		if at := now.Add(-ago); at.YearDay() == now.YearDay() {
			return at
		}
		return yesterday.Add(12 * time.Hour)
	}
	send(t, n, said("pin", 1, yesterday.Add(-48*time.Hour), "Ana", keptLine))
	send(t, n, memory.Event{ID: memory.EventID{Device: "glasses", Boot: 1, Seq: 1}, Kind: memory.KindLocation, At: yesterday.Add(-time.Minute), Clock: memory.ClockWall,
		Place: &memory.Place{Lat: 1, Lon: 2, Name: "Vortmoor office"}})
	send(t, n, said("glasses", 2, yesterday, "Hildebrand", goneLine))
	send(t, n, said("glasses", 3, yesterday.Add(time.Second), "Hildebrand", goneHan))
	send(t, n, said("glasses", 4, yesterday.Add(2*time.Second), "Hildebrand", "Will Quintavius come to Zanzibarra?"))
	send(t, n, memory.Event{ID: memory.EventID{Device: "glasses", Boot: 1, Seq: 5}, Kind: memory.KindLocation, At: today(20 * time.Minute), Clock: memory.ClockWall,
		Place: &memory.Place{Lat: 1, Lon: 3, Name: keptPlace}})
	send(t, n, said("pin", 2, today(15*time.Minute), "Ana", "The kettle stands beside the stove."))
	if err := n.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	return n
}

// confirm forgets what a selection selects.
func confirm(t *testing.T, n *Node, s serve.ForgetSelection) serve.ForgetPlan {
	t.Helper()
	p, err := n.PlanForget(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Forget(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return p
}

// freshPlugins checks that no plugin has the memory any more that it had.
func freshPlugins(t *testing.T, n *Node) {
	t.Helper()
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if k := o.plugins.Instances(); k != 0 {
		t.Errorf("%d instances of plugins have the memory that they had before", k)
	}
}

// However it is selected, nothing of it is left in any file of the home: in no older
// version, log, segment, blob, journal entry, or memory of a plugin.
func TestForgottenIsGone(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ways := map[string]func(*testing.T, *Node) serve.ForgetSelection{
		"time": func(*testing.T, *Node) serve.ForgetSelection { return serve.ForgetSelection{When: "yesterday"} },
		"time and place": func(*testing.T, *Node) serve.ForgetSelection {
			return serve.ForgetSelection{When: "昨天在Vortmoor office"}
		},
		"speaker": func(*testing.T, *Node) serve.ForgetSelection { return serve.ForgetSelection{Person: "hildebrand"} },
		"place":   func(*testing.T, *Node) serve.ForgetSelection { return serve.ForgetSelection{Place: "vortmoor office"} },
		"device":  func(*testing.T, *Node) serve.ForgetSelection { return serve.ForgetSelection{Device: "glasses"} },
		"since": func(*testing.T, *Node) serve.ForgetSelection {
			return serve.ForgetSelection{Since: noonBefore(now).Add(-time.Hour), Until: noonBefore(now).Add(time.Hour)}
		},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			var n *Node
			var p serve.ForgetPlan
			for today := 0; today != inLisbon(time.Now()).YearDay(); { // repeated if midnight turned today into yesterday
				now = inLisbon(time.Now())
				today = now.YearDay()
				n = lived(t, now)
				p = confirm(t, n, way(t, n))
			}
			if len(p.Utterances) < 3 {
				t.Fatalf("the plan: %+v", p)
			}
			if hits := search(t, n, serve.SearchRequest{Query: "kettle stove"}); len(hits) == 0 {
				t.Error("what was not meant went, too")
			}
			r := dig(t, n, append([]string{goneLine, goneHan, "魏祺瑛", "Hildebrand"}, goneWords...)...)
			for _, f := range r.Finds {
				t.Error(f)
			}
		})
	}
	for name, s := range map[string]serve.ForgetSelection{"query": {Query: "quintavius"}, "person named": {Person: "Quintavius"}} {
		t.Run(name, func(t *testing.T) {
			n := lived(t, now)
			confirm(t, n, s)
			freshPlugins(t, n)
			for _, f := range dig(t, n, append([]string{goneLine}, goneWords...)...).Finds {
				t.Error(f)
			}
		})
	}
	t.Run("id", func(t *testing.T) {
		n := lived(t, now)
		p, err := n.PlanForget(t.Context(), serve.ForgetSelection{Query: "quintavius"})
		if err != nil {
			t.Fatal(err)
		}
		var ids []memory.ID
		for _, u := range p.Utterances {
			ids = append(ids, u.ID)
		}
		confirm(t, n, serve.ForgetSelection{IDs: ids})
		for _, f := range dig(t, n, append([]string{goneLine}, goneWords...)...).Finds {
			t.Error(f)
		}
	})
}

// The search of the proof finds the words if nothing was forgotten, if they were erased
// but nothing was rewritten, and if the journal was not purged.
func TestForgettingProofDetectsRemains(t *testing.T) {
	t.Parallel()
	now := time.Now()
	places := func(r leakscan.Report) string {
		var s []string
		for _, f := range r.Finds {
			s = append(s, f.String())
		}
		return strings.Join(s, "\n")
	}
	t.Run("not forgotten", func(t *testing.T) {
		got := places(dig(t, lived(t, now), append([]string{goneLine, goneHan}, goneWords...)...))
		for _, want := range []string{"utterance ", "assertion ", "memory ", "change ", "index segment", "in journal", "魏", "grobnuts"} {
			if !strings.Contains(got, want) {
				t.Errorf("nothing in %s; but\n%s", want, got)
			}
		}
	})
	t.Run("erased and not rewritten", func(t *testing.T) {
		n := lived(t, now)
		p, err := n.PlanForget(t.Context(), serve.ForgetSelection{When: "yesterday"})
		if err != nil {
			t.Fatal(err)
		}
		err = n.open.store.Update(t.Context(), func(tx *store.Tx) error {
			var targets store.Targets
			for _, m := range p.Memories {
				targets.Memories = append(targets.Memories, m.ID)
			}
			for _, u := range p.Utterances {
				targets.Utterances = append(targets.Utterances, u.ID)
			}
			return tx.Erase(targets)
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := places(dig(t, n, goneWords...)); !strings.Contains(got, "store/records") || !strings.Contains(got, "in journal") {
			t.Errorf("found only\n%s", got)
		}
	})
	t.Run("journal kept", func(t *testing.T) {
		n := lived(t, now)
		p, err := n.PlanForget(t.Context(), serve.ForgetSelection{When: "yesterday"})
		if err != nil {
			t.Fatal(err)
		}
		todo := forget.Plan{Events: p.Sources, Cascade: true}
		for _, u := range p.Utterances {
			todo.Utterances = append(todo.Utterances, u.ID)
		}
		if _, err := n.open.forgets.Forget(t.Context(), todo); err != nil {
			t.Fatal(err)
		}
		if got := places(dig(t, n, goneWords...)); !strings.Contains(got, "in journal") || strings.Contains(got, "store/") {
			t.Errorf("found\n%s", got)
		}
		// The next process that opens the node continues.
		again, err := Open(n.cfg, Options{Cache: compiled})
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		if _, err := again.UnlockAsConfigured(context.Background()); err != nil {
			t.Fatal(err)
		}
		if !again.open.forgets.Unfinished() {
			t.Error("it is not known that something is unfinished")
		}
		if err := again.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if again.open.forgets.Unfinished() {
			t.Error("it is not known that it is finished")
		}
		if got := places(dig(t, again, goneWords...)); got != "" {
			t.Errorf("found\n%s", got)
		}
	})
}
