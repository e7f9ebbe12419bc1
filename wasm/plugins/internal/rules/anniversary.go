package rules

import "strings"

// ofEvents are what belongs to an event and is none: a wedding anniversary, a wedding dress.
var ofEvents = set("anniversary anniversaries dress ring rings present presents gift gifts cake photos album invitation invitations")

// anniversary takes "the wedding anniversary is on the 14th of September": a day of every year.
func (t *talk) anniversary(c *clause) bool {
	w := c.firstTime()
	if c.verb != "be" || c.past || c.neg || !strings.HasSuffix(c.thing, "anniversary") || w == nil || !w.sameYearly() {
		return false
	}
	if !c.own {
		if c.thing != "anniversary" && c.thing != "wedding anniversary" {
			return false // "the firm's anniversary"
		}
		c.subj = t.self
	}
	_, m, d := date(w.day)
	f := t.fact(c, "biography", strings.ReplaceAll(c.thing, " ", "_"), monthNames[m-1]+" "+itoa(d), false, 0.88)
	if rest, the := strings.CutPrefix(t.rewrite(c), "The "); f != nil && the && !c.own {
		f.Text = possessive(c.subj.name) + " " + rest
	}
	return f != nil
}

// anniversaryZh takes 我们的结婚纪念日是9月14号.
func (t *talk) anniversaryZh(b *bareZh) bool {
	for _, k := range [...]string{"结婚纪念日", "婚礼纪念日", "结婚周年纪念日"} {
		who, is, ok := strings.Cut(b.text, k)
		if is = trimZhEnd(is); !ok || is != "是" && is != "在" && is != "" {
			continue
		}
		for i := range b.whens {
			w := &b.whens[i]
			p, ok := t.subjectZh(strings.TrimSuffix(who, "的"))
			if !ok || !w.sameYearly() {
				continue
			}
			_, m, d := date(w.day)
			t.factZh(b, p, "biography", "wedding_anniversary", itoa(m)+"月"+itoa(d)+"日", false, false, 0.88)
			return true
		}
	}
	return false
}

// sameYearly reports whether a time is one day that has the same date each year: "the last Sunday in May" is none.
func (w *when) sameYearly() bool {
	if !w.hasDay || w.habit || w.grain != 'd' || w.last > 0 {
		return false
	}
	if w.days == nil {
		return true
	}
	first, _, ok := w.days(2026)
	second, _, ok2 := w.days(2027)
	return ok && ok2 && second-first == 365
}

// sameMonth reports whether what comes every year is always in the same month: "late May", and not Easter.
func (w *when) sameMonth() bool {
	month := 0
	for y := 2026; y < 2030; y++ {
		first, _, ok := w.days(y)
		_, m, _ := date(first)
		if !ok || month > 0 && m != month {
			return false
		}
		month = m
	}
	return true
}
