package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// Classes of ordinary talk that have no verb of their own in english.go: what ails a part of
// the body, what somebody does as a matter of course, what they have decided, what was
// decided about them, and what a thing of theirs measures.

// ails takes "my back's been playing up", "my knee hurts".
func (t *talk) ails(c *clause) bool {
	if !c.own || c.neg || c.modal || c.future || !bodyPart[last(c.thing)] && !bodyPart[trimS(last(c.thing))] {
		return false
	}
	if last(c.thing) == "heart" && (c.w(c.vi+1) == "broken" || c.verb == "break" || c.verb == "ache") {
		return false
	}
	ail := ailing[c.verb]
	if c.verb == "play" {
		ail = c.w(c.vi+1) == "up"
	}
	if c.verb == "be" {
		for i := c.vi + 1; i < min(len(c.words), c.vi+5); i++ {
			ail = ail || ailing[c.w(i)] || c.w(i) == "playing" && c.w(i+1) == "up"
		}
	}
	if !ail || c.past && !c.perfect && len(c.whens) == 0 {
		return false
	}
	f := t.fact(c, "health", "complaint", last(c.thing), true, 0.75)
	if f != nil {
		f.Sensitivity = "private"
	}
	return f != nil
}

// ailing words say of a part of the body that it is not well.
var ailing = set("hurt hurts hurting ache aches aching sore swollen stiff numb blocked killing bad broken sprained painful throbbing itchy infected inflamed bruised strained worse")

// routine reports what is done as a matter of course, in the plain present with how, where
// or how much: "I cycle to work", "I take my coffee black", "I run five kilometres".
func (c *clause) routine() bool {
	if c.past || c.ing || c.perfect || c.neg || c.modal || c.kind == 't' || c.kind == 'y' || len(c.words)-c.vi < 3 {
		return false
	}
	switch c.verb {
	case "run", "cycle", "swim", "walk", "commute", "jog", "bike", "drive", "practise", "practice", "train", "read", "cook", "bake", "meditate", "stretch", "row", "paint", "garden":
	case "take", "drink", "have":
		return (c.w(c.vi+1) == "my" || c.w(c.vi+1) == "our") && (last(c.join(0, len(c.words))) == "black" || c.find(c.vi, 6, "with") > 0 || c.find(c.vi, 6, "without") > 0) && food(c.join(c.vi, len(c.words)))
	case "work":
		w := c.w(c.vi + 1)
		return w == "part" || w == "full" || w == "nights" || w == "shifts" || w == "freelance"
	default:
		return false
	}
	for i := c.vi + 1; i < len(c.words); i++ {
		switch c.w(i) {
		case "to", "before", "after", "with", "in", "every", "round", "around", "from", "at", "for":
			return i+1 < len(c.words) && !personal(c.w(i+1))
		case "kilometres", "kilometers", "miles", "km", "k", "lengths", "laps", "metres":
			return true
		case "out", "into", "over", "away", "off", "if", "when", "it":
			return false
		}
	}
	return false
}

// intends takes what somebody has decided to do or not to do, without a time: "I'm not going
// to renew the gym membership", "I'm keeping the old car", "we're getting a puppy".
func (t *talk) intends(c *clause) bool {
	if c.kind != 's' && c.kind != 'w' && c.kind != 'p' || c.past || c.perfect && !c.must || c.modal || c.can || c.maybe || c.conditional() || c.ends == "?" || c.toks[0].s == "let's" {
		return false
	}
	resolved := c.must && c.intend && !inward[c.verb] && c.verb != "be" && (c.neg || c.find(0, c.vi, "decided") >= 0) // "I've decided not to go to the reunion"
	switch c.verb {
	case "renew", "keep", "sell", "adopt", "quit", "leave", "accept", "cancel", "change", "switch", "replace", "retire", "apply", "vote", "marry", "move", "get", "buy", "take", "rent", "build":
	default:
		if !resolved {
			return false
		}
	}
	arranged := c.ing && !c.neg && !c.future && (c.verb == "keep" || c.verb == "sell" || c.verb == "adopt" || c.verb == "get" && (c.w(c.vi+1) == "a" || c.w(c.vi+1) == "another" || c.w(c.vi+1) == "rid"))
	refused := c.neg && (c.future || c.ing) || resolved
	if !arranged && !refused {
		return false
	}
	o, _ := c.object(c.vi + 1)
	if o == "" || vague(o) || c.unresolved(false) || personal(c.w(c.vi+1)) {
		return false
	}
	switch last(strings.ToLower(o)) {
	case "cold", "headache", "feeling", "sense", "point", "quiet", "track", "eye", "call", "signal", "error", "message", "idea", "chance", "break", "word", "married", "drink":
		return false
	}
	if refused {
		switch c.verb {
		case "get", "take", "keep", "leave", "cancel", "move":
			if !determiner(c.w(c.vi + 1)) {
				return false
			}
		}
	}
	d := *c
	if len(d.whens) > 0 && d.firstTime() != nil && d.firstTime().hasDay {
		return false
	}
	a := t.base(&d, "episodic", "plan", 0.65)
	a.EventType, a.Actor = "plan", c.subj.name
	t.out.Candidates = append(t.out.Candidates, a)
	return true
}

