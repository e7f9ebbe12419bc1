package english

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// pair is a clause about two people: about both as one subject, and about each.
type pair struct {
	both      string // "my brother and sister live"; "" if they can't be one subject
	each      [2]string
	named     [2]string // the names that come after what they are to somebody
	relations [2]string // what they are to the speaker: brother
}

// apart reads what a clause says of two people for each of them: "my brother and sister both live
// in Graz". What they have or do together stays one memory. It reports whether the clause is about
// two people.
func apart(t *discourse.Talk, s syntax.Sentence) bool {
	p, ok := pairIn(s)
	if !ok {
		return severally(t, s)
	}
	from := len(t.Out.Candidates)
	read := func(text string) []abi.Candidate {
		before := len(t.Out.Candidates)
		for _, o := range syntax.Sentences(text) {
			o.Ends = s.Ends
			clause(t, o)
		}
		return slices.DeleteFunc(slices.Clone(t.Out.Candidates[before:]), func(a abi.Candidate) bool { return a.Kind == "relation" })
	}
	ofEach := func(all []abi.Candidate, subject string) bool {
		return len(all) > 0 && !slices.ContainsFunc(all, func(a abi.Candidate) bool {
			return a.Type != "semantic" || a.Slot == nil || jointly[a.Slot.Attribute] || !strings.Contains(a.Slot.Subject, subject)
		})
	}
	read(p.both)
	together := slices.Clone(t.Out.Candidates[from:])
	if len(together) == 0 || ofEach(together, " and ") && !syntax.ContainsAny(p.both, " together", " each other", " one another") {
		t.Out.Candidates = t.Out.Candidates[:from]
		first, second := read(p.each[0]), read(p.each[1])
		if ofEach(first, "") && len(first) == len(second) && (len(together) == 0 || len(first) == len(together)) {
			discourse.StandsFor(t, from, s)
			return true
		}
		t.Out.Candidates = append(t.Out.Candidates[:from], slices.DeleteFunc(slices.Clone(t.Out.Candidates[from:]), func(a abi.Candidate) bool { return a.Kind != "relation" })...) // who they are
		t.Out.Candidates = append(t.Out.Candidates, together...)
		if p.both == "" {
			clause(t, s)
		}
	} else {
		for i, name := range p.named {
			if name != "" {
				c := discourse.Clause{Sentence: s, Subj: t.Self, Kind: 's'}
				t.Relation(&c, t.Self, p.relations[i], name, 0.9)
			}
		}
	}
	discourse.StandsFor(t, from, s)
	return true
}

// jointly are attributes for what two people may have one of.
var jointly = syntax.Set("owns pets relatives child children son daughter marital_status spouse")

// pairIn returns a clause about two people; false if it is about others.
func pairIn(s syntax.Sentence) (p pair, ok bool) {
	at := 0
	for syntax.Lead(s.At(at)) || s.At(at) == "," {
		at++
	}
	one, v := s.PairAt(at)
	if one == 0 {
		return p, false
	}
	raw := func(from, to int) string { return s.Text[s.Toks[from].Start:s.Toks[to-1].End] }
	how, second := "", raw(one+1, v) // no longer
	first := raw(at, one)
	kin := [2]string{s.At(at + 1), s.At(one + 2)}
	if owned := s.At(at) == "my" || s.At(at) == "our" || strings.HasSuffix(s.At(at), "'s"); owned && syntax.Kin(s.At(one+1)) {
		kin[1], second = s.At(one+1), raw(at, at+1)+" "+second
	}
	names := [2]string{first, second}
	if whose := s.At(one + 1); whose == "his" || whose == "her" {
		of := first
		if end := one - 1; s.Toks[end].Cap && end > at+1 {
			of = raw(at+2, one)
		}
		second = discourse.Possessive(of) + " " + raw(one+2, v)
		names[1] = second
	}
	for i, from := range [...]int{at, one + 1} {
		end := [...]int{one, v}[i]
		whose := s.At(from)
		switch {
		case syntax.Parent[whose] && kin[i] != whose || syntax.NameWord(whose) && s.Toks[from].Cap && !strings.HasSuffix(whose, "'s"):
			kin[i] = ""
		case plural(kin[i]):
			return p, false
		case end > from+2:
			names[i] = raw(from+2, end)
			if whose == "my" || whose == "our" {
				p.named[i], p.relations[i] = names[i], kin[i]
			}
		}
	}
	end := v
	for ; s.At(v) == "both" || s.At(v) == "no" || s.At(v) == "longer" || syntax.Adverb(s.At(v)); v++ {
		if s.At(v) != "both" {
			how += " " + s.At(v)
		}
	}
	verb := ofOne(s.At(v))
	if verb == "" || v+1 >= len(s.Toks) {
		return p, false
	}
	rest := ""
	for k, last := v+1, s.Toks[v].End; k < len(s.Toks); k++ {
		word := s.Text[s.Toks[k].Start:s.Toks[k].End]
		if w := s.At(k); s.At(k-1) == "and" && heldVerbs[w] && ofOne(w) != "" {
			word = ofOne(w) // "and hate"
		}
		rest += s.Text[last:s.Toks[k].Start] + word
		last = s.Toks[k].End
	}
	p.each = [2]string{first + how + " " + verb + rest, second + how + " " + verb + rest}
	tail := s.Text[s.Toks[end-1].End:s.End]
	switch {
	case kin[0] != "" && kin[1] != "" && names == [2]string{first, second} && (kin[1] == s.At(one+1) || (s.At(one+1) == "my" || s.At(one+1) == "our") && (s.At(at) == "my" || s.At(at) == "our")):
		p.both = raw(at, at+1) + " " + kin[0] + " and " + kin[1] + tail
	case (kin[0] == "" || names[0] != first) && (kin[1] == "" || names[1] != second) && !strings.HasPrefix(second, names[0]):
		p.both = names[0] + " and " + names[1] + tail
	}
	return p, true
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

// severally reads what a clause says of three people or more for each of them: "Tom, Anna and Piet live
// in Graz". What they do together stays one memory.
func severally(t *discourse.Talk, s syntax.Sentence) bool {
	var names []string
	k := 0
	for ; k+1 < len(s.Toks) && s.Toks[k].Cap && syntax.NameWord(s.At(k)); k += 2 {
		names = append(names, s.Text[s.Toks[k].Start:s.Toks[k].End])
		if next := s.At(k + 1); next == "," && s.At(k+2) == "and" {
			k++
		} else if next != "," && next != "and" {
			break
		}
	}
	if k++; len(names) < 3 || s.At(k-2) != "and" || k+1 >= len(s.Toks) {
		return false
	}
	if s.At(k) == "all" {
		k++
	}
	verb := ofOne(s.At(k))
	if verb == "" || k+1 >= len(s.Toks) || syntax.ContainsAny(s.Raw(), " together", " each other", " one another") {
		return false
	}
	from, rest := len(t.Out.Candidates), s.Text[s.Toks[k].End:s.End]
	for _, name := range names {
		made := len(t.Out.Candidates)
		for _, o := range syntax.Sentences(name + " " + verb + rest) {
			o.Ends = s.Ends
			clause(t, o)
		}
		if all := t.Out.Candidates[made:]; len(all) == 0 || slices.ContainsFunc(all, func(a abi.Candidate) bool { return a.Type != "semantic" || a.Slot == nil || jointly[a.Slot.Attribute] }) {
			t.Out.Candidates = t.Out.Candidates[:from]
			return false
		}
	}
	discourse.StandsFor(t, from, s)
	return true
}
