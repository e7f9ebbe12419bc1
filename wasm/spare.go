package wasm

import (
	"context"
	"slices"
	"sync"
)

// spare is a worker of a domain's that has its plugins loaded, is confined,
// and waits for the one at work to be killed. There is none before a call has
// become a long one: then it is made while that call goes on. It was given no
// event. It is made at rankSpare: it has the time until the deadline, and the
// node has other work.
type spare struct {
	mu     sync.Mutex
	ready  chan struct{} // closed when it was made; nil: there is no spare
	cancel context.CancelFunc
	proc   *process // nil, when ready is closed: it could not be made
}

// prepare begins to make a spare, unless there is one. The plugins are those of
// the worker that runs, and stay so while the spare is there. d.mu is held, if
// perhaps by the call that waits for the worker.
func (d *domain) prepare() {
	s := &d.spare
	if d.host.opt.NoSpare {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, plugins := make(chan struct{}), slices.Clone(d.plugins)
	s.ready, s.cancel = ready, cancel
	go func() { // drop and take wait for it
		defer close(ready)
		// What is wrong, the start of another will say.
		s.proc, _ = d.start(ctx, plugins, true)
	}()
}

// take gives the spare, or nil where there is none or it could not be made. It
// waits for one that is being made.
func (s *spare) take(ctx context.Context) *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready == nil {
		return nil
	}
	defer context.AfterFunc(ctx, s.cancel)()
	<-s.ready
	defer s.cancel()
	proc := s.proc
	s.ready, s.cancel, s.proc = nil, nil, nil
	return proc
}

// drop ends the spare.
func (s *spare) drop() error {
	s.mu.Lock()
	cancel := s.cancel
	s.mu.Unlock()
	if cancel != nil {
		cancel()
	}
	if proc := s.take(context.Background()); proc != nil {
		return proc.end()
	}
	return nil
}

// long is called while the worker is busy with a call that has become a long
// one.
func (d *domain) long() {
	if d.last {
		d.proc.lower(rankLate)
	} else {
		d.proc.lower(rankLong)
	}
	d.prepare()
}

// turn waits until no other worker is at the node's weight. done gives the turn
// to the next, and may be called twice. d.mu is held.
func (d *domain) turn(ctx context.Context) (done func(), err error) {
	select {
	case d.host.turn <- struct{}{}:
		return sync.OnceFunc(func() { <-d.host.turn }), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
