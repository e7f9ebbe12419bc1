package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Kind is a server whose own interface and errors a Server has. The shapes are those of the servers'
// documentation and source as of November 2026.
type Kind string

// The kinds.
const (
	OpenAI Kind = ""
	// Ollama has its own interface beside /v1 (docs/api.md and openai/openai.go in ollama/ollama): it
	// takes every response format, and lists models with their size.
	Ollama Kind = "ollama"
	// LlamaCpp tells its build at /props, and a model's size in the list (tools/server/README.md in
	// ggml-org/llama.cpp).
	LlamaCpp Kind = "llama.cpp"
	// VLLM has /version, and the length of a model's context in the list.
	VLLM Kind = "vllm"
	// LMStudio takes schemas and no json_object. Its errors are texts, and it answers 200 with an
	// error to a path that it does not have (lmstudio-ai/lmstudio-bug-tracker, issues 169 and 189).
	LMStudio Kind = "lmstudio"
)

// Versions and sizes that the kinds report.
const (
	Version       = "0.12.6"
	Build         = "b6891-4e3a2f1c"
	Quantisation  = "Q4_K_M"
	Parameters    = "8.2B"
	SizeBytes     = int64(5225388164)
	VRAMBytes     = int64(2612694082)
	ContextLength = 4096
	numberOfAll   = int64(8190735360)
)

// own adds the paths that only one kind has.
func (s *Server) own(mux *http.ServeMux) {
	details := map[string]any{"parent_model": "", "format": "gguf", "family": "qwen3", "families": []string{"qwen3"}, "parameter_size": Parameters, "quantization_level": Quantisation}
	each := func(more func(m string) map[string]any) (list []any) {
		for _, m := range s.opt.Models {
			list = append(list, more(m))
		}
		return list
	}
	get := func(path string, body func() any) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			if e := s.admit(r); e != nil {
				s.refuse(w, e)
				return
			}
			writeJSON(w, http.StatusOK, body())
		})
	}
	switch s.opt.Kind {
	case Ollama:
		get("/api/version", func() any { return map[string]any{"version": Version} })
		get("/api/tags", func() any {
			return map[string]any{"models": each(func(m string) map[string]any {
				return map[string]any{"name": m, "model": m, "modified_at": "2026-11-01T08:06:48.639712648-07:00", "size": SizeBytes, "digest": "0a8c26", "details": details}
			})}
		})
		get("/api/ps", func() any { // only what was asked something is loaded
			s.mu.Lock()
			defer s.mu.Unlock()
			if len(s.requests) == 0 {
				return map[string]any{"models": []any{}}
			}
			return map[string]any{"models": []any{map[string]any{"name": s.opt.Models[0], "model": s.opt.Models[0], "size": SizeBytes, "size_vram": VRAMBytes, "digest": "0a8c26", "details": details,
				"expires_at": "2026-11-01T14:38:31.83753-07:00", "context_length": ContextLength}}}
		})
		mux.HandleFunc("POST /api/show", func(w http.ResponseWriter, r *http.Request) {
			var in struct{ Model string }
			if json.NewDecoder(r.Body).Decode(&in) != nil || s.known(in.Model) != nil {
				writeJSON(w, http.StatusNotFound, map[string]any{"error": fmt.Sprintf("model '%s' not found", in.Model)})
				return
			}
			writeJSON(w, http.StatusOK, map[string]any{"modelfile": "", "parameters": "", "template": "", "details": details,
				"model_info": map[string]any{"general.architecture": "qwen3", "general.parameter_count": numberOfAll, "qwen3.context_length": 40960}, "capabilities": []string{"completion", "tools", "thinking"}})
		})
	case LlamaCpp:
		get("/health", func() any { return map[string]any{"status": "ok"} })
		get("/props", func() any {
			return map[string]any{"default_generation_settings": map[string]any{"n_ctx": ContextLength}, "total_slots": 1, "model_path": "../models/" + s.opt.Models[0], "build_info": Build}
		})
	case VLLM:
		get("/version", func() any { return map[string]any{"version": Version} })
	case LMStudio:
		get("/api/v1/models", func() any {
			return map[string]any{"models": each(func(m string) map[string]any {
				return map[string]any{"type": "llm", "key": m, "quantization": map[string]any{"name": Quantisation, "bits_per_weight": 4}, "size_bytes": SizeBytes, "params_string": Parameters,
					"loaded_instances": []any{map[string]any{"id": m, "config": map[string]any{"context_length": ContextLength}}}, "max_context_length": 32768, "format": "gguf"}
			})}
		})
		mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
			writeJSON(w, http.StatusOK, map[string]any{"error": fmt.Sprintf("Unexpected endpoint or method. (%s %s)", r.Method, r.URL.Path)})
		})
	}
}

// listed returns what a kind says of a model in /v1/models.
func (s *Server) listed(model string) map[string]any {
	m := map[string]any{"id": model, "object": "model", "created": 1, "owned_by": "llmtest"}
	switch s.opt.Kind {
	case LlamaCpp:
		m["owned_by"] = "llamacpp"
		m["meta"] = map[string]any{"vocab_type": 2, "n_vocab": 151936, "n_ctx": ContextLength, "n_ctx_train": 40960, "n_embd": 4096, "n_params": numberOfAll, "size": SizeBytes}
	case VLLM:
		m["owned_by"] = "vllm"
		m["root"], m["max_model_len"] = model, ContextLength
	}
	return m
}

// errorBody returns an error in the form of the kind.
func (s *Server) errorBody(e *refusal) any {
	switch s.opt.Kind {
	case LMStudio:
		return map[string]any{"error": e.message}
	case LlamaCpp, VLLM:
		return map[string]any{"error": map[string]any{"message": e.message, "type": e.kind, "code": e.status}}
	}
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	return map[string]any{"error": map[string]any{"message": e.message, "type": e.kind, "param": orNull(e.param), "code": orNull(e.code)}}
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
