package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// is reads what someone is: allergic, married, from somewhere, so old, a baker.
func (t *talk) is(c *clause, i int) {
	for c.w(i) == "not" || adverb(c.w(i)) || c.w(i) == "no" || c.w(i) == "longer" || c.w(i) == "never" || c.w(i) == "very" {
		i++
	}
	w := c.w(i)
	if !c.own && t.attribute(c, i) {
		return
	}
	o, next := c.object(i)
	if w == "promoted" && c.w(i+1) == "to" && (c.past || c.perfect) && !c.neg {
		if job := o2(c, i+2); job != "" && len(strings.Fields(job)) < 5 {
			t.fact(c, "work", "job", job, false, 0.8)
			return
		}
	}
	if c.past && w != "born" {
		if w == "married" || w == "diagnosed" {
			t.fact(c, "biography", "history", o, true, 0.7)
		}
		for k := i + 1; (w == "a" || w == "an") && !c.neg && k < min(len(c.words), i+4); k++ {
			if trade(c.w(k)) { // "my dad was a bus driver all his life"
				t.fact(c, "biography", "worked_as", c.trim(i, k+1), true, 0.75)
				break
			}
		}
		return
	}
	switch {
	case w == "on" && t.takes(c, i+1):
	case w == "off" && foregone(o2(c, i+1)):
		t.fact(c, "diet", "avoids", o2(c, i+1), true, 0.85)
	case w == "parked" && c.kind == 's' && preposition(c.w(i+1)):
		owner := c.subj
		c.subj = person{possessive(owner.name) + " car", possessive(owner.key) + " car"}
		where := c.join(i+1, len(c.words))
		if f := t.fact(c, "place", "location", where, false, 0.82); f != nil {
			f.Text = sentenceCase(c.subj.name + " is parked " + where)
		}
		c.subj = owner
	case w == "allergic":
		k := i + 2
		for n := 0; n < 4; n++ {
			what, next := c.object(k)
			t.allergy(c, what)
			if c.w(next) != "and" && c.w(next) != "," {
				break
			}
			k = next + 1
			if c.w(k) == "and" {
				k++
			}
		}
	case w == "intolerant" || c.w(i+1) == "intolerant":
		t.allergy(c, o)
	case w == "vegetarian" || w == "vegan" || w == "pescatarian" || w == "coeliac" || w == "celiac" || w == "teetotal" || (w == "a" || w == "an") && (c.w(i+1) == "vegetarian" || c.w(i+1) == "vegan"):
		if t.fact(c, "diet", "diet", strings.TrimPrefix(strings.TrimPrefix(o, "a "), "an "), false, 0.9); (c.again || c.back) && !c.neg {
			t.ended(c, c.subj, "diet", "eats", "meat", true)
		}
	case w == "from":
		t.fact(c, "biography", "origin", o2(c, i+1), false, 0.88)
	case w == "born" && c.w(i+1) == "and":
		if in, ok := c.after(i, 4, "in"); ok {
			t.fact(c, "biography", "grew_up_in", in, false, 0.9)
		}
	case w == "born":
		if in, ok := c.after(i, 2, "in"); ok {
			t.fact(c, "biography", "birthplace", in, false, 0.9)
		}
		if timed := c.firstTime(); timed != nil && timed.hasDay {
			t.birthday(c, timed)
		}
	case w == "married" || w == "engaged":
		if c.neg && c.noLonger {
			t.unwed(c, w)
		}
		if to, ok := c.after(i, 2, "to"); ok && (last(to) == "job" || last(to) == "work" || last(to) == "career") {
			return
		} else if (c.w(i+2) == "my" || c.w(i+2) == "our") && !kin(last(to)) {
			return // "I'm basically married to my sofa"
		} else if ok {
			t.fact(c, "relation", map[string]string{"married": "spouse", "engaged": "fiancé"}[w], to, false, 0.9)
		} else {
			t.fact(c, "relation", "marital_status", w, false, 0.85)
		}
	case w == "single" || w == "divorced" || w == "widowed" || w == "retired" || w == "pregnant" || w == "unemployed" || w == "left-handed" || w == "colour-blind" || w == "color-blind" || w == "diabetic":
		attr := map[string]string{"retired": "job", "unemployed": "job", "pregnant": "health", "left-handed": "handedness", "diabetic": "condition"}[w]
		if attr == "" {
			attr = "marital_status"
		}
		t.fact(c, "biography", attr, w, false, 0.85)
		if !c.neg && (w == "divorced" || w == "single" && (c.again || t.endsIn(c, "now"))) {
			t.unwed(c, w)
		}
	case c.own && c.kind == 'p' && c.name == "" && !c.neg && c.capital(i) && (nameWord(w) || abbreviation(w)) && (next == len(c.words) || c.w(next) == ","):
		owner, noun := ownerOf(c.subj, t)
		if _, _, ing := lemma(w); !ing && noun != "" {
			t.relation(c, owner, noun, o, 0.85)
		}
	case c.own && c.kind == 'p' && c.name == "" && !c.neg && c.capital(i) && nameWord(w) && strings.HasSuffix(c.thing, "s") && t.further(c, i, c.subj, "", 0):
		owner, noun := ownerOf(c.subj, t)
		t.relation(c, owner, noun, o, 0.85)
		t.further(c, i, owner, noun, 0.85)
	case w == "called" || w == "named":
		if c.own && c.kind == 'p' {
			owner, noun := ownerOf(c.subj, t)
			t.relation(c, owner, noun, o2(c, i+1), 0.92)
			t.further(c, i+1, owner, noun, 0.92)
		}
	case t.taste(c, i):
	case c.kind == 'w' && w == "a" && c.w(i+1) == "family" && c.w(i+2) == "of":
		t.fact(c, "family", "family_size", o2(c, i+3), false, 0.85)
	case w == "an" && c.w(i+1) == "only" && c.w(i+2) == "child":
		t.fact(c, "family", "siblings", "only child", false, 0.9)
	case w == "into" || w == "fond" || strings.HasPrefix(c.join(i, i+4), "a big fan of") || strings.HasPrefix(c.join(i, i+3), "a fan of") || strings.HasPrefix(c.join(i, i+4), "a huge fan of"):
		k := i + 1
		for c.w(k) == "big" || c.w(k) == "huge" || c.w(k) == "fan" || c.w(k) == "of" || c.w(k) == "a" {
			k++
		}
		attr := "likes"
		if c.neg && !c.noLonger {
			attr, c.neg = "dislikes", false
		}
		t.fact(c, "preference", attr, o2(c, k), true, 0.85)
	case w == "scared" || w == "afraid" || w == "terrified":
		if c.w(i+1) != "of" {
			return // "I'm afraid we have to move you"
		}
		t.fact(c, "preference", "afraid_of", o2(c, i+2), true, 0.85)
	case w == "my" || w == "our" || c.capital(i) && c.w(i+1) == "'s" || w == "his" || w == "her":
		owner := t.self
		k := i + 1
		if c.capital(i) && c.w(i+1) == "'s" {
			owner, k = t.named(c.cased(i)), i+2
		}
		noun := strings.ToLower(o2(c, k))
		head := noun[strings.LastIndexByte(noun, ' ')+1:]
		if c.kind == 'p' && kin(head) && !c.neg && !strings.HasPrefix(c.subj.key, "user's ") {
			t.relation(c, owner, noun, c.subj.name, 0.9)
		}
	case w == "turning" || isAge(c, i):
		if w == "turning" {
			i++
		}
		if n, ok := number(c.w(i)); ok && n > 0 && n < 120 {
			t.fact(c, "biography", "age", c.w(i), false, 0.85)
		}
	case (w == "a" || w == "an") && (!c.neg || c.noLonger) || w == "the" && role(c, i) || w == "head" || w == "in" && c.w(i+1) == "charge":
		if c.kind == 'p' && c.own && c.thing != "" && !role(c, i) {
			return
		}
		if role(c, i) {
			job, firm, at := strings.Cut(c.trim(i, next), " at ")
			at = at && t.fact(c, "work", "employer", firm, false, 0.85) != nil
			if f := t.fact(c, "work", "job", job, false, 0.85); at && !c.past {
				jobAlone(c, f, "is "+c.articleAt(i)+job)
			}
		}
	case c.kind == 's' && c.capital(i) && nameWord(w) && next-i <= 2 && !strings.HasSuffix(w, "n") && c.vi == 1 && strings.EqualFold(o, t.self.name):
		t.core(c, "human", o)
	case (w == "at" || w == "with") && c.capital(i+1) && nameWord(c.w(i+1)) && c.firstTime() == nil && !c.neg && (w == "at" && strings.Contains(strings.ToLower(c.raw()), " now") || w == "with" && next-i > 2):
		t.fact(c, "work", "employer", o2(c, i+1), false, 0.7)
	case w == "on" || w == "at" || w == "in" || w == "off" || w == "away" || w == "out" || w == "back" || w == "due" || w == "busy" || w == "free":
		if timed := c.firstTime(); timed != nil && timed.hasDay {
			t.plan(c, timed)
		}
	case c.ing:
	}
}

