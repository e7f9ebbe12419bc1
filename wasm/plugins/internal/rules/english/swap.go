package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// swapped takes "I swapped my Tuesday shift with Priya": the weekday is that of the turn, which is
// still to come, and not the day on which people agreed.
func swapped(t *discourse.Talk, c *discourse.Clause, w *timex.When) bool {
	if c.Verb != "swap" && c.Verb != "trade" && c.Verb != "switch" || w == nil || !w.Weekday || w.Habit || c.Neg || c.Kind == 'y' || c.Kind == 't' {
		return false
	}
	owner, turn := c.At(w.First-1), syntax.Singular(c.At(w.Next))
	if !syntax.Determiner(owner) || turn != "shift" && turn != "slot" && turn != "turn" && turn != "lesson" && turn != "class" && turn != "duty" {
		return false
	}
	c.Past, c.Perfect = false, false // already done, for a future day
	t.PlanAt(c, w)
	return true
}

var (
	shiftTimes = syntax.Set("early late night day evening morning twilight weekend") // before "shift"
	shiftNames = syntax.Set("earlies lates nights")
)

// OnShift takes "late shift this week", "I've got nights all next week": which shift the speaker works
// at a time, without more words.
func OnShift(t *discourse.Talk, s syntax.Sentence) bool {
	if s.Chinese() || s.Ends == "?" || len(s.Toks) < 2 || len(s.Toks) > 12 {
		return false
	}
	i := 0
	if s.At(0) == "i've" && s.At(1) == "got" || (s.At(0) == "i'm" || s.At(0) == "i") && (s.At(1) == "on" || s.At(1) == "doing" || s.At(1) == "working" || s.At(1) == "have") {
		i = 2
	} else if s.At(0) == "on" {
		i = 1
	}
	from := i
	if s.At(i) == "the" || s.At(i) == "a" {
		i++
	}
	switch {
	case shiftNames[s.At(i)]:
		i++
	case shiftTimes[s.At(i)] && syntax.Singular(s.At(i+1)) == "shift":
		i += 2
	default:
		return false
	}
	shift := strings.ToLower(s.Text[s.Toks[from].Start:s.Toks[i-1].End])
	if !shiftNames[s.At(i-1)] && from == i-2 {
		shift = "the " + shift
	}
	for s.At(i) == "all" || s.At(i) == "again" || s.At(i) == "for" {
		i++
	}
	w, ok := timex.WhenAt(s, i, t.Now)
	if !ok || w.Next != len(s.Toks) || !w.HasDay || w.Habit || w.Day < t.Now.Day && w.Grain == 'd' || w.Grain != 'd' && w.Grain != 'w' {
		return false
	}
	made := len(t.Out.Candidates)
	for _, o := range syntax.Sentences("I'm on " + shift + " " + s.Text[s.Toks[i].Start:s.End]) {
		clause(t, o)
	}
	discourse.StandsFor(t, made, s)
	return len(t.Out.Candidates) > made
}
