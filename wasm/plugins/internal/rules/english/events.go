package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// plan proposes what is going to happen.
func plan(t *discourse.Talk, c *discourse.Clause, w *timex.When) {
	if c.Toks[0].S == "let's" && !outing[c.Verb] {
		return // "let's make tomorrow unforgettable"
	}
	if timex.Moves(c.Verb) && discourse.Conditioned(c.Sentence) {
		return // "we move the meeting to Friday if Laura is ill"
	}
	switch c.Verb {
	case "remember", "forget", "miss", "love", "like", "know", "think", "see you", "believe", "feel", "hate", "wish":
		return
	case "bet", "reckon", "doubt", "predict":
		if who, _ := syntax.Contraction(c.W(c.Vi + 1)); who != "i" && who != "we" {
			return // "I bet they'll be back by Christmas"
		}
	case "keep":
		if c.W(c.Vi+1) == "thinking" {
			return
		}
	case "see":
		if c.Vi+1 >= len(c.Words) || c.W(c.Vi+1) == "if" || c.W(c.Vi+1) == "what" || c.W(c.Vi+1) == "how" || c.W(c.Vi+1) == "whether" {
			return // "we'll see at Christmas"
		}
	}
	if noted.CallsBack(c, w, t.Now) || noted.LeavesOpen(t, c) || noted.Unnamed(c) || noted.SoonOver(t, c, w) || ofTrade(t, c, w) || c.W(c.Vi+1) == "every" && noted.Nowhere(t, c) {
		return
	}
	if c.UsedTo || c.Modal && c.Find(1, c.Vi, "would") > 0 && discourse.Conditioned(c.Sentence) {
		return // "we'd be in Rome on Friday if we had the money"
	}
	if attr, _ := c.EventIn(); c.Neg && attr == "" || c.Neg && w == nil || c.Verb == "be" && w == nil || c.Kind == 'y' && w == nil {
		return
	}
	if w == nil || !w.HasDay && !w.Clock {
		if noted.Dangling(c) {
			return
		}
		if !todo(c) && (c.Intend && !c.Must || c.Conditional() && !onceIn(c) || c.Kind != 's' && c.Kind != 'w' || !syntax.Errand[c.Verb] && !(c.Future && announced(c)) || !c.Future && c.Kind != 's' || c.Maybe || len(c.Words)-c.Vi < 3 || discourse.ObjectOf(c, c.Vi+1) == "" || discourse.Vague(discourse.ObjectOf(c, c.Vi+1)) && len(c.Words)-c.Vi < 4) {
			return
		}
		p := discourse.Plan{Subject: c.Subj.Key, Attribute: c.SlotName(), What: "promise"}
		a := t.Emit(p, t.Rewrite(c), "promise", 0.65, c.Sentence, false)
		a.Entities = t.Entities(c)
		return
	}
	if c.Future && c.W(c.Vi+1) == "it" && paysFor[c.Verb] && len(t.Ev.Before) == 0 && len(t.Own) < 2 {
		return // "I'll pay it tomorrow", with nothing said about what
	}
	if t.Dayed && !w.HasDay {
		return // "…on Wednesday, so I'll be up at six": today's six, or Wednesday's?
	}
	if n, ok := syntax.Number(c.W(c.Vi + 1)); ok && c.Verb == "turn" && n > 0 && n < 120 && !c.Neg && !c.Past && !c.Conditional() && !w.Weekday && c.W(c.Vi+2) == "" && (c.Kind == 's' || c.Kind == 'p') {
		birthday(t, c, w) // "Hannah turns seventy on the ninth of January"
	}
	t.PlanAt(c, w)
}

// paysFor are verbs whose "it" can be anything: a bill, a parcel, a form.
var paysFor = syntax.Set("pay do send finish sort bring return sign check fix post")

// onceIn reports whether the only condition is that the speaker arrives: "I'll send you the photos when I get
// home".
func onceIn(c *discourse.Clause) bool {
	for k := c.Vi + 2; k+1 < len(c.Words); k++ {
		if w := c.W(k); w != "when" && w != "once" {
			continue
		}
		who, is := syntax.Contraction(c.W(k + 1))
		at := k + 2 // the word after "I" or "I'm"
		if is == "" && (c.W(at) == "get" || c.W(at) == "am" || c.W(at) == "are") {
			at++
		} else if is == "" {
			return false
		}
		return (who == "i" || who == "we") && (c.W(at) == "home" || c.W(at) == "back" || c.W(at) == "in" || c.W(at) == "there")
	}
	return false
}

