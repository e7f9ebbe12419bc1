package plugins

import (
	"context"
	"strings"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Tally implements serve.Refuser.
func (pl Plugger) Tally(ctx context.Context) (out serve.Tally, err error) {
	err = opened.View(ctx, pl.of, func(_ *Plugins, tx *store.Tx) error {
		c, err := tx.Tally()
		out = serve.NewTally(c.Taken, c.Refused)
		return err
	})
	return out, err
}

// Refusals implements serve.Refuser.
func (pl Plugger) Refusals(ctx context.Context, limit int) ([]serve.RefusedLine, error) {
	out := []serve.RefusedLine{}
	err := opened.View(ctx, pl.of, func(_ *Plugins, tx *store.Tx) error {
		for r, err := range tx.Refusals() {
			if err != nil {
				return err
			}
			out = append(out, serve.RefusedLine{Refusal: r})
		}
		sorting.Stable(out, func(a, b serve.RefusedLine) int { return b.At.Compare(a.At) })
		out = out[:min(limit, len(out))]
		for i := range out {
			if err := sayWords(tx, &out[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return out, err
}

// sayWords adds the first words of the line that was refused. It adds none of a line that
// held a secret, and none if an event has more than one line, because nothing says which
// of them was refused.
func sayWords(tx *store.Tx, r *serve.RefusedLine) error {
	lines, secret, text := 0, false, ""
	for u, err := range tx.UtterancesOf(r.Event) {
		if err != nil {
			return err
		}
		lines, secret, text = lines+1, secret || u.Redacted > 0, u.Text
	}
	if lines == 1 && !secret {
		r.Words = firstWords(text)
	}
	return nil
}

const (
	maxWords = 8  // of a line
	maxRunes = 60 // of all words together: not every language has spaces between words
)

func firstWords(text string) string {
	all := strings.Fields(text)
	words := []rune(strings.Join(all[:min(maxWords, len(all))], " "))
	if len(words) > maxRunes {
		return string(words[:maxRunes]) + "…"
	}
	if len(all) > maxWords {
		return string(words) + " …"
	}
	return string(words)
}
