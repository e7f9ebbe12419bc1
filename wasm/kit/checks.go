package kit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
)

func (r *run) empty(ctx context.Context) (string, error) {
	return r.withstands(ctx, emptyEvents(&r.manifest))
}

func (r *run) largest(ctx context.Context) (string, error) {
	return r.withstands(ctx, largestEvents(&r.manifest))
}

func (r *run) much(ctx context.Context) (string, error) {
	list := r.muchEvents()
	if len(list) == 0 {
		return "it found nothing in a text to begin with", errSkip
	}
	return r.withstands(ctx, list)
}

// withstands calls the plugin with events for which it may find nothing, or return an error, but
// must not fault.
func (r *run) withstands(ctx context.Context, list []named) (string, error) {
	var fuel int64
	refused := 0
	err := r.with(ctx, nil, func(_ *wasm.Host, p *wasm.Plugin) error {
		for _, e := range list {
			a, err := r.answer(ctx, p, &e.event)
			switch {
			case errors.Is(err, wasm.ErrInput):
				continue // a host never sends this size
			case err != nil:
				return failf(faultAdvice(err), "%s: %v", e.name, err)
			case len(a.Dropped) > 0:
				return failf("The host leaves such a candidate out; docs/wasm.md says what is right.", "%s: %v", e.name, a.Dropped[0].Reason)
			}
			fuel = max(fuel, a.Fuel)
			if a.Out > 0 {
				refused++
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d events, %d answered; at most %s of its fuel", len(list), refused, percent(Share{fuel, r.limits().Fuel})), nil
}

// later sends an event with keys that are unknown to this version.
func (r *run) later(ctx context.Context) (string, error) {
	err := r.with(ctx, nil, func(_ *wasm.Host, p *wasm.Plugin) error {
		for i := range r.events {
			e := r.events[i].event
			if len(e.Text) > 64 {
				continue
			}
			plain := abi.AppendEvent(nil, &e)
			if plain[0] >= 0xb7 { // no room for one more key in a one-byte head
				continue
			}
			// 48: [{"a": null}, 1.5 as a half], at the end, where keys ascend.
			more := append(bytes.Clone(plain), "\x18\x30\x82\xa1\x61a\xf6\xf9\x3e\x00"...)
			more[0]++
			want, _, err := p.Raw(ctx, &e, plain)
			if err != nil {
				return failf(faultAdvice(err), "%s: %v", r.events[i].name, err)
			}
			got, _, err := p.Raw(ctx, &e, more)
			if err != nil {
				return failf(faultAdvice(err), "%s and a key of a later version: %v", r.events[i].name, err)
			}
			if got.Failed != want.Failed || !bytes.Equal(got.Bytes, want.Bytes) {
				return failf("Skip keys that you don't know, with everything in them: a later host may send more.",
					"%s: with the key 48 the answer differs: %s", r.events[i].name, show(got))
			}
		}
		return nil
	})
	return "keys that it does not know are passed over", err
}

// show formats an answer for a person.
func show(a wasm.Raw) string {
	if a.Failed {
		if code, text, err := abi.DecodeError(a.Bytes); err == nil {
			return fmt.Sprintf("error %d, %q", code, text)
		}
	}
	if len(a.Bytes) > 40 {
		return fmt.Sprintf("%x… (%d bytes)", a.Bytes[:40], len(a.Bytes))
	}
	return fmt.Sprintf("%x", a.Bytes)
}

// foreignState passes state from another version to the plugin.
func (r *run) foreignState(ctx context.Context) (string, error) {
	if !r.manifest.Has(wasm.CapState) {
		return "it keeps none", errSkip
	}
	states := [][]byte{{0}, []byte("state of a version that nobody knows"), bytes.Repeat([]byte{0xff}, 1000), bytes.Repeat([]byte{0x81}, abi.MaxState), nil}
	var own []byte
	err := r.with(ctx, nil, func(_ *wasm.Host, p *wasm.Plugin) error {
		for i := range r.events {
			e := r.events[i].event
			e.State = own
			a, err := r.answer(ctx, p, &e)
			if err != nil {
				return failf(faultAdvice(err), "%s, with its own state: %v", r.events[i].name, err)
			}
			if a.out.State != nil {
				own = bytes.Clone(a.out.State)
			}
		}
		if len(own) > 0 {
			states = append(states, own[:len(own)/2], append(bytes.Clone(own), 1), flipped(own))
		}
		for _, state := range states {
			for i := range r.events {
				e := r.events[i].event
				e.State = state
				if _, err := r.answer(ctx, p, &e); err != nil {
					return failf("An older or newer version may have left the state: begin it with a version, and start anew where you don't know it.",
						"%s, with a state of %d bytes that is not its own: %v", r.events[i].name, len(state), err)
				}
			}
		}
		return nil
	})
	return fmt.Sprintf("%d states that are not its own", len(states)), err
}

func flipped(b []byte) []byte {
	b = bytes.Clone(b)
	for i := range b {
		b[i] ^= byte(i * 7)
	}
	return b
}

// deterministic compares a used instance with fresh ones, and the events in order with the events
// in reverse.
func (r *run) deterministic(ctx context.Context) (string, error) {
	const advice = "Keep nothing in variables from call to call, and don't let the order of a map show; what has to last goes into State."
	fuel := make([]int64, len(r.events))
	err := r.with(ctx, nil, func(_ *wasm.Host, p *wasm.Plugin) error {
		for i := len(r.events) - 1; i >= 0; i-- {
			a, err := r.answer(ctx, p, &r.events[i].event)
			if err != nil {
				return err
			}
			if !bytes.Equal(a.b, r.answers[i]) {
				return failf(advice, "%s: after other events the answer differs", r.events[i].name)
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	// A module in Go takes long to start, so only a few events get a fresh instance, twice each.
	picked := 0
	for i := 0; i < len(r.events); i += max(1, len(r.events)/4) {
		picked++
		for n := range 2 {
			err := r.with(ctx, nil, func(_ *wasm.Host, p *wasm.Plugin) error {
				a, err := r.answer(ctx, p, &r.events[i].event)
				switch {
				case err != nil:
					return err
				case !bytes.Equal(a.b, r.answers[i]):
					return failf(advice, "%s: the answer differs when it is the first event of an instance", r.events[i].name)
				case n == 1 && a.Fuel != fuel[i]:
					return failf(advice, "%s: it took %d units of fuel, and %d another time", r.events[i].name, fuel[i], a.Fuel)
				}
				fuel[i] = a.Fuel
				return nil
			})
			if err != nil {
				return "", err
			}
		}
	}
	return fmt.Sprintf("the same answers forwards, backwards and on %d fresh instances, for the same fuel", 2*picked), nil
}

// twoInstances calls two instances at the same time.
func (r *run) twoInstances(ctx context.Context) (string, error) {
	err := r.with(ctx, nil, func(_ *wasm.Host, p *wasm.Plugin) error {
		errs := make([]error, 2)
		var wg sync.WaitGroup
		for n := range errs {
			wg.Go(func() {
				for k := range r.events {
					i := (k + n*len(r.events)/2) % len(r.events)
					e := r.events[i].event
					a, err := r.answer(ctx, p, &e)
					if err == nil && !bytes.Equal(a.b, r.answers[i]) {
						err = failf("Two instances share nothing: look for what depends on the order of events.", "%s: beside another instance the answer differs", r.events[i].name)
					}
					if err != nil {
						errs[n] = err
						return
					}
				}
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	})
	return "two at a time give the same answers", err
}

// settles calls one instance repeatedly.
func (r *run) settles(ctx context.Context) (string, error) {
	list := r.small()
	var first, last int
	err := r.with(ctx, nil, func(_ *wasm.Host, p *wasm.Plugin) error {
		for n := range r.opt.Repeat {
			if n&255 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			e := list[n%len(list)].event
			a, err := r.answer(ctx, p, &e)
			switch {
			case err != nil:
				return failf(faultAdvice(err), "call %d: %s: %v", n+1, list[n%len(list)].name, err)
			case n > 0 && a.Fresh:
				return failf("", "call %d came to another instance", n+1)
			case n < r.opt.Repeat/2:
				first = max(first, a.Memory)
			default:
				last = max(last, a.Memory)
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if last > first {
		return "", failf("Something is allocated in each call and never freed: reuse buffers.",
			"after %d calls it has %s, after %d %s", r.opt.Repeat/2, kilo(first), r.opt.Repeat, kilo(last))
	}
	return fmt.Sprintf("%s after %d calls as after %d", kilo(max(first, last)), r.opt.Repeat, r.opt.Repeat/2), nil
}

// small returns the good events that take little time, so that thousands of calls do, too.
func (r *run) small() []named {
	var out []named
	for _, e := range r.events {
		if len(e.event.Text) <= 300 && len(e.event.PCM) <= 3200 && e.event.Width*e.event.Height <= 160*120 {
			out = append(out, e)
		}
	}
	if out == nil {
		out = r.events[:1]
	}
	return out
}

// cases runs the author's cases.
func (r *run) cases(ctx context.Context) (string, error) {
	if len(r.opt.Cases) == 0 {
		return "there are none; docs/wasm.md says how to write them", errSkip
	}
	var wrong []string
	err := r.with(ctx, nil, func(_ *wasm.Host, p *wasm.Plugin) error {
		for _, c := range r.opt.Cases {
			if !r.manifest.Takes(c.Event.Kind) {
				wrong = append(wrong, fmt.Sprintf("%s: plugin.toml does not ask for events of kind %q", c.Name, c.Event.Kind))
				continue
			}
			a, err := r.answer(ctx, p, &c.Event)
			if err != nil {
				wrong = append(wrong, fmt.Sprintf("%s: %v", c.Name, err))
			} else if msg := c.compare(&a.out); msg != "" {
				wrong = append(wrong, c.Name+": "+msg)
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if len(wrong) > 0 {
		return "", failf("", "%s", strings.Join(wrong, "\n"))
	}
	return fmt.Sprintf("%d as they should be", len(r.opt.Cases)), nil
}
