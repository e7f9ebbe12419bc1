package rules

import (
	"strconv"
	"strings"
)

// scales make a larger number of an hour: "about twelve thousand".
var scales = set("thousand hundred million billion grand k quid bucks percent")

// clockPart reads a time of day at token i.
func clockPart(s sentence, i int, now moment, w *when) int {
	if i >= len(s.toks) {
		return 0
	}
	if s.toks[i].kind == 'c' || s.toks[i].kind == 'n' && i+1 < len(s.toks) && s.toks[i+1].kind == 'c' {
		return clockPartZh(s, i, now, w)
	}
	at, k := s.at, i
	if n := clockSpan(s, i, w); n > 0 {
		return n
	}
	lead := false
	switch at(k) {
	case "at", "by", "around", "about", "until", "till", "from", "for", "before", "after", "to":
		lead = at(k) != "for" && at(k) != "to" && at(k) != "from" && at(k) != "before" && at(k) != "after" || w.hasDay
		k++
		if at(k) == "around" || at(k) == "about" {
			k++
		}
	case "in":
		if at(k+1) == "the" {
			if m, ok := partsOfDay[at(k+2)]; ok {
				w.part(m)
				return 3
			}
		}
		return 0
	}
	afternoon := -1
	if w.byPart {
		afternoon = w.minute
	}
	set := func(h, m int) { w.clock, w.byPart, w.minute = true, false, h*60+m }
	finish := func(h, m, next int) int {
		n := next
		switch strings.ReplaceAll(at(n), ".", "") {
		case "am":
			n++
			if at(n) == "." && strings.Contains(at(n-1), ".") {
				n++
			}
			set(h%12, m)
			w.sure = true
			return n - i
		case "pm":
			n++
			set(h%12+12, m)
			w.sure = true
			return n - i
		case "o'clock":
			n++
		default:
			if !lead && next == k+1 && m == 0 && !strings.Contains(at(k), ":") {
				return 0
			}
		}
		if h > 24 || m > 59 {
			return 0
		}
		if h < 12 && h > 0 && (afternoon >= 12*60 || afternoon < 0 && (h < 7 && !early(s, m) || h >= 5 && supper(s, i))) {
			h += 12
		}
		set(h%24, m)
		return n - i
	}
	switch at(k) {
	case "noon", "midday":
		set(12, 0)
		return k + 1 - i
	case "midnight":
		set(0, 0)
		return k + 1 - i
	case "half", "quarter":
		j := k + 1
		if at(j) == "past" || at(j) == "to" {
			if h, ok := number(at(j + 1)); ok && h >= 1 && h <= 12 {
				m := 30
				if at(k) == "quarter" {
					m = 15
				}
				if at(j) == "to" {
					h, m = before(h), 60-m
				}
				lead = true
				return finish(h, m, j+2)
			}
		}
		if h, ok := number(at(j)); ok && lead && at(k) == "half" && h >= 1 && h <= 12 && at(j) != "a" && at(j) != "an" { // at half three
			switch at(j + 1) {
			case "hours", "hour", "percent", "pounds", "euros", "dollars", "people":
				return 0
			}
			return finish(h, 30, j+1)
		}
		return 0
	}
	if k >= len(s.toks) || scales[at(k+1)] {
		return 0
	}
	if h, m, n := pastTheHour(s, k, lead); n > 0 {
		lead = true
		return finish(h, m, k+n)
	}
	if hourless(s, k) {
		return 0
	}
	t := at(k)
	if hh, mm, ok := strings.Cut(t, ":"); ok {
		ampm := ""
		for _, x := range [...]string{"am", "pm"} {
			if strings.HasSuffix(mm, x) {
				mm, ampm = strings.TrimSuffix(mm, x), x
			}
		}
		h, e1 := strconv.Atoi(hh)
		m, e2 := strconv.Atoi(mm)
		if e1 != nil || e2 != nil || h > 23 || m > 59 {
			return 0
		}
		if ampm != "" {
			set(h%12+12*boolInt(ampm == "pm"), m)
			w.sure = true
			return k + 1 - i
		}
		if len(hh) == 2 && hh[0] == '0' || h >= 12 || h == 0 {
			set(h, m)
			w.sure = true
			return k + 1 - i
		}
		return finish(h, m, k+1)
	}
	for _, x := range [...]string{"am", "pm"} {
		if d, ok := strings.CutSuffix(t, x); ok {
			if h, err := strconv.Atoi(d); err == nil && h >= 1 && h <= 12 {
				set(h%12+12*boolInt(x == "pm"), 0)
				w.sure = true
				return k + 1 - i
			}
		}
	}
	h, ok := number(t)
	if !ok || h < 1 || h > 24 || t == "a" || t == "an" {
		return 0
	}
	switch at(k + 1) {
	case "with":
		if !lead || t == "one" {
			return 0 // "at one with nature"
		}
	case "point", "another", "time", "side", "thing", "go", "day,", "days", "weeks", "months", "years", "hours", "minutes", "people", "percent", "of", "or", "times", "euros", "dollars", "more", "pounds", "day", "week", "month", "year", "kilometres", "km", "miles", "friends", "children", "kids", "different", "other":
		return 0
	}
	if m, ok := number(at(k + 1)); ok && m >= 10 && m < 60 && s.toks[k].kind == 'w' && s.toks[k+1].kind == 'w' && (lead || w.hasDay || at(k+2) == "in") {
		if at(k+2) == "in" && at(k+3) == "the" {
			if p, ok := partsOfDay[at(k+4)]; ok {
				afternoon, lead = p, true
				return finish(h, m, k+2) + 3
			}
		}
		lead = true
		return finish(h, m, k+2)
	}
	return finish(h, 0, k+1)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
