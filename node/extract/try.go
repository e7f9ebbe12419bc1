package extract

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm/abi"
)

// ErrNotThere: no running plugin that is given texts has the id.
var ErrNotThere = errors.New("no such plugin runs on texts")

// ErrUnscanned: a plugin that looks for secrets failed, so no other is shown the
// text.
var ErrUnscanned = errors.New("the plugin that looks for secrets failed")

// Tried is what a plugin answered to a line that nobody said.
type Tried struct {
	Shown string // what the plugin was given: the line without what earlier plugins took out
	Left  string // what later plugins would be given
	Out   abi.Output
	Took  time.Duration
}

// Try gives a line to one plugin, as if the wearer had just said it. Nothing of
// it is kept, and the plugin has no state, no context and no memories to work
// with. An error of the plugin itself is returned as it is, and counts as its
// fault.
func (x *Extractor) Try(ctx context.Context, id, text string) (t Tried, err error) {
	t.Shown = text
	now := time.Now()
	_, offset := now.In(x.cfg.Zone).Zone()
	ev := abi.Event{ID: "try/0/1", Kind: "text", At: now.UnixMilli(), Zone: cmp.Or(memory.ZoneName(x.cfg.Zone), "UTC"), Offset: offset, Speaker: x.cfg.Wearer, Wearer: x.cfg.Wearer}
	for _, pl := range x.plugins {
		own := pl.ID() == id
		if !pl.Wants("text") || !own && !pl.RunsFirst() {
			continue
		}
		ev.Text = t.Shown
		began := time.Now()
		out, err := pl.Extract(ctx, &ev)
		switch {
		case err != nil && !own:
			return t, errors.Join(ErrUnscanned, err)
		case err != nil:
			return t, err
		}
		t.Left, _ = redact(t.Shown, byTurn(out.Redactions)[0])
		if own {
			instants(pl, out.Candidates, now, x.cfg.Zone)
			t.Out, t.Took = out, time.Since(began)
			return t, nil
		}
		t.Shown = t.Left
	}
	return t, ErrNotThere
}
