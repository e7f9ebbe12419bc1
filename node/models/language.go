// Package models queries the models that the wearer names: a language model, which
// is sent what is said and answers questions, and an embedding model, which finds
// what was said in other words.
package models

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/distill"
	"github.com/locket-dev/locket/node/opened"
)

// Engine is the part of engine.Engine that this package uses.
type Engine interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
	Commit(ctx context.Context, fn func(*store.Tx) error) error
	AssertTx(tx *store.Tx, rank memory.Rank, as ...memory.Assertion) ([]memory.Change, error)
	Search(ctx context.Context, q recall.Query) (recall.Result, error)
	Clock() *memory.Ticker
}

// LanguageConfig says which language model may be used.
type LanguageConfig struct {
	Settings func(context.Context) (config.LLM, error) // returns the current settings
	Engine   Engine
	Wearer   string
	Zone     *time.Location
	Log      *slog.Logger

	HoldsSecret func(ctx context.Context, text string) (bool, error) // called under the engine's write lock
	NoSecret    func(ctx context.Context, field, text string) error  // refuses a text that contains a secret
	MemoryID    func(ev memory.EventID, plugin, fingerprint string) memory.ID
}

// Language is the language model that an open node may use. Its methods are safe
// for concurrent use.
type Language struct {
	c    LanguageConfig
	now  atomic.Pointer[model] // replaced when another model is chosen
	mu   sync.Mutex            // guards the fields below; held while the model is replaced
	life *opened.Life          // not nil: the model is queried in the background
	stop func()                // stops the background queries and waits; nil: there are none at the moment
}

// model is a language model with its settings.
type model struct {
	cfg    config.LLM
	client *llm.Client     // nil: not configured, or err
	find   *distill.Worker // nil: the model is not sent what is said
	err    error           // why the configured model can't be used
}

// OpenLanguage makes the client and its worker. If the key can't be read, the node
// opens nevertheless, and doctor reports it.
func OpenLanguage(ctx context.Context, lc LanguageConfig) (*Language, error) {
	l := &Language{c: lc}
	l.now.Store(new(model))
	return l, l.open(ctx)
}

func (l *Language) open(ctx context.Context) error {
	c, err := l.c.Settings(ctx)
	if err != nil {
		return err
	}
	m := &model{cfg: c}
	defer l.now.Store(m)
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
		l.c.Log.Warn("no language model", "error", err)
		return nil
	}
	if c.Extract {
		m.find = distill.New(distill.Config{Owner: memory.WearerUser, Wearer: l.c.Wearer, Zone: l.c.Zone, Log: l.c.Log}, finder{l}, m.client)
	}
	return nil
}

// Change switches to the model that the settings name now. told runs between the
// two models, while none is used.
func (l *Language) Change(ctx context.Context, told func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pause()
	err := l.open(ctx)
	told()
	l.goOn()
	return err
}

// View implements opened.Viewer.
func (l *Language) View(ctx context.Context, fn func(*store.Tx) error) error {
	return l.c.Engine.View(ctx, fn)
}

// Client returns the model's client. It is nil if there is none; the error says
// why if one is configured.
func (l *Language) Client() (*llm.Client, error) {
	m := l.now.Load()
	return m.client, m.err
}

// Finder returns the worker that sends what is said to the model. It is nil if
// there is none.
func (l *Language) Finder() *distill.Worker { return l.now.Load().find }

// OnSecondLook returns the function for extract.Config.OnSecondLook. It is nil if the model is
// not sent what is said.
func (l *Language) OnSecondLook() func() {
	if f := l.Finder(); f != nil {
		return f.Wake
	}
	return nil
}

// Start sends messages to the model in the background, until Stop. A second call
// does nothing.
func (l *Language) Start(life *opened.Life) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.life = life
	l.goOn()
}

// Stop ends what Start began, and waits.
func (l *Language) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.life = nil
	l.pause()
}

// goOn and pause are called with mu held.
func (l *Language) goOn() {
	if f := l.Finder(); f != nil && l.life != nil && !l.life.IsOver() && l.stop == nil {
		l.stop = l.life.Start(f.Run)
	}
}

func (l *Language) pause() {
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
}

// finder is distill.Node.
type finder struct{ l *Language }

// MemoryID implements distill.Node.
func (f finder) MemoryID(ev memory.EventID, plugin, fingerprint string) memory.ID {
	return f.l.c.MemoryID(ev, plugin, fingerprint)
}

// View implements distill.Node.
func (f finder) View(ctx context.Context, fn func(*store.Tx) error) error {
	return f.l.c.Engine.View(ctx, fn)
}

// Commit implements distill.Node.
func (f finder) Commit(ctx context.Context, fn func(*store.Tx, func(string) (bool, error)) error) error {
	return f.l.c.Engine.Commit(ctx, func(tx *store.Tx) error {
		return fn(tx, func(text string) (bool, error) { return f.l.c.HoldsSecret(ctx, text) })
	})
}

// AssertTx implements distill.Node.
func (f finder) AssertTx(tx *store.Tx, rank memory.Rank, as ...memory.Assertion) ([]memory.Change, error) {
	return f.l.c.Engine.AssertTx(tx, rank, as...)
}

// Near implements distill.Node.
func (f finder) Near(ctx context.Context, text string, k int) ([]memory.ID, error) {
	res, err := f.l.c.Engine.Search(ctx, recall.Query{Text: text, K: k, Kinds: []recall.Kind{recall.Memory}, Apart: true, Now: f.l.c.Engine.Clock().Tick().Time(),
		Types: []memory.Type{memory.Episodic, memory.Semantic, memory.Procedural}})
	var out []memory.ID
	for _, h := range res.Hits {
		out = append(out, h.ID)
	}
	return out, err
}
