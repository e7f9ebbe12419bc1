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
	if !c.own && t.attribute(c, i) || t.promoted(c, i) {
		return
	}
	w := c.w(i)
	if c.past && w != "born" {
		t.was(c, i)
		return
	}
	if t.restricted(c, i) || t.parked(c, i) || t.bornIn(c, i) || t.wed(c, i) || t.isCalled(c, i) || t.taste(c, i) || t.familyOf(c, i) || t.fond(c, i) || t.aged(c, i) || t.employedAs(c, i) {
		return
	}
	o, next := c.object(i)
	switch w {
	case "at", "with":
		if c.capital(i+1) && nameWord(c.w(i+1)) && c.firstTime() == nil && !c.neg && (w == "at" && strings.Contains(strings.ToLower(c.raw()), " now") || w == "with" && next-i > 2) {
			t.fact(c, "work", "employer", o2(c, i+1), false, 0.7)
			return
		}
	default:
		if c.kind == 's' && c.capital(i) && nameWord(w) && next-i <= 2 && !strings.HasSuffix(w, "n") && c.vi == 1 && strings.EqualFold(o, t.self.name) {
			t.core(c, "human", o)
			return
		}
	}
	if timed := c.firstTime(); elsewhere[w] && timed != nil && timed.hasDay {
		t.plan(c, timed)
	}
}

// elsewhere is where and how somebody is for a time.
var elsewhere = set("on at in off away out back due busy free")

// promoted takes "I was promoted to team lead".
func (t *talk) promoted(c *clause, i int) bool {
	if c.w(i) != "promoted" || c.w(i+1) != "to" || !c.past && !c.perfect || c.neg {
		return false
	}
	job := o2(c, i+2)
	ok := job != "" && len(strings.Fields(job)) < 5
	if ok {
		t.fact(c, "work", "job", job, false, 0.8)
	}
	return ok
}

// was takes what is only of the past: "my dad was a bus driver all his life".
func (t *talk) was(c *clause, i int) {
	w := c.w(i)
	if w == "married" || w == "diagnosed" {
		t.fact(c, "biography", "history", o2(c, i), true, 0.7)
	}
	for k := i + 1; (w == "a" || w == "an") && !c.neg && k < min(len(c.words), i+4); k++ {
		if trade(c.w(k)) {
			t.fact(c, "biography", "worked_as", c.trim(i, k+1), true, 0.75)
			break
		}
	}
}

// standings are what somebody is for long, and of which attribute.
var standings = map[string]string{"single": "marital_status", "divorced": "marital_status", "widowed": "marital_status", "retired": "job", "unemployed": "job", "self-employed": "job", "freelance": "job", "pregnant": "health",
	"left-handed": "handedness", "colour-blind": "condition", "color-blind": "condition", "diabetic": "condition", "anaemic": "condition", "anemic": "condition", "asthmatic": "condition", "epileptic": "condition", "dyslexic": "condition"}

// wed takes to whom somebody is married or engaged, and what they are by themselves: single, retired.
func (t *talk) wed(c *clause, i int) bool {
	w := c.w(i)
	if attribute := standings[w]; attribute != "" {
		if attribute == "condition" {
			t.fact(c, "health", attribute, w, true, 0.85)
			return true
		}
		t.fact(c, "biography", attribute, w, false, 0.85)
		if !c.neg && (w == "divorced" || w == "single" && (c.again || t.endsIn(c, "now"))) {
			t.unwed(c, w)
		}
		return true
	}
	if w != "married" && w != "engaged" {
		return false
	}
	if c.neg && c.noLonger {
		t.unwed(c, w)
	}
	to, ok := c.after(i, 2, "to")
	switch {
	case ok && (last(to) == "job" || last(to) == "work" || last(to) == "career"), (c.w(i+2) == "my" || c.w(i+2) == "our") && !kin(last(to)): // "I'm basically married to my sofa"
	case !ok:
		t.fact(c, "relation", "marital_status", w, false, 0.85)
	case w == "married":
		t.fact(c, "relation", "spouse", to, false, 0.9)
	default:
		t.fact(c, "relation", "fiancé", to, false, 0.9)
	}
	return true
}

