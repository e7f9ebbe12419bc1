package discourse

import (
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// AtOtherAge reports whether a clause says how young somebody was at its time: "I moved to London
// when I was twenty". It is not known whether it is still true, unless the clause says so.
func (t *Talk) AtOtherAge(c *Clause) bool {
	for i := range c.Toks {
		if w := c.At(i); w == "still" || w == "since" {
			return false
		}
	}
	for k := c.Vi + 1; k+3 < len(c.Words); k++ {
		if be := c.W(k + 2); c.W(k) != "when" || !syntax.SubjectPronoun(c.W(k+1)) || be != "was" && be != "were" {
			continue
		}
		of := k + 3
		if rough := c.W(of); rough == "about" || rough == "around" || rough == "only" || rough == "a" || rough == "just" {
			of++
		}
		n, ok := syntax.Number(c.W(of))
		switch next := c.W(of + 1); next {
		case "", ",", "and", "but", "so", "because", "or":
		default:
			ok = ok && next == "years" && c.W(of+2) == "old" // and not "six months pregnant"
		}
		if young := c.W(of); ok && n < grown || timex.Youths[syntax.Singular(young)] || young == "kids" || young == "children" || young == "little" || young == "young" || young == "small" || young == "student" || young == "students" || young == "younger" ||
			(young == "at" || young == "in") && (timex.Schooldays[c.W(of+1)] || c.W(of+1) == "school") {
			return true
		}
	}
	return timex.AnyTime(c.Sentence, t.Now, func(w *timex.When) bool {
		if !w.Vague || c.At(w.Next-1) == "ago" {
			return false
		}
		n, ok := syntax.Number(c.At(w.Next - 1))
		return !ok || n < grown
	})
}

// atThatAge proposes what a clause tells about an earlier age as an event without a date.
func (t *Talk) atThatAge(c *Clause) *abi.Candidate {
	a := t.Base(c, "episodic", "event", EventSure)
	a.EventType, a.Actor = "event", c.Subj.Name
	t.Out.Candidates = append(t.Out.Candidates, a)
	return &t.Out.Candidates[len(t.Out.Candidates)-1]
}

// onceWas maps an attribute of today to the one for the past: somebody's former home is where they
// lived_in.
var onceWas = map[string]string{"home": "lived_in", "employer": "worked_at"}

// grown is an age in years. What somebody began at this age or later is assumed to be true today.
const grown = 30
