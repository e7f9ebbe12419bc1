package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
)

// embedder is a model that finds neighbours by a simple rule. A node's search must cope with all of
// them.
type embedder struct {
	name string
	of   func(question string, q, doc []float32, id memory.ID) float64
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// embedders are: none, one that knows words and parts of words, one with random answers, and one
// that returns what is farthest.
var embedders = []embedder{
	{name: "none"},
	{"hashed words", func(_ string, q, d []float32, _ memory.ID) float64 { return dot(q, d) }},
	{"random", func(question string, _, _ []float32, id memory.ID) float64 {
		sum := sha256.Sum256(append([]byte(question), id[:]...))
		return float64(binary.BigEndian.Uint32(sum[:])) / (1 << 32)
	}},
	{"inverted", func(_ string, q, d []float32, _ memory.ID) float64 { return -dot(q, d) }},
}

// ruled is an embedder over a conversation's turns. It implements [recall.Dense].
type ruled struct {
	embedder
	vectors map[memory.ID][]float32
}

func newRuled(ctx context.Context, e embedder, of *straight) (*ruled, error) {
	d := &ruled{e, map[memory.ID][]float32{}}
	for id, t := range of.turns {
		v, err := embed(ctx, t.Speaker+": "+t.Text+" "+t.Caption)
		if err != nil {
			return nil, err
		}
		d.vectors[id] = v
	}
	return d, nil
}

// Nearest implements recall.Dense.
func (d *ruled) Nearest(ctx context.Context, text string, n int) ([]recall.Similar, error) {
	q, err := embed(ctx, text)
	if err != nil {
		return nil, err
	}
	out := make([]recall.Similar, 0, len(d.vectors))
	for id, v := range d.vectors {
		out = append(out, recall.Similar{ID: id, Similarity: d.of(text, q, v, id)})
	}
	slices.SortFunc(out, func(a, b recall.Similar) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), slices.Compare(a.ID[:], b.ID[:]))
	})
	return out[:min(n, len(out))], nil
}

// locomoEmbedders measures what each embedder does to the recall of turns.
func locomoEmbedders(ctx context.Context, conversations []conversation, w io.Writer, asJSON bool) error {
	marks := make([]marked, len(embedders))
	for i := range conversations {
		for j, e := range embedders {
			h := &heard{newStraight(nil), &conversations[i]} // an index of its own, because it learns how far to trust a model
			if err := h.Feed(ctx, h.talk); err != nil {
				return fmt.Errorf("feed %s: %w", h.talk.Name, err)
			}
			if e.of != nil {
				d, err := newRuled(ctx, e, h.straight)
				if err != nil {
					return err
				}
				h.dense = d
			}
			m, err := h.mark(ctx, recall.DefaultWeights())
			if err != nil {
				return err
			}
			marks[j].join(m)
			if err := h.Close(); err != nil {
				return err
			}
		}
	}
	base := perCent(marks[0].sum["all"], marks[0].n["all"])
	for j, e := range embedders {
		got := perCent(marks[j].sum["all"], marks[j].n["all"])
		if asJSON {
			if err := json.NewEncoder(w).Encode(map[string]any{"suite": "locomo", "case": "embedder", "embedder": e.name, "recall": got}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(w, "%-14s @5 %5.1f (%+.1f)  @10 %5.1f (%+.1f)  @25 %5.1f (%+.1f)\n", e.name, got["5"], got["5"]-base["5"], got["10"], got["10"]-base["10"], got["25"], got["25"]-base["25"])
	}
	return nil
}
