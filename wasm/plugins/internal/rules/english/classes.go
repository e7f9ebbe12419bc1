package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Classes of ordinary talk that have no verb of their own in personal.go: complaints about a part
// of the body, habits, decisions, decisions of others about somebody, and measurements of their
// things.

// ails takes "my back's been playing up", "my knee hurts".
func ails(t *discourse.Talk, c *discourse.Clause) bool {
	if !c.Own || c.Neg || c.Modal || c.Future || !bodyPart[discourse.Last(c.Thing)] && !bodyPart[syntax.Singular(discourse.Last(c.Thing))] {
		return false
	}
	if discourse.Last(c.Thing) == "heart" && (c.W(c.Vi+1) == "broken" || c.Verb == "break" || c.Verb == "ache") {
		return false
	}
	ail := ailing[c.Verb]
	if c.Verb == "play" {
		ail = c.W(c.Vi+1) == "up"
	}
	if c.Verb == "be" {
		for i := c.Vi + 1; i < min(len(c.Words), c.Vi+5); i++ {
			ail = ail || ailing[c.W(i)] || c.W(i) == "playing" && c.W(i+1) == "up"
		}
	}
	if !ail || c.Past && !c.Perfect && len(c.Whens) == 0 {
		return false
	}
	f := t.Fact(c, "health", "complaint", discourse.Last(c.Thing), true, 0.75)
	if f != nil {
		f.Sensitivity = "private"
	}
	return f != nil
}

// ailing are words that say that a part of the body is not well.
var ailing = syntax.Set("hurt hurts hurting ache aches aching sore swollen stiff numb blocked killing bad broken sprained painful throbbing itchy infected inflamed bruised strained worse")

// routine reports whether something is done regularly, in the simple present with how, where or how
// much: "I cycle to work", "I take my coffee black", "I run five kilometres".
func routine(c *discourse.Clause) bool {
	if c.Past || c.Ing || c.Perfect || c.Neg || c.Modal || c.Kind == 't' || c.Kind == 'y' || len(c.Words)-c.Vi < 3 {
		return false
	}
	switch c.Verb {
	case "run", "cycle", "swim", "walk", "commute", "jog", "bike", "drive", "practise", "practice", "train", "read", "cook", "bake", "meditate", "stretch", "row", "paint", "garden":
	case "take", "drink", "have", "catch", "get":
		if rides(c) {
			return true
		}
		return c.Verb != "catch" && c.Verb != "get" && (c.W(c.Vi+1) == "my" || c.W(c.Vi+1) == "our") && (discourse.Last(c.Join(0, len(c.Words))) == "black" || c.Find(c.Vi, 6, "with") > 0 || c.Find(c.Vi, 6, "without") > 0) && food(c.Join(c.Vi, len(c.Words)))
	case "work":
		w := c.W(c.Vi + 1)
		return w == "part" || w == "full" || w == "nights" || w == "shifts" || w == "freelance"
	default:
		return false
	}
	for i := c.Vi + 1; i < len(c.Words); i++ {
		switch c.W(i) {
		case "to", "before", "after", "with", "in", "every", "round", "around", "from", "at", "for":
			return i+1 < len(c.Words) && !discourse.Personal(c.W(i+1))
		case "kilometres", "kilometers", "miles", "km", "k", "lengths", "laps", "metres":
			return true
		case "out", "into", "over", "away", "off", "if", "when", "it":
			return false
		}
	}
	return false
}

// rides reports whether somebody goes to work, to school or into town by a line that has a number or
// a name: "I take the 42 to work".
func rides(c *discourse.Clause) bool {
	i := c.Vi + 1
	if c.W(i) != "the" || len(c.Whens) > 0 && !c.HasHabit() {
		return false
	}
	_, numbered := syntax.Number(c.W(i + 1))
	line := numbered || lines[c.W(i+1)] || lines[c.W(i+2)] || lines[c.W(i+3)]
	to := c.Find(i+2, 4, "to")
	if to < 0 {
		to = c.Find(i+2, 4, "into")
	}
	where := c.W(to + 1)
	if where == "the" {
		where = c.W(to + 2)
	}
	return line && to > 0 && commutes[where]
}

var (
	lines    = syntax.Set("bus tram tube train metro underground subway ferry coach")
	commutes = syntax.Set("work school uni university college nursery office town church")
)

