package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// is reads what someone is: allergic, married, from somewhere, of some age, a baker.
func is(t *discourse.Talk, c *discourse.Clause, i int) {
	for c.W(i) == "not" || syntax.Adverb(c.W(i)) || c.W(i) == "no" || c.W(i) == "longer" || c.W(i) == "never" || c.W(i) == "very" {
		i++
	}
	if !c.Own && attribute(t, c, i) || promoted(t, c, i) {
		return
	}
	w := c.W(i)
	if c.Past && w != "born" {
		was(t, c, i)
		return
	}
	if restricted(t, c, i) || parked(t, c, i) || bornIn(t, c, i) || wed(t, c, i) || isCalled(t, c, i) || taste(t, c, i) || familyOf(t, c, i) || fond(t, c, i) || bloodType(t, c, i) || aged(t, c, i) || employedAs(t, c, i) {
		return
	}
	o, next := c.Object(i)
	switch w {
	case "at", "with":
		if c.Capital(i+1) && syntax.NameWord(c.W(i+1)) && !discourse.Titles[c.W(i+1)] && c.FirstTime() == nil && !c.Neg && (w == "at" && strings.Contains(strings.ToLower(c.Raw()), " now") || w == "with" && next-i > 2) {
			t.Fact(c, "work", "employer", discourse.ObjectOf(c, i+1), false, 0.7)
			return
		}
		if w == "at" && yearsAt(c, i+1) {
			t.Fact(c, "work", "employer", discourse.ObjectOf(c, i+1), false, 0.7)
			return
		}
	default:
		if c.Kind == 's' && c.Capital(i) && syntax.NameWord(w) && next-i <= 2 && !strings.HasSuffix(w, "n") && c.Vi == 1 && strings.EqualFold(o, t.Self.Name) {
			core(t, c, "human", o)
			return
		}
	}
	if timed := c.FirstTime(); elsewhere[w] && timed != nil && timed.HasDay {
		plan(t, c, timed)
	}
}

// yearsAt reports whether somebody has been for months or years where word i says, which is then a
// firm: "I've been at Bosch since last year", and not "at Anna's since Friday".
func yearsAt(c *discourse.Clause, i int) bool {
	if !c.Perfect || c.Neg || !c.Capital(i) || !syntax.NameWord(c.W(i)) || discourse.Titles[c.W(i)] || c.Kind == 't' || c.Kind == 'w' {
		return false
	}
	firm := strings.ToLower(discourse.ObjectOf(c, i))
	if syntax.SexOf("", c.W(i)) != 0 || strings.HasSuffix(firm, "'s") || livedAt[discourse.Last(firm)] || c.W(i+1) == "'s" {
		return false
	}
	for k := range c.Whens {
		if w := &c.Whens[k]; w.Since && !w.Clock && (w.Grain == 'y' || w.Grain == 'M') && c.At(w.Next) != "running" && c.At(w.Next) != "in" {
			return true
		}
	}
	return false
}

// livedAt are last words of names of places where people study or live.
var livedAt = syntax.Set("university uni college school academy house court lodge manor park gardens hall home hospital hospice road street")

// elsewhere are words for where and how somebody is for a time.
var elsewhere = syntax.Set("on at in off away out back due busy free")

// promoted takes "I was promoted to team lead".
func promoted(t *discourse.Talk, c *discourse.Clause, i int) bool {
	if c.W(i) != "promoted" || c.W(i+1) != "to" || !c.Past && !c.Perfect || c.Neg {
		return false
	}
	job := discourse.ObjectOf(c, i+2)
	ok := job != "" && len(strings.Fields(job)) < 5
	if ok {
		t.Fact(c, "work", "job", job, false, 0.8)
	}
	return ok
}

// was takes what is only in the past: "my dad was a bus driver all his life".
func was(t *discourse.Talk, c *discourse.Clause, i int) {
	w := c.W(i)
	if w == "married" || w == "diagnosed" {
		t.Fact(c, "biography", "history", discourse.ObjectOf(c, i), true, 0.7)
	}
	for k := i + 1; (w == "a" || w == "an") && !c.Neg && k < min(len(c.Words), i+4); k++ {
		if discourse.Trade(c.W(k)) {
			t.Fact(c, "biography", "worked_as", c.Trim(i, k+1), true, 0.75)
			break
		}
	}
}

