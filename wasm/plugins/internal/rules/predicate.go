package rules

import (
	"strings"
)

// untilVerb is the first word from i that can be a verb, at most 6 on; i where
// there is none.
func (c *clause) untilVerb(i int) int {
	for k := i; k < min(len(c.words), i+7); k++ {
		w := c.w(k)
		if w == "," || k > i && (subjectPronoun(w) || w == "that" || w == "who" || w == "which") {
			return i
		}
		if auxiliary(w) || w == "will" || k > i && c.noLongerAt(k) || c.loose && k > i && kin(c.w(k-1)) && c.unlisted(k) {
			return k
		}
		if k > i {
			before := k - 1
			for before > i && adverb(c.w(before)) {
				before--
			}
			if l, past, ing := lemma(w); l != "" && !ing && (past || w != l || c.kindOfPlural(before)) {
				if _, event := eventNoun(w); !event || k > i+1 {
					return k
				}
			}
		}
	}
	return i
}

// noLongerAt reports "no longer" at word k.
func (c *clause) noLongerAt(k int) bool { return c.w(k) == "no" && c.w(k+1) == "longer" }

// unlisted reports whether word k looks like a verb that no list has: "translates",
// "supervised", with something to follow that is no verb.
func (c *clause) unlisted(k int) bool {
	w := c.w(k)
	if len(w) < 5 || c.capital(k) || k+1 >= len(c.words) || auxiliary(c.w(k+1)) || verbish(c.w(k+1)) && !pastForm(w) {
		return false
	}
	if s, ok := strings.CutSuffix(w, "s"); ok {
		return !strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "u") && !strings.HasSuffix(s, "i") && !strings.HasSuffix(s, "'") && !kin(s) && !adverb(w)
	}
	return pastForm(w)
}

// undertaken is the word "would" or "will" of what somebody has said, at word i,
// that they will do: "I told Ben I'd help", "promised the kids we'd go"; 0 where
// nothing is.
func (c *clause) undertaken(i int) int {
	if c.kind != 's' && c.kind != 'w' {
		return 0
	}
	for k := i + 1; k < min(len(c.words)-1, i+6); k++ {
		if (c.w(k) == "i" || c.w(k) == "we") && (c.w(k+1) == "would" || c.w(k+1) == "will") {
			return k + 1
		}
		if c.w(k) == "," || auxiliary(c.w(k)) || preposition(c.w(k)) && c.w(k) != "to" {
			break
		}
	}
	return 0
}

func (c *clause) kindOfPlural(i int) bool {
	w := c.w(i)
	return w != "'s" && strings.HasSuffix(w, "s") || w == "people" || w == "children"
}

func adverb(s string) bool {
	switch s {
	case "really", "just", "always", "also", "actually", "currently", "now", "still", "usually", "often", "sometimes", "mostly", "already", "finally", "recently", "both",
		"all", "even", "definitely", "only", "normally", "absolutely", "secretly", "totally", "honestly", "lately", "quite", "kind", "of", "kinda", "sort", "truly", "generally", "mainly", "once", "ever", "simply", "certainly", "officially", "basically", "originally", "mostly,", "much", "rather", "particularly", "especially", "genuinely", "deeply", "particular", "proper", "properly", "nearly", "almost", "soon", "regularly", "rarely", "mainly,", "therefore", "myself", "personally", "apparently", "sadly", "luckily", "unfortunately", "actively", "happily", "accidentally", "somehow", "literally", "seriously", "actually,":
		return true
	case "probably", "maybe", "perhaps", "possibly":
		return true
	}
	return false
}

