package enginehost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Viewer reads the records.
type Viewer interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
}

// LLM returns the settings of the language model: those of the configuration, or if
// that names none, those of the mind that the wearer has chosen.
func LLM(c config.LLM, records Viewer) func(context.Context) (config.LLM, error) {
	return func(ctx context.Context) (config.LLM, error) {
		c := c
		if c.URL != "" {
			return c, nil
		}
		err := records.View(ctx, func(tx *store.Tx) error {
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

// Enginer implements serve.Enginer.
type Enginer struct {
	of     opened.Of[*Host]
	places engines.Places
	langs  []string // spoken around the wearer, BCP 47
}

// NewEnginer makes an Enginer. Places is where engines are searched for; zero: the
// usual addresses on loopback. A program that hears none of langs, BCP 47, is not
// found; if langs is empty, every program is.
func NewEnginer(of opened.Of[*Host], places engines.Places, langs []string) Enginer {
	return Enginer{of, places, langs}
}

// Engines implements serve.Enginer.
func (e Enginer) Engines(ctx context.Context) (list []serve.Engine, err error) {
	err = e.of.During(ctx, func(ctx context.Context, h *Host) error {
		list, err = h.List(ctx)
		return err
	})
	return list, err
}

// List returns the engines with their state.
func (h *Host) List(ctx context.Context) (out []serve.Engine, err error) {
	out = []serve.Engine{}
	err = h.View(ctx, func(tx *store.Tx) error {
		specs, err := engines.Load(tx)
		if err != nil {
			return err
		}
		for i := range specs {
			s := &specs[i]
			if s.Kind == engines.Mind && h.c.LLM.URL != "" {
				continue // the configuration now names a mind, which has priority
			}
			v := toAPI(s)
			if s.Kind != engines.Mind {
				if err := h.state(tx, s, &v); err != nil {
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
	if c := &h.c.LLM; c.URL != "" {
		s := engines.Spec{Kind: engines.Mind, Engine: engines.Language, URL: c.URL, Model: c.Model, Key: string(c.Key)}
		v := toAPI(&s)
		v.Config = true
		out = append(out, v)
	}
	m, err := h.c.Language.Status(ctx) // not Modeller.Model: a node that is being locked waits for us, and we would wait for it
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

// toAPI returns an engine in the form of the API.
func toAPI(s *engines.Spec) serve.Engine {
	v := serve.Engine{Kind: string(s.Kind), Engine: s.Engine, Name: s.Name(), URL: s.URL, Model: s.Model, Keyed: s.Key != "", Local: s.Local(), Added: s.Added, Consent: s.Consent, Reasons: []string{}}
	if s.Sample != nil {
		sample := serve.EngineSample(*s.Sample)
		v.Sample = &sample
	}
	return v
}

// state adds what waits for an engine.
func (h *Host) state(tx *store.Tx, s *engines.Spec, v *serve.Engine) error {
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
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.queues[kind]; w != nil {
		st := w.queue.State()
		v.Held, v.Absent, v.Done, v.Trouble, v.Retry = st.Held, st.Absent, st.Done, st.Trouble, st.Retry
		v.Waiting = max(v.Waiting-st.Held-st.Absent, 0)
	}
	return nil
}

// Working returns the engines that hear and see, with their state.
func (h *Host) Working(tx *store.Tx) (out []serve.Engine, err error) {
	specs, err := engines.Load(tx)
	for i := range specs {
		if err == nil && specs[i].Work() != "" {
			v := toAPI(&specs[i])
			err = h.state(tx, &specs[i], &v)
			out = append(out, v)
		}
	}
	return out, err
}

// FoundEngines implements serve.Enginer.
func (e Enginer) FoundEngines(ctx context.Context, kind string) ([]serve.FoundEngine, error) {
	out := []serve.FoundEngine{}
	for _, s := range engines.Discover(ctx, engines.Kind(kind), e.places) {
		if s.LacksLanguages(e.langs) {
			continue
		}
		f := serve.FoundEngine{Kind: kind, Engine: s.Engine, Name: s.Name(), Address: s.URL, Model: s.Model}
		f.Address = cmp.Or(f.Address, s.Engine)
		out = append(out, f)
	}
	return out, ctx.Err()
}

// AddEngine implements serve.Enginer.
func (e Enginer) AddEngine(ctx context.Context, r serve.AddEngineRequest) (v serve.Engine, err error) {
	err = e.of.During(ctx, func(ctx context.Context, h *Host) error {
		h.trying.Lock()
		s, err := h.tryEngine(ctx, &r)
		h.trying.Unlock()
		if err != nil {
			return err
		}
		if err := h.Commit(ctx, func(tx *store.Tx) error { return engines.Put(tx, *s) }); err != nil {
			return err
		}
		if err := h.ApplyChoice(ctx, *s); err != nil {
			return err
		}
		all, err := h.List(ctx)
		for i := range all {
			if all[i].Kind == r.Kind && all[i].Engine == s.Engine {
				v = all[i]
			}
		}
		return err
	})
	return v, err
}

// tryEngine returns the engine that a request means, after it has answered to a sample.
func (h *Host) tryEngine(ctx context.Context, r *serve.AddEngineRequest) (*engines.Spec, error) {
	kind := engines.Kind(r.Kind)
	if kind == engines.Mind && h.c.LLM.URL != "" {
		return nil, fmt.Errorf("%w: the configuration names a language model at llm.url, which takes precedence", serve.ErrConflict)
	}
	program := kind == engines.Ears && r.Address == engines.PocketSphinx || kind == engines.Eyes && r.Address == engines.Tesseract
	if !program && !engines.IsAddress(r.Address) {
		return nil, fmt.Errorf("%w: address: %.80q: want a URL such as %s", memory.ErrInvalid, r.Address, addresses[kind])
	}
	local := program || (&engines.Spec{URL: r.Address}).Local()
	if !local && !r.Consent {
		return nil, fmt.Errorf("%w: %s is not on this machine: it would get %s; say that you agree", serve.ErrConflict, r.Address, gets[kind])
	}
	p, err := h.process("trial")
	if err != nil {
		return nil, err
	}
	defer p.Close()
	var errs []error
	var answered error // what it answered, if that does not depend on the kind of server
	for _, s := range engines.Guess(ctx, kind, r.Address, r.Model, string(r.Key)) {
		if err := s.Check(); err != nil {
			errs = append(errs, fmt.Errorf("%w: %v", memory.ErrInvalid, err))
			continue
		}
		sample, err := engines.Try(ctx, p, &s, h.c.Now())
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		err, ofServer := withAddress(r.Address, err)
		if err == nil && sample.Said != "" && !r.Anyway {
			err, ofServer = misheard(r.Address, &s, sample), true
		}
		if err != nil {
			if !errors.Is(err, serve.ErrMisheard) {
				err = fmt.Errorf("%w: %v", serve.ErrEngine, err)
			}
			if ofServer {
				answered = err
			}
			if n := len(errs); n == 0 || errs[n-1].Error() != err.Error() {
				errs = append(errs, err)
			}
			continue
		}
		s.Sample, s.Added = sample, h.c.Now().UTC()
		if !s.Local() {
			s.Consent = s.Added
		}
		return &s, nil
	}
	if answered != nil { // what another kind of engine made of it says less
		return nil, answered
	}
	return nil, errors.Join(errs...)
}

// withAddress says of which address an error is, where it makes no difference what kind of server is
// there. ofServer reports whether the server wants a key, or sends to another address.
func withAddress(address string, err error) (_ error, ofServer bool) {
	f, ok := errors.AsType[*engine.Fault](err)
	switch {
	case !ok:
		return err, false
	case f.Kind == engine.Barred || f.Kind == engine.Moved:
		return fmt.Errorf("%s %s", address, strings.TrimPrefix(f.Detail, "it ")), true
	case (f.Kind == engine.Gone || f.Kind == engine.Missing) && status.MatchString(f.Detail):
		return fmt.Errorf("%s answers %s", address, f.Detail), false
	case f.Kind == engine.Missing && engines.IsAddress(address):
		return fmt.Errorf("%s: %s", address, f.Detail), false
	case f.Kind == engine.Gone:
		return fmt.Errorf("%s does not answer: %s", address, f.Detail), false
	}
	return err, false
}

// misheard returns an ErrMisheard that says what was heard or read.
func misheard(address string, s *engines.Spec, v *engines.Sample) error {
	did := "heard"
	if s.Kind == engines.Eyes {
		did = "read"
	}
	if v.Words == 0 {
		return fmt.Errorf("%w: %s %s nothing, but the sample says %q", serve.ErrMisheard, address, did, v.Said)
	}
	return fmt.Errorf("%w: %s %s %q, but the sample says %q", serve.ErrMisheard, address, did, v.Text, v.Said)
}

// status begins the detail of a fault that a server reports itself.
var status = regexp.MustCompile(`^\d{3}\b`)

// addresses says, for each kind, what the address of an engine may be.
var addresses = map[engines.Kind]string{
	engines.Ears: "http://127.0.0.1:8080 or tcp://127.0.0.1:10300, or " + engines.PocketSphinx,
	engines.Eyes: "http://127.0.0.1:11434/v1, or " + engines.Tesseract,
	engines.Mind: "http://127.0.0.1:11434/v1",
}

// gets says what an engine of each kind receives.
var gets = map[engines.Kind]string{engines.Ears: "your recordings", engines.Eyes: "your photos", engines.Mind: "what is said around you"}

// ApplyChoice starts and ends engines after the wearer's choice has changed.
func (h *Host) ApplyChoice(ctx context.Context, changed ...engines.Spec) error {
	var kinds []result.Kind
	mind := false
	for i := range changed {
		kinds = append(kinds, changed[i].Work())
		mind = mind || changed[i].Kind == engines.Mind
	}
	h.mu.Lock()
	err := h.arrange(context.WithoutCancel(ctx), kinds...)
	h.mu.Unlock()
	if mind {
		// The caller may have hung up, but a mind that was removed must not be asked
		// any more.
		err = errors.Join(err, h.c.Language.Change(context.WithoutCancel(ctx), func() {
			lock := h.c.Engine.AcquireWriter()
			defer lock.Release()
			h.c.Extract.SetOnSecondLook(h.c.Language.OnSecondLook())
		}))
	}
	return err
}

// RemoveEngine implements serve.Enginer.
func (e Enginer) RemoveEngine(ctx context.Context, r serve.RemoveEngineRequest) (list []serve.Engine, err error) {
	err = e.of.During(ctx, func(ctx context.Context, h *Host) error {
		var gone []engines.Spec
		err := h.Commit(ctx, func(tx *store.Tx) (err error) {
			gone, err = engines.Remove(tx, engines.Kind(r.Kind), r.Name)
			return err
		})
		if errors.Is(err, memory.ErrNotFound) {
			return fmt.Errorf("engine for %.20q: %w", r.Kind, err)
		}
		if err == nil {
			err = h.ApplyChoice(ctx, gone...)
		}
		if err == nil {
			list, err = h.List(ctx)
		}
		return err
	})
	return list, err
}

// TryEngines implements serve.Enginer.
func (e Enginer) TryEngines(ctx context.Context) (list []serve.Engine, err error) {
	err = e.of.During(ctx, func(ctx context.Context, h *Host) error {
		specs, err := h.specs(ctx)
		if err != nil {
			return err
		}
		h.trying.Lock() // two processes in one folder would remove each other's runs
		defer h.trying.Unlock()
		p, err := h.process("trial")
		if err != nil {
			return err
		}
		defer p.Close()
		tried := map[engines.Kind]map[string]*engines.Sample{}
		for i := range specs {
			s := &specs[i]
			sample, err := engines.Try(ctx, p, s, h.c.Now())
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				sample = &engines.Sample{At: h.c.Now().UTC(), Error: engine.Clip(err.Error())}
			}
			if tried[s.Kind] == nil {
				tried[s.Kind] = map[string]*engines.Sample{}
			}
			tried[s.Kind][s.Engine] = sample
		}
		err = h.Commit(ctx, func(tx *store.Tx) error { return engines.KeepSamples(tx, tried) })
		if err == nil {
			list, err = h.List(ctx)
		}
		return err
	})
	return list, err
}
