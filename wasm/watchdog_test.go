package wasm

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestWatchdog: it bites once: at the limit of the worker's own time, at twice that plus a second
// on the clock if the worker sleeps, or at ten times that. It reports whether the machine had no
// time for the worker, and, before it bites, once that the call is a long one, if it is.
func TestWatchdog(t *testing.T) {
	for name, c := range map[string]struct {
		share   int // share of the time on the clock that the worker gets, in percent
		queue   int // that it waits for a processor, in percent
		after   time.Duration
		starved bool
		tires   int
	}{
		"it has the machine to itself":   {100, 0, time.Second, false, 1},
		"half of it":                     {50, 50, 1880 * time.Millisecond, false, 1},
		"hardly any of it":               {2, 98, 10 * time.Second, true, 1},
		"hardly any, and wants no more":  {2, 10, 10 * time.Second, false, 1},
		"it sleeps":                      {0, 0, 3 * time.Second, false, 0},
		"it waits, and gets none at all": {0, 100, 3 * time.Second, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				bites, tires := make(chan time.Duration, 2), make(chan bool, 2)
				share := func(percent int) func() time.Duration {
					return func() time.Duration { return time.Since(began) * time.Duration(percent) / 100 }
				}
				w := watch(time.Second, watched{used: share(c.share), waited: share(c.queue), tire: func() { tires <- len(bites) == 0 }, bite: func(starved bool) {
					if starved != c.starved {
						t.Errorf("starved: %v", starved)
					}
					bites <- time.Since(began)
				}})
				time.Sleep(time.Minute)
				if len(bites) != 1 || !w.stop() {
					t.Fatalf("%d bites, want one", len(bites))
				}
				if at := <-bites; at < c.after-130*time.Millisecond || at > c.after+130*time.Millisecond {
					t.Errorf("it bit after %v, want %v", at, c.after)
				}
				if len(tires) != c.tires || c.tires > 0 && !<-tires {
					t.Errorf("it told of a long call %d times, want %d, before it bit", len(tires), c.tires)
				}
			})
		})
	}
}

// TestWatchdogStopped: a look that is running when the answer comes neither bites nor looks again,
// because the worker is at the next call by then.
func TestWatchdogStopped(t *testing.T) {
	for name, used := range map[string]time.Duration{"its time is up": time.Hour, "it has some left": 0} {
		bit := false
		none := func() time.Duration { return 0 }
		w := watch(time.Hour, watched{used: none, waited: none, bite: func(bool) { bit = true }})
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
