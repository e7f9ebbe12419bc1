package discourse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// untilVerb returns the first word from i on that can be a verb, at most 6 words later; i if there
// is none.
func (c *Clause) untilVerb(i int) int {
	for k := i; k < min(len(c.Words), i+7); k++ {
		w := c.W(k)
		if w == "," || k > i && (syntax.SubjectPronoun(w) || w == "that" || w == "who" || w == "which") {
			return i
		}
		if syntax.Auxiliary(w) || w == "will" || k > i && c.noLongerAt(k) || c.loose && k > i && syntax.Kin(c.W(k-1)) && c.unlisted(k) {
			return k
		}
		if k > i {
			before := k - 1
			for before > i && syntax.Adverb(c.W(before)) {
				before--
			}
			if l, past, ing := syntax.Lemma(w); l != "" && !ing && (past || w != l || c.kindOfPlural(before) || unchanged[w] && Personal(c.W(k+1))) {
				if _, event := syntax.EventNoun(w); !event || k > i+1 {
					return k
				}
			}
		}
	}
	return i
}

// unchanged are verbs whose past form is their base form: "the car cost us twelve thousand".
var unchanged = syntax.Set("cost hurt hit cut")

// noLongerAt reports whether "no longer" is at word k.
func (c *Clause) noLongerAt(k int) bool { return c.W(k) == "no" && c.W(k+1) == "longer" }

// unlisted reports whether word k looks like a verb that is in no list: "translates", "supervised",
// followed by something that is not a verb.
func (c *Clause) unlisted(k int) bool {
	w := c.W(k)
	if len(w) < 5 || c.Capital(k) || k+1 >= len(c.Words) || syntax.Auxiliary(c.W(k+1)) || syntax.Verbish(c.W(k+1)) && !syntax.PastForm(w) {
		return false
	}
	if s, ok := strings.CutSuffix(w, "s"); ok {
		return !strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "u") && !strings.HasSuffix(s, "i") && !strings.HasSuffix(s, "'") && !syntax.Kin(s) && !syntax.Adverb(w)
	}
	return syntax.PastForm(w)
}

// undertaken returns the word "would" or "will" in what somebody has said, at word i, that they
// will do: "I told Ben I'd help", "promised the kids we'd go"; 0 if there is none.
func (c *Clause) undertaken(i int) int {
	if c.Kind != 's' && c.Kind != 'w' {
		return 0
	}
	for k := i + 1; k < min(len(c.Words)-1, i+6); k++ {
		if (c.W(k) == "i" || c.W(k) == "we") && (c.W(k+1) == "would" || c.W(k+1) == "will") {
			return k + 1
		}
		if c.W(k) == "," || syntax.Auxiliary(c.W(k)) || syntax.Preposition(c.W(k)) && c.W(k) != "to" {
			break
		}
	}
	return 0
}

func (c *Clause) kindOfPlural(i int) bool {
	w := c.W(i)
	return w != "'s" && strings.HasSuffix(w, "s") || w == "people" || w == "children"
}

