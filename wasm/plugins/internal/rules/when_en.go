package rules

import (
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/internal/feast"
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
	case "between":
		if f, n := feast.At(s.at, i); f != nil && w.yearly(now, f.In) {
			return n + w.inYear(s, i+n, now)
		}
	case "at", "over":
		if n := someTime(s, i+1, now, w, s.at(i)); n > 0 {
			return n + 1
		}
		return atTime(s, i, now, w)
	case "on", "by", "until", "till", "from", "before", "after", "around", "about", "since", "for", "in", "during", "to":
		lead = s.at(k)
		k++
	}
	if lead == "since" {
		w.since = true
	}
	n := 0
	if lead == "on" && s.at(k) == "a" && weekdayOf(s.at(k+1), true) >= 0 {
		n = w.someWeekday(s, k, now)
	} else {
		n = dayCore(s, k, now, w, lead)
	}
	if n == 0 {
		w.since = false
		return 0
	}
	if lead == "since" {
		w.past(now)
	}
	k += n
	k += w.inYear(s, k, now)
	if m, ok := partsOfDay[s.at(k)]; ok && w.grain == 'd' {
		w.part(m)
		k++
	}
	return k - i
}

// dayCore reads a day at token k, which the word lead stands before ("on", "by"; empty: none of
// them), into w, and says how many tokens it takes.
func dayCore(s sentence, k int, now moment, w *when, lead string) int {
	for _, read := range [...]func(sentence, int, moment, *when, string) int{someTime, seasonAt, newYearAt} {
		if n := read(s, k, now, w, lead); n > 0 {
			return n
		}
	}
	switch s.at(k) {
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
		return theDay(s, k, now, w, lead)
	case "most":
		if unit, ok := strings.CutSuffix(s.at(k+1), "s"); ok && (unit == "day" || unit == "weekend" || partsOfDay[unit] > 0 || weekdayOf(unit, false) >= 0) {
			w.habit = true
			w.set(now.day, 'd')
			return 2
		}
		return 0
	case "this", "next", "last", "coming", "every", "each":
		return relative(s, k, now, w)
	}
	if d := weekdayOf(s.at(k), lead != ""); d >= 0 {
		if n := besideFeast(s, k, now, w); n > 0 {
			return n
		}
		return onWeekday(s, k, d, now, w, lead)
	}
	if d := weekdayOf(strings.TrimSuffix(s.at(k), "s"), false); d >= 0 {
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
	for _, read := range [...]func(sentence, int, moment, *when) int{noDay, datedSpan, span, runAt, quarterAt, besideFeast} {
		if n := read(s, k, now, w); n > 0 {
			return n
		}
	}
	if n := feastDay(s, k, now, w, lead); n > 0 {
		return n
	}
	if _, n := s.yearAt(k); n > 1 && (lead == "in" || lead == "since") { // "twenty fifteen" is no twenty of anything
	} else if n, ok := number(s.at(k)); ok {
		if took, said := counted(s, k, n, now, w, lead); said {
			return took
		}
	}
	at := s.at
	if d, ok := ordinal(at(k)); ok && (s.toks[k].kind == 'n' || monthOf(at(k+1)) > 0 || at(k+1) == "of" && monthOf(at(k+2)) > 0) {
		if lead != "" || monthOf(at(k+1)) > 0 || at(k+1) == "of" {
			return dayOfMonth(s, k, d, now, w)
		}
	}
	if m := monthOf(at(k)); m > 0 && s.toks[k].cap && (at(k) != "may" || lead != "" || k+1 < len(s.toks)) {
		return inMonth(s, k, m, now, w, lead)
	}
	if y, n := s.yearAt(k); n > 0 && (lead == "in" || lead == "since" || lead == "from" || lead == "until" || (lead == "to" || lead == "till") && isYear(s.at(k-2))) {
		w.set(dayOf(y, 1, 1), 'y')
		return n
	}
	return 0
}

// relative reads this, next, last, every with a weekday, week, month, year.
func relative(s sentence, k int, now moment, w *when) int {
	which, what := s.at(k), s.at(k+1)
	if n := runAt(s, k, now, w); n > 0 {
		return n
	}
	if which == "every" || which == "each" {
		_, part := partsOfDay[what]
		n := 2
		if what == "other" || what == "second" {
			what, n = s.at(k+2), 3
		}
		if f, took := feast.At(s.at, k+1); f != nil {
			w.habit = true
			w.set(now.day, 'd')
			return 1 + took
		}
		if _, _, unit := unitOf(what); !unit && !part && what != "weekend" && weekdayOf(what, true) < 0 {
			return 0
		}
		w.habit = true
		w.set(now.day, 'd')
		return n
	}
	if d := weekdayOf(what, true); d >= 0 {
		if which == "this" && s.at(k+2) == "coming" {
			w.set(now.day+1+mod(d-now.weekday()-1, 7), 'd')
			return 3
		}
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
	if n := feastDay(s, k+1, now, w, which); n > 0 {
		return n + 1
	}
	sign := map[string]int{"this": 0, "next": 1, "coming": 1, "last": -1}[which]
	y, m, _ := date(now.day)
	if which == "this" && s.at(k-1) == "later" && w.laterThis(what, now) {
		return 2
	}
	switch what {
	case "week":
		w.set(now.day-now.weekday()+7*sign, 'w')
	case "weekend":
		w.set(now.day-now.weekday()+5+7*sign, 'd')
	case "month":
		w.set(addMonths(dayOf(y, m, 1), sign), 'M')
	case "year":
		w.set(dayOf(y+sign, 1, 1), 'y')
	default:
		return 2 * boolInt(w.seasonOf(what, sign, now))
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
	w.onDayOfMonth(d, now)
	return 1
}

// onDayOfMonth sets the next day of that number: the 31st is of the next month that has one.
func (w *when) onDayOfMonth(d int, now moment) {
	w.set(calendar.DayOfMonth(now.day, d, true), 'd')
	w.assumed = 1
}

// monthDay sets a day of a month, with the year at token k or the next that
// such a day comes; it gives how many tokens the year took.
func monthDay(s sentence, k, m, d int, now moment, w *when) int {
	comma := 0
	if s.at(k) == "," {
		comma = 1
	}
	if y, n := s.yearAt(k + comma); n > 0 {
		w.calendar(y, m, d)
		return comma + n
	}
	w.coming(now, m, d)
	w.assumed = 12
	if m == 2 && d == 29 {
		w.assumed = 48
	}
	return 0
}