// predicate reads auxiliaries, negation and the verb from word i.
func (c *clause) predicate(i int) bool {
	for ; i < len(c.words); i++ {
		w := c.w(i)
		switch {
		case w == ",":
			if i+1 >= len(c.words) || !adverb(c.w(i+1)) && !verbish(c.w(i+1)) {
				return false
			}
		case w == "not" || w == "never":
			c.neg = true
		case w == "no" && c.w(i+1) == "longer":
			c.neg, c.noLonger = true, true
			i++
		case w == "probably" || w == "maybe" || w == "perhaps" || w == "possibly":
			c.maybe = true
		case adverb(w), strings.HasSuffix(w, "ly") && !verbish(w) && (verbish(c.w(i+1)) || pastForm(c.w(i+1))):
		case w == "used" && c.w(i+1) == "to":
			c.usedTo = true
			i++
		case w == "will" || w == "shall" || w == "gonna":
			c.future = true
		case (w == "had" || w == "would") && c.w(i+1) == "better" && verbish(c.w(i+2)): // "I'd better book the ferry"
			c.must = true
			i++
		case w == "would" || w == "could" || w == "might" || w == "may" || w == "should":
			c.modal = true
		case c.undertakes(&i):
			c.must, c.intend = true, true
		case w == "can" || w == "cannot":
			c.can = true
			c.neg = c.neg || w == "cannot"
			if c.w(i+1) == "not" && (c.w(i+2) == "stand" || c.w(i+2) == "bear" && (strings.HasSuffix(c.w(i+3), "ing") || c.w(i+3) == "to" || c.w(i+3) == "the")) {
				c.verb, c.vi, c.neg = "hate", i+2, false
				return true
			}
		case w == "ought" && c.w(i+1) == "to":
			c.modal = true
			i++
		case w == "must" || w == "gotta" || (w == "have" || w == "has" || w == "need" || w == "needs" || w == "got") && c.w(i+1) == "to":
			c.must = true
			if w != "must" && w != "gotta" {
				i++
			}
		case (w == "want" || w == "wants" || w == "plan" || w == "plans" || w == "hope" || w == "hoping" || w == "planning" || w == "intend" || w == "decided" || w == "promised" || w == "supposed" || w == "agreed" || w == "remember" || w == "about") && c.w(i+1) == "to":
			c.intend = true
			if w == "promised" || w == "decided" || w == "agreed" || w == "supposed" {
				c.must = true
			}
			if w == "supposed" {
				c.past = false
			}
			i++
		case w == "do" || w == "does" || w == "did":
			if c.w(i+1) == "not" || adverb(c.w(i+1)) {
				c.past = c.past || w == "did"
				continue
			}
			c.verb, c.vi, c.past = "do", i, w == "did"
			return c.tail()
		case w == "am" || w == "is" || w == "are" || w == "was" || w == "were" || w == "be" || w == "been":
			c.past = c.past || w == "was" || w == "were"
			c.perfect = c.perfect || w == "been" // "Ciara's been"
			if c.beVerb(&i) {
				continue
			}
			if c.verb == "" {
				c.verb, c.vi = "be", i
			}
			return c.tail()
		case w == "have" || w == "has" || w == "had":
			if c.haveVerb(&i) {
				continue
			}
			return c.tail()
		default:
			c.mainVerb(i)
			return c.tail()
		}
	}
	return false
}

// beVerb looks past a form of "be" for a progressive or "going to"; it moves i
// to the last word that it took, and says whether the verb is still to come.
func (c *clause) beVerb(i *int) bool {
	k := *i + 1
	for c.w(k) == "not" || adverb(c.w(k)) || c.w(k) == "never" || c.w(k) == "no" && c.w(k+1) == "longer" {
		if c.w(k) == "not" || c.w(k) == "never" {
			c.neg = true
		}
		if c.w(k) == "no" {
			c.neg, c.noLonger = true, true
			k++
		}
		k++
	}
	if c.w(k) == "going" && c.w(k+1) == "to" {
		if l, _, ing := lemma(c.w(k + 2)); l != "" && !ing && !determiner(c.w(k+2)) {
			c.future = true
			*i = k + 1
			return true
		}
	}
	if c.w(k) == "gonna" || c.w(k) == "supposed" || c.w(k) == "planning" || c.w(k) == "hoping" || c.w(k) == "about" && c.w(k+1) == "to" || c.w(k) == "been" {
		*i = k - 1
		return true
	}
	if _, _, ing := lemma(c.w(k)); ing {
		*i = k - 1
		return true
	}
	c.verb, c.vi = "be", k-1
	return false
}