// andKin takes "… and my daughter Mia" after a clause that said what another relative is
// called.
func (t *talk) andKin(s sentence) bool {
	n := len(t.out.Candidates)
	first := 0
	for first < len(s.toks) && (s.at(first) == "and" || s.at(first) == ",") {
		first++
	}
	if n == 0 || t.out.Candidates[n-1].Kind != "relation" || len(s.toks) != first+3 || s.at(first) != "my" || !kin(s.at(first+1)) || !s.toks[first+2].cap || !nameWord(s.at(first+2)) {
		return false
	}
	c := clause{sentence: s, subj: t.self, kind: 's'}
	t.relation(&c, t.self, s.at(first+1), s.text[s.toks[first+2].start:s.toks[first+2].end], 0.85)
	return true
}

// further reads the names after the one at word i, "called Leo and Mia", "… and my
// daughter Mia"; with a noun it proposes them. It reports whether there are any.
func (t *talk) further(c *clause, i int, owner person, noun string, confidence float64) bool {
	some := false
	for k := i + 1; k < len(c.words); k++ {
		switch {
		case c.w(k) == "," || c.w(k) == "and" || c.capital(k) && !nameWord(c.w(k)):
		case c.w(k) == "my" && kin(c.w(k+1)) && c.capital(k+2) && nameWord(c.w(k+2)):
			if noun != "" {
				noun = c.w(k + 1)
			}
			k++
		case c.capital(k) && nameWord(c.w(k)) && (c.w(k-1) == "," || c.w(k-1) == "and" || kin(c.w(k-1))):
			if some = true; noun != "" {
				t.relation(c, owner, noun, c.cased(k), confidence)
			}
		case c.capital(k): // a surname
		default:
			return some
		}
	}
	return some
}

