package rules

import "strings"

// Whoever leaves a firm leaves what was said of "my employer", too: no slot ends it. So what an
// employer does now is not noted, and what it did has the firm's name where the talk gives it.

// employers are words by which one speaks of the firm that one works for.
var employers = set("employer company firm workplace work")

// employersZh are the same in Chinese.
var employersZh = [...]string{"我公司", "我们公司", "我的公司", "我单位", "我们单位", "我的单位", "咱们公司", "咱们单位", "公司给我", "单位给我", "公司让我", "单位让我", "公司允许", "老板让我", "老板允许"}

// ofEmployer reports what is said of an employer that may change.
func (v *view) ofEmployer() bool {
	if containsAny(v.raw, employersZh[:]...) {
		return true
	}
	return v.any(func(i int) bool {
		return (v.words[i] == "my" || v.words[i] == "our" || v.words[i] == "his" || v.words[i] == "her") && employers[v.at(i+1)] ||
			v.words[i] == "work" && v.at(i-1) == "at" && v.at(i+1) == ""
	}) > 0
}

// theFirm is a statement in which the speaker's employer has its name, where the text gave it.
func (t *talk) theFirm(said string) string {
	if t.firm == "" {
		return said
	}
	for _, w := range [...]string{"employer", "company", "firm", "workplace"} {
		for _, end := range [...]string{" ", ".", ",", "'"} {
			said = strings.ReplaceAll(said, possessive(t.self.name)+" "+w+end, t.firm+end)
		}
	}
	for _, what := range [...]string{"公司", "单位"} {
		for _, of := range [...]string{"", "他们", "的"} {
			said = strings.ReplaceAll(said, t.self.name+of+what, t.firm)
		}
	}
	return said
}

// mineIs takes what "my job", "my employer", "my office" and "my home" are: a value of the slot's
// kind, and not how they are ("my job is boring", "my house is a mess"), which would end the last
// value. o is the object at word i. It reports whether the clause is about one of them.
func (t *talk) mineIs(c *clause, i int, o string) bool {
	if c.verb != "be" {
		return false
	}
	switch c.thing {
	case "job", "title", "job title", "profession":
		switch next := c.w(i); {
		case c.thing == "job" && (next == "at" || next == "with") && c.firstTime() == nil:
			if firm := o2(c, i+1); employs(firm, t.plain) {
				t.fact(c, "work", "employer", firm, false, 0.88)
			}
		case c.thing != "job" || role(c, i) || next == "to":
			t.fact(c, "work", "job", o, false, 0.85)
		}
	case "address", "home", "flat", "house", "hometown":
		if o == "" || c.w(i) == "on" {
			return false
		}
		in := c.w(i) == "in" || c.w(i) == "at"
		where := strings.TrimPrefix(strings.TrimPrefix(o, "in "), "at ")
		if !in && !c.capital(i) && !capitalised(o) && !strings.ContainsAny(o, "0123456789") && !(t.plain && c.thing != "house" && c.thing != "flat" && !c.how(i)) || abodeOf(where, t.plain) == noAbode && c.thing != "address" {
			return in // "in a mess"
		}
		attr := "home"
		if c.thing == "hometown" {
			attr = "origin"
		}
		t.fact(c, "residence", attr, where, false, 0.88)
	case "office", "employer", "company", "firm":
		name := i
		if c.w(i) == "called" || c.w(i) == "named" {
			name++
			o = o2(c, name)
		}
		if determiner(c.w(name)) {
			name++
		}
		place := c.w(i) == "in" || c.w(i) == "at"
		if c.thing == "office" && !place && c.w(i) != "on" || c.thing != "office" && !c.capital(name) && (determiner(c.w(i)) && !employs(o, false) || !determiner(c.w(i)) && (!t.plain || c.how(i) || !employs(o, true))) {
			return false
		}
		attr := c.thing
		if attr == "firm" {
			attr = "company"
		}
		t.fact(c, "work", attr, strings.TrimPrefix(strings.TrimPrefix(o, "in "), "at "), false, 0.8)
	default:
		return false
	}
	return true
}

