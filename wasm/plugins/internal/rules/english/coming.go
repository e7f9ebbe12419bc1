package english

import (
	"slices"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// agreedOn takes a future day that was agreed on: "so we said Friday instead, same time" moves what
// is on the other day that the turn names, "I said Thursday for the dentist" is an appointment.
func agreedOn(t *discourse.Talk, c *discourse.Clause) bool {
	if !c.Past || c.Neg || c.Modal || c.Kind == 't' || c.Kind == 'y' {
		return false
	}
	var w *timex.When
	for i := range c.Whens {
		if c.Whens[i].Weekday && c.Says(&c.Whens[i]) {
			w = &c.Whens[i]
		}
	}
	if w == nil {
		return false
	}
	d := *c
	d.Past = false
	for i := range c.Words {
		if c.W(i) != "instead" {
			continue
		}
		if p, ok := insteadOf(t, w); ok {
			if t.OffAt > 0 && t.OffAt == len(t.Out.Candidates) && p == t.Off { // it is moved, and not cancelled
				t.Out.Candidates = t.Out.Candidates[:t.OffAt-1]
			}
			discourse.Moved(t, p.Move(w), c.Sentence, 0.86)
			return true
		}
	}
	t.PlanAt(&d, w)
	return true
}

// insteadOf returns the only future plan on another day that the turn names, or else the one that
// the talk is about.
func insteadOf(t *discourse.Talk, w *timex.When) (discourse.Plan, bool) {
	if t.OffAt > 0 && t.OffAt == len(t.Out.Candidates) {
		return t.Off, true
	}
	var days []int
	for _, s := range syntax.Sentences(t.Ev.Text) {
		for _, o := range timex.FindWhens(s, t.Now) {
			if o.HasDay && !o.Habit && o.Day != w.Day {
				days = append(days, o.Day)
			}
		}
	}
	var found []discourse.Plan
	for _, p := range t.Plans {
		if p.Day >= t.Now.Day && slices.Contains(days, p.Day) {
			found = append(found, p)
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	if len(days) > 0 {
		return discourse.Plan{}, false
	}
	return Meant(t)
}

// closedOn reports whether the clause is like "the library's closed on Friday": what looks like a
// possessive before a verb is "is", and the verb says how the thing is on that day.
func closedOn(c *discourse.Clause) bool {
	bare := c.Vi == 1 && (c.W(2) == "for" || c.Kind == 't') // "Nursery shut for training Friday"
	if c.Kind != 't' && !bare || c.Vi == 0 || c.Vi >= len(c.Words) || !closing[c.W(c.Vi)] {
		return false
	}
	is := c.W(c.Vi-1) == "'s" || bare
	for i := range c.Whens {
		if w := &c.Whens[i]; is && (w.First == c.Words[c.Vi].Tok+1 || c.W(c.Vi+1) == "for" && w.Weekday) {
			return true
		}
	}
	return false
}

// closing are participles for the state of a thing; "the parcel's arrived" is not one.
var closing = syntax.Set("closed shut booked reserved blocked locked taken occupied sold cancelled")
