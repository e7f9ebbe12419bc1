package wasm

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestWatchdog: it bites at the limit of the worker's own time, at twice that
// and a second on the clock if it sleeps, or at ten times that, and once.
func TestWatchdog(t *testing.T) {
	for name, c := range map[string]struct {
		share int // of the clock's time that the worker gets, in percent
		after time.Duration
	}{"it has the machine to itself": {100, time.Second}, "half of it": {50, 1880 * time.Millisecond}, "hardly any of it": {2, 10 * time.Second}, "it sleeps": {0, 3 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				bites := make(chan time.Duration, 2)
				w := watch(time.Second, func() time.Duration { return time.Since(began) * time.Duration(c.share) / 100 }, func() { bites <- time.Since(began) })
				time.Sleep(time.Minute)
				if len(bites) != 1 || !w.stop() {
					t.Fatalf("%d bites, want one", len(bites))
				}
				if at := <-bites; at < c.after-130*time.Millisecond || at > c.after+130*time.Millisecond {
					t.Errorf("it bit after %v, want %v", at, c.after)
				}
			})
		})
	}
}

// TestWatchdogStopped: a look that was under way as the answer came neither
// bites nor looks again: the worker is at the next call by then.
func TestWatchdogStopped(t *testing.T) {
	for name, used := range map[string]time.Duration{"its time is up": time.Hour, "it has some left": 0} {
		bit := false
		w := watch(time.Hour, func() time.Duration { return 0 }, func() { bit = true })
		w.used = func() time.Duration { return used }
		if w.stop() {
			t.Errorf("%s: it bit before", name)
		}
		w.look()
		if bit || w.timer.Stop() {
			t.Errorf("%s: bit %v, or looks again", name, bit)
		}
	}
}
