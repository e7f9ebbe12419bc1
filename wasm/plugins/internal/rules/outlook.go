package rules

import "strings"

// An outlook is what somebody hopes, considers, attempts, worries about or is good at. It names
// no day and changes nothing that is so, hence it is noted and has no slot.

// outlook notes a clause with such words: "I'm thinking of moving to Porto", "I'd love to learn
// to surf", "my sister is worried about her exam".
func (t *talk) outlook(s sentence) bool {
	if s = t.uncalled(s); s.chinese() || s.ends == "?" || len(s.toks) > 40 || conditioned(s) || strings.ContainsAny(s.raw(), `"“”`) {
		return false
	}
	for _, part := range clauses(s) {
		c, ok := t.parse(part)
		if !ok || idiomatic(part) || c.kind != 's' && c.kind != 'w' && (c.kind != 'p' || !c.own && sexOf("", c.subj.name) == 0) {
			continue
		}
		for i := 1; i < min(len(c.words), c.vi+4); i++ {
			k, past := c.hopes(i)
			if k == 0 || c.addressed(k) || c.contentFrom(k) == 0 {
				continue
			}
			a := t.base(&c, "semantic", "noted", notedSure)
			if past {
				a.Type, a.EventType, a.Actor, a.Started = "episodic", "noted", c.subj.name, t.toldAt(s)
			}
			t.out.Candidates = append(t.out.Candidates, a)
			return true
		}
	}
	return false
}

// hopes reads the words of an outlook at word i: where what it is about begins, 0 where there are none,
// and whether it is over ("I forgot to pay the rent").
func (c *clause) hopes(i int) (about int, past bool) {
	w, next, third := c.w(i), c.w(i+1), c.w(i+2)
	_, _, ing := lemma(third)
	deed := ing || third == "a" || third == "an"
	switch w {
	case "thinking":
		if (next == "of" || next == "about") && deed {
			return i + 2, false
		}
	case "considering", "contemplating":
		if _, _, ing := lemma(next); ing || next == "a" || next == "an" {
			return i + 1, false
		}
	case "toying":
		if next == "with" && third == "the" && c.w(i+3) == "idea" {
			return i + 5, false
		}
	case "dream", "dreams", "dreaming", "dreamt", "dreamed":
		if (next == "of" || next == "about") && ing {
			return i + 2, false
		}
	case "like", "love", "rather", "wish":
		k := i + 2
		if w == "rather" {
			k = i + 1
		}
		if w == "wish" && (next != "i" || third != "could") || w != "wish" && w != "rather" && next != "to" || w != "wish" && c.find(1, i, "would") < 0 {
			return 0, false
		}
		if w == "wish" {
			k = i + 3
		}
		if ambitions[c.w(k)] {
			return k, false
		}
	case "wanted", "hope", "hopes", "hoping", "intend", "intends", "aim", "aims", "aiming", "trying", "struggling", "planning", "want", "wants", "meaning":
		switch {
		case next == "to" && w == "wanted":
			if c.find(1, i, "always") > 0 || c.find(1, i, "long") > 0 {
				return i + 2, false
			}
		case next == "to" && (third == "be" || inward[third] && !ambitions[third]):
		case next == "to" && (w == "trying" || w == "struggling"):
			if !fleeting[third] {
				return i + 2, false
			}
		case next == "to" && verbish(third) && !fleeting[third] && (w != "want" && w != "wants" || ambitions[third]):
			return i + 2, false
		case w == "trying" && next == "for" && third == "a" && c.w(i+3) == "baby", w == "planning" && next == "on" && ing:
			return i + 2, false
		}
	case "might", "may":
		if upheavals[next] && (determiner(third) || preposition(third)) || next == "move" {
			return i + 1, false
		}
	case "looking":
		if next == "for" && (third == "a" || third == "an" || third == "new" || third == "someone" || third == "somebody" || third == "another") {
			return i + 2, false
		}
	case "wait":
		if c.can && c.neg && next == "for" && c.certain(i+2) {
			return i + 2, false
		}
	case "worried", "nervous", "anxious", "excited", "scared", "stressed", "concerned":
		if (next == "about" || next == "for") && (c.certain(i+2) || ing) {
			return i + 2, false
		}
	case "proud", "ashamed", "jealous", "envious":
		if next == "of" && c.certain(i+2) {
			return i + 2, false
		}
	case "tired", "sick", "fed":
		k := i + 2
		if w == "fed" {
			k++
		}
		if _, _, ing := lemma(c.w(k)); ing && (next == "of" || next == "up") || next == "of" && c.certain(k) {
			return k, false
		}
	case "used", "accustomed":
		if before := c.w(i - 1); next == "to" && ing && (before == "am" || before == "is" || before == "are" || before == "got" || before == "not" || adverb(before)) && c.verb == "be" {
			return i + 2, false
		}
	case "good", "great", "bad", "terrible", "hopeless", "rubbish", "useless", "brilliant", "awful":
		if c.verb == "be" && next == "at" && third != "it" && third != "that" && third != "this" && third != "all" {
			return i + 2, false
		}
	case "miss", "misses":
		if c.certain(i+1) && !c.past && !c.modal && !c.future {
			return i + 1, false
		}
	case "forgot":
		if next == "to" && verbish(third) && !inward[third] && (determiner(c.w(i+3)) || len(c.words) > i+4) {
			return i + 2, true
		}
	}
	return 0, false
}

// certain reports whether a noun that is somebody's or a certain one begins at word i.
func (c *clause) certain(i int) bool {
	w := c.w(i)
	return w == "my" || w == "our" || w == "the" || w == "his" && c.own || w == "her" && c.own || c.capital(i) && nameWord(w)
}

// addressed reports whether what begins at word i is about whom the speaker talks to, or about what was said before.
func (c *clause) addressed(i int) bool {
	for k := i; k < len(c.words); k++ {
		switch c.w(k) {
		case "you", "your", "yours", "yourself":
			return true
		case "it", "that", "this", "them", "him", "so", "one", "these", "those", "something", "things", "what", "how", "there":
			return k < i+3
		}
	}
	return false
}

// contentFrom counts the words from i on that tell what it is.
func (c *clause) contentFrom(i int) (n int) {
	for k := i; k < len(c.words); k++ {
		if w := c.w(k); len(w) > 2 && !function(w) && !preposition(w) && !adverb(w) && !auxiliary(w) && !determiner(w) && !warm[w] && !abstract[w] && !feelings[w] && !opinions[w] {
			n++
		}
	}
	return n
}

// ambitions are what one would like to do some day, and not in the next minute.
var ambitions = set("learn live visit travel become work study write move start build run own retire climb play speak sail adopt open teach swim ski surf dance paint draw sing cook publish quit emigrate settle ride grow explore volunteer lose stop buy")

// upheavals are what changes somebody's life, where they say that it may come to it.
var upheavals = set("quit leave move sell buy adopt retire apply resign switch change drop join start rent lose")

// fleeting are what one attempts for a moment.
var fleeting = set("see get say tell think understand remember figure find explain be do make help reach call catch come go stay keep convince show work look talk put give take have let check ask hear relax sleep rest enjoy focus concentrate avoid decide know believe")
