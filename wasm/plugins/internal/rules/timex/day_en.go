package timex

import (
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// The parts of dayCore, each by the word with which it begins. All return how many tokens they
// take.

// theDay reads a day that begins with "the": "the day after tomorrow", "the end of May", "the 14th".
func theDay(s syntax.Sentence, k int, now Moment, w *When, lead string) int {
	at := s.At
	if n := datedSpan(s, k, now, w); n > 0 {
		return n
	}
	if at(k+1) == "day" && at(k+2) == "after" && at(k+3) == "tomorrow" {
		w.Set(now.Day+2, 'd')
		return 4
	}
	if at(k+1) == "day" && at(k+2) == "before" && at(k+3) == "yesterday" {
		w.Set(now.Day-2, 'd')
		return 4
	}
	if n := endOf(s, k, now, w); n > 0 {
		return n
	}
	if n := noDay(s, k+1, now, w); n > 0 {
		return n + 1
	}
	if d, ok := Ordinal(at(k + 1)); ok && !ranked(at(k+2)) && !storeyLived(s, k) && namesDate(s, k, d, lead) {
		if d <= 12 && strings.HasSuffix("|first|second|third|", "|"+at(k+1)+"|") && lead == "" && at(k+2) != "of" {
			return 0
		}
		return 1 + dayOfMonth(s, k+1, d, now, w)
	}
	if n := afterNext(s, k+1, now, w); n > 0 {
		return n + 1
	}
	if n := besideFeast(s, k+1, now, w); n > 0 {
		return n + 1
	}
	if what := at(k + 2); at(k+1) == "other" && (what == "day" || what == "night" || what == "evening" || what == "morning") {
		w.Set(now.Day-3, 'w')
		return 3
	}
	if n := beforeLast(s, k+1, now, w); n > 0 {
		return n + 1
	}
	if m, ok := partsOfDay[at(k+1)]; ok && at(k+2) == "of" && partsOfDay[at(k+4)] == 0 { // the evening of the 5th
		if n := dayCore(s, k+3, now, w, "on"); n > 0 {
			if w.Grain == 'd' && w.Last == 0 {
				w.part(m)
			}
			return n + 3
		}
	}
	return 0
}

// namesDate reports whether "the" at token k and the ordinal d after it are a day of the month, and not
// one of several things.
func namesDate(s syntax.Sentence, k, d int, lead string) bool {
	next := s.At(k + 2)
	digits, last := s.Toks[k+1].Kind == 'n', next == "" || next == "," || syntax.Preposition(next)
	switch lead {
	case "on", "by", "until":
		return true
	case "":
		if isDay(s, k) || itIsDay(s, k) {
			return true
		}
	case "around", "before", "after", "till", "since":
		if digits && last {
			return true
		}
	case "for":
		if last {
			return true
		}
	case "from":
		if syntax.Between(next) && s.At(k+3) == "the" && dayAlone(s.At(k+4), s.At(k+5)) || last && !syntax.Between(next) && (digits || d > 3 && next != "in") {
			return true
		}
	case "to":
		if digits || d > 3 && last && next != "in" && next != "on" {
			return true // they've moved me to the nineteenth at two
		}
	}
	return next == "of" && syntax.MonthOf(s.At(k+3)) > 0
}

// endOf reads after "the" a part of a month, a year or a week: "the end of next month", "the middle of the week".
func endOf(s syntax.Sentence, k int, now Moment, w *When) int {
	if n := runAt(s, k+1, now, w); n > 0 {
		return 1 + n
	}
	day := map[string]int{"beginning": 1, "start": 1, "middle": 3, "end": 5}[s.At(k+1)]
	if day == 0 || s.At(k+2) != "of" || s.At(k+4) != "week" {
		return 0
	}
	switch s.At(k + 3) {
	case "the", "this":
	case "next":
		day += 7
	default:
		return 0
	}
	w.Set(now.Day-now.Weekday()+day-1, 'd')
	return 5
}

// onWeekday reads a day of the week, 0 for Monday, and a date next to it, which takes precedence:
// "Friday, 18 June".
func onWeekday(s syntax.Sentence, k, d int, now Moment, w *When, lead string) int {
	at := s.At
	what, _ := syntax.Contraction(at(k + 1))
	if _, event := syntax.EventNoun(what); event && lead == "" && (at(k-1) == "the" || syntax.Determiner(at(k-1)) && recurs(s, k)) {
		return 0 // "the Monday meeting", "my Monday meeting is on Fridays now": which one, not when
	}
	w.Set(now.Day+1+Mod(d-now.Weekday()-1, 7), 'd')
	w.Weekday = true
	n := 1
	if at(k+1) == "the" { // "Thursday the seventeenth": the date takes precedence
		if o, ok := Ordinal(at(k + 2)); ok {
			w.Weekday = false
			return 2 + dayOfMonth(s, k+2, o, now, w)
		}
		if beyond(at(k + 2)) { // Friday the 32nd
			w.Void = true
			return 3
		}
	}
	j := k + 1 + syntax.BoolInt(at(k+1) == ",")
	_, _, date := monthAndDay(s, j)
	if n := numericDate(s, j, now, w); n > 0 { // "Friday, 18.6.2027": so does this one
		w.Weekday = false
		return j + n - k
	} else if date > 0 { // "Friday, 18 June"
		w.Weekday = false
		return j + dayCore(s, j, now, w, "on") - k
	}
	switch j := k + 1 + syntax.BoolInt(at(k+1) == "of"); {
	case at(k+1) == "mornings" || at(k+1) == "afternoons" || at(k+1) == "evenings" || at(k+1) == "nights":
		w.Habit, n = true, 2
	case at(k+1) == "before" && at(k+2) == "last", at(k+1) == "after" && at(k+2) == "next": // it is not clear which one
		w.Void = true
		n = 3
	case at(k+1) == "week", at(k+1) == "fortnight": // counted from the next such day, or from today
		w.Set(now.Day+Mod(d-now.Weekday(), 7)+7+7*syntax.BoolInt(at(k+1) == "fortnight"), 'd')
		w.Weekday = false
		n = 2
	case at(j+1) == "week" && (at(j) == "next" || at(j) == "last" || at(j) == "this"):
		w.Set(now.Day-now.Weekday()+d+map[string]int{"next": 7, "last": -7}[at(j)], 'd')
		w.Weekday = false
		n = j + 2 - k
	case at(j) == "the" && at(j+1) == "week" && (at(j+2) == "before" && at(j+3) == "last" || at(j+2) == "after" && at(j+3) == "next"):
		w.Set(now.Day-now.Weekday()+d+map[string]int{"before": -14, "after": 14}[at(j+2)], 'd')
		w.Weekday = false
		n = j + 4 - k
	}
	return n
}

// counted reads a number at token k with its unit or month: "three days ago", "in two hours", "14 May".
// said reports whether it has one of them, even if it names no day.
func counted(s syntax.Sentence, k, n int, now Moment, w *When, lead string) (took int, said bool) {
	at := s.At
	k2, few := k+1, false
	if at(k) == "a" && at(k+1) == "couple" && at(k+2) == "of" {
		n, k2 = 2, k+3
	} else if at(k) == "a" && at(k+1) == "few" {
		n, k2, few = 3, k+2, true
	}
	if d := syntax.WeekdayOf(strings.TrimSuffix(at(k2), "s"), false); d >= 0 && at(k2+1) == "ago" && n < 9 { // two Fridays ago
		w.Set(now.Day-1-Mod(now.Weekday()-d-1, 7)-7*(n-1), 'd')
		return k2 + 2 - k, true
	}
	if season := strings.TrimSuffix(at(k2), "s"); at(k2+1) == "ago" && w.seasonOf(season, -1, now) { // two summers ago
		y, _, _ := Date(w.Day)
		w.ofSeason(calendar.Season(season), y+1-n)
		return k2 + 2 - k, true
	}
	if days, months, ok := UnitOf(at(k2)); ok {
		tail := 1
		sign := 0
		switch {
		case days == 7 && at(k2+1) == "ago" && agoFrom(s, k2+2, now) >= 0:
			sign, tail = -1, 3+syntax.BoolInt(at(k2+2) == "on")
			n, days = 1, n*7+agoFrom(s, k2+2, now)
		case at(k2+1) == "ago" || at(k2+1) == "back" && at(k) != "a":
			sign, tail = -1, 2
		case at(k2+1) == "from" && (at(k2+2) == "now" || at(k2+2) == "today"):
			sign, tail = 1, 3
		case (days == 7 || days == 14) && lead == "" && (n < 5 || at(k2+1) == "from") && weekFrom(s, k2+1, now) > 0: // but "I'm thirty weeks on Thursday"
			sign, tail = 1, 2+syntax.BoolInt(s.At(k2+1) == "on" || s.At(k2+1) == "from")
			n, days = 1, n*days+weekFrom(s, k2+1, now)-1
		case lead == "in" && hasNot(s, k): // "I haven't been to a dentist in three years"
			w.Since, sign = true, -1
		case lead == "in":
			sign = 1
			if at(k2+1) == "time" {
				tail = 2
			}
		case lead == "for" && (at(k-2) == "is" || at(k-2) == "are" || at(k-2) == "'s"): // the contract is for a year
		case lead == "for" || lead == "since":
			w.Since = true
			sign = -1
		}
		if sign == 0 {
			return 0, true
		}
		grain := byte('d')
		if months >= 12 {
			grain = 'y'
		} else if months > 0 {
			grain = 'M'
		} else if days == 7 && n > 8 || few {
			grain = 'w'
		}
		w.Set(AddMonths(now.Day+sign*n*days, sign*n*months), grain)
		return k2 + tail - k, true
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
		return k2 + tail - k, true
	}
	if m := syntax.MonthOf(at(k + 1)); m > 0 && n <= 31 && k+1 < len(s.Toks) && s.Toks[k+1].Cap {
		return monthDay(s, k+2, m, n, now, w) + 2, true
	}
	return 0, false
}

// inMonth reads a month, with its day or year: "May the 14th", "in June 2027".
func inMonth(s syntax.Sentence, k, m int, now Moment, w *When, lead string) int {
	at := s.At
	if d, ok := Ordinal(at(k + 1)); ok {
		return monthDay(s, k+2, m, d, now, w) + 2
	}
	if at(k+1) == "the" {
		if d, ok := Ordinal(at(k + 2)); ok {
			return monthDay(s, k+3, m, d, now, w) + 3
		}
	}
	if d, ok := syntax.InDigits(at(k + 1)); ok && d >= 1 && d <= 31 {
		return monthDay(s, k+2, m, d, now, w) + 2
	}
	y, _, _ := Date(now.Day)
	if y, n := yearAt(s, k+1); n > 0 {
		w.Set(DayOf(y, m, 1), 'M')
		return 1 + n
	}
	if lead == "" {
		return 0
	}
	if DayOf(y, m, MonthLength(y, m)) < now.Day && lead != "since" {
		y++
	}
	w.Set(DayOf(y, m, 1), 'M')
	w.Assumed = 12
	return 1
}

// hasNot reports whether "haven't", "hasn't" or "have never" is before token k.
func hasNot(s syntax.Sentence, k int) bool {
	for i := k - 1; i >= 0; i-- {
		base, rest := syntax.Contraction(s.At(i))
		if s.At(i) == "that" || s.At(i) == "due" || s.At(i) == "to" && Commands[s.At(i+1)] {
			return false // of another clause
		}
		has := base == "have" || base == "has" || rest == "have"
		if has && (rest == "not" || s.At(i+1) == "not" || s.At(i+1) == "never") {
			return true
		}
	}
	return false
}