// intends takes what somebody has decided to do or not to do, without a time: "I'm not going
// to renew the gym membership", "I'm keeping the old car", "we're getting a puppy".
func intends(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Kind != 's' && c.Kind != 'w' && c.Kind != 'p' || c.Past || c.Perfect && !c.Must || c.Modal || c.Can || c.Maybe || c.Conditional() || c.Ends == "?" || c.Toks[0].S == "let's" {
		return false
	}
	resolved := c.Must && c.Intend && !noted.Inward[c.Verb] && c.Verb != "be" && (c.Neg || c.Find(0, c.Vi, "decided") >= 0) // "I've decided not to go to the reunion"
	switch c.Verb {
	case "renew", "keep", "sell", "adopt", "quit", "leave", "accept", "cancel", "change", "switch", "replace", "retire", "apply", "vote", "marry", "move", "get", "buy", "take", "rent", "build":
	case "go":
		if _, event := syntax.EventNoun(c.W(c.Vi + 3)); !resolved && (!c.Neg || c.W(c.Vi+1) != "to" || !c.Capital(c.Vi+2) && !event) {
			return false // "I'm not going to the wedding"
		}
	default:
		if !resolved {
			return false
		}
	}
	arranged := c.Ing && !c.Neg && !c.Future && (c.Verb == "keep" || c.Verb == "sell" || c.Verb == "adopt" || c.Verb == "get" && (c.W(c.Vi+1) == "a" || c.W(c.Vi+1) == "another" || c.W(c.Vi+1) == "rid"))
	refused := c.Neg && (c.Future || c.Ing) || resolved
	if !arranged && !refused {
		return false
	}
	o, _ := c.Object(c.Vi + 1)
	if o == "" || discourse.Vague(o) || c.Unresolved(false) || discourse.Personal(c.W(c.Vi+1)) {
		return false
	}
	switch discourse.Last(strings.ToLower(o)) {
	case "cold", "headache", "feeling", "sense", "point", "quiet", "track", "eye", "call", "signal", "error", "message", "idea", "chance", "break", "word", "married", "drink":
		return false
	}
	if refused {
		switch c.Verb {
		case "get", "take", "keep", "leave", "cancel", "move":
			if !syntax.Determiner(c.W(c.Vi+1)) || c.Verb == "get" && c.Find(1, c.Vi, "never") > 0 { // "we'll never get the washing dry"
				return false
			}
		}
	}
	d := *c
	if len(d.Whens) > 0 && d.FirstTime() != nil && d.FirstTime().HasDay {
		return false
	}
	a := t.Base(&d, "episodic", "plan", 0.65)
	a.EventType, a.Actor = "plan", c.Subj.Name
	t.Out.Candidates = append(t.Out.Candidates, a)
	return true
}

// chosen reports whether a decision is told with its object: "I chose the cheaper insurance", "they
// offered me the job".
func chosen(c *discourse.Clause) bool {
	if c.Neg || c.Modal || !c.Past && !c.Perfect || c.Conditional() {
		return false
	}
	i := c.Vi + 1
	switch c.Verb {
	case "choose", "pick", "accept", "reject", "decline", "refuse", "sign", "renew", "return", "switch":
	case "offer", "give", "grant":
		if c.W(i) != "me" && c.W(i) != "us" {
			return false
		}
		i++
		if c.Verb == "give" {
			switch discourse.Last(discourse.ObjectOf(c, i)) {
			case "job", "discount", "refund", "rise", "raise", "notice", "loan", "mortgage", "place", "deposit", "contract", "promotion", "licence", "license", "visa", "prescription":
			default:
				return false
			}
		}
	case "go":
		if c.W(i) != "with" {
			return false
		}
		i++
	case "turn":
		if c.W(i) != "down" {
			return false
		}
		i++
	case "settle":
		if c.W(i) != "on" {
			return false
		}
		i++
	default:
		return false
	}
	o, _ := c.Object(i)
	words := strings.Fields(o)
	return len(words) > 0 && !discourse.Vague(o) && !discourse.Personal(words[0]) && !discourse.Pronoun(words[0]) && (syntax.Determiner(c.W(i)) || c.Capital(i) || len(words) > 1)
}

// they takes what others, who are not named, decided about the speaker: "they offered me the team
// lead job", "they went with the Danish supplier".
func they(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Thing != "they" || !chosen(c) {
		return false
	}
	a := t.Base(c, "episodic", "event", 0.6)
	a.EventType, a.Started = "event", noted.ToldAt(t, c.Sentence)
	if w := c.FirstTime(); w != nil && w.HasDay {
		w.Past(t.Now)
		a.Started = t.Now.Begins(w.Day)
		a.Text = t.Rewrite(c)
	}
	t.Out.Candidates = append(t.Out.Candidates, a)
	return true
}

