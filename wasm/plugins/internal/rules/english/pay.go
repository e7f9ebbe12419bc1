package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// What somebody earns by working has one value at a time, and ends with the job.

// payWords are words for pay.
var payWords = syntax.Set("salary pay wage wages paycheck")

// earns takes "I earn 70k a year", "I make 3,000 euros a month", "I'm on 45k", "I get paid 20 euros
// an hour": an amount of pay, and not something that is sold or done on the side.
func earns(t *discourse.Talk, c *discourse.Clause, i int) bool {
	if c.Past || c.Perfect || c.Neg || c.Future || c.Modal || c.Must || c.Intend || c.Can || c.Maybe || c.Conditional() || c.Kind != 's' && c.Kind != 'p' {
		return false
	}
	period := false // without a period it may be a cake
	switch c.Verb {
	case "earn":
	case "make":
		period = true
	case "get", "be":
		if c.W(i) == "paid" {
			i++
		} else if c.Verb == "be" && c.W(i) == "on" {
			i++
			period = !strings.HasSuffix(c.W(i), "k")
		} else {
			return false
		}
	default:
		return false
	}
	return paid(t, c, i, period)
}

// paid proposes the amount at word i as the pay of the clause's subject.
func paid(t *discourse.Talk, c *discourse.Clause, i int, period bool) bool {
	for c.W(i) == "about" || c.W(i) == "around" || c.W(i) == "roughly" || c.W(i) == "only" || c.W(i) == "now" {
		i++
	}
	k, digits, money := i, false, false
	for ; k < len(c.Words); k++ {
		w := c.W(k)
		number := noted.Counts(w) && w != "a" && w != "an" || strings.ContainsAny(w, "0123456789")
		money = money || Currencies[strings.TrimSuffix(w, "s")] || strings.ContainsAny(w, "$€£¥,") || len(w) > 2 && number || strings.HasSuffix(w, "k") && number || timex.Scales[w]
		if digits = digits || number; !number && !timex.Scales[w] && !Currencies[strings.TrimSuffix(w, "s")] && !strings.ContainsAny(w, "$€£¥") && !(w == "," && number) {
			break
		}
	}
	if !digits || period && !money {
		return false
	}
	end := k
	if w := c.W(k); w == "a" || w == "an" || w == "per" || w == "each" || w == "every" {
		switch c.W(k + 1) {
		case "year", "month", "week", "hour", "day", "annum":
			end, period = k+2, false
		}
	}
	rest := end
	switch c.W(rest) {
	case "before", "after", "gross", "net":
		for rest < len(c.Words) && rest < end+2 && c.W(rest) != "at" {
			rest++
		}
	}
	if w := c.W(rest); period || w != "" && w != "at" && w != "," && w != "now" && w != "there" {
		return false
	}
	return t.Fact(c, "work", "salary", c.Join(i, end), false, 0.8) != nil
}

// salaryIs takes "my salary is 70k a year", "my pay went up to 75k".
func salaryIs(t *discourse.Talk, c *discourse.Clause, i int) bool {
	words := strings.Fields(c.Thing)
	if !c.Own || len(words) == 0 || len(words) > 2 || !payWords[words[len(words)-1]] || c.Neg || c.Future || c.Modal || c.Conditional() {
		return false
	}
	switch {
	case c.Verb == "be" && !c.Past:
	case c.Verb == "go" && c.W(i) == "up" && (c.Past || c.Perfect):
		to := c.Find(i, 5, "to")
		if to < 0 {
			return false
		}
		i = to + 1
	default:
		return false
	}
	return paid(t, c, i, false)
}
