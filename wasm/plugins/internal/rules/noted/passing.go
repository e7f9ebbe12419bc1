package noted

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Some sentences have the marks of what is worth keeping, and nobody wants them a month later: what holds for a
// minute, what somebody jokes about, a score, numbers that open something.

// passing reports a sentence that is about the moment in which it is said.
func passing(s syntax.Sentence) bool {
	n := len(s.Toks)
	if last := s.At(n - 1); n > 2 && last == "on" && (s.At(n-2) == "hang" || s.At(n-2) == "hold") {
		return true // "I've got the change somewhere, hang on"
	}
	first := 0
	for first < n-1 && (syntax.Lead(s.At(first)) || s.At(first) == "," || YesWords[s.At(first)]) {
		first++
	}
	if next := s.At(first + 1); s.At(first) == "the" && (next == "name's" || next == "name" && (s.At(first+2) == "is" || s.At(first+2) == "was")) {
		return true // to a waiter
	}
	if s.At(n-1) == "please" {
		return true // at a counter
	}
	turns, score := 0, false
	for i := range s.Toks {
		w := s.At(i)
		switch w {
		case "left", "right":
			if Counts(s.At(i-1)) || syntax.Numeric(s.At(i-1)) || Counts(s.At(i+1)) || syntax.Numeric(s.At(i+1)) {
				turns++
			}
		case "than":
			if s.At(i+1) == "i" && syntax.Auxiliary(s.At(i+2)) {
				return true // "I weigh less than I did at thirty"
			}
		case "nil":
			score = score || Counts(s.At(i-1)) || syntax.Numeric(s.At(i-1)) || s.At(i-1) == "to"
		case "weather", "forecast":
			if s.At(i+1) == "says" {
				return true
			}
		case "clockwise":
			turns += 2
		case "combination", "passcode", "pin", "combo":
			if next := s.At(i + 2); s.At(i+1) == "is" && (Counts(next) || syntax.Numeric(next)) {
				return true
			}
		}
	}
	return turns > 1 || score
}

// ofNobody reports a clause about "they", where nothing names them. What "they" do in a line that opens a talk is
// often what a firm or a town does, and is kept, unless it is only what they are: "they've closed the bridge".
func ofNobody(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Thing != "they" || namesThing(t, c) || t.JustSaid() == nil && c.Verb != "be" && c.Verb != "move" {
		return false
	}
	for i := c.Vi; i < len(c.Words) && t.JustSaid() == nil; i++ {
		switch c.W(i) {
		case "my", "our", "me", "us", "i", "we":
			return false
		}
	}
	return true
}

// phase reports what somebody wants to be for a week: "she wants to be a vet this week".
func phase(c *discourse.Clause) bool {
	k := c.Find(0, len(c.Words), "wants")
	if k < 0 || c.W(k+1) != "to" || c.W(k+2) != "be" {
		return false
	}
	low := strings.ToLower(c.Raw())
	return strings.Contains(low, " this week") || strings.Contains(low, " today") || strings.Contains(low, " right now") || strings.Contains(low, " at the moment")
}

// fragmentary reports a sentence without a verb of its own that begins with a number or with "a": "four hundred, cash",
// "a student from Ravi's course". What it is about was said before.
func (v *view) fragmentary() bool {
	i := v.start()
	first := v.at(i)
	if (Counts(first) || first == "half" || first == "quarter") && v.has(settling) > 0 && v.has(wordsMine) == 0 {
		return true // "half seven's good, at the usual place"
	}
	if next := v.at(i + 1); (first == "only" || first == "just" || first == "mostly" || first == "about" || first == "sometimes") && (syntax.Preposition(next) || Counts(next)) {
		return true // "only on Sundays, Jonas does the rest"
	}
	if v.day || first != "a" && first != "an" && first != "some" && (!Counts(first) || v.at(i+1) == "of") && !syntax.Numeric(first) {
		return false
	}
	if next := v.at(i + 1); next == "few" || next == "couple" || next == "lot" {
		return false // "a few years back …"
	}
	const most = 5 // words of a subject
	for k := i + 1; k < min(len(v.words), i+most); k++ {
		_, past, _ := syntax.Lemma(v.words[k])
		if _, number := syntax.Number(v.words[k]); !number && v.words[k] != "hundred" && (syntax.Auxiliary(v.words[k]) || past || syntax.PastForm(v.words[k])) {
			return false
		}
	}
	return true
}

// settling are words by which one takes an hour or a number that was proposed.
var settling = syntax.Set("good fine works perfect great suits okay ok lovely")

// judged reports an opinion of what is nobody's: "the food was great", "that place is lovely".
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

// verdicts are what one finds things.
var verdicts = syntax.Set("great good nice lovely amazing brilliant fantastic terrible awful bad boring long short loud sweet salty expensive cheap gorgeous delicious disgusting horrible funny weird strange wonderful beautiful ugly rubbish fun crowded packed dreadful excellent perfect okay ok fine decent tasty bland spicy cold hot")

