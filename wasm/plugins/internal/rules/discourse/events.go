package discourse

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/feast"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// OfEvents are things that belong to an event and are not events: a wedding anniversary, a wedding
// dress.
var OfEvents = syntax.Set("anniversary anniversaries dress ring rings present presents gift gifts cake photos album invitation invitations")

// MayBe reports whether a plan on a day can be the one at w; w may be nil, or a weekday of this
// week or the next.
func MayBe(w *timex.When, day, now int) bool {
	return w == nil || day == w.Day || w.Weekday && day > now-7 && day < now+14 && (day-w.Day)%7 == 0
}

// dueOnce reports whether a clause is about a known thing that happens once: "the lease ends on 31
// March", "my report is due on Friday".
func (c *Clause) dueOnce() bool {
	if c.Kind != 't' || Pronoun(c.Thing) || c.Thing == "" || c.W(0) == "a" || c.W(0) == "an" {
		return false
	}
	return onceVerbs[c.Verb] && (c.Verb != "run" || c.W(c.Vi+1) == "out") && c.Verb != "open" && c.Verb != "close" || c.Verb == "be" && (c.W(c.Vi+1) == "due" || c.Must)
}

// thingSlot returns the beginning of the slot of a plan about a thing, with its owner and what it
// is; "" for anything else.
func (c *Clause) thingSlot() string {
	if c.Kind != 't' || Pronoun(c.Thing) || c.Thing == "" {
		return ""
	}
	what := ""
	if c.Own && c.Owner != "" {
		w := c.W(0)
		_, relative, ofMine := strings.Cut(strings.ToLower(c.Owner), "'s ")
		switch {
		case w != "my" && w != "our":
			what = " " + Possessive(strings.ToLower(c.Owner))
		case ofMine: // "my wife's contract" is not mine
			what = " " + Possessive(relative)
		}
	}
	for w := range strings.FieldsSeq(c.Thing) {
		if !syntax.Determiner(w) && w != "'s" && w != "," {
			what += " " + w
		}
	}
	return what
}

// SlotName makes an attribute for a plan without an event noun: "plan: send mia slides".
func (c *Clause) SlotName() string {
	b := "plan:" + c.thingSlot()
	n := 0
	switch {
	case !c.dueOnce():
	case c.Verb == "be":
		return b + " due"
	default:
		return b + " " + syntax.Third(c.Verb) // the passport, and not the visa
	}
	from := c.Vi
	if c.Verb == "say" { // what it says, about itself or something else
		if from++; c.W(from) == "that" {
			from++
		}
		if w := c.W(from); syntax.SubjectPronoun(w) {
			from++
		} else if !syntax.Auxiliary(w) {
			b = "plan:"
		}
	}
	for i := from; i < len(c.Words) && n < 5; i++ {
		w := c.W(i)
		if syntax.Determiner(w) || w == "," || syntax.Adverb(w) || w == "to" || w == "for" || w == "at" || w == "on" || w == "with" || w == "in" || w == "of" || w == "and" || w == "'s" {
			continue
		}
		b += " " + w
		n++
	}
	return b
}

// Conditional reports whether a clause depends on a condition.
func (c *Clause) Conditional() bool {
	for i := range c.Words {
		switch c.W(i) {
		case "if", "unless", "when", "once", "whenever", "maybe", "perhaps":
			return true
		}
	}
	return false
}

// excepted reports whether a day is the one on which something is not so: "any day but Tuesday".
func (c *Clause) excepted(w *timex.When) bool {
	i := w.First - 1
	if c.At(i) == "on" {
		i--
	}
	before := c.At(i - 1)
	return c.At(i) == "except" || c.At(i) == "but" && (before == "day" || before == "days" || before == "time" || before == "anytime") || c.At(w.First) == "from" && c.At(w.First-1) == "apart" || c.At(i) == "than" && before == "other"
}

