package wasm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/internal/fuel"
)

// instance is a plugin with its own memory. It runs one call at a time.
type instance struct {
	p       *Plugin
	ctx     context.Context // has the instance as a value, for the host functions
	module  api.Module
	alloc   api.Function
	extract api.Function
	fuel    api.MutableGlobal
	depth   api.Global
	starved api.MutableGlobal
	stack   [2]uint64
	calls   int

	// Of the running call:
	at       int64  // the event's time, ms
	id       string // the event's id
	deadline time.Time
	rng      *rand.ChaCha8
	lines    int
	cause    error // why a host function ended the call
}

// patience is how many times its time limit a call may take before a host call ends it. Until then
// it is only noted as late: fuel limits what it can use, and a busy machine is not the plugin's
// fault.
const patience = 10

type instanceKey struct{}

func instanceOf(ctx context.Context) *instance { return ctx.Value(instanceKey{}).(*instance) }

// start makes an instance. The module's initialisation runs on StartFuel; a failure is a *Fault.
// The caller holds p.mu.
func (p *Plugin) start(ctx context.Context) (*instance, error) {
	in := &instance{p: p}
	in.ctx = context.WithValue(context.WithoutCancel(ctx), instanceKey{}, in)
	var err error
	// The rewriting has made the start function an export, so this runs none of the module's code.
	if in.module, err = p.code.engine.InstantiateModule(withOwnMemory(in.ctx), p.code.compiled, moduleConfig); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrModule, err)
	}
	in.alloc, in.extract = in.module.ExportedFunction("locket_alloc"), in.module.ExportedFunction("locket_extract")
	in.fuel = in.module.ExportedGlobal(fuel.Fuel).(api.MutableGlobal)
	in.starved = in.module.ExportedGlobal(fuel.Starved).(api.MutableGlobal)
	in.depth = in.module.ExportedGlobal(fuel.Depth)
	in.fuel.Set(abi.StartFuel)
	in.deadline = time.Now().Add(patience * abi.MostTime * time.Millisecond * p.host.timeScale())
	version, err := in.begin()
	switch {
	case err != nil:
		err = in.startFault(err)
	case version != abi.Version:
		err = fmt.Errorf("%w: it speaks version %d of the contract, this host %d", ErrModule, version, abi.Version)
	}
	if err != nil {
		return nil, errors.Join(err, in.close())
	}
	p.tally.started()
	return in, nil
}

// begin runs the module's initialisation, and asks for its version.
func (in *instance) begin() (version uint32, err error) {
	for _, name := range []string{fuel.Start, "_initialize"} {
		if f := in.module.ExportedFunction(name); f != nil {
			if _, err := f.Call(in.ctx); err != nil {
				return 0, err
			}
		}
	}
	res, err := in.module.ExportedFunction("locket_abi").Call(in.ctx)
	if err != nil {
		return 0, err
	}
	return uint32(res[0]), nil
}

func (in *instance) startFault(err error) *Fault {
	f := in.fault(err)
	f.Detail = fmt.Errorf("as it started: %w", f.Detail)
	return f
}

func (in *instance) close() error { return in.module.Close(in.ctx) }

// answer is what a plugin returned: nothing, an output, or an error of its own. Its bytes lie in
// the plugin's memory, until the next call.
type answer struct {
	bytes  []byte
	failed bool
}

// call runs the plugin on an encoded event, and returns its answer, of which only the range is
// checked.
func (in *instance) call(input []byte, at int64, id string) (a answer, u Usage, err error) {
	p := in.p
	u.Fresh, u.In = in.calls == 0, len(input)
	in.calls++
	start := time.Now()
	limit := p.limits.Time() * p.host.timeScale()
	in.at, in.id, in.deadline, in.rng, in.lines, in.cause = at, id, start.Add(patience*limit), nil, 0, nil
	in.fuel.Set(uint64(p.limits.Fuel))
	in.starved.Set(0)
	ptr, err := in.run(input)
	u.Time = time.Since(start)
	u.Late = u.Time > limit
	u.Fuel = min(p.limits.Fuel-int64(in.fuel.Get()), p.limits.Fuel)
	u.Memory = int(in.module.Memory().Size())
	u.Lines = in.lines
	if err != nil {
		return a, u, in.fault(err)
	}
	u.Out = int(uint32(ptr) &^ (1 << 31))
	if a, err = in.read(ptr); err != nil {
		return a, u, in.fault(err)
	}
	return a, u, nil
}

