package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/english"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// answer takes the sentences that say something only as an answer: "Mrs.
// Okafor does", "Rufus".
func answer(t *discourse.Talk, s syntax.Sentence) bool {
	if s.Chinese() || s.Ends == "?" || len(s.Toks) > 10 {
		return false
	}
	q, ok := discourse.AskedBefore(t, s)
	if !ok {
		return false
	}
	i := 0
	for i < len(s.Toks) && (syntax.Lead(s.At(i)) || s.Toks[i].Kind == 'p' || s.At(i) == "it's" || s.At(i) == "he's" || s.At(i) == "she's" || s.At(i) == "called" || s.At(i) == "named") {
		i++
	}
	first := i
	for i < len(s.Toks) && i < first+4 && (s.Toks[i].Cap && s.Toks[i].Kind == 'w' && (syntax.NameWord(s.At(i)) || syntax.Abbreviation(s.At(i))) || i > first && s.At(i) == "." && syntax.Abbreviation(s.At(i-1))) {
		if base, rest := syntax.Contraction(s.At(i)); rest != "" && base != "" {
			break
		}
		i++
	}
	if i == first {
		return false
	}
	name := s.Text[s.Toks[first].Start:s.Toks[i-1].End]
	rest := strings.Trim(strings.ToLower(s.Text[s.Toks[i-1].End:s.End]), " ,.!")
	raw := strings.ToLower(q.Raw())
	switch base, _ := syntax.Contraction(q.At(0)); {
	case base == "who" && (strings.Contains(raw, "who has ") || strings.Contains(raw, "who's got ") || strings.Contains(raw, "who has got ")):
		if rest != "" && rest != "does" && rest != "has it" && rest != "has" && rest != "has them" {
			return false
		}
		what, ok := english.Thing(&q)
		if !ok {
			return false
		}
		article := ""
		if !strings.Contains(what, "'s ") {
			article = "the "
		}
		english.Answered(t, &q, s, what, "location", "with "+name, name+" has "+article+what+".", "place", false)
		return true
	case rest == "" && (strings.Contains(raw, " called") || strings.Contains(raw, "name")) && strings.Contains(raw, "what"):
		animal, ok := animal(t, raw)
		if !ok {
			return false
		}
		owner := t.Self
		if discourse.HoldsWord(raw, "my") || discourse.HoldsWord(raw, "our") {
			owner = q.By
		}
		english.Answered(t, &q, s, owner.Name, "pets", name, discourse.Possessive(owner.Name)+" "+animal+" is called "+name+".", "family", true)
		t.Out.Candidates[len(t.Out.Candidates)-1].Slot.Subject = owner.Key
		return true
	}
	return false
}

// animal returns the animal that a question names, or that was named just before.
func animal(t *discourse.Talk, question string) (string, bool) {
	texts := []string{question}
	for i := len(t.Ev.Before) - 1; i >= max(0, len(t.Ev.Before)-3); i-- {
		if t.Ev.At-t.Ev.Before[i].At <= discourse.AnswerWithin {
			texts = append(texts, t.Ev.Before[i].Text)
		}
	}
	for _, text := range texts {
		for _, tok := range syntax.Lex(text) {
			if w, _ := syntax.Contraction(tok.S); syntax.Pet(w) {
				return w, true
			}
		}
	}
	return "", false
}
