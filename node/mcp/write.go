package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

type addIn struct {
	Text     string            `json:"text,omitempty" jsonschema:"one statement that can be understood by itself"`
	Messages []message         `json:"messages,omitempty" jsonschema:"instead of text: a conversation; the user's messages are remembered"`
	Infer    *bool             `json:"infer,omitempty" jsonschema:"true: Locket's extractors find what is worth remembering in the text; false (default): the text becomes the memory, unchanged"`
	Tags     []string          `json:"tags,omitempty" jsonschema:"only without infer"`
	Metadata map[string]string `json:"metadata,omitempty"`
	owners
}

type change struct {
	ID     string `json:"id"`
	Memory string `json:"memory,omitempty"`
	Event  string `json:"event" jsonschema:"ADD, UPDATE, DELETE or NOOP"`
}

type written struct {
	Results  []change `json:"results"`
	Refusals []string `json:"refusals,omitempty" jsonschema:"why something was not remembered"`
	Redacted int      `json:"redacted,omitempty" jsonschema:"how many secrets were moved to the wearer's vault; results does not list them"`
	Message  string   `json:"message,omitempty" jsonschema:"what happened, if results does not show it"`
}

type updateIn struct {
	MemoryID string `json:"memory_id" jsonschema:"its id or cite"`
	Text     string `json:"text" jsonschema:"the corrected statement"`
}

type forgetIn struct {
	MemoryIDs []string `json:"memory_ids" jsonschema:"ids or cites of memories to erase for good"`
}

// writing adds the tools that change something.
func (t *server) writing(s *sdk.Server) {
	tool(s, sdk.Tool{Name: "add_memory", Annotations: adds("Remember"), Description: "Remembers something in this app's name. Call it when the wearer asks you to remember something. It never replaces what the wearer said."}, t.add, plainly[written])
	tool(s, sdk.Tool{Name: "update_memory", Annotations: &sdk.ToolAnnotations{Title: "Correct a memory", DestructiveHint: new(true), OpenWorldHint: new(false)},
		Description: "Corrects the text of a memory that this app wrote. Call it when the text is wrong or out of date."}, t.update, plainly[written])
	tool(s, sdk.Tool{Name: "delete_memory", Annotations: erases("Erase a memory"), Description: "Erases one memory for good. Call it only if the wearer agrees."}, func(ctx context.Context, in idIn) (written, error) {
		return t.forget(ctx, in.MemoryID)
	}, plainly[written])
	tool(s, sdk.Tool{Name: "forget", Annotations: erases("Forget"), Description: "Erases several memories for good. Call it only if the wearer agrees. Find the ids with search_memories first."}, func(ctx context.Context, in forgetIn) (written, error) {
		return t.forget(ctx, in.MemoryIDs...)
	}, plainly[written])
	tool(s, sdk.Tool{Name: "delete_all_memories", Annotations: erases("Erase all memories of one owner"), Description: "Erases for good all memories of a user, agent or run that this app may see. Call it only if the wearer agrees. Name at least one of the three."}, t.deleteAll, plainly[written])
}

func (t *server) add(ctx context.Context, in addIn) (out written, err error) {
	infer := in.Infer != nil && *in.Infer
	texts := []string{in.Text}
	if len(in.Messages) > 0 {
		if in.Text != "" {
			return out, errors.New("messages: want text or messages, not both")
		}
		texts = nil
		for _, m := range in.Messages {
			if m.Role == "" || m.Role == "user" {
				texts = append(texts, m.Content)
			}
		}
		if len(texts) == 0 {
			return out, errors.New("messages: none is the user's, and only those are remembered")
		}
	}
	out.Results = []change{}
	var all serve.AddResult
	for i, text := range texts {
		res, err := t.of(ctx).Add(ctx, serve.AddRequest{Text: text, Infer: &infer, Tags: in.Tags, Metadata: in.Metadata, User: in.UserID, Agent: in.AgentID, Run: in.RunID})
		if err != nil {
			if len(out.Results) > 0 {
				err = fmt.Errorf("%w (of %d messages the first were remembered: %s)", err, len(texts), plainly(&out))
			}
			return out, err
		}
		for _, c := range res.Made() {
			out.Results = append(out.Results, change{c.Memory.String(), cmp.Or(c.New, c.Old), string(c.Verdict)})
		}
		for _, r := range res.Refusals {
			out.Refusals = append(out.Refusals, r.Kind+": "+r.Reason)
		}
		all.Join(&res)
		if len(texts) > 1 {
			step(ctx, i+1, len(texts))
		}
	}
	out.Redacted, out.Message = all.Redacted, all.Says()
	return out, nil
}

func (t *server) update(ctx context.Context, in updateIn) (written, error) {
	id, err := given(in.MemoryID)
	if err != nil {
		return written{}, err
	}
	m, err := t.of(ctx).Update(ctx, id, serve.UpdateRequest{Text: &in.Text})
	if err != nil {
		return written{}, err
	}
	return written{Results: []change{{m.ID.String(), m.Text, string(memory.Update)}}}, nil
}

func (t *server) forget(ctx context.Context, ids ...string) (out written, err error) {
	out.Results = []change{}
	if len(ids) == 0 {
		return out, errors.New("memory_ids: empty: want the ids or cites of the memories")
	}
	for _, id := range ids {
		id, err := given(id)
		var d serve.Deleted
		if err == nil {
			d, err = t.of(ctx).Delete(ctx, id)
		}
		if err != nil {
			return out, fmt.Errorf("%w (%d of %d were erased)", err, len(out.Results), len(ids))
		}
		out.Results = append(out.Results, change{ID: d.ID.String(), Event: string(memory.Delete)})
		if len(ids) > 1 {
			step(ctx, len(out.Results), len(ids))
		}
	}
	return out, nil
}

// deleteAll erases everything of an owner, as one order.
func (t *server) deleteAll(ctx context.Context, in owners) (out written, err error) {
	if in == (owners{}) {
		return out, errors.New("name a user_id, an agent_id or a run_id: only the wearer may erase all memories")
	}
	f, err := in.filter(nil, nil)
	if err != nil {
		return out, err
	}
	gone, err := t.of(ctx).Erase(ctx, f)
	out.Results = []change{}
	for _, id := range gone.Erased {
		out.Results = append(out.Results, change{ID: id.String(), Event: string(memory.Delete)})
	}
	return out, err
}
