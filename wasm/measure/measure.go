// Package measure runs plugin modules directly, to measure the parts of a call: the module as it
// was built, or as a host rewrites it to count fuel. It has none of a host's protections, so it is
// only for one's own modules.
package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/internal/fuel"
)

// Guest is one instance. It is not safe for concurrent use.
type Guest struct {
	Compile     time.Duration // including the rewriting, if requested
	Instantiate time.Duration // including its initialisation
	runtime     wazero.Runtime
	module      api.Module
	alloc, call api.Function
	tank        api.MutableGlobal // nil: it counts no fuel
	ctx         context.Context   // the context of Open: a guest is one measurement
	stack       [2]uint64
}

// errAnswer: what the guest returned is not within its memory.
var errAnswer = errors.New("the guest's answer or its room for input lies outside its memory")

// Open compiles and instantiates a module; fuelled makes it count fuel. It may only import WASI
// preview 1.
func Open(ctx context.Context, module []byte, fuelled bool) (g *Guest, err error) {
	g = &Guest{ctx: ctx, runtime: wazero.NewRuntime(ctx)}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("measure a plugin: %w", err), g.Close())
		}
	}()
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, g.runtime); err != nil {
		return g, err
	}
	begin := time.Now()
	if fuelled {
		if module, _, err = fuel.Rewrite(module, fuel.Config{Pages: abi.DefaultMemory / abi.PageSize}); err != nil {
			return g, err
		}
	}
	compiled, err := g.runtime.CompileModule(ctx, module)
	if err != nil {
		return g, err
	}
	g.Compile = time.Since(begin)
	begin = time.Now()
	g.module, err = g.runtime.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return g, err
	}
	g.tank, _ = g.module.ExportedGlobal(fuel.Fuel).(api.MutableGlobal)
	g.refill()
	for _, name := range []string{fuel.Start, "_initialize"} {
		if f := g.module.ExportedFunction(name); f != nil {
			if _, err := f.Call(ctx); err != nil {
				return g, err
			}
		}
	}
	g.Instantiate = time.Since(begin)
	g.alloc, g.call = g.module.ExportedFunction("locket_alloc"), g.module.ExportedFunction("locket_extract")
	if g.alloc == nil || g.call == nil || g.module.Memory() == nil {
		return g, errors.New("it lacks an export of the contract")
	}
	return g, nil
}

func (g *Guest) refill() {
	if g.tank != nil {
		g.tank.Set(1 << 62)
	}
}

// Call passes an input to the guest, and returns its answer, which is in the guest's memory until
// the next call. failed reports an error of the guest's own. It allocates nothing.
func (g *Guest) Call(input []byte) (answer []byte, failed bool, err error) {
	g.refill()
	n := uint64(len(input))
	g.stack[0] = n
	if err := g.alloc.CallWithStack(g.ctx, g.stack[:1]); err != nil {
		return nil, false, err
	}
	ptr := g.stack[0]
	if uint32(ptr) == 0 || !g.module.Memory().Write(uint32(ptr), input) {
		return nil, false, errAnswer
	}
	g.stack[0], g.stack[1] = ptr, n
	if err := g.call.CallWithStack(g.ctx, g.stack[:2]); err != nil {
		return nil, false, err
	}
	r := g.stack[0]
	answer, ok := g.module.Memory().Read(uint32(r>>32), uint32(r)&^(1<<31))
	if !ok {
		return nil, false, errAnswer
	}
	return answer, uint32(r)>>31 == 1, nil
}

// Memory returns the size of the guest's linear memory in bytes.
func (g *Guest) Memory() int { return int(g.module.Memory().Size()) }

// Close ends the guest.
func (g *Guest) Close() error { return g.runtime.Close(g.ctx) }
