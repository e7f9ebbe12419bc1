package rules

import (
	"strings"
)

// dayPart reads a day at token i into w, and says how many tokens it takes.
func dayPart(s sentence, i int, now moment, w *when) int {
	if i >= len(s.toks) {
		return 0
	}
	if s.toks[i].kind == 'c' || s.toks[i].kind == 'n' && i+1 < len(s.toks) && s.toks[i+1].kind == 'c' {
		return dayPartZh(s, i, now, w)
	}
	k := i
	lead := ""
	switch s.at(k) {
	case "on", "by", "until", "till", "from", "before", "after", "around", "about", "since", "for", "in", "during", "to":
		lead = s.at(k)
		k++
	}
	if lead == "since" {
		w.since = true
	}
	n := dayCore(s, k, now, w, lead)
	if n == 0 {
		w.since = false
		return 0
	}
	if lead == "since" {
		w.past(now)
	}
	k += n
	if m, ok := partsOfDay[s.at(k)]; ok && w.grain == 'd' {
		w.part(m)
		k++
	}
	return k - i
}

func dayCore(s sentence, k int, now moment, w *when, lead string) int {
	at := s.at
	switch at(k) {
	case "today":
		w.set(now.day, 'd')
		return 1
	case "tonight":
		w.set(now.day, 'd')
		w.part(20 * 60)
		return 1
	case "tomorrow":
		w.set(now.day+1, 'd')
		return 1
	case "yesterday":
		w.set(now.day-1, 'd')
		return 1
	case "the":
		if n := datedSpan(s, k, now, w); n > 0 {
			return n
		}
		if at(k+1) == "day" && at(k+2) == "after" && at(k+3) == "tomorrow" {
			w.set(now.day+2, 'd')
			return 4
		}
		if at(k+1) == "day" && at(k+2) == "before" && at(k+3) == "yesterday" {
			w.set(now.day-2, 'd')
			return 4
		}
		if e := at(k + 1); (e == "end" || e == "beginning" || e == "start") && at(k+2) == "of" {
			y, m, _ := date(now.day)
			j := k + 3
			step := 0
			switch at(j) {
			case "the", "this":
				j++
			case "next":
				step, j = 1, j+1
			}
			switch first := addMonths(dayOf(y, m, 1), step); at(j) {
			case "month":
				w.set(first, 'w')
				if e == "end" {
					w.set(addMonths(first, 1)-7, 'w')
				}
				return j + 1 - k
			case "week":
				w.set(now.day-now.weekday()+7*step, 'd')
				if e == "end" {
					w.day += 4
				}
				return j + 1 - k
			case "year":
				w.set(dayOf(y+step, 1, 1), 'M')
				if e == "end" {
					w.set(dayOf(y+step, 12, 1), 'M')
				}
				return j + 1 - k
			default:
				if m := monthOf(at(j)); m > 0 && len(at(j)) > 2 {
					w.coming(now, m, monthLength(y, m))
					w.set(w.day+1-monthLength(y, m), 'w')
					if w.assumed = 12; e == "end" {
						w.day = addMonths(w.day, 1) - 7
					}
					return j + 1 - k
				}
			}
		}
		if n := weekOfMonth(s, k+1, now, w); n > 0 {
			return n + 1
		}
		if n := noDay(s, k+1, now, w); n > 0 {
			return n + 1
		}
		if d, ok := ordinal(at(k + 1)); ok && !ranked(at(k+2)) && (lead == "on" || lead == "" && isDay(s, k) || lead == "by" || lead == "until" || lead == "for" && (at(k+2) == "" || at(k+2) == "," || preposition(at(k+2))) || lead == "from" && between(at(k+2)) && at(k+3) == "the" && dayAlone(at(k+4), at(k+5)) || lead == "to" && s.toks[k+1].kind == 'n' || at(k+2) == "of" && monthOf(at(k+3)) > 0) {
			if d <= 12 && strings.HasSuffix("|first|second|third|", "|"+at(k+1)+"|") && lead == "" && at(k+2) != "of" {
				return 0
			}
			return 1 + dayOfMonth(s, k+1, d, now, w)
		}
		if n := afterNext(s, k+1, now, w); n > 0 {
			return n + 1
		}
		if at(k+1) == "other" && at(k+2) == "day" {
			w.set(now.day-3, 'w')
			return 3
		}
		return 0
	case "this", "next", "last", "coming", "every", "each":
		return relative(s, k, now, w)
	}
	if d := weekdayOf(at(k), lead != ""); d >= 0 {
		what, _ := contraction(at(k + 1))
		if _, event := eventNoun(what); event && lead == "" && (at(k-1) == "the" || determiner(at(k-1)) && recurs(s, k)) {
			return 0 // "the Monday meeting", "my Monday meeting is on Fridays now": which one, not when
		}
		w.set(now.day+1+mod(d-now.weekday()-1, 7), 'd')
		w.weekday = true
		n := 1
		if at(k+1) == "the" { // "Thursday the seventeenth": the date decides
			if o, ok := ordinal(at(k + 2)); ok {
				w.weekday = false
				return 2 + dayOfMonth(s, k+2, o, now, w)
			}
			if beyond(at(k + 2)) { // Friday the 32nd
				w.void = true
				return 3
			}
		}
		j := k + 1 + boolInt(at(k+1) == ",")
		_, _, date := monthAndDay(s, j)
		if n := numericDate(s, j, now, w); n > 0 { // "Friday, 18.6.2027": so does this one
			w.weekday = false
			return j + n - k
		} else if date > 0 { // "Friday, 18 June"
			w.weekday = false
			return j + dayCore(s, j, now, w, "on") - k
		}
		if at(k+1) == "week" || at(k+1) == "next" && at(k+2) == "week" {
			w.set(now.day-now.weekday()+7+d, 'd')
			w.weekday = false
			n = 2
			if at(k+1) == "next" {
				n = 3
			}
		}
		return n
	}
	if d := weekdayOf(strings.TrimSuffix(at(k), "s"), false); d >= 0 {
		w.habit = true
		w.set(now.day, 'd')
		return 1
	}
	if n := numericDate(s, k, now, w); n > 0 {
		return n
	}
	if n := soon(s, k, now, w, lead); n > 0 {
		return n
	}
	if n := noDay(s, k, now, w); n > 0 {
		return n
	}
	if n := datedSpan(s, k, now, w); n > 0 {
		return n
	}
	if n := span(s, k, now, w); n > 0 {
		return n
	}
	if n := feast(s, k, now, w); n > 0 {
		return n
	}
	if n, ok := number(at(k)); ok {
		k2, few := k+1, false
		if at(k) == "a" && at(k+1) == "couple" && at(k+2) == "of" {
			n, k2 = 2, k+3
		} else if at(k) == "a" && at(k+1) == "few" {
			n, k2, few = 3, k+2, true
		}
		if days, months, ok := unitOf(at(k2)); ok {
			tail := 1
			sign := 0
			switch {
			case at(k2+1) == "ago" || at(k2+1) == "back" && at(k) != "a":
				sign, tail = -1, 2
			case at(k2+1) == "from" && (at(k2+2) == "now" || at(k2+2) == "today"):
				sign, tail = 1, 3
			case days == 7 && lead == "" && weekFrom(s, k2+1, now) > 0:
				sign, tail = 1, 2+boolInt(s.at(k2+1) == "on" || s.at(k2+1) == "from")
				n, days = 1, n*7+weekFrom(s, k2+1, now)-1
			case lead == "in":
				sign = 1
				if at(k2+1) == "time" {
					tail = 2
				}
			case lead == "for" || lead == "since":
				w.since = true
				sign = -1
			}
			if sign == 0 {
				return 0
			}
			grain := byte('d')
			if months >= 12 {
				grain = 'y'
			} else if months > 0 {
				grain = 'M'
			} else if days == 7 && n > 8 || few {
				grain = 'w'
			}
			w.set(addMonths(now.day+sign*n*days, sign*n*months), grain)
			return k2 + tail - k
		}
		if (at(k2) == "hours" || at(k2) == "hour" || at(k2) == "minutes" || at(k2) == "minute") && (lead == "in" || at(k2+1) == "ago") {
			step := n
			if strings.HasPrefix(at(k2), "h") {
				step *= 60
			}
			tail := 1
			if at(k2+1) == "ago" {
				step, tail = -step, 2
			}
			w.after(now, step)
			return k2 + tail - k
		}
		if m := monthOf(at(k + 1)); m > 0 && n <= 31 && k+1 < len(s.toks) && s.toks[k+1].cap {
			return monthDay(s, k+2, m, n, now, w) + 2
		}
	}
	if d, ok := ordinal(at(k)); ok && (s.toks[k].kind == 'n' || monthOf(at(k+1)) > 0 || at(k+1) == "of" && monthOf(at(k+2)) > 0) {
		if lead != "" || monthOf(at(k+1)) > 0 || at(k+1) == "of" {
			return dayOfMonth(s, k, d, now, w)
		}
	}
	if m := monthOf(at(k)); m > 0 && s.toks[k].cap && (at(k) != "may" || lead != "" || k+1 < len(s.toks)) {
		if d, ok := ordinal(at(k + 1)); ok {
			return monthDay(s, k+2, m, d, now, w) + 2
		}
		if at(k+1) == "the" {
			if d, ok := ordinal(at(k + 2)); ok {
				return monthDay(s, k+3, m, d, now, w) + 3
			}
		}
		if d, ok := inDigits(at(k + 1)); ok && d >= 1 && d <= 31 {
			return monthDay(s, k+2, m, d, now, w) + 2
		}
		y, _, _ := date(now.day)
		if n, ok := year(at(k + 1)); ok {
			w.set(dayOf(n, m, 1), 'M')
			return 2
		}
		if lead == "" {
			return 0
		}
		if dayOf(y, m, monthLength(y, m)) < now.day && lead != "since" {
			y++
		}
		w.set(dayOf(y, m, 1), 'M')
		w.assumed = 12
		return 1
	}
	if y, ok := year(at(k)); ok && (lead == "in" || lead == "since" || lead == "from" || lead == "until" || (lead == "to" || lead == "till") && isYear(s.at(k-2))) {
		w.set(dayOf(y, 1, 1), 'y')
		return 1
	}
	return 0
}

