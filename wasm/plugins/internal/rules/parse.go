package rules

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// word is a word of a clause with contractions taken apart.
type word struct {
	s   string
	tok int // index into the clause's tokens
}

// clause is an English clause, parsed.
type clause struct {
	sentence
	whens []when
	words []word // without lead words and times
	subj  person
	kind  byte   // s: speaker; w: the speaker and others; y: the listener; p: another person; t: a thing
	thing string // of a thing or "my …": the noun phrase in lower case
	own   bool   // the thing is the subj's: "my birthday"
	name  string // "my sister Anna": Anna
	owner string // of "his wife Eva": who he is
	verb  string
	vi    int // index into words

	unread int // the token at which a day begins that cannot be read; 0: none

	neg, past, future, modal, perfect, ing, usedTo, noLonger, must, intend, maybe, can bool
	bare                                                                               bool // the speaker left "I" out
	again, back                                                                        bool // said to be so again; made of "started taking"
	loose                                                                              bool // a word after a person may be a verb that no list has

	beside []word // what stands beside the subject's name, after "my": niece
}

// w is word i; "" where there is none.
func (c *clause) w(i int) string {
	if i >= 0 && i < len(c.words) {
		return c.words[i].s
	}
	return ""
}

// cased is word i as it is written.
func (c *clause) cased(i int) string {
	t := c.toks[c.words[i].tok]
	raw := c.text[t.start:t.end]
	if strings.EqualFold(raw, c.words[i].s) {
		return raw
	}
	if base, rest := contraction(t.s); rest != "" && base == c.words[i].s {
		return written(raw, base)
	}
	return c.words[i].s
}

// written is the beginning of a word as it is written whose form in lower case, with ' for ’, is
// base: "O’Brien" of "O’Brien’s". It is base where the word begins otherwise.
func written(raw, base string) string {
	end := 0
	for range base {
		_, n := utf8.DecodeRuneInString(raw[end:])
		end += n
	}
	if strings.EqualFold(strings.ReplaceAll(raw[:end], "’", "'"), base) {
		return raw[:end]
	}
	return base
}

func (c *clause) capital(i int) bool { return i >= 0 && i < len(c.words) && c.toks[c.words[i].tok].cap }

