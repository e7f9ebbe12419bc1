package rules

import "strings"

// "When I was ten, I broke my arm" tells of then, and not of today. It is read as "I broke my arm when I was ten", so
// that the rules for a clause see both, and the statement keeps both.

// whenFirst takes a sentence in the past that begins with a clause of time, such as "when I was ten" or "as a child".
// Where several things follow, the whole sentence is noted.
func (t *talk) whenFirst(s sentence) bool {
	if s.chinese() || s.ends == "?" || len(s.toks) > 40 {
		return false
	}
	then, main := s.thenFirst()
	if main == 0 || s.namelessAt(main) && !s.namelessAt(1) {
		return false // "when my mum was young she lived in Egypt"
	}
	end := len(s.toks)
	rest := s.sub(main, end)
	first, ok := t.parse(rest)
	if !ok || !first.past {
		return false
	}
	for _, o := range clauses(rest) {
		if c, ok := t.parse(o); ok && !c.past {
			return false // "… I moved to Rome, now I live in Leeds": something of it is of today
		}
	}
	lead := s.sub(0, then)
	all := sentences(s.text[s.toks[main].start:s.toks[end-1].end] + " " + strings.ToLower(s.at(0)) + s.text[lead.toks[0].end:lead.end])
	if len(all) != 1 {
		return false
	}
	from := len(t.out.Candidates)
	several := s.severalFrom(main)
	if c := clauses(all[0]); len(c) == 1 && !several {
		t.clause(c[0])
	}
	if len(t.out.Candidates) == from && t.part == Facts && !t.note(all[0]) && several && first.momentous() {
		t.noteClause(&first, all[0], false, false, notedSure)
	}
	t.standsFor(from, s)
	return true // in each part: nothing of it is so today
}

// severalFrom reports words that join another thing to the first one, from token i on.
func (s sentence) severalFrom(i int) bool {
	for ; i < len(s.toks); i++ {
		switch s.at(i) {
		case "and", "but", "because", "so", ",", "then", "now":
			return true
		}
	}
	return false
}

// namelessAt reports "he", "she", "it" or "they" at token i.
func (s sentence) namelessAt(i int) bool {
	w, _ := contraction(s.at(i))
	return w == "he" || w == "she" || w == "it" || w == "they"
}

// thenFirst counts the tokens at the beginning of a sentence that say when something was, as "when I was ten" or "as a
// child" do. main is the token at which the rest begins. Both are 0 if the sentence does not begin so.
func (s sentence) thenFirst() (then, main int) {
	starts := func(i int) bool {
		return s.at(i) == "," || subjectPronoun(s.at(i)) || s.at(i) == "my" || s.at(i) == "our"
	}
	switch at := s.at; {
	case at(0) == "as" && (at(1) == "a" || at(1) == "an") && (youths[at(2)] || at(2) == "student") && starts(3):
		then = 3
	case at(0) == "at" && s.ageAt(1) > 0 && starts(1+s.ageAt(1)):
		then = 1 + s.ageAt(1)
	case at(0) == "when" && (subjectPronoun(at(1)) && s.tellsAt(2) || (at(1) == "my" || at(1) == "our") && s.tellsAt(3)):
		for i := 4; i < len(s.toks) && then == 0; i++ {
			be := at(2) == "was" || at(2) == "were"
			if at(i) == "," || s.tellsAt(i+1) && subjectPronoun(at(i)) || be && s.tellsAt(i+2) && (at(i) == "my" || at(i) == "our") {
				then = i
			}
		}
	}
	if main = then + boolInt(s.at(then) == ","); then == 0 || main >= len(s.toks)-1 {
		return 0, 0
	}
	return then, main
}

// tellsAt reports a verb in the past at token i.
func (s sentence) tellsAt(i int) bool {
	if w := s.at(i); w == "was" || w == "were" {
		return true
	}
	_, past, _ := lemma(s.at(i))
	return past
}
