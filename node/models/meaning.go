package models

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/meaning"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Viewer reads the records.
type Viewer interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
}

// MeaningConfig says which models the semantic search uses.
type MeaningConfig struct {
	Dense    config.Dense
	Store    Viewer
	Segments recall.Segments // where vectors are stored
	Log      *slog.Logger
}

// Meaning is the semantic search. Its methods are safe for concurrent use, except
// Start and Stop.
type Meaning struct {
	c      MeaningConfig
	client *llm.Vectors    // nil: not configured, or err
	keeper *meaning.Keeper // nil: not configured
	err    error           // why the configured model can't be used
	stop   func()          // nil: no vectors are made in the background
}

// OpenMeaning makes the client, and reads the vectors. If no model is configured,
// the vectors are deleted, because otherwise they would outlive forgotten texts.
func OpenMeaning(ctx context.Context, mc MeaningConfig) (*Meaning, error) {
	m, c := &Meaning{c: mc}, &mc.Dense
	if c.URL == "" {
		if err := recall.Discard(ctx, mc.Segments); err != nil {
			return nil, err
		}
	}
	if c.URL == "" && c.RerankURL == "" {
		return m, nil
	}
	key, err := c.APIKey()
	if err == nil {
		m.client, err = llm.NewVectors(llm.VectorsConfig{URL: c.URL, RerankURL: c.RerankURL, RerankModel: c.RerankModel, Key: key})
	}
	if err != nil {
		m.err = err
		mc.Log.Warn("no search by meaning", "error", err)
	}
	if c.URL == "" {
		return m, nil
	}
	// This is needed even without a client, because vectors of forgotten texts have
	// to be removed.
	m.keeper, err = meaning.Open(ctx, meaning.Config{Model: c.Model, Embedder: embedder{m}, Segments: mc.Segments,
		Texts: m.Texts, QueryPrefix: c.QueryPrefix, DocumentPrefix: c.DocumentPrefix, Log: mc.Log})
	return m, err
}

// Keeper returns the keeper of a vector for each document. It is nil if no model is
// configured.
func (m *Meaning) Keeper() *meaning.Keeper { return m.keeper }

// Embed returns the function that makes vectors of texts. It is nil if there is
// none.
func (m *Meaning) Embed() func(ctx context.Context, texts []string) ([][]float32, error) {
	if m.client == nil || m.c.Dense.URL == "" {
		return nil
	}
	return func(ctx context.Context, texts []string) ([][]float32, error) {
		return m.client.Embed(ctx, m.c.Dense.Model, texts)
	}
}

// embedder returns the reason as an error if there is no client.
type embedder struct{ *Meaning }

func (e embedder) Embed(ctx context.Context, model string, texts []string) ([][]float32, error) {
	if e.client == nil {
		return nil, &llm.Fault{Kind: llm.Setup, Detail: e.err.Error()}
	}
	return e.client.Embed(ctx, model, texts)
}

// Texts returns documents as a model may read them: none from the vault, and none
// that is secret.
func (m *Meaning) Texts(ctx context.Context, ids []memory.ID) (map[memory.ID]string, error) {
	out := make(map[memory.ID]string, len(ids))
	err := m.c.Store.View(ctx, func(tx *store.Tx) error {
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

// textOf returns one document as a model may read it. It is empty if no model may.
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
	m, chunk, err := engine.MemoryOfHit(tx, id)
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

// Start makes vectors in the background, until Stop. A second call does nothing.
func (m *Meaning) Start(life *opened.Life) {
	if m.keeper != nil && m.stop == nil {
		m.stop = life.Start(m.keeper.Run)
	}
}

// Stop ends what Start began, and waits.
func (m *Meaning) Stop() {
	if m.stop != nil {
		m.stop()
		m.stop = nil
	}
}

// Models returns the models that a search may use.
func (m *Meaning) Models() recall.Models {
	ms := recall.Models{Within: m.c.Dense.Within.Std()}
	if m.keeper != nil && m.client != nil {
		ms.Dense = m.keeper
	}
	if m.client != nil && m.client.HasReranker() {
		ms.Reranker = m.client
		ms.Texts = func(ctx context.Context, hits []recall.Hit) ([]string, error) {
			ids := make([]memory.ID, len(hits))
			for i := range hits {
				ids[i] = hits[i].ID
			}
			texts, err := m.Texts(ctx, ids)
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
	return ms
}

// Doctor reports whether the models of the search answer.
func (m *Meaning) Doctor(ctx context.Context, add Adder) error {
	const check = "search by meaning"
	c := &m.c.Dense
	if c.URL == "" && c.RerankURL == "" {
		return nil
	}
	advice := "check that it runs, and that dense.url, dense.model and the key are right; until then search goes by words"
	if m.err != nil {
		add(check, serve.LevelWarning, advice, "%v", m.err)
		return nil
	}
	if m.keeper != nil {
		s := m.keeper.Status()
		_, err := m.client.Embed(ctx, c.Model, []string{"locket"})
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
	if m.client.HasReranker() {
		if _, err := m.client.Rerank(ctx, "locket", []string{"a", "b"}); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			add(check, serve.LevelWarning, advice, "the reranker at %s: %v", c.RerankURL, err)
		} else {
			add(check, serve.LevelOK, "", "the reranker at %s answers", c.RerankURL)
		}
	}
	return nil
}

var _ recall.Reranker = (*llm.Vectors)(nil)
