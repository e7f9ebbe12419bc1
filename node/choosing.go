package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/serve"
)

// llmSettings are those of the configuration, or of the mind that the wearer has
// chosen where that names none.
func (n *Node) llmSettings(o *session) func(context.Context) (config.LLM, error) {
	return func(ctx context.Context) (c config.LLM, err error) {
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
}

// during runs f with what is open, for as long as the node stays unlocked: it
// may take minutes, in which the node can be locked.
func (n *Node) during(ctx context.Context, f func(context.Context, *session) error) error {
	return partOf(n, func(o *session) *session { return o }).During(ctx, f)
}

// Engines implements serve.Enginer.
func (n *Node) Engines(ctx context.Context) (list []serve.Engine, err error) {
	err = n.during(ctx, func(ctx context.Context, o *session) error {
		list, err = n.listEngines(ctx, o)
		return err
	})
	return list, err
}

func (n *Node) listEngines(ctx context.Context, o *session) (out []serve.Engine, err error) {
	out = []serve.Engine{}
	err = o.store.View(ctx, func(tx *store.Tx) error {
		specs, err := engines.Load(tx)
		if err != nil {
			return err
		}
		for i := range specs {
			s := &specs[i]
			if s.Kind == engines.Mind && n.cfg.LLM.URL != "" {
				continue // the configuration has come to name another
			}
			v := engineOf(s)
			if s.Kind != engines.Mind {
				if err := o.engineState(tx, s, &v); err != nil {
					return err
				}
			}
			out = append(out, v)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if c := &n.cfg.LLM; c.URL != "" {
		s := engines.Spec{Kind: engines.Mind, Engine: engines.Language, URL: c.URL, Model: c.Model}
		v := engineOf(&s)
		v.Config = true
		out = append(out, v)
	}
	m, err := o.language.Status(ctx) // not n.Model: a node that locks waits for us, and we would wait for it
	if err != nil {
		return nil, err
	}
	for i := range out {
		if out[i].Kind == string(engines.Mind) {
			out[i].Waiting, out[i].Parked, out[i].Trouble, out[i].Done = m.Waiting, m.Parked, m.Trouble, m.Calls
		}
	}
	return out, nil
}

func engineOf(s *engines.Spec) serve.Engine {
	v := serve.Engine{Kind: string(s.Kind), Engine: s.Engine, Name: s.Name(), URL: s.URL, Model: s.Model, Local: s.Local(), Added: s.Added, Consent: s.Consent, Reasons: []string{}}
	if s.Sample != nil {
		sample := serve.EngineSample(*s.Sample)
		v.Sample = &sample
	}
	return v
}

// engineState says what waits for an engine.
func (o *session) engineState(tx *store.Tx, s *engines.Spec, v *serve.Engine) error {
	kind := s.Work()
	parked, err := engines.ParkedOf(tx, kind)
	if err != nil {
		return err
	}
	ids, err := engines.Waiting(tx, kind)
	if err != nil {
		return err
	}
	v.Waiting, v.Parked = len(ids)-len(parked), len(parked)
	for _, p := range parked {
		if !slices.Contains(v.Reasons, p.Reason) {
			v.Reasons = append(v.Reasons, p.Reason)
		}
	}
	slices.Sort(v.Reasons)
	o.beside.mu.Lock()
	defer o.beside.mu.Unlock()
	if w := o.beside.queues[kind]; w != nil {
		st := w.queue.State()
		v.Held, v.Absent, v.Done, v.Trouble = st.Held, st.Absent, st.Done, st.Trouble
		v.Waiting = max(v.Waiting-st.Held-st.Absent, 0)
	}
	return nil
}

// FoundEngines implements serve.Enginer.
func (n *Node) FoundEngines(ctx context.Context, kind string) ([]serve.FoundEngine, error) {
	out := []serve.FoundEngine{}
	for _, s := range engines.Look(ctx, engines.Kind(kind), n.usual) {
		f := serve.FoundEngine{Kind: kind, Engine: s.Engine, Name: s.Name(), Address: s.URL, Model: s.Model}
		if f.Address == "" {
			f.Address = s.Engine
		}
		out = append(out, f)
	}
	return out, ctx.Err()
}

// AddEngine implements serve.Enginer.
func (n *Node) AddEngine(ctx context.Context, r serve.AddEngineRequest) (v serve.Engine, err error) {
	err = n.during(ctx, func(ctx context.Context, o *session) error {
		o.beside.trying.Lock()
		s, err := n.tried(ctx, &r)
		o.beside.trying.Unlock()
		if err != nil {
			return err
		}
		if err := o.engine.Commit(ctx, func(tx *store.Tx) error { return engines.Put(tx, *s) }); err != nil {
			return err
		}
		if err := n.changedEngines(ctx, o, *s); err != nil {
			return err
		}
		all, err := n.listEngines(ctx, o)
		for i := range all {
			if all[i].Kind == r.Kind && all[i].Engine == s.Engine {
				v = all[i]
			}
		}
		return err
	})
	return v, err
}

// tried gives the engine that a request means, once it has answered to a sample.
func (n *Node) tried(ctx context.Context, r *serve.AddEngineRequest) (*engines.Spec, error) {
	kind := engines.Kind(r.Kind)
	if kind == engines.Mind && n.cfg.LLM.URL != "" {
		return nil, fmt.Errorf("%w: the configuration names a language model at llm.url, which has the last word", serve.ErrConflict)
	}
	program := r.Address == engines.PocketSphinx || r.Address == engines.Tesseract
	if !program && !strings.Contains(r.Address, "://") {
		return nil, fmt.Errorf("%w: address: %.80q: want a URL such as http://127.0.0.1:8080 or tcp://127.0.0.1:10300, or %s or %s", memory.ErrInvalid, r.Address, engines.PocketSphinx, engines.Tesseract)
	}
	local := program || (&engines.Spec{URL: r.Address}).Local()
	if !local && !r.Consent {
		return nil, fmt.Errorf("%w: %s is not on this machine: it would get %s; say that you agree", serve.ErrConflict, r.Address, gets[kind])
	}
	p, err := n.engineProcess("trial")
	if err != nil {
		return nil, err
	}
	defer p.Close()
	var errs []error
	for _, s := range engines.Guess(ctx, kind, r.Address, r.Model, string(r.Key)) {
		if err := s.Check(); err != nil {
			errs = append(errs, fmt.Errorf("%w: %v", memory.ErrInvalid, err))
			continue
		}
		sample, err := engines.Try(ctx, p, &s, n.now())
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil && sample.Words == 0 {
			err = engine.Faultf(s.Name(), engine.Babbled, "it found no words in the sample")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%w: %v", serve.ErrEngine, err))
			continue
		}
		s.Sample, s.Added = sample, n.now().UTC()
		if !s.Local() {
			s.Consent = s.Added
		}
		return &s, nil
	}
	return nil, errors.Join(errs...)
}

// gets says what an engine of a kind is given.
var gets = map[engines.Kind]string{engines.Ears: "your recordings", engines.Eyes: "your photos", engines.Mind: "what is said around you"}

// changedEngines has those work that are chosen now.
func (n *Node) changedEngines(ctx context.Context, o *session, changed ...engines.Spec) error {
	var kinds []result.Kind
	mind := false
	for i := range changed {
		kinds = append(kinds, changed[i].Work())
		mind = mind || changed[i].Kind == engines.Mind
	}
	o.beside.mu.Lock()
	err := n.arrange(o, kinds...)
	o.beside.mu.Unlock()
	if mind {
		// Whoever asked may have hung up: what was removed is not to be asked on.
		err = errors.Join(err, o.language.Change(context.WithoutCancel(ctx), func() {
			lock := o.engine.Hold()
			defer lock.Release()
			o.extract.SetLater(o.language.Later())
		}))
	}
	return err
}

// RemoveEngine implements serve.Enginer.
func (n *Node) RemoveEngine(ctx context.Context, r serve.RemoveEngineRequest) (list []serve.Engine, err error) {
	err = n.during(ctx, func(ctx context.Context, o *session) error {
		var gone []engines.Spec
		err := o.engine.Commit(ctx, func(tx *store.Tx) (err error) {
			gone, err = engines.Remove(tx, engines.Kind(r.Kind), r.Name)
			return err
		})
		if errors.Is(err, memory.ErrNotFound) {
			return fmt.Errorf("engine for %.20q: %w", r.Kind, err)
		}
		if err == nil {
			err = n.changedEngines(ctx, o, gone...)
		}
		if err == nil {
			list, err = n.listEngines(ctx, o)
		}
		return err
	})
	return list, err
}

// TryEngines implements serve.Enginer.
func (n *Node) TryEngines(ctx context.Context) (list []serve.Engine, err error) {
	err = n.during(ctx, func(ctx context.Context, o *session) error {
		var specs []engines.Spec
		err := o.store.View(ctx, func(tx *store.Tx) (err error) {
			specs, err = engines.Load(tx)
			return err
		})
		if err != nil {
			return err
		}
		o.beside.trying.Lock() // two processes of one folder would remove each other's runs
		defer o.beside.trying.Unlock()
		p, err := n.engineProcess("trial")
		if err != nil {
			return err
		}
		defer p.Close()
		tried := map[engines.Kind]map[string]*engines.Sample{}
		for i := range specs {
			s := &specs[i]
			sample, err := engines.Try(ctx, p, s, n.now())
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				sample = &engines.Sample{At: n.now().UTC(), Error: engine.Clip(err.Error())}
			}
			if tried[s.Kind] == nil {
				tried[s.Kind] = map[string]*engines.Sample{}
			}
			tried[s.Kind][s.Engine] = sample
		}
		err = o.engine.Commit(ctx, func(tx *store.Tx) error { return engines.KeepSamples(tx, tried) })
		if err == nil {
			list, err = n.listEngines(ctx, o)
		}
		return err
	})
	return list, err
}