// PlanAt makes a plan from a clause about something at a time, if it isn't over.
func (t *Talk) PlanAt(c *Clause, w *timex.When) {
	if w.HasDay && !w.Habit && !w.Weekday && w.Day < t.Now.Day && (w.Grain == 'd' || w.Grain == 0 || w.Grain == 'w' && w.Day+6 < t.Now.Day || w.Grain == 'M' && w.Day+31 < t.Now.Day || w.Grain == 'y' && w.Day+366 < t.Now.Day) {
		return // it is over: "I'll always remember our trip last year"
	}
	if c.Offers() || c.excepted(w) {
		return
	}
	c.toCome(w, t.Now)
	attr, noun := c.EventIn()
	if strings.HasSuffix(attr, "_appointment") && (c.Verb == "say" || timex.Until(&c.Sentence, w) || spoken[c.Verb]) {
		attr = "" // "the hospital says there's no bed", "at the vet until tomorrow", "I'll ring the vet tomorrow"
	}
	kind := "plan"
	if attr != "" {
		kind = "appointment"
	} else {
		attr, noun = c.SlotName(), "plan"
	}
	if i := c.EventAt(); i > 0 && c.W(i-1) == "no" { // "there's no class on Friday"
		if _, known := t.Ends(c, attr, 0, len(c.Toks), noun); known {
			t.Cancelled(c, attr)
			return
		}
		kind, attr, noun = "plan", "plan: no "+noun, "plan"
	}
	if w.Clock && !w.Sure && Evening(noun) && w.Minute >= 5*60 && w.Minute < 12*60 {
		for i := range c.Whens {
			if o := &c.Whens[i]; o != w && o.Clock && !o.Sure && o.Minute == w.Minute {
				o.Minute += 12 * 60 // so that the text has the same hour
			}
		}
		w.Minute += 12 * 60
	}
	subject := c.Subj.Key
	if subject == "" {
		subject = t.Self.Key
	}
	if to, ok := t.Addressee(); ok && kind == "appointment" && c.Kind == 's' && c.W(c.Vi+1) == "you" && (c.Verb == "have" || c.Verb == "put" || c.Verb == "book") {
		subject = to.Key // "I've got you at the vet on Friday"
	}
	p := Plan{Subject: subject, Attribute: attr, What: noun, Day: w.Day, Minute: w.Minute, Clock: w.Clock}
	if o, known := t.Find(strings.ReplaceAll(attr, "_", " "), attr); known && kind == "appointment" && o.Subject == subject && !w.HasDay {
		p.Day = o.Day
	}
	p.Label = t.Label(c)
	ended := timex.Closed(c.Sentence, c.Whens, w, t.Now, false)
	only := c.Neg && timex.LeadsUntil(&c.Sentence, w) // "the results aren't due until Monday": then they are
	if kind == "plan" && timex.Until(&c.Sentence, w) && !only && !w.Habit && w.Day > t.Now.Day {
		p.Day, p.Clock, ended = t.Now.Day, false, w.Ends() // "I'm away until Friday": from now on
	}
	if !w.Habit && kind == "plan" && (c.Unresolved(false) || c.W(c.Vi+1) == "her" && c.Vi+2 == len(c.Words)) {
		p.Attribute += " " + p.Value() // whom "visit her" means changes from one line to the next
	}
	if !w.Habit {
		t.Another(&p, c.Definite())
	}
	a := t.Emit(p, t.Rewrite(c), kind, 0.88, c.Sentence, c.Neg && !only)
	a.Entities = t.Entities(c)
	if c.Subj.Name != "" {
		a.Actor = c.Subj.Name
	}
	if w.Habit {
		a.Started = 0
	} else if a.Started > 0 {
		a.Ended = ended
	}
	if place := c.Place("at", "in"); place != "" {
		a.Place = place
	}
}

// spoken are verbs of calling and writing to somebody, which is not a visit.
var spoken = syntax.Set("ring phone text email message write ask tell pay")

// Offers reports whether a clause names times to choose from, and no event at them: "we've got
// Monday at nine, or Tuesday at four".
func (c *Clause) Offers() bool {
	if c.Verb != "have" && c.Verb != "get" && c.Verb != "do" && c.Verb != "offer" {
		return false
	}
	if k := c.Find(c.Vi, len(c.Words), "if"); k > 0 && c.W(k+1) == "you" && (c.W(k+2) == "want" || c.W(k+2) == "like") {
		return true // "we've had a cancellation, Friday at ten if you want it"
	}
	choice := false
	for k := c.Vi + 1; k < len(c.Words); k++ {
		switch c.W(k) {
		case "or", "either", "free", "available", "open":
			choice = true
		case "got", "and", ",", "only", "also", "you", "at", "in":
		default:
			if _, ok := syntax.Number(c.W(k)); !ok {
				return false
			}
		}
	}
	return choice && c.FirstTime() != nil
}

