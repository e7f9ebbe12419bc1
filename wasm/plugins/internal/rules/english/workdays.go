package english

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// dayAt takes "my last day at Acme is the 31st", "Anna's first shift is on Monday".
func dayAt(t *discourse.Talk, c *discourse.Clause, w *timex.When) bool {
	words := strings.Fields(c.Thing)
	if !c.Own || len(words) < 2 || c.Verb != "be" || c.Neg || c.Past || c.Modal || w == nil || !w.HasDay || w.Habit || w.Grain != 'd' || w.Day < t.Now.Day {
		return false
	}
	if words[0] != "last" && words[0] != "first" || words[1] != "day" && words[1] != "shift" && words[1] != "week" {
		return false
	}
	t.PlanAt(c, w)
	return true
}

// turn takes "it's my turn to cook tomorrow".
func turn(t *discourse.Talk, c *discourse.Clause, w *timex.When) bool {
	k := c.Find(c.Vi+1, 3, "turn")
	if c.Thing != "it" || k < 0 || c.W(k+1) != "to" || c.W(c.Vi+1) != "my" && c.W(c.Vi+1) != "our" || c.Past || c.Neg || w == nil || !w.HasDay || w.Habit {
		return false
	}
	d := *c
	d.Kind, d.Thing, d.Subj, d.Vi = 's', "", t.Self, k+2
	d.Verb, _, _ = syntax.Lemma(c.W(d.Vi))
	made := len(t.Out.Candidates)
	t.PlanAt(&d, w)
	if len(t.Out.Candidates) > made {
		t.Out.Candidates[made].Text = t.Rewrite(c)
	}
	return true
}

// gaveNotice takes "I handed in my notice", "Anna has given notice at work".
func gaveNotice(t *discourse.Talk, c *discourse.Clause, i int) bool {
	switch c.Verb {
	case "hand", "give", "put", "submit", "send":
	default:
		return false
	}
	k := c.Find(i, 6, "notice")
	if k < 0 {
		k = c.Find(i, 6, "resignation")
	}
	if k < 0 || c.Neg || !c.Past && !c.Perfect || c.Conditional() || c.FirstTime() != nil || c.Kind != 's' && c.Kind != 'p' {
		return false
	}
	if w := c.W(i); w != "in" && w != "my" && w != "his" && w != "her" && w != "notice" {
		return false // "gave me short notice"
	}
	a := t.Base(c, "episodic", "event", 0.75)
	a.EventType, a.Actor, a.Started = "event", c.Subj.Name, noted.ToldAt(t, c.Sentence)
	t.Out.Candidates = append(t.Out.Candidates, a)
	return true
}

// utilities are things that are there on most days: what a house has until it is cut off, and where
// people have to go.
var utilities = syntax.Set("water power electricity gas heating internet wifi broadband lift elevator school nursery kindergarten daycare")

// Outage takes "there's no water on Thursday", "they're turning off the power tomorrow": a future
// day at the speaker's home.
func Outage(t *discourse.Talk, s syntax.Sentence) bool {
	if s.Chinese() || s.Ends == "?" || len(s.Toks) > 16 || !slices.ContainsFunc(s.Toks, func(k syntax.Token) bool {
		w, _ := syntax.Contraction(k.S)
		return utilities[w]
	}) {
		return false
	}
	c := refuse.Unparsed(t, s)
	w := c.FirstTime()
	if w == nil || !w.HasDay || w.Habit || w.Grain != 'd' || w.Day < t.Now.Day {
		return false
	}
	i := 1
	none := false
	switch c.W(0) {
	case "there":
		for syntax.Auxiliary(c.W(i)) || c.W(i) == "be" || c.W(i) == "going" || c.W(i) == "to" || c.W(i) == "is" {
			none = none || c.W(i) == "is" || c.W(i) == "be"
			i++
		}
		none = none && c.W(i) == "no"
	case "they":
		for syntax.Auxiliary(c.W(i)) || c.W(i) == "going" || c.W(i) == "to" || c.W(i) == "be" {
			i++
		}
		switch c.W(i) {
		case "cut", "cutting", "turn", "turning", "shut", "shutting", "switch", "switching":
			none = c.Find(i, len(c.Words)-i, "off") > 0
		}
	}
	what := ""
	for k := 0; none && k < len(c.Words); k++ {
		switch w := c.W(k); {
		case utilities[w] && k >= i:
			what = w
		case w == "if" || w == "might" || w == "may" || w == "could" || w == "should" || w == "would":
			return false
		}
	}
	if what == "" {
		return false
	}
	p := discourse.Plan{Subject: t.Self.Key, Attribute: "plan: no " + what, What: "plan", Label: "no " + what, Day: w.Day, Minute: w.Minute, Clock: w.Clock}
	if a := t.Emit(p, t.Rewrite(&c), "plan", 0.8, s, false); a != nil {
		a.Ended = timex.Closed(s, c.Whens, w, t.Now, false)
	}
	return true
}
