package english

import (
	"strconv"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// anniversary takes "the wedding anniversary is on the 14th of September": a yearly day.
func anniversary(t *discourse.Talk, c *discourse.Clause) bool {
	w := c.FirstTime()
	if c.Verb != "be" || c.Past || c.Neg || !strings.HasSuffix(c.Thing, "anniversary") || w == nil || !timex.SameYearly(w) {
		return false
	}
	if !c.Own {
		if c.Thing != "anniversary" && c.Thing != "wedding anniversary" {
			return false // "the firm's anniversary"
		}
		c.Subj = t.Self
	}
	_, m, d := timex.Date(w.Day)
	f := t.Fact(c, "biography", strings.ReplaceAll(c.Thing, " ", "_"), timex.MonthNames[m-1]+" "+strconv.Itoa(d), false, 0.88)
	if rest, the := strings.CutPrefix(t.Rewrite(c), "The "); f != nil && the && !c.Own {
		f.Text = discourse.Possessive(c.Subj.Name) + " " + rest
	}
	return f != nil
}

// sameMonth reports whether a yearly time is always in the same month: "late May", and not Easter.
func sameMonth(w *timex.When) bool {
	month := 0
	for y := 2026; y < 2030; y++ {
		first, _, ok := w.Days(y)
		_, m, _ := timex.Date(first)
		if !ok || month > 0 && m != month {
			return false
		}
		month = m
	}
	return true
}
