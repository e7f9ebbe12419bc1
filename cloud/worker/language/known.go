package language

import (
	"context"
	"fmt"
	"slices"

	"github.com/locket-dev/locket/internal/engine/prompts"
	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/judge"
)

// known collects the memories that are nearest to the candidates, in rounds:
// every candidate gets its nearest memory before any gets its second.
func (p *Pipeline) known(ctx context.Context, t memory.Type, found []judge.Operation) ([]memory.Memory, error) {
	lists := make([][]memory.Memory, len(found))
	for i := range found {
		var err error
		if lists[i], err = p.Near(ctx, found[i].Text+" "+found[i].Quote, t, maxNear); err != nil {
			return nil, err
		}
	}
	var out []memory.Memory
	for rank := range maxNear {
		for _, l := range lists {
			if rank >= len(l) || len(out) == MaxKnown {
				continue
			}
			m := l[rank]
			if m.Type != t || m.State != memory.Active || m.Negates || m.Sensitivity >= memory.Secret {
				continue
			}
			if !slices.ContainsFunc(out, func(o memory.Memory) bool { return o.ID == m.ID }) {
				out = append(out, m)
			}
		}
	}
	return out, nil
}

type shownCandidate struct {
	N     int    `json:"n"`
	Text  string `json:"text"`
	Quote string `json:"quote"`
}

type shownKnown struct {
	ID    int    `json:"id"`
	Text  string `json:"text"`
	Since string `json:"since,omitempty"`
}

// decision is the model's answer about one candidate.
type decision struct {
	Candidate int            `json:"candidate"`
	Op        memory.Verdict `json:"op"`
	ID        *int           `json:"id"`
	Value     *string        `json:"value"`
}

// compare asks the model how each candidate relates to the known memories. A
// candidate without an answer counts as an ADD.
func (p *Pipeline) compare(ctx context.Context, b *judge.Batch, found []judge.Operation) error {
	var data struct {
		Candidates []shownCandidate `json:"candidates"`
		Known      []shownKnown     `json:"known"`
	}
	for i, o := range found {
		data.Candidates = append(data.Candidates, shownCandidate{i + 1, o.Text, o.Quote})
	}
	for i := range b.Known {
		data.Known = append(data.Known, shownKnown{i + 1, b.Known[i].Text, dateOf(b.Known[i].TrueFrom)})
	}
	var decisions []decision
	r := llm.Request{System: prompts.Text(prompts.Reconcile), Messages: llm.FromUser(llm.JSON(data)), Schema: decided}
	_, err := p.Model.AskJSON(ctx, r, func(raw []byte) (err error) {
		decisions, err = decisionsOf(raw, len(found), len(b.Known))
		return err
	})
	if err != nil {
		return err
	}
	for _, d := range decisions {
		o := &found[d.Candidate-1]
		o.Op, o.ID, o.Value = d.Op, d.ID, d.Value
	}
	return nil
}

// decisionsOf parses an answer. A number that the model was not given is an
// error, which the model is told.
func decisionsOf(raw []byte, candidates, known int) ([]decision, error) {
	var answer struct {
		Decisions *[]decision `json:"decisions"`
	}
	if err := decode(raw, &answer); err != nil {
		return nil, err
	}
	if answer.Decisions == nil {
		return nil, fmt.Errorf("decisions is missing")
	}
	seen := map[int]bool{}
	for i, d := range *answer.Decisions {
		at := fmt.Sprintf("decisions[%d]", i)
		switch {
		case d.Candidate < 1 || d.Candidate > candidates:
			return nil, fmt.Errorf("%s.candidate: %d is not one of 1 to %d", at, d.Candidate, candidates)
		case seen[d.Candidate]:
			return nil, fmt.Errorf("%s.candidate: %d has a decision already", at, d.Candidate)
		case !slices.Contains([]memory.Verdict{memory.Add, memory.Update, memory.Delete, memory.Noop}, d.Op):
			return nil, fmt.Errorf("%s.op: not ADD, UPDATE, DELETE or NOOP", at)
		case d.Op != memory.Add && d.ID == nil:
			return nil, fmt.Errorf("%s.id: is needed for %s", at, d.Op)
		case d.Op != memory.Add && (*d.ID < 1 || *d.ID > known):
			return nil, fmt.Errorf("%s.id: %d is not one of 1 to %d", at, *d.ID, known)
		}
		seen[d.Candidate] = true
	}
	return *answer.Decisions, nil
}
