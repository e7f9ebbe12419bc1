package facts

import (
	"strings"
)

// eventIn finds what is appointed in a clause: "dentist_appointment",
// "meeting with tom".
func (c *clause) eventIn() (attribute, noun string) {
	for i := range c.words {
		w := strings.TrimSuffix(c.w(i), "s")
		if a, ok := eventNoun(w); ok && (i > c.vi || i == 0 || c.kind == 't' || c.kind == 'p') {
			if next, ok := eventNoun(c.w(i + 1)); ok && next == "appointment" {
				return w + "_appointment", w + " appointment"
			}
			if w == "appointment" || w == "meeting" || w == "call" || w == "lunch" || w == "dinner" || w == "interview" || w == "date" || w == "session" || w == "drink" {
				if who, ok := c.after(i, 2, "with", "for"); ok {
					return a + "_with_" + strings.ToLower(strings.ReplaceAll(who, " ", "_")), w + " with " + who
				}
				if i > 0 && c.w(i-1) != "a" && c.w(i-1) != "an" && c.w(i-1) != "the" && !auxiliary(c.w(i-1)) && !verbish(c.w(i-1)) && !determiner(c.w(i-1)) && !preposition(c.w(i-1)) && !function(c.w(i-1)) && c.w(i-1) != "," && c.w(i-1) != "'s" {
					return c.w(i-1) + "_" + a, c.w(i-1) + " " + w
				}
			}
			if a == "flight" || a == "train" || a == "trip" {
				if to, ok := c.after(i, 1, "to"); ok {
					if i < c.vi && c.w(i+1) == "to" {
						to = c.trim(i+2, c.vi)
					}
					return a + "_to_" + strings.ToLower(strings.ReplaceAll(to, " ", "_")), w + " to " + to
				}
			}
			return a, w
		}
	}
	return "", ""
}

// slotName makes an attribute of a plan without an event noun: "plan: send mia slides".
func (c *clause) slotName() string {
	b := "plan:"
	n := 0
	for i := c.vi; i < len(c.words) && n < 5; i++ {
		w := c.w(i)
		if determiner(w) || w == "," || adverb(w) || w == "to" || w == "for" || w == "at" || w == "on" || w == "with" || w == "in" || w == "of" || w == "and" || w == "'s" {
			continue
		}
		b += " " + w
		n++
	}
	return b
}

// plan proposes what is going to happen.
func (t *talk) plan(c *clause, w *when) {
	if attr, _ := c.eventIn(); c.neg && attr == "" || c.neg && w == nil || c.verb == "be" && w == nil || c.kind == 'y' && w == nil {
		return
	}
	if w == nil || !w.hasDay && !w.clock {
		if c.kind != 's' && c.kind != 'w' || !errand(c.verb) || !c.future && c.kind != 's' || c.maybe || len(c.words)-c.vi < 3 || o2(c, c.vi+1) == "" || vague(o2(c, c.vi+1)) && len(c.words)-c.vi < 4 {
			return
		}
		p := plan{subject: c.subj.key, attribute: c.slotName(), what: "promise"}
		a := t.emit(p, t.rewrite(c), "promise", 0.65, c.sentence, false)
		a.Entities = t.entities(c)
		return
	}
	t.planAt(c, w)
}

// errand verbs make a plan of "I'll …" even without a time.
func errand(v string) bool {
	switch v {
	case "send", "bring", "buy", "call", "email", "book", "pick", "return", "pay", "fix", "write", "collect", "finish", "order", "ask", "help", "cook", "visit", "apply", "phone", "text", "lend", "drop", "repair", "print", "renew", "prepare", "organise", "organize", "submit", "water", "feed":
		return true
	}
	return false
}

