package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// modelServer answers like Ollama, including OpenAI's calls: it refuses what that refuses, and
// repeats what it was given of the wearer.
type modelServer struct {
	t  *testing.T
	mu sync.Mutex
	// The received bodies, as JSON.
	bodies []string
}

const modelServerKey = "sk-upstream"

func (m *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, values := range r.Header {
		for _, v := range append(values, r.URL.String()) {
			if strings.Contains(v, "lka_") {
				m.t.Errorf("%s %s: the key of an app goes up in %s", r.Method, r.URL, name)
			}
		}
	}
	openAI := strings.HasPrefix(r.URL.Path, "/v1/")
	refuse := func(status int, text string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if openAI {
			fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":null}}`, text)
		} else {
			fmt.Fprintf(w, `{"error":%q}`, text)
		}
	}
	if r.Header.Get("Authorization") != "Bearer "+modelServerKey {
		refuse(http.StatusUnauthorized, "incorrect API key provided")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	switch r.Method + " " + r.URL.Path {
	case "GET /v1/models":
		fmt.Fprint(w, `{"object":"list","data":[{"id":"tiny","object":"model","created":1,"owned_by":"library"}]}`)
	case "GET /v1/models/team/tiny":
		fmt.Fprint(w, `{"id":"team/tiny","object":"model","created":1,"owned_by":"library"}`)
	case "GET /api/tags":
		fmt.Fprint(w, `{"models":[{"name":"tiny:latest","model":"tiny:latest","size":1,"digest":"x","modified_at":"2026-01-01T00:00:00Z","details":{"family":"llama"}}]}`)
	case "GET /api/version":
		fmt.Fprint(w, `{"version":"0.12.0"}`)
	case "POST /api/show":
		fmt.Fprint(w, `{"details":{"family":"llama"},"model_info":{},"capabilities":["completion","tools"]}`)
	case "POST /v1/responses":
		m.respond(w, r, refuse)
	case "POST /v1/chat/completions", "POST /api/chat", "POST /api/generate":
		m.answer(w, r, refuse)
	default:
		refuse(http.StatusNotFound, "404 page not found")
	}
}

// modelRequest is a request for an answer, in either protocol.
type modelRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		ToolCallID string          `json:"tool_call_id"`
		ToolCalls  json.RawMessage `json:"tool_calls"`
	} `json:"messages"`
	Prompt string            `json:"prompt"`
	System string            `json:"system"`
	Raw    bool              `json:"raw"`
	Tools  []json.RawMessage `json:"tools"`
	Stream *bool             `json:"stream"`
}

// respond answers by OpenAI's Responses protocol.
func (m *modelServer) respond(w http.ResponseWriter, r *http.Request, refuse func(int, string)) {
	var b bytes.Buffer
	var in struct {
		Model        string
		Input        json.RawMessage
		Instructions string
		Stream       bool
	}
	if _, err := b.ReadFrom(r.Body); err != nil || json.Unmarshal(b.Bytes(), &in) != nil || in.Model != "tiny" || len(in.Input) == 0 {
		refuse(http.StatusBadRequest, "want model and input")
		return
	}
	m.mu.Lock()
	m.bodies = append(m.bodies, b.String())
	m.mu.Unlock()
	said := "I know nothing."
	if _, after, ok := strings.Cut(in.Instructions, "<memory>\n"); ok {
		said, _, _ = strings.Cut(after, "\n</memory>")
	}
	text, err := json.Marshal(said)
	if err != nil {
		m.t.Error(err)
	}
	whole := fmt.Sprintf(`{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"tiny","output":[{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":%s,"annotations":[]}]}]}`, text)
	if !in.Stream {
		fmt.Fprint(w, whole)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":%s}\n\n", text)
	w.(http.Flusher).Flush()
	fmt.Fprintf(w, "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":%s}\n\n", whole)
}

