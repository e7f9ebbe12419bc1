package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// groups are groups that people join without working there. A team may be at work.
var groups = syntax.Set("choir band club orchestra ensemble quartet quintet trio society association guild troupe chorus")

// groupAt returns the group that the words from i on name, without its article: "book club"; "" if
// they name none. "The club" may be any place with music.
func groupAt(c *discourse.Clause, i int) string {
	o := cutTail(discourse.ObjectOf(c, i))
	words := strings.Fields(strings.ToLower(o))
	if n := len(words); n == 0 || n > 4 || !groups[words[n-1]] || n == 1 && c.W(i) == "the" && words[0] == "club" {
		return ""
	}
	return o
}

// joins takes the group that somebody is in, joins or leaves: "I joined a choir", "I sing in a
// band", "I'm in the alpine club". It reports whether the clause says nothing else.
func joins(t *discourse.Talk, c *discourse.Clause, i int) bool {
	if c.Kind == 't' || c.Ends == "?" || c.Conditional() || c.Modal || c.Future || c.Intend {
		return false
	}
	done := c.Past || c.Perfect
	switch c.Verb {
	case "join":
		return done && !c.Neg && inGroup(t, c, i)
	case "leave", "quit":
		o := groupAt(c, i)
		if o != "" && done && !c.Neg {
			t.Ended(c, c.Subj, "habit", discourse.MemberOf, o, true)
		}
		return o != ""
	}
	if done && !c.UsedTo {
		return false
	}
	switch c.Verb {
	case "belong":
		return c.W(i) == "to" && inGroup(t, c, i+1)
	case "be":
		for syntax.Adverb(c.W(i)) || c.W(i) == "not" {
			i++
		}
		if c.W(i) == "a" && c.W(i+1) == "member" {
			i++
		}
		if (c.W(i) == "member" || c.W(i) == "part") && c.W(i+1) == "of" {
			return inGroup(t, c, i+2)
		}
		return c.W(i) == "in" && inGroup(t, c, i+1)
	case "play":
		if in := c.Find(i+1, 4, "in"); in > 0 { // "the violin in an orchestra"
			inGroup(t, c, in+1)
			return false
		}
		fallthrough
	case "sing", "drum", "dance", "row", "sail", "climb", "perform":
		return (c.W(i) == "in" || c.W(i) == "with") && inGroup(t, c, i+1)
	}
	return false
}

// inGroup proposes the group that the words from i on name, if they name one.
func inGroup(t *discourse.Talk, c *discourse.Clause, i int) bool {
	o := groupAt(c, i)
	return o != "" && t.Fact(c, "habit", discourse.MemberOf, o, true, 0.8) != nil
}
