package rules

import (
	"slices"
	"strings"
)

// An event of somebody else's is nobody's but theirs: "Paul's dentist appointment has
// been moved" says nothing of the speaker's own. A change looks for the plan of whoever
// it names, and where nobody knows whose an event is, it changes nothing.

// possessor is whose an event is, as a sentence says it.
type possessor struct {
	person
	said  string // in the sentence's words, in lower case: "team", 我弟
	named bool   // the sentence says whose
	known bool   // and it is clear who that is
}

func whoseIs(p person) possessor { return possessor{person: p, named: true, known: true} }

// other reports an event of somebody other than who speaks.
func (t *talk) other(o possessor) bool { return o.named && o.key != t.self.key }

// whose reads whose the event of a clause is: "my", "Paul's", "the neighbours'".
func (t *talk) whose(c *clause) possessor {
	i := c.eventAt()
	if i < 0 {
		if c.kind == 't' && c.own && c.subj.key != t.self.key {
			return whoseIs(c.subj)
		}
		return possessor{}
	}
	for k := i - 1; k >= max(0, i-4); k-- {
		switch w := c.w(k); {
		case w == "'s":
			return t.ownerAt(c, k-1)
		case c.plurals(k):
			return t.ownerAt(c, k)
		case w == "my" || w == "our" || w == "your" || w == "his" || w == "her" || w == "their":
			return t.ownerBy(c, w)
		case w == "," || determiner(w) || preposition(w) || auxiliary(w) || k == c.vi && k > 0:
			return possessor{}
		}
	}
	return possessor{}
}

// plurals reports whether word k is a plural that owns what follows: "neighbours'".
func (c *clause) plurals(k int) bool {
	if k < 0 || !strings.HasSuffix(c.w(k), "s") {
		return false
	}
	rest := c.text[c.toks[c.words[k].tok].end:]
	return strings.HasPrefix(rest, "' ") || strings.HasPrefix(rest, "’ ")
}

// ownerBy is whom "my", "your", "his", "her" or "their" means.
func (t *talk) ownerBy(c *clause, w string) possessor {
	switch w {
	case "my", "our":
		return whoseIs(t.self)
	case "your":
		if p, ok := t.addressee(); ok {
			return whoseIs(p)
		}
	case "his", "her":
		other := byte(male)
		if w == "his" {
			other = female
		}
		if c.kind == 'p' && t.sex(c.subj) != other {
			return whoseIs(c.subj) // "Priya moved her exam"
		}
		if p, ok := t.heOrShe(c, w); ok {
			return whoseIs(p)
		}
	case "their":
		if c.kind == 'p' && strings.Contains(c.subj.name, " and ") {
			return whoseIs(c.subj)
		}
	}
	return possessor{named: true}
}

// ownerAt is whom the words before "'s" name, the last of which is word e.
func (t *talk) ownerAt(c *clause, e int) possessor {
	if e < 0 {
		return possessor{}
	}
	noun, first := c.w(e), e
	if c.capital(e) && nameWord(noun) {
		for first > 0 && first-1 != c.vi && c.capital(first-1) && nameWord(c.w(first-1)) {
			first--
		}
		if c.w(first-1) == "and" && first > 1 && c.capital(first-2) && nameWord(c.w(first-2)) {
			first -= 2
		}
		return whoseIs(t.named(c.join(first, e+1)))
	}
	if weekdayOf(noun, false) >= 0 || monthOf(noun) > 0 || dayWords[noun] {
		return possessor{} // "tomorrow's meeting"
	}
	one := trimS(noun)
	if !kin(noun) && !kin(one) && !pet(one) && !offspring[one] && !profession(one) && !trade(one) {
		return possessor{said: noun, named: true}
	}
	d := e - 1
	for d > 0 && e-d < 3 && !determiner(c.w(d)) && c.w(d) != "'s" && !c.plurals(d) {
		d--
	}
	owner := possessor{named: true}
	switch w := c.w(d); {
	case w == "'s":
		owner = t.ownerAt(c, d-1)
	case c.plurals(d):
		owner = t.ownerAt(c, d)
	case w == "the" || calledSo[noun]:
		owner = whoseIs(t.self)
	case determiner(w):
		owner = t.ownerBy(c, w)
	}
	if calledSo[noun] && !determiner(c.w(d)) && c.w(d) != "'s" {
		d = e - 1
	}
	if !owner.known {
		return possessor{named: true}
	}
	rest := strings.ToLower(c.join(d+1, e+1))
	return whoseIs(person{possessive(owner.name) + " " + rest, possessive(owner.key) + " " + rest})
}

// dayWords own events by their time: "today's match".
var dayWords = set("today tomorrow yesterday tonight morning afternoon evening week weekend month year day night")

// findOf is findThat among the plans of a possessor: those with them as their subject,
// then those that name them. It finds among all where no possessor is named.
func (t *talk) findOf(o possessor, fits func(*plan) bool, words ...string) (plan, bool) {
	if !o.named {
		return t.findThat(fits, words...)
	}
	for _, of := range [...]func(*plan) bool{
		func(p *plan) bool { return o.key != "" && p.subject == o.key },
		func(p *plan) bool { return t.names(p, o) },
	} {
		p, ok := t.findThat(func(p *plan) bool { return of(p) && (fits == nil || fits(p)) }, words...)
		if ok {
			p.shown = o.name
			return p, true
		}
	}
	return plan{}, false
}