// chosen reports a decision that is told with what it is about: "I chose the cheaper
// insurance", "they offered me the job".
func (c *clause) chosen() bool {
	if c.neg || c.modal || !c.past && !c.perfect || c.conditional() {
		return false
	}
	i := c.vi + 1
	switch c.verb {
	case "choose", "pick", "accept", "reject", "decline", "refuse", "sign", "renew", "return", "switch":
	case "offer", "give", "grant":
		if c.w(i) != "me" && c.w(i) != "us" {
			return false
		}
		i++
		if c.verb == "give" {
			switch last(o2(c, i)) {
			case "job", "discount", "refund", "rise", "raise", "notice", "loan", "mortgage", "place", "deposit", "contract", "promotion", "licence", "license", "visa", "prescription":
			default:
				return false
			}
		}
	case "go":
		if c.w(i) != "with" {
			return false
		}
		i++
	case "turn":
		if c.w(i) != "down" {
			return false
		}
		i++
	case "settle":
		if c.w(i) != "on" {
			return false
		}
		i++
	default:
		return false
	}
	o, _ := c.object(i)
	words := strings.Fields(o)
	return len(words) > 0 && !vague(o) && !personal(words[0]) && !pronoun(words[0]) && (determiner(c.w(i)) || c.capital(i) || len(words) > 1)
}

// they takes what others, who are not named, decided about the speaker: "they offered me the
// team lead job", "they went with the Danish supplier".
func (t *talk) they(c *clause) bool {
	if c.thing != "they" || !c.chosen() {
		return false
	}
	a := t.base(c, "episodic", "event", 0.6)
	a.EventType, a.Started = "event", t.toldAt(c.sentence)
	if w := c.firstTime(); w != nil && w.hasDay {
		w.past(t.now)
		a.Started = moment{w.day, 0, t.now.offset}.unix()
		a.Text = t.rewrite(c)
	}
	t.out.Candidates = append(t.out.Candidates, a)
	return true
}

// measured takes what a thing has: "our house number is forty-four", "the flat is eighty-two
// square metres".
func (t *talk) measured(c *clause, i int) bool {
	if c.verb != "be" || c.past || c.neg || c.modal || pronoun(c.thing) || c.firstTime() != nil && c.firstTime().hasDay {
		return false
	}
	if c.own && t.level(c, i) {
		return true
	}
	if k := i + boolInt(c.w(i) == "number"); c.own && byNumber[last(c.thing)] && k+1 == len(c.words) && strings.ContainsAny(c.w(k), "0123456789") {
		return t.fact(c, "place", strings.ReplaceAll(c.thing, " ", "_"), c.cased(k), false, 0.8) != nil
	}
	_, counted := number(c.w(i))
	if !counted && !numeric(c.w(i)) || c.w(i) == "a" || c.w(i) == "an" || c.w(i) == "one" {
		return false
	}
	switch {
	case c.own && last(c.thing) == "number":
		return t.fact(c, "biography", strings.ReplaceAll(c.thing, " ", "_"), c.trim(i, len(c.words)), false, 0.8) != nil
	case c.own || thingWord(last(c.thing)):
		for k := i + 1; k < len(c.words); k++ {
			switch c.w(k) {
			case "metres", "meters", "square", "kilos", "kg", "litres", "feet", "inches", "centimetres", "euros", "pounds", "dollars", "quid":
				return t.factOf(c, "possession", "measures", c.trim(i, len(c.words)), true, 0.7) != nil
			}
		}
	}
	return false
}

