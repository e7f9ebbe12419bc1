package serve

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Modeller speaks about the language model that a node may ask. Without one
// RetryParked and RunModel are ErrUnsupported; the rest is empty.
type Modeller interface {
	// Model tells which one is asked, and how that goes.
	Model(ctx context.Context) (ModelStatus, error)
	// ParkedMessages gives the lines that its answers about can't be used, the
	// oldest first, at most limit.
	ParkedMessages(ctx context.Context, limit int) ([]ParkedMessage, error)
	// RetryParked has them asked about again.
	RetryParked(ctx context.Context) (ModelStatus, error)
	// RunModel asks about all that waits, now; it stops at a fault of the
	// server, which is in the result.
	RunModel(ctx context.Context) (ModelRun, error)
	// Instructions gives the wearer's own, for the space: what the model should
	// keep and leave out.
	Instructions(ctx context.Context) (string, error)
	// SetInstructions replaces them; empty: there are none.
	SetInstructions(ctx context.Context, text string) error
}

// ModelStatus is which language model is asked, and how that goes. Counts of
// calls and tokens are since the node was unlocked.
type ModelStatus struct {
	URL              string    `json:"url"` // empty: none is configured
	Model            string    `json:"model"`
	Extract          bool      `json:"extract"`           // it is asked about what is said
	Prompt           string    `json:"prompt,omitempty"`  // version of what it is asked with
	Waiting          int       `json:"waiting"`           // lines to be asked about
	Parked           int       `json:"parked"`            // lines that it gave no usable answer about
	Trouble          string    `json:"trouble,omitempty"` // why lines wait
	Calls            int       `json:"calls"`
	Faults           int       `json:"faults"`
	PromptTokens     int       `json:"prompt_tokens"`
	CompletionTokens int       `json:"completion_tokens"`
	Answered         time.Time `json:"answered,omitzero"` // the last time
}

// ParkedMessage is a line that the model gave no usable answer about. It is
// kept and found as any other; only the model found nothing in it yet.
type ParkedMessage struct {
	Utterance memory.ID `json:"utterance"`
	At        time.Time `json:"at"`
	Speaker   string    `json:"speaker,omitempty"`
	Text      string    `json:"text"`
	Tries     int       `json:"tries"`
	Parked    time.Time `json:"parked"`
	Reason    string    `json:"reason"`
}

// ParkedAnswer lists them.
type ParkedAnswer struct {
	Messages []ParkedMessage `json:"messages"`
}

// ModelRun is what came of asking.
type ModelRun struct {
	Messages int             `json:"messages"` // that were asked about
	Changes  []memory.Change `json:"changes"`
	Refused  int             `json:"refused"` // of what the model said
	Parked   int             `json:"parked"`
	Trouble  string          `json:"trouble,omitempty"` // why the rest waits
}

// InstructionsRequest replaces the wearer's instructions.
type InstructionsRequest struct {
	Text string `json:"text"` // empty: there are none
}

// InstructionsAnswer gives them.
type InstructionsAnswer struct {
	Text string `json:"text"`
}

// MaxInstructions is how long they may be, in bytes.
const MaxInstructions = 4 << 10

func (h *handler) model(r *http.Request) (any, error) { return h.Service.Model(r.Context()) }

func (h *handler) parked(r *http.Request) (any, error) {
	p := readParams(r)
	limit := p.number("limit", DefaultPage, 1, MaxList)
	if p.err != nil {
		return nil, p.err
	}
	list, err := h.Service.ParkedMessages(r.Context(), int(limit))
	return ParkedAnswer{notNil(list)}, err
}

func (h *handler) retryParked(r *http.Request) (any, error) {
	return h.Service.RetryParked(r.Context())
}

func (h *handler) runModel(r *http.Request) (any, error) {
	res, err := h.Service.RunModel(r.Context())
	res.Changes = notNil(res.Changes)
	return res, err
}

func (h *handler) instructions(r *http.Request) (any, error) {
	text, err := h.Service.Instructions(r.Context())
	return InstructionsAnswer{text}, err
}

func (h *handler) setInstructions(r *http.Request) (any, error) {
	var req InstructionsRequest
	if err := decodeBody(r, &req, false); err != nil {
		return nil, err
	}
	if len(req.Text) > MaxInstructions {
		return nil, kindInvalid.problem("text", fmt.Sprintf("text: %d bytes, at most %d", len(req.Text), MaxInstructions))
	}
	req.Text = strings.TrimSpace(req.Text)
	return InstructionsAnswer(req), h.Service.SetInstructions(r.Context(), req.Text)
}

// Model tells about the language model.
func (c *Client) Model(ctx context.Context) (v ModelStatus, err error) {
	return v, c.call(ctx, http.MethodGet, "/v1/llm", nil, nil, &v)
}

// ParkedMessages gives lines that the model gave no usable answer about.
func (c *Client) ParkedMessages(ctx context.Context, limit int) ([]ParkedMessage, error) {
	var v ParkedAnswer
	err := c.call(ctx, http.MethodGet, "/v1/llm/parked", limitOf(limit), nil, &v)
	return v.Messages, err
}

// RetryParked has them asked about again.
func (c *Client) RetryParked(ctx context.Context) (v ModelStatus, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/llm/retry", nil, nil, &v)
}

// RunModel asks about all that waits.
func (c *Client) RunModel(ctx context.Context) (v ModelRun, err error) {
	return v, c.call(ctx, http.MethodPost, "/v1/llm/run", nil, nil, &v)
}

// Instructions gives the wearer's own.
func (c *Client) Instructions(ctx context.Context) (string, error) {
	var v InstructionsAnswer
	err := c.call(ctx, http.MethodGet, "/v1/instructions", nil, nil, &v)
	return v.Text, err
}

// SetInstructions replaces them.
func (c *Client) SetInstructions(ctx context.Context, text string) error {
	var v InstructionsAnswer
	return c.call(ctx, http.MethodPut, "/v1/instructions", nil, InstructionsRequest{text}, &v)
}
