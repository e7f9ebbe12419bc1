package rules

import "strings"

// Days that are named without saying which one, "on a Friday", or once for several clauses.

// someWeekday reads "a Friday" after "on" at token k. What one does then is done each week, and of what was or is to be
// nobody can say on which day.
func (w *when) someWeekday(s sentence, k int, now moment) int {
	verb := s.at(k - 2)
	_, rest := contraction(verb)
	w.set(now.day, 'd')
	if s.tells() || rest == "is" || auxiliary(verb) || s.once() {
		w.void, w.vague = true, true
	} else {
		w.habit = true
	}
	if _, ok := partsOfDay[s.at(k+2)]; ok {
		return 3
	}
	return 2
}

// pastBefore reports whether the verb that a time at token k belongs to, the last one before it, is of the past: "it went
// out on the twentieth". By some verbs one arranges what is to come.
func (s sentence) pastBefore(k int) bool {
	for i := k - 1; i >= 0; i-- {
		w, before := s.at(i), s.at(i-1)
		base, rest := contraction(w)
		switch {
		case base == "will" || rest == "will" || w == "gonna" || rest == "would", base == "could" || base == "would" || base == "might" || base == "should":
			return false
		}
		l, past, ing := lemma(w)
		switch {
		case l == "" && !pastForm(w):
			continue
		case ing:
			return before == "was" || before == "were" || before == "been"
		case past || l == "":
			return w != "been" && !arranged[l] && !presentState(before, s.at(i-2))
		case before == "to" || determiner(before) || preposition(before) || auxiliary(before) || verbish(before) && !subjectPronoun(before):
			continue // "didn't go", "bought presents"
		}
		return false
	}
	return false
}

// wasBefore is pastBefore for what took place then: "has signed up for a race in May" is none, and no offer or change.
func (s sentence) wasBefore(k int) bool {
	for i := k - 1; i >= 0; i-- {
		w := s.at(i)
		base, rest := contraction(w)
		if rest == "have" || base == "have" || base == "has" || w == "to" || w == "for" {
			return false
		}
		if l, past, _ := lemma(w); past || pastForm(w) {
			return !moves(l) && !upcoming[l] && s.pastBefore(k)
		}
	}
	return false
}

// upcoming are verbs after which a date is of what is to come.
var upcoming = set("get sign enrol enroll register apply accept agree decide ask offer promise extend confirm receive enter say tell announce want hope mean")

// arranged are verbs of what is done for a day to come.
var arranged = set("book reserve order buy plan schedule invite organise organize")

// held is a day that a clause about the speaker or the listener names, which holds for the later clauses: "I'm off tomorrow,
// I'm seeing the dentist at three". A day that somebody else's clause names need not.
type held struct {
	when
	end int // the byte at which the clause ends
	own bool
}

// hold keeps the day that a clause names for those that follow it in the sentence.
func (t *talk) hold(c *clause) {
	for i := range c.whens {
		w := c.whens[i]
		if aimed := c.aimed(&w) && w.day > t.now.day; w.hasDay && !w.habit && !w.since && w.grain == 'd' && w.last == 0 && (aimed || !c.past && !c.perfect) && c.text == t.ev.Text {
			t.held = append(t.held, held{w, c.end, c.kind == 's' || c.kind == 'w' || c.kind == 'y'})
		}
	}
}

// askedDay is the one day that the question just before names: "Wednesday at three?", "I have a call at four".
func (t *talk) askedDay() []held {
	b := t.justSaid()
	if b == nil || t.rejoined {
		return nil
	}
	all := t.sentencesOf(b)
	if len(all) == 0 || all[len(all)-1].ends != "?" {
		return nil
	}
	switch aux, _ := contraction(all[len(all)-1].at(0)); aux {
	case "did", "was", "were", "have", "has":
		return nil
	}
	var day *when
	for _, w := range findWhens(all[len(all)-1], t.now) {
		if w.hasDay && day == nil && !w.habit && !w.since && w.grain == 'd' && w.last == 0 && w.day >= t.now.day {
			day = &w
		} else if w.hasDay {
			return nil
		}
	}
	if day == nil {
		return nil
	}
	return []held{{*day, 0, true}}
}

// heldDay is the day that holds for a clause: of the last clause before it that names one.
func (t *talk) heldDay(c *clause) *held {
	for i := len(t.held) - 1; i >= 0 && c.text == t.ev.Text; i-- {
		if t.held[i].end <= c.start {
			return &t.held[i]
		}
	}
	return nil
}

// onHeldDay puts the hours of a clause that names no day on the day that was named before it.
func (t *talk) onHeldDay(c *clause) {
	h := t.heldDay(c)
	if h == nil || !h.own || c.past || c.perfect {
		return
	}
	if attr, _ := c.eventIn(); h.end == 0 && attr == "" && !c.future && !c.must && !c.ing {
		return // "are you coming on Friday?", "I get up at six"
	}
	for i := range c.whens {
		if w := &c.whens[i]; w.hasDay || w.habit || w.byPart || c.leadsUntil(w) {
			return
		}
	}
	for i := range c.whens {
		c.whens[i].onDay(&h.when)
	}
}

// undatedHour reports whether a time of day is of no day that one could name: of what one does each day, of what was and
// would be later than now today, or of another day than today.
func (t *talk) undatedHour(c *clause, w *when) bool {
	if c.habitual() || c.hasHabit() || c.verb == "work" && w.until > 0 || c.past && !c.modal && w.minute > t.now.minute || t.heldDay(c) != nil {
		return true
	}
	for i := range c.whens {
		if o := &c.whens[i]; c.at(o.first-1) == "again" && !c.past && !c.future && !c.ing {
			return true // "comes at eight and then again at six"
		}
	}
	return false
}

// itIsDay reports "it's the twelfth" at the article k, with no noun that the number would count.
func itIsDay(s sentence, k int) bool {
	if before := s.at(k - 2); s.at(k-1) != "it's" || k > 1 && before != "," && before != "and" && before != "but" {
		return false
	}
	d, ok := ordinal(s.at(k + 1))
	return ok && d > 3 && endsDay(s.at(k+2))
}

// endsDay reports what may follow "is the eleventh", where that is a day and no place in a list.
func endsDay(w string) bool {
	return w == "" || w == "," || w == "." || w == "at" || w == "now" || w == "then" || w == "instead"
}

// longAgo reports what was so at some time that the words do not say, and not just now: "my first car was a Mini", "my parents
// met on a ferry", "I played the cello till I was sixteen", "I had Covid twice".
func (c *clause) longAgo() bool {
	next := c.w(c.vi + 1)
	_, done, _ := lemma(next)
	switch {
	case strings.HasPrefix(c.thing, "first "), c.verb == "be" && c.past && c.kind == 'w' && c.atSchool():
		return true
	case (c.verb == "meet" || c.verb == "marry") && (c.thing == "parents" || c.thing == "grandparents"), c.verb == "be" && c.past && c.own && !done && !pastForm(next) && strings.HasPrefix(c.thing, "old "):
		return true
	}
	for i := c.vi + 1; i < len(c.words); i++ {
		switch c.w(i) {
		case "twice":
			return true
		case "till", "until", "since":
			if subjectPronoun(c.w(i+1)) && (c.w(i+2) == "was" || c.w(i+2) == "were") {
				return true
			}
		}
	}
	return false
}

// atSchool reports "at uni" or "in college" after the verb.
func (c *clause) atSchool() bool {
	for i := c.vi + 1; i < len(c.words); i++ {
		if schooldays[c.w(i)] && (c.w(i-1) == "at" || c.w(i-1) == "in") {
			return true
		}
	}
	return false
}