// standings are lasting states of somebody, with their attributes.
var standings = map[string]string{"single": "marital_status", "divorced": "marital_status", "widowed": "marital_status", "retired": "job", "unemployed": "job", "self-employed": "job", "freelance": "job", "pregnant": "health",
	"left-handed": "handedness", "colour-blind": "condition", "color-blind": "condition", "diabetic": "condition", "anaemic": "condition", "anemic": "condition", "asthmatic": "condition", "epileptic": "condition", "dyslexic": "condition"}

// wed takes to whom somebody is married or engaged, and what they are without a partner: single,
// retired.
func wed(t *discourse.Talk, c *discourse.Clause, i int) bool {
	w := c.W(i)
	if attribute := standings[w]; attribute != "" {
		if attribute == "condition" {
			t.Fact(c, "health", attribute, w, true, 0.85)
			return true
		}
		t.Fact(c, "biography", attribute, w, false, 0.85)
		if !c.Neg && (w == "divorced" || w == "single" && (c.Again || endsIn(t, c, "now"))) {
			unwed(t, c, w)
		}
		return true
	}
	if w != "married" && w != "engaged" {
		return false
	}
	if c.Neg && c.NoLonger {
		unwed(t, c, w)
	}
	to, ok := c.After(i, 2, "to")
	switch {
	case ok && (discourse.Last(to) == "job" || discourse.Last(to) == "work" || discourse.Last(to) == "career"), (c.W(i+2) == "my" || c.W(i+2) == "our") && !syntax.Kin(discourse.Last(to)): // "I'm basically married to my sofa"
	case !ok:
		t.Fact(c, "relation", "marital_status", w, false, 0.85)
	case w == "married":
		t.Fact(c, "relation", "spouse", to, false, 0.9)
	default:
		t.Fact(c, "relation", "fiancé", to, false, 0.9)
	}
	return true
}

// isCalled takes the name of a relative or an animal: "my sister is Anna", "my dogs are called Rex
// and Bello".
func isCalled(t *discourse.Talk, c *discourse.Clause, i int) bool {
	w := c.W(i)
	called := w == "called" || w == "named"
	if !c.Own || c.Kind != 'p' {
		return called
	}
	o, next := c.Object(i)
	owner, noun := ownerOf(c.Subj, t)
	unnamed := c.Name == "" && !c.Neg && c.Capital(i)
	if one, other, two := strings.Cut(noun, " and "); two && (called || unnamed) {
		calledEach(t, c, i+syntax.BoolInt(called), owner, one, other)
		return true
	}
	if be := c.W(c.Vi); called && (be == "are" || be == "were") && syntax.Singular(noun) == noun && noun != "children" {
		return true // "my two cats and my dog are called Rex, Bo and Minka"
	}
	if noun == "password manager" { // not a person
		return false
	}
	switch {
	case unnamed && (syntax.NameWord(w) || syntax.Abbreviation(w)) && (next == len(c.Words) || c.W(next) == ","):
		if _, _, ing := syntax.Lemma(w); !ing && noun != "" {
			t.Relation(c, owner, noun, o, 0.85)
		}
	case unnamed && syntax.NameWord(w) && strings.HasSuffix(c.Thing, "s") && further(t, c, i, c.Subj, "", 0):
		t.Relation(c, owner, noun, o, 0.85)
		further(t, c, i, owner, noun, 0.85)
	case called:
		t.Relation(c, owner, noun, discourse.ObjectOf(c, i+1), 0.92)
		further(t, c, i+1, owner, noun, 0.92)
	default:
		return false
	}
	return true
}

// calledEach takes the names of two relatives or animals, from word i on: "my cat and dog are called
// Rex and Minka". With more names than two it is not known whose they are.
func calledEach(t *discourse.Talk, c *discourse.Clause, i int, owner discourse.Person, one, other string) {
	names, last, ok := strings.Cut(c.Join(i, len(c.Words)), " and ")
	last = strings.TrimSuffix(last, " respectively")
	if ok && !c.Neg && !plural(one) && !plural(other) && syntax.NameWord(strings.ToLower(names)) && syntax.NameWord(strings.ToLower(last)) && !strings.ContainsAny(names+last, " ,") && discourse.Capitalised(last) {
		t.Relation(c, owner, one, names, 0.9)
		t.Relation(c, owner, other, last, 0.9)
	}
}

