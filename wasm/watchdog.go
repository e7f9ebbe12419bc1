package wasm

import (
	"sync"
	"time"
)

// watchdog ends a worker that is late with one request. After stop it does nothing more, because
// the worker may be busy with the next request.
type watchdog struct {
	watched
	limit    time.Duration
	asleep   time.Time // until then it may have used almost nothing
	deadline time.Time
	before   time.Duration // processor time at the beginning of the request
	looked   time.Time     // time of the first look
	queued   time.Duration // how long it had waited by then

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
	tired   bool
	bit     bool
}

// watched is a worker that is watched.
type watched struct {
	used   func() time.Duration // its processor time so far
	waited func() time.Duration // how long it has waited for a processor so far
	// tire is called once, when the request has taken longCall of processor
	// time. May be nil.
	tire func()
	// bite is called once, when the time is up. starved: the worker was not at fault, because it
	// waited for a processor at least half of the time.
	bite func(starved bool)
}

// A worker that has used less than a share of its limit after twice the limit plus a second on the
// clock is waiting for something. The second is for limits of some milliseconds.
const (
	sleepShare  = 100 // a hundredth of the limit
	sleepFactor = 2
	sleepMore   = time.Second
)

// longCall is how much processor time a call may take before its worker gets no more than what
// others leave: a hundred times what a small event takes.
const longCall = 5 * time.Millisecond

// watch starts a watchdog. It bites after limit of the worker's own time; earlier if the worker
// clearly sleeps; and after patience times the limit on the clock in any case.
func watch(limit time.Duration, p watched) *watchdog {
	now := time.Now()
	w := &watchdog{watched: p, limit: limit, asleep: now.Add(sleepFactor*limit + sleepMore), deadline: now.Add(limit * patience), before: p.used(), tired: p.tire == nil}
	w.mu.Lock()
	defer w.mu.Unlock()
	first := limit
	if !w.tired {
		first = min(limit, longCall)
	}
	w.timer = time.AfterFunc(first, w.look)
	return w
}

// look is called when something may be due.
func (w *watchdog) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	took, now, until := w.used()-w.before, time.Now(), w.deadline
	if w.looked.IsZero() {
		w.looked, w.queued = now, w.waited()
	}
	if took < w.limit/sleepShare && w.asleep.Before(until) {
		until = w.asleep
	}
	left := w.limit - took
	up := left <= w.limit/8
	if !up && now.Before(until) {
		// A worker for which the machine had no time gets more.
		next := min(left, until.Sub(now))
		switch {
		case w.tired:
		case took >= longCall:
			w.tired = true
			w.tire()
		default:
			next = min(next, max(longCall-took, longCall/4))
		}
		w.timer.Reset(next)
		return
	}
	w.bit = true
	w.bite(!up && w.waited()-w.queued >= now.Sub(w.looked)/2)
}

// stop ends the watch, and reports whether it bit. It is safe to call twice.
func (w *watchdog) stop() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
	return w.bit
}