// doing reports what somebody is doing just now and has done in an hour: "I'm making soup", "he's watching the match".
func doing(c *discourse.Clause) bool {
	w := c.FirstTime()
	return c.Ing && !c.Perfect && !c.Past && (atOnce[c.Verb] || c.Verb == "make" && Meal(strings.ToLower(discourse.ObjectOf(c, c.Vi+1)))) && (w == nil || !w.HasDay && !w.Habit)
}

// atOnce are what one does for an hour or less.
var atOnce = syntax.Set("cook bake fry boil eat drink watch listen wait look sit stand hold lie queue clean tidy wash iron vacuum hoover type dial search joke kid tease laugh cry shout sleep nap shower dress unpack")

// wasThere reports where somebody was again, without a day: "your cat was in our garden again".
func wasThere(c *discourse.Clause) bool {
	w := c.FirstTime()
	return c.Verb == "be" && c.Past && c.Kind == 'p' && syntax.Preposition(c.W(c.Vi+1)) && (w == nil || !w.HasDay) && c.Find(c.Vi, len(c.Words), "again") > 0
}

// ofHistory reports what a guide says of a building: "the tower was built in 1381".
func ofHistory(c *discourse.Clause) bool {
	return c.Kind == 't' && !c.Own && c.Verb == "be" && c.Past && made[c.W(c.Vi+1)]
}

// made are what was done to buildings and towns.
var made = syntax.Set("built founded designed destroyed invented discovered erected commissioned")

// public are things of everybody's, whose troubles are soon over.
var public = syntax.Set("tram train bus tube metro ferry queue traffic website system printer film movie show match game song programme")

// shows are verbs after which "this" is what one holds or points at.
var shows = syntax.Set("give send buy make find get knit bring show draw paint")

// soonHealed are ailments of a few days.
var soonHealed = syntax.Set("blister hangover hiccups stitch cramp splinter bruise")

var somebody = syntax.Set("somebody someone")

// refused reports a clause that no note is made of, whatever its marks.
func refused(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Kind != 't' && c.Verb != "be" && !c.Past && !c.Perfect && len(c.Whens) == 0 && len(t.AskedDay()) > 0 {
		return true // "what's the plan for tomorrow?", "Jonas takes Emil swimming": tomorrow
	}
	if w := c.FirstTime(); c.Past && (w == nil || !w.HasDay) && c.Kind == 't' && !c.Own && public[discourse.Last(c.Thing)] {
		return true // "the tram broke down at the bridge"
	}
	if shows[c.Verb] && (c.Find(c.Vi, 4, "this") > 0 || c.Find(c.Vi, 4, "these") > 0) {
		return true // "my brother sent me this jacket": which?
	}
	if noun := discourse.Last(strings.ToLower(discourse.ObjectOf(c, c.Vi+1))); !c.Past && (c.Verb == "have" || c.Verb == "get") && (soonHealed[noun] || soonHealed[c.W(c.Vi+2)] || soonHealed[c.W(c.Vi+3)]) && c.Kind == 's' {
		return true
	}
	if c.Neg && c.Perfect && (c.Verb == "sleep" || c.Verb == "eat") {
		return true // "I haven't slept since the baby came"
	}
	if c.Future && c.Verb == "see" && c.Vi+1 >= len(c.Words) || c.Can && c.Neg && c.W(c.Vi+1) == "another" {
		return true // "we'll see at Christmas", "I can't eat another bite"
	}
	if somebody[c.W(0)] && (c.Verb == "eat" || c.Verb == "drink" || c.Verb == "use") {
		return true // "somebody's eaten my yoghurt"
	}
	if n := len(c.Words); n > c.Vi+1 && c.W(n-1) == "one" && (syntax.Verbish(c.W(n-2)) || syntax.PastForm(c.W(n-2))) {
		return true // "my gran swore she saw one"
	}
	return (c.Verb == "sound" || c.Verb == "look" || c.Verb == "seem") && (c.Past || c.Kind == 't') || ofNobody(t, c) || phase(c) || judged(c) || doing(c) || wasThere(c) || ofHistory(c) || Unnamed(c)
}

// elapsed reports an hour of today that is over, of what is said to be: "we meet back at the bus at half past three",
// said at ten. It is of another half of the day, or of each day.
func elapsed(t *discourse.Talk, c *discourse.Clause, w *timex.When) bool {
	return w != nil && w.Clock && !w.HasDay && !w.Habit && !c.Past && !c.Perfect && w.Minute < t.Now.Minute && !t.UndatedHour(c, w)
}

// comesLater reports a time that stands in a later clause, of what is so or is to be: "the surgery rang, they want me in
// on Monday".
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
