package edit

import (
	"context"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// Update implements serve.Writer.
func (w Writer) Update(ctx context.Context, id memory.ID, p serve.UpdateRequest) (m memory.Memory, err error) {
	es, release, err := w.of.Use()
	if err != nil {
		return m, err
	}
	defer release()
	if err := checkTags("tag", p.Tag); err != nil {
		return m, err
	}
	if err := es.c.FetchCold(ctx, id); err != nil {
		return m, err
	}
	for field, text := range written(&p) {
		if err := es.c.NoSecret(ctx, field, text); err != nil {
			return m, err
		}
	}
	reread, err := es.reread(ctx, id, &p)
	if err != nil {
		return m, err
	}
	_, err = es.c.Engine.Assert(ctx, authorityOf(ctx), func(tx *store.Tx) ([]memory.Assertion, error) {
		m, err := engine.LiveAt(tx, id, es.c.Now())
		if err != nil {
			return nil, err
		}
		return assertions(&m, &p, Known{Past: past(tx), ID: es.movedID, Reread: reread, Zone: es.c.Zone})
	})
	if err != nil {
		return m, err
	}
	err = es.c.Engine.View(ctx, func(tx *store.Tx) error {
		m, err = engine.Live(tx, id)
		return err
	})
	return m, err
}

// written returns every text that an update brings, by its field.
func written(p *serve.UpdateRequest) map[string]string {
	out := map[string]string{}
	for field, s := range map[string]*string{"text": p.Text, "append": p.Append, "value": p.Value} {
		if s != nil {
			out[field] = *s
		}
	}
	if p.Replace != nil {
		out["replace.with"] = p.Replace.With
	}
	if p.Fields != nil {
		out["fields"] = (&memory.Memory{Candidate: memory.Candidate{Fields: *p.Fields}}).AllText()
	}
	for _, e := range p.Steps {
		out["steps"] += e.Text + "\n"
	}
	if p.Metadata != nil {
		for _, v := range *p.Metadata {
			out["metadata"] += v + "\n"
		}
	}
	out["tag"], out["reason"] = strings.Join(p.Tag, "\n"), p.Reason
	return out
}

// past returns a function that reports whether a superseded memory says a line. It
// reads the memories when it is first called.
func past(tx *store.Tx) func(line string) (bool, error) {
	var all map[string]bool
	return func(line string) (bool, error) {
		if all == nil {
			all = map[string]bool{}
			for m, err := range tx.Memories(store.Filter{States: []memory.State{memory.Superseded}}) {
				if err != nil {
					return false, err
				}
				if !m.Negates && !m.Repeats {
					all[memory.Normal(m.Text)] = true
				}
			}
		}
		words := memory.Normal(line)
		return words != "" && all[words], nil
	}
}

// movedID returns the id of the memory that a line of a block becomes. It depends
// on the line's words, so a line that is moved twice, or on two devices, is one
// memory.
func (es *Edits) movedID(block *memory.Memory, c *memory.Candidate) memory.ID {
	return es.c.MemoryID(memory.EventID{Device: "core"}, "core", block.Owner.User+"\x1f"+block.Owner.Agent+"\x1f"+block.Owner.Run+"\x1f"+c.Fingerprint())
}
