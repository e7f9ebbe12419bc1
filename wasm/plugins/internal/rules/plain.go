package rules

import "strings"

// What is said every day by plain verbs: what others want one to do, what a thing needs, who expects a
// child, what a pet is called, and what has run out.

// wantsMe takes "they want me to start on the first of February".
func (t *talk) wantsMe(c *clause, i int) bool {
	w := c.firstTime()
	if c.verb != "want" && c.verb != "need" || c.past || c.neg || c.modal || c.w(i) != "me" && c.w(i) != "us" || c.w(i+1) != "to" || w == nil || !w.hasDay || w.habit || w.unix() <= t.ev.At || c.conditional() {
		return false
	}
	d := *c
	d.kind, d.thing, d.subj, d.own, d.vi = 's', "", t.self, false, i+2
	d.verb, _, _ = lemma(c.w(d.vi))
	made := len(t.out.Candidates)
	if t.planAt(&d, w); len(t.out.Candidates) > made {
		t.out.Candidates[made].Text = t.rewrite(c)
	}
	return true
}

// needed takes what a thing needs, or that it is due, without a day: "the car needs new brakes", "my tetanus jab is due".
func (t *talk) needed(c *clause, i int) bool {
	if c.past || c.neg || c.modal || c.future || pronoun(c.thing) || c.conditional() || c.firstTime() != nil || c.own && c.subj.key != t.self.key || !c.own && (c.w(0) != "the" || !ofHome(last(c.thing))) {
		return false
	}
	switch {
	case c.verb == "be" && c.w(i) == "due" && c.own && i+1 == len(c.words):
	case c.verb == "need" && upkeep[c.w(i)] && i+1 == len(c.words):
	case c.verb == "need" && c.w(i) == "new" && thingWord(last(c.thing)):
	case c.verb == "need" && c.w(i) == "a" && upkeep[c.w(len(c.words)-1)]:
	default:
		return false
	}
	a := t.emit(plan{subject: t.self.key, attribute: c.slotName(), what: "promise"}, t.rewrite(c), "promise", 0.65, c.sentence, false)
	a.Entities = t.entities(c)
	return true
}

// ofHome reports a thing of a household.
func ofHome(noun string) bool {
	return thingWord(noun) || household[noun] || aboutThings[noun] && !kin(noun) && !trade(noun)
}

// upkeep is what a thing of a household needs now and then.
var upkeep = set("washing fixing replacing cleaning painting watering feeding walking mending defrosting servicing repairing changing charging ironing emptying mowing descaling sharpening tuning " +
	"service wash clean repair haircut walk bath battery filter bulb tyre tire")

// choreDay takes the weekday of a chore of every week: "bin day is Thursday".
func (t *talk) choreDay(c *clause, i int) bool {
	what, ok := strings.CutSuffix(c.thing, " day")
	if !ok || !weeklyChores[what] || c.verb != "be" || c.past || c.neg || c.modal || len(c.whens) != 1 || i < len(c.words) || c.own && c.subj.key != t.self.key || c.whens[0].next-c.whens[0].first > 2 || c.at(c.whens[0].first) == "next" {
		return false
	}
	day := c.at(c.whens[0].next - 1)
	if weekdayOf(trimS(day), false) < 0 {
		return false
	}
	d := *c
	d.whens, d.subj = nil, t.self
	weekday := dayNames[weekdayOf(trimS(day), false)]
	if f := t.fact(&d, "habit", what+"_day", weekday, false, 0.8); f != nil {
		f.Text = possessive(t.self.name) + " " + c.thing + " is " + weekday + "."
	}
	return true
}

// weeklyChores name a day of every week.
var weeklyChores = set("bin rubbish trash garbage recycling laundry washing market cleaning collection")

// expects takes who is to have a child: "Marta's expecting twins".
func (t *talk) expects(c *clause) bool {
	if c.verb != "expect" || !c.ing || c.past || c.neg || c.kind != 'p' && c.kind != 's' && c.kind != 'w' || c.ends == "?" || c.firstTime() != nil {
		return false
	}
	switch what := c.trim(c.vi+1, len(c.words)); strings.ToLower(what) {
	case "twins", "triplets", "baby", "another baby", "her first", "her second", "her third", "first", "second", "third":
	case "":
		if c.kind != 'p' {
			return false
		}
	default:
		return false
	}
	return t.fact(c, "biography", "expecting", c.join(c.vi, len(c.words)), false, 0.8) != nil
}

