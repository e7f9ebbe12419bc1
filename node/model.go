package node

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/distill"
	"github.com/locket-dev/locket/node/engines"
)

// model is the language model that a node may ask; client and find are nil where
// none is configured or chosen.
type model struct {
	cfg    config.LLM
	client *llm.Client
	find   *distill.Worker // nil: it is not sent what is said
	err    error           // why one that is configured can't be used
}

// asking is how a session asks its model in the background.
type asking struct {
	now  atomic.Pointer[model]
	mu   sync.Mutex // held while another takes its place
	runs bool       // it is asked in the background
	stop func()     // ends the asking and waits for it; nil: nobody asks at the moment
}

// mind is the model as it is now; it changes when another is chosen.
func (o *session) mind() *model { return o.asking.now.Load() }

// llmSettings are those of the configuration, or of the mind that the wearer has
// chosen where that names none.
func (n *Node) llmSettings(ctx context.Context, o *session) (c config.LLM, err error) {
	c = n.cfg.LLM
	if c.URL != "" {
		return c, nil
	}
	err = o.store.View(ctx, func(tx *store.Tx) error {
		all, err := engines.Load(tx)
		for _, s := range all {
			if s.Kind == engines.Mind {
				c.URL, c.Model, c.Key, c.KeyFile, c.Extract = s.URL, s.Model, config.Secret(s.Key), "", true
			}
		}
		return err
	})
	return c, err
}

// openModel makes the client and what works with it. A key that can't be read
// is no reason to keep the node shut: doctor tells.
func (n *Node) openModel(ctx context.Context, o *session) error {
	c, err := n.llmSettings(ctx, o)
	if err != nil {
		return err
	}
	m := &model{cfg: c}
	defer func() { o.asking.now.Store(m) }()
	if c.URL == "" {
		return nil
	}
	key, err := c.APIKey()
	if err == nil {
		format := llm.Format(c.Format)
		if c.Format == "auto" {
			format = llm.FormatAuto
		}
		m.client, err = llm.New(llm.Config{URL: c.URL, Model: c.Model, Key: key, Timeout: c.Timeout.Std(), MaxTokens: int(c.MaxTokens), Format: format})
	}
	if err != nil {
		m.err = err
		n.log.Warn("no language model", "error", err)
		return nil
	}
	if c.Extract {
		m.find = distill.New(distill.Config{Owner: memory.WearerUser, Wearer: n.cfg.Wearer, Zone: n.zone, Log: n.log}, finder{o}, m.client)
	}
	return nil
}

// changeModel has another model asked from now on.
func (n *Node) changeModel(ctx context.Context, o *session) error {
	o.asking.mu.Lock()
	defer o.asking.mu.Unlock()
	o.pauseAsking()
	err := n.openModel(ctx, o)
	lock := o.engine.Hold()
	o.extract.SetLater(o.later())
	lock.Release()
	if o.asking.runs && !o.life.IsOver() {
		o.goOnAsking()
	}
	return err
}

// later is extract.Config.Later: nil where nobody looks.
func (o *session) later() func() {
	if m := o.mind(); m.find != nil {
		return m.find.Wake
	}
	return nil
}

// startAsking has messages asked about in the background, until stopAsking.
func (o *session) startAsking() {
	o.asking.mu.Lock()
	defer o.asking.mu.Unlock()
	o.asking.runs = true
	o.goOnAsking()
}

func (o *session) goOnAsking() {
	m := o.mind()
	if m.find == nil || o.asking.stop != nil {
		return
	}
	o.asking.stop = o.life.Start(m.find.Run)
}

func (o *session) stopAsking() {
	o.asking.mu.Lock()
	defer o.asking.mu.Unlock()
	o.asking.runs = false
	o.pauseAsking()
}

func (o *session) pauseAsking() {
	if o.asking.stop != nil {
		o.asking.stop()
		o.asking.stop = nil
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
