package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// ReplayPlugin implements serve.Tracer. New events come between two old ones.
func (n *Node) ReplayPlugin(ctx context.Context, r serve.ReplayPluginRequest) (res serve.PluginReplayed, err error) {
	err = n.during(ctx, func(ctx context.Context, o *session) error {
		res, err = o.replay(ctx, r)
		return err
	})
	return res, err
}

func (o *session) replay(ctx context.Context, r serve.ReplayPluginRequest) (res serve.PluginReplayed, err error) {
	end, err := o.plugging.take(ctx) // no other version comes meanwhile
	if err != nil {
		return res, err
	}
	defer end()
	p, err := o.plugin(r.ID)
	if err != nil {
		return res, err
	}
	if p.run == nil {
		return res, fmt.Errorf("%w: plugin %s does not run: it is %s", serve.ErrConflict, r.ID, p.state)
	}
	again, err := o.extract.Again(ctx, runner{p}, r.Since, r.Until, func(run func(*engine.Writer) error) error {
		lock := o.engine.Hold()
		defer lock.Release()
		return run(lock)
	})
	// What it heard before it ended early is heard.
	err = errors.Join(err, o.heardAgain(context.WithoutCancel(ctx), again.Heard))
	return serve.PluginReplayed{Events: again.Events, Candidates: again.Candidates, Known: again.Known, Faults: again.Faults, Changes: serve.Some(again.Changes)}, err
}

// heardAgain has recordings wait for a transcript no longer.
func (o *session) heardAgain(ctx context.Context, ids []memory.ID) error {
	var heard []transcribed
	err := o.store.View(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			m, err := tx.Memory(id)
			if errors.Is(err, memory.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			heard = append(heard, transcribed{id, m.Evidence})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return o.engine.Commit(ctx, func(tx *store.Tx) error { return o.waitNoLonger(tx, heard) })
}

// TraceEvent implements serve.Tracer.
func (n *Node) TraceEvent(ctx context.Context, id memory.EventID) (t serve.Trace, err error) {
	o, release, err := n.use()
	if err != nil {
		return t, err
	}
	defer release()
	kept, err := o.extract.TraceOf(ctx, id)
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
