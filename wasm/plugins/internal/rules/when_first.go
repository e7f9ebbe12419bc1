package rules

import "strings"

// "When I was ten, I broke my arm" tells of then, and not of today. It is read as "I broke my arm when I was ten", so
// that the rules for a clause see both, and the statement keeps both.

// whenFirst takes a sentence that begins with when something was, as somebody's age, and tells in the past what was then.
func (t *talk) whenFirst(s sentence) bool {
	if s.chinese() || s.ends == "?" || len(s.toks) > 40 {
		return false
	}
	then, main := s.thenFirst()
	if main == 0 {
		return false
	}
	end := len(s.toks)
	if c, ok := t.parse(s.sub(main, end)); !ok || !c.past && !c.perfect {
		return false
	}
	lead := s.sub(0, then)
	all := sentences(s.text[s.toks[main].start:s.toks[end-1].end] + " " + strings.ToLower(s.at(0)) + s.text[lead.toks[0].end:lead.end])
	if len(all) != 1 {
		return false
	}
	from := len(t.out.Candidates)
	for _, c := range clauses(all[0]) {
		t.clause(c)
	}
	if len(t.out.Candidates) == from && t.part == Facts {
		t.note(all[0])
	}
	t.standsFor(from, s)
	return true // in each part: nothing of it is so today
}

// thenFirst is how many tokens at the begin of a sentence say when something was, "when I was ten" or "as a child", and
// the token at which the rest begins; 0, 0: it does not begin so.
func (s sentence) thenFirst() (then, main int) {
	switch at := s.at; {
	case at(0) == "as" && (at(1) == "a" || at(1) == "an") && (youths[at(2)] || at(2) == "student"):
		then = 3
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

// standsFor has the candidates from one on cite all of a sentence: they were made of its words in another order.
func (t *talk) standsFor(from int, s sentence) {
	for i := from; i < len(t.out.Candidates); i++ {
		for k := range t.out.Candidates[i].Spans {
			t.out.Candidates[i].Spans[k].Start, t.out.Candidates[i].Spans[k].End = s.start, s.end
		}
	}
}

// atOtherAge reports whether a clause says how old somebody was, or what they were, at its time: "I moved to London when
// I was twenty". Whether it is still so, nobody knows.
func (t *talk) atOtherAge(c *clause) bool {
	for k := c.vi + 1; k+2 < len(c.words); k++ {
		if be := c.w(k + 2); c.w(k) == "when" && subjectPronoun(c.w(k+1)) && (be == "was" || be == "were") {
			return true
		}
	}
	return anyTime(c.sentence, t.now, func(w *when) bool { return w.vague && c.at(w.next-1) != "ago" })
}
