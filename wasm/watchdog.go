package wasm

import (
	"sync"
	"time"
)

// watchdog ends a worker that is late with one request. Once it was stopped it
// bites nobody: the worker may be busy with the next one by then.
type watchdog struct {
	limit    time.Duration
	deadline time.Time
	used     func() time.Duration // processor time of the worker
	before   time.Duration        // of that, when the request began
	bite     func()

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
	bit     bool
}

// watch begins to watch. After limit of the worker's time, and after patience
// times as long on the clock in any case, it calls bite, once.
func watch(limit time.Duration, used func() time.Duration, bite func()) *watchdog {
	w := &watchdog{limit: limit, deadline: time.Now().Add(limit * patience), used: used, before: used(), bite: bite}
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
	if left := w.limit - (w.used() - w.before); left > w.limit/8 && time.Now().Before(w.deadline) {
		w.timer.Reset(left)
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
