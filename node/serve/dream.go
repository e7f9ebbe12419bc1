package serve

import (
	"context"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/consolidate"
)

// Dreamer consolidates memories: it merges, archives and summarises. A dream
// can be undone.
type Dreamer interface {
	// PlanDream returns what a dream would do now, and changes nothing else.
	PlanDream(ctx context.Context) (DreamPlan, error)
	// ApplyDream carries out the plan with that id, which must be the last one shown,
	// or returns memory.ErrNotFound. It skips and lists steps whose memory has
	// changed since. An interrupted plan continues where it stopped. Steps for the
	// memories in without are left out, and not planned again.
	ApplyDream(ctx context.Context, id string, without ...memory.ID) (DreamResult, error)
	// UndoDream undoes a dream of any device; an empty id means the last one.
	// If step is set, it undoes only what the dream did with that memory. It
	// returns memory.ErrNotFound if there is none.
	UndoDream(ctx context.Context, id string, step memory.ID) (DreamResult, error)
	// DreamSteps returns what a past dream did and is still in effect, by memory.
	DreamSteps(ctx context.Context, id string) ([]DreamStep, error)
	// Dreams returns the past dreams that are at least partly in effect, newest
	// first.
	Dreams(ctx context.Context) ([]Dream, error)
}

// DreamPlan is what a dream would do.
type DreamPlan struct {
	ID    string      `json:"id"`
	At    time.Time   `json:"at"`
	Steps []DreamStep `json:"steps"`
	More  bool        `json:"more,omitempty"` // there are more steps than fit into one plan
}

// DreamStep changes one memory.
type DreamStep struct {
	Kind     consolidate.Kind `json:"kind"`
	Memory   memory.ID        `json:"memory"`
	Text     string           `json:"text"`
	Into     memory.ID        `json:"into,omitzero"` // the memory into which it was merged, or that it becomes
	IntoText string           `json:"into_text,omitempty"`
	Reason   string           `json:"reason"`
}

// ShowDream returns a plan in the form that is shown.
func ShowDream(p *consolidate.Plan) DreamPlan {
	out := DreamPlan{ID: p.ID, At: p.At, More: p.More, Steps: []DreamStep{}}
	for _, s := range p.Steps {
		out.Steps = append(out.Steps, DreamStep{s.Kind, s.Memory, s.Text, s.Into, s.IntoText, s.Reason})
	}
	return out
}

// Dream is a past dream.
type Dream struct {
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Claims int       `json:"claims"` // number of its assertions that are still in force
	Undone bool      `json:"undone"`
}

// DreamResult says what a dream or its undoing did.
type DreamResult struct {
	ID      string         `json:"id"`
	Steps   int            `json:"steps"` // number of steps that were done or undone
	Skipped []SkippedDream `json:"skipped,omitempty"`
}

// SkippedDream is a step that was not done.
type SkippedDream struct {
	Kind   consolidate.Kind `json:"kind"`
	Memory memory.ID        `json:"memory"`
	Text   string           `json:"text"`
	Reason string           `json:"reason"`
}

// DreamsAnswer lists dreams, newest first.
type DreamsAnswer struct {
	Dreams []Dream `json:"dreams"`
}

// DreamRequest names a plan to apply.
type DreamRequest struct {
	ID      string      `json:"id,omitempty"`
	Without []memory.ID `json:"without,omitempty"` // memories whose steps are left out, and not planned again
}

// DreamUndo names a dream, and the part of it to undo.
type DreamUndo struct {
	ID     string    `json:"id,omitempty"`    // absent: the last dream
	Memory memory.ID `json:"memory,omitzero"` // undo only the step that changed this memory; absent: all steps
}

// DreamStepsAnswer lists the steps of a dream.
type DreamStepsAnswer struct {
	Steps []DreamStep `json:"steps"`
}

type dreamOf struct {
	Dream string `path:"dream" doc:"its id"`
}

var dreamsTopic = topic[Dreamer]{listDreams.untyped, dreamSteps.untyped, planDream.untyped, applyDream.untyped, undoDream.untyped}

var (
	listDreams = plainList[DreamsAnswer](RightOwner, spec{
		method: "GET", path: "/v1/dream", id: "listDreams",
		summary: "List past dreams, newest first", gives: "The dreams",
	}, Dreamer.Dreams)

	planDream = plainRoute(RightOwner, spec{
		method: "POST", path: "/v1/dream/plan", id: "planDream",
		summary: "Plan a dream: what it would do now", gives: "The plan; apply needs its id",
	}, Dreamer.PlanDream)

	applyDream = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/dream/apply", id: "applyDream",
		summary: "Apply the plan that was last shown", gives: "What was done, and what was skipped, with the reasons",
	}, func(s Dreamer, ctx context.Context, req DreamRequest) (DreamResult, error) {
		if req.ID == "" {
			return DreamResult{}, kindInvalid.problem("id", "id: missing: ask for a plan first, and send its id")
		}
		return s.ApplyDream(ctx, req.ID, req.Without...)
	})

	undoDream = fieldsRoute[DreamUndo](RightOwner, spec{
		method: "POST", path: "/v1/dream/undo", id: "undoDream", optional: true,
		summary: "Undo a dream, or one step of it; default: the last dream", gives: "What was undone",
	}, Dreamer.UndoDream)

	dreamSteps = fieldList[DreamStepsAnswer, dreamOf](RightOwner, spec{
		method: "GET", path: "/v1/dream/{dream}", id: "dreamSteps",
		summary: "List the steps of a dream", gives: "The steps that were not undone; a step is named by its memory",
	}, Dreamer.DreamSteps)
)

// PlanDream shows what a dream would do now.
func (c *Client) PlanDream(ctx context.Context) (DreamPlan, error) {
	return call(ctx, c, planDream, none{})
}

// ApplyDream applies the plan with that id, except its steps for the memories in
// without.
func (c *Client) ApplyDream(ctx context.Context, id string, without ...memory.ID) (DreamResult, error) {
	return call(ctx, c, applyDream, DreamRequest{id, without})
}

// UndoDream undoes a dream; an empty id means the last one. If step is set, it undoes
// only what the dream did with that memory.
func (c *Client) UndoDream(ctx context.Context, id string, step memory.ID) (DreamResult, error) {
	return call(ctx, c, undoDream, DreamUndo{id, step})
}

// DreamSteps returns what a dream did and is still in effect.
func (c *Client) DreamSteps(ctx context.Context, id string) ([]DreamStep, error) {
	return items(ctx, c, dreamSteps, dreamOf{id})
}

// Dreams returns past dreams, newest first.
func (c *Client) Dreams(ctx context.Context) ([]Dream, error) {
	return items(ctx, c, listDreams, none{})
}
