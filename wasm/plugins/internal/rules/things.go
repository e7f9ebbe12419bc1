package rules

import (
	"slices"
	"strings"
)

// whereabouts: "I left my keys in the drawer", "we keep the spare key under the pot".
func (t *talk) whereabouts(c *clause, i int) {
	if c.w(i) == "down" && determiner(c.w(i+1)) {
		i++ // "I put down the keys on the table"
	}
	if preposition(c.w(i)) || c.w(i) == "on" || c.w(i) == "up" || c.w(i) == "together" || c.w(i) == "it" {
		return
	}
	for k := i + 1; k < len(c.words); k++ {
		switch c.w(k) {
		case "in", "on", "under", "behind", "at", "by", "next", "inside", "above", "beside", "below", "near":
			what := strings.TrimSuffix(c.trim(i, k), " down")
			shown := what
			if w := c.w(i); (w == "his" || w == "her" || w == "their") && c.kind == 'p' { // "Leo left his jacket at school"
				shown = c.trim(i+1, k)
				what = possessive(c.subj.name) + " " + shown
			}
			where := strings.TrimSuffix(strings.TrimSpace(c.join(k, c.whereEnds(k))), " again")
			if personal(c.w(i)) || unleft[last(strings.ToLower(what))] || manners[where] || c.w(k) == "at" && counts(c.w(k+1)) || c.w(k) == "in" && (c.w(k+1) == "on" || c.w(k+1) == "for" || c.w(k+1) == "a" && moods[c.w(k+2)]) {
				return // "left school at sixteen", "put an offer in on the flat"
			}
			if what == "" || figurative[c.w(len(c.words)-1)] || vague(what) || len(c.words)-k < 2 || c.neg {
				return
			}
			owner := c.subj
			c.subj = person{what, strings.ToLower(what)}
			f := t.fact(c, "place", "location", where, false, 0.82)
			if c.subj = owner; f != nil {
				f.Entities = t.entities(c)
				f.Subject, f.Actor, f.Text = shown, owner.name, t.rewrite(c)
			}
			return
		}
	}
}

// whereEnds is the word after a place that begins at word k: what follows says why it is there, what somebody is to do
// with that, or where something else is, "in the safe and the cash in the drawer".
func (c *clause) whereEnds(k int) int {
	for i := k + 2; i < len(c.words); i++ {
		switch w := c.w(i); {
		case w == "just" || w == "in" && c.w(i+1) == "case":
			return i
		case w == "and" && !placing(c.w(i+1)):
			for j := i + 2; j < len(c.words); j++ {
				if placing(c.w(j)) {
					return i
				}
			}
		}
	}
	return len(c.words)
}

// unleft is what one leaves, puts and keeps, and what lies nowhere for that.
var unleft = set("school uni university college meeting party job work room heart bet tenner fiver money pressure blame emphasis faith trust offer end stop deposit")

// manners are how a thing is left or put, and moods how somebody leaves.
var (
	manners = map[string]bool{"on the market": true, "in tears": true, "in silence": true, "in peace": true, "in my name": true, "in our name": true, "on silent": true, "on hold": true, "on the horse": true,
		"in danger": true, "at the altar": true, "on edge": true, "on fire": true, "in charge": true, "on time": true, "in time": true, "at once": true}
	moods = set("huff hurry rush mood panic state mess bit minute while")
)

// parked takes "I'm parked on level three".
func (t *talk) parked(c *clause, i int) bool {
	if c.w(i) != "parked" || c.kind != 's' || !preposition(c.w(i+1)) {
		return false
	}
	owner := c.subj
	c.subj = person{possessive(owner.name) + " car", possessive(owner.key) + " car"}
	where := c.join(i+1, len(c.words))
	f := t.fact(c, "place", "location", where, false, 0.82)
	if f != nil {
		f.Text = sentenceCase(c.subj.name + " is parked " + where)
	}
	if c.subj = owner; f != nil {
		f.Entities = t.entities(c)
	}
	return true
}