func (t *talk) planAt(c *clause, w *when) {
	attr, noun := c.eventIn()
	kind := "plan"
	if attr != "" {
		kind = "appointment"
	} else {
		attr, noun = c.slotName(), "plan"
	}
	if w.clock && !w.sure && evening(noun) && w.minute >= 5*60 && w.minute < 12*60 {
		w.minute += 12 * 60
	}
	subject := c.subj.key
	if subject == "" {
		subject = t.self.key
	}
	p := plan{subject: subject, attribute: attr, what: noun, day: w.day, minute: w.minute, clock: w.clock}
	if o, known := t.find(strings.ReplaceAll(attr, "_", " "), attr); known && kind == "appointment" && o.subject == subject && !w.hasDay {
		p.day = o.day
	}
	p.label = t.label(c)
	a := t.emit(p, t.rewrite(c), kind, 0.88, c.sentence, c.neg)
	a.Entities = t.entities(c)
	if w.habit {
		a.Started = 0
	}
	if place, ok := c.after(c.vi+1, 8, "at", "in"); ok && !vague(place) {
		a.Place = place
	}
}

// planned takes "I have a dentist appointment on Thursday".
func (t *talk) planned(c *clause, w *when) bool {
	if attr, _ := c.eventIn(); attr == "" {
		return false
	}
	if !w.hasDay {
		w.set(t.now.day, 'd')
	}
	if c.past && !w.weekday {
		return false
	}
	t.planAt(c, w)
	return true
}

// label is the statement without its times.
func (t *talk) label(c *clause) string {
	d := *c
	d.whens = nil
	s := t.rewrite(&d)
	for i := len(c.whens) - 1; i >= 0; i-- {
		w := c.whens[i]
		cut := c.text[c.toks[w.first].start:c.toks[w.next-1].end]
		s = strings.Replace(s, cut, "", 1)
	}
	return strings.TrimSuffix(strings.Join(strings.Fields(s), " "), ".")
}

// happened proposes what took place, where it says when, where or with whom.
func (t *talk) happened(c *clause, w *when) {
	switch c.verb {
	case "say", "think", "know", "feel", "mean", "guess", "tell", "want", "need", "hope", "forget", "remember", "hear", "decide", "try", "be", "like", "love", "hate", "do", "have":
		if w == nil || !w.hasDay || c.verb == "think" || c.verb == "mean" || c.verb == "guess" || c.verb == "know" {
			return
		}
	}
	place, _ := c.after(c.vi+1, 6, "to", "at", "in", "from")
	with, _ := c.after(c.vi+1, 6, "with")
	timed := w != nil && w.hasDay
	named := false
	for i := c.vi + 1; i < len(c.words); i++ {
		named = named || c.capital(i) && nameWord(c.w(i))
	}
	if !timed && !named && with == "" && (place == "" || vague(place)) || len(c.words)-c.vi < 2 && !timed {
		return
	}
	conf := 0.85
	if !timed {
		conf = 0.65
	}
	a := t.base(c, "episodic", "event", conf)
	a.EventType, a.Actor = "event", c.subj.name
	if !vague(place) {
		a.Place = place
	}
	a.Started = t.ev.At
	if timed {
		w.past(t.now)
		if a.Started = w.unix(); !w.clock {
			a.Started = moment{w.day, 0, t.now.offset}.unix()
		}
		a.Text = t.rewrite(c)
	}
	t.out.Candidates = append(t.out.Candidates, a)
}

// habit proposes what someone usually does, where the verb says enough.
func (t *talk) habit(c *clause) {
	switch c.verb {
	case "think", "know", "mean", "guess", "hope", "feel", "see", "want", "need", "believe", "remember", "wonder", "say", "be", "have", "do", "tell", "find", "look", "sound", "seem",
		"suppose", "understand", "agree", "promise", "wish", "get", "love", "like", "hate", "try", "happen", "hear", "forget", "keep", "go", "come", "bet", "mind", "care", "swear", "appreciate", "thank", "doubt", "miss", "call", "ask", "make", "take", "give", "let", "put", "use", "send", "bring", "speak":
		habitual := false
		for _, w := range c.whens {
			habitual = habitual || w.habit
		}
		for i := range c.words {
			habitual = habitual || c.w(i) == "usually" || c.w(i) == "always" || c.w(i) == "every" || c.w(i) == "often"
		}
		if !habitual || c.verb == "think" || c.verb == "know" || c.verb == "mean" || c.verb == "guess" || c.verb == "feel" {
			return
		}
	}
	if l, _, _ := lemma(c.w(c.vi)); l == "" && !c.hasHabit() || len(c.words)-c.vi < 3 || c.ing || c.kind == 'w' && !c.hasHabit() {
		return
	}
	t.out.Candidates = append(t.out.Candidates, t.base(c, "semantic", "habit", 0.6))
}

