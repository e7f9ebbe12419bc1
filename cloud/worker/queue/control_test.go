package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

func testPriority(t *testing.T, o Options) {
	q := opened(t, o)
	var tasks []Task
	for i, p := range []Priority{HousekeepingPriority, LowPriority, UrgentPriority, 0} {
		k := task(fmt.Sprint(i), Read)
		k.Priority = p
		tasks = append(tasks, k)
	}
	add(t, q, tasks...)
	var mu sync.Mutex
	var order []string
	working(t, q, func(_ context.Context, r *Running) error {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, r.Subject)
		return nil
	})
	until(t, q, Done, 4)
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(order, " "); got != "2 3 1 0" {
		t.Error(got)
	}
}

func testBudget(t *testing.T, o Options) {
	var hours atomic.Int64 // time since the evening
	o.Budget, o.Now = Cost{Tokens: 100, MicroUSD: 1e6}, func() time.Time {
		return time.Date(2026, 9, 14, 22+int(hours.Load()), 0, 0, 0, time.UTC)
	}
	q := opened(t, o)
	add(t, q, task("a", Caption), task("b", Caption))
	working(t, q, func(ctx context.Context, r *Running) error {
		if err := r.Afford(ctx); err != nil {
			return err
		}
		return errors.Join(r.Book(ctx, Cost{Tokens: 60}), r.Book(ctx, Cost{Tokens: 60, MicroUSD: 5}))
	})
	if j := until(t, q, Done, 1)[0]; j.Cost != (Cost{120, 5}) {
		t.Errorf("%+v", j)
	}
	for {
		j := until(t, q, Waiting, 1)[0]
		if j.Reason == "" {
			continue
		}
		if j.Reason != "today's budget of the space is spent: 120 of 100 tokens" || time.Until(j.Next) < 119*time.Minute || time.Until(j.Next) > 2*time.Hour {
			t.Errorf("%+v", j)
		}
		break
	}
	if c, err := q.Spent(t.Context(), space); err != nil || c != (Cost{120, 5}) {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := q.Spent(t.Context(), memory.SpaceID{9}); err != nil || c != (Cost{}) {
		t.Errorf("another space paid: %+v, %v", c, err)
	}
	hours.Store(2)
	if c, err := q.Spent(t.Context(), space); err != nil || c != (Cost{}) {
		t.Errorf("the next day: %+v, %v", c, err)
	}
	r := &Running{Job: Job{Space: space}, q: q}
	if err := r.Book(t.Context(), Cost{Tokens: -1}); !errors.Is(err, memory.ErrInvalid) {
		t.Error(err)
	}
	// The managers of one job ask concurrently.
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if err := r.Book(t.Context(), Cost{Tokens: 1, MicroUSD: 2}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if r.Cost != (Cost{20, 40}) {
		t.Errorf("%+v", r.Cost)
	}
}

// A person's actions on jobs, through a second opening beside the worker.
func testControl(t *testing.T, o Options) {
	q := opened(t, o)
	add(t, q, task("a", Read), task("b", Read), task("c", Caption))
	var mu sync.Mutex
	fixed := false
	working(t, q, func(_ context.Context, r *Running) error {
		mu.Lock()
		defer mu.Unlock()
		if r.Subject == "c" {
			return nil
		}
		r.By("old")
		if !fixed {
			return &ParkError{Reason: "broken"}
		}
		return nil
	})
	jobs := until(t, q, Parked, 2) // b, a
	until(t, q, Done, 1)
	side, err := OpenBeside(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer side.Close()
	if err := side.Discard(t.Context(), jobs[0].ID); err != nil {
		t.Fatal(err)
	}
	if list := until(t, side, Discarded, 1); len(list) != 1 || list[0].Subject != "b" || list[0].Reason != "JobCancelError: broken" && list[0].Reason != "broken" {
		t.Errorf("%+v", list)
	}
	if c, err := side.Counts(t.Context(), space); err != nil || len(c) != 2 || c[1] != (Count{Kind: Read, Parked: 1, Discarded: 1}) {
		t.Errorf("%+v, %v", c, err)
	}
	if n, err := side.Add(t.Context(), task("b", Read)); n != 0 || err != nil {
		t.Errorf("what was given up came again: %d, %v", n, err)
	}
	if n, err := side.RetryParked(t.Context(), Read, "old"); n != 0 || err != nil {
		t.Errorf("the same engine is not another: %d, %v", n, err)
	}
	mu.Lock()
	fixed = true
	mu.Unlock()
	if n, err := side.RetryParked(t.Context(), Read, "new"); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	until(t, side, Done, 2)
	if err := side.Retry(t.Context(), jobs[0].ID); err != nil {
		t.Error(err)
	}
	done := until(t, side, Done, 3)
	if err := side.Discard(t.Context(), done[0].ID); !errors.Is(err, memory.ErrInvalid) {
		t.Error(err)
	}
	for _, f := range []func(context.Context, int64) error{side.Retry, side.Discard, func(ctx context.Context, id int64) error { _, err := side.Job(ctx, id); return err }} {
		if err := f(t.Context(), 4711); !errors.Is(err, ErrNoJob) || !strings.Contains(err.Error(), "4711") {
			t.Error(err)
		}
	}
	if list, err := side.List(t.Context(), Filter{Limit: 1}); err != nil || len(list) != 1 || list[0].Subject != "c" {
		t.Errorf("%+v, %v", list, err)
	}
}
