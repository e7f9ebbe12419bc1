package serve

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Answerer answers questions.
type Answerer interface {
	// Ask answers from memory: in the words of the language model where one is
	// configured, which have to cite what they are from; else with the evidence
	// itself. Where recall finds nothing that answers, no model is asked. A
	// question about a photo is for a worker that sees: it is kept, and who asks
	// it again is given the answer once that has come.
	Ask(ctx context.Context, r AskRequest) (AskResult, error)
}

// AskRequest is a question.
type AskRequest struct {
	Question     string    `json:"question"`
	Budget       int       `json:"budget,omitempty"`        // tokens of what the model is given; 0: 1000; at most 32000
	At           time.Time `json:"at,omitzero"`             // when it is asked; zero: now
	Agent        string    `json:"agent,omitempty"`         // scope
	Run          string    `json:"run,omitempty"`           // scope
	Photo        memory.ID `json:"photo,omitzero"`          // that it is about: a worker is asked, and the answer comes later
	EvidenceOnly bool      `json:"evidence_only,omitempty"` // ask no model
}

// AskResult is an answer with what it is from.
type AskResult struct {
	Answer     string        `json:"answer,omitempty"`   // empty: the evidence is the answer
	Model      string        `json:"model,omitempty"`    // that made it; empty: none did
	Known      bool          `json:"known"`              // false: it is not known, and the evidence the nearest there is
	Confidence float64       `json:"confidence"`         // 0 to 1, of recall
	Cited      bool          `json:"cited"`              // the answer cites what is given here, and nothing else
	Citations  []ContextItem `json:"citations"`          // what it cites, in its order
	Invented   []string      `json:"invented,omitempty"` // citations of nothing that was given
	Evidence   []ContextItem `json:"evidence"`           // the best first
	Question   memory.ID     `json:"question,omitzero"`  // of a question about a photo, which is kept as a memory
	Waits      string        `json:"waits,omitempty"`    // what that waits for; empty: it was answered
	Trouble    string        `json:"trouble,omitempty"`  // why the model gave no answer
}

func (h *handler) ask(r *http.Request) (any, error) {
	var req AskRequest
	if err := decodeBody(r, &req, false); err != nil {
		return nil, err
	}
	if strings.TrimSpace(req.Question) == "" {
		return nil, kindInvalid.problem("question", "question: empty")
	}
	c := ContextRequest{Topic: req.Question, Budget: req.Budget}
	if err := checkContext(&c); err != nil {
		return nil, err
	}
	req.Budget = c.Budget
	res, err := h.Service.Ask(r.Context(), req)
	res.Citations, res.Evidence = notNil(res.Citations), notNil(res.Evidence)
	return res, err
}

// Ask answers a question.
func (c *Client) Ask(ctx context.Context, r AskRequest) (v AskResult, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/ask", nil, r, &v)
}

// EvidenceOf gives what an answer shows of memory: core blocks are always in a
// model's context, and are no evidence by themselves.
func EvidenceOf(items []ContextItem) []ContextItem {
	out := []ContextItem{}
	for _, it := range items {
		if it.Section != string(memory.Core) {
			out = append(out, it)
		}
	}
	return out
}