// measured takes a property of a thing: "our house number is forty-four", "the flat is eighty-two
// square metres".
func measured(t *discourse.Talk, c *discourse.Clause, i int) bool {
	if c.Verb != "be" || c.Past || c.Neg || c.Modal || discourse.Pronoun(c.Thing) || c.FirstTime() != nil && c.FirstTime().HasDay {
		return false
	}
	if c.Own && level(t, c, i) {
		return true
	}
	if k := i + syntax.BoolInt(c.W(i) == "number"); c.Own && byNumber[discourse.Last(c.Thing)] && k+1 == len(c.Words) && strings.ContainsAny(c.W(k), "0123456789") {
		return t.Fact(c, "place", strings.ReplaceAll(c.Thing, " ", "_"), c.Cased(k), false, 0.8) != nil
	}
	_, counted := syntax.Number(c.W(i))
	if !counted && !syntax.Numeric(c.W(i)) || c.W(i) == "a" || c.W(i) == "an" || c.W(i) == "one" {
		return false
	}
	switch {
	case c.Own && discourse.Last(c.Thing) == "number":
		return t.Fact(c, "biography", strings.ReplaceAll(c.Thing, " ", "_"), c.Trim(i, len(c.Words)), false, 0.8) != nil
	case c.Own || discourse.ThingWord(discourse.Last(c.Thing)):
		for k := i + 1; k < len(c.Words); k++ {
			switch c.W(k) {
			case "metres", "meters", "square", "kilos", "kg", "litres", "feet", "inches", "centimetres", "euros", "pounds", "dollars", "quid":
				return factOf(t, c, "possession", "measures", c.Trim(i, len(c.Words)), true, 0.7) != nil
			}
		}
	}
	return false
}

// byNumber are things that are found by their number: "my locker is number 214", "our seat is 14C".
var byNumber = syntax.Set("locker room seat table desk cabin platform gate bay cubicle carriage coach berth pitch mailbox cage stall")

// level takes that a measurement of somebody is too high or too low: "my cholesterol is too high".
func level(t *discourse.Talk, c *discourse.Clause, i int) bool {
	switch c.Thing {
	case "cholesterol", "blood pressure", "blood sugar", "iron", "vitamin d", "heart rate", "pulse", "thyroid":
	default:
		return false
	}
	how := ""
	for k := i; k < len(c.Words) && how == ""; k++ {
		switch w := c.W(k); w {
		case "high", "raised", "up", "elevated":
			how = "high "
		case "low", "down":
			how = "low "
		default:
			if !syntax.Adverb(w) && w != "too" && w != "a" && w != "bit" && w != "quite" && w != "very" && w != "rather" && w != "slightly" {
				return false
			}
		}
	}
	f := (*abi.Candidate)(nil)
	if how != "" {
		f = t.Fact(c, "health", "condition", how+c.Thing, true, 0.8)
	}
	if f != nil {
		f.Sensitivity = "private"
	}
	return f != nil
}

// lies takes "the good scissors live in the kitchen drawer".
func lies(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Verb != "live" && c.Verb != "belong" && c.Verb != "hang" || c.Past || c.Neg || discourse.Pronoun(c.Thing) || syntax.Kin(discourse.Last(c.Thing)) {
		return false
	}
	i := c.Vi + 1
	if w := c.W(i); w != "in" && w != "on" && w != "under" && w != "behind" && w != "above" || len(c.Words)-i < 3 {
		return false
	}
	where := c.Join(i, len(c.Words))
	words := strings.Fields(where)
	if !discourse.Rooms[strings.ToLower(words[len(words)-1])] && !storage[strings.ToLower(words[len(words)-1])] {
		return false
	}
	return locatedAt(t, c, where)
}

// storage are words at the end of places in which things are kept.
var storage = syntax.Set("drawer drawers box boxes basket shelf cupboard cabinet wardrobe closet fridge freezer hook hooks rack bag case safe shed garage car boot trunk sink stairs door desk table bed counter windowsill")

// fails notes that a household thing has failed: "the dishwasher's leaking again".
func fails(t *discourse.Talk, c *discourse.Clause, i int) bool {
	noun := discourse.Last(c.Thing)
	idle := c.Neg && (c.Verb == "start" || c.Verb == "work" || c.Verb == "turn" || c.Verb == "charge" || c.Verb == "open" || c.Verb == "close" || c.Verb == "heat") && !c.Past && !c.Perfect
	if c.Neg && !idle || c.Modal || c.Future && !idle || c.Conditional() || len(c.Whens) > 0 && idle || !household[noun] && !noted.AboutThings[noun] && !discourse.ThingWord(noun) {
		return false
	}
	next := c.W(i)
	switch c.Verb {
	case "be":
		ready := c.Own && next == "ready" && len(c.Whens) == 0
		if !discourse.Failing[next] && !ready || c.Past {
			return false
		}
	case "stop":
		if next != "working" {
			return false
		}
	case "break", "pack", "conk", "blow":
		if c.Verb != "break" && next != "up" && next != "out" && next != "in" || c.Verb == "break" && next != "" && next != "down" {
			return false
		}
	case "burst", "leak", "leaked", "conked", "packed":
	default:
		if !idle {
			return false
		}
	}
	if t.Part == discourse.Facts {
		noted.NoteClause(t, c, c.Sentence, c.Past || c.Perfect, false, discourse.NotedSure)
	}
	return true
}

// household are household things that can fail, besides those of [noted.AboutThings].
var household = syntax.Set("tap toilet sink pipe lift tyre shower drain window freezer dryer hoover kettle toaster heater heating alarm gutter machine hob")
