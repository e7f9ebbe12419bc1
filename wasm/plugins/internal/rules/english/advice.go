package english

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// What a professional says that somebody should do, or what is wrong: "the vet says the cat has to
// lose weight". It is noted in the speaker's words, with its source, and fills no slot, because it
// is not a plan until somebody makes one.

// advises are verbs with which a professional gives advice, and whether the person who gets it must
// follow.
var advises = map[string]bool{"says": false, "said": false, "thinks": false, "reckons": false, "recommends": false, "recommended": false, "suggests": false, "suggested": false, "wants": true, "told": true, "advised": true, "asked": true}

// mustWords are words that say that something should be done.
var mustWords = syntax.Set("should must needs need has have ought cannot")

// skilled reports whether noun is somebody whose word on a matter counts, besides those with whom
// people have appointments.
func skilled(noun string) bool {
	switch noun {
	case "specialist", "consultant", "trainer", "inspector", "adviser", "advisor", "roofer", "builder", "locksmith", "surveyor", "breeder", "osteopath", "headmaster", "headteacher", "garage", "clinic", "surgery":
		return true
	case "student", "driver", "waiter", "waitress", "postman", "cashier", "barista", "volunteer", "intern", "author", "actor", "actress", "singer", "founder", "head", "soldier", "dancer":
		return false
	}
	return syntax.Profession(noun) || discourse.Trade(noun)
}

// Advised takes what a professional told the speaker to do, from a sentence that is not a question.
// It reports whether the sentence is one.
func Advised(t *discourse.Talk, s syntax.Sentence) bool {
	i := 0
	for i < len(s.Toks) && (s.Toks[i].Kind == 'p' || syntax.Lead(s.At(i))) {
		i++
	}
	if w := s.At(i); w != "the" && w != "my" && w != "our" {
		return false
	}
	for first := i + 1; i < first+3 && !skilled(s.At(i)); i++ {
	}
	told, known := advises[s.At(i+1)]
	if !skilled(s.At(i)) || !known {
		return false
	}
	if i += 2; told {
		if s.At(i) != "me" && s.At(i) != "us" {
			return false
		}
		i++
	}
	must := s.At(i) == "to" || s.At(i) == "not" && s.At(i+1) == "to" || strings.HasPrefix(s.At(i-1), "recommend") || strings.HasPrefix(s.At(i-1), "suggest")
	for k := i; k < len(s.Toks); k++ {
		switch w, rest := syntax.Contraction(s.At(k)); {
		case w == "he" || w == "she" || w == "they" || w == "you" && rest == "":
			return false // it is about themselves, or it is not clear about whom
		case mustWords[w] && (w != "has" && w != "have" && w != "need" && w != "needs" || s.At(k+1) == "to" || strings.HasSuffix(s.At(k+1), "ing") || w[0] == 'n' && (syntax.Determiner(s.At(k+1)) || s.At(k+1) == "new")), rest == "not" && mustWords[w]:
			must = true
		}
	}
	if !must || len(s.Toks)-i < 3 {
		return false
	}
	c := refuse.Unparsed(t, s)
	c.Whens = slices.DeleteFunc(c.Whens, func(w timex.When) bool { return w.Since }) // "rest for two weeks"
	a := t.Base(&c, "semantic", "noted", discourse.NotedSure)
	if w := c.FirstTime(); w != nil && w.HasDay && w.Day >= t.Now.Day {
		a.Type, a.EventType, a.Started = "episodic", "noted", t.Now.Begins(w.Day)
	}
	t.Out.Candidates = append(t.Out.Candidates, a)
	return true
}