// aboutThing takes statements whose subject is no person: an appointment, a
// thing's place, "my favourite colour", "my birthday".
func (t *talk) aboutThing(c *clause) {
	if c.ends == "?" {
		return
	}
	i := c.vi + 1
	for c.verb == "be" && (c.w(i) == "not" || adverb(c.w(i))) {
		i++
	}
	if c.nthTime() || t.anniversary(c) || c.own && t.mine(c, i) || t.attribute(c, i) || t.they(c) || t.measured(c, i) || t.lies(c) || t.fails(c, i) || t.wantsMe(c, i) || t.needed(c, i) || t.choreDay(c, i) || t.thereIs(c, i) || t.everyWeek(c, i) || t.cameThrough(c, i) || t.scheduled(c, i) {
		return
	}
	w := c.firstTime()
	switch {
	case !pronoun(c.thing) && c.momentous():
		t.happened(c, w)
	case c.verb != "be" || c.modal && c.neg || c.past:
		if c.past && w != nil && w.hasDay && !pronoun(c.thing) {
			t.happened(c, w)
		}
	case !pronoun(c.thing):
		t.thingAt(c, i)
	case !t.placed(c, i) && !t.turn(c, w):
		t.itIs(c, w)
	}
}

// nthTime reports "that's the second time this week that the train was late", which is no appointment.
func (c *clause) nthTime() bool {
	i := c.vi + 2
	_, nth := ordinal(c.w(i))
	return pronoun(c.thing) && c.verb == "be" && nth && c.w(i-1) == "the" && c.w(i+1) == "time"
}

// cameThrough takes what happened to a thing, of itself: it was sold, and a visa came through.
func (t *talk) cameThrough(c *clause, i int) bool {
	sold := c.soldFor(i)
	came := c.own && !c.neg && (c.verb == "come" && (c.past || c.perfect) && c.w(i) == "through" || c.verb == "be" && c.w(i) == "come" && c.w(i+1) == "through")
	if !sold && !came {
		return false
	}
	a := t.base(c, "episodic", "event", 0.7)
	if a.EventType, a.Started = "event", t.toldAt(c.sentence); sold {
		a.EventType = "sale"
	}
	t.out.Candidates = append(t.out.Candidates, a)
	return true
}

// scheduled takes for when a thing is planned, due or booked, and that it is cancelled.
func (t *talk) scheduled(c *clause, i int) bool {
	w := c.firstTime()
	attr, _ := c.eventIn()
	if t.dayAt(c, w) {
		return true
	}
	be, next := c.verb == "be", c.w(i)
	if be && (closing[next] || next == "away") && c.eventAt() > i {
		attr = "" // "the school is closed on Monday for a training day"
	}
	booked := w != nil && (next == "booked" || next == "scheduled" || next == "planned") && c.at(w.first) == "for" && !c.neg
	switch {
	case be && (next == "due" || next == "up" && i+1 == len(c.words) || booked && attr == "") && w != nil && w.hasDay && !w.habit && !c.past && !pronoun(c.thing):
		c.subj = t.self
		t.planAt(c, w)
	case be && ((next == "cancelled" || next == "canceled") && (attr != "" || t.inPlans(c)) || attr != "" && c.calledOff(i)):
		if attr == "" {
			attr = c.thing
		}
		if !conditioned(c.sentence) {
			t.cancelled(c, attr)
		}
	case be && w != nil && w.hasDay && !c.past && !c.neg && (next == "cancelled" || next == "canceled" || next == "off" && strings.HasSuffix(c.thing, "ing")) && c.words[i].tok == len(c.toks)-1-(w.next-w.first):
		t.asSaid(c) // "swimming's cancelled today", of which no plan is known
	case attr != "" && be && profession(last(c.thing)) && next != "" && !preposition(next) && next != "now" && next != "due" && next != "booked" && next != "set": // "the dentist is closed on Friday"
	case attr != "" && w != nil && !c.past && (be || begins[c.verb]) && t.eventIs(c, w, attr):
	case w != nil && w.hasDay && !w.habit && !c.past && !c.neg && !pronoun(c.thing) && (!be || c.must) && w.unix() > t.ev.At:
		subject := c.subj
		if c.subj = t.self; t.other(t.whose(c)) {
			c.subj = t.whose(c).person // "my sister's flight lands at ten"
		}
		t.planAt(c, w)
		c.subj = subject
	default:
		return false
	}
	return true
}

// begins are what an event does at its time.
var begins = set("start begin leave land depart arrive take happen open")

