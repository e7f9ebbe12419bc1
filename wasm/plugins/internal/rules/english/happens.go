package english

import (
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// happensOn reports whether a clause says nothing of a thing but its day, so that the thing is something that
// happens: "sports day is on Friday", "the car's MOT is on the tenth at nine".
func happensOn(c *discourse.Clause, w *timex.When) bool {
	if c.Verb != "be" || c.Modal || c.Future || c.Words[c.Vi].Tok+1 != w.First || c.At(w.First) != "on" || w.Next < len(c.Toks) || w.Grain != 'd' || !w.Weekday && w.Assumed == 0 {
		return false
	}
	what := c.W(c.Vi - 1)
	if what == "'s" {
		what = c.W(c.Vi - 2)
	}
	if what == "day" { // sports day, and not "the day"
		what = c.W(max(0, c.Vi-2))
	}
	return !discourse.Vague(c.Thing) && !syntax.Determiner(what) && !unlikely[what] && !opensDaily[what] && syntax.WeekdayOf(what, true) < 0 && c.Find(0, c.Vi, "that") < 0
}

// unlikely are nouns that don't happen on a day by themselves.
var unlikely = syntax.Set("one ones thing something everything next other first second last rest focus emphasis date choice big")

// costsEach notes what something costs again and again, or each time: "the rent is nine hundred a month", "swimming
// is eight pounds a lesson".
func costsEach(t *discourse.Talk, c *discourse.Clause, i int) bool {
	if c.Verb != "be" || c.Neg || c.Modal || c.Future || discourse.Pronoun(c.Thing) || discourse.Vague(c.Thing) || t.Part != discourse.Facts {
		return false
	}
	k := i
	for k < len(c.Words) && (noted.Counts(c.W(k)) || syntax.Numeric(c.W(k)) || c.W(k) == "a" && c.W(k+1) == "hundred" || c.W(k) == "and" || timex.Scales[c.W(k)] || c.W(k) == "about" || currencies[c.W(k)]) {
		k++
	}
	if k == i || k+1 >= len(c.Words) || c.W(k) != "a" && c.W(k) != "an" && c.W(k) != "per" || !periods[c.W(k+1)] || k+2 < len(c.Words) && c.W(k+2) != "," {
		return false
	}
	t.Out.Candidates = append(t.Out.Candidates, t.Base(c, "semantic", "noted", discourse.NotedSure))
	return true
}

// periods are for what something is paid.
var periods = syntax.Set("month week year term hour day night session lesson class quarter fortnight")

// currencies are words for money after a sum.
var currencies = syntax.Set("euro euros pound pounds dollar dollars quid bucks francs crowns cents pence")

// visits reports whether somebody without a name is coming: "the plumber's coming at six", "a man's coming at six
// to look at the bike".
func visits(c *discourse.Clause) bool {
	who := discourse.Last(c.Thing)
	return c.Ing && !c.Perfect && (c.Verb == "come" || c.Verb == "arrive") && (visitors[who] || syntax.Profession(who) || discourse.Trade(who))
}

// visitors are words for people who come to a home.
var visitors = syntax.Set("man guy woman lady bloke chap girl boy someone somebody people couple buyer guests visitors inspector surveyor engineer movers removers")
