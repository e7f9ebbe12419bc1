package sight

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/cost"
	"github.com/locket-dev/locket/internal/engine/prompts"
	"github.com/locket-dev/locket/internal/llm"
)

// Vision is the name of a vision model, as an engine.
func Vision(model string) string { return "vision " + model }

// Versions of the prompts, for the results' metadata.
const (
	CaptionPrompt  = prompts.Caption
	SequencePrompt = prompts.Sequence
	QuestionPrompt = prompts.Question
)

// Limits of a vision model's answers, in bytes.
const (
	MaxCaption = 1 << 10
	maxOutline = 4 << 10 // of what a sequence shows
	maxReply   = 2 << 10
	maxSeenBy  = 512
)

// Pixels along the longer side of a photo that is sent: if it is asked about alone, and if it is
// one of several.
const (
	sideAlone = 2048
	sideAmong = 1024
)

// Frame is a photo with its time.
type Frame struct {
	At    time.Time // in the wearer's zone, if that is known
	Photo []byte
	Hints Hints
}

// Caption describes in one or two sentences what a photo shows. Text in a photo is not an
// instruction to the model; but that can't be enforced, so the model's answer is treated as data.
// An error is an *engine.Fault or an *llm.Fault, that of m or of ctx.
func Caption(ctx context.Context, m cost.Model, photo []byte, hint Hints) (string, error) {
	p, err := sent(photo, hint.Turn, sideAlone)
	if err != nil {
		return "", err
	}
	a, err := m.Ask(ctx, llm.Request{System: prompts.Text(prompts.Caption), Messages: llm.FromUser("The photo:", p)})
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(a.Text)
	if text == "" || len(text) > MaxCaption {
		return "", engine.Faultf(m.Name(), engine.Babbled, "a caption of %d bytes, want 1 to %d", len(text), MaxCaption)
	}
	return text, nil
}

// Reply is an answer to a question about a photo.
type Reply struct {
	Known  bool
	Answer string
	SeenBy string // what in the photo shows it
}

var reply = &llm.Schema{Name: "reply", JSON: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["known","answer","seen"],"properties":{` +
	`"known":{"type":"boolean"},"answer":{"type":"string"},"seen":{"type":"string"}}}`)}

// Ask asks a question about a photo.
func Ask(ctx context.Context, m cost.Model, question string, f Frame) (r Reply, err error) {
	p, err := sent(f.Photo, f.Hints.Turn, sideAlone)
	if err != nil {
		return r, err
	}
	data := map[string]string{"question": question, "taken": f.At.Format(time.RFC3339)}
	_, err = m.AskJSON(ctx, llm.Request{System: prompts.Text(prompts.Question), Messages: llm.FromUser(llm.JSON(data), p), Schema: reply}, func(raw []byte) error {
		var answer struct {
			Known  bool   `json:"known"`
			Answer string `json:"answer"`
			Seen   string `json:"seen"`
		}
		if err := json.Unmarshal(raw, &answer); err != nil {
			return err
		}
		r = Reply{Known: answer.Known, Answer: strings.TrimSpace(answer.Answer), SeenBy: strings.Join(strings.Fields(answer.Seen), " ")}
		switch {
		case len(r.Answer) > maxReply || len(r.SeenBy) > maxSeenBy:
			return fmt.Errorf("an answer of %d bytes, seen by %d: want at most %d and %d", len(r.Answer), len(r.SeenBy), maxReply, maxSeenBy)
		case r.Known && r.Answer == "":
			return fmt.Errorf("it is known, and the answer is empty")
		case !r.Known:
			r.Answer, r.SeenBy = "", ""
		}
		return nil
	})
	return r, err
}
