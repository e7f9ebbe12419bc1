//go:build !386 && !arm

package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
)

// Limits on a request.
const (
	maxBody   = 4 << 20 // bytes
	maxInputs = 256     // texts
	maxText   = 8 << 10 // bytes of a text that the model gets: more tokens than it accepts
)

// server speaks the two protocols.
type server struct {
	models *models
	key    string // the required bearer token; empty if none is required
}

func readKey(path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(b))
	if key == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return key, nil
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/embeddings", s.admit(s.embeddings))
	mux.HandleFunc("POST /v1/rerank", s.admit(s.rerank))
	mux.HandleFunc("GET /v1/models", s.admit(s.list))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	return mux
}

// failure is OpenAI's error object.
type failure struct {
	status  int
	Message string `json:"message"`
	Type    string `json:"type"`
}

func (f *failure) Error() string { return f.Message }

func badf(status int, format string, args ...any) error {
	kind := "invalid_request_error"
	if status >= 500 {
		kind = "server_error"
	}
	return &failure{status, fmt.Sprintf(format, args...), kind}
}

func (s *server) admit(f func(r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := any(nil), error(nil)
		got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(s.key))
		if s.key != "" && (!ok || subtle.ConstantTimeCompare(a[:], b[:]) != 1) {
			err = badf(http.StatusUnauthorized, "the key is missing or wrong")
		} else {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
			v, err = f(r)
		}
		if err == nil {
			write(w, http.StatusOK, v)
			return
		}
		var fail *failure
		switch {
		case errors.As(err, &fail):
		case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
			return // the client is gone
		default:
			fail = &failure{http.StatusInternalServerError, err.Error(), "server_error"}
		}
		write(w, fail.status, map[string]any{"error": fail})
	}
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that is gone is no error of ours
}

func read(r *http.Request, v any) error {
	err := json.NewDecoder(r.Body).Decode(v)
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return badf(http.StatusRequestEntityTooLarge, "more than %d bytes", large.Limit)
	}
	if err != nil {
		return badf(http.StatusBadRequest, "not the JSON of the protocol: %v", err)
	}
	return nil
}

// known checks a model's name. Clients of a server with one model may leave it out.
func known(name, have string) error {
	if have == "" {
		return badf(http.StatusNotFound, "the server was started without a folder for this")
	}
	if name != "" && name != have {
		return badf(http.StatusNotFound, "the model %q is not here; this server has %s", name, have)
	}
	return nil
}

func checkTexts(texts []string) error {
	if len(texts) == 0 || len(texts) > maxInputs {
		return badf(http.StatusBadRequest, "%d texts: want 1 to %d", len(texts), maxInputs)
	}
	for i, t := range texts {
		if strings.TrimSpace(t) == "" {
			return badf(http.StatusBadRequest, "text %d is empty", i)
		}
		texts[i] = cut(t, maxText)
	}
	return nil
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

func (s *server) embeddings(r *http.Request) (any, error) {
	var in struct {
		Model    string          `json:"model"`
		Input    json.RawMessage `json:"input"`
		Encoding string          `json:"encoding_format"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if err := known(in.Model, s.models.embedName); err != nil {
		return nil, err
	}
	var texts []string
	var one string
	switch {
	case in.Encoding != "" && in.Encoding != "float":
		return nil, badf(http.StatusBadRequest, "encoding_format %q: this server only supports float", in.Encoding)
	case json.Unmarshal(in.Input, &one) == nil:
		texts = []string{one}
	case json.Unmarshal(in.Input, &texts) != nil:
		return nil, badf(http.StatusBadRequest, "input: want a text or a list of texts")
	}
	if err := checkTexts(texts); err != nil {
		return nil, err
	}
	vectors, err := s.models.vectors(r.Context(), texts)
	if err != nil {
		return nil, err
	}
	data := make([]any, len(vectors))
	for i, v := range vectors {
		data[i] = map[string]any{"object": "embedding", "index": i, "embedding": v}
	}
	return map[string]any{"object": "list", "model": s.models.embedName, "data": data}, nil
}

func (s *server) rerank(r *http.Request) (any, error) {
	var in struct {
		Model     string   `json:"model"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      int      `json:"top_n"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if err := known(in.Model, s.models.rerankName); err != nil {
		return nil, err
	}
	if strings.TrimSpace(in.Query) == "" {
		return nil, badf(http.StatusBadRequest, "query is empty")
	}
	if err := checkTexts(in.Documents); err != nil {
		return nil, err
	}
	scores, err := s.models.scores(r.Context(), cut(in.Query, maxText), in.Documents)
	if err != nil {
		return nil, err
	}
	type result struct {
		Index int     `json:"index"`
		Score float32 `json:"relevance_score"`
	}
	results := make([]result, len(scores))
	for i, f := range scores {
		results[i] = result{i, f}
	}
	slices.SortStableFunc(results, func(a, b result) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	if in.TopN > 0 {
		results = results[:min(in.TopN, len(results))]
	}
	return map[string]any{"model": s.models.rerankName, "results": results}, nil
}

func (s *server) list(*http.Request) (any, error) {
	data := []any{}
	for _, name := range []string{s.models.embedName, s.models.rerankName} {
		if name != "" {
			data = append(data, map[string]any{"id": name, "object": "model", "owned_by": "locket-model"})
		}
	}
	return map[string]any{"object": "list", "data": data}, nil
}
