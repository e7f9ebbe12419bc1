package replica

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// An op that comes after a silence is sent at once; the following ones are sent together, and no
// later than the delay after the previous delta.
func TestOpsAreBatched(t *testing.T) {
	g := batching{delay: 300 * time.Millisecond}
	start := time.Unix(1_790_000_000, 0)
	for i, c := range []struct{ at, wait time.Duration }{
		{0, 0},
		{100 * time.Millisecond, 200 * time.Millisecond}, // is sent at 300
		{310 * time.Millisecond, 290 * time.Millisecond}, // is sent at 600
		{time.Hour, 0},
		{time.Hour - 10*time.Minute, 300 * time.Millisecond}, // the clock was set back
	} {
		if got := g.wait(start.Add(c.at)); got != c.wait {
			t.Errorf("%d: waits %v, want %v", i, got, c.wait)
		}
	}
}

// lingering is a remote whose stream takes some time to end.
type lingering struct {
	Remote
	end chan struct{}
}

func (l lingering) StopIdleStream() { <-l.end }

// Each Stop waits for the end of what Start began, even if somebody else has stopped it.
func TestStopTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := lingering{end: make(chan struct{})}
		r := &Replica{c: Config{Remote: at}}
		r.life, r.cancel = context.WithCancel(t.Context())
		r.cancel() // nothing is synced: the loop ends at once, and waits for its remote
		r.Start()
		var stopped atomic.Int32
		for range 2 {
			go func() { r.Stop(); stopped.Add(1) }()
			synctest.Wait()
		}
		if n := stopped.Load(); n != 0 {
			t.Errorf("%d have stopped, and it runs", n)
		}
		close(at.end)
		synctest.Wait()
		if n := stopped.Load(); n != 2 || r.Running() {
			t.Errorf("%d have stopped", n)
		}
	})
}
