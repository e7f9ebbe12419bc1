package rules

import "strings"

// "We sold it in the summer" leaves open what was sold. After "do you still have that Fiesta?" it is the Fiesta: the one
// thing that the other speaker's turn just before names stands for "it" and "them", and what was asked to be still done
// for what "I stopped" leaves out.

// referred reads a sentence that leaves open what the turn before names. It reports whether the sentence needs no other
// reading.
func (t *talk) referred(s sentence) bool {
	b := t.justSaid()
	if t.rejoined || b == nil || s.chinese() || hasHan(b.Text) || s.ends == "?" || len(s.toks) > 40 || conditioned(s) || len(t.own) == 0 || t.own[0].start != s.start && !t.own[0].onlyYesOrNo() {
		return false
	}
	a := reply{sentence: s}
	if a.opens(); a.mixed || a.from >= len(a.toks) {
		return false
	}
	if base, _ := contraction(a.at(a.from)); (base == "i" || base == "we") && a.at(a.from+1) == "did" && a.at(a.from+2) == "it" { // "did you renew the insurance?"
		q, ok := t.inquired()
		if !ok || q.word != "" || q.subj != "I" && q.subj != "we" || q.aux != "did" && q.aux != "have" || len(q.rest) < 2 {
			return false
		}
		q.names = true
		return t.readJoined(&q, s, q.says(false, q.rest)+s.text[s.toks[a.from+2].end:s.end], "")
	}
	at, end, kind := a.leftOpen()
	if kind == 0 {
		return false
	}
	q, thing := t.spokenOf(kind)
	if thing == "" {
		return false
	}
	statement := thing + s.text[s.toks[end-1].end:s.end] // "they split up"
	if base, rest := contraction(s.at(at)); base == "it" && rest == "is" {
		statement = thing + " is" + s.text[s.toks[end-1].end:s.end]
	}
	if at > a.from {
		statement = s.text[s.toks[a.from].start:s.toks[at-1].end] + " " + statement
	}
	if !subjectPronoun(first(contraction(a.at(a.from)))) { // "had it last week"
		if q.at(1) != "you" {
			return false
		}
		statement = "I " + lowerFirst(statement)
	}
	if w := findWhens(q.sentence, t.now); len(w) == 1 && len(findWhens(a.sentence, t.now)) == 0 {
		from := w[0].first // "can you send me the figures by Monday?", "I'll send them"
		if from > 0 && preposition(q.at(from-1)) {
			from--
		}
		said, more, _ := strings.Cut(strings.TrimRight(statement, " .!"), ", ")
		if statement = said + " " + q.text[q.toks[from].start:q.toks[w[0].next-1].end]; more != "" {
			statement += ", " + more
		}
	}
	return t.readJoined(&q, s, statement, "")
}

// What an answer leaves open.
const (
	openOne   = 'i' // it
	openMany  = 'm' // they, them
	openDoing = 'd' // "I stopped"
	openPlace = 'p' // "we went"
	openHer   = 'h' // "I'm telling her"
	openHim   = 'b'
)

// leftOpen finds the tokens of what an answer leaves open, where nothing before them in the answer says what it is.
// Where words are only missing, at and end are the token that they belong before.
func (a *reply) leftOpen() (at, end int, kind byte) {
	base, rest := contraction(a.at(a.from))
	if base == "it" && (rest == "is" || rest == "" && (a.at(a.from+1) == "is" || a.at(a.from+1) == "was")) {
		k := a.from + 1
		if rest == "" {
			k++
		}
		if placing(a.at(k)) || a.at(k) == "upstairs" || a.at(k) == "downstairs" {
			return a.from, a.from + 1, openOne // "it's in the shed"
		}
		return 0, 0, 0
	}
	if base == "they" && rest != "will" && rest != "would" && (a.at(a.from+1) != "say" && a.at(a.from+1) != "said") {
		if rest == "" {
			return a.from, a.from + 1, openMany
		}
		return 0, 0, 0
	}
	if l, past, _ := lemma(base); (past && l != "be" && l != "do" || base == "had") && rest == "" && (a.at(a.from+1) == "it" || a.at(a.from+1) == "them") { // "had it last week"
		return a.from + 1, a.from + 2, openKind(a.at(a.from + 1))
	}
	if base != "i" && base != "we" && base != "he" && base != "she" {
		return 0, 0, 0
	}
	i := a.from + 1
	for i < len(a.toks) && (auxiliary(a.at(i)) || adverb(a.at(i)) || a.at(i) == "not" || a.at(i) == "never") {
		i++
	}
	if (a.at(i) == "it" || a.at(i) == "them") && (a.at(i-1) == "have" || a.at(i-1) == "had") {
		i-- // "I'll have them ready by noon"
	}
	verb, past, ing := lemma(a.at(i))
	if verb == "" && !pastForm(a.at(i)) && a.at(i) != "have" && a.at(i) != "had" && rest != "will" && a.at(i-1) != "will" {
		return 0, 0, 0
	}
	next := a.at(i + 1)
	switch {
	case next == "it" && a.at(i+2) != "was" && a.at(i+2) != "is":
		return i + 1, i + 2, openOne
	case next == "them":
		return i + 1, i + 2, openMany
	case (next == "her" || next == "him") && (a.at(i+2) == "" || a.toks[i+2].kind == 'p' || preposition(a.at(i+2)) || a.at(i+2) == "tomorrow" || a.at(i+2) == "tonight" || a.at(i+2) == "next"):
		if next == "her" {
			return i + 1, i + 2, openHer
		}
		return i + 1, i + 2, openHim
	case next != "" && !afterVerb[next] || !past && rest != "have" || ing:
	case verb == "stop" || verb == "quit":
		return i + 1, i + 1, openDoing
	case verb == "go":
		return i + 1, i + 1, openPlace
	}
	return 0, 0, 0
}