// ofTrade reports whether a shop or restaurant tells its guests something: "we're full tonight", "I
// can do you nine o'clock", "we'll have it ready by five".
func ofTrade(t *discourse.Talk, c *discourse.Clause, w *timex.When) bool {
	next := c.W(c.Vi + 1)
	switch c.Verb {
	case "be":
		return c.Kind == 'w' && crowded[next]
	case "do", "give", "offer":
		return c.Can && next == "you"
	}
	return (next == "it" || next == "them") && c.W(c.Vi+2) == "ready" && w != nil && (!w.HasDay || w.Day == t.Now.Day)
}

// crowded are words for how a restaurant is on an evening.
var crowded = syntax.Set("full packed quiet swamped fully-booked open busy")

// announced reports whether "I'm going to …" announces something that is worth remembering without
// its date: "I'm gonna open my own dance studio".
func announced(c *discourse.Clause) bool {
	switch c.Verb {
	case "start", "open", "launch", "adopt", "apply", "study", "train", "travel", "buy", "sell", "marry", "join", "run", "host", "volunteer", "build", "perform", "compete", "move", "quit", "retire", "propose":
		return matter(c) || c.Verb == "apply" || c.Verb == "move" || c.Verb == "retire" || c.Verb == "travel"
	}
	return false
}

// chores are things that somebody has to do besides errands, if they say that they have to.
var chores = syntax.Set("get find paint replace change check clean wash tidy schedule arrange download upload install sign charge empty mow iron sew hang measure cancel register exchange vacuum update post mail " +
	"grab fetch borrow copy print scan sort pack unpack plant prune walk invite thank remind message contact return reply tell file defrost wrap sharpen assemble refill descale pump inflate tune water feed")

// todo reports whether the speaker says that something particular has to be done: "I need to get
// new tyres", "we have to paint the fence".
func todo(c *discourse.Clause) bool {
	if !c.Must || c.Neg || c.Past || c.Perfect || c.Maybe || c.Ends == "?" || c.Conditional() || c.Kind != 's' && c.Kind != 'w' || !syntax.Errand[c.Verb] && !chores[c.Verb] {
		return false
	}
	o, first := strings.ToLower(discourse.ObjectOf(c, c.Vi+1)), c.W(c.Vi+1)
	for _, way := range [...]string{" on my way", " on the way"} {
		o, _, _ = strings.Cut(o, way)
	}
	if o == "" || discourse.Vague(o) || discourse.HoldsWord(o, "way") || discourse.HoldsWord(o, "ways") || discourse.HoldsWord(o, "word") || discourse.Personal(first) || syntax.Preposition(first) || syntax.Adverb(first) || syntax.SubjectPronoun(first) {
		return false
	}
	switch c.Verb {
	case "get", "find", "change", "check", "tell", "grab", "fetch":
		return !oneself[discourse.Last(o)] && (c.Find(c.Vi, len(c.Words), "shop") > 0 || c.Find(c.Vi, len(c.Words), "way") > 0 || syntax.Determiner(first) || first == "my" || first == "our" || first == "new" || strings.HasSuffix(o, "s") || c.Capital(c.Vi+1))
	}
	return true
}

// oneself are things that people get, find and change in themselves: "I need to change my life".
var oneself = syntax.Set("ready going started up used better way ways time balance life mind job sleep rest one myself help done attitude out back home together over away down bite coffee sandwich shower nap seat chair snack cab taxi")

// planned takes "I have a dentist appointment on Thursday".
func planned(t *discourse.Talk, c *discourse.Clause, w *timex.When) bool {
	if attr, _ := c.EventIn(); attr == "" {
		return false
	}
	for k := c.Vi + 1; k < min(len(c.Words), c.Vi+4); k++ {
		switch c.W(k) {
		case "no":
			c.Neg = true
			return true
		}
	}
	if !w.HasDay && t.HeldDay(c) != nil {
		return true // today's three, or that of the day that somebody else has named?
	}
	if !w.HasDay {
		w.Set(t.Now.Day, 'd')
	}
	if c.Past && (!w.Weekday || c.Verb == "have") {
		return false // "we had a class on Monday"
	}
	d := *c
	d.Past = false // "I got an appointment on Monday"
	t.PlanAt(&d, w)
	return true
}

