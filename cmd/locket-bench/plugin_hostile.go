package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/locket-dev/locket/cmd/locket-bench/guests"
	"github.com/locket-dev/locket/internal/day"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
)

func spinEvent() *abi.Event {
	e := textEvent(9)
	e.Text = "spin"
	return e
}

// spinFor has a plugin in its worker spin until it is ended, and tells when
// that was.
func spinFor(ctx context.Context, p *wasm.Plugin) (time.Time, error) {
	_, _, err := p.Extract(ctx, spinEvent())
	var f *wasm.Fault
	if !errors.As(err, &f) || f.Kind != wasm.FaultTime && f.Kind != wasm.FaultStarved || f.Ended.IsZero() {
		return time.Time{}, fmt.Errorf("the guest should have spun until it was ended: %w", err)
	}
	return f.Ended, nil
}

// recovery is how long after the deadline of a call that spins the next one
// is answered, by a new worker.
func (b *pluginBench) recovery() error {
	const deadline = 100 * time.Millisecond
	for _, g := range []struct {
		kind guests.Kind
		name string
	}{{guests.C, "recover_after_deadline"}, {guests.Go, "recover_after_deadline_go"}} {
		if !b.has(g.kind) {
			continue
		}
		m := guestManifest()
		m.Limits.TimeMS = int(deadline / time.Millisecond)
		err := b.loaded(g.kind, m, true, func(p *wasm.Plugin) error {
			ask := callPlugin(b.ctx, p, textEvent(200))
			var took []float64
			for range b.rounds {
				if err := ask(); err != nil {
					return err
				}
				ended, err := spinFor(b.ctx, p)
				if err != nil {
					return err
				}
				if err := ask(); err != nil {
					return err
				}
				took = append(took, time.Since(ended).Seconds()*1000)
			}
			b.add(result{Case: g.name, N: len(took), Value: percentile(took, 50), Unit: "ms", Note: fmt.Sprintf("p90 %.1f; the spare worker, made while the call spun", percentile(took, 90))})
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	return nil
}

// spin searches a node, in turns with and without a plugin that spins in a
// worker of this process, one call after the other.
func (b *pluginBench) spin(cache string, lines int) (err error) {
	if !b.has(guests.C) {
		return nil
	}
	l, err := newLife(b.ctx, cache, "User")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	made := generate(1, lines, 50)
	start := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	events := make([]day.Event, lines)
	for i, t := range made.lines {
		events[i] = said("talk", i+1, memory.Event{At: start.Add(time.Duration(i) * time.Minute), Zone: "UTC", Text: t.text, Speaker: "User"})
	}
	if err := l.happen(b.ctx, "talk", events); err != nil {
		return err
	}
	var took [2][]float64 // ms: quiet, while it spins
	var pauses [2]float64
	search := func(into int) error {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for _, q := range made.queries {
			begin := time.Now()
			if _, err := l.search(b.ctx, q.text, start); err != nil {
				return err
			}
			took[into] = append(took[into], time.Since(begin).Seconds()*1000)
		}
		runtime.GC() // there is one in each turn at least
		runtime.ReadMemStats(&after)
		for n := before.NumGC; n < after.NumGC; n++ {
			pauses[into] = max(pauses[into], float64(after.PauseNs[n%256])/1e6)
		}
		return nil
	}
	m := guestManifest()
	m.Limits.TimeMS = 250
	err = b.loaded(guests.C, m, true, func(p *wasm.Plugin) error {
		if err := search(0); err != nil { // warms up
			return err
		}
		took[0] = nil
		for range b.rounds {
			if err := search(0); err != nil {
				return err
			}
			stop, failed := make(chan struct{}), make(chan error, 1)
			var wg sync.WaitGroup
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					if _, err := spinFor(b.ctx, p); err != nil {
						failed <- err
						return
					}
				}
			})
			err := search(1)
			close(stop)
			wg.Wait()
			select {
			case e := <-failed:
				err = errors.Join(err, e)
			default:
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	quiet, spun := percentile(took[0], 99), percentile(took[1], 99)
	b.add(result{Case: "recall_p99_under_spin", N: len(took[1]), Value: 100 * (spun - quiet) / quiet, Unit: "%", Note: fmt.Sprintf("added: p99 %.2f ms quiet, %.2f while it spins; p50 %.2f and %.2f", quiet, spun, percentile(took[0], 50), percentile(took[1], 50))})
	b.add(result{Case: "gc_pause_under_spin", N: len(took[1]), Value: pauses[1], Unit: "ms", Note: fmt.Sprintf("the longest; %.3f ms quiet", pauses[0])})
	return nil
}
