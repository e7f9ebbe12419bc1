// Package english makes candidates from English clauses. [Clause] parses one and passes it to
// [Read]. If the subject is a person, personal.go takes it, which tries each family of verbs
// (dwells, employed, eats, owns), and traits.go for "be"; things.go takes clauses about a thing.
// Each of these tries its functions in turn until one knows the clause.
package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Read applies the rule of the clause's verb.
func Read(t *discourse.Talk, c *discourse.Clause) {
	if rather(t, c) {
		return
	}
	if c.Verb == "say" && forecasts[discourse.Last(strings.ToLower(c.Join(0, c.Vi)))] {
		return // "the weather says snow on Monday"
	}
	if c.Past && closedOn(c) {
		c.Past = false
	}
	if c.Almost() || c.Elided() || refuse.Unreal(c) {
		return
	}
	if (c.Modal || c.Must || c.Intend && c.W(c.Vi-2) == "supposed") && c.Verb == "take" && !c.Past && c.Ends != "?" && (c.FirstTime() == nil || !c.FirstTime().HasDay && severalDoses(t.Said)) {
		if drug, amount := medicine(c, c.Vi+1); drug != "" && amount != "" {
			takes(t, c, c.Vi+1) // as the doctor says
			return
		}
	}
	if c.Neg && (c.Future || c.Can) && (unable(t, c) || cannotHave(t, c)) || c.Modal && c.Verb != "be" || resumes(t, c) { // with a modal it is a wish or a possibility
		return
	}
	if next := c.W(c.Vi + 1); (c.Verb == "be" || c.Verb == "get") && (next == "cancelled" || next == "canceled") {
		c.Verb = "be" // "got cancelled"
		if c.Kind == 'p' && !c.Own {
			c.Kind, c.Thing, c.Subj = 't', strings.ToLower(c.Subj.Name), t.Self // "Yoga is cancelled": yoga is not a person
		}
	}
	if stoppedBeing(t, c) && c.FirstTime() == nil {
		return
	}
	over(t, c)
	if absent(t, c) || lending(t, c) || agreedOn(t, c) || shiftedBy(t, c) || reschedule(t, c) || t.ToldOf(c) {
		return
	}
	if reacts(t, c) || ails(t, c) || expects(t, c) || christens(t, c) || runsOut(t, c) {
		return
	}
	if c.Kind == 't' {
		aboutThing(t, c)
		return
	}
	if c.Ends == "?" || intends(t, c) {
		return
	}
	timed := c.FirstTime()
	if timed != nil && becauseBefore(c, timed) {
		timed = nil // "I'm calling because she is away tomorrow"
	}
	if (c.Verb == "book" || c.Verb == "schedule" || c.Verb == "arrange" || c.Verb == "reserve") && (c.Past || c.Perfect) && !c.Neg && timed != nil && timed.HasDay && (c.At(timed.First) == "for" || c.W(c.Vi-1) != "had" && (c.At(timed.First) == "from" || c.At(timed.First-1) == "from" || timed.Last > 0) || bookedIn(c) || timed.Clock && (c.TableFor() || c.EventAt() > c.Vi)) {
		c.Past, c.Perfect = false, false // already done, for a future day
		t.PlanAt(c, timed)
		return
	}
	if bodily[c.Verb] && c.Ing && (timed == nil || !timed.HasDay) || c.Intend && c.Verb == "be" && (c.W(c.Vi+1) == "a" || c.W(c.Vi+1) == "an") && discourse.Trade(discourse.Last(strings.ToLower(discourse.ObjectOf(c, c.Vi+1)))) {
		return // "I'm starving by eleven", "wants to be a pilot this week"
	}
	if c.Past && c.Future { // "I was going to see Ines, but she cancelled"
		return
	}
	switch {
	case c.Intend && !c.Past || c.Future || c.Must && !c.Past:
		plan(t, c, timed)
		return
	case c.Ing && !c.Past && !c.Perfect && timed != nil && timed.Unix() > t.Ev.At:
		plan(t, c, timed)
		return
	}
	if t.Never(c) || wantsMe(t, c, c.Vi+1) || swapped(t, c, timed) {
		return
	}
	before := len(t.Out.Candidates)
	personal(t, c)
	if len(t.Out.Candidates) > before {
		return
	}
	switch {
	case c.Must && c.Past: // promised to, decided to
		plan(t, c, timed)
	case (c.Past || c.Perfect && !c.Ing && (timed != nil || refuse.Deed(c.Verb) || c.Verb == "die" || c.Verb == "get" && discourse.Attained[c.W(c.Vi+1)] || momentous(c) || befell(c))) && !c.Neg:
		happened(t, c, timed)
	case c.Verb == "be" && discourse.Feelings[c.W(c.Vi+1)] && c.EventAt() < 0 && timed != nil && timed.Unix() > t.Ev.At: // "I'm nervous about tomorrow"
	case timed != nil && timed.HasDay && timed.Unix() > t.Ev.At && !c.Neg && c.Verb != "owe":
		plan(t, c, timed)
	case !c.Past && !c.Neg && !c.Perfect && c.Kind != 'y':
		habit(t, c)
	}
	if len(t.Out.Candidates) == before {
		activity(t, c)
	}
}

// forecasts are words for what predicts the weather.
var forecasts = syntax.Set("weather forecast")

// bookedIn reports whether the clause is like "booked the dog in for a trim".
func bookedIn(c *discourse.Clause) bool {
	k := c.Find(c.Vi+1, len(c.Words), "in")
	return k > c.Vi && (k+1 == len(c.Words) || c.W(k+1) == "for" || c.W(k+1) == "with" || c.W(k+1) == "at")
}

// bodily are verbs for how somebody feels, which nobody plans.
var bodily = syntax.Set("starve freeze ache yawn flag die")

// becauseBefore reports whether a time belongs to the reason, after the verb.
func becauseBefore(c *discourse.Clause, w *timex.When) bool {
	k := c.Find(c.Vi+1, len(c.Words), "because")
	return k >= 0 && c.Words[k].Tok < w.First
}
