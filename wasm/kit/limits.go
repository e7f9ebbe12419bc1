package kit

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/wasm"
)

// Each check below sets one limit so low that the plugin exceeds it, and tests that this has no
// after-effects: the call is a fault of the right kind, and the next answer is right.

// heaviest finds the good event that took the most fuel.
func (r *run) heaviest(ctx context.Context) (at int, fuel int64, err error) {
	err = r.with(ctx, nil, func(_ *wasm.Host, p *wasm.Plugin) error {
		for i := range r.events {
			a, err := r.answer(ctx, p, &r.events[i].event)
			if err != nil {
				return err
			}
			if a.Fuel > fuel {
				at, fuel = i, a.Fuel
			}
		}
		return nil
	})
	return at, fuel, err
}

func (r *run) outOfFuel(ctx context.Context) (string, error) {
	at, fuel, err := r.heaviest(ctx)
	if err != nil {
		return "", err
	}
	err = r.runsInto(ctx, at, wasm.FaultFuel, func(l *wasm.Limits) { l.Fuel = max(fuel/2, 1) })
	return fmt.Sprintf("ended at %d units, half of what the event takes, and correct the next time", fuel/2), err
}

func (r *run) outOfMemory(ctx context.Context) (string, error) {
	peak := int(r.report.Peak.Memory.Used >> 20)
	low := max(1, peak/2)
	if peak == 0 {
		return fmt.Sprintf("%s is less than any limit", kilo(int(r.report.Peak.Memory.Used))), errSkip
	}
	err := r.runsInto(ctx, -1, wasm.FaultMemory, func(l *wasm.Limits) { l.MemoryMiB = low })
	if errors.Is(err, wasm.ErrMemory) || errors.Is(err, wasm.ErrModule) || errors.Is(err, wasm.ErrTrap) {
		return fmt.Sprintf("does not start under %d MiB", low), nil
	}
	return fmt.Sprintf("of %d MiB, and correct the next time", low), err
}

func (r *run) overOutput(ctx context.Context) (string, error) {
	for i, e := range r.events {
		if len(r.answers[i]) > 1<<10 {
			err := r.runsInto(ctx, i, wasm.FaultOutput, func(l *wasm.Limits) { l.OutputKiB = 1 })
			return "refused above 1 KiB, and correct the next time: " + e.name, err
		}
	}
	return "no answer is over 1 KiB", errSkip
}

func (r *run) overCandidates(ctx context.Context) (detail string, err error) {
	at := -1
	err = r.with(ctx, nil, func(_ *wasm.Host, p *wasm.Plugin) error {
		for i := range r.events {
			a, err := r.answer(ctx, p, &r.events[i].event)
			if err != nil {
				return err
			}
			if len(a.out.Candidates) > 1 && at < 0 {
				at = i
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if at < 0 {
		return "no event gives two candidates", errSkip
	}
	err = r.runsInto(ctx, at, wasm.FaultOutput, func(l *wasm.Limits) { l.Candidates = 1 })
	return "refused above 1, and correct the next time: " + r.events[at].name, err
}

// runsInto loads the plugin with a lower limit, and checks that the event at index at exceeds it
// (-1: any event may), and that the others are then still answered correctly.
func (r *run) runsInto(ctx context.Context, at int, kind wasm.FaultKind, lower func(*wasm.Limits)) error {
	return r.with(ctx, lower, func(_ *wasm.Host, p *wasm.Plugin) error {
		met := false
		for i := range r.events {
			if at >= 0 {
				if err := r.fault(ctx, p, at, kind); err != nil {
					return err
				}
				met = true
			}
			a, err := r.answer(ctx, p, &r.events[i].event)
			var f *wasm.Fault
			switch {
			case errors.As(err, &f) && f.Kind == kind:
				met = true
			case err != nil:
				return failf(faultAdvice(err), "%s, with a lower limit: %v, want a fault of %s", r.events[i].name, err, kind)
			case !bytes.Equal(a.b, r.answers[i]):
				return failf("What a call leaves behind must not show in the next.", "%s: after a fault the answer differs", r.events[i].name)
			}
			if at >= 0 && i >= 3 {
				break
			}
		}
		if !met && at >= 0 {
			return failf("", "no event ran into the lower limit")
		}
		return nil
	})
}

func (r *run) fault(ctx context.Context, p *wasm.Plugin, at int, kind wasm.FaultKind) error {
	_, err := r.answer(ctx, p, &r.events[at].event)
	var f *wasm.Fault
	if !errors.As(err, &f) || f.Kind != kind {
		return failf("", "%s, with a lower limit: %v, want a fault of %s", r.events[at].name, err, kind)
	}
	return nil
}
