package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/cmd/locket-bench/guests"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
)

func spinEvent() *abi.Event {
	e := textEvent(9)
	e.Text = "spin"
	return e
}

// spinFor lets a plugin spin in its worker until it is stopped, and returns when that was.
func spinFor(ctx context.Context, p *wasm.Plugin) (time.Time, error) {
	_, _, err := p.Extract(ctx, spinEvent())
	f := outOfTime(err)
	if f == nil || f.Ended.IsZero() {
		return time.Time{}, fmt.Errorf("the guest should have spun until it was ended: %w", err)
	}
	return f.Ended, nil
}

// outOfTime returns the fault of a plugin that ran out of time, whatever used that time. It returns
// nil for any other error.
func outOfTime(err error) *wasm.Fault {
	var f *wasm.Fault
	if errors.As(err, &f) && (f.Kind == wasm.FaultTime || f.Kind == wasm.FaultStarved) {
		return f
	}
	return nil
}

// mostLate is how many rounds a measurement of recovery may lose to a busy machine.
const mostLate = 20

// recovery measures how long after the deadline of a spinning call the next call is answered, by a
// new worker.
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
			late := 0
			for len(took) < b.rounds {
				err := ask()
				var ended time.Time
				if err == nil {
					ended, err = spinFor(b.ctx, p)
				}
				if err == nil {
					err = ask()
				}
				switch {
				case err == nil:
					took = append(took, time.Since(ended).Seconds()*1000)
				case outOfTime(err) != nil && late < mostLate:
					late++ // the machine had no processor for a short call
					p.Enable()
				default:
					return err
				}
			}
			note := fmt.Sprintf("p90 %.1f; the spare worker, made while the call spun", percentile(took, 90))
			if late > 0 {
				note += fmt.Sprintf("; %d rounds lost to a busy machine", late)
			}
			b.add(result{Case: g.name, N: len(took), Value: percentile(took, 50), Unit: "ms", Note: note})
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	return nil
}
