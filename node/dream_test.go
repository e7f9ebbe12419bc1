package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/dream"
	"github.com/locket-dev/locket/node/serve"
)

// derived returns what follows from the assertions, as text.
func derived(t *testing.T, n *Node) string {
	t.Helper()
	var out []any
	err := n.view(t.Context(), func(_ *session, tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{Oldest: true}) {
			if err != nil {
				return err
			}
			out = append(out, m)
		}
		return nil
	})
	b, wrong := json.Marshal(out)
	if err := errors.Join(err, wrong); err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// propose makes a plugin propose an unchanged text.
func propose(t *testing.T, n *Node, typ memory.Type, text string, at time.Time, tags ...string) {
	t.Helper()
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ev := memory.EventID{Device: "pin", Boot: 2, Seq: uint64(at.UnixNano())}
	c := memory.Candidate{Type: typ, Text: text, Owner: memory.Owner{User: memory.WearerUser}, Confidence: .9, Sensitivity: memory.Personal, Tags: tags,
		Evidence: []memory.Evidence{{Event: ev, Speaker: "Ana", At: at, Excerpt: text}}, Source: memory.Source{Plugin: "test"}}
	err = o.engine.Commit(t.Context(), func(tx *store.Tx) error {
		_, err = o.engine.AssertTx(tx, memory.RankDevice, memory.Assertion{Act: memory.ActPropose, Candidate: &c,
			Memory: o.ring.MemoryID(ev, "test", c.Fingerprint()), Source: c.Source})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A dream does what its plan says, can be undone exactly, is not repeated unasked,
// and continues where the process ended.
func TestDream(t *testing.T) {
	n := newNode(t, nil)
	ctx := t.Context()
	now := time.Now().UTC()
	for i := range 40 {
		propose(t, n, memory.Semantic, fmt.Sprintf("The van number %d is on level three", i), now.AddDate(0, 0, -9).Add(time.Duration(i)*time.Second), "place")
	}
	propose(t, n, memory.Semantic, "The boiler is serviced by Hansen every autumn", now.AddDate(0, 0, -3))
	propose(t, n, memory.Semantic, "The boiler is serviced every autumn by Hansen", now.AddDate(0, 0, -2))
	was := derived(t, n)
	plan, err := n.PlanDream(ctx)
	if err != nil || len(plan.Steps) < 41 {
		t.Fatalf("%d steps, %v", len(plan.Steps), err)
	}
	if derived(t, n) != was {
		t.Fatal("a plan changed something")
	}
	// A memory that changes after the plan is left alone, and listed.
	if _, err := n.Pin(ctx, plan.Steps[3].Memory, true); err != nil {
		t.Fatal(err)
	}
	was = derived(t, n)

	// The process ends in the middle; the next one continues.
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	var whole, half struct {
		Plan  *consolidate.Plan `json:"p"`
		Doing bool              `json:"d"`
	}
	err = o.engine.Commit(ctx, func(tx *store.Tx) error {
		if _, err := tx.Meta("dream", &whole); err != nil {
			return err
		}
		first := *whole.Plan
		first.Steps = first.Steps[:10]
		half.Plan = &first
		return tx.PutMeta("dream", half)
	})
	if err == nil {
		_, err = n.ApplyDream(ctx, plan.ID) // ten of its steps
	}
	if err == nil {
		whole.Doing = true
		err = o.engine.Commit(ctx, func(tx *store.Tx) error { return tx.PutMeta("dream", whole) }) // asserted before they were counted
	}
	if err == nil {
		err = o.dreams.DreamIfDue(ctx)
	}
	release()
	if err != nil {
		t.Fatal(err)
	}
	count := func(s memory.State) int { return strings.Count(derived(t, n), `"state":"`+string(s)+`"`) }
	if got := count(memory.Archived); got != 40 {
		t.Errorf("%d memories were archived, want 40: 39 vans and a boiler", got)
	}
	list, err := n.Dreams(ctx)
	if err != nil || len(list) != 1 || list[0].ID != plan.ID {
		t.Fatalf("%+v, %v", list, err)
	}
	if hits := search(t, n, serve.SearchRequest{Query: "van number 20", Only: "memories"}); len(hits) > 0 && hits[0].Text == "The van number 20 is on level three" {
		t.Errorf("put away, and found: %+v", hits)
	}
	if _, err := n.UndoDream(ctx, "", memory.ID{}); err != nil {
		t.Fatal(err)
	}
	if got := derived(t, n); got != was {
		t.Fatalf("taken back, and otherwise:\n%s\n%s", was, got)
	}
	if plan, err = n.PlanDream(ctx); err != nil || len(plan.Steps) != 0 {
		t.Errorf("what was taken back is planned again: %+v, %v", plan, err)
	}
	if _, err := n.UndoDream(ctx, "", memory.ID{}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("taken back twice: %v", err)
	}
}

// Each step of a dream can be undone separately, including what it gave the memory
// that another was merged into. The other steps stay, and it is not repeated.
func TestUndoDreamStep(t *testing.T) {
	n := newNode(t, nil)
	ctx := t.Context()
	now := time.Now().UTC()
	propose(t, n, memory.Semantic, "The van is on level three", now.AddDate(0, 0, -9), "place")
	propose(t, n, memory.Semantic, "The cart is on level one", now.AddDate(0, 0, -9), "place")
	propose(t, n, memory.Semantic, "The boiler is serviced by Hansen every autumn", now.AddDate(0, 0, -3))
	propose(t, n, memory.Semantic, "The boiler is serviced every autumn by Hansen", now.AddDate(0, 0, -2))
	was := derived(t, n)
	plan, err := n.PlanDream(ctx)
	if err == nil {
		_, err = n.ApplyDream(ctx, plan.ID)
	}
	if err != nil || len(plan.Steps) != 3 {
		t.Fatalf("%+v, %v", plan, err)
	}
	steps, err := n.DreamSteps(ctx, plan.ID)
	if err != nil || len(steps) != 3 {
		t.Fatalf("%+v, %v", steps, err)
	}
	for _, s := range plan.Steps {
		i := slices.IndexFunc(steps, func(d serve.DreamStep) bool { return d.Memory == s.Memory })
		if i < 0 || steps[i].Text != s.Text || steps[i].Into != s.Into || steps[i].IntoText != s.IntoText || steps[i].Reason != s.Reason {
			t.Errorf("planned %+v, done %+v", s, steps)
		}
	}
	if _, err := n.UndoDream(ctx, plan.ID, memory.ID{1}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("a step of another memory: %v", err)
	}
	for i, s := range steps {
		before := derived(t, n)
		if r, err := n.UndoDream(ctx, plan.ID, s.Memory); err != nil || r.Steps != 1 {
			t.Fatalf("%+v: %+v, %v", s, r, err)
		}
		if _, err := n.UndoDream(ctx, plan.ID, s.Memory); !errors.Is(err, memory.ErrNotFound) {
			t.Errorf("%+v, twice: %v", s, err)
		}
		m, err := n.Get(ctx, s.Memory)
		left, err2 := n.DreamSteps(ctx, plan.ID)
		if err := errors.Join(err, err2); err != nil || m.State != memory.Active || len(left) != len(steps)-i-1 || derived(t, n) == before {
			t.Errorf("%+v: is %s, %d steps are left, %v", s, m.State, len(left), err)
		}
	}
	if got := derived(t, n); got != was {
		t.Errorf("taken back, and otherwise:\n%s\n%s", was, got)
	}
	if plan, err = n.PlanDream(ctx); err != nil || len(plan.Steps) != 0 {
		t.Errorf("what was taken back is planned again: %+v, %v", plan, err)
	}
}

// A step that is left out of a plan is not done, and not planned again.
func TestDreamWithoutAStep(t *testing.T) {
	n := newNode(t, nil)
	ctx := t.Context()
	now := time.Now().UTC()
	for _, place := range []string{"three", "four"} {
		propose(t, n, memory.Semantic, "The van is on level "+place, now.AddDate(0, 0, -9), "place")
	}
	hear(t, n, now, "Ana", "Good evening, everybody.")
	plan, err := n.PlanDream(ctx)
	if err != nil || len(plan.Steps) != 2 {
		t.Fatalf("%+v, %v", plan, err)
	}
	kept, gone := plan.Steps[0].Memory, plan.Steps[1].Memory
	if _, err := n.ApplyDream(ctx, plan.ID, memory.ID{1}); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("a step that is not there is left out: %v", err)
	}
	if res, err := n.ApplyDream(ctx, plan.ID, kept); err != nil || res.Steps != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	one, err := n.Get(ctx, kept)
	other, err2 := n.Get(ctx, gone)
	if err := errors.Join(err, err2); err != nil || one.State != memory.Active || other.State != memory.Archived {
		t.Errorf("what was left out is %s, and the other %s: %v", one.State, other.State, err)
	}
	if plan, err = n.PlanDream(ctx); err != nil || len(plan.Steps) != 0 {
		t.Errorf("what was left out is planned again: %+v, %v", plan, err)
	}
}

// A credential that an earlier scan has missed goes to the vault, and is left
// nowhere else.
func TestDreamMovesCredentialsToTheVault(t *testing.T) {
	const secret = "Xq7-pine-Tr0ut-88"
	n := newNode(t, nil)
	ctx := t.Context()
	propose(t, n, memory.Semantic, "The wifi password is "+secret, time.Now().AddDate(0, 0, -1))
	plan, err := n.PlanDream(ctx)
	if err != nil || len(plan.Steps) != 1 || plan.Steps[0].Kind != consolidate.Scrub {
		t.Fatalf("%+v, %v", plan, err)
	}
	if _, err := n.ApplyDream(ctx, plan.ID); err != nil {
		t.Fatal(err)
	}
	if all := remembered(t, n); strings.Contains(all, secret) {
		t.Errorf("it is still there: %s", all)
	}
	page, err := n.List(ctx, serve.ListQuery{Type: memory.Vault, Limit: 10})
	if err != nil || len(page.Memories) != 1 {
		t.Fatalf("the vault: %+v, %v", page, err)
	}
	if err := n.UnlockVault(ctx, passphrase, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if r, err := n.Reveal(ctx, page.Memories[0].ID); err != nil || string(r.Secret) != secret {
		t.Errorf("in the vault is %q, %v", string(r.Secret), err)
	}
	if plan, err = n.PlanDream(ctx); err != nil || len(plan.Steps) != 0 {
		t.Errorf("again: %+v, %v", plan, err)
	}
}

// A requested plan uses the clock of events, like an automatic one: a node that
// was switched off for a month archives nothing because of that.
func TestDreamPlanUsesTheEventClock(t *testing.T) {
	n := newNode(t, nil)
	ctx := t.Context()
	last := time.Now().UTC().AddDate(0, -1, 0)
	hear(t, n, last, "Ana", "Good evening, everybody.")
	propose(t, n, memory.Semantic, "The van is on level three", last.AddDate(0, 0, -1), "place")
	plan, err := n.PlanDream(ctx)
	if err != nil || len(plan.Steps) != 0 {
		t.Errorf("after a month without events: %+v, %v", plan.Steps, err)
	}
	hear(t, n, last.AddDate(0, 0, 8), "Ana", "Good evening again.")
	if plan, err = n.PlanDream(ctx); err != nil || len(plan.Steps) != 1 || plan.Steps[0].Kind != consolidate.Expire {
		t.Errorf("after a week of events: %+v, %v", plan.Steps, err)
	}
}

// A dream is due after a day, five sessions and twenty memories; all three are
// required.
func TestDreamIsDue(t *testing.T) {
	n := newNode(t, nil)
	began := time.Date(2025, 3, 3, 9, 0, 0, 0, time.UTC)
	due := func(now time.Time) (is bool) {
		t.Helper()
		err := n.view(t.Context(), func(_ *session, tx *store.Tx) (err error) {
			is, err = dream.Due(tx, time.Time{}, now)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	for s := range 5 {
		if due(began.AddDate(0, 0, 3)) {
			t.Fatalf("due after %d sessions", s)
		}
		for i := range 5 {
			hear(t, n, began.Add(time.Duration(s)*2*time.Hour+time.Duration(i)*time.Second), "Ana", fmt.Sprintf("My friend number%d lives in Town%d.", 5*s+i, 5*s+i))
			hear(t, n, began.Add(time.Duration(s)*2*time.Hour+time.Duration(i)*time.Second+time.Millisecond), "Bo", fmt.Sprintf("I like Dish%d.", 5*s+i))
		}
	}
	if due(began.Add(20 * time.Hour)) {
		t.Error("due on the first day")
	}
	if !due(began.AddDate(0, 0, 2)) {
		t.Error("not due after two days, five sessions and as many memories")
	}
}

// Erasing a memory also erases its words from the day's summary, but no other line
// of the day.
func TestForgettingReachesSummaries(t *testing.T) {
	n := newNode(t, nil)
	ctx := t.Context()
	day := noonBefore(time.Now()).AddDate(0, 0, -1)
	for i := range 7 {
		hear(t, n, day.Add(time.Duration(i)*time.Second), "Ana", fmt.Sprintf("My friend Quill%d lives in Town%d.", i, i))
	}
	plan, err := n.PlanDream(ctx)
	if err != nil || len(plan.Steps) != 1 || plan.Steps[0].Kind != consolidate.Summarise {
		t.Fatalf("%+v, %v", plan, err)
	}
	if _, err := n.ApplyDream(ctx, plan.ID); err != nil {
		t.Fatal(err)
	}
	list := func() []memory.Memory {
		page, err := n.List(ctx, serve.ListQuery{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		return page.Memories
	}
	before := list()
	var one memory.Memory
	for _, m := range before {
		if strings.Contains(plan.Steps[0].Text, m.Text) && m.ID != plan.Steps[0].Memory {
			one = m
		}
	}
	made := func(r serve.Related) bool { return r.ID == one.ID && r.Text == one.Text && !r.At.IsZero() }
	if w, err := n.Reader.Why(ctx, plan.Steps[0].Memory); err != nil || !slices.ContainsFunc(w.From, made) {
		t.Errorf("made of %+v, %v", w.From, err)
	}
	forgotten, err := n.PlanForget(ctx, serve.ForgetSelection{IDs: []memory.ID{one.ID}})
	if err != nil || len(forgotten.Utterances) != 1 || len(forgotten.Memories) > 3 {
		t.Errorf("one line takes %+v, %v", forgotten.Memories, err) // what was made of it, and the day
	}
	if err := n.Delete(ctx, one.ID); err != nil {
		t.Fatal(err)
	}
	after := list()
	for _, m := range after {
		if strings.Contains(m.Text, one.Text) {
			t.Errorf("still there: %q", m.Text)
		}
	}
	if len(after) != len(before)-2 {
		t.Errorf("%d memories became %d", len(before), len(after))
	}
}

// For the tests with several devices.
var (
	Propose = propose
	Derived = derived
)
