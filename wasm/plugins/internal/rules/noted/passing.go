package noted

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Some sentences have the marks of what is worth keeping, but nobody wants them a month later: what
// is true for a minute, jokes, a score, numbers that open something.

// passing reports whether a sentence is about the moment in which it is said.
func passing(s syntax.Sentence) bool {
	n := len(s.Toks)
	if last := s.At(n - 1); n > 2 && last == "on" && (s.At(n-2) == "hang" || s.At(n-2) == "hold") {
		return true // "I've got the change somewhere, hang on"
	}
	if few := s.At(n - 2); n > 4 && moments[s.At(n-1)] && (few == "one" || few == "a" || few == "two") && (s.At(n-3) == "," || s.At(n-3) == "me") {
		return true // "my mum's at the door, give me a minute"
	}
	first := 0
	for first < n-1 && (syntax.Lead(s.At(first)) || s.At(first) == "," || YesWords[s.At(first)]) {
		first++
	}
	if next := s.At(first + 1); s.At(first) == "the" && (next == "name's" || next == "name" && (s.At(first+2) == "is" || s.At(first+2) == "was")) {
		return true // to a waiter
	}
	if s.At(n-1) == "stop" && s.At(n-2) == "," {
		return true // "left hand down a bit, stop"
	}
	if s.At(n-1) == "please" {
		return true // at a counter
	}
	for i := range s.Toks {
		w, next := s.At(i), s.At(i+1)
		switch {
		case w == "than" && next == "i" && syntax.Auxiliary(s.At(i+2)):
			return true // "I weigh less than I did at thirty"
		case w == "since" && (numberAt(s, i+1) || next == "half") && (whiled[s.At(i-1)] || whiled[s.At(i-2)]) && !(syntax.Numeric(next) && len(next) == len("2019")):
			return true // "I've been waiting here since nine"
		case (w == "weather" || w == "forecast") && next == "says":
			return true
		case w == "nil" && i > 0 && (numberAt(s, i-1) || s.At(i-1) == "to"):
			return true // "Arsenal won three nil"
		}
	}
	return opensSomething(s)
}

// whiled are what people do for some hours of a day.
var whiled = syntax.Set("waiting queueing queuing charging ringing calling trying sitting standing driving hold up")

// moments are how long somebody is asked to wait.
var moments = syntax.Set("sec secs second seconds minute minutes mo moment tick")

// opensSomething reports whether a sentence has the turns of a dial, "twelve left, thirty right",
// or a code that is named as one. Such words belong in the vault.
func opensSomething(s syntax.Sentence) bool {
	turns := 0
	for i := range s.Toks {
		switch s.At(i) {
		case "left", "right":
			turns += syntax.BoolInt(numberAt(s, i-1) || numberAt(s, i+1))
		case "clockwise", "anticlockwise":
			turns++
		case "combination", "passcode", "pin", "combo":
			if s.At(i+1) == "is" && numberAt(s, i+2) {
				return true
			}
		}
	}
	return turns > 1
}

// numberAt reports whether a number above one is at token i.
func numberAt(s syntax.Sentence, i int) bool { return Counts(s.At(i)) || syntax.Numeric(s.At(i)) }

// ofNobody reports whether a clause is about "they", and nothing names them. What "they" do in a
// line that opens a talk is often what a firm or a town does, and is kept, unless it only describes
// them: "they've closed the bridge".
func ofNobody(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Thing != "they" || namesThing(t, c) || t.JustSaid() == nil && c.Verb != "be" && c.Verb != "move" {
		return false
	}
	named := c.Verb == "be" && c.Capital(len(c.Words)-1) // "they're called Peruvian Lilies"
	return t.JustSaid() != nil || !ofSpeaker(c) && !named
}

// ofSpeaker reports whether a clause's predicate names the speaker: "the game was long, but we had
// a blast".
func ofSpeaker(c *discourse.Clause) bool {
	for i := c.Vi; i < len(c.Words); i++ {
		switch c.W(i) {
		case "my", "our", "me", "us", "i", "we":
			return true
		}
	}
	return false
}

// phase reports whether it is what somebody wants to be for a week: "she wants to be a vet this
// week".
func phase(c *discourse.Clause) bool {
	k := c.Find(0, len(c.Words), "wants")
	if k < 0 || c.W(k+1) != "to" || c.W(k+2) != "be" {
		return false
	}
	low := strings.ToLower(c.Raw())
	return strings.Contains(low, " this week") || strings.Contains(low, " today") || strings.Contains(low, " right now") || strings.Contains(low, " at the moment")
}

// judged reports whether a clause is an opinion about something that is nobody's: "the food was
// great", "that place is lovely".
func judged(c *discourse.Clause) bool {
	if c.Kind != 't' || c.Own || c.Verb != "be" {
		return false
	}
	k := c.Vi + 1
	for c.W(k) == "too" || c.W(k) == "very" || c.W(k) == "really" || c.W(k) == "so" || c.W(k) == "quite" || c.W(k) == "far" || c.W(k) == "a" || c.W(k) == "bit" || c.W(k) == "much" || syntax.Adverb(c.W(k)) {
		k++
	}
	return verdicts[c.W(k)]
}

