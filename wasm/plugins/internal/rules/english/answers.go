package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Thing returns the thing whose place or holder a question asks for, "Daniel's charger": after
// "where is", "have you seen", "who has", or all of "the charger?".
func Thing(q *discourse.Asked) (string, bool) {
	i := 0
	for syntax.Lead(q.At(i)) || q.At(i) == "," {
		i++
	}
	switch base, rest := syntax.Contraction(q.At(i)); {
	case base == "where" && (rest == "is" || rest == "are"):
		i++
	case base == "where" || base == "have" || base == "do" || base == "did" || base == "who":
		for i++; i < len(q.Toks) && !syntax.Determiner(q.At(i)); i++ {
			if q.Toks[i].Kind == 'p' {
				return "", false
			}
		}
	}
	what := ""
	switch q.At(i) {
	case "my":
		what = discourse.Possessive(q.By.Name) + " "
	case "your":
		if q.Of.Name == "" {
			return "", false
		}
		what = discourse.Possessive(q.Of.Name) + " "
	case "the", "our":
	default:
		return "", false
	}
	first := i + 1
	for i = first; i < len(q.Toks) && q.Toks[i].Kind != 'p' && !syntax.Auxiliary(q.At(i)) && !syntax.Preposition(q.At(i)); i++ {
		if w := q.At(i); w == "gone" || w == "far" || w == "open" || w == "ready" || w == "close" || w == "nearby" || w == "now" || w == "again" || w == "these" || w == "anyway" {
			break
		}
	}
	if i == first || i-first > 4 {
		return "", false
	}
	return what + strings.ToLower(q.Text[q.Toks[first].Start:q.Toks[i-1].End]), true
}

// placed takes "it's in the drawer" as the place of what was asked for.
func placed(t *discourse.Talk, c *discourse.Clause, i int) bool {
	if c.Thing != "it" && c.Thing != "they" || c.Neg || c.Past || c.Verb != "be" || len(c.Words)-i < 2 {
		return false
	}
	if !syntax.Placing(c.W(i)) {
		return false
	}
	q, ok := discourse.AskedBefore(t, c.Sentence)
	if !ok {
		return false
	}
	switch base, _ := syntax.Contraction(q.At(0)); base {
	case "when", "what", "why", "how":
		return false
	}
	what, ok := Thing(&q)
	if !ok {
		return false
	}
	where, next := c.Object(i)
	if where == "" || c.FirstTime() != nil || next <= i || !WhereWords(c.Sentence, c.Words[i].Tok, c.Words[next-1].Tok+1) || !Findable(what) {
		return false
	}
	verb := " is "
	if c.Thing == "they" {
		verb = " are "
	}
	Answered(t, &q, c.Sentence, what, "location", where, Stand(what)+verb+where+".", "place", false)
	return true
}

// Stand returns the beginning of a statement with a thing.
func Stand(what string) string {
	if strings.Contains(what, "'s ") {
		return what
	}
	return "The " + what
}

// Answered proposes what an answer and its question say together.
func Answered(t *discourse.Talk, q *discourse.Asked, s syntax.Sentence, subject, attribute, value, text, kind string, many bool) {
	a := abi.Candidate{Type: "semantic", Kind: kind, Text: text, Lang: "en", Confidence: 0.8, Sensitivity: "personal", Tags: []string{kind},
		Spans: []abi.Span{{Start: s.Start, End: s.End}, {Turn: q.Turn, Start: q.Start, End: q.End}},
		Slot:  &abi.Slot{Subject: strings.ToLower(subject), Attribute: attribute, Value: value, Many: many}, Subject: subject, Predicate: attribute, Object: value}
	for _, p := range [...]discourse.Person{q.By, q.Of} { // a thing of their own has the same key as elsewhere
		if rest, ok := strings.CutPrefix(subject, discourse.Possessive(p.Name)+" "); ok && p.Key != "" {
			a.Slot.Subject = discourse.Possessive(p.Key) + " " + strings.ToLower(rest)
		}
	}
	t.Out.Candidates = append(t.Out.Candidates, a)
}
