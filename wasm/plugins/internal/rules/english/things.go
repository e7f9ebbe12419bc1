package english

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// whereabouts takes where things are: "I left my keys in the drawer", "we keep the spare key under
// the pot".
func whereabouts(t *discourse.Talk, c *discourse.Clause, i int) {
	if c.W(i) == "down" && syntax.Determiner(c.W(i+1)) {
		i++ // "I put down the keys on the table"
	}
	if syntax.Preposition(c.W(i)) || c.W(i) == "on" || c.W(i) == "up" || c.W(i) == "together" || c.W(i) == "it" {
		return
	}
	for k := i + 1; k < len(c.Words); k++ {
		switch c.W(k) {
		case "in", "on", "under", "behind", "at", "by", "next", "inside", "above", "beside", "below", "near":
			what := strings.TrimSuffix(c.Trim(i, k), " down")
			shown := what
			if w := c.W(i); (w == "his" || w == "her" || w == "their") && c.Kind == 'p' { // "Leo left his jacket at school"
				shown = c.Trim(i+1, k)
				what = discourse.Possessive(c.Subj.Name) + " " + shown
			}
			where := strings.TrimSuffix(strings.TrimSpace(c.Join(k, whereEnds(c, k))), " again")
			if discourse.Personal(c.W(i)) || unleft[discourse.Last(strings.ToLower(what))] || manners[where] || c.W(k) == "at" && noted.Counts(c.W(k+1)) || c.W(k) == "in" && (c.W(k+1) == "on" || c.W(k+1) == "for" || c.W(k+1) == "with" || c.W(k+1) == "a" && moods[c.W(k+2)]) {
				return // "left school at sixteen", "put an offer in on the flat"
			}
			if what == "" || figurative[c.W(len(c.Words)-1)] || discourse.Vague(what) || len(c.Words)-k < 2 || c.Neg {
				return
			}
			whose := c.W(i)
			one, other, two := strings.Cut(what, " and "+whose+" ") // my keys and my wallet
			putThere(t, c, one, strings.TrimSuffix(shown, " and "+whose+" "+other), where)
			if two {
				putThere(t, c, other, other, where)
			}
			return
		}
	}
}

// putThere proposes where somebody put or left a thing; shown is the thing in the clause's words.
func putThere(t *discourse.Talk, c *discourse.Clause, what, shown, where string) {
	owner := c.Subj
	c.Subj = discourse.Person{Name: what, Key: strings.ToLower(what)}
	f := t.Fact(c, "place", "location", where, false, 0.82)
	if c.Subj = owner; f != nil {
		f.Entities = t.Entities(c)
		f.Subject, f.Actor, f.Text = shown, owner.Name, t.Rewrite(c)
	}
}

// whereEnds returns the word after a place that begins at word k. What follows says why it is
// there, what somebody should do with it, or where something else is: "in the safe and the cash in
// the drawer".
func whereEnds(c *discourse.Clause, k int) int {
	for i := k + 2; i < len(c.Words); i++ {
		switch w := c.W(i); {
		case w == "just" || w == "in" && c.W(i+1) == "case":
			return i
		case w == "and" && !syntax.Placing(c.W(i+1)):
			for j := i + 2; j < len(c.Words); j++ {
				if syntax.Placing(c.W(j)) {
					return i
				}
			}
		}
	}
	return len(c.Words)
}

// unleft are things that people leave, put and keep without a place where they then are.
var unleft = syntax.Set("school uni university college meeting party job work room heart bet tenner fiver money pressure blame emphasis faith trust offer end stop deposit")

// manners are ways in which a thing is left or put, and moods are how somebody leaves.
var manners = map[string]bool{"on the market": true, "in tears": true, "in silence": true, "in peace": true, "in my name": true, "in our name": true, "on silent": true, "on hold": true, "on the horse": true,
	"in danger": true, "at the altar": true, "on edge": true, "on fire": true, "in charge": true, "on time": true, "in time": true, "at once": true}

var moods = syntax.Set("huff hurry rush mood panic state mess bit minute while")