// join writes words i to j as they are written.
func (c *clause) join(i, j int) string {
	var b strings.Builder
	for k := i; k < j && k < len(c.words); k++ {
		w := c.cased(k)
		if b.Len() > 0 && c.words[k].s != "," && c.words[k].s != "'s" {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	return b.String()
}

// parse finds the subject, the verb and what stands between.
func (t *talk) parse(s sentence) (clause, bool) {
	c := clause{sentence: s, whens: findWhens(s, t.now), loose: t.noting}
	sameDay(s, c.whens)
	c.unread = unreadAt(s, t.now)
	c.words = t.wordsOf(&c)
	c.unvocative(t)
	i := 0
	for ; i < len(c.words) && (c.opens(i) || c.w(i) == "," || c.phraseLead(i) > 0); i += max(1, c.phraseLead(i)) {
		if c.capital(i) && i+1 < len(c.words) && !lead(c.w(i)) && c.phraseLead(i) == 0 {
			break
		}
	}
	c.words = c.words[i:]
	c.apposition(t)
	i = t.subject(&c)
	if i < 0 {
		return c, false
	}
	ok := c.predicate(i)
	t.relatedTo(&c)
	if len(t.held) > 0 {
		t.onHeldDay(&c)
	}
	if ok && !c.perfect && !c.hasBeen() { // "was in Vienna for three days": how long, and not since when
		c.whens = slices.DeleteFunc(c.whens, func(w when) bool { return w.since && c.at(w.first) == "for" })
	}
	if ok && c.perfect { // "I've been here ten years in March": since when, and not what happens then
		c.whens = slices.DeleteFunc(c.whens, func(w when) bool {
			unit := trimS(c.at(w.first - 1))
			return w.assumed > 0 && !w.since && (unit == "year" || unit == "month")
		})
	}
	for i := range c.whens {
		if ok && !c.past && !c.perfect {
			c.whens[i].rest(t.now)
		}
	}
	if ok && c.past { // "ran it in 52 minutes": how long it took
		c.whens = slices.DeleteFunc(c.whens, func(w when) bool {
			unit := trimS(c.at(w.next - 1))
			return c.at(w.first) == "in" && (unit == "minute" || unit == "hour") && w.unix() > t.ev.At && !c.innerOf(&w).toCome
		})
	}
	return c, ok
}

// hasBeen reports a clause within that says how long something has been so: "she says she's been ill for a week".
func (c *clause) hasBeen() bool {
	for k := c.vi; k < len(c.words)-1; k++ {
		_, past, _ := lemma(c.w(k + 1))
		if w := c.w(k); w == "been" || (w == "have" || w == "has" || w == "had") && (past || pastForm(c.w(k+1))) && c.w(k+2) != "to" {
			return true
		}
	}
	return false
}

// wordsOf takes contractions apart and leaves marks and times out.
func (t *talk) wordsOf(c *clause) (words []word) {
	s := c.sentence
	timed := make([]bool, len(s.toks))
	for _, w := range c.whens {
		for k := w.first; k < w.next; k++ {
			timed[k] = true
		}
	}
	for _, w := range timesIn(s, t.now) {
		for k := w.first; w.vague && k < w.next; k++ {
			timed[k] = true
		}
	}
	for i, tok := range s.toks {
		if timed[i] || tok.kind == 'p' && tok.s != "," {
			continue
		}
		if tok.s == "let's" {
			words = append(words, word{"we", i}, word{"will", i})
			continue
		}
		if base, rest := contraction(tok.s); rest != "" {
			if rest == "is" && !subjectPronoun(base) && base != "that" && base != "there" && base != "here" && base != "what" && !t.isVerbAfter(s, i+1, timed) {
				words = append(words, word{base, i}, word{"'s", i})
			} else {
				if rest == "is" && s.hasDone(i+1) {
					rest = "has" // "my sister's sold her car"
				}
				words = append(words, word{base, i}, word{rest, i})
			}
			continue
		}
		words = append(words, word{tok.s, i})
	}
	return words
}

// unvocative leaves out whom a clause calls: "I love it there, Tom".
func (c *clause) unvocative(t *talk) {
	n := len(c.words)
	if n < 4 || c.w(n-2) != "," || !c.capital(n-1) {
		return
	}
	name := c.cased(n - 1)
	if strings.EqualFold(name, t.called.name) || strings.EqualFold(name, t.ev.Wearer) {
		c.words = c.words[:n-2]
		return
	}
	for i := range t.ev.Before {
		if strings.EqualFold(name, t.ev.Before[i].Speaker) {
			c.words = c.words[:n-2]
			return
		}
	}
}

// isVerbAfter tells "Tom's moving" (is) from "Tom's sister" (of Tom).
func (t *talk) isVerbAfter(s sentence, i int, timed []bool) bool {
	first := i
	if d := s.at(i - 2); d == "at" || determiner(d) && s.at(i-3) == "at" {
		return false // "at your mum's on Sunday"
	}
	if s.at(i-1) == "name's" || s.at(i-1) == "surname's" || s.at(i-1) == "group's" && s.toks[min(i, len(s.toks)-1)].cap || s.hasDone(i) {
		return true
	}
	for i < len(s.toks) && timed[i] {
		i++
	}
	if i > first && (i >= len(s.toks) || s.toks[i].kind == 'p') {
		return true // "my birthday's on Friday"
	}
	if i >= len(s.toks) {
		return false
	}
	w := s.at(i)
	_, _, ing := lemma(w)
	if _, event := eventNoun(w); event && (auxiliary(s.at(i+1)) || w == "meeting" && (i+1 >= len(s.toks) || s.at(i+1) == "to" || s.toks[i+1].kind == 'p')) {
		return false // "Tom's meeting has been moved", "we moved Tom's meeting to Monday"
	}
	return ing || failing[w] || w == "ready" || w == "down" || w == "gone" || w == "come" && s.at(i+1) == "through" || w == "not" || w == "a" || w == "an" || w == "the" || w == "in" || w == "from" || w == "at" || w == "allergic" || w == "my" || w == "going" || w == "been" || w == "coming" ||
		w == "under" || w == "on" || w == "behind" || w == "next" || w == "inside" || w == "called" || w == "pregnant" || w == "off" || w == "cancelled" || w == "now" || w == "due" ||
		w == "into" || w == "still" || w == "already" || w == "always" || w == "getting" || w == "hurting" || w == "parked" || personStates[w] && s.restsAt(i+1, timed)
}

// personStates are how somebody is: "Ella's vegetarian", and not "Ella's vegetarian lasagne".
var personStates = set("vegetarian vegan pescatarian teetotal sober diabetic asthmatic coeliac celiac dyslexic autistic deaf blind left-handed single married divorced widowed engaged retired unemployed ill sick afraid scared terrified " +
	"back home away out busy free tired better worse abroad upset worried pregnant asleep awake late early fond")

// restsAt reports whether no noun follows at token i.
func (s sentence) restsAt(i int, timed []bool) bool {
	if i >= len(s.toks) || timed[i] || s.toks[i].kind == 'p' {
		return true
	}
	w := s.at(i)
	return adverb(w) || preposition(w) || w == "and" || w == "but" || w == "since" || w == "because" || w == "until"
}

// phraseLead is how many words "you know", "by the way", "I think" take.
func (c *clause) phraseLead(i int) int {
	for _, p := range [...]string{"you know what", "you know", "by the way", "i think", "i guess", "i mean", "as you know", "to be honest", "in fact", "it turns out",
		"did i tell you", "what i meant is", "it is just", "it's just", "the problem is", "the trouble is", "i just wanted to say", "i wanted to say", "i just want to say", "i forgot to mention", "i forgot to say", "i forgot to tell you", "guess what", "you see", "i believe", "i heard", "for the record", "just so you know", "remember that", "i suppose", "of course", "after all", "at the moment", "these days", "let me see", "i should say", "i should mention", "note that", "remember", "good news", "the thing is", "note to self", "as of", "before i forget", "don't forget", "do not forget", "do n't forget", "it looks like", "looks like", "turns out",
		"to be fair", "i have to say", "i must say", "i gotta say", "got to say", "gotta say", "the funny thing is", "the good news is", "the bad news is", "long story short", "as it happens", "in the end", "at the end of the day", "believe it or not", "given the choice", "fine by me", "fine with me", "works for me", "sounds good to me", "sounds good", "given a choice", "if i can choose"} {
		if w := c.w(i); w == "" || !strings.HasPrefix(p, w) {
			continue
		}
		n := 0
		for w := range strings.SplitSeq(p, " ") {
			if c.w(i+n) != w {
				n = -1
				break
			}
			n++
		}
		if n > 0 {
			if c.w(i+n) == "that" || c.w(i+n) == "," {
				n++
			}
			return n
		}
	}
	return 0
}

func possessive(s string) string { return s + "'s" }