// haveVerb is [clause.beVerb] for a form of "have": the verb is still to come after "have been" and "have to".
func (c *clause) haveVerb(i *int) bool {
	k, not := *i+1, false
	for adverb(c.w(k)) || c.w(k) == "not" || c.w(k) == "never" || c.w(k) == "no" || c.w(k) == "longer" {
		not = not || c.w(k) == "not"
		k++
	}
	w, next := c.w(k), c.w(k+1)
	l, past, _ := lemma(w)
	switch {
	case w == "got" && next == "to":
		c.must = true
		*i = k + 1
		return true
	case w == "got" && next != "married" && next != "engaged":
		c.verb, c.vi, c.neg = "have", k, c.neg || not // "I haven't got a car"
		return false
	case w == "been" || l != "" && past && w != "had" || w == "come" || w == "become" || w == "run" && next == "out":
		c.perfect = true
		return true
	}
	c.verb, c.vi, c.past = "have", *i, c.past || c.w(*i) == "had"
	return false
}

// mainVerb takes the verb at word i, or of "we ended up selling it" the one after.
func (c *clause) mainVerb(i int) {
	l, past, ing := lemma(c.w(i))
	if next, _, doing := lemma(c.w(i + 2)); (l == "end" || c.w(i) == "wound") && c.w(i+1) == "up" && doing {
		c.verb, c.vi, c.past = next, i+2, true
		return
	}
	if l == "" {
		l = c.w(i)
		past = past || strings.HasSuffix(l, "ed") && len(l) > 4
	}
	c.verb, c.vi, c.ing = l, i, ing
	base := l == c.w(i) && (c.future || c.modal || c.can || c.w(i-1) == "to") // "wants to put the rent up"
	c.past = c.past || past && !c.perfect && !base
}

// undertakes looks past what somebody has said that they will do, or not: "promised Ben to", "decided not
// to"; it moves i to the last word of it.
func (c *clause) undertakes(i *int) bool {
	w := c.w(*i)
	if w != "promised" && w != "told" && w != "said" && w != "agreed" && w != "decided" {
		return false
	}
	k := 0
	if w != "decided" {
		k = c.undertaken(*i)
	}
	to := c.w(*i+2) == "to"
	switch {
	case k > 0:
		*i = k
		return true
	case to && w != "told" && w != "said" && c.w(*i+1) == "not":
		c.neg = true
	case !to || w != "promised":
		return false
	}
	*i += 2
	return true
}

// tail looks at the end of the clause for "any more".
func (c *clause) tail() bool {
	for k := c.vi + 1; k < len(c.words); k++ {
		if c.w(k) == "anymore" || c.w(k) == "any" && c.w(k+1) == "more" || c.w(k) == "any" && c.w(k+1) == "longer" {
			c.noLonger = c.noLonger || c.neg
			c.words = c.words[:k]
			break
		}
	}
	return c.verb != ""
}

// object is the noun phrase from word i, up to where something else begins.
func (c *clause) object(i int) (string, int) {
	k := i
	for ; k < len(c.words); k++ {
		if k > i && c.unread > 0 && c.words[k].tok >= c.unread {
			return c.trim(i, k), k
		}
		if c.w(k) == "and" && c.w(k+1) == "a" && (c.w(k+2) == "half" || c.w(k+2) == "quarter") {
			k += 2 // "five and a half"
			continue
		}
		switch c.w(k) {
		case ",", "because", "but", "so", "when", "while", "since", "which", "who", "where", "that", "too", "now", "again", "instead", "if", "until", "though",
			"although", "anymore", "and", "or", "then", "these", "after", "before", "already", "always", "currently", "myself", "recently", "lately", "as", "unless", "every", "once", "twice", "actually", "really", "than", "except", "is", "are", "was":
			if k > i {
				return c.trim(i, k), k
			}
			return "", k
		}
	}
	return c.trim(i, k), k
}