func o2(c *clause, i int) string {
	o, _ := c.object(i)
	return o
}

func isAge(c *clause, i int) bool {
	n, ok := number(c.w(i))
	if !ok || n < 1 || n > 119 || c.w(i) == "a" || c.w(i) == "an" {
		return false
	}
	next := c.w(i + 1)
	return next == "" || next == "years" || next == "now" || next == "," || next == "and"
}

// role reports whether words from i name a profession or position.
func role(c *clause, i int) bool {
	for k := i; k < min(len(c.words), i+6); k++ {
		w := c.w(k)
		if trade(w) {
			return true
		}
		if w == "at" || w == "in" || w == "for" || w == "of" || w == "," || w == "who" {
			return false
		}
	}
	return false
}

// trade reports whether a word names what somebody is by trade or position.
func trade(w string) bool {
	switch w {
	case "nurse", "doctor", "teacher", "engineer", "designer", "lawyer", "chef", "cook", "baker", "pilot", "student", "accountant", "architect", "artist", "writer", "author", "musician",
		"carpenter", "plumber", "electrician", "mechanic", "journalist", "scientist", "researcher", "professor", "consultant", "translator", "interpreter", "waiter", "waitress", "barista",
		"programmer", "developer", "dentist", "vet", "midwife", "paramedic", "firefighter", "farmer", "gardener", "photographer", "librarian", "freelancer", "lecturer", "surgeon", "pharmacist",
		"physicist", "chemist", "biologist", "analyst", "director", "ceo", "cto", "cfo", "founder", "head", "secretary", "clerk", "cashier", "tailor", "actor", "actress", "singer", "dancer", "coach",
		"psychologist", "therapist", "producer", "manager", "editor", "driver", "butcher", "florist", "violinist", "pianist", "intern", "apprentice", "postman", "soldier", "policeman", "volunteer", "tutor", "estate-agent", "agent", "technician", "curator", "optician":
		return true
	}
	return false
}

func ownerOf(p person, t *talk) (person, string) {
	name, noun, _ := strings.Cut(p.name, "'s ")
	if name == t.self.name {
		return t.self, noun
	}
	return t.named(name), noun
}

func (t *talk) birthday(c *clause, w *when) {
	y, m, d := date(w.day)
	value := ""
	switch {
	case w.grain == 'y':
		t.fact(c, "biography", "birth_year", itoa(y), false, 0.85)
		return
	case w.grain == 'M':
		value = monthNames[m-1]
	default:
		value = monthNames[m-1] + " " + itoa(d)
	}
	t.fact(c, "biography", "birthday", value, false, 0.93)
}

// core proposes what is always worth knowing of the wearer.
func (t *talk) core(c *clause, block, value string) {
	if t.self.key != "user" {
		t.fact(c, "biography", "name", value, false, 0.85)
		return
	}
	a := t.base(c, "core", "identity", 0.9)
	a.Block = block
	a.Slot = &abi.Slot{Subject: "user", Attribute: "name", Value: value}
	t.out.Candidates = append(t.out.Candidates, a)
}

// unwed ends whom somebody is with, whatever the name: "I'm no longer married", "I'm single again".
func (t *talk) unwed(c *clause, w string) {
	nouns := married[:]
	switch w {
	case "engaged":
		nouns = unmarried[3:] // "fiancé" and "fiancée"
	case "single":
		nouns = append(nouns[:len(nouns):len(nouns)], unmarried[:]...)
	}
	for _, noun := range nouns {
		t.ended(c, c.subj, "relation", noun, "", false)
	}
}

// endsIn reports whether the clause's last word is w.
func (t *talk) endsIn(c *clause, w string) bool { return last(strings.ToLower(c.raw())) == w }
