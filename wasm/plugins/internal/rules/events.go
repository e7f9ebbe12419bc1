package rules

import (
	"strings"
)

// slotName makes an attribute of a plan without an event noun: "plan: send mia slides".
func (c *clause) slotName() string {
	b := "plan:" + c.thingSlot()
	n := 0
	switch {
	case !c.dueOnce():
	case c.verb == "be":
		return b + " due"
	default:
		return b + " " + third(c.verb) // the passport, and not the visa
	}
	from := c.vi
	if c.verb == "say" { // what it says, of itself or of something else
		if from++; c.w(from) == "that" {
			from++
		}
		if w := c.w(from); subjectPronoun(w) {
			from++
		} else if !auxiliary(w) {
			b = "plan:"
		}
	}
	for i := from; i < len(c.words) && n < 5; i++ {
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
	if c.toks[0].s == "let's" && !outing[c.verb] {
		return // "let's make tomorrow unforgettable"
	}
	if moves(c.verb) && conditioned(c.sentence) {
		return // "we move the meeting to Friday if Laura is ill"
	}
	switch c.verb {
	case "remember", "forget", "miss", "love", "like", "know", "think", "see you", "believe", "feel", "hate", "wish":
		return
	}
	if c.callsBack(w, t.now) || t.leavesOpen(c) {
		return
	}
	if c.usedTo || c.modal && c.find(1, c.vi, "would") > 0 && conditioned(c.sentence) {
		return // "we'd be in Rome on Friday if we had the money"
	}
	if attr, _ := c.eventIn(); c.neg && attr == "" || c.neg && w == nil || c.verb == "be" && w == nil || c.kind == 'y' && w == nil {
		return
	}
	if w == nil || !w.hasDay && !w.clock {
		if c.dangling() {
			return
		}
		if !c.todo() && (c.intend && !c.must || c.conditional() || c.kind != 's' && c.kind != 'w' || !errand[c.verb] && !(c.future && c.announced()) || !c.future && c.kind != 's' || c.maybe || len(c.words)-c.vi < 3 || o2(c, c.vi+1) == "" || vague(o2(c, c.vi+1)) && len(c.words)-c.vi < 4) {
			return
		}
		p := plan{subject: c.subj.key, attribute: c.slotName(), what: "promise"}
		a := t.emit(p, t.rewrite(c), "promise", 0.65, c.sentence, false)
		a.Entities = t.entities(c)
		return
	}
	if t.dayed && !w.hasDay {
		return // "…on Wednesday, so I'll be up at six": today's six, or Wednesday's?
	}
	t.planAt(c, w)
}

// conditional reports whether what a clause says hangs on something.
func (c *clause) conditional() bool {
	for i := range c.words {
		switch c.w(i) {
		case "if", "unless", "when", "once", "whenever", "maybe", "perhaps":
			return true
		}
	}
	return false
}

// announced reports whether "I'm going to …" says something to come that one
// would remember without its date: "I'm gonna open my own dance studio".
func (c *clause) announced() bool {
	switch c.verb {
	case "start", "open", "launch", "adopt", "apply", "study", "train", "travel", "buy", "sell", "marry", "join", "run", "host", "volunteer", "build", "perform", "compete", "move", "quit", "retire", "propose":
		return c.matter() || c.verb == "apply" || c.verb == "move" || c.verb == "retire" || c.verb == "travel"
	}
	return false
}

// errand verbs make a plan of "I'll …" even without a time.
var errand = set("send ring bring buy call email book pick return pay fix write collect finish order ask help cook visit apply phone text lend drop repair print renew prepare organise organize submit water feed " +
	"发 送 寄 买 给 带 交 写 查 问 还 订 取 接 转 把 帮") // "I'll 发 you the file"

// chores are what somebody has to do beside errands, where they say that they have to.
var chores = set("get find paint replace change check clean wash tidy schedule arrange download upload install sign charge empty mow iron sew hang measure cancel register exchange vacuum update post mail " +
	"borrow copy print scan sort pack unpack plant prune walk invite thank remind message contact return reply tell file defrost wrap sharpen assemble refill descale pump inflate tune water feed")

// todo reports what the speaker says has to be done, of something in particular: "I need to get new tyres",
// "we have to paint the fence".
func (c *clause) todo() bool {
	if !c.must || c.neg || c.past || c.perfect || c.maybe || c.ends == "?" || c.conditional() || c.kind != 's' && c.kind != 'w' || !errand[c.verb] && !chores[c.verb] {
		return false
	}
	o, first := strings.ToLower(o2(c, c.vi+1)), c.w(c.vi+1)
	if o == "" || vague(o) || holdsWord(o, "way") || holdsWord(o, "ways") || holdsWord(o, "word") || personal(first) || preposition(first) || adverb(first) || subjectPronoun(first) {
		return false
	}
	switch c.verb {
	case "get", "find", "change", "check", "tell":
		return !oneself[last(o)] && (determiner(first) || first == "my" || first == "our" || first == "new" || strings.HasSuffix(o, "s") || c.capital(c.vi+1))
	}
	return true
}

// oneself is what one gets, finds and changes in oneself: "I need to change my life".
var oneself = set("ready going started up used better way ways time balance life mind job sleep rest one myself help done attitude out back home together over away down")

func (t *talk) planAt(c *clause, w *when) {
	if w.hasDay && !w.habit && !w.weekday && w.day < t.now.day && (w.grain == 'd' || w.grain == 0 || w.grain == 'w' && w.day+6 < t.now.day || w.grain == 'M' && w.day+31 < t.now.day || w.grain == 'y' && w.day+366 < t.now.day) {
		return // it is over: "I'll always remember our trip last year"
	}
	if c.offers() {
		return
	}
	c.toCome(w, t.now)
	attr, noun := c.eventIn()
	if strings.HasSuffix(attr, "_appointment") && (c.verb == "say" || c.until(w) || spoken[c.verb]) {
		attr = "" // "the hospital says there's no bed", "at the vet until tomorrow", "I'll ring the vet tomorrow"
	}
	kind := "plan"
	if attr != "" {
		kind = "appointment"
	} else {
		attr, noun = c.slotName(), "plan"
	}
	if i := c.eventAt(); i > 0 && c.w(i-1) == "no" { // "there's no class on Friday"
		if _, known := t.ends(c, attr, 0, len(c.toks), noun); known {
			t.cancelled(c, attr)
			return
		}
		kind, attr, noun = "plan", "plan: no "+noun, "plan"
	}
	if w.clock && !w.sure && evening(noun) && w.minute >= 5*60 && w.minute < 12*60 {
		for i := range c.whens {
			if o := &c.whens[i]; o != w && o.clock && !o.sure && o.minute == w.minute {
				o.minute += 12 * 60 // so that the text has the same hour
			}
		}
		w.minute += 12 * 60
	}
	subject := c.subj.key
	if subject == "" {
		subject = t.self.key
	}
	if to, ok := t.addressee(); ok && kind == "appointment" && c.kind == 's' && c.w(c.vi+1) == "you" && (c.verb == "have" || c.verb == "put" || c.verb == "book") {
		subject = to.key // "I've got you at the vet on Friday"
	}
	p := plan{subject: subject, attribute: attr, what: noun, day: w.day, minute: w.minute, clock: w.clock}
	if o, known := t.find(strings.ReplaceAll(attr, "_", " "), attr); known && kind == "appointment" && o.subject == subject && !w.hasDay {
		p.day = o.day
	}
	p.label = t.label(c)
	ended := closed(c.sentence, c.whens, w, t.now, false)
	if kind == "plan" && c.until(w) && !w.habit && w.day > t.now.day {
		p.day, p.clock, ended = t.now.day, false, w.ends() // "I'm away until Friday": from now on
	}
	if !w.habit && kind == "plan" && (c.unresolved(false) || c.w(c.vi+1) == "her" && c.vi+2 == len(c.words)) {
		p.attribute += " " + p.value() // whom "visit her" means changes from one line to the next
	}
	if !w.habit {
		t.another(&p, c.definite())
	}
	a := t.emit(p, t.rewrite(c), kind, 0.88, c.sentence, c.neg)
	a.Entities = t.entities(c)
	if c.subj.name != "" {
		a.Actor = c.subj.name
	}
	if w.habit {
		a.Started = 0
	} else if a.Started > 0 {
		a.Ended = ended
	}
	if place := c.place("at", "in"); place != "" {
		a.Place = place
	}
}

// spoken are verbs of calling and writing to somebody: no visit.
var spoken = set("ring phone text email message write ask tell pay")

// planned takes "I have a dentist appointment on Thursday".
func (t *talk) planned(c *clause, w *when) bool {
	if attr, _ := c.eventIn(); attr == "" {
		return false
	}
	for k := c.vi + 1; k < min(len(c.words), c.vi+4); k++ {
		switch c.w(k) {
		case "no":
			c.neg = true
			return true
		}
	}
	if !w.hasDay && t.heldDay(c) != nil {
		return true // today's three, or that of the day that somebody else has named?
	}
	if !w.hasDay {
		w.set(t.now.day, 'd')
	}
	if c.past && (!w.weekday || c.verb == "have") {
		return false // "we had a class on Monday"
	}
	d := *c
	d.past = false // "I got an appointment on Monday"
	t.planAt(&d, w)
	return true
}

// offers reports whether a clause names times to choose from, and nothing that is then: "we've got Monday at
// nine, or Tuesday at four".
func (c *clause) offers() bool {
	if c.verb != "have" && c.verb != "get" && c.verb != "do" && c.verb != "offer" {
		return false
	}
	choice := false
	for k := c.vi + 1; k < len(c.words); k++ {
		switch c.w(k) {
		case "or", "either", "free", "available", "open":
			choice = true
		case "got", "and", ",", "only", "also", "you", "at", "in":
		default:
			if _, ok := number(c.w(k)); !ok {
				return false
			}
		}
	}
	return choice && c.firstTime() != nil
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
	to := c.movedTo(t.now)
	if to != nil {
		w = to
	} else if w != nil && (c.innerOf(w).toCome || c.aimed(w)) {
		w = nil // of another clause: "I met Ben, who is moving in January"
	}
	asked := c.verb == "be" && c.w(c.vi+1) == "asked" && c.w(c.vi+2) == "to" && w != nil
	if w != nil && (w.assumed > 0 || w.weekday) && (announcing[c.verb] || c.befell() && offered[c.w(c.vi+1)] || asked) {
		undated := *c // "we discussed the party on Saturday", "I was invited to a wedding in June": which one?
		undated.whens = nil
		c, w = &undated, nil
	}
	if reasons[c.at(0)] && (c.find(c.vi+1, len(c.words), "i") >= 0 || c.find(c.vi+1, len(c.words), "we") >= 0) {
		return // "because I broke my leg I can't come" is two clauses
	}
	momentous := c.momentous()
	switch c.verb {
	case "say":
		if c.kind == 't' || w == nil || !w.hasDay {
			return
		}
	case "think", "know", "feel", "mean", "guess", "tell", "want", "need", "hope", "forget", "remember", "hear", "decide", "try", "be", "like", "love", "hate", "do", "have", "mention", "realise", "realize",
		"notice", "agree", "wonder", "ask", "talk", "chat", "respond", "seem", "look", "sound", "help", "learn", "enjoy", "miss", "let", "keep", "continue", "encourage", "include", "admire":
		if (w == nil || !w.hasDay) && !momentous && !asked && !c.befell() || c.verb == "think" || c.verb == "mean" || c.verb == "guess" || c.verb == "know" {
			return
		}
	}
	if they := c.w(0) == "they" && c.find(c.vi, len(c.words), "my") < 0 && c.find(c.vi, len(c.words), "our") < 0; they || t.nowhere(c) || t.leavesOpen(c) {
		return // who, and where to?
	}
	if c.kind == 'y' && (w == nil || !w.hasDay) || c.unresolved(w != nil && w.hasDay) && !momentous || c.movedOn(t.plain) {
		return
	}
	place := c.place("to", "at", "in", "from")
	with, _ := c.after(c.vi+1, 6, "with")
	timed := w != nil && w.hasDay
	named := false
	for i := c.vi + 1; i < len(c.words); i++ {
		named = named || c.capital(i) && nameWord(c.w(i))
	}
	if c.verb == "pass" && !timed && !c.examined() {
		return // the salt
	}
	if w := c.w(c.vi + 1); !named && (w == "it" || w == "them" || w == "that" || w == "this") {
		return // nobody will know what
	}
	if _, ok := number(c.w(c.vi + 1)); ok && c.vi+2 == len(c.words) {
		return // "I had two"
	}
	if (c.verb == "stop" || c.verb == "quit" || c.verb == "start" || c.verb == "begin") && (c.vi == len(c.words)-1 || c.w(c.vi+1) == ",") && c.kind != 't' {
		return // what? "I used to smoke, but I stopped two years ago"
	}
	hurt := (c.verb == "break" || c.verb == "hurt" || c.verb == "sprain") && c.w(c.vi+1) == "my" && !dull[last(strings.ToLower(o2(c, c.vi+1)))]
	got := c.verb == "get" && attained[c.w(c.vi+1)] || c.examined() || c.befell()
	if first := c.w(c.vi + 1); c.verb == "get" && (c.kind == 's' || c.kind == 'p') && (first == "a" || first == "an" || first == "the" && given[last(o2(c, c.vi+1))]) {
		got = got || first == "the" || granted[last(o2(c, c.vi+1))] || len(c.w(c.vi+2)) == 1 && strings.Contains("abcdef", c.w(c.vi+2)) && c.find(c.vi+3, 2, "in") > 0 // "a B plus in French"
	}
	got = got || momentous || asked
	died := c.verb == "die" && c.kind == 'p'
	paid := (c.verb == "pay" || c.verb == "spend" || c.verb == "earn" || c.verb == "lend") && c.amount()
	if !timed && !hurt && !got && !paid && !died && !c.chosen() && (!deed(c.verb) || !named && with == "" && (place == "" || vague(place))) || len(c.words)-c.vi < 2 && !timed && !died && !momentous {
		return
	}
	conf := 0.85
	if !timed {
		conf = eventSure
	}
	a := t.base(c, "episodic", "event", conf)
	a.EventType, a.Actor = "event", c.subj.name
	a.Place = c.place("to", "at", "in") // where from is no place of it
	a.Started = t.toldAt(c.sentence)
	if c.conditional() || c.longAgo() || c.verb == "meet" && schooldays[last(strings.ToLower(a.Place))] { // "when I was twelve", "I met my wife at university"
		a.Started = 0
	}
	if timed {
		if to == nil && !c.calledOffOn(w) {
			w.past(t.now)
		}
		if a.Started = w.unix(); !w.clock {
			a.Started = moment{w.day, 0, t.now.offset}.unix()
		}
		a.Ended = closed(c.sentence, c.whens, w, t.now, true)
		a.Text = t.rewrite(c)
	}
	t.out.Candidates = append(t.out.Candidates, a)
}

// movedOn reports a move to where nobody can be: "we moved to the next topic".
func (c *clause) movedOn(plain bool) bool {
	if c.verb != "move" {
		return false
	}
	i := c.vi + 1
	if c.w(i) == "on" {
		return true
	}
	to, ok := c.wentTo(i)
	return ok && abodeOf(to, plain) == noAbode
}

// outing verbs make an appointment of "let's …".
var outing = set("meet have go do grab get eat see watch catch call play book take visit start leave talk speak move push say cook drive")

// announcing are deeds whose time may be that of what they are about.
var announcing = set("suggest recommend announce approve refuse discuss remind assure confirm propose offer invite")

// unresolved reports whether a clause leaves open whom or what it is about:
// "I talked to him afterwards". With a time, only its object must be clear.
func (c *clause) unresolved(timed bool) bool {
	switch c.w(c.vi + 1) {
	case "it", "them", "him", "this", "that", "these", "those", "so", "what", "how":
		if c.w(c.vi+1) != "this" && c.w(c.vi+1) != "that" || len(c.words) == c.vi+2 || !timed {
			return true
		}
	}
	for i := c.vi + 1; i < len(c.words) && !timed; i++ {
		switch c.w(i) {
		case "because", "when", "that", "who", "which", "while", "since", "so", ",", "where":
			return false
		case "it", "them", "him", "this", "these", "those", "what":
			return true
		}
	}
	return false
}

// evening says whether an event that is "at seven" is so after noon.
func evening(noun string) bool {
	return startsWithAny(noun, []string{"dinner", "drink", "party", "concert", "film", "movie", "show"})
}