// verdicts are opinions about things.
var verdicts = syntax.Set("great good nice lovely amazing brilliant fantastic terrible awful bad boring long short loud sweet salty expensive cheap gorgeous delicious disgusting horrible funny weird strange wonderful beautiful ugly rubbish fun crowded packed dreadful excellent perfect okay ok fine decent tasty bland spicy cold hot")

// doing reports whether somebody is doing something just now that takes an hour: "I'm making soup",
// "he's watching the match".
func doing(c *discourse.Clause) bool {
	w := c.FirstTime()
	return c.Ing && !c.Perfect && !c.Past && (atOnce[c.Verb] || c.Verb == "make" && Meal(strings.ToLower(discourse.ObjectOf(c, c.Vi+1)))) && (w == nil || !w.HasDay && !w.Habit)
}

// atOnce are things that people do for an hour or less.
var atOnce = syntax.Set("cook bake fry boil eat drink watch listen wait look sit stand hold lie queue clean tidy wash iron vacuum hoover type dial search joke kid tease laugh cry shout sleep nap shower dress unpack")

// wasThere reports whether a clause says where somebody was again, without a day, "your cat was in
// our garden again", or in which room somebody is.
func wasThere(c *discourse.Clause) bool {
	w := c.FirstTime()
	if n := len(c.Words) - 1; c.Verb == "be" && c.Kind == 'p' && w == nil && n == c.Vi+3 && rooms[c.W(n)] {
		return true
	}
	return c.Verb == "be" && c.Past && c.Kind == 'p' && syntax.Preposition(c.W(c.Vi+1)) && (w == nil || !w.HasDay) && c.Find(c.Vi, len(c.Words), "again") > 0
}

// rooms are where people are for a while.
var rooms = syntax.Set("kitchen garden bath bathroom shower loo toilet lounge garage shed attic hall car shop")

// ofHistory reports whether a clause is what a guide says about a building: "the tower was built in
// 1381".
func ofHistory(c *discourse.Clause) bool {
	return c.Kind == 't' && !c.Own && c.Verb == "be" && c.Past && made[c.W(c.Vi+1)]
}

// made are participles for what was done to buildings and towns.
var made = syntax.Set("built founded designed destroyed invented discovered erected commissioned")

// elapsed reports whether something in the future has a past hour of today: "we meet back at the
// bus at half past three", said at ten. The hour is then in the other half of the day, or on each
// day.
func elapsed(t *discourse.Talk, c *discourse.Clause, w *timex.When) bool {
	return w != nil && w.Clock && !w.HasDay && !w.Habit && !c.Past && !c.Perfect && w.Minute < t.Now.Minute && !t.UndatedHour(c, w)
}

// SoonOver reports whether something will happen in a few minutes and is over then, and is not an
// appointment: "I'll be there in five minutes".
func SoonOver(t *discourse.Talk, c *discourse.Clause, w *timex.When) bool {
	const soon = 15 * 60 * 1000 // ms
	if w == nil || w.Unix() < t.Ev.At || w.Unix()-t.Ev.At > soon || c.Must {
		return false
	}
	unit := syntax.Singular(c.At(w.Next - 1))
	attr, _ := c.EventIn()
	if w := c.W(c.Vi + 1); c.Verb == "be" && (w == "ready" || w == "done" || w == "served" || w == "up" || w == "out") {
		attr = "" // "dinner's ready in two minutes"
	}
	return (unit == "minute" || unit == "min" || unit == "second" || unit == "sec") && attr == ""
}

// comesLater reports whether a time is in a later clause, about the present or the future: "the
// surgery rang, they want me in on Monday".
func comesLater(t *discourse.Talk, c *discourse.Clause, s syntax.Sentence) bool {
	w := c.FirstTime()
	if w == nil || !w.HasDay || !w.Weekday && w.Assumed == 0 {
		return false
	}
	at := s.Toks[w.First].Start
	for i, part := range syntax.Clauses(s) {
		if i > 0 && part.Start <= at && at < part.End {
			d, ok := t.Parse(part)
			return ok && (!d.Past && !d.Perfect && !d.Modal || d.Perfect && timex.Until(&s, w))
		}
	}
	return false
}

// postponed reports whether something that was due has got more time: "it was due on Friday but we've
// got until Monday".
func postponed(c *discourse.Clause) bool {
	return c.Kind == 't' && c.Verb == "be" && c.W(c.Vi+1) == "due" && c.Find(c.Vi, len(c.Words), "but") > 0 && timex.Until(&c.Sentence, &c.Whens[len(c.Whens)-1])
}