// names reports whether a plan's words name this possessor, and no other.
func (t *talk) names(p *plan, o possessor) bool {
	if o.key != "" && (strings.HasPrefix(p.subject, o.key+"'s ") || strings.HasPrefix(p.subject, o.key+"的")) {
		return false // of a relative of theirs
	}
	hay := strings.ToLower(p.attribute + " " + p.label)
	if own := strings.ToLower(possessive(t.self.name) + " "); o.key != t.self.key && p.what != "" && strings.Contains(hay, own+p.what) {
		return false // "Paul comes to Mei's wedding"
	}
	return holdsWord(hay, strings.ToLower(o.name)) || holdsWord(hay, o.said)
}

// asSaid keeps a clause in its own words, where nobody can say whose plan it changes.
func (t *talk) asSaid(c *clause) {
	d := *c
	d.past = false                                                                             // its day is to come
	d.whens = slices.DeleteFunc(slices.Clone(c.whens), func(w when) bool { return !w.hasDay }) // of which day?
	a := t.base(&d, "episodic", "noted", notedSure)
	a.EventType, a.Started = "noted", t.ev.At
	t.out.Candidates = append(t.out.Candidates, a)
}

// heOrShe is whom "he", "she", "his" or "her" means: the latest who was spoken of and is
// neither the speaker nor named in the clause itself or after it.
func (t *talk) heOrShe(c *clause, w string) (person, bool) {
	other := byte(male)
	if w == "he" || w == "his" {
		other = female
	}
	if p, ok := t.askedAfter(other); ok {
		return p, true
	}
	if b := t.justSaid(); b != nil && len(c.whens) > 0 {
		for _, o := range t.sentencesOf(b) { // "has the plumber been?", "he came this morning"
			if who := o.at(2); asking[o.at(0)] && o.at(1) == "the" && (trade(who) || profession(who)) {
				return person{"the " + who, "the " + who}, true
			}
		}
	}
	for k := len(t.persons) - 1; k >= 0; k-- {
		p := t.persons[k].person
		if at := t.persons[k].at; at >= c.start && c.text == t.ev.Text {
			continue // they are named after it
		}
		if t.sex(p) == other || t.present(p) || holdsWord(strings.ToLower(c.raw()), strings.TrimPrefix(p.key, mine)) {
			continue
		}
		if noun, ok := strings.CutPrefix(p.key, mine); ok && p.name == "" {
			return person{possessive(t.self.name) + " " + noun, possessive(t.self.key) + " " + noun}, true
		}
		if p.name == "" {
			break // somebody without a name was spoken of after whoever has one
		}
		if t.sex(p) == 0 && t.likelier(k, other) {
			break
		}
		return t.named(p.name), true
	}
	return person{}, false
}

// askedAfter is the relative of the speaker after whom somebody has just asked, "how's your mum?", unless they are
// of the other sex or somebody has been named since.
func (t *talk) askedAfter(other byte) (person, bool) {
	b := t.justSaid()
	if b == nil {
		return person{}, false
	}
	toks := lex(b.Text)
	for i := len(toks) - 2; i >= 0; i-- {
		if toks[i].s != "your" || !kin(toks[i+1].s) && !offspring[toks[i+1].s] {
			continue
		}
		sex := sexOf(toks[i+1].s, "")
		if named := len(t.persons) > 0 && t.persons[len(t.persons)-1].name != "" && strings.Contains(t.ev.Text, t.persons[len(t.persons)-1].name); sex == other || sex == 0 && !offspring[toks[i+1].s] || named || i+2 < len(toks) && toks[i+2].cap {
			return person{}, false
		}
		noun := toks[i+1].s
		return person{possessive(t.self.name) + " " + noun, possessive(t.self.key) + " " + noun}, true
	}
	return person{}, false
}

// likelier reports whether somebody who was named shortly before person k is known to be no
// "other", so that nobody can say which of the two is meant.
func (t *talk) likelier(k int, other byte) bool {
	for _, p := range t.persons[max(0, k-3):k] {
		if sex := t.sex(p.person); sex != 0 && sex != other && p.key != t.persons[k].key && !t.present(p.person) && !t.present(person{name: strings.Fields(p.name + " ?")[0]}) {
			return true
		}
	}
	return false
}

// owned reports whether the noun at token i is somebody's by name: "Paul's next dentist".
func (s sentence) owned(i int) bool {
	for k := i - 1; k >= max(0, i-4); k-- {
		w := s.at(k)
		base, rest := contraction(w)
		switch {
		case w == "'" || w == "’" || w == "their" || w == "his" || w == "her":
			return true
		case strings.HasSuffix(w, "'s"):
			return rest == "is" && !subjectPronoun(base) && base != "that" && base != "there" && base != "what" && base != "here" && base != "let"
		case s.toks[k].kind == 'p' || determiner(w) || preposition(w) || verbish(w):
			return false
		}
	}
	return false
}

// ofMany is possessive, also of a plural: "Mei's neighbours'".
func ofMany(name string) string {
	if noun := last(name); strings.HasSuffix(noun, "s") && !strings.HasSuffix(noun, "ss") && !strings.HasSuffix(noun, "'s") && !capitalised(noun) {
		return name + "'"
	}
	return possessive(name)
}

// mine reports whether the noun at token i is the speaker's own: "my next dentist".
func (s sentence) mine(i int) bool {
	for k := i - 1; k >= max(0, i-3) && s.toks[k].kind == 'w'; k-- {
		if w := s.at(k); w == "my" || w == "our" {
			return true
		} else if determiner(w) || preposition(w) {
			return false
		}
	}
	return false
}

// spokenOfAnother reports whether the text before a clause names an event of somebody's.
func (t *talk) spokenOfAnother(c *clause) bool {
	for _, s := range t.own {
		for i := range s.toks {
			if _, event := eventNoun(s.at(i)); event && s.toks[i].end <= c.start && s.owned(i) {
				return true
			}
		}
	}
	return false
}
