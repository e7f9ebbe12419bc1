package serve

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Retriever gathers what an assistant should have in mind.
type Retriever interface {
	// Context finds what the conversation is about and gives up to ten
	// memories of each type and what was said of it, as one block of text
	// within a budget: see package retrieve. Vault memories are never in it.
	Context(ctx context.Context, r ContextRequest) (ContextResult, error)
}

// ContextRequest says what the conversation is.
type ContextRequest struct {
	Messages []ContextMessage `json:"messages,omitempty"` // the latest last; empty: the session that is going on
	Topic    string           `json:"topic,omitempty"`    // instead of inferring it
	Budget   int              `json:"budget,omitempty"`   // tokens; 0: 1000; at most 32000
	At       time.Time        `json:"at,omitzero"`        // what "yesterday" is relative to; zero: now
	Agent    string           `json:"agent,omitempty"`    // scope
	Run      string           `json:"run,omitempty"`      // scope
}

// ContextMessage is one message of a conversation.
type ContextMessage struct {
	Speaker string `json:"speaker,omitempty"`
	Text    string `json:"text"`
}

// ContextResult is what should be in mind.
type ContextResult struct {
	Topic      string        `json:"topic"` // empty: nothing was said that has one
	Text       string        `json:"text"`  // the block; empty: nothing is known
	Tokens     int           `json:"tokens"`
	Known      bool          `json:"known"`      // something in it speaks of the topic
	Confidence float64       `json:"confidence"` // 0 to 1
	Items      []ContextItem `json:"items"`      // what is in the block, core first, then best first
	Left       int           `json:"left"`       // items that had no room
}

// ContextItem is one line of a block.
type ContextItem struct {
	ID       memory.ID         `json:"id"`
	Cite     string            `json:"cite"`    // the beginning of the id, as the block has it
	Section  string            `json:"section"` // a type of memory, or utterances
	Text     string            `json:"text"`
	At       time.Time         `json:"at,omitzero"`
	Tokens   int               `json:"tokens"`
	Evidence []memory.Evidence `json:"evidence,omitempty"`
}

// Limits of a ContextRequest.
const (
	DefaultBudget = 1000
	MaxBudget     = 32000
	MaxMessages   = 200
)

func (h *handler) context(r *http.Request) (any, error) {
	var req ContextRequest
	if err := decodeBody(r, &req, true); err != nil {
		return nil, err
	}
	if err := checkContext(&req); err != nil {
		return nil, err
	}
	res, err := h.Service.Context(r.Context(), req)
	res.Items = notNil(res.Items)
	return res, err
}

func checkContext(r *ContextRequest) error {
	switch {
	case r.Budget < 0 || r.Budget > MaxBudget:
		return kindInvalid.problem("budget", fmt.Sprintf("budget: %d, want 1 to %d tokens", r.Budget, MaxBudget))
	case len(r.Messages) > MaxMessages:
		return kindInvalid.problem("messages", fmt.Sprintf("messages: %d, at most %d", len(r.Messages), MaxMessages))
	case len(r.Topic) > memory.MaxText:
		return kindInvalid.problem("topic", fmt.Sprintf("topic: %d bytes, at most %d", len(r.Topic), memory.MaxText))
	}
	for i, m := range r.Messages {
		if strings.TrimSpace(m.Text) == "" {
			return kindInvalid.problem("messages", fmt.Sprintf("messages[%d].text: empty", i))
		}
	}
	if r.Budget == 0 {
		r.Budget = DefaultBudget
	}
	return nil
}

// Context gathers what an assistant should have in mind.
func (c *Client) Context(ctx context.Context, r ContextRequest) (v ContextResult, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/context", nil, r, &v)
}
