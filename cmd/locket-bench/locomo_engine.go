package main

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/retrieve"
)

// engine is what is measured. It is fed one conversation, as text events with their dates and
// speakers, and then asked about it.
type engine interface {
	// Feed adds a conversation. It is called once.
	Feed(ctx context.Context, c *conversation) error
	// Ask answers with at most k hits, best first, from only the question.
	Ask(ctx context.Context, question string, kinds []recall.Kind, k int) ([]answer, error)
	// Within returns the content of the context block for a question, within a budget of tokens,
	// and the block itself.
	Within(ctx context.Context, question string, budget int) ([]answer, string, error)
	// Kept is the share of turns that a memory quotes, 0 to 1.
	Kept() float64
	Close() error
}

// answer is one hit: the one turn that it quotes, and its text.
type answer struct {
	turn string
	text string
}

// straight is only the index: each turn is an utterance, and each photo its caption.
type straight struct {
	index   *recall.Index
	weights *recall.Weights
	dense   recall.Dense // may be nil
	turns   map[memory.ID]turn
	now     time.Time
}

func newStraight(w *recall.Weights) *straight {
	return &straight{weights: w, turns: map[memory.ID]turn{}}
}

func (e *straight) Feed(ctx context.Context, c *conversation) error {
	x, err := recall.Open(ctx, memSegments{}, recall.Options{})
	if err != nil {
		return err
	}
	e.index = x
	for _, s := range c.Sessions {
		for i, t := range s.Turns {
			sum := sha256.Sum256([]byte(c.Name + "\x00" + t.ID))
			id := memory.ID(sum[:16])
			text := t.Text
			if t.Caption != "" {
				text += " " + t.Caption
			}
			e.turns[id] = t
			at := s.At.Add(time.Duration(i) * 10 * time.Second)
			d := recall.Doc{ID: id, Kind: recall.Utterance, Session: s.Name, At: at, Order: uint64(i), Speaker: t.Speaker, Text: text}
			if err := x.Add(d); err != nil {
				return err
			}
			e.now = at.Add(24 * time.Hour)
		}
	}
	return nil
}

func (e *straight) Ask(ctx context.Context, question string, kinds []recall.Kind, k int) ([]answer, error) {
	r, err := e.index.Search(ctx, recall.Query{Text: question, Now: e.now, K: k, Kinds: kinds, Weights: e.weights, Holds: e.hasPhrase, Models: recall.Models{Dense: e.dense, Within: time.Minute}})
	if err != nil {
		return nil, err
	}
	out := make([]answer, len(r.Hits))
	for i, h := range r.Hits {
		t := e.turns[h.ID]
		out[i] = answer{t.ID, t.Speaker + ": " + t.Text + " " + t.Caption}
	}
	return out, nil
}

// hasPhrase reports whether a turn has a phrase, word for word.
func (e *straight) hasPhrase(id memory.ID, p recall.Phrase) bool {
	return p.In(e.turns[id].Text + " " + e.turns[id].Caption)
}

func (e *straight) Within(ctx context.Context, question string, budget int) ([]answer, string, error) {
	r, err := e.index.Search(ctx, recall.Query{Text: question, Now: e.now, K: retrieve.MaxUtterances, Weights: e.weights})
	if err != nil {
		return nil, "", err
	}
	items := make([]retrieve.Item, len(r.Hits))
	for i, h := range r.Hits {
		t := e.turns[h.ID]
		items[i] = retrieve.Item{ID: h.ID, Section: retrieve.Utterances, Text: t.Text + " " + t.Caption, Speaker: t.Speaker, At: h.At}
	}
	var out []answer
	block := retrieve.Build(question, items, budget, time.UTC)
	for _, l := range block.Lines {
		out = append(out, answer{e.turns[l.ID].ID, l.Text})
	}
	return out, block.Text, nil
}

func (e *straight) Kept() float64 { return 0 }

func (e *straight) Close() error { return e.index.Close() }
