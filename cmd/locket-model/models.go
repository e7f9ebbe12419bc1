//go:build !386 && !arm

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/knights-analytics/hugot"
	"github.com/knights-analytics/hugot/options"
	"github.com/knights-analytics/hugot/pipelines"
)

// models runs one inference at a time, because one uses all processors.
type models struct {
	session    *hugot.Session
	embedName  string // empty if there is none
	embed      *pipelines.FeatureExtractionPipeline
	rerankName string
	rerank     *pipelines.CrossEncoderPipeline

	turn chan struct{} // holds one value while nothing runs
	once sync.Once
}

// The shapes for which the library compiles. Without them it keeps a program for every length of
// text that it has ever seen.
var (
	batchShapes    = []int{1, 8, 64}
	sequenceShapes = []int{16, 64, 128, 256, 512}
)

// rerankBatch is how many pairs are judged at a time. After each batch, a cancelled request ends.
const rerankBatch = 8

// open reads the folders. One of the two may be empty.
func open(embed, rerank string) (*models, error) {
	session, err := hugot.NewGoSession(options.WithGoMLXBatchBuckets(batchShapes), options.WithGoMLXSequenceBuckets(sequenceShapes))
	if err != nil {
		return nil, err
	}
	m := &models{session: session, turn: make(chan struct{}, 1)}
	m.turn <- struct{}{}
	if err := m.load(embed, rerank); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func (m *models) load(embed, rerank string) (err error) {
	for _, dir := range []string{embed, rerank} {
		if dir == "" {
			continue
		}
		for _, file := range []string{"tokenizer.json", "config.json"} {
			if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
				return fmt.Errorf("%s is not a model folder: %w", dir, err)
			}
		}
	}
	if embed != "" {
		m.embedName = nameOf(embed)
		m.embed, err = hugot.NewPipeline(m.session, hugot.FeatureExtractionConfig{ModelPath: embed, Name: "embed",
			Options: []hugot.FeatureExtractionOption{pipelines.WithNormalization()}})
		if err != nil {
			return fmt.Errorf("%s: %w", embed, err)
		}
	}
	if rerank != "" {
		m.rerankName = nameOf(rerank)
		m.rerank, err = hugot.NewPipeline(m.session, hugot.CrossEncoderConfig{ModelPath: rerank, Name: "rerank",
			Options: []hugot.CrossEncoderOption{pipelines.WithBatchSize(rerankBatch), pipelines.WithSortResults(false)}})
		if err != nil {
			return fmt.Errorf("%s: %w", rerank, err)
		}
	}
	return nil
}

func (m *models) names() (out []string) {
	if m.embed != nil {
		out = append(out, m.embedName+" for embeddings")
	}
	if m.rerank != nil {
		out = append(out, m.rerankName+" as a reranker")
	}
	return out
}

// Close waits for a running inference.
func (m *models) Close() (err error) {
	m.once.Do(func() {
		<-m.turn
		err = m.session.Destroy()
	})
	return err
}

// inTurn waits for its turn, and runs f unless ctx has ended by then. A running inference can't be
// stopped.
func (m *models) inTurn(ctx context.Context, f func() error) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-m.turn:
	}
	defer func() { m.turn <- struct{}{} }()
	if err := ctx.Err(); err != nil {
		return err
	}
	return f()
}

// vectors embeds texts, each to length 1.
func (m *models) vectors(ctx context.Context, texts []string) (out [][]float32, err error) {
	err = m.inTurn(ctx, func() error {
		got, err := m.embed.RunPipeline(texts)
		if err == nil {
			out = got.Embeddings
		}
		return err
	})
	return out, err
}

// scores judges how well each text answers the question, from 0 to 1.
func (m *models) scores(ctx context.Context, question string, texts []string) ([]float32, error) {
	out := make([]float32, 0, len(texts))
	for len(texts) > 0 {
		part := texts[:min(rerankBatch, len(texts))]
		texts = texts[len(part):]
		err := m.inTurn(ctx, func() error {
			got, err := m.rerank.RunPipeline(question, part)
			if err != nil {
				return err
			}
			list := make([]float32, len(part))
			for _, r := range got.Results {
				list[r.Index] = r.Score
			}
			out = append(out, list...)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
