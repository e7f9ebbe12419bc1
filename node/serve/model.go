package serve

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Modeller manages the language model that a node may ask. Without a model,
// RetryParked and RunModel return ErrUnsupported, and the rest is empty.
type Modeller interface {
	// Model returns the model's settings and state.
	Model(ctx context.Context) (ModelStatus, error)
	// ParkedMessages returns the lines for which the model gave no usable
	// answer, the oldest first, at most limit.
	ParkedMessages(ctx context.Context, limit int) ([]ParkedMessage, error)
	// RetryParked makes the node ask the model about parked lines again.
	RetryParked(ctx context.Context) (ModelStatus, error)
	// RunModel asks the model about everything that waits, now. It stops at an
	// error of the server, which is in the result.
	RunModel(ctx context.Context) (ModelRun, error)
	// Instructions returns the wearer's own instructions for the space: what
	// the model should keep and leave out.
	Instructions(ctx context.Context) (string, error)
	// SetInstructions replaces them; empty: there are none.
	SetInstructions(ctx context.Context, text string) error
}

// ModelStatus is the language model's settings and state. Calls and tokens are
// counted since the node was unlocked.
type ModelStatus struct {
	URL              string    `json:"url"` // empty: no model is configured
	Model            string    `json:"model"`
	Extract          bool      `json:"extract"`           // it is asked about lines that were said
	Prompt           string    `json:"prompt,omitempty"`  // version of the prompt
	Waiting          int       `json:"waiting"`           // lines about which the model will be asked
	Parked           int       `json:"parked"`            // lines without a usable answer
	Trouble          string    `json:"trouble,omitempty"` // why lines wait
	Calls            int       `json:"calls"`
	Faults           int       `json:"faults"`
	PromptTokens     int       `json:"prompt_tokens"`
	CompletionTokens int       `json:"completion_tokens"`
	Answered         time.Time `json:"answered,omitzero"` // when it last answered
}

// ParkedMessage is a line for which the model gave no usable answer. The line
// is stored and can be found like any other.
type ParkedMessage struct {
	Utterance memory.ID `json:"utterance"`
	At        time.Time `json:"at"`
	Speaker   string    `json:"speaker,omitempty"`
	Text      string    `json:"text"`
	Tries     int       `json:"tries"`
	Parked    time.Time `json:"parked"`
	Reason    string    `json:"reason"`
}

// ParkedAnswer lists parked lines.
type ParkedAnswer struct {
	Messages []ParkedMessage `json:"messages"`
}

// ModelRun is the result of asking.
type ModelRun struct {
	Messages int             `json:"messages"` // number of lines about which it was asked
	Changes  []memory.Change `json:"changes"`
	Refused  int             `json:"refused"` // parts of the answers that were refused
	Parked   int             `json:"parked"`
	Trouble  string          `json:"trouble,omitempty"` // why the other lines still wait
}

// InstructionsRequest replaces the wearer's instructions.
type InstructionsRequest struct {
	Text string `json:"text"` // empty: no instructions
}

// InstructionsAnswer has the wearer's instructions.
type InstructionsAnswer struct {
	Text string `json:"text"`
}

// MaxInstructions is their maximum length in bytes.
const MaxInstructions = 4 << 10

type limitQuery struct {
	Limit int `query:"limit" min:"1" max:"1000" default:"50" doc:"number of entries"`
}

var modelTopic = topic[Modeller]{getModel.untyped, parked.untyped, retryParked.untyped, runModel.untyped, getInstructions.untyped, setInstructions.untyped}

var (
	getModel = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/llm", id: "model",
		summary: "Show which language model is used, and its state", gives: "The status",
	}, Modeller.Model)

	parked = fieldList[ParkedAnswer, limitQuery](RightOwner, spec{
		method: "GET", path: "/v1/llm/parked", id: "parked",
		summary: "List the lines about which the model gave no usable answer, oldest first", gives: "The lines, with the reasons",
	}, Modeller.ParkedMessages)

	retryParked = plainRoute(RightOwner, spec{
		method: "POST", path: "/v1/llm/retry", id: "retryParked",
		summary: "Ask the model about parked lines again", gives: "The status",
	}, Modeller.RetryParked)

	runModel = plainRoute(RightOwner, spec{
		method: "POST", path: "/v1/llm/run", id: "runModel",
		summary: "Ask the model about all waiting lines now", gives: "The result",
	}, Modeller.RunModel)

	getInstructions = plainRoute(RightOwner, spec{
		method: "GET", path: "/v1/instructions", id: "instructions",
		summary: "Get the wearer's own instructions for the model", gives: "The text",
	}, func(s Modeller, ctx context.Context) (InstructionsAnswer, error) {
		text, err := s.Instructions(ctx)
		return InstructionsAnswer{text}, err
	})

	setInstructions = jsonRoute(RightOwner, spec{
		method: "PUT", path: "/v1/instructions", id: "setInstructions",
		summary: "Replace the wearer's instructions for the model", gives: "The text",
	}, func(s Modeller, ctx context.Context, req InstructionsRequest) (InstructionsAnswer, error) {
		return InstructionsAnswer(req), s.SetInstructions(ctx, req.Text)
	})
)

func (r *InstructionsRequest) check() error {
	if len(r.Text) > MaxInstructions {
		return kindInvalid.problem("text", fmt.Sprintf("text: %d bytes, at most %d", len(r.Text), MaxInstructions))
	}
	r.Text = strings.TrimSpace(r.Text)
	return nil
}

// Model returns the settings and state of the language model.
func (c *Client) Model(ctx context.Context) (ModelStatus, error) {
	return call(ctx, c, getModel, none{})
}

// ParkedMessages returns the lines for which the model gave no usable answer.
func (c *Client) ParkedMessages(ctx context.Context, limit int) ([]ParkedMessage, error) {
	return items(ctx, c, parked, limitQuery{limit})
}

// RetryParked makes the node ask about them again.
func (c *Client) RetryParked(ctx context.Context) (ModelStatus, error) {
	return call(ctx, c, retryParked, none{})
}

// RunModel asks the model about everything that waits.
func (c *Client) RunModel(ctx context.Context) (ModelRun, error) {
	return call(ctx, c, runModel, none{})
}

// Instructions returns the wearer's own instructions.
func (c *Client) Instructions(ctx context.Context) (string, error) {
	v, err := call(ctx, c, getInstructions, none{})
	return v.Text, err
}

// SetInstructions replaces them.
func (c *Client) SetInstructions(ctx context.Context, text string) error {
	_, err := call(ctx, c, setInstructions, InstructionsRequest{text})
	return err
}
