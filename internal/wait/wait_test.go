package wait

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if !For(t.Context(), time.Hour) || time.Since(began) != time.Hour {
			t.Errorf("an hour took %v", time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began = time.Now()
		if For(ctx, time.Hour) || time.Since(began) != time.Minute {
			t.Errorf("the end of the context was heard after %v", time.Since(began))
		}
		if For(ctx, -time.Second) {
			t.Error("a context that ended is alive")
		}
	})
}

// After failures waits double up to the most, none is under half of that, and no
// two who failed together wait alike.
func TestPace(t *testing.T) {
	most := []time.Duration{1, 2, 4, 8, 10, 10, 10}
	var firsts []time.Duration
	for range 200 {
		p := Pace{First: time.Second, Most: 10 * time.Second}
		for i, m := range most {
			d := p.Next()
			if m *= time.Second; d > m || d <= m/2 {
				t.Fatalf("wait %d is %v, want more than half of %v and no more", i+1, d, m)
			}
			if i == 0 {
				firsts = append(firsts, d)
			}
		}
		p.Reset()
		if d := p.Next(); d > time.Second {
			t.Fatalf("after a success: %v", d)
		}
	}
	slices.Sort(firsts)
	if n := len(slices.Compact(firsts)); n < 100 {
		t.Errorf("of 200 first waits %d are apart", n)
	}
}