// personAt is whom "her" or "him" may mean at token i: "your boss", "Anna".
func (s sentence) personAt(i int, kind byte) (from, end int) {
	other := byte(male)
	if kind == openHim {
		other = female
	}
	w := s.at(i)
	if _, rest := contraction(w); rest == "is" && s.toks[i].cap && kin(s.at(i+1)) && sexOf(s.at(i+1), "") != other {
		return i, i + 2 // "Kofi's wife"
	}
	if sex := sexOf("", w); s.toks[i].cap && sex != other && (sex != 0 || i > 0 && nameWord(w) && !preposition(s.at(i-1)) && verbish(s.at(i-1))) {
		return i, i + 1 // "did you tell Priya?"
	}
	if w != "the" && w != "your" && w != "my" {
		return 0, 0
	}
	end = s.phraseEnd(i+1, 4)
	who := s.at(end - 1)
	if end == i+1 || sexOf(who, "") == other || !kin(who) && !profession(who) && !trade(who) && !superiors[who] {
		return 0, 0
	}
	return i, end
}

// superiors are whom one works for or rents from.
var superiors = set("boss manager landlord landlady supervisor")

// openKind is what "it" or "them" leaves open.
func openKind(w string) byte {
	if w == "them" {
		return openMany
	}
	return openOne
}

// afterVerb may follow a verb that has no object.
var afterVerb = set(", in on when last ago years because yesterday")

// spokenOf is the one thing of a kind that the turn before names, in the words of whoever answers, and the sentence
// that names it.
func (t *talk) spokenOf(kind byte) (inquiry, string) {
	b := t.justSaid()
	all := t.sentencesOf(b)
	if len(all) == 0 {
		return inquiry{}, ""
	}
	o := all[len(all)-1]
	if o.chinese() || len(o.toks) > 30 {
		return inquiry{}, ""
	}
	q := inquiry{asked: asked{o, -1, speakerOf(t.ev, b.Speaker), t.self}, now: t.now, names: true}
	var found []string
	for i := 0; i < len(o.toks); {
		from, end := o.thingAt(i, kind)
		if end == 0 {
			i++
			continue
		}
		words := strings.Fields(o.text[o.toks[from].start:o.toks[end-1].end])
		if w := strings.ToLower(words[0]); pointing[w] || w == "the" || w == "a" || w == "an" || w == "some" {
			words[0] = "the"
		}
		found = append(found, q.asSaid(words, false))
		i = end
	}
	if len(found) != 1 {
		return inquiry{}, ""
	}
	return q, found[0]
}

// thingAt is the noun phrase of a kind that begins at token i: of things its determiner and up to four words; of what is
// done the verb with what it is done to, after "still"; of places the words from "to" on. end is 0 where there is none.
func (s sentence) thingAt(i int, kind byte) (from, end int) {
	w := s.at(i)
	switch kind {
	case openDoing:
		if _, _, ing := lemma(s.at(i + 1)); w != "still" || !ing && s.at(i+1) != "doing" && s.at(i+1) != "going" {
			return 0, 0
		}
		k := i + 2
		for preposition(s.at(k)) || determiner(s.at(k)) {
			k++
		}
		if end = s.phraseEnd(k, 4); end == k {
			return 0, 0
		}
		return i + 1, end
	case openPlace:
		if w != "to" || !determiner(s.at(i+1)) && (i+1 >= len(s.toks) || !s.toks[i+1].cap) {
			return 0, 0
		}
		end = s.phraseEnd(i+2, 4)
		return i, end
	}
	if kind == openHer || kind == openHim {
		return s.personAt(i, kind)
	}
	if kind == openOne && s.owedAt(i) > 0 {
		return i, s.owedAt(i)
	}
	if w != "the" && w != "your" && w != "my" && w != "our" && w != "a" && w != "an" && w != "some" && !pointing[w] || preposition(s.at(i-1)) {
		return 0, 0
	}
	end = s.phraseEnd(i+1, 4)
	if end == i+1 {
		return 0, 0
	}
	noun, _ := contraction(s.at(end - 1))
	many := strings.HasSuffix(noun, "s") && !strings.HasSuffix(noun, "ss") || noun == "people" || noun == "children"
	if many != (kind == openMany) || !many && (kin(noun) || pet(noun)) || openNouns[noun] || nounOfTime[noun] {
		return 0, 0
	}
	return i, end
}

