package english

import (
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// left ends the home or the job of which the text spoke before, if a clause tells that somebody left
// it: "I actually moved out in May".
func left(t *discourse.Talk, c *discourse.Clause) {
	if !c.Past && !c.Perfect || c.Neg || c.Modal || c.Intend || c.Future || c.Kind == 't' || c.Ends == "?" || c.Conditional() {
		return
	}
	i, attribute := c.Vi+1, ""
	next := c.W(i)
	if c.Verb == "move" && (next == "out" || next == "away") {
		i, attribute = i+1, "home"
	}
	if c.Verb == "quit" || c.Verb == "leave" || c.Verb == "resign" {
		attribute = "employer"
		for syntax.Determiner(c.W(i)) || c.W(i) == "job" || c.W(i) == "there" || c.W(i) == "that" || c.W(i) == "my" {
			i++
		}
	}
	for syntax.Adverb(c.W(i)) || syntax.Preposition(c.W(i)) && i+1 == len(c.Words) || c.W(i) == "already" {
		i++
	}
	if attribute != "" && i >= len(c.Words) {
		t.Left(c.Subj, attribute, t.Rewrite(c))
	}
}