// eventIs takes the time of an event, unless it is one of every week.
func (t *talk) eventIs(c *clause, w *when, attr string) bool {
	if whose := t.whose(c); t.other(whose) {
		if !whose.known {
			return true
		}
		c.own, c.subj = true, whose.person
	}
	if w.habit || t.retimed(c, attr) {
		return !w.habit
	}
	if o, known := t.find(strings.ReplaceAll(attr, "_", " "), attr); known && !w.hasDay && (!c.own || o.subject == c.subj.key) {
		w.set(o.day, 'd')
	} else if !w.hasDay {
		w.set(t.now.day, 'd')
	}
	if !c.own {
		c.subj = t.self
	}
	t.planAt(c, w)
	return true
}

// thingAt takes where a thing is: "my keys are in the drawer", "the car is with the mechanic".
func (t *talk) thingAt(c *clause, i int) {
	if c.w(i) == "parked" {
		i++
	}
	where := strings.TrimRight(c.join(i, len(c.words)), " ,")
	switch w := c.w(i); w {
	case "with":
		if attr, _ := c.eventIn(); attr == "" && findable(c.thing) && (c.capital(i+1) || determiner(c.w(i+1)) && (keepers[c.w(i+2)] || kin(c.w(i+2)) || trade(c.w(i+2)))) {
			t.locatedAt(c, where)
		}
	case "in", "on", "under", "behind", "at", "next", "opposite", "inside", "near", "above", "beside", "upstairs", "downstairs", "across":
		if (len(c.words)-i >= 2 || w == "upstairs" || w == "downstairs") && !meal(c.thing) && !figurative[c.w(len(c.words)-1)] && !figurative[c.w(i+1)] &&
			len(strings.Fields(c.thing)) <= 5 && where != "at all" && where != "on" && c.w(i+1) != "and" && c.w(i+1) != "again" && !dated(where) {
			t.locatedAt(c, where)
		}
	}
}

// soldFor reports whether a clause says what something was sold for: "the old
// Volvo went for four thousand". "The run went for two hours" does not.
func (c *clause) soldFor(i int) bool {
	if c.verb != "go" || !c.past || c.neg || c.w(i) != "for" || pronoun(c.thing) || len(c.whens) > 0 {
		return false
	}
	for i++; adverb(c.w(i)) || c.w(i) == "about" || c.w(i) == "over" || c.w(i) == "under"; i++ {
	}
	if _, ok := number(c.w(i)); !ok && !numeric(c.w(i)) {
		return false
	}
	switch l := c.w(len(c.words) - 1); strings.TrimSuffix(l, "s") {
	case "hour", "minute", "day", "week", "month", "year", "second", "mile", "km", "kilometre", "kilometer", "metre", "lap", "round", "time", "people", "walk", "swim", "drive", "ride", "run":
		return false
	}
	return true
}

// inPlans reports whether a plan that is known is of the clause's subject: yoga, of "I have yoga at
// six", and neither milk, of "a meeting about milk", nor gas, of "a gas engineer".
func (t *talk) inPlans(c *clause) bool {
	if c.thing == "" || pronoun(c.thing) || vague(c.thing) || strings.Contains(c.thing, " ") {
		return false
	}
	p, known := t.find(c.thing)
	words := strings.Fields(strings.ToLower(p.label))
	k := slices.Index(words, c.thing)
	if !known || k < 0 || k+1 < len(words) && !preposition(words[k+1]) {
		return false
	}
	return !slices.ContainsFunc(words[:k], func(w string) bool { return preposition(w) && w != "to" })
}

// calledOff reports whether an event is "off" at word i. A train, milk or a doctor is off without
// being cancelled.
func (c *clause) calledOff(i int) bool {
	noun := last(c.thing)
	if c.w(i) != "off" || i+1 < len(c.words) && c.w(i+1) != "," && c.words[i+1].tok == c.words[i].tok+1 {
		return false // "off to a good start"
	}
	switch trimS(noun) {
	case "train", "flight", "bus", "ferry", "taxi", "drink", "alarm", "delivery", "trip":
		return false
	}
	return !profession(noun) && !meal(noun) && !thingWord(noun)
}

