package node

import (
	"context"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/distill"
)

// model is the language model that a node may ask; both are nil where none is
// configured.
type model struct {
	client *llm.Client
	find   *distill.Worker // nil: it is not sent what is said
	err    error           // why one that is configured can't be used
	stop   func()          // nil: nothing is asked in the background
}

// openModel makes the client and what works with it. A key that can't be read
// is no reason to keep the node shut: doctor tells.
func (n *Node) openModel(o *session) {
	c := &n.cfg.LLM
	if c.URL == "" {
		return
	}
	key, err := c.APIKey()
	if err == nil {
		format := llm.Format(c.Format)
		if c.Format == "auto" {
			format = llm.FormatAuto
		}
		o.model.client, err = llm.New(llm.Config{URL: c.URL, Model: c.Model, Key: key, Timeout: c.Timeout.Std(), MaxTokens: int(c.MaxTokens), Format: format})
	}
	if err != nil {
		o.model.err = err
		n.log.Warn("no language model", "error", err)
		return
	}
	if c.Extract {
		o.model.find = distill.New(distill.Config{Owner: config.Owner, Wearer: n.cfg.Wearer, Zone: n.zone, Log: n.log}, finder{o}, o.model.client)
	}
}

// later is extract.Config.Later: nil where nobody looks.
func (o *session) later() func() {
	if o.model.find == nil {
		return nil
	}
	return o.model.find.Wake
}

// startAsking has messages asked about in the background, until stopAsking.
func (o *session) startAsking() {
	if o.model.find == nil || o.model.stop != nil {
		return
	}
	o.model.stop = o.life.Start(o.model.find.Run)
}

func (o *session) stopAsking() {
	if o.model.stop != nil {
		o.model.stop()
		o.model.stop = nil
	}
}

// during runs f with what is open, for as long as the node stays unlocked: it
// may take minutes, in which the node can be locked.
func (n *Node) during(ctx context.Context, f func(context.Context, *session) error) error {
	return partOf(n, func(o *session) *session { return o }).During(ctx, f)
}

// finder is distill.Node.
type finder struct{ o *session }

// MemoryID implements distill.Node.
func (f finder) MemoryID(ev memory.EventID, plugin, fingerprint string) memory.ID {
	return f.o.ring.MemoryID(ev, plugin, fingerprint)
}

// View implements distill.Node.
func (f finder) View(ctx context.Context, fn func(*store.Tx) error) error {
	return f.o.store.View(ctx, fn)
}

// Commit implements distill.Node.
func (f finder) Commit(ctx context.Context, fn func(*store.Tx, func(string) (bool, error)) error) error {
	return f.o.engine.Commit(ctx, func(tx *store.Tx) error {
		return fn(tx, func(text string) (bool, error) { return f.o.extract.HoldsSecret(ctx, text) })
	})
}

// Say implements distill.Node.
func (f finder) Say(tx *store.Tx, rank memory.Rank, as ...memory.Assertion) ([]memory.Change, error) {
	return f.o.engine.Say(tx, rank, as...)
}

// Near implements distill.Node.
func (f finder) Near(ctx context.Context, text string, k int) ([]memory.ID, error) {
	res, err := f.o.engine.Search(ctx, recall.Query{Text: text, K: k, Kinds: []recall.Kind{recall.Memory}, Apart: true, Now: f.o.engine.Clock().Tick().Time(),
		Types: []memory.Type{memory.Episodic, memory.Semantic, memory.Procedural}})
	var out []memory.ID
	for _, h := range res.Hits {
		out = append(out, h.ID)
	}
	return out, err
}
