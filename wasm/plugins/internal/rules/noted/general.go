package noted

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// General reports whether a sentence is true of anybody at any time: "patience is key", "books open
// doors". It begins with a thing that no word makes somebody's or a certain one, and names no
// person, day, or number.
func (v *view) General() bool {
	i := v.start()
	first := v.at(i)
	if v.day || len(v.whens) > 0 || v.number() > 0 || v.has(wordsMine) > 0 || syntax.Determiner(first) || syntax.SubjectPronoun(first) || deictics[first] || discourse.WordsOwn[first] || syntax.Verbish(first) || syntax.Preposition(first) || thirdsOwn[first] ||
		syntax.Kin(first) || syntax.Kin(syntax.Singular(first)) {
		return false
	}
	return v.anyTimes(func(k int) bool {
		_, past, _ := syntax.Lemma(v.words[k])
		return v.caps[k] && syntax.NameWord(v.words[k]) && (k > i || !v.common(i)) || k > i && (past || syntax.PastForm(v.words[k]) || v.words[k] == "was" || v.words[k] == "were") && !timex.PresentState(v.at(k-1), v.at(k-2))
	}) == 0
}

// common reports whether the capital of word i at the beginning of a sentence is not that of a
// name.
func (v *view) common(i int) bool {
	w, next := v.words[i], v.at(i+1)
	if syntax.SexOf("", w) != 0 {
		return false
	}
	for _, end := range [...]string{"ing", "ness", "ty", "ment", "tion", "ence", "ance", "ship"} {
		if strings.HasSuffix(w, end) && len(w) > len(end)+2 {
			return true
		}
	}
	return abstract[w] || warm[w] || matters[w] || strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") || strings.HasSuffix(next, "s") && !syntax.Verbish(next)
}

// matters are things of which people speak in general, besides abstract ones.
var matters = syntax.Set("nature music art dance dancing travel food love money health sport exercise yoga garlic coffee tea sleep weather traffic family friendship teamwork education technology success failure change trust kindness patience practice")

var wordsMine = syntax.Set("i we my our me mine")

var thirdsOwn = syntax.Set("his her their")

// hollow reports whether a sentence states nothing: a call to do something, a wish, a caption, a
// compliment.
func hollow(s syntax.Sentence) bool {
	i := 0
	for i+1 < len(s.Toks) && (syntax.Lead(s.At(i)) || s.At(i) == ",") {
		i++
	}
	switch s.At(i) {
	case "gotta", "bummer", "impressive", "mixed":
		return true
	case "fingers":
		return s.At(i+1) == "crossed"
	case "must":
		return s.At(i+1) == "be" || s.At(i+1) == "have"
	case "a", "another":
		return pictures[s.At(i+1)] && s.At(i+2) == "of"
	}
	return slices.ContainsFunc(s.Toks, func(k syntax.Token) bool { return k.S == "let's" })
}

var pictures = syntax.Set("photo photograph photography picture image pic painting drawing screenshot")

// uncalled returns a sentence without the name of whom it calls at its beginning: "Tom, the boiler
// is new", "Mum, I got a B".
func uncalled(t *discourse.Talk, s syntax.Sentence) syntax.Sentence {
	if discourse.CalledSo[s.At(0)] && s.At(1) == "," && !discourse.CalledSo[s.At(2)] && syntax.SubjectPronoun(syntax.FirstOf(syntax.Contraction(s.At(2)))) {
		return s.Sub(2, len(s.Toks))
	}
	if discourse.CalledSo[s.At(0)] && s.At(1) == "," && (discourse.Titles[s.At(2)] || s.At(2) == "miss") && s.Toks[2].Cap {
		return s.Sub(2, len(s.Toks)) // "Mum, Miss Carter says …"
	}
	if len(s.Toks) < 4 || s.Chinese() || !s.Toks[0].Cap || s.At(1) != "," || s.Toks[2].Cap && syntax.NameWord(s.At(2)) && s.At(2) != "i" {
		return s
	}
	name := s.Text[s.Toks[0].Start:s.Toks[0].End]
	if s.BesideAt(0, 1) > 0 && !t.Present(t.Named(name)) {
		return s // "Tom, my brother, is on a diet"
	}
	if known := strings.EqualFold(name, t.Called.Name) || strings.EqualFold(name, t.Ev.Wearer) || syntax.SexOf("", name) != 0; !known {
		return s
	}
	return s.Sub(2, len(s.Toks))
}
