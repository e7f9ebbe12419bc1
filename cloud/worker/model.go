package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/cost"
	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
)

// Language names the language model. Without a URL there is none, and only
// rules are used.
type Language struct {
	llm.Config
	Wearer string // the name of the spaces' owner as a speaker; empty: the name in the spaces
}

// noModel is what to do about a worker without a language model.
const noModel = "name the address and model of an OpenAI-compatible service, such as Ollama; without one, what is said is left to the node's rules, " +
	"and names, communities and the worker's own repetitions are seen to by rules"

// noPrice is the note about a model without known prices.
const noPrice = "without a price: only a budget of tokens holds it"

func (l *Language) pick(s *set, prices cost.Prices) error {
	if l.URL == "" && l.Model == "" {
		s.found = append(s.found, EngineState{Kind: queue.Language, Engine: "a language model", Need: noModel})
		return nil
	}
	c, err := llm.New(l.Config)
	if err != nil {
		return err
	}
	s.model = c
	f := EngineState{Kind: queue.Language, Engine: c.Name(), Present: true}
	if _, ok := prices[l.Model]; !ok {
		f.Note = noPrice
	}
	s.found = append(s.found, f)
	return nil
}

// modelTo returns the host to which the language model's input is sent, or ""
// if there is no model.
func (w *Worker) modelTo() string {
	if w.set.model == nil {
		return ""
	}
	return host(w.c.Engines.Language.URL)
}

// metered returns the language model for one job. Each question is paid from
// the budget of the job's space.
func (w *Worker) metered(r *queue.Running) *cost.Meter {
	return w.meter(r, w.set.model, w.c.Engines.Language.Model)
}

func (w *Worker) meter(r *queue.Running, m *llm.Client, named string) *cost.Meter {
	return &cost.Meter{Model: m, Named: named, Prices: w.c.Engines.Prices, Afford: r.Afford,
		Book: func(ctx context.Context, s cost.Spent) error {
			return r.Book(ctx, queue.Cost{Tokens: int64(s.Tokens()), MicroUSD: s.MicroUSD})
		}}
}

// faulty turns a model's error into an engine's. If there are several, the
// first temporary one counts.
func (w *Worker) faulty(err error) error {
	f, ok := errors.AsType[*llm.Fault](err)
	if !ok {
		return err
	}
	kind := map[llm.Kind]engine.Kind{llm.Slow: engine.Slow, llm.Babbled: engine.Refused, llm.Refused: engine.Refused, llm.Setup: engine.Missing,
		llm.Busy: engine.Busy, llm.Gone: engine.Gone}[f.Kind]
	e := engine.Faultf("the model", kind, "%s", err.Error())
	e.After = f.After
	return e
}

// secret reports whether a text contains a secret.
func (w *Worker) secret(ctx context.Context, text string) (bool, error) {
	if text == "" {
		return false, nil
	}
	_, found, err := w.scan.scan(ctx, "text", w.now(), text, nil)
	return found > 0, err
}

// costs says in words what a job's proposals cost.
func costs(m *cost.Meter) string {
	s := m.Spent()
	text := fmt.Sprintf("%d tokens", s.Tokens())
	if s.MicroUSD > 0 {
		text += fmt.Sprintf(", $%s", s.MicroUSD)
	}
	return text
}

// sayable returns the types of a grant of which a model may make memories.
func sayable(types []memory.Type) (out []memory.Type) {
	for _, t := range types {
		if t != memory.Vault {
			out = append(out, t)
		}
	}
	return out
}
