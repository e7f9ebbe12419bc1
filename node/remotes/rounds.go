package remotes

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/locket-dev/locket/internal/retry"
	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/internal/span"
	"github.com/locket-dev/locket/internal/wait"
)

func (pl *remote) progress(done, todo int) {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	pl.done, pl.todo = done, todo
}

// round does one round with a remote and records the result.
func (p *Remotes) round(ctx context.Context, pl *remote) error {
	ctx, work := span.Ask(ctx, "sync with a remote")
	pl.round.Lock()
	defer pl.round.Unlock()
	pl.mu.Lock()
	pl.busy = true
	pl.mu.Unlock()
	pl.carrier.Owner = p.owner()
	err := pl.carrier.Round(ctx)
	work.End(err)
	pl.mu.Lock()
	defer pl.mu.Unlock()
	pl.busy, pl.err, pl.standing, pl.lacks, pl.retry = false, err, pl.carrier.Standing(), pl.carrier.Lacks(), time.Time{}
	pl.blobs, pl.late = pl.carrier.Waiting(), pl.carrier.Waits()
	return err
}

func (p *Remotes) all() []*remote {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []*remote
	for _, pl := range p.at {
		out = append(out, pl)
	}
	return out
}

// Round does one round with every remote at the same time. The status of each
// has its result; the error joins all errors.
func (p *Remotes) Round(ctx context.Context) error {
	all := p.all()
	errs := make([]error, len(all))
	var rounds sync.WaitGroup
	for i, pl := range all {
		rounds.Go(func() { errs[i] = p.round(ctx, pl) })
	}
	rounds.Wait()
	return errors.Join(errs...)
}

// Status returns the status of each remote: the primary first, then by name.
func (p *Remotes) Status() []Status {
	house := p.Primary()
	var out []Status
	for _, pl := range p.all() {
		pl.mu.Lock()
		s := Status{Name: pl.url, Primary: pl.name == house, Peer: pl.peer, Synced: pl.standing.Synced, Err: pl.err, Lacks: pl.lacks, Blobs: pl.blobs,
			Busy: pl.busy, Done: pl.done, Todo: pl.todo, Retry: pl.retry, Trouble: pl.standing.Trouble}
		pl.mu.Unlock()
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

// Start exchanges as things come, until Stop.
func (p *Remotes) Start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.life != nil {
		return
	}
	p.life, p.end = context.WithCancel(span.With(context.Background(), p.c.Spans))
	for _, pl := range p.at {
		p.begin(pl)
	}
}

// begin starts the loop of a remote. The caller holds the lock.
func (p *Remotes) begin(pl *remote) {
	ctx, stop := context.WithCancel(p.life)
	pl.stop = stop
	run := p.run
	if pl.peer {
		run = p.meetPeer
	}
	p.loops.Go(func() { run(ctx, pl) })
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

func (p *Remotes) run(ctx context.Context, pl *remote) {
	pace, again := retry.Backoff{First: firstWait, Most: longWait}, firstWait
	for ctx.Err() == nil {
		changed := p.Shelf.Changed()
		err := p.round(ctx, pl)
		if err == nil {
			pace.Reset()
			listening, stop := context.WithCancel(ctx)
			if pl.waits() { // the replica will hear of what came
				listening, stop = context.WithTimeout(ctx, again)
				again = min(2*again, longWait)
			} else {
				again = firstWait
			}
			pl.listen(listening, changed)
			stop()
			continue
		}
		if ctx.Err() != nil {
			return
		}
		p.c.Log.Warn("sync: will be tried again", "place", pl.name, "error", err)
		pause := pace.Next()
		if p.c.After != nil {
			pause = max(pause, p.c.After(err))
		}
		pl.mu.Lock()
		pl.retry = p.c.Now().Add(pause)
		pl.mu.Unlock()
		wait.For(ctx, pause)
	}
}

func (pl *remote) waits() bool {
	pl.mu.Lock()
	defer pl.mu.Unlock()
	return pl.late
}

// listen returns when there may be something to exchange.
func (pl *remote) listen(ctx context.Context, changed <-chan struct{}) {
	pl.mu.Lock()
	after := pl.standing.Cursor
	pl.mu.Unlock()
	listening, stop := context.WithCancel(ctx)
	defer stop()
	heard := make(chan error, 1)
	go func() { heard <- pl.carrier.At.Wait(listening, after) }()
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
