package timex

import (
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/internal/feast"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// dayPart reads a day at token i into w, and returns how many tokens it takes.
func dayPart(s syntax.Sentence, i int, now Moment, w *When) int {
	if i >= len(s.Toks) {
		return 0
	}
	if s.Toks[i].Kind == 'c' || s.Toks[i].Kind == 'n' && i+1 < len(s.Toks) && s.Toks[i+1].Kind == 'c' {
		return DayPartZh(s, i, now, w)
	}
	k := i
	lead := ""
	switch s.At(k) {
	case "between":
		if f, n := feast.At(s.At, i); f != nil && w.yearly(now, f.In) {
			return n + w.inYear(s, i+n, now)
		}
	case "at", "over":
		if n := someTime(s, i+1, now, w, s.At(i)); n > 0 {
			return n + 1
		}
		return atTime(s, i, now, w)
	case "on", "by", "until", "till", "from", "before", "after", "around", "about", "since", "for", "in", "during", "to":
		lead = s.At(k)
		k++
	}
	if lead == "since" {
		w.Since = true
	}
	n := 0
	if lead == "on" && s.At(k) == "a" && syntax.WeekdayOf(s.At(k+1), true) >= 0 {
		n = w.someWeekday(s, k, now)
	} else {
		n = dayCore(s, k, now, w, lead)
	}
	if n == 0 {
		w.Since = false
		return 0
	}
	if lead == "since" {
		w.Past(now)
	}
	k += n
	k += w.inYear(s, k, now)
	if m, ok := partsOfDay[s.At(k)]; ok && w.Grain == 'd' {
		w.part(m)
		k++
	}
	return k - i
}

// dayCore reads a day at token k into w, and returns how many tokens it takes. lead is the word
// before it ("on", "by"; empty: none of them).
func dayCore(s syntax.Sentence, k int, now Moment, w *When, lead string) int {
	for _, read := range [...]func(syntax.Sentence, int, Moment, *When, string) int{someTime, seasonAt, newYearAt} {
		if n := read(s, k, now, w, lead); n > 0 {
			return n
		}
	}
	switch s.At(k) {
	case "today":
		w.Set(now.Day, 'd')
		return 1
	case "tonight":
		w.Set(now.Day, 'd')
		w.part(20 * 60)
		return 1
	case "tomorrow":
		w.Set(now.Day+1, 'd')
		return 1
	case "yesterday":
		w.Set(now.Day-1, 'd')
		return 1
	case "the":
		return theDay(s, k, now, w, lead)
	case "most":
		if unit, ok := strings.CutSuffix(s.At(k+1), "s"); ok && (unit == "day" || unit == "weekend" || partsOfDay[unit] > 0 || syntax.WeekdayOf(unit, false) >= 0) {
			w.Habit = true
			w.Set(now.Day, 'd')
			return 2
		}
		return 0
	case "this", "next", "last", "coming", "every", "each":
		if base, rest := syntax.Contraction(s.At(k - 1)); s.At(k) == "coming" && (rest != "" || syntax.Auxiliary(base)) {
			return 0 // "the plumber's coming Thursday"
		}
		return relative(s, k, now, w)
	}
	if d := syntax.WeekdayOf(s.At(k), lead != ""); d >= 0 {
		if n := besideFeast(s, k, now, w); n > 0 {
			return n
		}
		return onWeekday(s, k, d, now, w, lead)
	}
	if d := syntax.WeekdayOf(strings.TrimSuffix(s.At(k), "s"), false); d >= 0 {
		w.Habit = true
		w.Set(now.Day, 'd')
		return 1
	}
	if n := numericDate(s, k, now, w); n > 0 {
		return n
	}
	if n := soon(s, k, now, w, lead); n > 0 {
		return n
	}
	for _, read := range [...]func(syntax.Sentence, int, Moment, *When) int{noDay, datedSpan, span, runAt, quarterAt, besideFeast} {
		if n := read(s, k, now, w); n > 0 {
			return n
		}
	}
	if n := feastDay(s, k, now, w, lead); n > 0 {
		return n
	}
	if _, n := yearAt(s, k); n > 1 && (lead == "in" || lead == "since") { // "twenty fifteen" does not count twenty of anything
	} else if n, ok := syntax.Number(s.At(k)); ok {
		if took, said := counted(s, k, n, now, w, lead); said {
			return took
		}
	}
	at := s.At
	if d, ok := Ordinal(at(k)); ok && (s.Toks[k].Kind == 'n' || syntax.MonthOf(at(k+1)) > 0 || at(k+1) == "of" && syntax.MonthOf(at(k+2)) > 0) {
		if lead != "" || syntax.MonthOf(at(k+1)) > 0 || at(k+1) == "of" {
			return dayOfMonth(s, k, d, now, w)
		}
	}
	if m := syntax.MonthOf(at(k)); m > 0 && s.Toks[k].Cap && (at(k) != "may" || lead != "" || k+1 < len(s.Toks)) {
		return inMonth(s, k, m, now, w, lead)
	}
	if y, n := yearAt(s, k); n > 0 && (lead == "in" || lead == "since" || lead == "from" || lead == "until" || (lead == "to" || lead == "till") && IsYear(s.At(k-2))) {
		w.Set(DayOf(y, 1, 1), 'y')
		return n
	}
	return 0
}

// relative reads this, next, last, every with a weekday, week, month, year.
func relative(s syntax.Sentence, k int, now Moment, w *When) int {
	which, what := s.At(k), s.At(k+1)
	if n := runAt(s, k, now, w); n > 0 {
		return n
	}
	if which == "every" || which == "each" {
		_, part := partsOfDay[what]
		n := 2
		if what == "other" || what == "second" {
			what, n = s.At(k+2), 3
		}
		if f, took := feast.At(s.At, k+1); f != nil {
			w.Habit = true
			w.Set(now.Day, 'd')
			return 1 + took
		}
		if _, _, unit := UnitOf(what); !unit && !part && what != "weekend" && syntax.WeekdayOf(what, true) < 0 {
			return 0
		}
		w.Habit = true
		w.Set(now.Day, 'd')
		for syntax.WeekdayOf(s.At(k+n-1), true) >= 0 && (s.At(k+n) == "and" || s.At(k+n) == ",") && syntax.WeekdayOf(s.At(k+n+1), true) >= 0 {
			n += 2 // every Tuesday and Thursday
		}
		return n
	}
	if d := syntax.WeekdayOf(what, true); d >= 0 {
		if which == "this" && s.At(k+2) == "coming" {
			w.Set(now.Day+1+Mod(d-now.Weekday()-1, 7), 'd')
			return 3
		}
		switch which {
		case "next":
			w.Set(now.Day-now.Weekday()+7+d, 'd')
		case "last":
			w.Set(now.Day-1-Mod(now.Weekday()-d-1, 7), 'd')
		default:
			w.Set(now.Day+Mod(d-now.Weekday(), 7), 'd')
		}
		return 2
	}
	if m, ok := partsOfDay[what]; ok {
		switch which {
		case "this":
			w.Set(now.Day, 'd')
		case "last":
			w.Set(now.Day-1, 'd')
		default:
			return 0
		}
		w.part(m)
		return 2
	}
	if m := syntax.MonthOf(what); m > 0 && len(what) > 2 {
		y, cm, _ := Date(now.Day)
		if which == "last" && m >= cm {
			y--
		} else if which != "last" && m < cm {
			y++
		}
		w.Set(DayOf(y, m, 1), 'M')
		return 2
	}
	if n := feastDay(s, k+1, now, w, which); n > 0 {
		return n + 1
	}
	sign := map[string]int{"this": 0, "next": 1, "coming": 1, "last": -1}[which]
	y, m, _ := Date(now.Day)
	if which == "this" && s.At(k-1) == "later" && w.laterThis(what, now) {
		return 2
	}
	switch what {
	case "week":
		w.Set(now.Day-now.Weekday()+7*sign, 'w')
	case "weekend":
		w.Set(now.Day-now.Weekday()+5+7*sign, 'd')
	case "month":
		w.Set(AddMonths(DayOf(y, m, 1), sign), 'M')
	case "year":
		w.Set(DayOf(y+sign, 1, 1), 'y')
	default:
		return 2 * syntax.BoolInt(w.seasonOf(what, sign, now))
	}
	return 2
}

// dayOfMonth reads "14th", "14th of May (2027)"; token k is the day.
func dayOfMonth(s syntax.Sentence, k, d int, now Moment, w *When) int {
	n := 1
	if s.At(k+1) == "of" {
		n = 2
	}
	if m := syntax.MonthOf(s.At(k + n)); m > 0 {
		return n + 1 + monthDay(s, k+n+1, m, d, now, w)
	}
	w.onDayOfMonth(d, now)
	return 1
}

// onDayOfMonth sets the next day with that number: the 31st is in the next month that has one.
func (w *When) onDayOfMonth(d int, now Moment) {
	w.Set(calendar.DayOfMonth(now.Day, d, true), 'd')
	w.Assumed = 1
}

// monthDay sets a day of a month, with the year at token k or the next year in which such a day
// comes; it returns how many tokens the year took.
func monthDay(s syntax.Sentence, k, m, d int, now Moment, w *When) int {
	comma := 0
	if s.At(k) == "," {
		comma = 1
	}
	if y, n := yearAt(s, k+comma); n > 0 {
		w.calendar(y, m, d)
		return comma + n
	}
	w.coming(now, m, d)
	w.Assumed = 12
	if m == 2 && d == 29 {
		w.Assumed = 48
	}
	return 0
}