// relative reads this, next, last, every with a weekday, week, month, year.
func relative(s sentence, k int, now moment, w *when) int {
	which, what := s.at(k), s.at(k+1)
	if which == "every" || which == "each" {
		if what == "other" || what == "second" {
			if _, _, unit := unitOf(s.at(k + 2)); unit || s.at(k+2) == "weekend" || weekdayOf(s.at(k+2), true) >= 0 {
				w.habit = true
				w.set(now.day, 'd')
				return 3
			}
			return 0
		}
		_, part := partsOfDay[what]
		if _, _, unit := unitOf(what); unit || part || what == "weekend" || weekdayOf(what, true) >= 0 {
			w.habit = true
			w.set(now.day, 'd')
			return 2
		}
		return 0
	}
	if d := weekdayOf(what, true); d >= 0 {
		switch which {
		case "next":
			w.set(now.day-now.weekday()+7+d, 'd')
		case "last":
			w.set(now.day-1-mod(now.weekday()-d-1, 7), 'd')
		default:
			w.set(now.day+mod(d-now.weekday(), 7), 'd')
		}
		return 2
	}
	if m, ok := partsOfDay[what]; ok {
		switch which {
		case "this":
			w.set(now.day, 'd')
		case "last":
			w.set(now.day-1, 'd')
		default:
			return 0
		}
		w.part(m)
		return 2
	}
	if m := monthOf(what); m > 0 && len(what) > 2 {
		y, cm, _ := date(now.day)
		if which == "last" && m >= cm {
			y--
		} else if which != "last" && m < cm {
			y++
		}
		w.set(dayOf(y, m, 1), 'M')
		return 2
	}
	sign := map[string]int{"this": 0, "next": 1, "coming": 1, "last": -1}[which]
	y, m, _ := date(now.day)
	switch what {
	case "week":
		w.set(now.day-now.weekday()+7*sign, 'w')
	case "weekend":
		w.set(now.day-now.weekday()+5+7*sign, 'd')
	case "month":
		w.set(addMonths(dayOf(y, m, 1), sign), 'M')
	case "year":
		w.set(dayOf(y+sign, 1, 1), 'y')
	case "summer", "spring", "autumn", "fall", "winter":
		first := map[string]int{"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}[what]
		if sign == 0 {
			if first < m-2 {
				y++
			}
		} else if sign > 0 && first <= m {
			y++
		} else if sign < 0 && first+2 >= m {
			y--
		}
		w.set(dayOf(y, first, 1), 'M')
		w.last, w.season = addMonths(w.day, 3)-1, what
	default:
		return 0
	}
	return 2
}

// dayOfMonth reads "14th", "14th of May (2027)" where token k is the day.
func dayOfMonth(s sentence, k, d int, now moment, w *when) int {
	n := 1
	if s.at(k+1) == "of" {
		n = 2
	}
	if m := monthOf(s.at(k + n)); m > 0 {
		return n + 1 + monthDay(s, k+n+1, m, d, now, w)
	}
	y, m, today := date(now.day)
	if d < today {
		m++
	}
	for m > 12 || d <= 31 && d > monthLength(y, m) { // on the 31st: of the next month that has one
		if m++; m > 12 {
			y, m = y+1, 1
		}
	}
	w.calendar(y, m, d)
	w.assumed = 1
	return 1
}

// monthDay sets a day of a month, with the year at token k or the next that
// such a day comes; it gives how many tokens the year took.
func monthDay(s sentence, k, m, d int, now moment, w *when) int {
	comma := 0
	if s.at(k) == "," {
		comma = 1
	}
	if y, ok := year(s.at(k + comma)); ok {
		w.calendar(y, m, d)
		return comma + 1
	}
	w.coming(now, m, d)
	w.assumed = 12
	if m == 2 && d == 29 {
		w.assumed = 48
	}
	return 0
}
