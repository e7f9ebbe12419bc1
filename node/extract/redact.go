package extract

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/wasm/abi"
)

// mark is the text that replaces a secret.
func mark(kind string) string {
	kind = cmp.Or(kind, "secret")
	return "[" + kind + "]"
}

// redact takes spans out of a text. It returns the text without them and the parts
// that were taken out. Spans may overlap and come in any order; they are within
// the text.
func redact(text string, spans []abi.Redaction) (clean string, taken []string) {
	if len(spans) == 0 {
		return text, nil
	}
	spans = slices.Clone(spans)
	sorting.Sort(spans, func(a, b abi.Redaction) int { return a.Span.Start - b.Span.Start })
	var b strings.Builder
	at := 0
	for _, r := range spans {
		from, to := max(r.Span.Start, at), r.Span.End
		if to <= at {
			continue
		}
		taken = append(taken, text[from:to])
		if r.Span.Start >= at { // the rest of an overlapping span gets no second mark
			b.WriteString(text[at:from])
			b.WriteString(mark(r.Kind))
		}
		at = to
	}
	b.WriteString(text[at:])
	return b.String(), taken
}

// byTurn sorts redactions by their turn: 0 is the event itself, -1 the turn before
// it.
func byTurn(all []abi.Redaction) map[int][]abi.Redaction {
	out := map[int][]abi.Redaction{}
	for _, r := range all {
		out[r.Span.Turn] = append(out[r.Span.Turn], r)
	}
	return out
}
