package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// abilities are verbs for what the body of a healthy person can do.
var abilities = syntax.Set("hear see walk drive climb bend stand swim run cycle kneel lift")

// unable takes what somebody can no longer do: "Gran can't hear well any more", "my dad can't drive
// any more". "I can't see very well from here" is about the place.
func unable(t *discourse.Talk, c *discourse.Clause) bool {
	if !c.Can || !abilities[c.Verb] || c.Past || c.Kind != 's' && c.Kind != 'p' || c.Ends == "?" || len(c.Whens) > 0 {
		return false
	}
	rest := " " + strings.ToLower(c.Raw()) + " "
	if !syntax.ContainsAny(rest, " any more ", " anymore ", " any longer ") || syntax.ContainsAny(rest, " here ", " there ", " this ", " that ", " you ", " it ", " them ") {
		return false
	}
	a := t.Base(c, "semantic", "health", 0.7)
	a.Sensitivity = "private"
	t.Out.Candidates = append(t.Out.Candidates, a)
	return true
}

// bloodType takes "I'm O negative", and not "I'm a positive person".
func bloodType(t *discourse.Talk, c *discourse.Clause, i int) bool {
	kind, rh := c.W(i), c.W(i+1)
	if c.Past || c.Neg || rh != "positive" && rh != "negative" || kind != "a" && kind != "b" && kind != "ab" && kind != "o" || i+2 < len(c.Words) && c.W(i+2) != "," {
		return false
	}
	f := t.Fact(c, "biography", "blood_type", strings.ToUpper(kind)+" "+rh, false, 0.85)
	if f != nil {
		f.Sensitivity = "private"
	}
	return f != nil
}