// parked takes "I'm parked on level three".
func parked(t *discourse.Talk, c *discourse.Clause, i int) bool {
	if c.W(i) != "parked" || c.Kind != 's' || !syntax.Preposition(c.W(i+1)) {
		return false
	}
	owner := c.Subj
	c.Subj = discourse.Person{Name: discourse.Possessive(owner.Name) + " car", Key: discourse.Possessive(owner.Key) + " car"}
	where := c.Join(i+1, len(c.Words))
	f := t.Fact(c, "place", "location", where, false, 0.82)
	if f != nil {
		f.Text = discourse.SentenceCase(c.Subj.Name + " is parked " + where)
	}
	if c.Subj = owner; f != nil {
		f.Entities = t.Entities(c)
	}
	return true
}

// aboutThing takes statements whose subject is not a person: an appointment, a thing's place, "my
// favourite colour", "my birthday".
func aboutThing(t *discourse.Talk, c *discourse.Clause) {
	if c.Ends == "?" {
		return
	}
	i := c.Vi + 1
	for c.Verb == "be" && (c.W(i) == "not" || syntax.Adverb(c.W(i))) {
		i++
	}
	if nthTime(c) || anniversary(t, c) || c.Own && mine(t, c, i) || attribute(t, c, i) || they(t, c) || measured(t, c, i) || lies(t, c) || fails(t, c, i) || wantsMe(t, c, i) || needed(t, c, i) || choreDay(t, c, i) || thereIs(t, c, i) || everyWeek(t, c, i) || costsEach(t, c, i) || cameThrough(t, c, i) || scheduled(t, c, i) {
		return
	}
	w := c.FirstTime()
	switch {
	case !discourse.Pronoun(c.Thing) && momentous(c):
		happened(t, c, w)
	case c.Verb != "be" || c.Modal && c.Neg || c.Past:
		if c.Past && w != nil && w.HasDay && !discourse.Pronoun(c.Thing) {
			happened(t, c, w)
		}
	case !discourse.Pronoun(c.Thing):
		thingAt(t, c, i)
	case !placed(t, c, i) && !turn(t, c, w):
		itIs(t, c, w)
	}
}

// nthTime reports whether the clause is like "that's the second time this week that the train was
// late", which is not an appointment.
func nthTime(c *discourse.Clause) bool {
	i := c.Vi + 2
	_, nth := timex.Ordinal(c.W(i))
	return discourse.Pronoun(c.Thing) && c.Verb == "be" && nth && c.W(i-1) == "the" && c.W(i+1) == "time"
}

// cameThrough takes what happened to a thing: it was sold, or a visa came through.
func cameThrough(t *discourse.Talk, c *discourse.Clause, i int) bool {
	sold := soldFor(c, i)
	came := c.Own && !c.Neg && (c.Verb == "come" && (c.Past || c.Perfect) && c.W(i) == "through" || c.Verb == "be" && c.W(i) == "come" && c.W(i+1) == "through")
	if !sold && !came {
		return false
	}
	a := t.Base(c, "episodic", "event", 0.7)
	if a.EventType, a.Started = "event", noted.ToldAt(t, c.Sentence); c.Verb == "cost" {
		a.Started = 0 // on some day
	} else if sold {
		a.EventType = "sale"
	}
	t.Out.Candidates = append(t.Out.Candidates, a)
	return true
}