func (t *talk) cancelled(c *clause, attr string) {
	words := []string{strings.ReplaceAll(attr, "_", " "), attr}
	if sort, _, ok := strings.Cut(attr, "_with_"); ok {
		words = append(words, sort) // ends looks with whom it is
	}
	p, known := t.ends(c, attr, 0, c.words[c.vi].tok, words...)
	if whose := t.whose(c); !known && whose.named && !whose.known {
		t.asSaid(c)
		return
	}
	a := t.emit(p, t.rewrite(c), "cancellation", 0.85, c.sentence, true)
	a.EventType = "cancellation"
}

// ends is the plan that a cancellation between two tokens ends: one that has the words,
// and is on the day and with somebody of those that are named with it. Where the known
// plans have the words and are others, it is a plan that is not known, so that nothing
// ends. known is false where no plan is found.
func (t *talk) ends(c *clause, attr string, from, to int, words ...string) (p plan, known bool) {
	var on *when
	for i := range c.whens {
		if w := &c.whens[i]; w.first >= from && w.next <= to && w.hasDay && !w.habit && w.grain == 'd' && (w.weekday || w.day > t.now.day) {
			on = w
		}
	}
	var names []string
	for i := range c.words {
		if k := c.words[i].tok; c.w(i-1) == "with" && k >= from && k < to && c.capital(i) && nameWord(c.w(i)) && c.w(i) != "i" && !titlesOf[c.w(i)] {
			names = append(names, c.w(i))
		}
	}
	sort, _, _ := strings.Cut(attr, "_with_")
	with := withThem(sort, c.withWhom())
	whose := t.whose(c)
	p, known = t.findOf(whose, func(p *plan) bool {
		if !on.mayBe(p.day, t.now.day) {
			return false
		}
		if with != nil && !with(p) {
			return false
		}
		hay := strings.ToLower(p.attribute + " " + p.label)
		for _, name := range names {
			if holdsWord(hay, name) {
				return true
			}
		}
		return len(names) == 0
	}, words...)
	if known {
		if on != nil && on.weekday {
			on.day, on.weekday = p.day, false
		}
		return p, true
	}
	p = plan{subject: t.self.key, attribute: attr, day: 1}
	if whose.named {
		p.subject = whose.key
	}
	if on != nil {
		other := plan{day: on.day}
		p.attribute += " " + other.value()
	}
	return p, false
}

// figurative words after "in", "on" or "at" name no place: on hold, on shaky ground.
var figurative = set("ground grounds hold track sale schedule danger charge shape luck love style fashion demand control touch progress need order action edge point way order leash budget board strike " +
	"blink fritz fire trouble time mind peak risk stake length large odds rest best worst paper purpose average duty guard loan tour stage-fright warranty guarantee construction repair renovation contract pressure review investigation anaesthetic fact general particular vain doubt question common full cool awesome great")

// meal reports words for food that is ready to be eaten, and is soon gone.
func meal(s string) bool { return meals[last(s)] }

var meals = set("coffee dinner soup lunch tea breakfast cake rice porridge stew food supper pizza beer wine milk bread")

func pronoun(s string) bool {
	switch s {
	case "it", "that", "this", "there", "they", "these", "those":
		return true
	}
	return false
}

// itIs takes "it's on Thursday now": the appointment that the last turns name.
func (t *talk) itIs(c *clause, w *when) {
	if c.thing != "it" || w == nil || !w.hasDay || w.habit || c.past || c.neg || t.spokenOfAnother(c) {
		return
	}
	if next := c.w(c.vi + 1); next != "" && next != "," && next != "same" && next != "now" && next != "actually" && next != "then" && !preposition(next) {
		t.itIsEvent(c, w) // "it's my aunt's birthday on Friday"
		return
	}
	if subject := t.namedBefore(c); subject != "" {
		t.isThen(c.sentence, subject, c.text[c.toks[w.first].start:c.toks[w.next-1].end], nil)
		return
	}
	for i := len(t.ev.Before) - 1; i >= max(0, len(t.ev.Before)-2); i-- {
		for _, tok := range lex(t.ev.Before[i].Text) {
			attr, ok := eventNoun(tok.s)
			if !ok {
				continue
			}
			if p, known := t.find(strings.ReplaceAll(attr, "_", " "), attr, tok.s); known {
				t.moved(p.move(together(c.whens)), c.sentence, 0.82)
				return
			}
		}
	}
}
