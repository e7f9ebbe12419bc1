package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
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

// w is word i; "" where there is none. Rules ask for words in thousands of places: inlined,
// this and [sentence.at] make the compressed module 53 kB larger.
//
//go:noinline
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
	if ok && (c.past || c.future || c.ing || c.must) && !c.perfect { // "was in Vienna for three days": how long, and not since when
		c.whens = slices.DeleteFunc(c.whens, func(w when) bool { return w.since && c.at(w.first) == "for" })
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
	if s.at(i-1) == "name's" || s.at(i-1) == "surname's" || s.hasDone(i) {
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
	return ing || failing[w] || w == "ready" || w == "down" || w == "gone" || w == "come" && s.at(i+1) == "through" || w == "not" || w == "a" || w == "an" || w == "the" || w == "in" || w == "from" || w == "at" || w == "allergic" || w == "married" || w == "my" || w == "going" || w == "been" || w == "coming" ||
		w == "under" || w == "on" || w == "behind" || w == "next" || w == "inside" || w == "called" || w == "pregnant" || w == "off" || w == "cancelled" || w == "now" || w == "due" ||
		w == "into" || w == "still" || w == "already" || w == "always" || w == "getting" || w == "hurting" || w == "parked" || personStates[w] && s.restsAt(i+1, timed)
}

// personStates are how somebody is: "Ella's vegetarian", and not "Ella's vegetarian lasagne".
var personStates = set("vegetarian vegan pescatarian teetotal sober diabetic asthmatic coeliac celiac dyslexic autistic deaf blind left-handed single divorced widowed engaged retired unemployed ill sick afraid scared terrified " +
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

// subject reads the subject at the first word, and gives the word after it.
func (t *talk) subject(c *clause) int {
	switch w := c.w(0); w {
	case "i":
		c.subj, c.kind = t.self, 's'
		return 1
	case "we":
		c.subj, c.kind = t.self, 'w'
		return 1
	case "you":
		p, ok := t.addressee()
		if !ok {
			return -1
		}
		c.subj, c.kind = p, 'y'
		return 1
	case "he", "she":
		p, ok := t.heOrShe(c, w)
		if !ok {
			return -1
		}
		c.subj, c.kind = p, 'p'
		return 1
	case "it", "that", "this", "there", "they":
		c.kind, c.thing = 't', w
		return 1
	case "my", "our", "his", "her":
		owner := t.self
		if w == "his" || w == "her" {
			p, ok := t.heOrShe(c, w)
			if !ok {
				return -1
			}
			owner = p
		}
		return t.owned(c, owner, 1)
	case "your":
		if p, ok := t.addressee(); ok {
			return t.owned(c, p, 1)
		}
		return -1
	case "the", "a", "an", "this's", "these", "those", "no":
		if w == "the" && c.familyAt(1) { // "the Millers"
			name := "The " + c.cased(1)
			c.subj, c.kind = person{name, strings.ToLower(name)}, 'p'
			return 2
		}
		if w == "the" && (c.w(1) == "kids" || c.w(1) == "twins" || c.w(1) == "new" && newHere[c.w(2)] && (c.w(3) == "is" || c.w(3) == "'s") && (c.capital(4) || c.w(4) == "called")) {
			return t.owned(c, t.self, 1)
		}
		k := c.untilVerb(1)
		if k <= 1 {
			return -1
		}
		c.neg = w == "no"
		c.kind, c.thing = 't', strings.ToLower(c.join(1, k))
		return k
	}
	if w := c.w(0); parent[w] { // "Dad's birthday", "Mum lives"
		p := person{possessive(t.self.name) + " " + w, possessive(t.self.key) + " " + w}
		if c.w(1) == "'s" {
			return t.owned(c, p, 2)
		}
		c.subj, c.kind, c.own, c.thing = p, 'p', true, w
		return 1
	}
	if k := t.dropped(c); k >= 0 {
		return k
	}
	if l, past, ing := lemma(c.w(0)); l != "" && !past && !ing && c.words[0].tok == 0 && !c.capital(1) || subjectless[c.w(0)] {
		return -1 // "Enjoy the day", "Sounds like a plan"
	}
	if f, n := c.feast(); f != nil && (verbish(c.w(n)) || auxiliary(c.w(n))) {
		c.kind, c.thing = 't', strings.ToLower(c.join(0, n))
		return n
	}
	if c.capital(0) && nameWord(c.w(0)) {
		return t.nameFirst(c)
	}
	if k := c.untilVerb(0); k > 0 && k <= 4 {
		c.kind, c.thing = 't', strings.ToLower(c.join(0, k))
		return k
	}
	return -1
}

// familyAt reports the name of a family at word i, before what people do: "the Millers don't eat pork".
func (c *clause) familyAt(i int) bool {
	w := c.w(i)
	if !c.capital(i) || len(w) < 5 || !strings.HasSuffix(w, "s") || strings.HasSuffix(w, "ans") || peoples[w] || !nameWord(w) {
		return false
	}
	verb := c.w(i + 1)
	if verb == "are" || verb == "were" {
		verb = c.w(i + 2)
	}
	l, _, _ := lemma(verb)
	switch l {
	case "come", "visit", "invite", "eat", "drink", "move", "live", "stay", "arrive", "leave", "bring", "buy", "sell", "drive":
		return true
	}
	return verb == "do" && c.w(i+2) == "not" || l == "have" && pet(trimS(last(c.join(i, len(c.words)))))
}

// newHere are who is new where one lives or works, after "the new".
var newHere = set("landlord landlady neighbour neighbor colleague coworker flatmate roommate housemate boss")

// peoples are called as a family is, and are none.
var peoples = set("greeks turks danes swedes finns brits scots poles czechs serbs croats arabs jews muslims hindus catholics buddhists sikhs celts vikings beatles simpsons browns greens lakers giants")

// nameFirst reads a subject that begins with a name: "Tom", "Sophie and Mark", "Tom's sister", "Bondi beach".
func (t *talk) nameFirst(c *clause) int {
	k := 1
	for k < 3 && c.capital(k) && nameWord(c.w(k)) {
		k++
	}
	name := c.join(0, k)
	if c.w(k) == "'s" {
		return t.owned(c, t.named(name), k+1)
	}
	and := k
	for c.w(and) == "," && c.capital(and+1) && nameWord(c.w(and+1)) { // Leo, Max and Piet
		and += 2
	}
	if c.w(and) == "and" && c.w(and+1) == "i" {
		c.subj, c.kind = t.self, 'w'
		return and + 2
	}
	if c.w(and) == "and" && c.capital(and+1) && nameWord(c.w(and+1)) && (verbish(c.w(and+2)) || auxiliary(c.w(and+2)) || adverb(c.w(and+2))) {
		c.subj, c.kind = person{c.join(0, and+2), strings.ToLower(c.join(0, and+2))}, 'p' // Sophie and Mark
		return and + 2
	}
	if verbish(c.w(k)) || adverb(c.w(k)) || c.noLongerAt(k) || c.loose && c.unlisted(k) {
		c.subj, c.kind = t.named(name), 'p'
		return k
	}
	if strings.HasSuffix(name, "'s") {
		return -1
	}
	if k2 := c.untilVerb(0); k2 > k && k2 <= k+3 {
		c.kind, c.thing = 't', strings.ToLower(c.join(0, k2))
		return k2
	}
	return -1
}

// present reports whether p takes part in the talk: no "he" or "she" means them.
func (t *talk) present(p person) bool {
	if p.key == t.self.key || p.key == "user" {
		return true
	}
	return slices.ContainsFunc(t.ev.Before, func(b abi.Turn) bool { return strings.EqualFold(b.Speaker, p.name) })
}

// subjectless words open a sentence that has no subject.
var subjectless = set("sounds looks seems smells tastes bet glad gotta wanna gonna can't hope hoping excited happy feels feeling thinking looking going trying congrats congratulations appreciate proud good great nice cool stay tackle gather kudos props cheers way love")

// owned reads what follows "my": a relative becomes a person, anything else a
// thing of the owner's.
func (t *talk) owned(c *clause, owner person, i int) int {
	if k := t.namesOf(c, owner, i); k > 0 {
		return k
	}
	k := c.untilVerb(i)
	if k <= i {
		return -1
	}
	if c.w(i+1) == "and" && c.w(i+2) == "i" {
		c.subj, c.kind = t.self, 'w'
		return i + 3
	}
	for j := i; j < k; j++ { // my sister's husband
		if c.w(j) == "'s" && j > i && j+1 < k {
			owner = person{possessive(owner.name) + " " + strings.ToLower(c.join(i, j)), possessive(owner.key) + " " + strings.ToLower(c.join(i, j))}
			i = j + 1
			j = i
		}
	}
	c.owner = owner.name
	end := k
	for end > i+1 && adverb(c.w(end-1)) {
		end-- // "my parents still live"
	}
	last := end
	for last > i+1 && c.capital(last-1) && nameWord(c.w(last-1)) && last-1 > i {
		last--
	}
	if last < end {
		c.name = c.join(last, end)
	}
	noun := c.w(last - 1)
	if noun == "," {
		return -1
	}
	c.thing = strings.ToLower(c.join(i, last))
	if one := trimS(noun); (kin(noun) || pet(noun) || offspring[noun] || kin(one) || pet(one)) && last-i <= 3 {
		c.kind = 'p'
		c.subj = person{possessive(owner.name) + " " + c.thing, possessive(owner.key) + " " + c.thing}
		c.own = true
		if c.name != "" {
			t.relation(c, owner, c.thing, c.name, 0.9)
			c.subj = t.named(c.name)
		}
		return k
	}
	c.kind, c.own, c.subj = 't', true, owner
	return k
}

// namesOf takes the names of relatives or animals, "my sons Leo, Max and Piet", which begin at word i and are the
// subject. It returns the word after them; 0: there are none.
func (t *talk) namesOf(c *clause, owner person, i int) int {
	noun := c.w(i)
	if one := trimS(noun); one == noun && noun != "children" || !kin(noun) && !kin(one) && !pet(one) {
		return 0
	}
	var names []string
	k, joined := i+1, false
	for ; k < len(c.words); k++ {
		w := c.w(k)
		if w == "," || w == "and" {
			joined = joined || w == "and"
			continue
		}
		if !c.capital(k) || !nameWord(w) {
			break
		}
		names = append(names, c.cased(k))
	}
	if len(names) < 2 || !joined || c.w(k-1) == "," || !verbish(c.w(k)) && !auxiliary(c.w(k)) && !adverb(c.w(k)) {
		return 0
	}
	for _, name := range names {
		t.relation(c, owner, noun, name, 0.9)
	}
	name := c.join(i+1, k)
	c.kind, c.own, c.thing, c.owner, c.subj = 'p', true, noun, owner.name, person{name, strings.ToLower(name)}
	return k
}

// offspring are words for a child that need an owner: "our youngest".
var offspring = set("boy girl youngest eldest oldest lad toddler newborn teenager")

func possessive(s string) string { return s + "'s" }