// scheduled takes when a thing is planned, due or booked, and that it is cancelled.
func scheduled(t *discourse.Talk, c *discourse.Clause, i int) bool {
	w := c.FirstTime()
	attr, _ := c.EventIn()
	if dayAt(t, c, w) || noted.SoonOver(t, c, w) {
		return true
	}
	be, next := c.Verb == "be", c.W(i)
	if be && (closing[next] || next == "away") && c.EventAt() > i {
		attr = "" // "the school is closed on Monday for a training day"
	}
	booked := w != nil && (next == "booked" || next == "scheduled" || next == "planned") && (c.At(w.First) == "for" || c.W(i+1) == "in") && !c.Neg
	switch {
	case be && (next == "due" || next == "up" && i+1 == len(c.Words) || booked && attr == "") && w != nil && w.HasDay && !w.Habit && !c.Past && !discourse.Pronoun(c.Thing):
		c.Subj = t.Self
		t.PlanAt(c, w)
	case be && ((next == "cancelled" || next == "canceled") && (attr != "" || inPlans(t, c)) || attr != "" && calledOff(c, i)):
		if attr == "" {
			attr = c.Thing
		}
		if !discourse.Conditioned(c.Sentence) {
			t.Cancelled(c, attr)
		}
	case be && w != nil && w.HasDay && !c.Past && !c.Neg && (next == "cancelled" || next == "canceled" || next == "off" && strings.HasSuffix(c.Thing, "ing")) && c.Words[i].Tok == len(c.Toks)-1-(w.Next-w.First):
		t.AsSaid(c) // "swimming's cancelled today", without a known plan
	case attr != "" && be && syntax.Profession(discourse.Last(c.Thing)) && next != "" && !syntax.Preposition(next) && next != "now" && next != "due" && next != "booked" && next != "set": // "the dentist is closed on Friday"
	case attr != "" && w != nil && !c.Past && (be || begins[c.Verb]) && eventIs(t, c, w, attr):
	case w != nil && (w.HasDay || w.Clock && !w.ByPart && visits(c)) && !w.Habit && !c.Past && !c.Neg && !discourse.Pronoun(c.Thing) && (!be || c.Must || happensOn(c, w)) && w.Unix() > t.Ev.At:
		subject := c.Subj
		if c.Subj = t.Self; t.Other(t.Whose(c)) {
			c.Subj = t.Whose(c).Person // "my sister's flight lands at ten"
		}
		t.PlanAt(c, w)
		c.Subj = subject
	default:
		return false
	}
	return true
}

// begins are verbs for what an event does at its time.
var begins = syntax.Set("start begin leave land depart arrive take happen open")

// eventIs takes the time of an event, unless it is a weekly one.
func eventIs(t *discourse.Talk, c *discourse.Clause, w *timex.When, attr string) bool {
	if whose := t.Whose(c); t.Other(whose) {
		if !whose.Known {
			return true
		}
		c.Own, c.Subj = true, whose.Person
	}
	if w.Habit || retimed(t, c, attr) {
		return !w.Habit
	}
	if o, known := t.Find(strings.ReplaceAll(attr, "_", " "), attr); known && !w.HasDay && (!c.Own || o.Subject == c.Subj.Key) {
		w.Set(o.Day, 'd')
	} else if !w.HasDay {
		w.Set(t.Now.Day, 'd')
	}
	if !c.Own {
		c.Subj = t.Self
	}
	t.PlanAt(c, w)
	return true
}

// thingAt takes where a thing is: "my keys are in the drawer", "the car is with the mechanic".
func thingAt(t *discourse.Talk, c *discourse.Clause, i int) {
	if c.W(i) == "parked" {
		i++
	}
	where := strings.TrimRight(c.Join(i, len(c.Words)), " ,")
	switch w := c.W(i); w {
	case "with":
		if attr, _ := c.EventIn(); attr == "" && Findable(c.Thing) && (c.Capital(i+1) || syntax.Determiner(c.W(i+1)) && (keepers[c.W(i+2)] || syntax.Kin(c.W(i+2)) || discourse.Trade(c.W(i+2)))) {
			locatedAt(t, c, where)
		}
	case "in", "on", "under", "behind", "at", "next", "opposite", "inside", "near", "above", "beside", "upstairs", "downstairs", "across":
		if (len(c.Words)-i >= 2 || w == "upstairs" || w == "downstairs") && !noted.Meal(c.Thing) && !figurative[c.W(len(c.Words)-1)] && !figurative[c.W(i+1)] && !(c.W(i+1) == "its" && figurative[c.W(i+2)]) &&
			len(strings.Fields(c.Thing)) <= 5 && where != "at all" && where != "on" && c.W(i+1) != "and" && c.W(i+1) != "again" && !dated(where) {
			locatedAt(t, c, where)
		}
	}
}

