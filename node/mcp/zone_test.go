package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/locket-dev/locket/internal/testing/nodetest"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/mcp"
	"github.com/locket-dev/locket/node/serve"
)

// Dates are the wearer's: at seven in the evening in UTC it is the next day in Shanghai.
func TestZone(t *testing.T) {
	services := nodetest.New(t, func(c *config.Config) {
		nodetest.Cheap(c)
		c.Zone = "Asia/Shanghai"
	}).Services()
	api := serve.New(serve.Options{Services: services, ForApps: func(api http.Handler) map[string]serve.Door {
		return map[string]serve.Door{"/mcp": {Handler: mcp.Handler(api, "test")}}
	}})
	server := httptest.NewServer(api)
	defer server.Close()
	owner, no := serve.InProcess(api), false
	for text, hour := range map[string]int{"The ferry leaves from pier 3": 19, "The kettle is broken": 15} {
		if _, err := owner.Add(t.Context(), serve.AddRequest{Text: text, Infer: &no, At: time.Date(2026, 9, 14, hour, 0, 0, 0, time.UTC)}); err != nil {
			t.Fatal(err)
		}
	}
	adds, err := owner.AddApp(t.Context(), serve.AppRequest{Name: "adder", Types: []string{"semantic", "episodic"}, Can: []serve.Right{serve.RightAdd}})
	if err != nil {
		t.Fatal(err)
	}
	if me, err := owner.WithKey(adds.Key).Self(t.Context()); err != nil || me.App == nil || me.Zone != "" {
		t.Errorf("an app that may not read: %+v, %v", me, err)
	}
	app, err := owner.AddApp(t.Context(), serve.AppRequest{Name: "reader", Types: []string{"semantic", "episodic"}, Can: []serve.Right{serve.RightRead}})
	if err != nil {
		t.Fatal(err)
	}
	if me, err := owner.WithKey(app.Key).Self(t.Context()); err != nil || me.App == nil || me.Zone != "Asia/Shanghai" {
		t.Errorf("an app that may read: %+v, %v", me, err)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: server.URL + "/mcp", HTTPClient: &http.Client{Transport: bearer{string(app.Key)}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()

	day, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "memory://day/2026-09-15"})
	if err != nil || !strings.Contains(day.Contents[0].Text, "2026-09-15T03:00:00+08:00: The ferry") || strings.Contains(day.Contents[0].Text, "kettle") {
		t.Errorf("the day: %+v, %v", day, err)
	}
	for name, args := range map[string]map[string]any{
		"search_memories": {"query": "ferry", "filters": map[string]any{"said": map[string]any{"gte": "2026-09-15"}}},
		"get_memories":    {"filters": map[string]any{"said": map[string]any{"gte": "2026-09-15"}}},
		"ask":             {"question": "Where does the ferry leave from?"},
	} {
		if text := call(t, s, name, args, nil); !strings.Contains(text, "2026-09-15T03:00:00+08:00: The ferry") || strings.Contains(text, "kettle") {
			t.Errorf("%s: %s", name, text)
		}
	}
}
