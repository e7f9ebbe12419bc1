package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// What has ended: a job, a habit, a relationship, a debt, what somebody had or took. Each
// ending names the slot and the value that no longer holds, so that it ends that memory alone,
// and nothing where nobody ever said it.

// over proposes the endings that a clause tells of.
func (t *talk) over(c *clause) {
	if c.ends == "?" || c.conditional() || c.maybe || c.modal || c.future || c.intend || c.must || c.can || c.almost() || c.vi >= len(c.words) {
		return
	}
	i, done := c.vi+1, (c.past || c.perfect) && !c.neg && !c.usedTo
	switch {
	case c.noLonger && c.neg && !c.past && c.kind != 't':
		t.gaveUp(c, c.verb, i)
	case !done:
		if c.verb == "be" && !c.neg && c.kind == 'w' {
			t.parted(c, i)
		}
		if last(strings.ToLower(c.raw())) == "again" && !c.neg && c.kind != 't' && c.verb == "eat" && o2(c, i) == "meat" {
			t.eatsMeat(c)
		}
		if off := c.w(i) == "off" && c.verb == "be" && !c.neg && c.kind != 't'; off && medicineNamed(o2(c, i+1)) {
			t.noMedicine(c, c.subj, o2(c, i+1))
		}
	case c.kind == 't':
		t.doneTo(c, i)
	default:
		t.lostJob(c, i)
		t.parted(c, i)
		t.stopped(c, i)
		t.gone(c, i)
		t.doneTo(c, i)
	}
}

// ended proposes that a value of a slot no longer holds; "" is whatever it was.
func (t *talk) ended(c *clause, who person, kind, attribute, value string, many bool) {
	if value != "" && (vague(value) || courtesy[strings.ToLower(value)]) || who.key == "" {
		return
	}
	for i := range t.out.Candidates {
		if o := &t.out.Candidates[i]; o.Negates && o.Slot != nil && o.Slot.Subject == who.key && o.Slot.Attribute == attribute && o.Slot.Many == many && strings.EqualFold(o.Slot.Value, value) {
			return
		}
	}
	a := t.base(c, "semantic", kind, 0.8)
	ends(&a, who.key, attribute, value, many)
	if strings.Contains(a.Text, who.name) {
		a.Subject = who.name
	}
	if strings.HasPrefix(attribute, medication) {
		a.Sensitivity = "private"
	}
	t.out.Candidates = append(t.out.Candidates, a)
}

// ends makes a the end of a value of a slot; "" is whatever it was, which is no relation.
func ends(a *abi.Candidate, key, attribute, value string, many bool) {
	a.Negates, a.Slot = true, &abi.Slot{Subject: key, Attribute: attribute, Value: value, Many: many}
	if value != "" {
		a.Predicate, a.Object = attribute, value
	}
}

// lostJob takes "I quit the bakery", "I was let go by Acme", "I resigned from the library".
func (t *talk) lostJob(c *clause, i int) {
	end := func(k int) {
		if k == len(c.words) {
			t.outOfWork(c)
		}
		for k < len(c.words) && c.w(k) != "from" && c.w(k) != "by" && c.w(k) != "at" {
			k++
		}
		if firm := o2(c, k+1); firm != "" && employs(firm, t.plain) {
			t.ended(c, c.subj, "work", "employer", firm, false)
		}
	}
	switch c.verb {
	case "quit":
		if firm := o2(c, i); determiner(c.w(i)) && !strings.Contains(firm, " ") && firm != "gym" && organisations[strings.ToLower(firm)] { // of a gym one is a member
			t.ended(c, c.subj, "work", "employer", firm, false)
		}
	case "resigned", "resign":
		end(i)
	case "be", "get":
		for k := i; k < min(len(c.words), i+3); k++ {
			switch c.w(k) {
			case "fired", "sacked", "dismissed":
				end(k + 1)
			case "let", "laid", "made":
				if w := c.w(k + 1); w == "go" || w == "off" || w == "redundant" {
					end(k + 2)
				}
			}
		}
	case "stop":
		if c.w(i) == "working" && (c.w(i+1) == "at" || c.w(i+1) == "for") && employs(o2(c, i+2), t.plain) {
			t.ended(c, c.subj, "work", "employer", o2(c, i+2), false)
		}
		if c.w(i) == "working" && c.w(i+1) == "as" {
			t.ended(c, c.subj, "work", "job", c.post(i+2, true, t.plain), false)
			if firm, ok := c.after(i+2, 6, "at", "for"); ok && !vague(firm) && employs(firm, t.plain) {
				t.ended(c, c.subj, "work", "employer", firm, false)
			}
		}
	}
}

// partners are what somebody is to another until they part, by the verb that parts them.
var (
	unmarried = [...]string{"girlfriend", "boyfriend", "partner", "fiancé", "fiancée"}
	married   = [...]string{"spouse", "wife", "husband"}
)

