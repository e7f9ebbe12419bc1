package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// A model knows of the owners, types and filters only what the descriptions say. Without these words it
// passes the wearer's name as user_id, and then finds nothing and stores what the wearer does not find.
func TestDescriptionsSayWhatToLeaveOut(t *testing.T) {
	s, _ := over(t)
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"user_id": "leave it out for the wearer", "types": "core, episodic, semantic, procedural or resource", "filters": `{"said": {"gte": "2026-11-20"}}`}
	seen := map[string]bool{}
	for _, tool := range list.Tools {
		b, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			Properties map[string]struct{ Description string }
		}
		if err := json.Unmarshal(b, &schema); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			p, ok := schema.Properties[name]
			if seen[name] = seen[name] || ok; ok && tool.Name != "delete_all_memories" && !strings.Contains(p.Description, text) && !strings.Contains(p.Description, "as in search_memories") {
				t.Errorf("%s.%s: %q", tool.Name, name, p.Description)
			}
		}
	}
	if len(seen) != len(want) || !seen["user_id"] || !seen["types"] || !seen["filters"] {
		t.Errorf("%v", seen)
	}
}

// An error names the argument as the tool does, and says what it takes.
func TestErrorsNameTheArgument(t *testing.T) {
	s, _ := over(t)
	for _, c := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"search_memories", map[string]any{"query": "x", "limit": 1000}, "limit: 1000, want 1 to 100"},
		{"search_memories", map[string]any{"query": "x", "limit": -1}, "limit: -1, want 1 to 100"},
		{"get_memory", map[string]any{"memory_id": ""}, "want an id or a cite, as search_memories returns it"},
		{"get_memory", map[string]any{"memory_id": strings.Repeat("x", 100_000)}, "want an id or a cite, as search_memories returns it"},
		{"update_memory", map[string]any{"memory_id": " ", "text": "x"}, "want an id or a cite, as search_memories returns it"},
		{"delete_memory", map[string]any{"memory_id": ""}, "want an id or a cite, as search_memories returns it"},
		{"fetch", map[string]any{"id": ""}, "want an id or a cite, as search_memories returns it"},
		{"forget", map[string]any{"memory_ids": []any{}}, "memory_ids: empty"},
		{"add_memory", map[string]any{"text": "x", "messages": []any{map[string]any{"content": "y"}}}, "want text or messages, not both"},
		{"add_memory", map[string]any{"messages": []any{map[string]any{"role": "assistant", "content": "y"}}}, "messages: none is the user's"},
	} {
		if text := call(t, s, c.tool, c.args, nil); !strings.HasPrefix(text, "error: ") || !strings.Contains(text, c.want) || len(text) > 300 {
			t.Errorf("%s %.80v: %.300s", c.tool, c.args, text)
		}
	}
}

// A budget that holds none of what is known is not told as if nothing was known.
func TestContextBudgetTooSmall(t *testing.T) {
	s, _ := over(t)
	call(t, s, "add_memory", map[string]any{"text": "The red kayak lies in Lindau"}, nil)
	if text := call(t, s, "get_context", map[string]any{"topic": "red kayak", "budget": 1}, nil); !strings.Contains(text, "budget") {
		t.Error(text)
	}
	if text := call(t, s, "get_context", map[string]any{"topic": "quantum chromodynamics", "budget": 1}, nil); text != "Nothing is known about that." {
		t.Error(text)
	}
}

// get_memory returns what a resource contains, as fetch does, and takes the address that search returns.
func TestGetMemoryIsWhole(t *testing.T) {
	s, owner := over(t)
	infer := false
	res, err := owner.Add(t.Context(), serve.AddRequest{Text: "Recipe for plum cake", Type: memory.Resource, Infer: &infer,
		Fields: memory.Fields{Resource: &memory.ResourceFields{MediaType: "text/plain", Title: "Recipe for plum cake", Content: "Stone two pounds of plums."}}})
	if err != nil || len(res.Changes) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	if text := call(t, s, "get_memory", map[string]any{"memory_id": "memory://" + res.Changes[0].Memory.String()}, nil); !strings.Contains(text, "Stone two pounds") {
		t.Error(text)
	}
}
