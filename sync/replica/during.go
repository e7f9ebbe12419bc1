package replica

import "context"

// During tells of the round that runs, without waiting for it: how much it has
// taken and sent so far, and else how the replica was when it began. Pending and
// Problems are left to [Replica.Waiting] and the journal. ok: one runs.
func (r *Replica) During() (s Status, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.during == nil {
		return Status{}, false
	}
	return *r.during, true
}

// Waiting counts what the outbox has to send, up to 1000. It waits for no round,
// and must not be called once the journal is closed.
func (r *Replica) Waiting(ctx context.Context) (n int, err error) {
	out, err := r.c.Journal.Outbox(ctx, statusPage)
	for _, o := range out {
		if o.Op != nil || !o.Blob.IsZero() {
			n++
		}
	}
	return n, err
}

// under begins the account of a round, which is held, and gives what ends it.
func (r *Replica) under() (over func(error)) {
	s := r.standing()
	s.Busy = true
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != nil {
		s.Error = Told(r.last)
	}
	r.during = &s
	return func(err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.last, r.during = err, nil
	}
}

// mark notes in the account of a round, if one runs, what it has done.
func (r *Replica) mark(note func(*Status)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.during != nil {
		note(r.during)
	}
}
