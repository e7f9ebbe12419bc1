package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Vectors asks models that give numbers and no words: embeddings, by OpenAI's
// protocol, and a reranker, by the one that Jina, Cohere, vLLM, llama.cpp and
// text-embeddings-inference share. It is safe for concurrent use.
type Vectors struct {
	cfg    VectorsConfig
	embed  string // URL
	rerank string // URL; empty: there is none
	client *http.Client
}

// VectorsConfig names the endpoints. One of URL and RerankURL is needed.
type VectorsConfig struct {
	URL         string        // base of /embeddings; without a path /v1 is meant
	RerankURL   string        // base of /rerank
	RerankModel string        // may be empty for servers of one model
	Key         string        // bearer token of both; empty: none
	Timeout     time.Duration // of one answer; 0: 30 s
}

// MaxInputs is how many texts one request has at most: what small servers take.
const MaxInputs = 64

const vectorsTimeout = 30 * time.Second

// maxNumbers is how many bytes of an answer are read: 64 vectors of 4,096
// numbers of 20 characters.
const maxNumbers = 8 << 20

// NewVectors makes a client; nothing is sent yet.
func NewVectors(cfg VectorsConfig) (*Vectors, error) {
	v := &Vectors{cfg: cfg, client: &http.Client{Transport: &quiet{next: http.DefaultTransport, most: maxNumbers}, CheckRedirect: noRedirect}}
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
		u, err := url.Parse(e.base)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("llm: %s: want a URL such as http://127.0.0.1:11434/v1", e.path)
		}
		if strings.Trim(u.Path, "/") == "" {
			u.Path = "/v1"
		}
		*e.to = u.JoinPath(e.path).String()
	}
	if v.embed == "" && v.rerank == "" {
		return nil, errors.New("llm: no endpoint of embeddings or of a reranker is named")
	}
	return v, nil
}

// Embed gives a vector for each of at most MaxInputs texts, all of one number
// of dimensions. An error is a *Fault, or that of ctx.
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

// HasReranker reports whether there is one to ask.
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
	b, err := json.Marshal(in)
	if err != nil {
		return err
	}
	run, cancel := context.WithTimeout(ctx, v.cfg.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(run, http.MethodPost, to, bytes.NewReader(b))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if v.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+v.cfg.Key)
	}
	res, err := v.client.Do(req)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && run.Err() != nil:
		return faultf(Slow, 0, "no answer within %s", v.cfg.Timeout)
	case err != nil:
		if f, ok := errors.AsType[*Fault](err); ok {
			return f
		}
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		return faultf(Gone, 0, "%v", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body) // in memory, and bounded, by now
	if err != nil {
		return faultf(Gone, res.StatusCode, "the answer broke off")
	}
	if res.StatusCode/100 != 2 {
		var e struct {
			Error struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		_ = json.Unmarshal(body, &e) // what is no JSON has no message
		if v.cfg.Key != "" {
			e.Error.Message = strings.ReplaceAll(e.Error.Message, v.cfg.Key, "[key]")
		}
		return ofStatus(res.StatusCode, res.Header, e.Error.Message)
	}
	if err := json.Unmarshal(body, out); err != nil {
		return faultf(Babbled, res.StatusCode, "not the JSON of the protocol")
	}
	return nil
}
