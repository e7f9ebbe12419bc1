package wasm

import (
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/wasm/abi"
)

// Extract passes an event to the plugin, without what it was not granted, and checks its answer.
// Nothing in the answer points into the plugin's memory. After a fault the error is a *Fault, and
// the answer is empty.
//
// If the earlier turns are the cause of a fault, every following line would fail, too. So the event
// is passed again without them, and only if that fails as well has the call failed; both together
// count as one fault. A plugin that redacts is not asked again, because without the earlier turns
// it may miss half of a secret.
//
// A call in machine code can't be interrupted: ctx is checked before it begins, and fuel ends it.
func (p *Plugin) Extract(ctx context.Context, e *abi.Event) (abi.Output, Usage, error) {
	out, u, err := p.extract(ctx, e)
	var f *Fault
	if !errors.As(err, &f) {
		return out, u, err
	}
	p.fault(f, u)
	if f.Disabled || f.Kind == FaultStarved || len(e.Before) == 0 || !p.grants[CapContext] || p.grants[CapRedact] {
		return abi.Output{}, u, err
	}
	alone := *e
	alone.Before = nil
	out, again, failed := p.extract(ctx, &alone)
	again.Fuel, again.Time, again.Late = again.Fuel+u.Fuel, again.Time+u.Time, again.Late || u.Late
	if errors.As(failed, new(*Fault)) {
		return abi.Output{}, again, err
	}
	return out, again, failed
}

// extract is a call of Extract. It does not count a fault.
func (p *Plugin) extract(ctx context.Context, e *abi.Event) (abi.Output, Usage, error) {
	switch {
	case p.tally.disabled.Load():
		return abi.Output{}, Usage{}, fmt.Errorf("%w: %s", ErrDisabled, p.manifest.ID)
	case !p.manifest.Takes(e.Kind):
		return abi.Output{}, Usage{}, fmt.Errorf("%w: plugin %s, %q", ErrKind, p.manifest.ID, e.Kind)
	}
	granted := p.strip(e)
	buf, ok := p.buffers.Get().(*buffer)
	if !ok {
		buf = &buffer{}
	}
	defer p.buffers.Put(buf)
	buf.b = abi.AppendEvent(buf.b[:0], &granted)
	input := buf.b
	if len(input) > abi.MaxInput {
		return abi.Output{}, Usage{In: len(input)}, fmt.Errorf("%w: %d bytes, at most %d", ErrInput, len(input), abi.MaxInput)
	}
	var out abi.Output
	u, err := p.perform(ctx, &granted, input, func(a answer, u *Usage) (err error) {
		out, err = p.decode(a, &granted, u)
		return err
	})
	if err == nil || errors.Is(err, ErrPlugin) {
		p.tally.clean(u)
	}
	return out, u, err
}

// perform passes the input to an instance, in this process or in the worker, and calls use with the
// answer, which is only valid during that call.
func (p *Plugin) perform(ctx context.Context, e *abi.Event, input []byte, use func(answer, *Usage) error) (u Usage, err error) {
	if p.domain != nil {
		return p.domain.perform(ctx, p, e, input, use)
	}
	in, err := p.acquire(ctx)
	if err != nil {
		return Usage{Fresh: true}, err
	}
	a, u, err := in.call(input, e.At, e.ID)
	if err == nil {
		err = use(a, &u)
	}
	var f *Fault
	if errors.As(err, &f) {
		// Its state can't be trusted any more.
		return u, errors.Join(err, p.discard(ctx, in))
	}
	p.put(in)
	return u, err
}

// buffer is a buffer for encoded events.
type buffer struct{ b []byte }

// strip returns the part of the event that the plugin may see.
func (p *Plugin) strip(e *abi.Event) abi.Event {
	g := *e
	if !p.grants[CapContext] {
		g.Before = nil
	}
	if !p.grants[CapState] {
		g.State = nil
	}
	if !p.grants[CapMemories] {
		g.Memories = nil
	}
	if !p.grants[CapRGB] {
		g.RGB = nil
	}
	Scale(&g, p.manifest.Side)
	return g
}
