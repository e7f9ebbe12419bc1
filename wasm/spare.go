package wasm

import (
	"context"
	"slices"
	"sync"
)

// spare is a worker of a domain that has loaded its plugins and applied its restrictions, and waits
// for the working one to be killed. It is only made once a call has become a long one, while that
// call continues. It has received no event. It is made at rankSpare, because it has time until the
// deadline, and the node has other work.
type spare struct {
	mu     sync.Mutex
	ready  chan struct{} // closed once it is made; nil: there is no spare
	cancel context.CancelFunc
	proc   *process // nil after ready is closed: it could not be made
}

// prepare begins to make a spare, unless there is one. Its plugins are those of the running worker,
// and do not change while the spare exists. d.mu is held, possibly by the call that waits for the
// worker.
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
		// If something is wrong, the next start will report it.
		s.proc, _ = d.start(ctx, plugins, true)
	}()
}

// take returns the spare, or nil if there is none or it could not be made. It waits for one that is
// being made.
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

// long is called while the worker is busy with a call that has become a long one.
func (d *domain) long() {
	if d.last {
		d.proc.lower(rankLate)
	} else {
		d.proc.lower(rankLong)
	}
	d.prepare()
}

// turn waits until no other worker runs at the node's weight. done passes the turn to the next, and
// may be called twice. The caller holds d.mu.
func (d *domain) turn(ctx context.Context) (done func(), err error) {
	select {
	case d.host.turn <- struct{}{}:
		return sync.OnceFunc(func() { <-d.host.turn }), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
