package node

import (
	"context"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// ReplayPlugin implements serve.Tracer. New events come between two old ones.
func (n *Node) ReplayPlugin(ctx context.Context, r serve.ReplayPluginRequest) (res serve.PluginReplayed, err error) {
	o, release, err := n.use()
	if err != nil {
		return res, err
	}
	defer release()
	o.plugging.Lock() // no other version comes meanwhile
	defer o.plugging.Unlock()
	p, err := o.plugin(r.ID)
	if err != nil {
		return res, err
	}
	if p.run == nil {
		return res, fmt.Errorf("%w: plugin %s does not run: it is %s", serve.ErrConflict, r.ID, p.state)
	}
	again, err := o.extract.Again(ctx, runner{p.run}, r.Since, r.Until, func(run func() error) error {
		o.writing.Lock()
		defer o.writing.Unlock()
		return run()
	})
	return serve.PluginReplayed{Events: again.Events, Candidates: again.Candidates, Known: again.Known, Faults: again.Faults, Changes: some(again.Changes)}, err
}

// TraceEvent implements serve.Tracer.
func (n *Node) TraceEvent(_ context.Context, id memory.EventID) (t serve.Trace, err error) {
	_, release, err := n.use()
	if err != nil {
		return t, err
	}
	defer release()
	return t, fmt.Errorf("event %s: %w", id, memory.ErrNotFound)
}
