package replica

import "context"

// During reports on the running round without waiting for its end: what the
// round has taken and sent so far, and the status from before the round. It
// leaves Pending and Problems empty; [Replica.Waiting] and the journal have
// them. ok reports whether a round is running.
func (r *Replica) During() (s Status, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running == nil {
		return Status{}, false
	}
	return *r.running, true
}

// Waiting returns the number of outbox entries that wait to be sent, at most
// 1000. It does not wait for a round. It must not be called after the journal
// was closed.
func (r *Replica) Waiting(ctx context.Context) (n int, err error) {
	out, err := r.c.Journal.Outbox(ctx, statusPage)
	for _, o := range out {
		if o.Op != nil || !o.Blob.IsZero() {
			n++
		}
	}
	return n, err
}

// beginReport starts the report of a round and returns the function that ends it. The
// caller holds r.round.
func (r *Replica) beginReport() (over func(error)) {
	s := r.statusNow()
	s.Busy = true
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil {
		s.Error = DescribeError(r.last)
	}
	r.running = &s
	return func(err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.last, r.running = err, nil
	}
}

// report updates the report of the running round, if any.
func (r *Replica) report(note func(*Status)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running != nil {
		note(r.running)
	}
}
