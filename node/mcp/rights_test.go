package mcp_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/locket-dev/locket/node/serve"
)

// toolArgs has, for each tool, a call with suitable arguments that a key with the tool's right
// may make.
var toolArgs = map[string]map[string]any{
	"search_memories": {"query": "tea"}, "search": {"query": "tea"}, "fetch": {"id": noID}, "get_memory": {"memory_id": noID}, "get_memories": {}, "get_context": {"topic": "tea"},
	"ask": {"question": "tea?"}, "recent": {}, "list_entities": {}, "add_memory": {"text": "I like tea."}, "update_memory": {"memory_id": noID, "text": "I like coffee."},
	"delete_memory": {"memory_id": noID}, "forget": {"memory_ids": []string{noID}}, "delete_all_memories": {"user_id": "nobody"},
	"market_search": {"query": "tea"}, "market_quote": {"id": noID}, "market_order": {"id": noID, "price": "1"}, "market_pay": {"id": noID}, "market_fetch": {"id": noID},
}

const noID = "01aaaaaaaaaaaaaaaaaaaaaaaa"

// A key lists exactly what it may use: what is listed is not refused for lack of a right, and
// what is not listed is refused with the right's name.
func TestListsFollowRights(t *testing.T) {
	h := newHouse(t)
	for name, can := range map[string][]serve.Right{"read": {serve.RightRead}, "add": {serve.RightAdd}, "update": {serve.RightUpdate},
		"forget": {serve.RightForget}, "tidy": {serve.RightForget, serve.RightRead}, "buy": {serve.RightBuy}} {
		r := serve.AppRequest{Name: name, Can: can, Types: []string{"semantic", "core"}, Requests: 1000}
		if name == "buy" {
			r.Buying = &serve.AppBuying{Market: "https://market.example", Budget: "100.00 EUR"}
		}
		app, err := h.owner.AddApp(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
		s, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: h.url + "/mcp", HTTPClient: &http.Client{Transport: bearer{string(app.Key)}}, DisableStandaloneSSE: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		tools, err := s.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if tools.CacheScope != "private" { // other keys get other lists
			t.Errorf("%s: the list may be kept for others: %q", name, tools.CacheScope)
		}
		for tool, args := range toolArgs {
			listed := slices.ContainsFunc(tools.Tools, func(v *sdk.Tool) bool { return v.Name == tool })
			res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
			if err != nil {
				t.Fatalf("%s: %v", tool, err)
			}
			text := res.Content[0].(*sdk.TextContent).Text
			if refused := res.IsError && strings.Contains(text, "may not "); refused == listed {
				t.Errorf("%s with %s: listed %v, answered %s", tool, name, listed, text)
			}
		}
		prompts, err := s.ListPrompts(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		resources, err := s.ListResources(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][2]int{"read": {2, 1}, "tidy": {2, 1}, "add": {1, 0}}[name]
		if got := [2]int{len(prompts.Prompts), len(resources.Resources)}; got != want {
			t.Errorf("%s: %v prompts and resources, want %v", name, got, want)
		}
	}
}
