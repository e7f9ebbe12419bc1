package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	extism "github.com/extism/go-sdk"

	"github.com/locket-dev/locket/cmd/locket-bench/guests"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/measure"
)

func textEvent(n int) *abi.Event {
	return &abi.Event{ID: "bench/1/1", Kind: "text", At: 1_800_000_000_000, Text: strings.Repeat("a word or", n/9+1)[:n]}
}

// errOther means that a guest's answer is not the one expected candidate.
var errOther = errors.New("the guest doesn't answer with one candidate")

// callPlugin is a whole call: the event is encoded, the answer decoded and
// checked.
func callPlugin(ctx context.Context, p *wasm.Plugin, e *abi.Event) func() error {
	return func() error {
		out, _, err := p.Extract(ctx, e)
		if err == nil && len(out.Candidates) != 1 {
			return errOther
		}
		return err
	}
}

// callExtism is the same work under Extism: the event is encoded, and the
// answer decoded by the same strict decoder.
func callExtism(p *extism.Plugin, e *abi.Event) func() error {
	var input []byte
	return func() error {
		input = abi.AppendEvent(input[:0], e)
		_, answer, err := p.Call("run", input)
		if err != nil {
			return err
		}
		var out abi.Output
		if err := abi.DecodeOutput(answer, abi.Limits{}, &out); err != nil {
			return err
		}
		if len(out.Candidates) != 1 {
			return errOther
		}
		return nil
	}
}

// openExtism returns a plugin of Extism's Go SDK without a time limit. With a limit, each loop
// would call into the host.
func openExtism(ctx context.Context, module []byte) (*extism.Plugin, error) {
	return extism.NewPlugin(ctx, extism.Manifest{Wasm: []extism.Wasm{extism.WasmData{Data: module}}}, extism.PluginConfig{EnableWasi: true}, nil)
}

// calls measures in this process: the bare call, and the whole one in C and Go.
func (b *pluginBench) calls() error {
	if b.has(guests.Echo, guests.ExtismC) {
		if err := b.rawCalls(); err != nil {
			return err
		}
	}
	for _, g := range []struct {
		own, extism guests.Kind
		suffix      string
	}{{guests.C, guests.ExtismC, ""}, {guests.Go, guests.ExtismGo, "_go"}} {
		if !b.has(g.own, g.extism) {
			continue
		}
		err := b.loaded(g.own, guestManifest(), false, func(p *wasm.Plugin) error {
			other, err := openExtism(b.ctx, b.modules[g.extism])
			if err != nil {
				return err
			}
			defer other.Close(b.ctx)
			for _, s := range sizes {
				e := textEvent(s.bytes)
				t, err := inTurns(b.rounds, s.calls, callPlugin(b.ctx, p, e), callExtism(other, e))
				if err != nil {
					return fmt.Errorf("%s in %s: %w", s.name, g.own, err)
				}
				b.add(result{Case: "call_" + s.name + g.suffix, N: b.rounds * s.calls, Value: t[0], Unit: "µs", Note: "guest in " + string(g.own)}.beside("extism", thousandth(t[1]), false))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rawCalls measures calls of a guest that returns its input.
func (b *pluginBench) rawCalls() error {
	g, err := measure.Open(b.ctx, b.modules[guests.Echo], true)
	if err != nil {
		return err
	}
	defer g.Close()
	other, err := openExtism(b.ctx, b.modules[guests.ExtismC])
	if err != nil {
		return err
	}
	defer other.Close(b.ctx)
	for _, s := range sizes {
		input := make([]byte, s.bytes)
		t, err := inTurns(b.rounds, s.calls, func() error {
			answer, _, err := g.Call(input)
			if err == nil && len(answer) != len(input) {
				return errOther
			}
			return err
		}, func() error {
			_, answer, err := other.Call("echo", input)
			if err == nil && len(answer) != len(input) {
				return errOther
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("echo of %s: %w", s.name, err)
		}
		b.add(result{Case: "raw_" + s.name, N: b.rounds * s.calls, Value: t[0], Unit: "µs", Note: "echo in C, fuelled"}.beside("extism", thousandth(t[1]), false))
	}
	return nil
}

// workers measures whole calls in the worker process.
func (b *pluginBench) workers() error {
	if !b.has(guests.C) {
		return nil
	}
	return b.loaded(guests.C, guestManifest(), true, func(p *wasm.Plugin) error {
		for _, s := range sizes {
			t, err := inTurns(b.rounds, s.calls, callPlugin(b.ctx, p, textEvent(s.bytes)))
			if err != nil {
				return fmt.Errorf("%s in the worker: %w", s.name, err)
			}
			b.add(result{Case: "worker_" + s.name, N: b.rounds * s.calls, Value: t[0], Unit: "µs", Note: p.Confined()})
		}
		return nil
	})
}
