package discourse

import (
	"slices"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// tail cuts off the end of the clause that takes back what is said before it: "I live in Leeds, but
// not any more", "or I did". It reports whether the clause has a verb.
func (c *Clause) tail() bool {
	at, denies := c.withdrawal()
	if at < len(c.Words) {
		if denies {
			c.withdrawn = c.Words[at].Tok
		}
		c.Neg = c.Neg || denies
		c.NoLonger = c.NoLonger || c.Neg
		c.Words = c.Words[:at]
	}
	return c.Verb != ""
}

// withdrawal returns the word at which a withdrawal begins, or len(c.Words); denies is false for
// "any more" alone, which only ends what is denied already.
func (c *Clause) withdrawal() (at int, denies bool) {
	for k := c.Vi + 1; k < len(c.Words); k++ {
		end := k + 1 // after "any more"
		switch {
		case c.W(k) == "anymore":
		case c.W(k) == "," && !c.Past && !c.Neg && (c.W(k+1) == "or" && c.did(k+2) || c.W(k+1) == "well" && c.did(k+2+syntax.BoolInt(c.W(k+2) == ","))):
			return k, true
		case c.W(k) == "any" && (c.W(k+1) == "more" || c.W(k+1) == "longer"), c.W(k) == "no" && c.W(k+1) == "longer" && k+2 == len(c.Words):
			end++
		default:
			continue
		}
		from := k - 1 + syntax.BoolInt(c.W(k) == "no")
		closes := c.W(end) == "" || c.W(end) == "," || c.W(end) == "though" || c.W(end) == "now"
		if c.Neg || c.Past || from <= c.Vi || c.W(from) != "not" && c.W(from) != "no" || !closes {
			return k, false
		}
		for from > c.Vi+1 && slices.Contains([]string{",", "but", "though", "although", "well"}, c.W(from-1)) {
			from--
		}
		return from, true
	}
	return len(c.Words), false
}

// did reports whether words from i on say that something was so: "I did", "at least she used to".
func (c *Clause) did(i int) bool {
	if c.W(i) == "at" && c.W(i+1) == "least" || c.W(i) == "rather" && c.W(i+1) == "," {
		i += 2
	}
	if who := c.W(i); syntax.SubjectPronoun(who) {
		if own := who == "i" || who == "we"; own != (c.Kind == 's' || c.Kind == 'w') {
			return false // "I live here, well, he did"
		}
		i++
	} else if c.W(i) != "did" && c.W(i) != "used" {
		return false
	}
	switch c.W(i) {
	case "used":
		return c.W(i+1) == "to"
	case "did", "was", "were":
		return wasOnce[c.W(i+1)]
	}
	return false
}

// wasOnce are words after "or I did" that do not make it another statement, as in "or I was told".
var wasOnce = map[string]bool{"": true, ",": true, "until": true, "till": true, "before": true, "once": true, "up": true, "as": true, "when": true, "while": true, "back": true, "though": true, "anyway": true, "then": true, "at": true, "in": true, "last": true}