// christens takes what an animal or a child is named: "we named the puppy Otto", and "we're calling him Otto" after a
// sentence that tells of one.
func (t *talk) christens(c *clause) bool {
	if c.verb != "call" && c.verb != "name" || c.kind != 's' && c.kind != 'w' || c.neg || c.modal || c.ends == "?" {
		return false
	}
	i, noun := c.vi+1, ""
	if n := len(c.words) - 1; !c.capital(n) || !nameWord(c.w(n)) {
		return false
	}
	switch w := c.w(i); w {
	case "him", "her", "it":
		noun = t.newcomer(c.start)
	case "the", "our", "my":
		i++
		noun = c.w(i)
	}
	if i++; !pet(noun) && noun != "baby" || i+1 != len(c.words) {
		return false
	}
	d := *c
	d.subj = t.self
	if noun == "baby" {
		t.relation(&d, t.self, noun, c.cased(i), 0.9)
	} else if f := t.fact(&d, "family", "pets", c.cased(i), true, 0.9); f != nil {
		f.Object = c.cased(i) + ", " + noun
		f.Text = sentenceCase(possessive(t.self.name) + " " + noun + " is called " + c.cased(i) + ".")
	}
	return true
}

// newcomer is the animal or baby that the text before a byte tells of last, or the speaker's line before it.
func (t *talk) newcomer(start int) (noun string) {
	said := cut(t.ev.Text, start)
	if n := len(t.ev.Before); n > 0 && t.ev.Before[n-1].Speaker == t.ev.Speaker {
		said = t.ev.Before[n-1].Text + " " + said
	}
	if low := strings.ToLower(said); !containsAny(low, "we got", "we've got", "i got", "i've got", "we have", "i have", "adopted", "we bought", "i bought", "our new", "my new") {
		return "" // whose?
	}
	for _, tok := range lex(said) {
		if pet(tok.s) || tok.s == "baby" {
			noun = tok.s
		}
	}
	return noun
}

// runsOut takes what there is no more of at home: "we're out of milk", "I've run out of contact lenses".
func (t *talk) runsOut(c *clause) bool {
	if c.kind != 's' && c.kind != 'w' || c.neg || c.modal || c.future || c.conditional() || c.ends == "?" || c.firstTime() != nil || c.end > t.said.end || strings.Count(t.said.text[c.end:t.said.end], " ") > 1 { // more than a name follows
		return false
	}
	i := c.vi + 1
	if c.w(i) != "out" || c.w(i+1) != "of" || (c.verb != "be" || c.past || c.kind != 'w') && c.verb != "run" {
		return false
	}
	what := strings.ToLower(o2(c, i+2))
	if what == "" || vague(what) || endless[last(what)] || determiner(c.w(i+2)) || c.capital(i+2) || len(strings.Fields(what)) > 3 {
		return false
	}
	t.out.Candidates = append(t.out.Candidates, t.base(c, "semantic", "possession", 0.6)) // no slot: nothing says when some is bought
	return true
}

// endless is what "out of" says of no store at home: "out of luck".
var endless = set("luck time breath patience ideas town office work control hand hospital bed shape touch order reach sight options words energy place date season line practice school bounds danger money cash steam love fashion print service business range")

// partnerMet takes "I'm seeing someone, his name is Oskar", also with the name in the next sentence.
func (t *talk) partnerMet(s sentence) bool {
	const most = 120 // bytes
	said := s.text[s.start:min(len(s.text), s.start+most)]
	low := strings.ToLower(said)
	rest, ok := cutHead(low, "i'm seeing someone", "i am seeing someone", "i'm dating someone", "i am dating someone")
	if !ok || len(low) != len(said) {
		return false
	}
	for _, k := range [...]struct{ says, noun string }{{"his name is ", "boyfriend"}, {"his name's ", "boyfriend"}, {"he's called ", "boyfriend"}, {"her name is ", "girlfriend"}, {"her name's ", "girlfriend"}, {"she's called ", "girlfriend"}} {
		between, _, ok := strings.Cut(rest, k.says)
		if !ok || strings.Trim(strings.ReplaceAll(between, "and", ""), " ,.!;-\n") != "" {
			continue
		}
		at := strings.Index(low, k.says) + len(k.says)
		end := at + strings.IndexAny(said[at:]+".", " .,!?;\n")
		if name := said[at:end]; nameWord(low[at:end]) && (capitalised(name) || t.plain) {
			s.end = max(s.end, s.start+end)
			c := clause{sentence: s, subj: t.self, kind: 's'}
			t.relation(&c, t.self, k.noun, name, 0.85)
			return true
		}
	}
	return false
}
