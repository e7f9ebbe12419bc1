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
	parsed := true
	for _, part := range clauses(s) {
		if !parsed || quotes(s, part) || t.supposes(part) {
			return false // "my brother and his wife are looking for a flat": of both
		}
		var c clause
		if c, parsed = t.parse(part); !parsed || idiomatic(part) || c.almost() || c.momentary() || c.kind != 's' && c.kind != 'w' && (c.kind != 'p' || !c.own && sexOf("", c.subj.name) == 0) {
			continue
		}
		for i := 1; i < min(len(c.words), c.vi+4); i++ {
			k, past := c.hopes(i)
			if k == 0 || c.neg && c.w(i) != "wait" && c.w(i) != "used" || c.addressed(k) || c.contentFrom(k) == 0 {
				continue
			}
			a := t.base(&c, "semantic", "noted", notedSure)
			if past || intentions[c.w(i)] {
				a.Type, a.EventType, a.Actor = "episodic", "noted", c.subj.name
			}
			if past {
				a.Started = t.toldAt(s)
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
	ing = ing && third != "going" && third != "coming" && (third != "having" || c.eventAt() > i || c.w(len(c.words)-1) == "done") // "having a beer"
	switch w {
	case "thinking":
		if (next == "of" || next == "about") && ing {
			return i + 2, false
		}
	case "considering", "contemplating":
		if _, _, ing := lemma(next); ing && next != "going" && next != "ordering" && next != "having" || (next == "a" || next == "an") && sought[last(o2(c, i+1))] {
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
	case "like", "love":
		if next == "to" && ambitions[third] && c.find(1, i, "would") > 0 {
			return i + 2, false
		}
	case "rather":
		if ambitions[next] && c.find(1, i, "would") > 0 {
			return i + 1, false
		}
	case "wish":
		if verb := c.w(i + 3); next == "i" && third == "could" && (ambitions[verb] || skills[verb]) {
			return i + 3, false
		}
	case "wanted", "hope", "hopes", "hoping", "intend", "intends", "aim", "aims", "aiming", "trying", "struggling", "planning", "want", "wants", "meaning":
		switch {
		case next == "to" && w == "wanted":
			if c.find(1, i, "always") > 0 || c.find(1, i, "long") > 0 {
				return i + 2, false
			}
		case next == "to" && third == "be" && w != "trying" && (c.w(i+3) == "a" || c.w(i+3) == "an"):
			return i + 3, false
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
		if upheavals[next] && (third == "my" || third == "our" || third == "a" || third == "an" || third == "the" && next == "sell") || next == "move" && preposition(third) {
			return i + 1, false
		}
	case "looking":
		if next == "for" && (third == "a" || third == "an" || third == "another") && sought[last(o2(c, i+2))] {
			return i + 2, false
		}
	case "wait":
		if c.can && c.neg && next == "for" && determiner(third) && c.find(i, 8, "longer") < 0 {
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
		if c.verb == "be" && next == "at" && !c.capital(i+2) && !counts(third) && !numeric(third) && !wherever[third] {
			return i + 2, false
		}
	case "keep", "keeps":
		if _, _, ing := lemma(next); ing && next != "going" && next != "coming" && next != "telling" && next != "saying" && next != "thinking" && c.certain(i+2) {
			return i + 1, false
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
		case "one":
			return c.w(k+1) != "day"
		case "it", "that", "this", "them", "him", "so", "these", "those", "something", "things", "what", "how", "there":
			return k < i+3
		}
	}
	return false
}

// contentFrom counts the words from i on that tell what it is.
func (c *clause) contentFrom(i int) (n int) {
	for k := i; k < len(c.words); k++ {
		if telling(c.w(k)) {
			n++
		}
	}
	return n
}

// momentary reports what holds for now, or is asked of somebody: "I'd like to learn the result now, please".
func (c *clause) momentary() bool {
	for k := range c.words {
		switch c.w(k) {
		case "now", "please", "tonight", "here", "today", "later", "quickly", "quick":
			return true
		}
	}
	return false
}

// ambitions are what one would like to do some day, and not in the next minute.
var ambitions = set("learn live visit travel become work study write move build own retire climb sail adopt teach surf publish quit emigrate settle explore volunteer grow")

// skills are what one wishes one had.
var skills = set("play speak swim sing dance draw paint cook fly ski")

// upheavals are what changes somebody's life, where they say that it may come to it.
var upheavals = set("quit leave sell buy adopt retire apply resign switch change start rent lose")

// sought is what one looks for over weeks.
var sought = set("flat job house apartment home school kindergarten nanny plumber therapist tutor teacher doctor dentist gardener cleaner flatmate roommate babysitter car bike van dog cat puppy kitten hobby course internship apprenticeship sabbatical divorce career move degree")

// wherever is where and how somebody is, after "good at".
var wherever = set("it that this all home nothing everything work school night least first last times the")

// fleeting are what one attempts for a moment.
var fleeting = set("see get say tell think understand remember figure find explain be do make help reach call catch come go stay keep convince show work look talk put give take have let check ask hear relax sleep rest enjoy focus concentrate avoid decide know believe open load connect lock park close")