func (c *clause) hasHabit() bool {
	for _, w := range c.whens {
		if w.habit {
			return true
		}
	}
	return false
}

// whereabouts: "I left my keys in the drawer", "we keep the spare key under the pot".
func (t *talk) whereabouts(c *clause, i int) {
	for k := i + 1; k < len(c.words); k++ {
		switch c.w(k) {
		case "in", "on", "under", "behind", "at", "by", "next", "inside", "above", "beside", "below", "near":
			what := c.trim(i, k)
			where := strings.TrimSpace(c.join(k, len(c.words)))
			if what == "" || vague(what) || len(c.words)-k < 2 || c.neg {
				return
			}
			owner := c.subj
			c.subj = person{what, strings.ToLower(what)}
			f := t.fact(c, "place", "location", where, false, 0.82)
			if f != nil {
				f.Subject, f.Actor = what, owner.name
			}
			c.subj = owner
			return
		}
	}
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
	o, _ := c.object(i)
	if c.own {
		switch {
		case c.thing == "name" && c.verb == "be" && c.subj.key != t.self.key && strings.Contains(c.subj.key, "'s "):
			owner, noun := ownerOf(c.subj, t)
			if pet(noun) {
				c.subj = owner
				t.fact(c, "family", "pets", o, true, 0.92)
				return
			}
			t.relation(c, owner, noun, o, 0.93)
			return
		case c.thing == "name" && c.verb == "be" && !c.neg:
			t.core(c, "human", o)
			return
		case strings.HasSuffix(c.thing, "birthday"):
			if w := c.firstTime(); w != nil && w.hasDay {
				if who := strings.TrimSuffix(c.thing, " birthday"); who != c.thing {
					who = strings.TrimSuffix(who, "'s")
					c.subj = person{possessive(c.subj.name) + " " + who, possessive(c.subj.key) + " " + who}
				}
				t.birthday(c, w)
			}
			return
		case strings.HasPrefix(c.thing, "favourite ") || strings.HasPrefix(c.thing, "favorite ") || c.verb == "be" && strings.HasSuffix(c.thing, " size"):
			t.fact(c, "preference", strings.ReplaceAll(strings.Replace(c.thing, "favorite", "favourite", 1), " ", "_"), o, false, 0.93)
			return
		case c.verb == "be" && !c.past && strings.HasSuffix(c.thing, "anniversary"):
			if w := c.firstTime(); w != nil && w.hasDay && w.grain == 'd' {
				_, m, d := date(w.day)
				t.fact(c, "biography", strings.ReplaceAll(c.thing, " ", "_"), monthNames[m-1]+" "+itoa(d), false, 0.88)
			}
			return
		case (c.thing == "job" || c.thing == "title" || c.thing == "job title" || c.thing == "profession") && c.verb == "be":
			t.fact(c, "work", "job", o, false, 0.85)
			return
		case (c.thing == "address" || c.thing == "home" || c.thing == "flat" || c.thing == "house" || c.thing == "hometown") && c.verb == "be" && o != "":
			attr := map[string]string{"hometown": "origin"}[c.thing]
			if attr == "" {
				attr = "home"
			}
			t.fact(c, "residence", attr, strings.TrimPrefix(strings.TrimPrefix(o, "in "), "at "), false, 0.88)
			return
		case (c.thing == "office" || c.thing == "employer" || c.thing == "company") && c.verb == "be":
			t.fact(c, "work", c.thing, strings.TrimPrefix(strings.TrimPrefix(o, "in "), "at "), false, 0.8)
			return
		}
	}
	w := c.firstTime()
	attr, _ := c.eventIn()
	if c.verb == "be" && (c.w(i) == "cancelled" || c.w(i) == "canceled" || c.w(i) == "off") && attr != "" {
		t.cancelled(c, attr)
		return
	}
	if attr != "" && w != nil && !c.past && (c.verb == "be" || c.verb == "start" || c.verb == "begin" || c.verb == "leave" || c.verb == "land" || c.verb == "depart" || c.verb == "arrive" || c.verb == "take" || c.verb == "happen" || c.verb == "open") {
		if !w.habit {
			if o, known := t.find(strings.ReplaceAll(attr, "_", " "), attr); known && !w.hasDay {
				w.set(o.day, 'd')
			} else if !w.hasDay {
				w.set(t.now.day, 'd')
			}
			c.subj = t.self
			t.planAt(c, w)
			return
		}
	}
	if w != nil && w.hasDay && !w.habit && !c.past && !c.neg && !pronoun(c.thing) && c.verb != "be" && w.unix() > t.ev.At {
		subject := c.subj
		c.subj = t.self
		t.planAt(c, w)
		c.subj = subject
		return
	}
	if c.verb != "be" || c.modal && c.neg || c.past {
		if c.past && w != nil && w.hasDay && !pronoun(c.thing) {
			t.happened(c, w)
		} else if c.verb != "be" && !c.past && !c.neg && c.capitalThing() {
			t.out.Candidates = append(t.out.Candidates, t.base(c, "semantic", "fact", 0.55))
		}
		return
	}
	if pronoun(c.thing) {
		t.itIs(c, w)
		return
	}
	switch c.w(i) {
	case "in", "on", "under", "behind", "at", "next", "opposite", "inside", "near", "above", "beside", "upstairs", "downstairs", "across":
		if where := c.join(i, len(c.words)); len(c.words)-i >= 2 || c.w(i) == "upstairs" || c.w(i) == "downstairs" {
			subj := c.thing
			owner := c.subj
			c.subj = person{subj, subj}
			if c.own {
				c.subj = person{possessive(owner.name) + " " + subj, possessive(owner.key) + " " + subj}
			}
			if where != "at all" && where != "on" && c.w(i+1) != "fire" && c.w(i+1) != "trouble" && c.w(i+1) != "time" {
				t.fact(c, "place", "location", where, false, 0.8)
			}
			c.subj = owner
		}
	}
}

