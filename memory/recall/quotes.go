package recall

import (
	"slices"
	"strings"
)

// phrase is a quoted phrase as terms. never is set if one of the terms is in no
// document.
type phrase struct {
	text  Phrase
	terms []uint32
	never bool
}

// maxQuotes is how many phrases of a question are searched for word for word. For each of them, the
// text of each candidate is read.
const maxQuotes = 8

// quotes adds the first phrases in quotation marks in a question.
func (c *core) quotes(out *question, text string) {
	rest := text
	for _, s := range quoted(text) {
		rest = strings.Replace(rest, s, "", 1)
		p := phrase{text: phraseOf(s)}
		if len(out.quotes) == maxQuotes || slices.ContainsFunc(out.quotes, func(o phrase) bool { return slices.Equal(o.text, p.text) }) {
			continue
		}
		for _, x := range split(s) {
			if x.term == "" {
				continue
			}
			t := c.dict.find(x.term)
			if !c.has(t) {
				p.never = true
			} else if !slices.Contains(p.terms, t) {
				p.terms = append(p.terms, t)
			}
		}
		if p.never || len(p.terms) > 0 {
			out.quotes = append(out.quotes, p)
			out.shape = Exact
		}
	}
	out.strict = len(out.quotes) > 0 && !slices.ContainsFunc(split(rest), func(w word) bool { return w.term != "" })
}
