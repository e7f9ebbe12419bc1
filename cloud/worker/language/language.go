// Package language finds memories in what was said, with a language model. It
// combines the pipelines of Mem0 (a summary, the last messages, extraction,
// comparison with the nearest memories) and of MIRIX (a router, and a manager
// for each type of memory, side by side).
//
// The words:
//
//   - The router sees the new lines first, and chooses the managers that get
//     them.
//   - A manager is one prompt for one type of memory. It extracts candidates,
//     each with the words that it quotes. The candidates are then compared with
//     the nearest memories of the type, which the model sees under whole
//     numbers.
//   - The results are rulings of package judge, which accepts nothing that the
//     quoted words do not support.
//
// The vault's manager is not a prompt but a rule, and comes first: a line that
// contains a secret is shown to no model. This package stores nothing. Its
// caller turns rulings into proposals.
package language

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/locket-dev/locket/internal/engine/cost"
	"github.com/locket-dev/locket/internal/engine/prompts"
	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/judge"
)

// Limits of what a model is shown and asked.
const (
	MaxMessages = 8  // of a batch
	MaxEarlier  = 8  // before them
	MaxKnown    = 20 // memories with which a manager's candidates are compared
	maxNear     = 6  // of these memories, for one candidate
	maxFound    = 32 // candidates of one answer
)

// Plugin is the name of the pipeline as the source of its memories.
const Plugin = "worker/language"

// Pipeline works on batches. It is safe for concurrent use if its fields are.
type Pipeline struct {
	Model cost.Model
	Types []memory.Type // that managers may make: the types of the grant
	Owner string        // user id of the wearer
	// Near returns the k active memories of a type that are nearest to a text.
	Near func(ctx context.Context, text string, of memory.Type, k int) ([]memory.Memory, error)
	// Secret reports whether a text contains a secret.
	Secret func(ctx context.Context, text string) (bool, error)
}

// ManagerWork describes the work of one manager.
type ManagerWork struct {
	Manager  memory.Type `json:"manager"`
	Prompt   string      `json:"prompt,omitempty"` // names and versions; empty: a rule
	Found    int         `json:"found"`            // number of candidates; for the vault: lines that were held back
	Proposed int         `json:"proposed"`
	Refused  int         `json:"refused"`
	Fault    string      `json:"fault,omitempty"` // why it gave no result
}

// Result is the result of a batch.
type Result struct {
	Rulings  []judge.Ruling
	Managers []ManagerWork
}

// Held returns how many lines were held back because of secrets.
func (r *Result) Held() (n int) {
	for _, a := range r.Managers {
		if a.Manager == memory.Vault {
			n += a.Found
		}
	}
	return n
}

// Work asks the model about a batch. If some managers fail, the result has what
// the others found, and the error joins the failures. If any failure is
// temporary, Work returns an error and no result, because the whole batch is
// tried again.
func (p *Pipeline) Work(ctx context.Context, b judge.Batch) (Result, error) {
	var res Result
	held, err := p.holdBack(ctx, &b)
	if err != nil {
		return res, err
	}
	res.Managers = append(res.Managers, ManagerWork{Manager: memory.Vault, Found: held})
	if len(b.Messages) == 0 {
		return res, nil
	}
	picked, err := p.route(ctx, &b)
	if err != nil {
		return res, err
	}
	type outcome struct {
		rulings []judge.Ruling
		asked   ManagerWork
		err     error
	}
	outs := make([]outcome, len(picked))
	var all sync.WaitGroup
	for i, t := range picked {
		all.Go(func() {
			o := &outs[i]
			o.rulings, o.asked, o.err = p.manage(ctx, t, b)
		})
	}
	all.Wait()
	var errs []error
	for _, o := range outs {
		if o.err != nil {
			f, ok := errors.AsType[*llm.Fault](o.err)
			if !ok || f.Temporary() || ctx.Err() != nil {
				return Result{}, o.err
			}
			errs = append(errs, fmt.Errorf("the manager of %s memory: %w", o.asked.Manager, o.err))
			o.asked.Fault = f.Error()
		}
		res.Managers = append(res.Managers, o.asked)
		res.Rulings = append(res.Rulings, o.rulings...)
	}
	res.Rulings = once(res.Rulings)
	return res, errors.Join(errs...)
}

// holdBack is the vault's manager: it removes the lines that contain a secret
// from a batch.
func (p *Pipeline) holdBack(ctx context.Context, b *judge.Batch) (held int, err error) {
	clean := func(ms []judge.Message) (out []judge.Message, err error) {
		for _, m := range ms {
			found, err := p.Secret(ctx, m.Text)
			if err != nil {
				return nil, err
			}
			if !found {
				out = append(out, m)
			}
		}
		return out, nil
	}
	n := len(b.Messages)
	if b.Messages, err = clean(b.Messages); err != nil {
		return 0, err
	}
	held = n - len(b.Messages)
	if b.Earlier, err = clean(b.Earlier); err != nil {
		return 0, err
	}
	if found, err := p.Secret(ctx, b.Summary); err != nil {
		return 0, err
	} else if found {
		b.Summary = ""
	}
	return held, nil
}

