package english

import (
	"slices"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// bornIn takes "from Leeds", "born and bred in Leeds", "born in Leeds in May".
func bornIn(t *discourse.Talk, c *discourse.Clause, i int) bool {
	switch {
	case c.W(i) == "from":
		t.Fact(c, "biography", "origin", discourse.ObjectOf(c, i+1), false, 0.88)
	case c.W(i) != "born":
		return false
	case c.W(i+1) == "and":
		in, _ := c.After(i, 4, "in")
		t.Fact(c, "biography", "grew_up_in", in, false, 0.9)
	default:
		in, _ := c.After(i, 2, "in")
		for part := range strings.SplitSeq(in, " in ") {
			if in = strings.TrimPrefix(part, "the "); calendar.Named(in) == nil {
				break // "in the summer in Graz"
			}
		}
		if strings.ContainsAny(in, "0123456789") || calendar.Named(in) == nil && slices.ContainsFunc(strings.Fields(strings.ToLower(in)), func(w string) bool { return calendar.Named(w) != nil || w == "year" }) {
			return true // "in '88", "in early spring"
		}
		attribute := "birthplace"
		if calendar.Named(in) != nil { // "born in spring"
			attribute = "birthday"
		}
		t.Fact(c, "biography", attribute, in, false, 0.9)
		if timed := c.FirstTime(); timed != nil && timed.HasDay {
			if timed.Weekday {
				timed.Past(t.Now)
			}
			birthday(t, c, timed)
		}
	}
	return true
}

func birthday(t *discourse.Talk, c *discourse.Clause, w *timex.When) {
	y, m, d := timex.Date(w.Day)
	value := ""
	switch {
	case w.Season != "" && !timex.IsYear(c.At(w.Next-1)):
		return
	case w.Grain == 'y', w.Season != "":
		t.Fact(c, "biography", "birth_year", strconv.Itoa(y), false, 0.85)
		return
	case w.Last > 0 && w.Days != nil && !sameMonth(w):
		return
	case w.Grain == 'M', w.Last > 0:
		value = timex.MonthNames[m-1]
	case w.Days != nil && !timex.SameYearly(w):
		return
	default:
		value = timex.MonthNames[m-1] + " " + strconv.Itoa(d)
	}
	t.Fact(c, "biography", "birthday", value, false, 0.93)
}

// aged takes "turning forty", "forty years old".
func aged(t *discourse.Talk, c *discourse.Clause, i int) bool {
	if tall(t, c, i) {
		return true
	}
	if c.W(i) != "turning" && !isAge(c, i) {
		return false
	}
	if c.W(i) == "turning" {
		i++
	}
	if n, ok := syntax.Number(c.W(i)); ok && n > 0 && n < 120 {
		t.Fact(c, "biography", "age", c.W(i), false, 0.85)
	}
	return true
}

func isAge(c *discourse.Clause, i int) bool {
	n, ok := syntax.Number(c.W(i))
	if !ok || n < 1 || n > 119 || c.W(i) == "a" || c.W(i) == "an" {
		return false
	}
	next := c.W(i + 1)
	return next == "" || next == "years" || next == "now" || next == "," || next == "and"
}