// parted takes "Mia and I broke up", "I broke up with Mia", "I divorced Tom".
func (t *talk) parted(c *clause, i int) {
	divorced, with := false, i
	switch c.verb {
	case "break", "split":
		if c.w(i) != "up" {
			return
		}
		with = i + 1
	case "divorce":
		divorced = true
	case "be", "get":
		for adverb(c.w(with)) {
			with++
		}
		divorced = c.w(with) == "divorced"
		if !divorced && c.w(with) != "separated" {
			return
		}
		with++
	default:
		return
	}
	k := 0
	switch {
	case c.w(with) == "with" || c.w(with) == "from":
		k = with + 1
	case c.verb == "divorce" && c.kind == 's':
		k = with
	case c.kind != 'w' || c.w(with) != "" || c.w(0) == "we":
		return
	}
	if c.kind != 's' && c.kind != 'w' {
		return
	}
	if c.w(k) == "my" && kin(c.w(k+1)) {
		t.ended(c, t.self, "relation", c.w(k+1), "", false)
		return
	}
	if !c.capital(k) || !nameWord(c.w(k)) || k > 0 && k != len(c.words)-1 || k == 0 && c.w(1) != "and" {
		return
	}
	name := c.cased(k)
	all := unmarried[:]
	if divorced || c.verb == "be" {
		all = married[:]
	}
	sex := t.sex(person{name, strings.ToLower(name)})
	for _, noun := range all {
		if s := sexOf(noun, ""); s == 0 || sex == 0 || s == sex {
			t.ended(c, t.self, "relation", noun, name, false)
		}
	}
}

// stopped takes "I stopped playing tennis", "I gave up running", "I quit smoking".
func (t *talk) stopped(c *clause, i int) {
	switch c.verb {
	case "stop", "quit":
	case "give":
		if c.w(i) != "up" {
			return
		}
		i++
	default:
		return
	}
	if l, _, ing := lemma(c.w(i)); ing || c.w(i) == "doing" {
		before := len(t.out.Candidates)
		t.gaveUp(c, l, i+1)
		if o, _ := c.object(i); len(t.out.Candidates) > before && o != "" && o != "smoking" && c.verb != "quit" {
			t.ended(c, c.subj, "habit", "does", o, true)
		}
	}
}

// gaveUp ends what somebody does or takes: the verb, and its object from word i.
func (t *talk) gaveUp(c *clause, verb string, i int) {
	o, _ := c.object(i)
	switch verb {
	case "eat", "drink":
		if o != "" {
			t.ended(c, c.subj, "diet", verb+"s", o, true)
		}
	case "smoke":
		t.ended(c, c.subj, "diet", "smokes", "smoking", true)
	case "": // doing
		if o != "" {
			t.ended(c, c.subj, "habit", "does", cutTail(o), true)
		}
	case "play":
		if o != "" {
			t.ended(c, c.subj, "habit", "plays", cutTail(o), true)
		}
	case "learn", "study":
		if o != "" {
			t.ended(c, c.subj, "habit", "learning", o, true)
		}
	case "take":
		if drug, _ := c.medicine(i); drug != "" {
			t.noMedicine(c, c.subj, drug)
			return
		}
		fallthrough
	default:
		if what := c.routineOf(verb, i); what != "" {
			t.ended(c, c.subj, "habit", routineSlot(what), c.howOften(), true)
		}
	}
}

// absent takes "Priya can't make it tomorrow": the one plan with that person, of that day where
// one is named, is off. Where several fit, none is.
func (t *talk) absent(c *clause) bool {
	if c.kind != 'p' && !expected(last(c.thing)) || c.ends == "?" || c.conditional() || c.maybe || !c.neg || c.verb != "make" && c.verb != "come" || c.verb == "make" && c.w(c.vi+1) != "it" || !c.can && !c.future && !c.ing {
		return false
	}
	name := strings.ToLower(c.subj.name)
	if c.kind != 'p' {
		name = last(c.thing)
	}
	if t.offWith(c.sentence, c.whens, name, t.rewrite(c)) {
		return true
	}
	w := c.firstTime()
	if w == nil || !w.hasDay || w.day < t.now.day {
		return false
	}
	t.noteClause(c, c.sentence, false, true, notedSure)
	return true
}

// expected are those who come to somebody's house to do something there.
func expected(noun string) bool { return keepers[noun] || trade(noun) || profession(noun) }

