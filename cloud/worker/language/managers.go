package language

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/engine/prompts"
	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/judge"
)

// asking says how each manager is asked.
var asking = map[memory.Type]struct {
	prompt string
	schema *llm.Schema
}{
	memory.Core:       {prompts.Core, found("core", `"block":{"type":"string","enum":["human","persona"]}`)},
	memory.Episodic:   {prompts.Episodic, found("episodic", `"when":{"type":["string","null"]}`)},
	memory.Semantic:   {prompts.Semantic, found("semantic", `"relation":{"type":["object","null"],"additionalProperties":false,"required":["subject","predicate","object"],"properties":{"subject":{"type":"string"},"predicate":{"type":"string"},"object":{"type":"string"}}}`)},
	memory.Procedural: {prompts.Procedural, found("procedural", `"steps":{"type":"array","items":{"type":"string"}}`)},
	memory.Resource:   {prompts.Resource, found("resource", `"title":{"type":"string"}`)},
}

// found returns the schema of a manager's answer, with one additional field.
// Strict servers want every property to be required.
func found(name, field string) *llm.Schema {
	own, _, _ := strings.Cut(field, ":")
	return &llm.Schema{Name: name, JSON: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["candidates"],"properties":{"candidates":{"type":"array","items":{` +
		`"type":"object","additionalProperties":false,"required":["message","quote","text","sensitivity","confidence",` + own + `],"properties":{` +
		`"message":{"type":"integer"},"quote":{"type":"string"},"text":{"type":"string"},"sensitivity":{"type":"string","enum":["personal","private"]},"confidence":{"type":"number"},` + field + `}}}}}`)}
}

var routes = &llm.Schema{Name: "managers", JSON: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["managers","reason"],"properties":{` +
	`"managers":{"type":"array","items":{"type":"string","enum":["core","episodic","semantic","procedural","resource"]}},"reason":{"type":"string"}}}`)}

var decided = &llm.Schema{Name: "decisions", JSON: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["decisions"],"properties":{"decisions":{"type":"array","items":{` +
	`"type":"object","additionalProperties":false,"required":["candidate","op","id","value"],"properties":{` +
	`"candidate":{"type":"integer"},"op":{"type":"string","enum":["ADD","UPDATE","DELETE","NOOP"]},"id":{"type":["integer","null"]},"value":{"type":["string","null"]}}}}}}`)}

// candidates parses a manager's answer into operations that were not compared
// yet. An error is meant for the model. A fault in a single candidate is left
// to package judge.
func candidates(raw []byte, t memory.Type, messages int) ([]judge.Operation, error) {
	var answer struct {
		Candidates *[]judge.Operation `json:"candidates"`
	}
	if err := decode(raw, &answer); err != nil {
		return nil, err
	}
	if answer.Candidates == nil {
		return nil, errors.New("candidates is missing")
	}
	list := *answer.Candidates
	if len(list) > maxFound {
		return nil, fmt.Errorf("%d candidates, at most %d", len(list), maxFound)
	}
	for i := range list {
		o := &list[i]
		if o.Message < 1 || o.Message > messages {
			return nil, fmt.Errorf("candidates[%d].message: %d is not one of 1 to %d", i, o.Message, messages)
		}
		o.Op, o.ID, o.Value, o.Type = memory.Add, nil, nil, t
	}
	return list, nil
}

// decode parses an answer. The error is meant for the model.
func decode(raw []byte, to any) error {
	err := json.Unmarshal(raw, to)
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: a %s where %s is wanted", t.Field, t.Value, t.Type)
	}
	if err != nil {
		return errors.New("it is not JSON")
	}
	return nil
}

// show returns a batch as JSON, so that no text in it can look like its end.
func show(b *judge.Batch) string {
	return llm.JSON(struct {
		Wearer   string        `json:"wearer"`
		Summary  string        `json:"summary,omitempty"`
		Earlier  []judge.Shown `json:"earlier,omitempty"`
		Messages []judge.Shown `json:"messages"`
	}{b.Wearer, b.Summary, judge.Show(b.Earlier, false), judge.Show(b.Messages, true)})
}

func dateOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}
