// Package llmtest is a mock server for tests, with the chat-completions and embeddings protocols.
// It enforces the protocol, and answers by script.
//
// It is not a language model. It checks what the real servers check: method, path, content type,
// the bearer key, the model's name, roles, ranges, unknown fields, and in a response format the
// rules that strict servers have for schemas. A test decides what it answers, including the
// misbehaviour of real servers and models: see [Step].
package llmtest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Options describe the kind of server.
type Options struct {
	Kind          Kind     // whose interface and errors it has
	Key           string   // required as a bearer token; empty: none
	Models        []string // empty: "test-model"
	NoSchema      bool     // only supports response formats of type json_object, like older servers
	NoFormat      bool     // supports no response format
	NewTokens     bool     // requires max_completion_tokens, like OpenAI's reasoning models
	NoTemperature bool     // accepts no temperature, like those
	NoSystem      bool     // accepts no system message, like vLLM with the templates of Gemma 2 and early Mistral
	NoModelList   bool     // has no /v1/models
	Dimensions    int      // dimensions of embeddings; 0: 32
}

// Server is a server that runs until the test ends.
type Server struct {
	URL string // including /v1
	opt Options

	mu        sync.Mutex
	steps     []Step
	otherwise Step
	requests  []Request
	reranks   int
}

// Request is a request that was accepted.
type Request struct {
	System   string
	Messages []Message // all except the system's
	Pictures int       // in all messages
	Format   string    // json_schema, json_object or empty
	Header   http.Header
	Body     string
}

// Message is one turn.
type Message struct{ Role, Content string }

// Last returns the text of the last message.
func (r *Request) Last() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Content
}

// New starts a server. Every answer is "ok" until that is changed.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	if len(o.Models) == 0 {
		o.Models = []string{"test-model"}
	}
	o.Dimensions = cmp.Or(o.Dimensions, 32)
	s := &Server{opt: o, otherwise: Say("ok")}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.chat)
	mux.HandleFunc("POST /v1/embeddings", s.embeddings)
	mux.HandleFunc("POST /v1/rerank", s.rerank)
	mux.HandleFunc("GET /v1/models", s.models)
	s.own(mux)
	hs := httptest.NewServer(mux)
	t.Cleanup(hs.Close)
	s.URL = hs.URL + "/v1"
	return s
}

// Model returns the first model's name.
func (s *Server) Model() string { return s.opt.Models[0] }

// Script sets the steps that answer the next chat requests, in order.
func (s *Server) Script(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Drop removes the rest of the script.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = nil
}

// Otherwise sets the step that answers requests after the script.
func (s *Server) Otherwise(step Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.otherwise = step
}

// Requests returns the accepted chat requests, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Left returns how many steps of the script were not used.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.steps)
}

func (s *Server) next(r Request) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if len(s.steps) == 0 {
		return s.otherwise
	}
	step := s.steps[0]
	s.steps = s.steps[1:]
	return step
}

// refusal is an error in the protocol's form.
type refusal struct {
	status                     int
	kind, param, code, message string
}

func bad(param, format string, args ...any) *refusal {
	return &refusal{http.StatusBadRequest, "invalid_request_error", param, "", fmt.Sprintf(format, args...)}
}

func (s *Server) refuse(w http.ResponseWriter, e *refusal) {
	writeJSON(w, e.status, s.errorBody(e))
}

// admit checks what every request needs.
func (s *Server) admit(r *http.Request) *refusal {
	if s.opt.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.opt.Key {
		// Like OpenAI, it repeats the key.
		return &refusal{http.StatusUnauthorized, "invalid_request_error", "", "invalid_api_key", "Incorrect API key provided: " + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}
	}
	if r.Method == http.MethodPost {
		if media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); media != "application/json" {
			return &refusal{http.StatusUnsupportedMediaType, "invalid_request_error", "", "", "want Content-Type application/json"}
		}
	}
	return nil
}

func (s *Server) known(model string) *refusal {
	if slices.Contains(s.opt.Models, model) {
		return nil
	}
	if s.opt.Kind == Ollama {
		return &refusal{http.StatusNotFound, "not_found_error", "", "", fmt.Sprintf("model '%s' not found", model)}
	}
	return &refusal{http.StatusNotFound, "invalid_request_error", "model", "model_not_found", fmt.Sprintf("The model `%s` does not exist", model)}
}

func (s *Server) models(w http.ResponseWriter, r *http.Request) {
	if e := s.admit(r); e != nil {
		s.refuse(w, e)
		return
	}
	if s.opt.NoModelList {
		http.NotFound(w, r)
		return
	}
	data := []any{}
	for _, m := range s.opt.Models {
		data = append(data, s.listed(m))
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": data})
}

// completion makes a complete answer.
func (s *Server) completion(text, finish string, prompt int) map[string]any {
	return map[string]any{
		"id": "chatcmpl-test", "object": "chat.completion", "created": time.Now().Unix(), "model": s.opt.Models[0],
		"choices": []any{map[string]any{"index": 0, "finish_reason": finish, "logprobs": nil,
			"message": map[string]any{"role": "assistant", "content": text, "refusal": nil}}},
		"usage": map[string]any{"prompt_tokens": prompt, "completion_tokens": (len(text) + 3) / 4, "total_tokens": prompt + (len(text)+3)/4},
	}
}