// outOfWork ends the speaker's employer, whoever it was: "I quit my job", "I got laid off". What was
// long ago ends nothing that was said since.
func (t *talk) outOfWork(c *clause) {
	if w := c.firstTime(); c.subj.key != "" && c.kind != 'w' && (w == nil || w.hasDay && !w.habit && w.day > t.now.day-60) {
		t.ended(c, c.subj, "work", "employer", "", false)
	}
}

// leftFirm takes "I left Acme", "I left Acme for Bosch", "I left the company last month": whatever is
// called so, an employer of that name ends where there is one. Whoever leaves a place is back the
// next day. It happened, too.
func (t *talk) leftFirm(c *clause, i int) bool {
	if c.verb != "leave" || c.neg || !c.past && !c.perfect || c.kind != 's' && c.kind != 'p' || c.ends == "?" {
		return false
	}
	first := i
	if c.w(i) == "the" || c.w(i) == "my" {
		first++
	}
	next := first
	for c.capital(next) && nameWord(c.w(next)) || next > first && c.w(next) == "of" && c.capital(next+1) {
		next++
	}
	named := next > first
	if !named {
		next++
	}
	firm := c.join(first, next)
	if w := c.firstTime(); w != nil && (!w.hasDay || w.clock || w.habit || w.grain == 'd' || w.day < t.now.day-366) {
		return false
	}
	switch c.w(next) {
	case "", ",":
	case "for", "after", "to":
		if !c.capital(next+1) && c.w(next+1) != "good" && c.w(next+1) != "join" && c.w(next+1) != "start" && c.find(next, 4, "years") < 0 && c.find(next, 4, "months") < 0 {
			return false
		}
	default:
		return false
	}
	switch {
	case first > i && (firm == "employer" || firm == "company" || firm == "firm"):
		t.outOfWork(c)
	case named && sexOf("", c.w(first)) == 0:
		t.ended(c, c.subj, "work", "employer", firm, false)
		if c.w(next) == "to" && c.w(next+1) == "join" {
			t.joined(c, next+2, 0.85)
		}
	default:
		return false
	}
	if made := len(t.out.Candidates); made > 0 && t.out.Candidates[made-1].Negates {
		a := t.base(c, "episodic", "event", 0.65)
		a.EventType, a.Actor, a.Started = "event", c.subj.name, t.toldAt(c.sentence)
		if w := c.firstTime(); w != nil {
			w.past(t.now)
			a.Confidence, a.Started = a.Confidence+0.2, moment{w.day, 0, t.now.offset}.unix()
		}
		t.out.Candidates = append(t.out.Candidates, a)
	}
	return true
}

// doneTo takes "the doctor took me off metformin", "Acme laid me off".
func (t *talk) doneTo(c *clause, i int) {
	if c.w(i) != "me" || c.kind == 's' {
		return
	}
	firm := c.thing
	if c.kind == 'p' {
		firm = c.subj.name
	}
	fired := c.verb == "fire" || c.verb == "sack" || c.verb == "dismiss" || (c.verb == "let" && c.w(i+1) == "go" || c.verb == "lay" && c.w(i+1) == "off")
	switch {
	case c.verb == "take" && c.w(i+1) == "off":
		if drug := o2(c, i+2); medicineNamed(drug) {
			t.noMedicine(c, t.self, drug)
		}
	case fired && pronoun(firm):
		if from, ok := c.after(i, 3, "from", "at"); ok && employs(from, t.plain) {
			t.ended(c, t.self, "work", "employer", from, false)
		}
	case fired && c.own && (employers[firm] || c.kind == 'p'):
		c.subj = t.self
		t.outOfWork(c)
	case fired && firm != "":
		t.ended(c, t.self, "work", "employer", firm, false)
	}
}

// how reports whether word i says how a thing is, and not what or where it is.
func (c *clause) how(i int) bool {
	w := c.w(i)
	_, past, ing := lemma(w)
	return feelings[w] || opinions[w] || pastForm(w) || past || ing || determiner(w) || preposition(w)
}
