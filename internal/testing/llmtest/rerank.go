package llmtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// rerank implements the protocol that Jina, Cohere, vLLM and llama.cpp share: the best first, each
// with the index of its document. The score is the share of the query's words that a document
// contains.
func (s *Server) rerank(w http.ResponseWriter, r *http.Request) {
	if e := s.admit(r); e != nil {
		s.refuse(w, e)
		return
	}
	var c struct {
		Model     string   `json:"model"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
		TopN      *int     `json:"top_n"`
	}
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	switch err := dec.Decode(&c); {
	case err != nil:
		s.refuse(w, bad("", "We could not parse the JSON body of your request: %v", err))
		return
	case c.Model != "" && s.known(c.Model) != nil:
		s.refuse(w, s.known(c.Model))
		return
	case c.Query == "" || len(c.Documents) == 0:
		s.refuse(w, bad("documents", "a query and documents are needed"))
		return
	}
	type result struct {
		Index int     `json:"index"`
		Score float64 `json:"relevance_score"`
	}
	out := make([]result, len(c.Documents))
	words := strings.Fields(strings.ToLower(c.Query))
	for i, d := range c.Documents {
		in := strings.Fields(strings.ToLower(d))
		out[i].Index = i
		for _, w := range words {
			if slices.Contains(in, w) {
				out[i].Score += 1 / float64(len(words))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b result) int {
		if a.Score > b.Score {
			return -1
		}
		if a.Score < b.Score {
			return 1
		}
		return 0
	})
	s.mu.Lock()
	s.reranks++
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"results": out, "model": c.Model})
}

// Reranks counts the accepted requests to the reranker.
func (s *Server) Reranks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reranks
}