// familyOf takes whose relative somebody is, and how large a family is: "Tom is my brother", "we
// are a family of five".
func familyOf(t *discourse.Talk, c *discourse.Clause, i int) bool {
	w, next := c.W(i), c.W(i+1)
	owner, k := t.Self, i+1
	switch {
	case c.Kind == 'w' && w == "a" && next == "family" && c.W(i+2) == "of":
		t.Fact(c, "family", "family_size", discourse.ObjectOf(c, i+3), false, 0.85)
		return true
	case w == "the" && (next == "youngest" || next == "oldest" || next == "eldest" || next == "middle") && (c.W(i+2) == "of" && noted.Counts(c.W(i+3)) || c.W(i+2) == "child"):
		if c.Kind == 's' || c.Kind == 'p' {
			t.Fact(c, "family", "siblings", c.Join(i+1, len(c.Words)), false, 0.85)
		}
		return true
	case w == "an" && next == "only" && c.W(i+2) == "child":
		t.Fact(c, "family", "siblings", "only child", false, 0.9)
		return true
	case c.Capital(i) && next == "'s":
		owner, k = t.Named(c.Cased(i)), i+2
	case w != "my" && w != "our" && w != "his" && w != "her":
		return false
	}
	noun, _, _ := strings.Cut(strings.ToLower(discourse.ObjectOf(c, k)), " from ") // "my best mate from school"
	if c.Kind == 'p' && syntax.Pet(noun) && !c.Neg && owner.Key == t.Self.Key && !strings.HasPrefix(c.Subj.Key, "user's ") {
		if f := t.Fact(c, "family", "pets", c.Subj.Name, true, 0.9); f != nil { // "Rex is my dog"
			f.Slot.Subject, f.Subject, f.Object = t.Self.Key, t.Self.Name, c.Subj.Name+", "+noun
		}
		return true
	}
	if c.Kind == 'p' && syntax.Kin(discourse.Last(noun)) && !c.Neg && !strings.HasPrefix(c.Subj.Key, "user's ") {
		t.Relation(c, owner, noun, c.Subj.Name, 0.9)
	}
	return true
}

// fond takes "into jazz", "a big fan of jazz", "afraid of dogs".
func fond(t *discourse.Talk, c *discourse.Clause, i int) bool {
	w := c.W(i)
	k := i + 1
	switch {
	case w == "scared" || w == "afraid" || w == "terrified":
		if c.W(k) == "of" { // but not "I'm afraid we have to move you"
			t.Fact(c, "preference", "afraid_of", discourse.ObjectOf(c, k+1), true, 0.85)
		}
		return true
	case w != "into" && w != "fond" && (w != "a" || !syntax.StartsWithAny(c.Join(i, i+4)+" ", []string{"a fan of ", "a big fan of ", "a huge fan of "})):
		return false
	}
	for c.W(k) == "big" || c.W(k) == "huge" || c.W(k) == "fan" || c.W(k) == "of" || c.W(k) == "a" {
		k++
	}
	attribute := "likes"
	if c.Neg && !c.NoLonger {
		attribute, c.Neg = "dislikes", false
	}
	t.Fact(c, "preference", attribute, discourse.ObjectOf(c, k), true, 0.85)
	return true
}

// tall takes "1.68 tall", "five foot six".
func tall(t *discourse.Talk, c *discourse.Clause, i int) bool {
	_, counted := syntax.Number(c.W(i))
	foot := c.W(i+1) == "foot" || c.W(i+1) == "feet" || c.W(i+1) == "ft"
	end := len(c.Words)
	if c.W(end-1) == "tall" {
		end--
	} else if !foot {
		return false
	}
	if c.Past || c.Neg || end-i < 1 || end-i > 4 || !counted && !strings.ContainsAny(c.W(i), "0123456789") {
		return false
	}
	return t.Fact(c, "biography", "height", c.Join(i, end), false, 0.85) != nil
}

// employedAs takes "a nurse at St Mary's", "the head of sales".
func employedAs(t *discourse.Talk, c *discourse.Clause, i int) bool {
	w := c.W(i)
	if !((w == "a" || w == "an") && (!c.Neg || c.NoLonger) || w == "the" && role(c, i) || c.W(i+1) == "lead" && leads[w] || w == "head" || w == "in" && c.W(i+1) == "charge") {
		return false
	}
	if role(c, i) {
		_, next := c.Object(i)
		job, firm, at := strings.Cut(c.Trim(i, next), " at ")
		at = at && t.Fact(c, "work", "employer", firm, false, 0.85) != nil
		if f := t.Fact(c, "work", "job", job, false, 0.85); at && !c.Past {
			jobAlone(c, f, "is "+articleAt(c, i)+job)
		}
	}
	return true
}

