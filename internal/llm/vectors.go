package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/locket-dev/locket/internal/cutoff"
	"github.com/locket-dev/locket/internal/span"
)

// Vectors asks models that return numbers and no words: embeddings, by OpenAI's protocol, and a
// reranker, by the protocol that Jina, Cohere, vLLM, llama.cpp and text-embeddings-inference share.
// It is safe for concurrent use.
type Vectors struct {
	cfg    VectorsConfig
	embed  string // URL
	rerank string // URL; empty: there is none
	caller *caller
}

// VectorsConfig names the endpoints. At least one of URL and RerankURL is required.
type VectorsConfig struct {
	URL         string        // base of /embeddings; without a path, /v1 is assumed
	RerankURL   string        // base of /rerank
	RerankModel string        // may be empty for servers with one model
	Key         string        // bearer token for both; empty: none
	Timeout     time.Duration // timeout of one answer; 0: 30 s
}

// MaxInputs is the greatest number of texts in a request: as many as small servers accept.
const MaxInputs = 64

const vectorsTimeout = 30 * time.Second

// maxNumbers is how many bytes of an answer are read: 64 vectors of 4,096
// numbers of 20 characters.
const maxNumbers = 8 << 20

// NewVectors makes a client; nothing is sent yet.
func NewVectors(cfg VectorsConfig) (*Vectors, error) {
	v := &Vectors{cfg: cfg, caller: newCaller(cfg.Key, cutoff.Transport, maxNumbers)}
	if v.cfg.Timeout <= 0 {
		v.cfg.Timeout = vectorsTimeout
	}
	for _, e := range []struct {
		base, path string
		to         *string
	}{{cfg.URL, "embeddings", &v.embed}, {cfg.RerankURL, "rerank", &v.rerank}} {
		if e.base == "" {
			continue
		}
		u, err := baseURL(e.base)
		if err != nil {
			return nil, fmt.Errorf("llm: %s: %w", e.path, err)
		}
		*e.to = u.JoinPath(e.path).String()
	}
	if v.embed == "" && v.rerank == "" {
		return nil, errors.New("llm: no endpoint of embeddings or of a reranker is named")
	}
	return v, nil
}

// Embed returns a vector for each of at most MaxInputs texts, all with the same number of
// dimensions. An error is a *Fault, or that of ctx.
func (v *Vectors) Embed(ctx context.Context, model string, texts []string) ([][]float32, error) {
	in := struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}{model, texts}
	var out struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := v.post(ctx, v.embed, in, &out); err != nil {
		return nil, err
	}
	if len(out.Data) != len(texts) {
		return nil, faultf(Babbled, http.StatusOK, "%d vectors for %d texts", len(out.Data), len(texts))
	}
	list := make([][]float32, len(texts))
	for _, d := range out.Data {
		if d.Index < 0 || d.Index >= len(list) || list[d.Index] != nil {
			return nil, faultf(Babbled, http.StatusOK, "a vector for text %d, of %d", d.Index, len(texts))
		}
		if len(d.Embedding) == 0 || len(d.Embedding) != len(out.Data[0].Embedding) {
			return nil, faultf(Babbled, http.StatusOK, "vectors of %d and %d dimensions", len(out.Data[0].Embedding), len(d.Embedding))
		}
		list[d.Index] = d.Embedding
	}
	return list, nil
}

// HasReranker reports whether a reranker is configured.
func (v *Vectors) HasReranker() bool { return v.rerank != "" }

// Rerank implements recall.Reranker. An error is a *Fault, or that of ctx.
func (v *Vectors) Rerank(ctx context.Context, question string, texts []string) ([]float64, error) {
	in := struct {
		Model     string   `json:"model,omitempty"`
		Query     string   `json:"query"`
		Documents []string `json:"documents"`
	}{v.cfg.RerankModel, question, texts}
	var out struct {
		Results []struct {
			Index int      `json:"index"`
			Score *float64 `json:"relevance_score"`
		} `json:"results"`
	}
	if err := v.post(ctx, v.rerank, in, &out); err != nil {
		return nil, err
	}
	scores := make([]float64, len(texts))
	for i := range scores {
		scores[i] = math.NaN()
	}
	for _, r := range out.Results {
		if r.Index < 0 || r.Index >= len(scores) || !math.IsNaN(scores[r.Index]) || r.Score == nil {
			return nil, faultf(Babbled, http.StatusOK, "a score for text %d, of %d", r.Index, len(texts))
		}
		scores[r.Index] = *r.Score
	}
	if len(out.Results) != len(texts) {
		return nil, faultf(Babbled, http.StatusOK, "%d scores for %d texts", len(out.Results), len(texts))
	}
	return scores, nil
}

func (v *Vectors) post(ctx context.Context, to string, in, out any) error {
	ctx, work := span.Ask(ctx, "vectors")
	err := v.caller.call(ctx, v.cfg.Timeout, http.MethodPost, to, in, out)
	work.End(err)
	return err
}
