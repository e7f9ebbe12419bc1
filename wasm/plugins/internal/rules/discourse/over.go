package discourse

import (
	"slices"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// tail looks at the end of the clause for "any more", which with "not" also ends what is said before
// it: "I live in Leeds, but not any more". So does "or I did", "or at least I used to".
func (c *Clause) tail() bool {
	for k := c.Vi + 1; k < len(c.Words); k++ {
		end := k + 1 // after "any more"
		switch {
		case c.W(k) == "anymore":
		case c.W(k) == "," && c.W(k+1) == "or" && !c.Past && !c.Neg && c.did(k+2):
			c.Neg, end = true, 0
		case c.W(k) == "any" && (c.W(k+1) == "more" || c.W(k+1) == "longer"), c.W(k) == "no" && c.W(k+1) == "longer" && k+2 == len(c.Words):
			end++
		default:
			continue
		}
		if from := k - 1 + syntax.BoolInt(c.W(k) == "no"); !c.Neg && !c.Past && from > c.Vi && (c.W(from) == "not" || c.W(from) == "no") && (c.W(end) == "" || c.W(end) == "," || c.W(end) == "though" || c.W(end) == "now") {
			c.Neg = true
			for k = from; k > c.Vi+1 && slices.Contains([]string{",", "but", "though", "although", "well"}, c.W(k-1)); k-- {
			}
		}
		c.NoLonger = c.NoLonger || c.Neg
		c.Words = c.Words[:k]
		break
	}
	return c.Verb != ""
}

// did reports whether words from i on say that something was so: "I did", "at least she used to".
func (c *Clause) did(i int) bool {
	if c.W(i) == "at" && c.W(i+1) == "least" || c.W(i) == "rather" && c.W(i+1) == "," {
		i += 2
	}
	next := c.W(i + 1)
	return syntax.SubjectPronoun(c.W(i)) && (next == "did" || next == "was" || next == "were" || next == "used") && c.W(i+2) != "not"
}
