package rules

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
)

// bornIn takes "from Leeds", "born and bred in Leeds", "born in Leeds in May".
func (t *talk) bornIn(c *clause, i int) bool {
	switch {
	case c.w(i) == "from":
		t.fact(c, "biography", "origin", o2(c, i+1), false, 0.88)
	case c.w(i) != "born":
		return false
	case c.w(i+1) == "and":
		in, _ := c.after(i, 4, "in")
		t.fact(c, "biography", "grew_up_in", in, false, 0.9)
	default:
		in, _ := c.after(i, 2, "in")
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
		t.fact(c, "biography", attribute, in, false, 0.9)
		if timed := c.firstTime(); timed != nil && timed.hasDay {
			t.birthday(c, timed)
		}
	}
	return true
}

func (t *talk) birthday(c *clause, w *when) {
	y, m, d := date(w.day)
	value := ""
	switch {
	case w.season != "" && !isYear(c.at(w.next-1)):
		return
	case w.grain == 'y', w.season != "":
		t.fact(c, "biography", "birth_year", itoa(y), false, 0.85)
		return
	case w.last > 0 && w.days != nil && !w.sameMonth():
		return
	case w.grain == 'M', w.last > 0:
		value = monthNames[m-1]
	case w.days != nil && !w.sameYearly():
		return
	default:
		value = monthNames[m-1] + " " + itoa(d)
	}
	t.fact(c, "biography", "birthday", value, false, 0.93)
}

// aged takes "turning forty", "forty years old".
func (t *talk) aged(c *clause, i int) bool {
	if t.tall(c, i) {
		return true
	}
	if c.w(i) != "turning" && !isAge(c, i) {
		return false
	}
	if c.w(i) == "turning" {
		i++
	}
	if n, ok := number(c.w(i)); ok && n > 0 && n < 120 {
		t.fact(c, "biography", "age", c.w(i), false, 0.85)
	}
	return true
}

func isAge(c *clause, i int) bool {
	n, ok := number(c.w(i))
	if !ok || n < 1 || n > 119 || c.w(i) == "a" || c.w(i) == "an" {
		return false
	}
	next := c.w(i + 1)
	return next == "" || next == "years" || next == "now" || next == "," || next == "and"
}
