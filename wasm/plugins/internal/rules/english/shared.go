package english

import (
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// heldVerbs are verbs for what is true of somebody. "And" or a comma before one of them begins a
// statement of the same subject: "lives in Graz and works at IBM".
var heldVerbs = syntax.Set("lives works loves likes hates enjoys speaks drives owns plays studies teaches has is isn't doesn't hasn't was moved grew " +
	"live work love like hate enjoy speak drive own play study teach have am don't haven't")

// shared splits a clause before verbs that share its subject. Only the first
// part has a subject.
func shared(s syntax.Sentence) []syntax.Sentence {
	var parts []syntax.Sentence
	first, held := 0, false
	for i := range s.Toks {
		w := s.At(i)
		switch w {
		case "to", "will", "would", "can", "could", "should", "must", "might", "may", "let's", "if", "that", "who", "which", "where", "when", "because":
			if w == "to" && s.At(i-1) == "used" || first > 0 && w == "to" {
				continue
			}
			return append(parts, s.Sub(first, len(s.Toks))) // what is meant or possible may have several verbs
		}
		if !held {
			base, rest := syntax.Contraction(w)
			held = i > 0 && heldVerbs[w] || w == "lived" || w == "worked" || w == "used" || rest != "" && syntax.SubjectPronoun(base)
			continue
		}
		if w != "and" && w != "," && w != "but" || i <= first {
			continue
		}
		k := i + 1
		for s.At(k) == "and" || s.At(k) == "but" || s.At(k) == "also" || s.At(k) == "now" || s.At(k) == "still" {
			k++
		}
		if !heldVerbs[s.At(k)] || k+1 >= len(s.Toks) || s.At(k) == "is" && s.At(i) == "," && s.At(i+1) != "and" && !s.VerbWithin(first, i-first) {
			continue
		}
		parts = append(parts, s.Sub(first, i))
		first, held = k, true
	}
	return append(parts, s.Sub(first, len(s.Toks)))
}

// continued parses a part that shares the subject of the previous clause.
func continued(t *discourse.Talk, s syntax.Sentence, before *discourse.Clause) (discourse.Clause, bool) {
	c := discourse.Clause{Sentence: s, Whens: timex.FindWhens(s, t.Now)}
	c.Words = t.WordsOf(&c)
	if len(c.Words) == 0 {
		return c, false
	}
	c.Subj, c.Kind, c.Thing, c.Own, c.Name, c.Bare = before.Subj, before.Kind, before.Thing, before.Own, before.Name, true
	return c, c.Predicate(0)
}