func (m *modelServer) answer(w http.ResponseWriter, r *http.Request, refuse func(int, string)) {
	var b bytes.Buffer
	var in modelRequest
	if _, err := b.ReadFrom(r.Body); err != nil || int64(b.Len()) != r.ContentLength || r.Header.Get("Content-Type") != "application/json" {
		refuse(http.StatusBadRequest, "the body does not fit its header")
		return
	}
	if err := json.Unmarshal(b.Bytes(), &in); err != nil {
		refuse(http.StatusBadRequest, err.Error())
		return
	}
	m.mu.Lock()
	m.bodies = append(m.bodies, b.String())
	m.mu.Unlock()
	if in.Model != "tiny" {
		refuse(http.StatusNotFound, fmt.Sprintf("model '%s' not found", in.Model))
		return
	}
	generates, openAI := r.URL.Path == "/api/generate", strings.HasPrefix(r.URL.Path, "/v1/")
	system, last := in.System, "user"
	for i, msg := range in.Messages {
		if !slices.Contains([]string{"system", "user", "assistant", "tool"}, msg.Role) {
			refuse(http.StatusBadRequest, fmt.Sprintf("messages[%d].role", i))
			return
		}
		var text string
		if json.Unmarshal(msg.Content, &text) == nil && msg.Role == "system" {
			system += text
		}
		if msg.Role == "system" && i > 0 && in.Messages[i-1].Role != "system" {
			refuse(http.StatusBadRequest, "a system message in the middle")
			return
		}
		last = msg.Role
	}
	// It repeats what it was given of the wearer's memories.
	said := "I know nothing."
	if _, after, ok := strings.Cut(system, "<memory>\n"); ok {
		said, _, _ = strings.Cut(after, "\n</memory>")
	}
	if len(in.Tools) > 0 && last == "user" {
		if openAI {
			fmt.Fprint(w, `{"id":"c","object":"chat.completion","created":1,"model":"tiny","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"weather","arguments":"{\"place\":\"Lindau\"}"}}]}}]}`)
		} else {
			fmt.Fprint(w, `{"model":"tiny","created_at":"2026-01-01T00:00:00Z","done":true,"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"weather","arguments":{"place":"Lindau"}}}]}}`)
		}
		return
	}
	stream := in.Stream != nil && *in.Stream || in.Stream == nil && !openAI
	if !stream {
		text, err := json.Marshal(said)
		if err != nil {
			m.t.Error(err)
		}
		switch {
		case openAI:
			fmt.Fprintf(w, `{"id":"c","object":"chat.completion","created":1,"model":"tiny","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%s}}]}`, text)
		case generates:
			fmt.Fprintf(w, `{"model":"tiny","created_at":"2026-01-01T00:00:00Z","done":true,"response":%s}`, text)
		default:
			fmt.Fprintf(w, `{"model":"tiny","created_at":"2026-01-01T00:00:00Z","done":true,"message":{"role":"assistant","content":%s}}`, text)
		}
		return
	}
	w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/x-ndjson"}[openAI])
	for _, word := range strings.SplitAfter(said, " ") {
		text, err := json.Marshal(word)
		if err != nil {
			m.t.Error(err)
		}
		switch {
		case openAI:
			fmt.Fprintf(w, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"tiny\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", text)
		case generates:
			fmt.Fprintf(w, "{\"model\":\"tiny\",\"response\":%s,\"done\":false}\n", text)
		default:
			fmt.Fprintf(w, "{\"model\":\"tiny\",\"message\":{\"role\":\"assistant\",\"content\":%s},\"done\":false}\n", text)
		}
		w.(http.Flusher).Flush()
	}
	switch {
	case openAI:
		fmt.Fprint(w, "data: [DONE]\n\n")
	case generates:
		fmt.Fprint(w, "{\"model\":\"tiny\",\"response\":\"\",\"done\":true}\n")
	default:
		fmt.Fprint(w, "{\"model\":\"tiny\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true}\n")
	}
}