// Predicate reads auxiliaries, negation and the verb from word i.
func (c *Clause) Predicate(i int) bool {
	for ; i < len(c.Words); i++ {
		w := c.W(i)
		switch {
		case w == ",":
			if i+1 >= len(c.Words) || !syntax.Adverb(c.W(i+1)) && !syntax.Verbish(c.W(i+1)) {
				return false
			}
		case w == "not" || w == "never":
			c.Neg = true
		case w == "no" && c.W(i+1) == "longer":
			c.Neg, c.NoLonger = true, true
			i++
		case w == "probably" || w == "maybe" || w == "perhaps" || w == "possibly":
			c.Maybe = true
		case syntax.Adverb(w), strings.HasSuffix(w, "ly") && !syntax.Verbish(w) && (syntax.Verbish(c.W(i+1)) || syntax.PastForm(c.W(i+1))):
		case w == "used" && c.W(i+1) == "to":
			c.UsedTo = true
			i++
		case w == "will" || w == "shall" || w == "gonna":
			c.Future = true
		case (w == "had" || w == "would") && c.W(i+1) == "better" && syntax.Verbish(c.W(i+2)): // "I'd better book the ferry"
			c.Must = true
			i++
		case w == "would" || w == "could" || w == "might" || w == "may" || w == "should":
			c.Modal = true
		case c.undertakes(&i):
			c.Must, c.Intend = true, true
		case w == "can" || w == "cannot":
			c.Can = true
			c.Neg = c.Neg || w == "cannot"
			if c.W(i+1) == "not" && (c.W(i+2) == "stand" && c.W(i+3) != "up" && !syntax.Preposition(c.W(i+3)) || c.W(i+2) == "bear" && (strings.HasSuffix(c.W(i+3), "ing") || c.W(i+3) == "to" || c.W(i+3) == "the")) {
				c.Verb, c.Vi, c.Neg = "hate", i+2, false
				return true
			}
		case w == "ought" && c.W(i+1) == "to":
			c.Modal = true
			i++
		case w == "must" || w == "gotta" || (w == "have" || w == "has" || w == "need" || w == "needs" || w == "got") && c.W(i+1) == "to":
			c.Must = true
			if w != "must" && w != "gotta" {
				i++
			}
		case (w == "want" || w == "wants" || w == "plan" || w == "plans" || w == "hope" || w == "hoping" || w == "planning" || w == "intend" || w == "decided" || w == "promised" || w == "supposed" || w == "agreed" || w == "remember" || w == "about") && c.W(i+1) == "to":
			c.Intend = true
			if w == "promised" || w == "decided" || w == "agreed" || w == "supposed" {
				c.Must = true
			}
			if w == "supposed" {
				c.Past = false
			}
			i++
		case w == "do" || w == "does" || w == "did":
			if c.W(i+1) == "not" || syntax.Adverb(c.W(i+1)) {
				c.Past = c.Past || w == "did"
				continue
			}
			c.Verb, c.Vi, c.Past = "do", i, w == "did"
			return c.tail()
		case w == "am" || w == "is" || w == "are" || w == "was" || w == "were" || w == "be" || w == "been":
			c.Past = c.Past || w == "was" || w == "were"
			c.Perfect = c.Perfect || w == "been" // "Ciara's been"
			if c.beVerb(&i) {
				continue
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

// beVerb skips a form of "be" of a progressive or "going to"; it moves i to the last word that it
// took, and returns whether the verb still follows.
func (c *Clause) beVerb(i *int) bool {
	k := *i + 1
	for c.W(k) == "not" || syntax.Adverb(c.W(k)) || c.W(k) == "never" || c.W(k) == "no" && c.W(k+1) == "longer" {
		if c.W(k) == "not" || c.W(k) == "never" {
			c.Neg = true
		}
		if c.W(k) == "no" {
			c.Neg, c.NoLonger = true, true
			k++
		}
		k++
	}
	if c.W(k) == "going" && c.W(k+1) == "to" {
		if l, _, ing := syntax.Lemma(c.W(k + 2)); l != "" && !ing && !syntax.Determiner(c.W(k+2)) {
			c.Future = true
			*i = k + 1
			return true
		}
	}
	if c.W(k) == "gonna" || c.W(k) == "supposed" || c.W(k) == "planning" || c.W(k) == "hoping" || c.W(k) == "about" && c.W(k+1) == "to" || c.W(k) == "been" {
		*i = k - 1
		return true
	}
	if _, _, ing := syntax.Lemma(c.W(k)); ing {
		*i = k - 1
		return true
	}
	c.Verb, c.Vi = "be", k-1
	return false
}

// haveVerb does the same as [Clause.beVerb] for a form of "have": the verb still follows after
// "have been" and "have to".
func (c *Clause) haveVerb(i *int) bool {
	k, not := *i+1, false
	for syntax.Adverb(c.W(k)) || c.W(k) == "not" || c.W(k) == "never" || c.W(k) == "no" || c.W(k) == "longer" {
		not = not || c.W(k) == "not"
		k++
	}
	w, next := c.W(k), c.W(k+1)
	l, past, _ := syntax.Lemma(w)
	switch {
	case w == "got" && next == "to":
		c.Must = true
		*i = k + 1
		return true
	case w == "got" && next != "married" && next != "engaged":
		c.Verb, c.Vi, c.Neg = "have", k, c.Neg || not // "I haven't got a car"
		return false
	case w == "been" || l != "" && past && w != "had" || w == "come" || w == "become" || w == "run" && next == "out":
		c.Perfect = true
		return true
	}
	c.Verb, c.Vi, c.Past = "have", *i, c.Past || c.W(*i) == "had"
	return false
}

// mainVerb takes the verb at word i, or for "we ended up selling it" the one after.
func (c *Clause) mainVerb(i int) {
	l, past, ing := syntax.Lemma(c.W(i))
	if next, _, doing := syntax.Lemma(c.W(i + 2)); (l == "end" || c.W(i) == "wound") && c.W(i+1) == "up" && doing {
		c.Verb, c.Vi, c.Past = next, i+2, true
		return
	}
	if l == "" {
		l = c.W(i)
		past = past || strings.HasSuffix(l, "ed") && len(l) > 4
	}
	c.Verb, c.Vi, c.Ing = l, i, ing
	base := l == c.W(i) && (c.Future || c.Modal || c.Can || c.W(i-1) == "to") // "wants to put the rent up"
	c.Past = c.Past || past && !c.Perfect && !base
}

// undertakes skips what somebody has said that they will do, or not: "promised Ben to", "decided
// not to"; it moves i to the last word of that.
func (c *Clause) undertakes(i *int) bool {
	w := c.W(*i)
	if w != "promised" && w != "told" && w != "said" && w != "agreed" && w != "decided" {
		return false
	}
	k := 0
	if w != "decided" {
		k = c.undertaken(*i)
	}
	to := c.W(*i+2) == "to"
	switch {
	case k > 0:
		*i = k
		return true
	case to && w != "told" && w != "said" && c.W(*i+1) == "not":
		c.Neg = true
	case !to || w != "promised":
		return false
	}
	*i += 2
	return true
}

// Object returns the noun phrase from word i on, up to where something else begins.
func (c *Clause) Object(i int) (string, int) {
	k := i
	for ; k < len(c.Words); k++ {
		if k > i && c.unread > 0 && c.Words[k].Tok >= c.unread {
			return c.Trim(i, k), k
		}
		if c.W(k) == "and" && c.W(k+1) == "a" && (c.W(k+2) == "half" || c.W(k+2) == "quarter") {
			k += 2 // "five and a half"
			continue
		}
		switch c.W(k) {
		case ",", "because", "but", "so", "when", "while", "since", "which", "who", "where", "that", "too", "now", "again", "instead", "if", "until", "though",
			"although", "anymore", "and", "or", "then", "these", "after", "before", "already", "always", "currently", "myself", "recently", "lately", "as", "unless", "every", "once", "twice", "actually", "really", "rather", "than", "except", "is", "are", "was":
			if k > i {
				return c.Trim(i, k), k
			}
			return "", k
		}
	}
	return c.Trim(i, k), k
}

// Trim joins words i to k without determiners at the beginning and prepositions at the end.
func (c *Clause) Trim(i, k int) string {
	for i < k && (c.W(i) == "a" || c.W(i) == "an" || c.W(i) == "the" || c.W(i) == "some" || c.W(i) == "any" || c.W(i) == "my" || c.W(i) == "our" || syntax.Adverb(c.W(i)) || c.W(i) == "very") {
		i++
	}
	for k > i {
		switch c.W(k - 1) {
		case "in", "at", "on", "to", "from", "for", "with", "of", "by", "right", "though", "originally", "either", "well", "honestly", "yet", "there", "moment", "the", "please", "thanks", "right,":
			k--
			continue
		}
		break
	}
	return c.Join(i, k)
}

// After returns the object after the first of the prepositions, from word i on, at most n words
// away.
func (c *Clause) After(i, n int, preps ...string) (string, bool) {
	for k := i; k < min(len(c.Words), i+n+1); k++ {
		for _, p := range preps {
			if c.W(k) == p {
				o, _ := c.Object(k + 1)
				return o, o != ""
			}
		}
	}
	return "", false
}

// Place returns where something is done: the noun phrase after one of the prepositions, up to the
// next one; "" if it is not a place.
func (c *Clause) Place(preps ...string) string {
	o, ok := c.After(c.Vi+1, 8, preps...)
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
	if len(words) == 0 || Vague(o) {
		return ""
	}
	if _, n := syntax.Number(strings.ToLower(words[0])); n || timex.IsYear(words[0]) {
		return ""
	}
	return o
}

// Find returns the word after i, at most n words later, that is w; -1 if there is none.
func (c *Clause) Find(i, n int, w string) int {
	for k := i; k < min(len(c.Words), i+n+1); k++ {
		if c.W(k) == w {
			return k
		}
	}
	return -1
}

// Almost reports whether something was nearly done, but not done.
func (c *Clause) Almost() bool {
	return (c.Past || c.Perfect) && (c.Find(1, c.Vi-1, "almost") >= 0 || c.Find(1, c.Vi-1, "nearly") >= 0)
}

// Elided reports whether a verb stands for one said before: "Hanna does, until Friday".
func (c *Clause) Elided() bool {
	return c.Verb == "do" && c.Vi == len(c.Words)-1 || c.Verb == "do" && c.W(c.Vi+1) == ","
}

// told are participles of verbs that take no object after "she's just".
var told = syntax.Set("texted rung messaged emailed phoned arrived landed left woken")

// hasDone reports whether "'s" before token i is "has": a past form follows, and after it its
// object, or nothing that a participle would describe.
func hasDone(s syntax.Sentence, i int) bool {
	w := s.At(i)
	if w == "just" || w == "already" {
		if i++; told[s.At(i)] {
			return true // "she's just texted"
		}
		w = s.At(i)
	}
	k := i + 1
	for k < len(s.Toks) && s.Toks[k].Cap && syntax.NameWord(s.At(k)) {
		k++
	}
	if (w == "left" || w == "joined" || w == "quit") && k > i+1 && (k == len(s.Toks) || s.Toks[k].Kind == 'p' || s.At(k) == "for" || s.At(k) == "and" || s.At(k) == "last") {
		return true // "Hamid's left Siemens", and not "his left Achilles is sore"
	}
	if w == "had" || w == "got" {
		return true
	}
	_, past, _ := syntax.Lemma(w)
	if next := s.At(i + 1); !syntax.Auxiliary(w) && (past || syntax.PastForm(w)) && !passives[w] && (syntax.Determiner(next) && next != "no" || next == "me" || next == "us") {
		return true // "someone's nicked my bike"
	}
	if !past || syntax.Auxiliary(w) {
		return false
	}
	switch w {
	case "quit", "left", "gone", "come", "moved", "started", "stopped", "given", "had", "got", "become", "lost", "sold", "bought", "broken", "taken", "put", "made", "found", "finished", "passed", "lent":
	default:
		return false
	}
	next := s.At(i + 1)
	_, _, ing := syntax.Lemma(next)
	return syntax.Determiner(next) || ing || next == "up" || next == "me" || next == "us" || (w == "moved" || w == "gone" || w == "left") && (syntax.Preposition(next) || next == "out") && next != "with"
}