// offWith cancels the one plan that is still to come with a person, of the day in whens.
func (t *talk) offWith(s sentence, whens []when, name, text string) bool {
	day := 0
	for i := range whens {
		if w := &whens[i]; w.hasDay && !w.habit {
			day = w.day
		}
	}
	var found []plan
	for _, p := range t.plans {
		if p.day >= t.now.day && (day == 0 || p.day == day) && holdsWord(strings.ToLower(p.attribute+" "+p.label), name) {
			found = append(found, p)
		}
	}
	switch {
	case len(found) > 1:
		t.refuse("plan", "more than one plan fits, so none is cancelled", s.start, s.end)
		return true
	case len(found) == 0:
		return false
	}
	t.emit(found[0], text, "cancellation", 0.8, s, true)
	t.off, t.offAt = found[0], len(t.out.Candidates)
	return true
}

// cutTail leaves out what follows a preposition: "tennis on Mondays".
func cutTail(o string) string {
	words := strings.Fields(o)
	for k, w := range words {
		if k > 0 && preposition(strings.ToLower(w)) {
			return strings.Join(words[:k], " ")
		}
	}
	return o
}

// routineSlot is the slot of something that somebody does as a matter of course.
func routineSlot(what string) string { return "routine: " + what }

// routineOf names what somebody does as a matter of course, in a base form: "swim" of "go
// swimming", "go to gym"; "" where the words leave it open.
func (c *clause) routineOf(verb string, i int) string {
	w := c.w(i)
	if verb == "go" || verb == "come" {
		if l, _, ing := lemma(w); ing {
			return l
		}
		if w == "for" && c.w(i+1) == "a" && c.w(i+2) != "" {
			return c.w(i + 2)
		}
		if o, _ := c.object(i + 1); w == "to" && o != "" && !vague(o) {
			return "go to " + strings.ToLower(cutTail(o))
		}
		return ""
	}
	switch verb {
	case "be", "have", "do", "get", "make", "want", "like", "love", "work", "live", "know", "think", "feel", "need", "see", "talk", "speak", "own":
		return ""
	case "run", "swim", "jog", "cycle", "meditate", "climb", "row", "hike", "ski", "walk", "paint", "read", "cook", "bake", "sing", "knit", "box", "surf", "dance":
		if !determiner(w) {
			return verb
		}
	}
	o, _ := c.object(i)
	if o = strings.ToLower(cutTail(o)); o == "" || vague(o) || personal(o) {
		return ""
	}
	return verb + " " + o
}

// howOften is the weekdays of a habit, else its time as it is said; "" where there is none.
func (c *clause) howOften() string {
	var days []string
	for _, w := range c.whens {
		for k := w.first; k < w.next && w.habit; k++ {
			if weekdayOf(strings.TrimSuffix(c.at(k), "s"), false) >= 0 {
				days = append(days, strings.TrimSuffix(c.at(k), "s"))
			}
		}
	}
	if len(days) > 0 {
		return strings.Join(days, " ")
	}
	for _, w := range c.whens {
		if w.habit && w.next > w.first {
			return strings.ToLower(c.text[c.toks[w.first].start:c.toks[w.next-1].end])
		}
	}
	return ""
}

// eatsMeat ends the diets that have none.
func (t *talk) eatsMeat(c *clause) {
	for _, diet := range [...]string{"vegetarian", "vegan"} {
		t.ended(c, c.subj, "diet", "diet", diet, false)
	}
	t.ended(c, c.subj, "diet", "avoids", "meat", true)
}

// gone takes what somebody gave away or paid back, and who died.
func (t *talk) gone(c *clause, i int) {
	switch c.verb {
	case "give", "get", "trade":
		if c.verb == "give" && c.find(i, len(c.words)-i, "back") >= 0 {
			t.repaid(c, i)
			return
		}
		k := i
		switch {
		case c.verb == "give" && c.w(i) == "away", c.verb == "trade" && c.w(i) == "in":
			k = i + 1
		case c.verb == "get" && c.w(i) == "rid" && c.w(i+1) == "of":
			k = i + 2
		case c.verb == "give" && c.w(len(c.words)-1) == "away" || c.verb == "trade" && c.w(len(c.words)-1) == "in":
		default:
			return
		}
		if what := c.hadOwn(k, strings.TrimSuffix(strings.TrimSuffix(o2(c, k), " away"), " in")); what != "" {
			t.ended(c, c.subj, "possession", "owns", what, true)
		}
	case "pay", "repay":
		t.repaid(c, i)
	case "die", "pass":
		if c.kind != 'p' || c.verb == "pass" && c.w(i) != "away" {
			return
		}
		if c.own && c.owner != "" && c.owner != t.self.name {
			return // "my neighbour's dog", "Anna's cat"
		}
		if noun := last(c.thing); c.own && pet(noun) && c.name == "" {
			t.ended(c, t.self, "family", "pets", noun, true)
		} else if !c.own && c.subj.key != t.introduced || pet(noun) {
			t.ended(c, t.self, "family", "pets", c.subj.name, true)
			if c.own {
				t.ended(c, t.self, "relation", noun, c.subj.name, true)
			}
		}
	}
}