// happened proposes what took place, if it says when, where or with whom.
func happened(t *discourse.Talk, c *discourse.Clause, w *timex.When) {
	to := c.MovedTo(t.Now)
	if to != nil {
		w = to
	} else if w != nil && (c.InnerOf(w).ToCome || c.Aimed(w)) {
		w = nil // it belongs to another clause: "I met Ben, who is moving in January"
	}
	asked := c.Verb == "be" && c.W(c.Vi+1) == "asked" && c.W(c.Vi+2) == "to" && w != nil
	if w != nil && (w.Assumed > 0 || w.Weekday) && (announcing[c.Verb] || befell(c) && offered[c.W(c.Vi+1)] || asked) {
		undated := *c // "we discussed the party on Saturday", "I was invited to a wedding in June": which one?
		undated.Whens = nil
		c, w = &undated, nil
	}
	if w != nil && w.HasDay && to == nil && w.Day > t.Now.Day && w.Assumed == 0 && !w.Weekday && (c.Verb == "ask" || c.Verb == "apply" || c.Verb == "sign" || c.Verb == "register") {
		w = nil // "I've asked for Fridays off from next year"
	}
	if w != nil && entered(c, w) {
		if w.Assumed == 0 || w.Grain != 'd' {
			undated := *c // "I've signed up for the race in May": which one?
			undated.Whens = nil
			c = &undated
		}
		w = nil
	}
	if noted.Reasons[c.At(0)] && (c.Find(c.Vi+1, len(c.Words), "i") >= 0 || c.Find(c.Vi+1, len(c.Words), "we") >= 0) {
		return // "because I broke my leg I can't come" is two clauses
	}
	momentous := momentous(c)
	switch c.Verb {
	case "say":
		if c.Kind == 't' || w == nil || !w.HasDay {
			return
		}
	case "think", "know", "feel", "mean", "guess", "tell", "want", "need", "hope", "forget", "remember", "hear", "decide", "try", "be", "like", "love", "hate", "do", "have", "mention", "realise", "realize",
		"notice", "agree", "wonder", "ask", "talk", "chat", "respond", "seem", "look", "sound", "help", "learn", "enjoy", "miss", "let", "keep", "continue", "encourage", "include", "admire":
		if (w == nil || !w.HasDay) && !momentous && !asked && !befell(c) || c.Verb == "think" || c.Verb == "mean" || c.Verb == "guess" || c.Verb == "know" {
			return
		}
	}
	if noted.Unnamed(c) {
		return // "I bought ours in March"
	}
	if they := c.W(0) == "they" && c.Find(c.Vi, len(c.Words), "my") < 0 && c.Find(c.Vi, len(c.Words), "our") < 0; they || noted.Nowhere(t, c) || noted.LeavesOpen(t, c) {
		return // who, and where to?
	}
	if c.Kind == 'y' && (w == nil || !w.HasDay) || c.Unresolved(w != nil && w.HasDay) && !momentous || discourse.MovedOn(c, t.Plain) {
		return
	}
	place := c.Place("to", "at", "in", "from")
	with, _ := c.After(c.Vi+1, 6, "with")
	timed := w != nil && w.HasDay
	if c.Kind == 't' && c.Verb == "be" && (c.W(c.Vi+1) == "due" || c.W(c.Vi+1) == "supposed" || c.W(c.Vi+1) == "meant") && strings.HasPrefix(strings.TrimLeft(strings.ToLower(c.Text[c.End:]), ", "), "but ") {
		return // "was due on Friday but we've got until Monday"
	}
	named := false
	for i := c.Vi + 1; i < len(c.Words); i++ {
		named = named || c.Capital(i) && syntax.NameWord(c.W(i))
	}
	if c.Verb == "go" && !timed && c.Kind == 'p' && c.W(c.Vi) == "gone" && c.W(c.Vi+1) == "to" && !syntax.Determiner(c.W(c.Vi+2)) && !c.Capital(c.Vi+2) && syntax.Determiner(c.W(c.Vi+3)) {
		return // "he's gone to fetch the tree"
	}
	if c.Verb == "pass" && (!timed && !examined(c) || c.Kind == 's' && c.Vi+1 >= len(c.Words)) {
		return // the salt, or what?
	}
	if w := c.W(c.Vi + 1); !named && (w == "it" || w == "them" || w == "that" || w == "this") {
		return // it will not be clear what was meant
	}
	if _, ok := syntax.Number(c.W(c.Vi + 1)); ok && c.Vi+2 == len(c.Words) {
		return // "I had two"
	}
	if (c.Verb == "stop" || c.Verb == "quit" || c.Verb == "start" || c.Verb == "begin") && (c.Vi == len(c.Words)-1 || c.W(c.Vi+1) == ",") && c.Kind != 't' {
		return // what? "I used to smoke, but I stopped two years ago"
	}
	hurt := (c.Verb == "break" || c.Verb == "hurt" || c.Verb == "sprain") && c.W(c.Vi+1) == "my" && !dull[discourse.Last(strings.ToLower(discourse.ObjectOf(c, c.Vi+1)))]
	got := c.Verb == "get" && discourse.Attained[c.W(c.Vi+1)] || examined(c) || befell(c)
	if first := c.W(c.Vi + 1); c.Verb == "get" && (c.Kind == 's' || c.Kind == 'p') && (first == "a" || first == "an" || first == "the" && given[discourse.Last(discourse.ObjectOf(c, c.Vi+1))]) {
		got = got || first == "the" || granted[discourse.Last(discourse.ObjectOf(c, c.Vi+1))] || len(c.W(c.Vi+2)) == 1 && strings.Contains("abcdef", c.W(c.Vi+2)) && c.Find(c.Vi+3, 2, "in") > 0 // "a B plus in French"
	}
	got = got || momentous || asked
	died := c.Verb == "die" && c.Kind == 'p'
	paid := (c.Verb == "pay" || c.Verb == "spend" || c.Verb == "earn" || c.Verb == "lend") && amount(c)
	if !timed && !hurt && !got && !paid && !died && !chosen(c) && (!refuse.Deed(c.Verb) || !named && with == "" && (place == "" || discourse.Vague(place))) || len(c.Words)-c.Vi < 2 && !timed && !died && !momentous {
		return
	}
	conf := 0.85
	if !timed {
		conf = discourse.EventSure
	}
	a := t.Base(c, "episodic", "event", conf)
	a.EventType, a.Actor = "event", c.Subj.Name
	a.Place = c.Place("to", "at", "in") // where somebody comes from is not the place of the event
	a.Started = noted.ToldAt(t, c.Sentence)
	if c.Conditional() || c.LongAgo() || c.Verb == "meet" && timex.Schooldays[discourse.Last(strings.ToLower(a.Place))] { // "when I was twelve", "I met my wife at university"
		a.Started = 0
	}
	if timed {
		if to == nil && !c.CalledOffOn(w) {
			w.Past(t.Now)
		}
		if a.Started = w.Unix(); !w.Clock {
			a.Started = t.Now.Begins(w.Day)
		}
		a.Ended = timex.Closed(c.Sentence, c.Whens, w, t.Now, true)
		a.Text = t.Rewrite(c)
	}
	t.Out.Candidates = append(t.Out.Candidates, a)
}

// entered reports whether a time is that of the event for which somebody has signed up, and not of
// when they did.
func entered(c *discourse.Clause, w *timex.When) bool {
	switch c.Verb {
	case "sign", "register", "enrol", "enroll", "enter", "apply":
	default:
		return false
	}
	if w.Assumed == 0 && !w.Weekday || c.Verb == "sign" && c.Find(c.Vi+1, c.Vi+3, "up") < 0 {
		return false
	}
	for k := c.Vi + 1; k < len(c.Words) && c.Words[k].Tok < w.First; k++ {
		if _, event := syntax.EventNoun(c.W(k)); event || contests[c.W(k)] {
			return true
		}
	}
	return false
}

// contests are things for which people sign up, besides events.
var contests = syntax.Set("marathon race triathlon tournament course workshop camp retreat competition contest walk swim k 10k 5k")

// outing are verbs with which "let's …" makes an appointment.
var outing = syntax.Set("meet have go do grab get eat see watch catch call play book take visit start leave talk speak move push say cook drive")

// announcing are deeds whose time may be that of their object.
var announcing = syntax.Set("suggest recommend announce approve refuse discuss remind assure confirm propose offer invite")
