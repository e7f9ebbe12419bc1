package english

import (
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// shifts are verbs that give an appointment another time.
var shifts = syntax.Set("push move put shift postpone delay bring change reschedule")

// shiftedBy takes "they pushed the dentist back a week": a known appointment, later or earlier by a
// length of time. "Moved forward" may mean both, and is not taken.
func shiftedBy(t *discourse.Talk, c *discourse.Clause) bool {
	verb, k := c.Verb, c.Vi
	if verb == "be" || verb == "get" {
		for i := c.Vi + 1; i < min(len(c.Words), c.Vi+4); i++ {
			if l, past, _ := syntax.Lemma(c.W(i)); past && l != "" {
				verb, k = l, i
			}
		}
	}
	if !c.Past && !c.Perfect && verb == c.Verb || c.Neg || c.Modal || c.Intend || c.Ends == "?" || c.Conditional() || k >= len(c.Words) || len(c.Whens) > 0 || !shifts[verb] {
		return false
	}
	later, earlier := verb == "postpone" || verb == "delay", false
	n, unit := 0, ""
	for i := c.Words[k].Tok + 1; i < len(c.Toks); i++ {
		switch w := c.At(i); w {
		case "back":
			later = verb == "push" || verb == "move" || verb == "put" || verb == "shift" || later
		case "forward":
			earlier = verb == "bring"
		case "later":
			later = true
		case "earlier":
			earlier = true
		}
		switch by, counted := syntax.Number(c.At(i)); {
		case n > 0:
		case c.At(i) == "half" && c.At(i+1) == "an" && c.At(i+2) == "hour":
			n, unit = 30, "minute"
		case (c.At(i) == "a" || c.At(i) == "three") && syntax.Singular(c.At(i+1)) == "quarter" && c.At(i+2) == "of" && c.At(i+3) == "an":
			n, unit = 15, "minute"
			if c.At(i) == "three" {
				n = 45
			}
		case counted:
			n, unit = by, syntax.Singular(c.At(i+1))
		}
	}
	attr, noun := c.EventIn()
	it := c.Find(0, len(c.Words), "it") >= 0
	if later == earlier || n < 1 || n > 60 || attr == "" && !it {
		return false
	}
	var words []string
	if attr != "" {
		words = []string{attr, noun}
	}
	p, known := t.FindOf(t.Whose(c), func(p *discourse.Plan) bool { return p.Day >= t.Now.Day && p.Day > 1 }, words...)
	if !known {
		return false
	}
	if earlier {
		n = -n
	}
	return discourse.Shifted(t, p, n, unit, c.Sentence)
}
