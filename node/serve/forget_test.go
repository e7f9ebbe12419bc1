package serve_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// conditions must all hold; a combination that nobody can mean is refused.
func conditions(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	lunch := added(t, c, plain("Bo owes Ann a lunch"))
	added(t, c, plain("Bo has a blue bike"))
	hour := time.Now().Add(-time.Hour)
	for _, x := range []struct {
		name string
		r    serve.ForgetRequest
		want int
	}{
		{"query and time", serve.ForgetRequest{Query: "lunch", Last: 36e11}, 1},
		{"person", serve.ForgetRequest{Person: "Bo"}, 2},
		{"person and query", serve.ForgetRequest{Person: "Bo", Query: "lunch"}, 1},
		{"id and query that does not fit", serve.ForgetRequest{IDs: []string{lunch.String()}, Query: "bike"}, 0},
		{"query and a time before", serve.ForgetRequest{Query: "lunch", Until: hour}, 0},
		{"query and since", serve.ForgetRequest{Query: "lunch", Since: hour}, 1},
		{"words for a time", serve.ForgetRequest{When: "last 10 minutes"}, 2},
		{"words for a time, and a person", serve.ForgetRequest{When: "last 10 minutes", Person: "Ann"}, 1},
		{"a place where nothing was", serve.ForgetRequest{When: "last 10 minutes", Place: "Atlantis"}, 0},
		{"another device", serve.ForgetRequest{Query: "lunch", Device: "no-such-device"}, 0},
	} {
		x.r.Plan = true
		a, err := c.PlanForget(ctx, x.r)
		if err != nil || len(a.Plan.Memories) != x.want {
			t.Errorf("%s: %+v, %v, want %d", x.name, a.Plan, err, x.want)
		}
	}
	for name, r := range map[string]serve.ForgetRequest{
		"nothing": {}, "two times": {Last: 36e11, When: "today"}, "no time": {When: "some day"},
	} {
		r.Plan = true
		_, err := c.PlanForget(ctx, r)
		want(t, err, memory.ErrInvalid)
		if err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// deleteAll deletes one owner's memories, when asked twice, and nobody else's.
func deleteAll(t *testing.T, c *serve.Client) {
	ctx := t.Context()
	of := func(agent, run, text string) memory.ID {
		r := plain(text)
		r.Agent, r.Run = agent, run
		return added(t, c, r)
	}
	mine := added(t, c, plain("The bike is blue"))
	one, two := of("planner", "1", "The train leaves at nine"), of("planner", "2", "The bus leaves at ten")
	other := of("cook", "1", "The soup needs salt")

	_, err := c.PlanDeleteAll(ctx, memory.Owner{})
	want(t, err, memory.ErrInvalid)
	if a, err := c.PlanDeleteAll(ctx, memory.Owner{User: "somebody else"}); err != nil || len(a.Plan.Memories) != 0 {
		t.Fatalf("another user: %+v, %v", a.Plan, err)
	}
	if a, err := c.PlanDeleteAll(ctx, memory.Owner{User: "somebody else", Agent: "planner"}); err != nil || len(a.Plan.Memories) != 0 {
		t.Fatalf("another user's agent: %+v, %v", a.Plan, err)
	}
	run, err := c.PlanDeleteAll(ctx, memory.Owner{Agent: "planner", Run: "2"})
	if err != nil || len(run.Plan.Memories) != 1 || run.Plan.Memories[0].ID != two {
		t.Fatalf("one run: %+v, %v", run.Plan, err)
	}
	plan, err := c.PlanDeleteAll(ctx, memory.Owner{Agent: "planner"})
	if err != nil || len(plan.Plan.Memories) != 2 {
		t.Fatalf("%+v, %v", plan.Plan, err)
	}
	for _, s := range []memory.Owner{{Agent: "cook"}, {Agent: "planner", Run: "1"}, {User: "somebody else"}} {
		if _, err := c.DeleteAll(ctx, s, plan.Confirm); err == nil {
			t.Fatalf("a plan for an agent was confirmed for %+v", s)
		}
	}
	if _, err := c.Forget(ctx, plan.Confirm); err == nil {
		t.Fatal("confirmed without the owner")
	}
	done, err := c.DeleteAll(ctx, memory.Owner{Agent: "planner"}, plan.Confirm)
	if err != nil || done.Result == nil || done.Result.Memories != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	for id, gone := range map[memory.ID]bool{one: true, two: true, mine: false, other: false} {
		if _, err := c.Get(ctx, id.String()); errors.Is(err, memory.ErrNotFound) != gone {
			t.Errorf("%s: %v", id, err)
		}
	}
	var p *serve.Problem
	if _, err := c.DeleteAll(ctx, memory.Owner{Agent: "planner"}, plan.Confirm); !errors.As(err, &p) || p.Status != http.StatusGone {
		t.Errorf("twice: %v", err)
	}
}
