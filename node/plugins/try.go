package plugins

import (
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/serve"
)

// TryPlugin implements serve.Plugger.
func (pl Plugger) TryPlugin(ctx context.Context, id, text string) (v serve.TriedPlugin, err error) {
	if err := serve.CheckTried(text); err != nil {
		return v, err
	}
	ps, release, err := pl.of.Use()
	if err != nil {
		return v, err
	}
	defer release()
	p, err := ps.get(id)
	if err != nil {
		return v, err
	}
	switch {
	case !p.manifest.Takes("text"):
		return v, fmt.Errorf("%w: plugin %s does not read what is said", memory.ErrInvalid, id)
	case p.toAPI().State != serve.PluginRuns:
		return v, fmt.Errorf("%w: plugin %s does not run", serve.ErrConflict, id)
	}
	lock := ps.c.Engine.AcquireWriter()
	t, err := ps.extract.Try(ctx, id, text)
	lock.Release()
	v = serve.TriedPlugin{Shown: t.Shown, Memories: []serve.TriedMemory{}, Refusals: []serve.TriedRefusal{}, MS: float64(t.Took.Microseconds()) / 1000}
	switch {
	case errors.Is(err, extract.ErrNotThere), errors.Is(err, extract.ErrUnscanned):
		return v, fmt.Errorf("%w: %v", serve.ErrConflict, err)
	case ctx.Err() != nil:
		return v, ctx.Err()
	case err != nil:
		v.Error = err.Error()
		return v, nil
	}
	if t.Left != t.Shown {
		v.Left = t.Left
	}
	for i := range t.Out.Candidates {
		c := &t.Out.Candidates[i]
		m := serve.TriedMemory{Type: memory.Type(c.Type), Text: c.Text, Label: c.Label, Confidence: c.Confidence}
		if c.Slot != nil {
			m.Slot = new(memory.Slot(*c.Slot))
		}
		v.Memories = append(v.Memories, m)
	}
	for _, r := range t.Out.Refusals {
		v.Refusals = append(v.Refusals, serve.TriedRefusal{Kind: r.Kind, Reason: r.Reason})
	}
	return v, nil
}
