package english

import (
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// befell reports whether something was done to the speaker or to somebody close to them: "I was
// adopted", "I was given a scholarship".
func befell(c *discourse.Clause) bool {
	if c.W(c.Vi-1) == "to" || c.Verb != "be" || c.Kind != 's' && c.Kind != 'w' && (c.Kind != 'p' || !c.Own) || !c.Past && !c.Perfect || c.Neg {
		return false
	}
	switch done := c.W(c.Vi + 1); done {
	case "given", "offered", "awarded":
		return granted[discourse.Last(discourse.ObjectOf(c, c.Vi+2))]
	case "asked":
		return c.W(c.Vi+2) == "to" && entrusted[c.W(c.Vi+3)]
	default:
		return discourse.Attained[done]
	}
}

// entrusted are things that somebody is asked to do once: "I was asked to lead the team".
var entrusted = syntax.Set("lead speak join chair manage present teach write run resign testify step")

// offered are participles whose day may be that of the thing offered: "I was invited to a wedding
// in June".
var offered = syntax.Set("given offered awarded invited accepted selected admitted")

// granted are things that somebody gets at work: "I got a raise".
var granted = syntax.Set("raise rise promotion bonus scholarship grant warning job place loan mortgage visa contract medal prize award refund discount")

// given are things of which there is only one: "I got the job".
var given = syntax.Set("job sack promotion grant scholarship visa loan mortgage flat house")

// examined reports whether the clause is about an exam that somebody passed or failed.
func examined(c *discourse.Clause) bool {
	if c.Verb != "pass" && c.Verb != "fail" {
		return false
	}
	switch discourse.Last(discourse.ObjectOf(c, c.Vi+1)) {
	case "exam", "exams", "test", "theory", "finals", "audition", "bar", "module", "course", "viva":
		return true
	}
	return false
}
