package remotes

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/sync/envelope"
)

func (r *remote) progress(done, todo int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done, r.todo = done, todo
}

// round runs one round with a remote and records the result.
func (p *Remotes) round(ctx context.Context, r *remote) error {
	ctx, work := span.Ask(ctx, "sync with a remote")
	r.round.Lock()
	defer r.round.Unlock()
	r.mu.Lock()
	r.busy = true
	r.mu.Unlock()
	r.carrier.Owner = p.owner()
	err := r.carrier.Round(ctx)
	work.End(err)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy, r.err, r.standing, r.lacks, r.retry = false, err, r.carrier.Standing(), r.carrier.MissingDeltas(), time.Time{}
	r.blobs, r.late = r.carrier.Waiting(), r.carrier.HasPendingDeletes()
	return err
}

func (p *Remotes) all() []*remote {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Collect(maps.Values(p.at))
}

// Round runs one round with every remote at the same time. The status of each has its
// result; the error joins all errors.
func (p *Remotes) Round(ctx context.Context) error {
	all := p.all()
	errs := make([]error, len(all))
	var rounds sync.WaitGroup
	for i, r := range all {
		rounds.Go(func() { errs[i] = p.round(ctx, r) })
	}
	rounds.Wait()
	return errors.Join(errs...)
}

// Status returns the status of each remote: the primary first, then by name.
func (p *Remotes) Status() []Status {
	primary := p.Primary()
	var out []Status
	for _, r := range p.all() {
		r.mu.Lock()
		s := Status{Name: r.url, Primary: r.name == primary, Peer: r.peer, Member: r.member, Synced: r.standing.Synced, Err: r.err, Lacks: r.lacks, Blobs: r.blobs,
			Busy: r.busy, Done: r.done, Todo: r.todo, Retry: r.retry, Trouble: r.standing.Trouble}
		r.mu.Unlock()
		out = append(out, s)
	}
	sorting.Sort(out, func(a, b Status) int {
		switch {
		case a.Primary != b.Primary && a.Primary:
			return -1
		case a.Primary != b.Primary:
			return 1
		case a.Name < b.Name:
			return -1
		}
		return 1
	})
	return out
}

// BlobRemotes returns which remotes, by their URLs, have a blob as far as is known. here
// reports whether the envelope store has its bytes, to send them to others.
func (p *Remotes) BlobRemotes(id envelope.Hash) (given map[string]bool, here bool) {
	given = map[string]bool{}
	for _, r := range p.all() {
		r.mu.Lock()
		if slices.Contains(r.standing.Blobs, id) {
			given[r.url] = true
		}
		r.mu.Unlock()
	}
	f, _, err := p.Envelopes.OpenBlob(id)
	if err == nil {
		f.Close()
	}
	return given, err == nil
}

// Start exchanges whenever there is something new, until Stop.
func (p *Remotes) Start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life != nil {
		return
	}
	p.life, p.end = context.WithCancel(span.With(context.Background(), p.c.Spans))
	for _, r := range p.at {
		p.begin(r)
	}
}

// begin starts the loop of a remote. The caller holds the lock.
func (p *Remotes) begin(r *remote) {
	ctx, stop := context.WithCancel(p.life)
	r.stop = stop
	run := p.run
	if r.peer {
		run = p.runPeer
	}
	p.loops.Go(func() { run(ctx, r) })
}

// Stop ends what Start began, and waits for it.
func (p *Remotes) Stop() {
	p.mu.Lock()
	if p.end != nil {
		p.end()
	}
	p.life, p.end = nil, nil
	p.mu.Unlock()
	p.loops.Wait()
}

// Delays after failures.
const (
	firstWait = time.Second
	longWait  = 5 * time.Minute
)

func (p *Remotes) run(ctx context.Context, r *remote) {
	pace, again := retry.Backoff{First: firstWait, Most: longWait}, firstWait
	for ctx.Err() == nil {
		changed := p.Envelopes.Changed()
		err := p.round(ctx, r)
		if err == nil {
			pace.Reset()
			listening, stop := context.WithCancel(ctx)
			if p.hasPending(r) {
				listening, stop = context.WithTimeout(ctx, again)
				again = min(2*again, longWait)
			} else {
				again = firstWait
			}
			r.listen(listening, changed)
			stop()
			continue
		}
		if ctx.Err() != nil {
			return
		}
		p.c.Log.Warn("sync: will be tried again", "remote", r.name, "error", err)
		pause := pace.Next()
		if p.c.RetryAfter != nil {
			pause = max(pause, p.c.RetryAfter(err))
		}
		r.mu.Lock()
		r.retry = p.c.Now().Add(pause)
		r.mu.Unlock()
		wait.For(ctx, pause)
	}
}

// hasPending reports whether there will be something to do even if nothing changes: deltas
// that the replica has not heard of yet, or blobs that wait for a connection that is not
// metered.
func (p *Remotes) hasPending(r *remote) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.late || p.c.MeteredVaries && r.blobs > 0
}

// listen returns when there may be something to exchange.
func (r *remote) listen(ctx context.Context, changed <-chan struct{}) {
	r.mu.Lock()
	after := r.standing.Cursor
	r.mu.Unlock()
	listening, stop := context.WithCancel(ctx)
	defer stop()
	heard := make(chan error, 1)
	go func() { heard <- r.carrier.Remote.Wait(listening, after) }()
	select {
	case <-changed:
		stop()
		<-heard
	case err := <-heard:
		if err != nil {
			wait.For(ctx, firstWait)
		}
	}
}