// managers are the managers that are prompts, in the order in which they are
// asked.
var managers = []memory.Type{memory.Core, memory.Episodic, memory.Semantic, memory.Procedural, memory.Resource}

// route asks which managers get a batch. If the answer can't be used, all of
// them get it, so that a bad router loses nothing.
func (p *Pipeline) route(ctx context.Context, b *judge.Batch) (picked []memory.Type, err error) {
	var may []memory.Type
	for _, t := range managers {
		if slices.Contains(p.Types, t) {
			may = append(may, t)
		}
	}
	if len(may) < 2 {
		return may, nil
	}
	var answer struct {
		Managers []string `json:"managers"`
		Reason   string   `json:"reason"` // part of the schema; nobody reads it
	}
	r := llm.Request{System: prompts.Text(prompts.Router, prompts.Rules), Messages: llm.FromUser(show(b)), Schema: routes}
	_, err = p.Model.AskJSON(ctx, r, func(raw []byte) error {
		answer.Managers = nil
		if err := decode(raw, &answer); err != nil {
			return err
		}
		for i, m := range answer.Managers {
			if !slices.Contains(managers, memory.Type(m)) {
				return fmt.Errorf("managers[%d]: %.20q is none", i, m)
			}
		}
		return nil
	})
	if f, ok := errors.AsType[*llm.Fault](err); ok && !f.Temporary() && ctx.Err() == nil {
		return may, nil
	}
	if err != nil {
		return nil, err
	}
	for _, t := range may {
		if slices.Contains(answer.Managers, string(t)) {
			picked = append(picked, t)
		}
	}
	return picked, nil
}

// manage lets one manager find candidates, compares them with known memories,
// and rules on the result.
func (p *Pipeline) manage(ctx context.Context, t memory.Type, b judge.Batch) ([]judge.Ruling, ManagerWork, error) {
	m := asking[t]
	asked := ManagerWork{Manager: t, Prompt: m.prompt}
	var found []judge.Operation
	r := llm.Request{System: prompts.Text(m.prompt, prompts.Rules), Messages: llm.FromUser(show(&b)), Schema: m.schema}
	_, err := p.Model.AskJSON(ctx, r, func(raw []byte) (err error) {
		found, err = candidates(raw, t, len(b.Messages))
		return err
	})
	if err != nil || len(found) == 0 {
		return nil, asked, err
	}
	asked.Found = len(found)
	b.Types = []memory.Type{t}
	if b.Known, err = p.known(ctx, t, found); err != nil {
		return nil, asked, err
	}
	if len(b.Known) > 0 {
		asked.Prompt += " " + prompts.Reconcile
		if err := p.compare(ctx, &b, found); err != nil {
			return nil, asked, err
		}
	}
	src := memory.Source{Plugin: Plugin, Version: asked.Prompt, Model: p.Model.Name()}
	rulings := judge.Rule(&b, found, src, p.Owner)
	for i := range rulings {
		if err := p.clean(ctx, &rulings[i]); err != nil {
			return nil, asked, err
		}
		if rulings[i].Verdict == memory.Refuse {
			asked.Refused++
		} else {
			asked.Proposed++
		}
	}
	return rulings, asked, nil
}

// clean refuses a ruling that still contains a secret.
func (p *Pipeline) clean(ctx context.Context, r *judge.Ruling) error {
	if r.Candidate == nil || r.Verdict == memory.Refuse {
		return nil
	}
	text := r.Candidate.Text
	if f := r.Candidate.Fields.Procedural; f != nil {
		text += "\n" + strings.Join(f.Steps, "\n")
	}
	if f := r.Candidate.Fields.Resource; f != nil {
		text += "\n" + f.Title + "\n" + f.Content
	}
	found, err := p.Secret(ctx, text)
	if err == nil && found {
		*r = judge.Ruling{Verdict: memory.Refuse, Message: r.Message, Reason: "it holds a secret"}
	}
	return err
}

// once removes duplicates that two managers found in one line, and all but the
// first change of each memory.
func once(rulings []judge.Ruling) []judge.Ruling {
	said, touched := map[string]bool{}, map[memory.ID]bool{}
	for i := range rulings {
		r := &rulings[i]
		if r.Verdict == memory.Refuse {
			continue
		}
		if c := r.Candidate; c != nil {
			key := string(r.Message.Utterance[:]) + memory.Normal(c.Text)
			if said[key] {
				*r = judge.Ruling{Verdict: memory.Refuse, Message: r.Message, Reason: "another manager said it"}
				continue
			}
			said[key] = true
		}
		if r.Known != nil && r.Verdict != memory.Add {
			if touched[r.Known.ID] {
				*r = judge.Ruling{Verdict: memory.Refuse, Message: r.Message, Reason: "another manager changed it"}
				continue
			}
			touched[r.Known.ID] = true
		}
	}
	return rulings
}