// trim joins words i to k without determiners before and prepositions behind.
func (c *clause) trim(i, k int) string {
	for i < k && (c.w(i) == "a" || c.w(i) == "an" || c.w(i) == "the" || c.w(i) == "some" || c.w(i) == "any" || c.w(i) == "my" || c.w(i) == "our" || adverb(c.w(i)) || c.w(i) == "very") {
		i++
	}
	for k > i {
		switch c.w(k - 1) {
		case "in", "at", "on", "to", "from", "for", "with", "of", "by", "right", "though", "originally", "either", "well", "honestly", "yet", "there", "moment", "the", "please", "thanks", "right,":
			k--
			continue
		}
		break
	}
	return c.join(i, k)
}

// after gives the object after the first of the prepositions, from word i on,
// at most n words away.
func (c *clause) after(i, n int, preps ...string) (string, bool) {
	for k := i; k < min(len(c.words), i+n+1); k++ {
		for _, p := range preps {
			if c.w(k) == p {
				o, _ := c.object(k + 1)
				return o, o != ""
			}
		}
	}
	return "", false
}

// place is where something is done: the noun phrase after one of the prepositions,
// up to the next one; "" where it is no place.
func (c *clause) place(preps ...string) string {
	o, ok := c.after(c.vi+1, 8, preps...)
	if !ok {
		return ""
	}
	words := strings.Fields(o)
	for i, w := range words {
		switch strings.ToLower(w) {
		case "to", "for", "from", "between", "during", "with", "on", "until", "till", "by", "about", "through":
			words = words[:i]
		default:
			continue
		}
		break
	}
	o = strings.Join(words, " ")
	if len(words) == 0 || vague(o) {
		return ""
	}
	if _, n := number(strings.ToLower(words[0])); n || isYear(words[0]) {
		return ""
	}
	return o
}

// find is the word after i, at most n on, that is w; -1 where there is none.
func (c *clause) find(i, n int, w string) int {
	for k := i; k < min(len(c.words), i+n+1); k++ {
		if c.w(k) == w {
			return k
		}
	}
	return -1
}

// almost reports what came near to being done, and was not.
func (c *clause) almost() bool {
	return (c.past || c.perfect) && (c.find(1, c.vi-1, "almost") >= 0 || c.find(1, c.vi-1, "nearly") >= 0)
}

// elided reports a verb that stands for one said before: "Hanna does, until
// Friday".
func (c *clause) elided() bool {
	return c.verb == "do" && c.vi == len(c.words)-1 || c.verb == "do" && c.w(c.vi+1) == ","
}

// hasDone reports whether "'s" before token i is "has": a past form stands there, and after it what it
// was done to, or nothing that a participle would describe.
func (s sentence) hasDone(i int) bool {
	w := s.at(i)
	if w == "had" || w == "got" {
		return true
	}
	_, past, _ := lemma(w)
	if next := s.at(i + 1); !auxiliary(w) && (past || pastForm(w)) && !passives[w] && (determiner(next) && next != "no" || next == "me" || next == "us") {
		return true // "someone's nicked my bike"
	}
	if !past || auxiliary(w) {
		return false
	}
	switch w {
	case "quit", "left", "gone", "come", "moved", "started", "stopped", "given", "had", "got", "become", "lost", "sold", "bought", "broken", "taken", "put", "made", "found", "finished", "passed", "lent":
	default:
		return false
	}
	next := s.at(i + 1)
	_, _, ing := lemma(next)
	return determiner(next) || ing || next == "up" || next == "me" || next == "us" || (w == "moved" || w == "gone" || w == "left") && (preposition(next) || next == "out") && next != "with"
}
