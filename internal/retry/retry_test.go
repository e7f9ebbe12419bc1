package retry

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// After failures, waits double up to the limit, none is below half of that, and two that failed
// together do not wait equally long.
func TestBackoff(t *testing.T) {
	most := []time.Duration{1, 2, 4, 8, 10, 10, 10}
	var firsts []time.Duration
	for range 200 {
		b := Backoff{First: time.Second, Most: 10 * time.Second}
		for i, m := range most {
			d := b.Next()
			if m *= time.Second; d > m || d <= m/2 {
				t.Fatalf("wait %d is %v, want more than half of %v and no more", i+1, d, m)
			}
			if again := After(i+1, time.Second, 10*time.Second); again > m || again <= m/2 {
				t.Fatalf("after %d failures: %v, want more than half of %v and no more", i+1, again, m)
			}
			if i == 0 {
				firsts = append(firsts, d)
			}
		}
		b.Reset()
		if d := b.Next(); d > time.Second {
			t.Fatalf("after a success: %v", d)
		}
	}
	slices.Sort(firsts)
	if n := len(slices.Compact(firsts)); n < 100 {
		t.Errorf("of 200 first waits %d are apart", n)
	}
}

func TestBackoffEdges(t *testing.T) {
	for _, b := range []Backoff{{First: time.Hour, Most: time.Second}, {First: 1, Most: 1}} {
		for range 3 {
			if d := b.Next(); d <= 0 || d > b.Most {
				t.Errorf("%v of %v", d, b.Most)
			}
		}
	}
	if d := After(1_000_000, time.Second, time.Minute); d > time.Minute || d <= 30*time.Second {
		t.Errorf("after a million failures: %v", d)
	}
}

func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Minute)
		defer cancel()
		b, began := Backoff{First: time.Hour, Most: 2 * time.Hour}, time.Now()
		if !b.Wait(ctx) || time.Since(began) > time.Hour || time.Since(began) <= 30*time.Minute {
			t.Errorf("the first wait took %v", time.Since(began))
		}
		if b.Wait(ctx) || time.Since(began) != 90*time.Minute {
			t.Errorf("the end of the context was heard after %v", time.Since(began))
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for v, want := range map[string]time.Duration{"": 0, "3": 3 * time.Second, " 3 ": 3 * time.Second, "-1": 0, "99999": time.Hour, "soon": 0,
		now.Add(time.Minute).Format(http.TimeFormat): time.Minute, now.Add(-time.Minute).Format(http.TimeFormat): 0} {
		if got := Asked(v, now, time.Hour); got != want {
			t.Errorf("%q: %v, want %v", v, got, want)
		}
	}
}
