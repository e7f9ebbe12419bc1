package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Step answers one chat request, correctly or not.
type Step func(s *Server, w http.ResponseWriter, r *http.Request, req *Request)

func (s *Server) answer(w http.ResponseWriter, req *Request, text, finish string) {
	writeJSON(w, http.StatusOK, s.completion(text, finish, (len(req.Body)+3)/4))
}

// message answers with a message that is not text alone.
func (s *Server) message(w http.ResponseWriter, req *Request, m map[string]any, finish string) {
	a := s.completion("", finish, (len(req.Body)+3)/4)
	a["choices"].([]any)[0].(map[string]any)["message"] = m
	writeJSON(w, http.StatusOK, a)
}

// Say answers with a text.
func Say(text string) Step { return Func(func(*Request) string { return text }) }

// Func answers with the result of f for the request.
func Func(f func(*Request) string) Step {
	return func(s *Server, w http.ResponseWriter, _ *http.Request, req *Request) {
		s.answer(w, req, f(req), "stop")
	}
}

// Fenced wraps JSON like a chatty model: a thought, a sentence, a Markdown fence.
func Fenced(text string) Step {
	return Say("<think>The user wants {JSON}.</think>Sure! Here it is:\n```json\n" + text + "\n```\nAnything else?")
}

// EndsEarly answers with a text that reached the limit of tokens.
func EndsEarly(text string) Step {
	return func(s *Server, w http.ResponseWriter, _ *http.Request, req *Request) {
		s.answer(w, req, text, "length")
	}
}

// Refuses answers with a refusal instead of text, as OpenAI's models do
// (platform.openai.com/docs/guides/structured-outputs, "Refusals").
func Refuses(why string) Step {
	return func(s *Server, w http.ResponseWriter, _ *http.Request, req *Request) {
		s.message(w, req, map[string]any{"role": "assistant", "content": nil, "refusal": why}, "stop")
	}
}

// Filtered answers with what a filter of the server left of a text (finish_reason content_filter).
func Filtered(text string) Step {
	return func(s *Server, w http.ResponseWriter, _ *http.Request, req *Request) {
		s.answer(w, req, text, "content_filter")
	}
}

// ThinksApart answers like vLLM or DeepSeek with a model that thinks: thoughts in a field of their
// own, and no text if they reached the limit of tokens.
func ThinksApart(thoughts, text string) Step {
	m, finish := map[string]any{"role": "assistant", "content": text, "reasoning_content": thoughts}, "stop"
	if text == "" {
		m["content"], finish = nil, "length"
	}
	return func(s *Server, w http.ResponseWriter, _ *http.Request, req *Request) { s.message(w, req, m, finish) }
}

// Calls answers with a call of a tool that the request did not offer, as Ollama does for a model
// whose answers it searches for calls, and as a gateway does that asks for JSON by a tool. arguments is
// a text, as the protocol has it, or an object, as some servers send it.
func Calls(tool string, arguments any) Step {
	return func(s *Server, w http.ResponseWriter, _ *http.Request, req *Request) {
		m := map[string]any{"role": "assistant", "content": nil,
			"tool_calls": []any{map[string]any{"id": "call_1", "index": 0, "type": "function", "function": map[string]any{"name": tool, "arguments": arguments}}}}
		if s.opt.Kind == Ollama {
			m["content"] = ""
		}
		s.message(w, req, m, "tool_calls")
	}
}

// AmongThoughts answers as vLLM does with a parser of thoughts and a model that was told not to
// think: the text is where thoughts belong (vllm-project/vllm, issues 19222 and 50948). field is
// reasoning_content or reasoning.
func AmongThoughts(field, text string) Step {
	return func(s *Server, w http.ResponseWriter, _ *http.Request, req *Request) {
		s.message(w, req, map[string]any{"role": "assistant", "content": nil, field: text}, "stop")
	}
}

// InParts answers with a list of parts in place of a text, as Mistral's models do that think
// (docs.mistral.ai, "Reasoning").
func InParts(thoughts, text string) Step {
	part := func(text string) any { return map[string]any{"type": "text", "text": text} }
	return func(s *Server, w http.ResponseWriter, _ *http.Request, req *Request) {
		s.message(w, req, map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "thinking", "thinking": []any{part(thoughts)}}, part(text)}}, "stop")
	}
}

// EndsWith answers with a text and another finish_reason, such as error (openrouter.ai/docs, "Errors").
func EndsWith(text, finish string) Step {
	return func(s *Server, w http.ResponseWriter, _ *http.Request, req *Request) { s.answer(w, req, text, finish) }
}

// Raw answers with a status and an unchanged body of JSON.
func Raw(status int, body string) Step {
	return func(_ *Server, w http.ResponseWriter, _ *http.Request, _ *Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// Fails answers with a status and the protocol's error object. retryAfter is the header's value,
// and may be empty.
func Fails(status int, retryAfter, message string) Step {
	return func(s *Server, w http.ResponseWriter, _ *http.Request, _ *Request) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		kind := "server_error"
		if status == http.StatusTooManyRequests {
			kind = "rate_limit_exceeded"
		} else if status < 500 {
			kind = "invalid_request_error"
		}
		s.refuse(w, &refusal{status, kind, "", "", message})
	}
}

// Plain answers with a status and an unchanged body, like a proxy.
func Plain(status int, body string) Step {
	return func(_ *Server, w http.ResponseWriter, _ *http.Request, _ *Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// Breaks sends the first half of an answer, and closes the connection.
func Breaks(text string) Step {
	return func(s *Server, w http.ResponseWriter, _ *http.Request, _ *Request) {
		b, _ := json.Marshal(s.completion(text, "stop", 1))
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(len(b)))
		_, _ = w.Write(b[:len(b)/2])
		panic(http.ErrAbortHandler)
	}
}

// Hangs answers nothing until the client has gone.
func Hangs() Step {
	return func(_ *Server, _ http.ResponseWriter, r *http.Request, _ *Request) { <-r.Context().Done() }
}

// Holds reports that a request has come, and answers it with another step once it may continue.
func Holds(came chan<- struct{}, goOn <-chan struct{}, then Step) Step {
	return func(s *Server, w http.ResponseWriter, r *http.Request, req *Request) {
		came <- struct{}{}
		select {
		case <-goOn:
			then(s, w, r, req)
		case <-r.Context().Done():
		}
	}
}

// Huge answers with more text than was requested.
func Huge(bytes int) Step { return Say(strings.Repeat("tokens ", bytes/7+1)) }

// Redirects sends the client to another address.
func Redirects(to string) Step {
	return func(_ *Server, w http.ResponseWriter, r *http.Request, _ *Request) {
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	}
}
