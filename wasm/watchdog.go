package wasm

import (
	"sync"
	"time"
)

// watchdog ends a worker that is late with one request. Once it was stopped it
// bites nobody: the worker may be busy with the next one by then.
type watchdog struct {
	limit    time.Duration
	asleep   time.Time // until then it may have used next to nothing
	deadline time.Time
	used     func() time.Duration // processor time of the worker
	before   time.Duration        // of that, when the request began
	bite     func()

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
	bit     bool
}

// A worker that has used less than a share of its limit after twice the limit
// and a second on the clock waits for something other than the processor: no
// machine is so busy. The second is for a limit of some milliseconds.
const (
	sleepShare  = 100 // of the limit, so many parts
	sleepFactor = 2
	sleepMore   = time.Second
)

// watch begins to watch. It calls bite, once: after limit of the worker's
// time; if it sleeps, as soon as that is plain; and after patience times the
// limit on the clock in any case.
func watch(limit time.Duration, used func() time.Duration, bite func()) *watchdog {
	now := time.Now()
	w := &watchdog{limit: limit, asleep: now.Add(sleepFactor*limit + sleepMore), deadline: now.Add(limit * patience), used: used, before: used(), bite: bite}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(limit, w.look)
	return w
}

// look is called when the time may be up.
func (w *watchdog) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	// Where the machine had no time for the worker, it gets more.
	took, now, until := w.used()-w.before, time.Now(), w.deadline
	if took < w.limit/sleepShare && w.asleep.Before(until) {
		until = w.asleep
	}
	if left := w.limit - took; left > w.limit/8 && now.Before(until) {
		w.timer.Reset(min(left, until.Sub(now)))
		return
	}
	w.bit = true
	w.bite()
}

// stop ends the watch, and reports whether it bit. It is safe to call twice.
func (w *watchdog) stop() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
	return w.bit
}