func (c *clause) capitalThing() bool {
	for i := 0; i < c.vi && i < len(c.words); i++ {
		if i > 0 && c.capital(i) {
			return len(c.words)-c.vi > 2
		}
	}
	return false
}

func (t *talk) cancelled(c *clause, attr string) {
	p, ok := t.find(strings.ReplaceAll(attr, "_", " "), attr)
	if !ok {
		p = plan{subject: t.self.key, attribute: attr}
	}
	p.day = max(p.day, 1)
	a := t.emit(p, t.rewrite(c), "cancellation", 0.85, c.sentence, true)
	a.EventType = "cancellation"
}

// evening says whether an event that is "at seven" is so after noon.
func evening(noun string) bool {
	for _, w := range [...]string{"dinner", "drink", "party", "concert", "film", "movie", "show"} {
		if strings.HasPrefix(noun, w) {
			return true
		}
	}
	return false
}

func preposition(s string) bool {
	switch s {
	case "for", "to", "at", "of", "with", "in", "on", "by", "from", "about", "after", "before", "into", "near":
		return true
	}
	return false
}

// function words are no name of an event: "next meeting", "and dinner".
func function(s string) bool {
	switch s {
	case "and", "or", "but", "next", "new", "another", "one", "two", "big", "small", "quick", "long", "short", "important", "first", "last", "no", "other", "same", "our", "whole", "late", "early", "nice", "little", "great", "good", "final":
		return true
	}
	return false
}

func pronoun(s string) bool {
	switch s {
	case "it", "that", "this", "there", "they", "these", "those":
		return true
	}
	return false
}

// itIs takes "it's on Thursday now": the appointment that the last turns name.
func (t *talk) itIs(c *clause, w *when) {
	if c.thing != "it" || w == nil || !w.hasDay || w.habit || c.past || c.neg {
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
