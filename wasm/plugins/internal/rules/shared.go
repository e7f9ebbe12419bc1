package rules

// heldVerbs say how things stand with somebody. "And" or a comma before one of
// them begins a statement of the same subject: "lives in Graz and works at IBM".
var heldVerbs = set("lives works loves likes hates enjoys speaks drives owns plays studies teaches has is isn't doesn't hasn't was moved grew " +
	"live work love like hate enjoy speak drive own play study teach have am don't haven't")

// shared splits a clause before verbs that share its subject. Only the first
// part has a subject.
func shared(s sentence) []sentence {
	var parts []sentence
	first, held := 0, false
	for i := range s.toks {
		w := s.at(i)
		switch w {
		case "to", "will", "would", "can", "could", "should", "must", "might", "may", "let's", "if", "that", "who", "which", "where", "when", "because":
			if w == "to" && s.at(i-1) == "used" || first > 0 && w == "to" {
				continue
			}
			return append(parts, s.sub(first, len(s.toks))) // of what is meant or possible, each verb may be
		}
		if !held {
			base, rest := contraction(w)
			held = i > 0 && heldVerbs[w] || w == "lived" || w == "worked" || w == "used" || rest != "" && subjectPronoun(base)
			continue
		}
		if w != "and" && w != "," && w != "but" || i <= first {
			continue
		}
		k := i + 1
		for s.at(k) == "and" || s.at(k) == "but" || s.at(k) == "also" || s.at(k) == "now" || s.at(k) == "still" {
			k++
		}
		if !heldVerbs[s.at(k)] || k+1 >= len(s.toks) || s.at(k) == "is" && s.at(i) == "," && s.at(i+1) != "and" && !s.verbWithin(first, i-first) {
			continue
		}
		parts = append(parts, s.sub(first, i))
		first, held = k, true
	}
	return append(parts, s.sub(first, len(s.toks)))
}

// continued parses a part that shares the subject of the clause before.
func (t *talk) continued(s sentence, before *clause) (clause, bool) {
	c := clause{sentence: s, whens: findWhens(s, t.now)}
	c.words = t.wordsOf(&c)
	if len(c.words) == 0 {
		return c, false
	}
	c.subj, c.kind, c.thing, c.own, c.name, c.bare = before.subj, before.kind, before.thing, before.own, before.name, true
	return c, c.predicate(0)
}
