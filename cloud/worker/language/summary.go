package language

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/engine/prompts"
	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory/judge"
)

// MaxSummary is the greatest length of a summary, in bytes.
const MaxSummary = 1200

// Summarise extends a summary. It is done after a batch, and the next batch
// does not wait for it. If a summary is lost, lines are understood from the
// last messages alone. Texts with a secret are neither shown nor kept.
func (p *Pipeline) Summarise(ctx context.Context, before string, ms []judge.Message) (string, error) {
	b := judge.Batch{Summary: before, Messages: ms}
	if _, err := p.holdBack(ctx, &b); err != nil {
		return "", err
	}
	if len(b.Messages) == 0 {
		return b.Summary, nil
	}
	data := struct {
		Summary  string        `json:"summary"`
		Messages []judge.Shown `json:"messages"`
	}{b.Summary, judge.Show(b.Messages, false)}
	a, err := p.Model.Ask(ctx, llm.Request{System: prompts.Text(prompts.Summary), Messages: llm.FromUser(llm.JSON(data))})
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(a.Text)
	if len(text) > MaxSummary {
		n := MaxSummary
		for n > 0 && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	if found, err := p.Secret(ctx, text); err != nil || found {
		return "", err
	}
	return text, nil
}
