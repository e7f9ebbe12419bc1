package wasm

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/internal/fuel"
)

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
)

// hostFunction is a function that a module may import from "locket".
type hostFunction struct {
	grant           Capability
	params, results []api.ValueType
	run             func(in *instance, mem api.Memory, stack []uint64)
}

var hostFunctions = map[string]hostFunction{
	"log":    {CapLog, []api.ValueType{i32, i32}, nil, hostLog},
	"config": {CapConfig, []api.ValueType{i32, i32, i32, i32}, []api.ValueType{i32}, hostConfig},
	"now":    {CapNow, nil, []api.ValueType{i64}, hostNow},
}

// link defines the host's functions in the runtime. Which of them a module may use is decided when
// it is loaded.
func link(ctx context.Context, r wazero.Runtime) error {
	b := r.NewHostModuleBuilder("locket")
	for name, f := range hostFunctions {
		define(b, name, f)
	}
	if _, err := b.Instantiate(ctx); err != nil {
		return fmt.Errorf("link the host's functions: %w", err)
	}
	b = r.NewHostModuleBuilder(wasiModule)
	for name, f := range wasiFunctions {
		define(b, name, f)
	}
	if _, err := b.Instantiate(ctx); err != nil {
		return fmt.Errorf("link the WASI stub: %w", err)
	}
	return nil
}

func define(b wazero.HostModuleBuilder, name string, f hostFunction) {
	b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(ctx context.Context, mod api.Module, stack []uint64) {
		in := instanceOf(ctx)
		in.enter()
		f.run(in, mod.Memory(), stack)
	}), f.params, f.results).Export(name)
}

// checkImports refuses, by name, imports that don't exist or were not granted.
func (p *Plugin) checkImports(imports []fuel.Import) error {
	for _, i := range imports {
		f, ok := hostFunctions[i.Name]
		switch {
		case i.Module == "locket" && ok:
			if !p.grants[f.grant] {
				return fmt.Errorf("%w: locket.%s needs the capability %q", ErrImport, i.Name, f.grant)
			}
		case i.Module == wasiModule:
			if _, ok := wasiFunctions[i.Name]; !ok {
				return fmt.Errorf("%w: %s.%s", ErrImport, i.Module, i.Name)
			}
		default:
			return fmt.Errorf("%w: %q.%q", ErrImport, i.Module, i.Name)
		}
	}
	return nil
}

// hostCost is the fuel for every call of a host function, in addition to what it copies: it takes
// about as long as that many turns of a loop.
const hostCost = 16

// enter charges for a call of the host, and ends a late one: here the clock can be checked.
func (in *instance) enter() {
	in.charge(hostCost)
	if time.Now().After(in.deadline) {
		in.end(ErrTime)
	}
}

// charge takes fuel for n units of work that the host does.
func (in *instance) charge(n uint64) {
	left := int64(in.fuel.Get()) - int64(n)
	in.fuel.Set(uint64(left))
	if left < 0 {
		in.end(ErrFuel)
	}
}

// end ends the call from within a host function: wazero turns the panic into the call's error.
func (in *instance) end(cause error) {
	in.cause = cause
	panic(cause)
}

func hostLog(in *instance, mem api.Memory, stack []uint64) {
	in.lines++
	n := uint32(stack[1])
	if in.lines > abi.MaxLogLines {
		return
	}
	p, ok := mem.Read(uint32(stack[0]), min(n, abi.MaxLogLine))
	if ok {
		in.p.logs.add(strings.ToValidUTF8(string(p), "\uFFFD"))
	}
}

// hostConfig writes as much of the value as fits, and returns its length: -1 if there is none.
func hostConfig(in *instance, mem api.Memory, stack []uint64) {
	key, ok := mem.Read(uint32(stack[0]), min(uint32(stack[1]), abi.MaxName))
	value, known := in.p.settings[string(key)]
	if !ok || !known {
		stack[0] = api.EncodeI32(-1)
		return
	}
	room := uint32(stack[3])
	if mem.WriteString(uint32(stack[2]), value[:min(len(value), int(room))]) {
		stack[0] = api.EncodeI32(int32(len(value)))
	} else {
		stack[0] = api.EncodeI32(-1)
	}
}

func hostNow(in *instance, _ api.Memory, stack []uint64) { stack[0] = uint64(in.at) }

// logRing keeps the last lines that a plugin logged.
type logRing struct {
	mu   sync.Mutex
	ring []string
}

const keptLines = 64

func (r *logRing) add(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ring) == keptLines {
		r.ring = append(r.ring[:0], r.ring[1:]...)
	}
	r.ring = append(r.ring, line)
}

func (r *logRing) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ring = nil
}

func (r *logRing) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.ring...)
}
