package rules

import "strings"

// A time has the tense of the clause that it stands in. "Anna said the wedding is on Monday" tells
// what was said, and of a Monday that is to come.

// subclause is the clause within a clause in which a time stands.
type subclause struct {
	toCome bool // its verb is in the present or the future
	denied bool // it does not say that something is so then: denied, or asked
	asked  bool // it says what somebody is to do
}

// reports are verbs after which a clause of its own says what somebody said.
var reports = set("say tell mention announce confirm write text email hear learn read promise explain reply answer add warn remind insist note show find notice realise realize discover remember think know")

// innerOf reads the clause within c in which w stands: the last verb with a subject between the
// verb of c and w has its tense.
func (c *clause) innerOf(w *when) (in subclause) {
	if c.vi >= len(c.words) || w.first <= c.words[c.vi].tok {
		return in
	}
	seen, leads := false, c.leads(w)
	for k := c.vi + 1; k < len(c.words); k++ {
		if c.words[k].tok > w.first && (seen || !leads) {
			break
		}
		switch s := c.w(k); {
		case s == "if" || s == "whether" || s == "when" || s == "unless" || s == "maybe" || s == "might" || s == "could" || s == "not" || s == "never" || s == "no":
			in.denied = true
		case s == "to" && ordered[c.verb] && c.baseVerb(k+1): // "told me to send it by Friday"
			in.toCome, in.asked, seen = true, true, true
		case c.presentVerb(k, w):
			in.toCome, seen = true, true
		case c.pastVerb(k):
			in.toCome, seen = false, true
		}
		if seen && c.words[k].tok > w.first {
			break
		}
	}
	return in
}

// leads reports a time that stands before the verb of its clause: "told me that on Friday he is
// off", "said Friday is fine".
func (c *clause) leads(w *when) bool {
	if c.at(w.first-1) == "that" {
		return true
	}
	switch c.at(w.next) {
	case "is", "was", "works", "suits", "will", "would":
		return reports[c.verb] && !preposition(c.at(w.first))
	}
	return false
}

// ordered are verbs by which somebody is to do something.
var ordered = set("tell ask remind invite")

func (c *clause) baseVerb(k int) bool {
	l, past, ing := lemma(c.w(k))
	return l == c.w(k) && !past && !ing || c.w(k) == "be"
}

// presentVerb reports a verb in the present or the future at word k, after the verb of the clause
// and before the time w. Where nobody reports anything, it is one to which the time belongs: "the
// wedding that is on Saturday", "who is moving in January".
func (c *clause) presentVerb(k int, at *when) bool {
	w, before, says := c.w(k), c.w(k-1), reports[c.verb]
	next := c.skip(k + 1)
	_, past, ing := lemma(c.w(next))
	switch w {
	case "will", "can", "must":
		return true
	case "is", "are", "am":
		if k > 1 && c.words[k].tok == c.words[k-1].tok && preposition(c.w(k-2)) {
			return false // at Anna's
		}
		return says || ing || next >= len(c.words) || c.words[next].tok > at.first
	case "would", "might", "could", "should":
		return says
	case "has", "have":
		return says && (c.w(next) == "got" || c.w(next) != "been" && !past && !pastForm(c.w(next)))
	}
	l, past, ing := lemma(w)
	if l == "" || past || ing || !says || determiner(before) || preposition(before) || k == c.vi+1 {
		return false
	}
	if l == w {
		return before == "they" || before == "we" || before == "i" || strings.HasSuffix(before, "s") && !personal(before) && !auxiliary(before)
	}
	_, event := eventNoun(trimS(w))
	return !event && c.find(c.vi, k-c.vi, "about") < 0
}

// pastVerb reports a verb in the past at word k, and no participle that says how something is.
func (c *clause) pastVerb(k int) bool {
	_, past, _ := lemma(c.w(k))
	return (past || pastForm(c.w(k))) && !presentState(c.w(k-1), c.w(k-2))
}

// skip is the first word from k that is no adverb.
func (c *clause) skip(k int) int {
	for adverb(c.w(k)) || c.w(k) == "not" {
		k++
	}
	return k
}

// pastTime puts a time of a clause in the past into the past, unless it is of a clause within that is
// in the present or the future.
func (c *clause) pastTime(w *when, now moment) {
	if to := c.movedTo(now); !c.aimed(w) && !c.calledOffOn(w) && !c.innerOf(w).toCome && (to == nil || w.first > to.first) {
		w.past(now)
	}
}

// calledOffOn reports whether w is the weekday of something that is changed before it comes: "my shift on Saturday got
// swapped".
func (c *clause) calledOffOn(w *when) bool {
	if c.kind != 't' || !w.weekday || c.vi >= len(c.words) || w.next > c.words[c.vi].tok {
		return false
	}
	for k := c.vi; k < min(len(c.words), c.vi+4); k++ {
		if changed[c.w(k)] {
			return true
		}
	}
	return false
}

var changed = set("swapped switched changed cancelled canceled postponed rescheduled scrapped")

// aimed reports whether w is a day that something was done for: "I bought tickets for Friday".
func (c *clause) aimed(w *when) bool {
	if c.at(w.first) == "on" && w.weekday && (c.at(w.first-1) == "double-booked" || c.at(w.first-2) == "double-booked") {
		return true
	}
	return c.at(w.first) == "for" && (w.weekday || w.assumed > 0 && w.grain == 'd') && !w.since && !w.habit
}

// pastTimes does so with all times of a clause.
func (c *clause) pastTimes(now moment) {
	for i := range c.whens {
		if w := &c.whens[i]; w.hasDay && !w.habit {
			c.pastTime(w, now)
		}
	}
}

// toldOf takes what somebody said that will be: "Ben said he is moving to Lisbon in January". It
// is a plan, as "Ben says …" is.
func (t *talk) toldOf(c *clause) bool {
	if !c.past || c.neg || c.modal || c.usedTo || c.ends == "?" || !reports[c.verb] || c.conditional() {
		return false
	}
	var to *when
	for i := range c.whens {
		w := &c.whens[i]
		if in := c.innerOf(w); w.hasDay && !w.habit && !w.since && in.toCome && !in.denied && !in.asked {
			to = w
		}
	}
	if to == nil {
		return false
	}
	c.pastTimes(t.now) // "told me on Tuesday that …"
	d := *c
	d.past = false
	made := len(t.out.Candidates)
	t.planAt(&d, to)
	return len(t.out.Candidates) > made
}

// movedTo is the day to come to which a clause says that something was moved, "the choir practice
// moved from Tuesday to Friday"; nil where there is none.
func (c *clause) movedTo(now moment) *when {
	if c.kind != 't' || c.neg || c.modal || !c.wasMoved() {
		return nil
	}
	for i := range c.whens {
		if w := &c.whens[i]; c.at(w.first) == "to" && w.hasDay && !w.habit && w.day >= now.day {
			return w
		}
	}
	return nil
}

// wasMoved reports a verb of moving in the past, or after "was" and "has been".
func (c *clause) wasMoved() bool {
	if c.verb != "be" && c.verb != "get" {
		return moves(c.verb) && (c.past || c.perfect)
	}
	for k := c.vi + 1; k < min(len(c.words), c.vi+4); k++ {
		if l, past, _ := lemma(c.w(k)); past && moves(l) {
			return true
		}
	}
	return false
}
