package plugins

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/node/serve"
)

// ReplayPlugin implements serve.Tracer. New events are processed between two
// old ones.
func (pl Plugger) ReplayPlugin(ctx context.Context, r serve.ReplayPluginRequest) (res serve.PluginReplayed, err error) {
	err = pl.of.During(ctx, func(ctx context.Context, ps *Plugins) error {
		res, err = ps.replay(ctx, r)
		return err
	})
	return res, err
}

func (ps *Plugins) replay(ctx context.Context, r serve.ReplayPluginRequest) (res serve.PluginReplayed, err error) {
	end, err := ps.Turn(ctx) // so that no other version is installed meanwhile
	if err != nil {
		return res, err
	}
	defer end()
	p, err := ps.get(r.ID)
	if err != nil {
		return res, err
	}
	if p.run == nil {
		return res, fmt.Errorf("%w: plugin %s does not run: it is %s", serve.ErrConflict, r.ID, p.state)
	}
	again, err := ps.extract.Replay(ctx, runner{p}, r.Since, r.Until, func(run func(*engine.Writer) error) error {
		lock := ps.c.Engine.AcquireWriter()
		defer lock.Release()
		return run(lock)
	})
	// What the plugin heard before the replay ended early counts.
	err = errors.Join(err, ps.c.OnTranscribed(context.WithoutCancel(ctx), again.Transcribed))
	return serve.PluginReplayed{Events: again.Events, Candidates: again.Candidates, Known: again.Known, Faults: again.Faults, Changes: serve.NonNil(again.Changes)}, err
}

// TraceEvent implements serve.Tracer.
func (pl Plugger) TraceEvent(ctx context.Context, id memory.EventID) (t serve.Trace, err error) {
	ps, release, err := pl.of.Use()
	if err != nil {
		return t, err
	}
	defer release()
	kept, err := ps.extract.TraceOf(ctx, id)
	if err != nil {
		return t, err
	}
	t = serve.Trace{Event: kept.Event, Kind: string(kept.Kind), At: kept.At, Redacted: kept.Redacted, Steps: []serve.TraceStep{}}
	for _, s := range kept.Steps {
		step := serve.TraceStep{Plugin: s.Plugin, Version: s.Version, Given: s.Given, Depth: s.Depth, Fuel: s.Usage.Fuel, Took: millis(s.Usage.Time),
			MemoryBytes: s.Usage.Memory, InBytes: s.Usage.In, OutBytes: s.Usage.Out, Late: s.Usage.Late, Fault: s.Fault, Annotations: s.Annotations,
			Redactions: s.Redactions, Derived: s.Derived, Refusals: s.Refusals, StateBytes: s.State, Read: s.Read, Candidates: []serve.TraceCandidate{}}
		for _, c := range s.Candidates {
			step.Candidates = append(step.Candidates, serve.TraceCandidate{Type: string(c.Type), Memory: c.Memory, Verdict: c.Verdict, Reason: c.Reason})
		}
		t.Took += step.Took
		t.Steps = append(t.Steps, step)
	}
	return t, nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
