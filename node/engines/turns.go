package engines

import (
	"strings"

	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract"
)

// maxTurns is how many turns of one recording become lines. A recording is an
// utterance of at most half a minute.
const maxTurns = 100

// Turns returns the lines of a recording: one for each turn of a speaker, or a
// single one if the engine does not tell speakers apart.
func Turns(a *result.Answer) (out []extract.Spoken) {
	if strings.TrimSpace(a.Text) == "" {
		return nil
	}
	var turns []speech.Segment
	for _, s := range a.Segments {
		last := len(turns) - 1
		switch {
		case strings.TrimSpace(s.Text) == "":
		case last >= 0 && turns[last].Speaker == s.Speaker:
			turns[last].Text += " " + s.Text
		default:
			turns = append(turns, s)
		}
	}
	if len(turns) < 2 || len(turns) > maxTurns {
		turns = []speech.Segment{{Text: a.Text}}
	}
	for _, t := range turns {
		out = append(out, extract.Spoken{From: t.From, Speaker: memory.Cut(t.Speaker, memory.MaxName), Lang: a.Lang, Text: memory.Cut(strings.Join(strings.Fields(t.Text), " "), memory.MaxText)})
	}
	return out
}
