package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/meaning"
	"github.com/locket-dev/locket/node/serve"
)

// vectors is what helps to find by meaning; its parts are nil where they are
// not configured.
type vectors struct {
	client *llm.Vectors
	keeper *meaning.Keeper
	err    error  // why what is configured can't be used
	stop   func() // nil: no vectors are made in the background
}

// openVectors makes the client, and reads what was kept. Vectors that nobody
// wants any more are thrown away: nobody would forget them with their texts.
func (n *Node) openVectors(ctx context.Context, o *session) error {
	c := &n.cfg.Dense
	shelf := segments{o.store, meaningShelf}
	if c.URL == "" {
		if err := recall.Discard(ctx, shelf); err != nil {
			return err
		}
	}
	if c.URL == "" && c.RerankURL == "" {
		return nil
	}
	key, err := c.APIKey()
	if err == nil {
		o.vectors.client, err = llm.NewVectors(llm.VectorsConfig{URL: c.URL, RerankURL: c.RerankURL, RerankModel: c.RerankModel, Key: key})
	}
	if err != nil {
		o.vectors.err = err
		n.log.Warn("no search by meaning", "error", err)
	}
	if c.URL == "" {
		return nil
	}
	// Even without a client: what is forgotten has to go from what was kept.
	o.vectors.keeper, err = meaning.Open(ctx, meaning.Config{Model: c.Model, Embedder: embedder{&o.vectors}, Segments: shelf,
		Texts: o.texts, QueryPrefix: c.QueryPrefix, DocumentPrefix: c.DocumentPrefix, Log: n.log})
	return err
}

// embedder says why there is no client, where there is none.
type embedder struct{ *vectors }

func (e embedder) Embed(ctx context.Context, model string, texts []string) ([][]float32, error) {
	if e.client == nil {
		return nil, &llm.Fault{Kind: llm.Setup, Detail: e.err.Error()}
	}
	return e.client.Embed(ctx, model, texts)
}

// texts gives documents as a model shall read them. The vault's are for no
// model, nor is what is secret.
func (o *session) texts(ctx context.Context, ids []memory.ID) (map[memory.ID]string, error) {
	out := make(map[memory.ID]string, len(ids))
	err := o.store.View(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			text, err := textOf(tx, id)
			if err != nil && !errors.Is(err, memory.ErrNotFound) {
				return err
			}
			if text != "" {
				out[id] = text
			}
		}
		return nil
	})
	return out, err
}

// textOf is one document as a model shall read it, empty for one that it
// shall not.
func textOf(tx *store.Tx, id memory.ID) (string, error) {
	u, err := tx.Utterance(id)
	if err == nil {
		if u.Speaker != "" {
			return u.Speaker + ": " + u.Text, nil
		}
		return u.Text, nil
	}
	if !errors.Is(err, memory.ErrNotFound) {
		return "", err
	}
	m, chunk, err := engine.Whole(tx, id)
	switch {
	case err != nil:
		return "", err
	case m.State == memory.Erased || m.Type == memory.Vault || m.Sensitivity == memory.Secret:
		return "", nil
	case chunk != nil:
		return m.Text + "\n" + chunk.Text, nil
	}
	return m.Text, nil
}

// startEmbedding makes vectors in the background, until stopEmbedding.
func (o *session) startEmbedding() {
	v := &o.vectors
	if v.keeper == nil || v.stop != nil {
		return
	}
	v.stop = o.life.Start(v.keeper.Run)
}

func (o *session) stopEmbedding() {
	if v := &o.vectors; v.stop != nil {
		v.stop()
		v.stop = nil
	}
}

// models are what a search may ask.
func (n *Node) models(o *session) recall.Models {
	v := &o.vectors
	m := recall.Models{Within: n.cfg.Dense.Within.Std()}
	if v.keeper != nil && v.client != nil {
		m.Dense = v.keeper
	}
	if v.client != nil && v.client.HasReranker() {
		m.Reranker = v.client
		m.Texts = func(ctx context.Context, hits []recall.Hit) ([]string, error) {
			ids := make([]memory.ID, len(hits))
			for i := range hits {
				ids[i] = hits[i].ID
			}
			texts, err := o.texts(ctx, ids)
			if err != nil {
				return nil, err
			}
			out := make([]string, len(ids))
			for i, id := range ids {
				out[i] = texts[id]
			}
			return out, nil
		}
	}
	return m
}

// doctorVectors says whether the models of the search answer.
func (n *Node) doctorVectors(ctx context.Context, add func(check, level, advice, format string, args ...any)) error {
	const check = "search by meaning"
	c := &n.cfg.Dense
	if c.URL == "" && c.RerankURL == "" {
		return nil
	}
	advice := "see that it runs, and that dense.url, dense.model and the key fit; until then search goes by words"
	return n.during(ctx, func(ctx context.Context, o *session) error {
		v := &o.vectors
		if v.err != nil {
			add(check, serve.LevelWarning, advice, "%v", v.err)
			return nil
		}
		if v.keeper != nil {
			s := v.keeper.Status()
			_, err := v.client.Embed(ctx, c.Model, []string{"locket"})
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				add(check, serve.LevelWarning, advice, "%s at %s: %v", c.Model, c.URL, err)
			default:
				detail := fmt.Sprintf("%s at %s answers; %d documents have a vector, %d wait", c.Model, c.URL, s.Documents, s.Waiting)
				if s.Next != "" {
					detail += ", and until then questions are asked by " + s.Model
				}
				if s.Refused > 0 {
					detail += fmt.Sprintf("; it would not take %d texts", s.Refused)
				}
				add(check, serve.LevelOK, "", "%s", detail)
			}
		}
		if v.client.HasReranker() {
			if _, err := v.client.Rerank(ctx, "locket", []string{"a", "b"}); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				add(check, serve.LevelWarning, advice, "the reranker at %s: %v", c.RerankURL, err)
			} else {
				add(check, serve.LevelOK, "", "the reranker at %s answers", c.RerankURL)
			}
		}
		return nil
	})
}

var _ recall.Reranker = (*llm.Vectors)(nil)
