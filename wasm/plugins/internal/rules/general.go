package rules

import (
	"slices"
	"strings"
)

// general reports what holds for anybody at any time: "patience is key", "books open doors".
// It begins with a thing that no word makes one's own or a certain one, and names no person,
// day, or number.
func (v *view) general() bool {
	i := v.start()
	first := v.at(i)
	if v.day || len(v.whens) > 0 || v.number() > 0 || v.has(wordsMine) > 0 || determiner(first) || subjectPronoun(first) || deictics[first] || wordsOwn[first] || verbish(first) || preposition(first) || thirdsOwn[first] ||
		kin(first) || kin(trimS(first)) {
		return false
	}
	return v.any(func(k int) bool {
		_, past, _ := lemma(v.words[k])
		return v.caps[k] && nameWord(v.words[k]) && (k > i || !v.common(i)) || k > i && (past || pastForm(v.words[k]) || v.words[k] == "was" || v.words[k] == "were") && !presentState(v.at(k-1), v.at(k-2))
	}) == 0
}

// common reports whether the capital of word i at the beginning of a sentence is no name's.
func (v *view) common(i int) bool {
	w, next := v.words[i], v.at(i+1)
	if sexOf("", w) != 0 {
		return false
	}
	for _, end := range [...]string{"ing", "ness", "ty", "ment", "tion", "ence", "ance", "ship"} {
		if strings.HasSuffix(w, end) && len(w) > len(end)+2 {
			return true
		}
	}
	return abstract[w] || warm[w] || matters[w] || strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") || strings.HasSuffix(next, "s") && !verbish(next)
}

// matters are what one speaks of in general, besides what is abstract.
var matters = set("nature music art dance dancing travel food love money health sport exercise yoga garlic coffee tea sleep weather traffic family friendship teamwork education technology success failure change trust kindness patience practice")

var (
	wordsMine = set("i we my our me mine")
	thirdsOwn = set("his her their")
)

// hollow reports a sentence that is nobody's word about anything: a call to do something, a
// wish, a caption, a compliment.
func hollow(s sentence) bool {
	i := 0
	for i+1 < len(s.toks) && (lead(s.at(i)) || s.at(i) == ",") {
		i++
	}
	switch s.at(i) {
	case "gotta", "bummer", "impressive", "mixed":
		return true
	case "fingers":
		return s.at(i+1) == "crossed"
	case "must":
		return s.at(i+1) == "be" || s.at(i+1) == "have"
	case "a", "another":
		return pictures[s.at(i+1)] && s.at(i+2) == "of"
	}
	return slices.ContainsFunc(s.toks, func(k token) bool { return k.s == "let's" })
}

var pictures = set("photo photograph photography picture image pic painting drawing screenshot")

// uncalled is a sentence without the name of whom it calls at its beginning: "Tom, the boiler is new",
// "Mum, I got a B".
func (t *talk) uncalled(s sentence) sentence {
	if calledSo[s.at(0)] && s.at(1) == "," && !calledSo[s.at(2)] && subjectPronoun(first(contraction(s.at(2)))) {
		return s.sub(2, len(s.toks))
	}
	if len(s.toks) < 4 || s.chinese() || !s.toks[0].cap || s.at(1) != "," || s.toks[2].cap && nameWord(s.at(2)) && s.at(2) != "i" {
		return s
	}
	name := s.text[s.toks[0].start:s.toks[0].end]
	if s.besideAt(0, 1) > 0 && !t.present(t.named(name)) {
		return s // "Tom, my brother, is on a diet"
	}
	if known := strings.EqualFold(name, t.called.name) || strings.EqualFold(name, t.ev.Wearer) || sexOf("", name) != 0; !known {
		return s
	}
	return s.sub(2, len(s.toks))
}