// soldFor reports whether a clause says for how much something was sold: "the old Volvo went for
// four thousand". "The run went for two hours" does not.
func soldFor(c *discourse.Clause, i int) bool {
	if cost := c.W(i); c.Verb == "cost" && (cost == "me" || cost == "us") {
		_, number := syntax.Number(c.W(i + 1))
		return !c.Neg && !c.Modal && !c.Future && !discourse.Pronoun(c.Thing) && (number || syntax.Numeric(c.W(i+1))) && len(c.Whens) == 0
	}
	if c.Verb != "go" || !c.Past || c.Neg || c.W(i) != "for" || discourse.Pronoun(c.Thing) || len(c.Whens) > 0 {
		return false
	}
	for i++; syntax.Adverb(c.W(i)) || c.W(i) == "about" || c.W(i) == "over" || c.W(i) == "under"; i++ {
	}
	if _, ok := syntax.Number(c.W(i)); !ok && !syntax.Numeric(c.W(i)) {
		return false
	}
	switch l := c.W(len(c.Words) - 1); strings.TrimSuffix(l, "s") {
	case "hour", "minute", "day", "week", "month", "year", "second", "mile", "km", "kilometre", "kilometer", "metre", "lap", "round", "time", "people", "walk", "swim", "drive", "ride", "run":
		return false
	}
	return true
}

// inPlans reports whether a known plan is about the clause's subject: yoga, in "I have yoga at
// six"; but not milk, in "a meeting about milk", nor gas, in "a gas engineer".
func inPlans(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Thing == "" || discourse.Pronoun(c.Thing) || discourse.Vague(c.Thing) || strings.Contains(c.Thing, " ") {
		return false
	}
	p, known := t.Find(c.Thing)
	words := strings.Fields(strings.ToLower(p.Label))
	k := slices.Index(words, c.Thing)
	if !known || k < 0 || k+1 < len(words) && !syntax.Preposition(words[k+1]) {
		return false
	}
	return !slices.ContainsFunc(words[:k], func(w string) bool { return syntax.Preposition(w) && w != "to" })
}

// calledOff reports whether an event is "off" at word i. A train, milk or a doctor can be off
// without being cancelled.
func calledOff(c *discourse.Clause, i int) bool {
	noun := discourse.Last(c.Thing)
	if c.W(i) != "off" || i+1 < len(c.Words) && c.W(i+1) != "," && c.Words[i+1].Tok == c.Words[i].Tok+1 {
		return false // "off to a good start"
	}
	switch syntax.Singular(noun) {
	case "train", "flight", "bus", "ferry", "taxi", "drink", "alarm", "delivery", "trip":
		return false
	}
	return !syntax.Profession(noun) && !noted.Meal(noun) && !discourse.ThingWord(noun)
}

// figurative are words after "in", "on" or "at" that do not name a place: on hold, on shaky ground.
var figurative = syntax.Set("ground grounds hold track sale schedule danger charge shape luck love style fashion demand control touch progress need order action edge point way order leash budget board strike " +
	"blink fritz fire trouble time mind peak risk stake length large odds rest best worst paper purpose average duty guard loan tour stage-fright warranty guarantee construction repair renovation contract pressure review investigation anaesthetic fact general particular vain doubt question common full cool awesome great")

// itIs takes "it's on Thursday now", for the appointment that the last turns name.
func itIs(t *discourse.Talk, c *discourse.Clause, w *timex.When) {
	if c.Thing != "it" || w == nil || !w.HasDay || w.Habit || c.Past || c.Neg || t.SpokenOfAnother(c) {
		return
	}
	if next := c.W(c.Vi + 1); next != "" && next != "," && next != "same" && next != "now" && next != "actually" && next != "then" && !syntax.Preposition(next) {
		itIsEvent(t, c, w) // "it's my aunt's birthday on Friday"
		return
	}
	if subject := namedBefore(t, c); subject != "" {
		isThen(t, c.Sentence, subject, c.Text[c.Toks[w.First].Start:c.Toks[w.Next-1].End], nil)
		return
	}
	for i := len(t.Ev.Before) - 1; i >= max(0, len(t.Ev.Before)-2); i-- {
		for _, tok := range syntax.Lex(t.Ev.Before[i].Text) {
			attr, ok := syntax.EventNoun(tok.S)
			if !ok {
				continue
			}
			if p, known := t.Find(strings.ReplaceAll(attr, "_", " "), attr, tok.S); known {
				discourse.Moved(t, p.Move(discourse.Together(c.Whens)), c.Sentence, 0.82)
				return
			}
		}
	}
}
