package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// When a place is open, and what happens every week: "the pharmacy is open from nine to six", "the
// bins go out on Tuesdays". Neither belongs to the speaker, and both are looked up again.

// everyWeek takes the hours of a place, and the days of a weekly event.
func everyWeek(t *discourse.Talk, c *discourse.Clause, i int) bool {
	if t.Part != discourse.Facts || discourse.Pronoun(c.Thing) || c.Past || c.Perfect || c.Neg || c.UsedTo || c.Modal || c.Future || c.Ing || c.Own && c.Verb == "be" && !openness[c.W(i)] {
		return false
	}
	noun := discourse.Last(strings.ToLower(c.Thing))
	place, round := opensDaily[noun] || opensDaily[syntax.Singular(noun)], roundThings[noun] || roundThings[syntax.Singular(noun)]
	if !place && !round {
		return false
	}
	hour := false
	for j := range c.Whens {
		if w := &c.Whens[j]; w.HasDay && !w.Habit {
			return false // tomorrow
		}
		hour = hour || c.Whens[j].Clock
	}
	for k := i; k < len(c.Words)-1; k++ { // "from nine to six"
		n, ok := syntax.Number(c.W(k + 1))
		hour = hour || ok && n > 0 && n <= 24 && (c.W(k) == "from" || c.W(k) == "until" || c.W(k) == "till" || c.W(k) == "at")
	}
	for k := range c.Words {
		if doubtful[c.W(k)] || c.W(k) == "it" { // isn't it
			return false
		}
	}
	open := place && ((c.Verb == "open" || c.Verb == "close") && (i == len(c.Words) || len(c.Whens) > 0) || c.Verb == "be" && openness[c.W(i)] && (c.W(i) == "open" || c.HasHabit()))
	kind := "hours"
	if c.HasHabit() && round && comesRound[c.Verb] && (c.Verb != "be" || i >= len(c.Words)) {
		kind = "habit"
	} else if !open || !hour && !c.HasHabit() {
		return false
	}
	always := *c
	always.Whens = nil // no date belongs next to "at nine"
	t.Out.Candidates = append(t.Out.Candidates, t.Base(&always, "semantic", kind, discourse.HoursSure))
	return true
}

var openness = syntax.Set("open closed shut")

var comesRound = syntax.Set("go come run leave meet start begin arrive be")

// opensDaily are places with opening hours, and roundThings are things that happen on a day of each
// week.
var opensDaily = syntax.Set("pharmacy chemist library pool gym shop store supermarket market bank office museum gallery zoo park clinic surgery hospital restaurant cafe café bar pub bakery butcher school nursery kindergarten kitchen canteen gate station " +
	"garage salon hairdresser barber cinema theatre church reception desk playground sauna beach centre center mall takeaway deli florist laundrette launderette tip dump depot workshop studio")

var roundThings = syntax.Set("bin rubbish trash recycling garbage choir orchestra band club class team group cleaner gardener market bus train ferry post milkman yoga practice rehearsal lesson training swimming football")

var doubtful = syntax.Set("rarely seldom hardly never guess think suppose isn't isnt right probably maybe because when if while today now currently")

// thereIs takes where a thing is: "there's a spare key under the mat".
func thereIs(t *discourse.Talk, c *discourse.Clause, i int) bool {
	if c.Thing != "there" || c.Verb != "be" || c.Past || c.UsedTo || c.Neg || c.Modal || !syntax.Determiner(c.W(i)) && c.W(i) != "another" || c.W(i) == "no" || len(c.Whens) > 0 {
		return false
	}
	for k := i + 2; k < len(c.Words); k++ {
		if !syntax.Placing(c.W(k)) {
			continue
		}
		end := c.Words[len(c.Words)-1].Tok + 1
		what := c.Join(i+1, k)
		head, _, _ := strings.Cut(what, " of ")
		if noun := discourse.Last(strings.ToLower(head)); !Findable(what) || !discourse.ThingWord(noun) && !Possession[noun] && !keptThings[syntax.Singular(noun)] || !WhereWords(c.Sentence, c.Words[k].Tok, end) {
			return false
		}
		of := *c
		of.Thing, of.Own = what, false
		return locatedAt(t, &of, c.Join(k, len(c.Words)))
	}
	return false
}

// keptThings are kept somewhere for anybody who needs them.
var keptThings = syntax.Set("torch flashlight candle match battery adapter fuse bulb plaster bandage blanket towel pillow ladder screwdriver hammer drill toolbox corkscrew scissor stamp envelope cable spare lighter stopcock fusebox thermostat document folder")