// isCalled takes what a relative or an animal is called: "my sister is Anna", "my dogs are called Rex and Bello".
func (t *talk) isCalled(c *clause, i int) bool {
	w := c.w(i)
	called := w == "called" || w == "named"
	if !c.own || c.kind != 'p' {
		return called
	}
	o, next := c.object(i)
	owner, noun := ownerOf(c.subj, t)
	unnamed := c.name == "" && !c.neg && c.capital(i)
	if noun == "password manager" { // nobody
		return false
	}
	switch {
	case unnamed && (nameWord(w) || abbreviation(w)) && (next == len(c.words) || c.w(next) == ","):
		if _, _, ing := lemma(w); !ing && noun != "" {
			t.relation(c, owner, noun, o, 0.85)
		}
	case unnamed && nameWord(w) && strings.HasSuffix(c.thing, "s") && t.further(c, i, c.subj, "", 0):
		t.relation(c, owner, noun, o, 0.85)
		t.further(c, i, owner, noun, 0.85)
	case called:
		t.relation(c, owner, noun, o2(c, i+1), 0.92)
		t.further(c, i+1, owner, noun, 0.92)
	default:
		return false
	}
	return true
}

// familyOf takes whose relative somebody is, and how large a family is: "Tom is my brother", "we are a family of five".
func (t *talk) familyOf(c *clause, i int) bool {
	w, next := c.w(i), c.w(i+1)
	owner, k := t.self, i+1
	switch {
	case c.kind == 'w' && w == "a" && next == "family" && c.w(i+2) == "of":
		t.fact(c, "family", "family_size", o2(c, i+3), false, 0.85)
		return true
	case w == "the" && (next == "youngest" || next == "oldest" || next == "eldest" || next == "middle") && (c.w(i+2) == "of" && counts(c.w(i+3)) || c.w(i+2) == "child"):
		if c.kind == 's' || c.kind == 'p' {
			t.fact(c, "family", "siblings", c.join(i+1, len(c.words)), false, 0.85)
		}
		return true
	case w == "an" && next == "only" && c.w(i+2) == "child":
		t.fact(c, "family", "siblings", "only child", false, 0.9)
		return true
	case c.capital(i) && next == "'s":
		owner, k = t.named(c.cased(i)), i+2
	case w != "my" && w != "our" && w != "his" && w != "her":
		return false
	}
	noun, _, _ := strings.Cut(strings.ToLower(o2(c, k)), " from ") // "my best mate from school"
	if c.kind == 'p' && pet(noun) && !c.neg && owner.key == t.self.key && !strings.HasPrefix(c.subj.key, "user's ") {
		if f := t.fact(c, "family", "pets", c.subj.name, true, 0.9); f != nil { // "Rex is my dog"
			f.Slot.Subject, f.Subject, f.Object = t.self.key, t.self.name, c.subj.name+", "+noun
		}
		return true
	}
	if c.kind == 'p' && kin(last(noun)) && !c.neg && !strings.HasPrefix(c.subj.key, "user's ") {
		t.relation(c, owner, noun, c.subj.name, 0.9)
	}
	return true
}

// fond takes "into jazz", "a big fan of jazz", "afraid of dogs".
func (t *talk) fond(c *clause, i int) bool {
	w := c.w(i)
	k := i + 1
	switch {
	case w == "scared" || w == "afraid" || w == "terrified":
		if c.w(k) == "of" { // and not "I'm afraid we have to move you"
			t.fact(c, "preference", "afraid_of", o2(c, k+1), true, 0.85)
		}
		return true
	case w != "into" && w != "fond" && (w != "a" || !startsWithAny(c.join(i, i+4)+" ", []string{"a fan of ", "a big fan of ", "a huge fan of "})):
		return false
	}
	for c.w(k) == "big" || c.w(k) == "huge" || c.w(k) == "fan" || c.w(k) == "of" || c.w(k) == "a" {
		k++
	}
	attribute := "likes"
	if c.neg && !c.noLonger {
		attribute, c.neg = "dislikes", false
	}
	t.fact(c, "preference", attribute, o2(c, k), true, 0.85)
	return true
}

