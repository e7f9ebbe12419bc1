package english

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// kinApart reads what a clause says of two relatives for each of them: "my brother and sister both
// live in Graz". What they have or do together stays one memory. It reports whether the clause is
// about two relatives.
func kinApart(t *discourse.Talk, s syntax.Sentence) bool {
	both, each := kinPair(s)
	if both == "" {
		return false
	}
	from := len(t.Out.Candidates)
	read := func(text string) {
		for _, o := range syntax.Sentences(text) {
			o.Ends = s.Ends
			clause(t, o)
		}
	}
	read(both)
	together := slices.Clone(t.Out.Candidates[from:])
	apart := func(a abi.Candidate) bool {
		return a.Type == "semantic" && a.Slot != nil && !owned[a.Slot.Attribute] && strings.Contains(a.Slot.Subject, " and ")
	}
	if !slices.ContainsFunc(together, func(a abi.Candidate) bool { return !apart(a) }) && len(together) > 0 {
		t.Out.Candidates = t.Out.Candidates[:from]
		for _, one := range each {
			read(one)
		}
		if len(t.Out.Candidates) != from+2*len(together) {
			t.Out.Candidates = append(t.Out.Candidates[:from], together...)
		}
	}
	discourse.StandsFor(t, from, s)
	return true
}

// owned are attributes for what two people may have one of.
var owned = syntax.Set("owns pets relatives child children son daughter")

// kinPair returns a clause about two relatives as "my brother and sister live", and as one about
// each; nothing if it is about others.
func kinPair(s syntax.Sentence) (both string, each []string) {
	at := 0
	for syntax.Lead(s.At(at)) || s.At(at) == "," {
		at++
	}
	whose, i := s.At(at), at+3
	if whose != "my" && whose != "our" && !(len(s.Toks) > i && s.Toks[at].Cap && strings.HasSuffix(whose, "'s")) || s.At(at+2) != "and" {
		return "", nil
	}
	if s.At(i) == "my" || s.At(i) == "our" {
		i++
	}
	one, other, v := s.At(at+1), s.At(i), i+1
	if !syntax.Kin(one) || !syntax.Kin(other) || plural(one) || plural(other) {
		return "", nil
	}
	how := "" // no longer
	for ; s.At(v) == "both" || s.At(v) == "no" || s.At(v) == "longer" || syntax.Adverb(s.At(v)); v++ {
		if s.At(v) != "both" {
			how += " " + s.At(v)
		}
	}
	verb := ofOne(s.At(v))
	if verb == "" || v+1 >= len(s.Toks) {
		return "", nil
	}
	owner, rest := s.Text[s.Toks[at].Start:s.Toks[at].End], ""
	for k, last := v+1, s.Toks[v].End; k < len(s.Toks); k++ {
		word := s.Text[s.Toks[k].Start:s.Toks[k].End]
		if w := s.At(k); s.At(k-1) == "and" && heldVerbs[w] && ofOne(w) != "" {
			word = ofOne(w) // "and hate"
		}
		rest += s.Text[last:s.Toks[k].Start] + word
		last = s.Toks[k].End
	}
	for _, kin := range [...]string{one, other} {
		each = append(each, owner+" "+kin+how+" "+verb+rest)
	}
	return owner + " " + one + " and " + other + s.Text[s.Toks[i].End:s.End], each
}

// plural reports whether a word for relatives means several.
func plural(kin string) bool {
	return strings.HasSuffix(kin, "s") && !strings.HasSuffix(kin, "ss") || kin == "children" || kin == "family"
}

// ofOne returns a verb of two people in the form for one: "lives" for "live"; "" if it is none.
func ofOne(verb string) string {
	switch verb {
	case "are":
		return "is"
	case "were":
		return "was"
	case "aren't", "weren't", "don't", "haven't":
		return map[string]string{"aren't": "isn't", "weren't": "wasn't", "don't": "doesn't", "haven't": "hasn't"}[verb]
	case "used":
		return verb
	}
	switch l, past, ing := syntax.Lemma(verb); {
	case l == "" || ing:
		return ""
	case past:
		return verb
	case l == verb:
		return syntax.Third(verb)
	}
	return ""
}