// byNumber are things that one finds by their number: "my locker is number 214", "our seat is 14C".
var byNumber = set("locker room seat table desk cabin platform gate bay cubicle carriage coach berth pitch mailbox cage stall")

// level takes that what is measured of somebody is too high or too low: "my cholesterol is too high".
func (t *talk) level(c *clause, i int) bool {
	switch c.thing {
	case "cholesterol", "blood pressure", "blood sugar", "iron", "vitamin d", "heart rate", "pulse", "thyroid":
	default:
		return false
	}
	how := ""
	for k := i; k < len(c.words) && how == ""; k++ {
		switch w := c.w(k); w {
		case "high", "raised", "up", "elevated":
			how = "high "
		case "low", "down":
			how = "low "
		default:
			if !adverb(w) && w != "too" && w != "a" && w != "bit" && w != "quite" && w != "very" && w != "rather" && w != "slightly" {
				return false
			}
		}
	}
	f := (*abi.Candidate)(nil)
	if how != "" {
		f = t.fact(c, "health", "condition", how+c.thing, true, 0.8)
	}
	if f != nil {
		f.Sensitivity = "private"
	}
	return f != nil
}

// lies takes "the good scissors live in the kitchen drawer".
func (t *talk) lies(c *clause) bool {
	if c.verb != "live" && c.verb != "belong" && c.verb != "hang" || c.past || c.neg || pronoun(c.thing) || kin(last(c.thing)) {
		return false
	}
	i := c.vi + 1
	if w := c.w(i); w != "in" && w != "on" && w != "under" && w != "behind" && w != "above" || len(c.words)-i < 3 {
		return false
	}
	where := c.join(i, len(c.words))
	words := strings.Fields(where)
	if !rooms[strings.ToLower(words[len(words)-1])] && !storage[strings.ToLower(words[len(words)-1])] {
		return false
	}
	return t.locatedAt(c, where)
}

// storage words end what says where things are kept.
var storage = set("drawer drawers box boxes basket shelf cupboard cabinet wardrobe closet fridge freezer hook hooks rack bag case safe shed garage car boot trunk sink stairs door desk table bed counter windowsill")

// fails notes that a thing of a house has failed: "the dishwasher's leaking again".
func (t *talk) fails(c *clause, i int) bool {
	noun := last(c.thing)
	idle := c.neg && (c.verb == "start" || c.verb == "work" || c.verb == "turn" || c.verb == "charge" || c.verb == "open" || c.verb == "close" || c.verb == "heat") && !c.past && !c.perfect
	if c.neg && !idle || c.modal || c.future && !idle || c.conditional() || len(c.whens) > 0 && idle || !household[noun] && !aboutThings[noun] && !thingWord(noun) {
		return false
	}
	next := c.w(i)
	switch c.verb {
	case "be":
		ready := c.own && next == "ready" && len(c.whens) == 0
		if !failing[next] && !ready || c.past {
			return false
		}
	case "stop":
		if next != "working" {
			return false
		}
	case "break", "pack", "conk", "blow":
		if c.verb != "break" && next != "up" && next != "out" && next != "in" || c.verb == "break" && next != "" && next != "down" {
			return false
		}
	case "burst", "leak", "leaked", "conked", "packed":
	default:
		if !idle {
			return false
		}
	}
	if t.part == Facts {
		t.noteClause(c, c.sentence, c.past || c.perfect, false, notedSure)
	}
	return true
}

// household are things of a house that fail, besides those of aboutThings.
var household = set("tap toilet sink pipe lift tyre shower drain window freezer dryer hoover kettle toaster heater heating alarm gutter machine hob")

// failing words say of a thing that it does not work.
var failing = set("leaking broken blocked flooded faulty cracked dripping bust knackered")