// tall takes "1.68 tall", "five foot six".
func (t *talk) tall(c *clause, i int) bool {
	_, counted := number(c.w(i))
	foot := c.w(i+1) == "foot" || c.w(i+1) == "feet" || c.w(i+1) == "ft"
	end := len(c.words)
	if c.w(end-1) == "tall" {
		end--
	} else if !foot {
		return false
	}
	if c.past || c.neg || end-i < 1 || end-i > 4 || !counted && !strings.ContainsAny(c.w(i), "0123456789") {
		return false
	}
	return t.fact(c, "biography", "height", c.join(i, end), false, 0.85) != nil
}

// employedAs takes "a nurse at St Mary's", "the head of sales".
func (t *talk) employedAs(c *clause, i int) bool {
	w := c.w(i)
	if !((w == "a" || w == "an") && (!c.neg || c.noLonger) || w == "the" && role(c, i) || c.w(i+1) == "lead" && leads[w] || w == "head" || w == "in" && c.w(i+1) == "charge") {
		return false
	}
	if role(c, i) {
		_, next := c.object(i)
		job, firm, at := strings.Cut(c.trim(i, next), " at ")
		at = at && t.fact(c, "work", "employer", firm, false, 0.85) != nil
		if f := t.fact(c, "work", "job", job, false, 0.85); at && !c.past {
			jobAlone(c, f, "is "+c.articleAt(i)+job)
		}
	}
	return true
}

// andKin takes "… and my daughter Mia" after a clause that said what another relative is called, and "my wife
// Lena" before "and".
func (t *talk) andKin(s sentence) bool {
	n := len(t.out.Candidates)
	first := 0
	for first < len(s.toks) && (s.at(first) == "and" || s.at(first) == ",") {
		first++
	}
	beside := n > 0 && t.out.Candidates[n-1].Kind == "relation" || strings.HasPrefix(s.text[s.end:], " and ") && containsAny(s.text[s.end:], " are ", " were ", " have ")
	if !beside || len(s.toks) != first+3 || s.at(first) != "my" && s.at(first) != "our" || !kin(s.at(first+1)) || !s.toks[first+2].cap || !nameWord(s.at(first+2)) {
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

// role reports whether words from i name a profession or position.
func role(c *clause, i int) bool {
	for k := i; k < min(len(c.words), i+6); k++ {
		w := c.w(k)
		if trade(w) || w == "lead" && leads[c.w(k-1)] {
			return true
		}
		if w == "at" || w == "in" || w == "for" || w == "of" || w == "," || w == "who" {
			return false
		}
	}
	return false
}

// leads are what somebody is the lead of.
var leads = set("team tech design project product group squad engineering")

// trade reports whether a word names what somebody is by trade or position.
func trade(w string) bool {
	switch w {
	case "nurse", "doctor", "teacher", "engineer", "designer", "lawyer", "chef", "cook", "baker", "pilot", "student", "accountant", "architect", "artist", "writer", "author", "musician",
		"carpenter", "plumber", "electrician", "mechanic", "journalist", "scientist", "researcher", "professor", "consultant", "translator", "interpreter", "waiter", "waitress", "barista",
		"programmer", "developer", "dentist", "vet", "midwife", "paramedic", "firefighter", "farmer", "gardener", "photographer", "librarian", "freelancer", "lecturer", "surgeon", "pharmacist",
		"physicist", "chemist", "biologist", "analyst", "director", "ceo", "cto", "cfo", "founder", "head", "secretary", "clerk", "cashier", "tailor", "actor", "actress", "singer", "dancer", "coach",
		"psychologist", "therapist", "producer", "manager", "editor", "driver", "butcher", "florist", "violinist", "pianist", "gp", "intern", "apprentice", "postman", "soldier", "policeman", "volunteer", "tutor", "estate-agent", "agent", "technician", "curator", "optician", "fisherman", "miner", "sailor", "builder", "joiner", "welder", "priest", "judge", "banker", "diplomat", "cleaner", "receptionist", "blacksmith", "seamstress", "shoemaker", "bricklayer", "roofer", "caretaker", "headteacher", "nanny":
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

// core proposes what is always worth knowing of the wearer.
func (t *talk) core(c *clause, block, value string) {
	if value == "" {
		return // "My name is"
	}
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