// run copies the event in and calls the plugin.
func (in *instance) run(input []byte) (uint64, error) {
	n := uint64(len(input))
	in.stack[0] = n
	if err := in.alloc.CallWithStack(in.ctx, in.stack[:1]); err != nil {
		return 0, err
	}
	ptr := in.stack[0]
	if uint32(ptr) == 0 {
		return 0, place(abi.CodeRange, "locket_alloc(%d): it has no room", n)
	}
	if !in.module.Memory().Write(uint32(ptr), input) {
		return 0, place(abi.CodeRange, "locket_alloc(%d) = %d", n, uint32(ptr))
	}
	in.stack[0], in.stack[1] = ptr, n
	if err := in.extract.CallWithStack(in.ctx, in.stack[:2]); err != nil {
		return 0, err
	}
	return in.stack[0], nil
}

// read finds the answer: ptr<<32 | len, with bit 31 of len for an error.
func (in *instance) read(ptr uint64) (a answer, err error) {
	if ptr == 0 {
		return a, nil
	}
	n := uint32(ptr)
	a.failed = n>>31 == 1
	n &^= 1 << 31
	if n > uint32(in.p.limits.OutputKiB<<10) {
		return a, &abi.Error{Code: abi.CodeLimit, Place: "output"}
	}
	b, ok := in.module.Memory().Read(uint32(ptr>>32), n)
	if !ok {
		return a, &abi.Error{Code: abi.CodeRange, Place: "output"}
	}
	if b == nil {
		b = []byte{}
	}
	a.bytes = b
	return a, nil
}

// decode decodes an answer, and checks it. The result is a copy.
func (p *Plugin) decode(a answer, e *abi.Event, u *Usage) (out abi.Output, err error) {
	if a.bytes == nil {
		return out, nil
	}
	refused := func(err error) error { return &Fault{Plugin: p.manifest.ID, Kind: FaultOutput, Detail: err} }
	if a.failed {
		code, text, err := abi.DecodeError(a.bytes)
		if err != nil {
			return out, refused(err)
		}
		return out, fmt.Errorf("plugin %s: %w %v: %s", p.manifest.ID, ErrPlugin, code, text)
	}
	lim := abi.Limits{Output: p.limits.OutputKiB << 10, Candidates: p.limits.Candidates}
	if err := abi.DecodeOutput(a.bytes, lim, &out); err != nil {
		return abi.Output{}, refused(err)
	}
	if err := p.check(e, &out, u); err != nil {
		return abi.Output{}, refused(err)
	}
	return out, nil
}

// fault derives from the globals and the error what went wrong.
func (in *instance) fault(err error) *Fault {
	f := &Fault{Plugin: in.p.manifest.ID, Kind: FaultTrap}
	var refused *abi.Error
	switch {
	case errors.As(err, &refused):
		f.Kind, f.Detail = FaultOutput, refused
		return f
	case errors.Is(in.cause, ErrFuel):
		f.Kind = FaultFuel
	case int64(in.fuel.Get()) < 0:
		f.Kind = FaultFuel
	case in.depth.Get() > fuel.MaxDepth, strings.Contains(err.Error(), "stack overflow"):
		f.Kind = FaultStack
	case in.starved.Get() != 0:
		f.Kind = FaultMemory
	case errors.Is(in.cause, ErrTime):
		f.Kind = FaultTime
	}
	// After the first line comes a trace of function numbers.
	line, _, _ := strings.Cut(err.Error(), "\n")
	f.Detail = errors.New(line)
	return f
}
