package mcp_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/locket-dev/locket/node/serve"
)

// A faulty request is reported as JSON-RPC 2.0 prescribes, with an HTTP status.
func TestProtocolErrors(t *testing.T) {
	h := newHouse(t)
	key := h.app(t, "one", "core")
	other, err := h.owner.AddApp(t.Context(), serve.AppRequest{Name: "two", Can: []serve.Right{serve.RightAdd}, Types: []string{"core"}})
	if err != nil {
		t.Fatal(err)
	}
	adds := string(other.Key)
	for _, c := range []struct {
		name, method, body, header, value string
		status, code                      int
		id                                any
	}{
		{name: "not JSON", body: "{", status: 400, code: -32700},
		{name: "nothing", body: "", status: 400, code: -32700},
		{name: "no message", body: `{"id":4}`, status: 400, code: -32600},
		{name: "another version of JSON-RPC", body: `{"jsonrpc":"1.0","id":4,"method":"ping"}`, status: 400, code: -32600},
		{name: "a batch", body: `[{"jsonrpc":"2.0","id":4,"method":"ping"}]`, status: 400, code: -32600},
		{name: "unknown method", body: `{"jsonrpc":"2.0","id":"x","method":"nope"}`, status: 200, code: -32601, id: "x"},
		{name: "unknown notification", body: `{"jsonrpc":"2.0","method":"nope"}`, status: 400, code: -32601},
		{name: "unknown prompt", body: `{"jsonrpc":"2.0","id":4,"method":"prompts/get","params":{"name":"nope"}}`, status: 200, code: -32602, id: 4.0},
		{name: "a prompt without its argument", body: `{"jsonrpc":"2.0","id":4,"method":"prompts/get","params":{"name":"recall"}}`, status: 200, code: -32602, id: 4.0},
		{name: "a prompt of no day", body: `{"jsonrpc":"2.0","id":4,"method":"prompts/get","params":{"name":"day","arguments":{"date":"yesterday"}}}`, status: 200, code: -32602, id: 4.0},
		{name: "a prompt that the key may not use", body: `{"jsonrpc":"2.0","id":4,"method":"prompts/get","params":{"name":"recall","arguments":{"topic":"tea"}}}`, header: "Authorization", value: "Bearer " + adds, status: 200, code: -32603, id: 4.0},
		{name: "params of another type", body: `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":5}}`, status: 200, code: -32602, id: 4.0},
		{name: "no object of params", body: `{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":5}}`, status: 200, code: -32602, id: 4.0},
		{name: "a text", body: `"x"`, status: 400, code: -32600},
		{name: "a method that is a number", body: `{"jsonrpc":"2.0","id":4,"method":5}`, status: 400, code: -32600},
		{name: "an id with a fraction", body: `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, status: 400, code: -32600},
		{name: "an id that no answer could have", body: `{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}`, status: 400, code: -32600},
		{name: "an id that is an object", body: `{"jsonrpc":"2.0","id":{},"method":"ping"}`, status: 400, code: -32600},
		{name: "no params", body: `{"jsonrpc":"2.0","id":4,"method":"tools/call"}`, status: 400, code: -32600},
		{name: "wrong version", body: listTools, header: "MCP-Protocol-Version", value: "1999-01-01", status: 400, code: -32600},
		{name: "no Accept", body: listTools, header: "Accept", value: "text/html", status: 406, code: -32000},
		{name: "no JSON's type", body: listTools, header: "Content-Type", value: "text/plain", status: 415, code: -32000},
		{name: "unknown session", body: listTools, header: "Mcp-Session-Id", value: "nope", status: 404, code: -32001},
		{name: "no session", method: "GET", status: 400, code: -32600},
		{name: "another method of HTTP", method: "PUT", status: 405, code: -32000},
		{name: "another page's", body: listTools, header: "Origin", value: "https://evil.example", status: 403, code: -32000},
		{name: "too large", body: `"` + strings.Repeat("a", 9<<20) + `"`, status: 413, code: -32000},
	} {
		if c.method == "" {
			c.method = "POST"
		}
		r, err := http.NewRequestWithContext(t.Context(), c.method, h.url+"/mcp", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range map[string]string{"Authorization": "Bearer " + string(key), "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25", c.header: c.value} {
			if k != "" && (k != c.header || v == c.value) {
				r.Header.Set(k, v)
			}
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		b, err := io.ReadAll(res.Body)
		res.Body.Close()
		var got struct {
			JSONRPC string
			ID      any
			Error   struct {
				Code    int
				Message string
			}
		}
		if err == nil {
			err = json.Unmarshal(b, &got)
		}
		if err != nil || res.StatusCode != c.status || res.Header.Get("Content-Type") != "application/json" || got.JSONRPC != "2.0" || got.Error.Code != c.code || got.Error.Message == "" || got.ID != c.id || !strings.Contains(string(b), `"id":`) {
			t.Errorf("%s: %d %s %s, %v", c.name, res.StatusCode, res.Header.Get("Content-Type"), b, err)
		}
		if text := got.Error.Message; strings.Contains(text, "json:") || strings.Contains(text, "mcp.") || strings.Contains(text, "jsonrpc2.") {
			t.Errorf("%s: the text is Go's: %s", c.name, text)
		}
	}
}