// owedAt is the token after an amount of money at token i that somebody owes or that something comes to; 0 where there is none.
func (s sentence) owedAt(i int) int {
	if !numeral(s.at(i)) || numeral(s.at(i-1)) || i < 2 || s.at(i-2) != "owe" && s.at(i-2) != "came" && s.at(i-2) != "comes" {
		return 0
	}
	k := i + 1
	for numeral(s.at(k)) {
		k++
	}
	if currencies[trimS(s.at(k))] || currencies[s.at(k)] {
		k++
	} else if s.at(i-2) != "owe" {
		return 0
	}
	return k
}

var pointing = set("this that these those")

// nowhere reports "I left in September" as the beginning of an answer that does not say what was left.
func (t *talk) nowhere(c *clause) bool {
	b := t.justSaid()
	if c.verb == "give" && c.w(c.vi+1) == "up" && (c.vi+2 >= len(c.words) || afterVerb[c.w(c.vi+2)]) {
		return true // what?
	}
	return b != nil && (c.verb == "go" || c.verb == "leave") && c.vi+1 == len(c.words) && !t.rejoined && len(t.own) > 0 && c.start <= t.own[0].end && t.askedJust()
}

// nounOfTime are what "the" makes a time of.
var nounOfTime = set("morning afternoon evening night day week weekend month year summer winter spring autumn moment time end way point minute hour thing")

// phraseEnd is the token after the words of a noun phrase from token i on, of most words.
func (s sentence) phraseEnd(i, most int) int {
	k := i
	for ; k < min(len(s.toks), i+most); k++ {
		w := s.at(k)
		if s.toks[k].kind != 'w' || k > i && (kin(s.at(k-1)) || asking[s.at(0)] && (mainVerbs[w] || happened[w])) || preposition(w) || auxiliary(w) || adverb(w) || determiner(w) || lead(w) || personal(w) || subjectPronoun(w) || pauses[w] {
			break
		}
		if _, rest := contraction(w); rest != "" {
			break
		}
	}
	return k
}

// pauses end a noun phrase of a question.
var pauses = set("yet again anymore together today tomorrow yesterday tonight then when while if or and but so who which up out off back down over over-night last next this going coming done gone open here there")

// dangling reports a clause whose first word after the verb that could say what it is about is a pronoun: "I've packed
// it in", "she talked to them", "I painted that". Of "this thing on my foot" a noun follows.
func (c *clause) dangling() bool {
	for i := c.vi + 1; i < len(c.words); i++ {
		switch w := c.w(i); w {
		case "it", "them", "him":
			return w == "it" || !determiner(c.w(i+1)) // "send him the photos"
		case "this", "that", "these", "those", "one":
			if next := c.w(i + 1); next == "" || next == "," || preposition(next) || joins[next] || next == "after" || next == "when" {
				return true
			}
		case "of":
			if pointing[c.w(i+1)] || c.w(i+1) == "them" {
				return true
			}
		default:
			if telling(w) && !adverb(w) && w != "up" && w != "back" && w != "out" {
				return false
			}
		}
	}
	return false
}

// callsBack reports a call that is over today: "I'll call you back in ten minutes".
func (c *clause) callsBack(w *when, now moment) bool {
	switch c.verb {
	case "call", "ring", "phone", "text", "message", "buzz":
		return c.w(c.vi+1) == "you" && c.w(c.vi+2) == "back" && (w == nil || w.day <= now.day)
	}
	return false
}

// leavesOpen reports a clause that opens a turn and does something to "it" or "them": nothing before it says what that is.
func (t *talk) leavesOpen(c *clause) bool {
	next := c.w(c.vi + 1)
	after := c.w(c.vi + 2)
	return (next == "it" || (next == "them" || next == "him" || next == "her") && (after == "" || preposition(after) || next == "them" && !determiner(after))) && t.justSaid() != nil && !t.rejoined && len(t.own) > 0 && c.start <= t.own[0].end && !t.namesThing(c)
}

// namesThing reports whether something stands before a clause in its turn.
func (t *talk) namesThing(c *clause) bool {
	for _, tok := range lex(t.ev.Text[:c.start]) {
		if tok.kind == 'w' && telling(tok.s) && !lead(tok.s) && !personal(tok.s) && !verbish(tok.s) && !yesWords[tok.s] && !soothing[tok.s] {
			return true
		}
	}
	return false
}