// andKin takes "… and my daughter Mia" after a clause with the name of another relative, and "my
// wife Lena" before "and".
func andKin(t *discourse.Talk, s syntax.Sentence) bool {
	n := len(t.Out.Candidates)
	first := 0
	for first < len(s.Toks) && (s.At(first) == "and" || s.At(first) == ",") {
		first++
	}
	beside := n > 0 && t.Out.Candidates[n-1].Kind == "relation" || strings.HasPrefix(s.Text[s.End:], " and ") && syntax.ContainsAny(s.Text[s.End:], " are ", " were ", " have ")
	if !beside || len(s.Toks) != first+3 || s.At(first) != "my" && s.At(first) != "our" || !syntax.Kin(s.At(first+1)) || !s.Toks[first+2].Cap || !syntax.NameWord(s.At(first+2)) {
		return false
	}
	c := discourse.Clause{Sentence: s, Subj: t.Self, Kind: 's'}
	t.Relation(&c, t.Self, s.At(first+1), s.Text[s.Toks[first+2].Start:s.Toks[first+2].End], 0.85)
	return true
}

// further reads the names after the one at word i, "called Leo and Mia", "… and my
// daughter Mia"; with a noun it proposes them. It reports whether there are any.
func further(t *discourse.Talk, c *discourse.Clause, i int, owner discourse.Person, noun string, confidence float64) bool {
	some := false
	for k := i + 1; k < len(c.Words); k++ {
		switch {
		case c.W(k) == "," || c.W(k) == "and" || c.Capital(k) && !syntax.NameWord(c.W(k)):
		case c.W(k) == "my" && syntax.Kin(c.W(k+1)) && c.Capital(k+2) && syntax.NameWord(c.W(k+2)):
			if noun != "" {
				noun = c.W(k + 1)
			}
			k++
		case c.Capital(k) && syntax.NameWord(c.W(k)) && (c.W(k-1) == "," || c.W(k-1) == "and" || syntax.Kin(c.W(k-1))):
			if some = true; noun != "" {
				t.Relation(c, owner, noun, c.Cased(k), confidence)
			}
		case c.Capital(k): // a surname
		default:
			return some
		}
	}
	return some
}

// role reports whether words from i name a profession or position.
func role(c *discourse.Clause, i int) bool {
	if w := c.W(i + 1); w == "better" || w == "worse" || w == "good" || w == "bad" || w == "terrible" || w == "great" || w == "brilliant" || w == "lousy" || w == "rubbish" || c.Find(i, len(c.Words), "than") > 0 {
		return false // "your gran's a better driver than you"
	}
	for k := i; k < min(len(c.Words), i+6); k++ {
		w := c.W(k)
		if discourse.Trade(w) || w == "lead" && leads[c.W(k-1)] {
			return true
		}
		if w == "at" || w == "in" || w == "for" || w == "of" || w == "," || w == "who" {
			return false
		}
	}
	return false
}

// leads are things of which somebody can be the lead.
var leads = syntax.Set("team tech design project product group squad engineering")

func ownerOf(p discourse.Person, t *discourse.Talk) (discourse.Person, string) {
	name, noun, _ := strings.Cut(p.Name, "'s ")
	if name == t.Self.Name {
		return t.Self, noun
	}
	return t.Named(name), noun
}

// core proposes what is always worth knowing about the wearer.
func core(t *discourse.Talk, c *discourse.Clause, block, value string) {
	if value == "" {
		return // "My name is"
	}
	if t.Self.Key != "user" {
		if f := t.Fact(c, "biography", "name", value, false, 0.85); f != nil && c.Thing == "" {
			f.Text = t.Self.Name + " is called " + value + "."
		}
		return
	}
	a := t.Base(c, "core", "identity", 0.9)
	a.Block = block
	a.Slot = &abi.Slot{Subject: "user", Attribute: "name", Value: value}
	if value == t.Self.Name {
		a.Text = "The wearer's name is " + value + "." // and not "Mei's name is Mei."
	}
	t.Out.Candidates = append(t.Out.Candidates, a)
}

// unwed ends the speaker's partner, whatever the name: "I'm no longer married", "I'm single again".
func unwed(t *discourse.Talk, c *discourse.Clause, w string) {
	nouns := married[:]
	switch w {
	case "engaged":
		nouns = unmarried[3:] // "fiancé" and "fiancée"
	case "single":
		nouns = append(nouns[:len(nouns):len(nouns)], unmarried[:]...)
	}
	for _, noun := range nouns {
		t.Ended(c, c.Subj, "relation", noun, "", false)
	}
}

// endsIn reports whether the clause's last word is w.
func endsIn(t *discourse.Talk, c *discourse.Clause, w string) bool {
	return discourse.Last(strings.ToLower(c.Raw())) == w
}
