package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/locket-dev/locket/cloud/worker/cost"
	"github.com/locket-dev/locket/cloud/worker/engine"
	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
)

// Language names the model that is asked about words. Without a URL there is
// none, and what rules can do is done.
type Language struct {
	llm.Config
	Price  string // of a million tokens, PROMPT/COMPLETION in US dollars; empty: nothing, as at home
	Wearer string // the name of the spaces' owner, as speakers have it; empty: what the spaces say
}

// noModel says what a worker without a language model does.
const noModel = "name the address and model of an OpenAI-compatible service, such as Ollama; without one, what is said is left to the node's rules, " +
	"and names, communities and the worker's own repetitions are seen to by rules"

// noPrice says what holds a model that costs nothing, as far as is known.
const noPrice = "without a price: only a budget of tokens holds it"

func (l *Language) pick(s *set) error {
	if l.URL == "" && l.Model == "" {
		s.found = append(s.found, Found{Kind: queue.Language, Engine: "a language model", Need: noModel})
		return nil
	}
	c, err := llm.New(l.Config)
	if err != nil {
		return err
	}
	if l.Price != "" {
		model, price, err := cost.ParsePrice(l.Model + "=" + l.Price)
		if err != nil {
			return err
		}
		s.prices = cost.Prices{model: price}
	}
	s.model = c
	f := Found{Kind: queue.Language, Engine: c.Name(), Present: true}
	if l.Price == "" {
		f.Note = noPrice
	}
	s.found = append(s.found, f)
	return nil
}

// modelTo is the host that gets what the language model is shown; empty: there
// is no model.
func (w *Worker) modelTo() string {
	if w.set.model == nil {
		return ""
	}
	return host(w.c.Engines.Language.URL)
}

// prices are those of all models; that of the language model's own setting goes
// before the list.
func (w *Worker) prices() cost.Prices {
	all := cost.Prices{}
	maps.Copy(all, w.c.Prices)
	maps.Copy(all, w.set.prices)
	return all
}

// metered is the model for one job, which pays for each question from the
// budget of its space.
func (w *Worker) metered(r *queue.Running) *cost.Meter {
	return &cost.Meter{Model: w.set.model, Named: w.c.Engines.Language.Model, Prices: w.prices(), Afford: r.Afford,
		Book: func(ctx context.Context, s cost.Spent) error {
			return r.Book(ctx, queue.Cost{Tokens: int64(s.Tokens()), MicroUSD: int64(s.Money)})
		}}
}

// faulty turns a model's faults into an engine's. Of several the first that may
// pass counts.
func (w *Worker) faulty(err error) error {
	f, ok := errors.AsType[*llm.Fault](err)
	if !ok {
		return err
	}
	kind := map[llm.Kind]engine.Kind{llm.Slow: engine.Slow, llm.Babbled: engine.Refused, llm.Refused: engine.Refused, llm.Setup: engine.Missing,
		llm.Busy: engine.Busy, llm.Gone: engine.Gone}[f.Kind]
	e := engine.Faultf(w.set.model.Name(), kind, "%s", err.Error())
	e.After = f.After
	return e
}

// secret reports whether a text holds one.
func (w *Worker) secret(ctx context.Context, text string) (bool, error) {
	if text == "" {
		return false, nil
	}
	_, found, err := w.scan.scan(ctx, "text", w.now(), text, nil)
	return found > 0, err
}

// costs says what a job's proposals came of, for their reason.
func costs(m *cost.Meter) string {
	s := m.Spent()
	text := fmt.Sprintf("%d tokens", s.Tokens())
	if s.Money > 0 {
		text += fmt.Sprintf(", $%s", s.Money)
	}
	return text
}

// sayable are the types of a grant that a model may make memories of.
func sayable(types []memory.Type) (out []memory.Type) {
	for _, t := range types {
		if t != memory.Vault {
			out = append(out, t)
		}
	}
	return out
}