// OpenAI's and Ollama's clients from npm, unmodified, ask a model through the node, and the model
// gets what the app may see.
func TestModelClients(t *testing.T) {
	npm(t, "openai/package.json")
	npm(t, "ollama/package.json")
	m := &modelServer{t: t}
	upstream := httptest.NewServer(m)
	defer upstream.Close()
	h := newHome(t)
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte(modelServerKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := h.overTCP()
	conf, err := os.OpenFile(filepath.Join(h.dir, "config.toml"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprintf(conf, "\n[proxy]\nurl = %q\nkey_file = %q\nlearn = true\n", upstream.URL, keyFile)
	}
	if err != nil || conf.Close() != nil {
		t.Fatal(err)
	}
	h.start()
	h.must("add", "--plain", "Ana likes to drink green tea")
	h.must("add", "--plain", "--type", "episodic", "Ana drank absinthe")
	h.must("add", "The password of my router is correct-horse-42, I drink tea.")
	key := strings.TrimSpace(h.must("app", "add", "models", "--can", "read,add,chat", "--types", "semantic", "--requests", "1000"))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "models.cjs", "http://"+address, key)
	cmd.Dir = "clients"
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	var errb bytes.Buffer
	cmd.Stderr = &errb
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, errb.String())
	}
	got := map[string]string{}
	for line := range strings.Lines(string(out)) {
		var step struct {
			Name, Error string
			Status      int
			Value       json.RawMessage
		}
		mustParse(t, line, &step)
		got[step.Name] = string(step.Value)
		if step.Error != "" {
			got[step.Name] = fmt.Sprintf("%d: %s", step.Status, step.Error)
		}
	}
	for name, want := range map[string][]string{
		"models":          {`["tiny"]`},
		"model":           {`"team/tiny"`},
		"chat":            {"green tea", "!absinthe", "!correct-horse"},
		"used":            {`"`, "!null"},
		"parts":           {"green tea"},
		"stream":          {"green tea", `"chunks":`, `!"chunks":1}`},
		"tools":           {`"name":"weather"`, `Lindau`, "green tea"},
		"responses":       {"green tea", "!absinthe", "!correct-horse"},
		"responsesStream": {"green tea", `"done":true`},
		"responsesSearch": {"400: ", "tools[0].type"},
		"unknownModel":    {"404: ", "model 'none' not found"},
		"badMessages":     {"400: ", "messages: want a list"},
		"notPassed":       {"404", "there is no /v1/embeddings"},
		"stranger":        {"401", "no app has this key"},
		"tags":            {`["tiny:latest"]`},
		"show":            {"llama"},
		"ollamaChat":      {"green tea", "!absinthe"},
		"ollamaStream":    {"green tea", `"done":true`},
		"ollamaTools":     {"weather", "Lindau"},
		"generate":        {"green tea"},
		"generateStream":  {"green tea"},
		"generateRaw":     {"I know nothing."},
		"ollamaUnknown":   {"404: ", "model 'none' not found"},
	} {
		for _, w := range want {
			if not := strings.TrimPrefix(w, "!"); got[name] == "" || strings.Contains(got[name], not) == (not != w) {
				t.Errorf("%s: %s\nwant %s", name, got[name], w)
			}
		}
	}
	all := strings.Join(m.bodies, "\n")
	for _, w := range []string{`"temperature":0.5`, `"metadata":{"keep":"me"}`, `"tool_call_id":"call_1"`, `Be short.`} {
		if !strings.Contains(all, w) {
			t.Errorf("%s did not come to the model", w)
		}
	}
	for _, w := range []string{"absinthe", "correct-horse"} {
		if strings.Contains(all, w) {
			t.Errorf("%s came to the model", w)
		}
	}
	// The log has what was sent; what was said is a line of the wearer's, once.
	if log := h.must("app", "log", "models", "-n", "100"); !strings.Contains(log, "took context, and was shown") {
		t.Error(log)
	}
	h.eventually("the question is learnt", func(out string) bool { return strings.Contains(out, "What does Ana like to drink?") }, "search", "What does Ana like to drink?", "--json")
	// Without the right to chat, the model is not asked.
	before := len(m.bodies)
	reader := strings.TrimSpace(h.must("app", "add", "reader", "--can", "read", "--types", "semantic"))
	if status, body := curl(t, "-H", "Authorization: Bearer "+reader, "-d", `{"model":"tiny","messages":[]}`, "http://"+address+"/v1/chat/completions"); status != "403" || !strings.Contains(body, "may not chat") {
		t.Errorf("%s %s", status, body)
	}
	if len(m.bodies) != before {
		t.Error("the model was asked")
	}
	upstream.Close()
	if status, body := curl(t, "-H", "Authorization: Bearer "+key, "-d", `{"model":"tiny","messages":[]}`, "http://"+address+"/v1/chat/completions"); status != "502" || !strings.Contains(body, "does not answer") {
		t.Errorf("%s %s", status, body)
	}
}