// Label returns the statement without its times.
func (t *Talk) Label(c *Clause) string {
	d := *c
	d.Whens = nil
	s := t.Rewrite(&d)
	for i := len(c.Whens) - 1; i >= 0; i-- {
		w := c.Whens[i]
		cut := c.Text[c.Toks[w.First].Start:c.Toks[w.Next-1].End]
		s = strings.Replace(s, cut, "", 1)
	}
	return strings.TrimSuffix(strings.Join(strings.Fields(s), " "), ".")
}

// Unresolved reports whether a clause does not say whom or what it is about: "I talked to him
// afterwards". With a time, only its object must be clear.
func (c *Clause) Unresolved(timed bool) bool {
	switch c.W(c.Vi + 1) {
	case "it", "them", "him", "this", "that", "these", "those", "so", "what", "how":
		if c.W(c.Vi+1) != "this" && c.W(c.Vi+1) != "that" || len(c.Words) == c.Vi+2 || !timed {
			return true
		}
	}
	for i := c.Vi + 1; i < len(c.Words) && !timed; i++ {
		switch c.W(i) {
		case "because", "when", "that", "who", "which", "while", "since", "so", ",", "where":
			return false
		case "it", "them", "him", "this", "these", "those", "what":
			return true
		}
	}
	return false
}

// Evening reports whether an event "at seven" is after noon.
func Evening(noun string) bool {
	return syntax.StartsWithAny(noun, []string{"dinner", "drink", "party", "concert", "film", "movie", "show"})
}

// feast returns the feast with which a clause begins, and how many words it has.
func (c *Clause) feast() (*feast.Feast, int) {
	if len(c.Words) == 0 {
		return nil, 0
	}
	return feast.At(c.At, c.Words[0].Tok)
}

// HasHabit reports whether the clause names a recurring time.
func (c *Clause) HasHabit() bool {
	return slices.ContainsFunc(c.Whens, func(w timex.When) bool { return w.Habit })
}

// TableFor reports whether a clause is about a table that is booked, whose hour is that of the
// meal.
func (c *Clause) TableFor() bool {
	for i := range c.Toks {
		if timex.Tabled(c.Sentence, i) {
			return true
		}
	}
	return false
}

// toCome moves a past hour of today into the half of the day that is still to come, if the words do
// not say which is meant: at ten "a meeting at seven" is in the evening, and midnight is the next
// one.
func (c *Clause) toCome(w *timex.When, now timex.Moment) {
	if c.Past || c.Perfect || w.Habit || !w.OverToday(now) {
		return
	}
	at := w.First
	w.Ahead12(now)
	for i := range c.Whens {
		if o := &c.Whens[i]; o != w && o.First == at && o.OverToday(now) {
			o.Ahead12(now)
		}
	}
}

// Hay returns the text by which a plan is found, in lower case: its slot and its words. Somebody
// who flies has a flight.
func (p *Plan) Hay() string {
	s := strings.ToLower(p.Attribute + " " + p.Label)
	if HoldsWord(s, "flying") || HoldsWord(s, "fly") || HoldsWord(s, "flies") || syntax.ContainsAny(s, "飞往", "飞去", "飞到", "要飞", "飞回", "计划：飞") {
		s += " flight 航班 飞机"
	}
	return s
}

// State reports whether a clause says how some thing is now: "the lift is out of order".
func (c *Clause) State() bool {
	return c.Kind == 't' && c.Verb == "be" && !Pronoun(c.Thing) && !c.Past && !c.Neg && !c.Modal
}

// OutagesZh are words for water, power and the like that a house will not have, or for the works that are the reason.
var OutagesZh = []string{"停水", "停电", "停气", "停暖", "停热水", "停煤气", "断水", "断电", "断网", "停网", "检修", "消杀", "停课", "施工", "清洗水箱"}

// onceVerbs are verbs for what a thing does once.
var onceVerbs = syntax.Set("end expire start begin finish arrive depart land run close open leave launch stop")
