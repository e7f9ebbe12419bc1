package rules

import "strings"

// english applies the rule of the clause's verb.
func (t *talk) english(c *clause) {
	if t.rather(c) {
		return
	}
	if c.past && c.closedOn() {
		c.past = false
	}
	if c.almost() || c.elided() || c.unreal() {
		return
	}
	if (c.modal || c.must || c.intend && c.w(c.vi-2) == "supposed") && c.verb == "take" && !c.past && c.ends != "?" && c.firstTime() == nil {
		if drug, amount := c.medicine(c.vi + 1); drug != "" && amount != "" {
			t.takes(c, c.vi+1) // as the doctor says
			return
		}
	}
	if c.neg && (c.future || c.can) && t.cannotHave(c) || c.modal && c.verb != "be" || t.resumes(c) { // with a modal it is a wish, a possibility
		return
	}
	if next := c.w(c.vi + 1); (c.verb == "be" || c.verb == "get") && (next == "cancelled" || next == "canceled") {
		c.verb = "be" // "got cancelled"
		if c.kind == 'p' && !c.own {
			c.kind, c.thing, c.subj = 't', strings.ToLower(c.subj.name), t.self // "Yoga is cancelled": no person is
		}
	}
	t.over(c)
	if t.absent(c) || t.lending(c) || t.agreedOn(c) || t.reschedule(c) || t.toldOf(c) {
		return
	}
	if t.reacts(c) || t.ails(c) || t.expects(c) || t.christens(c) || t.runsOut(c) {
		return
	}
	if c.kind == 't' {
		t.aboutThing(c)
		return
	}
	if c.ends == "?" || t.intends(c) {
		return
	}
	timed := c.firstTime()
	if timed != nil && c.becauseBefore(timed) {
		timed = nil // "I'm calling because she is away tomorrow"
	}
	if (c.verb == "book" || c.verb == "schedule" || c.verb == "arrange" || c.verb == "reserve") && (c.past || c.perfect) && !c.neg && timed != nil && timed.hasDay && (c.at(timed.first) == "for" || c.bookedIn() || timed.clock && (c.tableFor() || c.eventAt() > c.vi)) {
		c.past, c.perfect = false, false // done already, for a day to come
		t.planAt(c, timed)
		return
	}
	if bodily[c.verb] && c.ing && (timed == nil || !timed.hasDay) || c.intend && c.verb == "be" && (c.w(c.vi+1) == "a" || c.w(c.vi+1) == "an") && trade(last(strings.ToLower(o2(c, c.vi+1)))) {
		return // "I'm starving by eleven", "wants to be a pilot this week"
	}
	if c.past && c.future { // "I was going to see Ines, but she cancelled"
		return
	}
	switch {
	case c.intend && !c.past || c.future || c.must && !c.past:
		t.plan(c, timed)
		return
	case c.ing && !c.past && !c.perfect && timed != nil && timed.unix() > t.ev.At:
		t.plan(c, timed)
		return
	}
	if t.never(c) || t.wantsMe(c, c.vi+1) {
		return
	}
	before := len(t.out.Candidates)
	t.personal(c)
	if len(t.out.Candidates) > before {
		return
	}
	switch {
	case c.must && c.past: // promised to, decided to
		t.plan(c, timed)
	case (c.past || c.perfect && !c.ing && (timed != nil || deed(c.verb) || c.verb == "die" || c.verb == "get" && attained[c.w(c.vi+1)] || c.momentous() || c.befell())) && !c.neg:
		t.happened(c, timed)
	case c.verb == "be" && feelings[c.w(c.vi+1)] && c.eventAt() < 0 && timed != nil && timed.unix() > t.ev.At: // "I'm nervous about tomorrow"
	case timed != nil && timed.hasDay && timed.unix() > t.ev.At && !c.neg && c.verb != "owe":
		t.plan(c, timed)
	case !c.past && !c.neg && !c.perfect && c.kind != 'y':
		t.habit(c)
	}
	if len(t.out.Candidates) == before {
		t.activity(c)
	}
}

// bookedIn reports "booked the dog in for a trim".
func (c *clause) bookedIn() bool {
	k := c.find(c.vi+1, len(c.words), "in")
	return k > c.vi && (k+1 == len(c.words) || c.w(k+1) == "for" || c.w(k+1) == "with" || c.w(k+1) == "at")
}

// bodily verbs say how somebody feels, and are nothing that one plans.
var bodily = set("starve freeze ache yawn flag die")

// becauseBefore reports whether a time is that of the reason, after the verb.
func (c *clause) becauseBefore(w *when) bool {
	k := c.find(c.vi+1, len(c.words), "because")
	return k >= 0 && c.words[k].tok < w.first
}

// firstTime is the first time in the clause that is a single one.
func (c *clause) firstTime() *when {
	for i := range c.whens {
		w := &c.whens[i]
		if w.habit || w.since {
			continue
		}
		for k := i + 1; k < len(c.whens) && w.hasDay && (!w.clock || w.byPart); k++ {
			if o := c.whens[k]; o.clock && !o.byPart && o.day == w.day {
				m := *w
				m.clock, m.minute, m.sure, m.until = true, o.minute, o.sure, o.until
				return &m
			}
		}
		return w
	}
	return nil
}
