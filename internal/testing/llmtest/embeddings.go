package llmtest

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"strings"
)

// maxInputs is the greatest number of texts in a request (OpenAI's limit).
const maxInputs = 2048

// embeddings answers with vectors of length 1 that are similar if texts share words: the sum of a
// fixed direction for each word.
func (s *Server) embeddings(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if e := s.admit(r); e != nil {
		s.refuse(w, e)
		return
	}
	var c struct {
		Model          string          `json:"model"`
		Input          json.RawMessage `json:"input"`
		EncodingFormat string          `json:"encoding_format"`
		Dimensions     *int            `json:"dimensions"`
		User           string          `json:"user"`
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	var texts []string
	var one string
	err = dec.Decode(&c)
	switch {
	case err != nil:
		s.refuse(w, bad("", "We could not parse the JSON body of your request: %v", err))
		return
	case s.known(c.Model) != nil:
		s.refuse(w, s.known(c.Model))
		return
	case c.EncodingFormat != "" && c.EncodingFormat != "float":
		s.refuse(w, bad("encoding_format", "Invalid 'encoding_format': this server has float"))
		return
	case json.Unmarshal(c.Input, &one) == nil:
		texts = []string{one}
	case json.Unmarshal(c.Input, &texts) != nil || len(texts) == 0 || len(texts) > maxInputs:
		s.refuse(w, bad("input", "Invalid 'input': want a string or 1 to %d strings", maxInputs))
		return
	}
	n := s.opt.Dimensions
	if c.Dimensions != nil {
		n = *c.Dimensions
	}
	data := []any{}
	for i, t := range texts {
		if t == "" {
			s.refuse(w, bad("input", "Invalid 'input[%d]': empty", i))
			return
		}
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": direction(t, n)})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": c.Model, "usage": map[string]any{"prompt_tokens": len(body) / 4, "total_tokens": len(body) / 4}})
}

func direction(text string, n int) []float64 {
	v := make([]float64, n)
	for _, w := range strings.Fields(strings.ToLower(text)) {
		for i := range v {
			h := fnv.New64a()
			_, _ = h.Write([]byte{byte(i), byte(i >> 8)})
			_, _ = h.Write([]byte(w))
			v[i] += float64(int64(h.Sum64())) / math.MaxInt64
		}
	}
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	if sum == 0 {
		v[0], sum = 1, 1
	}
	for i := range v {
		v[i] /= math.Sqrt(sum)
	}
	return v
}
