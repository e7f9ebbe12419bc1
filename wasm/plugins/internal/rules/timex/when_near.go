package timex

import (
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/internal/feast"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// after sets a moment the given number of minutes from now, precise to the minute.
func (w *When) after(now Moment, minutes int) {
	m := now.Minute + minutes
	w.Set(now.Day+(m-Mod(m, 1440))/1440, 'd')
	w.Minute, w.Clock, w.Sure = Mod(m, 1440), true, true
}

// soon reads "half an hour", "a quarter of an hour", "two and a half hours"
// after "in", or before "ago" and "from now".
func soon(s syntax.Sentence, k int, now Moment, w *When, lead string) int {
	at := s.At
	j, minutes := k, 0
	switch {
	case at(k) == "half" && (at(k+1) == "an" || at(k+1) == "a") && at(k+2) == "hour":
		j, minutes = k+3, 30
	case at(k) == "a" && at(k+1) == "half" && at(k+2) == "hour":
		j, minutes = k+3, 30
	case at(k) == "a" && at(k+1) == "quarter" && at(k+2) == "of" && at(k+3) == "an" && at(k+4) == "hour":
		j, minutes = k+5, 15
	case at(k) == "three" && at(k+1) == "quarters" && at(k+2) == "of" && at(k+3) == "an" && at(k+4) == "hour":
		j, minutes = k+5, 45
	case at(k+1) == "and" && at(k+2) == "a" && at(k+3) == "half" && (at(k+4) == "hours" || at(k+4) == "hour"):
		n, ok := syntax.Number(at(k))
		if !ok {
			return 0
		}
		j, minutes = k+5, 60*n+30
	case at(k) == "half" && at(k+1) == "a" && at(k+2) == "year":
		return halfYears(s, k, 3, 6, now, w, lead)
	case (at(k) == "a" || at(k) == "one") && at(k+1) == "year" && at(k+2) == "and" && at(k+3) == "a" && at(k+4) == "half":
		return halfYears(s, k, 5, 18, now, w, lead)
	case (at(k) == "an" || at(k) == "one") && at(k+1) == "hour" && at(k+2) == "and" && at(k+3) == "a" && at(k+4) == "half":
		j, minutes = k+5, 90
	default:
		return 0
	}
	switch {
	case at(j) == "ago":
		minutes, j = -minutes, j+1
	case at(j) == "from" && at(j+1) == "now":
		j += 2
	case lead == "in" && at(j) == "or" && at(j+1) == "so":
		j += 2
	case lead == "in":
	default:
		return 0
	}
	w.after(now, minutes)
	return j - k
}

// beyond reports whether s is an ordinal that no month has: 32nd.
func beyond(s string) bool {
	if len(s) < 4 || !syntax.Numeric(s) || !strings.Contains("st nd rd th", s[len(s)-2:]) {
		return false
	}
	n, ok := syntax.InDigits(s[:len(s)-2])
	return ok && n > 31
}

// noDay reads a number that does not exist in its month: 32 May, the 40th of June.
func noDay(s syntax.Sentence, k int, now Moment, w *When) int {
	none := func(s string) bool {
		if beyond(s) {
			return true
		}
		n, ok := syntax.InDigits(s)
		return ok && (n == 0 || n > 31 && n < 100)
	}
	n := 0
	switch {
	case none(s.At(k)) && syntax.MonthOf(s.At(k+1)) > 0:
		n = 2
	case beyond(s.At(k)) && s.At(k+1) == "of" && syntax.MonthOf(s.At(k+2)) > 0:
		n = 3
	case syntax.MonthOf(s.At(k)) > 0 && none(s.At(k+1)):
		n = 2
	default:
		return 0
	}
	w.Void = true
	w.Set(now.Day, 'd')
	return n
}

// span reads "3 to 10 May", "3-10 May", "between the 3rd and the 10th of May":
// days with their end.
func span(s syntax.Sentence, k int, now Moment, w *When) int {
	day := func(i int) (d, n int) {
		if s.At(i) == "the" {
			d, n = Day31(s.At(i + 1))
			return d, 2 * n
		}
		return Day31(s.At(i))
	}
	first, n := day(k)
	j := k + n
	last := 0
	if a, b, ok := strings.Cut(s.At(k), "-"); ok && syntax.Numeric(a) && syntax.Numeric(b) {
		first, _ = Day31(a)
		last, n = Day31(b)
		j = k + 1
	} else if n > 0 {
		switch s.At(j) {
		case "to", "until", "till", "and", "through", "-", "–":
			last, n = day(j + 1)
			j += 1 + n
		default:
			return 0
		}
	}
	if n == 0 || first == 0 || last == 0 {
		return 0
	}
	if s.At(j) == "of" {
		j++
	}
	m := syntax.MonthOf(s.At(j))
	if m == 0 {
		return 0
	}
	j += 1 + monthDay(s, j+1, m, first, now, w)
	y, _, _ := Date(w.Day)
	if last <= first || last > MonthLength(y, m) {
		w.Void = true
		return j - k
	}
	w.Last = DayOf(y, m, last)
	return j - k
}

// Day31 reads a day of the month, in digits or as an ordinal.
func Day31(s string) (d, n int) {
	if d, ok := Ordinal(s); ok {
		return d, 1
	}
	if d, ok := syntax.InDigits(s); ok && d >= 1 && d <= 31 {
		return d, 1
	}
	return 0, 0
}

// ranked reports whether "the third" counts s, so that it names no day: "on the third floor".
func ranked(s string) bool {
	switch s {
	case "floor", "level", "storey", "story", "row", "shelf", "page", "try", "attempt", "drawer", "deck", "platform", "door", "house", "street", "avenue", "bus", "train", "stop", "exit", "time", "person",
		"item", "topic", "question", "place", "bay", "track", "half", "quarter", "part", "line", "lap", "round", "chapter", "slide", "seat", "step", "left", "right", "lane", "hook", "bench", "table", "desk", "day", "week", "night", "trip", "visit", "date", "hole", "gear", "base", "car", "kid", "child":
		return true
	}
	return false
}

// storeyLived reports whether "the" at token k is of a storey where somebody lives: "I live on the fifth".
func storeyLived(s syntax.Sentence, k int) bool {
	if k < 2 || s.At(k-1) != "on" {
		return false
	}
	w := s.At(k - 2)
	return w == "live" || w == "lives" || w == "lived" || w == "living"
}

// UnitOf returns how long a unit is, in days or in months.
func UnitOf(s string) (days, months int, ok bool) {
	switch s {
	case "day", "days":
		return 1, 0, true
	case "week", "weeks":
		return 7, 0, true
	case "fortnight":
		return 14, 0, true
	case "month", "months":
		return 0, 1, true
	case "year", "years":
		return 0, 12, true
	}
	return 0, 0, false
}

// weekFrom returns 1 and the days from now to the day from which "a week" counts: "a week on
// Saturday", "a week today"; 0 if the words do not say it.
func weekFrom(s syntax.Sentence, i int, now Moment) int {
	switch s.At(i) {
	case "today":
		return 1
	case "tomorrow":
		return 2
	case "on", "from":
		if s.At(i+1) == "tomorrow" {
			return 2
		}
		if d := syntax.WeekdayOf(s.At(i+1), true); d >= 0 {
			return 2 + Mod(d-now.Weekday()-1, 7)
		}
	}
	return 0
}

// afterNext reads "week after next" and "weekend after next". For "the Saturday after next", it is
// not clear which one it is.
func afterNext(s syntax.Sentence, i int, now Moment, w *When) int {
	if s.At(i+1) != "after" || s.At(i+2) != "next" {
		return 0
	}
	switch monday := now.Day - now.Weekday() + 14; {
	case s.At(i) == "week":
		w.Set(monday, 'w')
		if d := syntax.WeekdayOf(s.At(i+4), true); s.At(i+3) == "on" && d >= 0 {
			w.Set(monday+d, 'd')
			return 5
		}
	case s.At(i) == "weekend":
		w.Set(monday+5, 'd')
	case syntax.WeekdayOf(s.At(i), true) >= 0:
		w.Void = true
	default:
		return 0
	}
	return 3
}

// atTime reads what "at" or "over" at token i begins: "at the weekend", "over Easter", "at New Year".
func atTime(s syntax.Sentence, i int, now Moment, w *When) int {
	k := i + 1
	took := 0
	switch {
	case s.At(k) != "the":
		took = feastDay(s, k, now, w, s.At(i))
	case s.At(k+1) == "weekend":
		w.Set(now.Day-now.Weekday()+5, 'd')
		w.Weekday, w.Weekend = true, true
		return 3
	default:
		took = endOf(s, k, now, w)
	}
	if took == 0 {
		return 0
	}
	return 1 + took + w.inYear(s, k+took, now)
}

// agoFrom returns how many days before today "a week ago" counts from: 0 in "a week ago today", 3
// on Friday in "a week ago Tuesday"; -1 if nothing follows.
func agoFrom(s syntax.Sentence, i int, now Moment) int {
	if s.At(i) == "on" {
		i++
	}
	if s.At(i) == "today" {
		return 0
	}
	if d := syntax.WeekdayOf(s.At(i), true); d >= 0 {
		return 1 + Mod(now.Weekday()-d-1, 7)
	}
	return -1
}

// beforeLast reads "week before last", "night before last", "summer before last". For "the Friday
// before last", it is not clear which one it is.
func beforeLast(s syntax.Sentence, i int, now Moment, w *When) int {
	if s.At(i+1) != "before" || s.At(i+2) != "last" {
		return 0
	}
	y, m, _ := Date(now.Day)
	switch monday, what := now.Day-now.Weekday()-14, s.At(i); what {
	case "week":
		w.Set(monday, 'w')
	case "weekend":
		w.Set(monday+5, 'd')
	case "night":
		w.Set(now.Day-2, 'd')
		w.part(partsOfDay["night"])
	case "month":
		w.Set(AddMonths(DayOf(y, m, 1), -2), 'M')
	case "year":
		w.Set(DayOf(y-2, 1, 1), 'y')
	default:
		if w.seasonOf(what, -1, now) {
			y, _, _ := Date(w.Day)
			w.ofSeason(calendar.Season(what), y-1)
			break
		}
		if syntax.WeekdayOf(what, true) < 0 {
			return 0
		}
		w.Void = true
		w.Set(now.Day, 'd')
	}
	return 3
}

// laterThis reads what follows "later": the rest of this week or month, from tomorrow on.
func (w *When) laterThis(what string, now Moment) bool {
	last := 0
	switch y, m, _ := Date(now.Day); what {
	case "week":
		last = now.Day - now.Weekday() + 6
	case "month":
		last = AddMonths(DayOf(y, m, 1), 1) - 1
	}
	if last <= now.Day {
		return false
	}
	w.ofDays(now.Day+1, last)
	return true
}

// halfYears sets the month that is the given number of months away, if the words around the n
// tokens from k show in which direction.
func halfYears(s syntax.Sentence, k, n, months int, now Moment, w *When, lead string) int {
	switch {
	case s.At(k+n) == "ago":
		months, n = -months, n+1
	case lead != "in":
		return 0
	}
	w.Set(AddMonths(now.Day, months), 'M')
	return n
}

// newYearAt reads "before the new year", and "in the new year", which is January.
func newYearAt(s syntax.Sentence, k int, now Moment, w *When, lead string) int {
	if s.At(k) != "the" {
		return 0
	}
	f, n := feast.At(s.At, k+1)
	if f == nil || f.Words != "new year" || ofFeast[s.At(k+1+n)] {
		return 0
	}
	y, m, _ := Date(now.Day)
	switch {
	case lead == "":
		return 0
	case lead != "in":
		n = feastDay(s, k+1, now, w, lead)
		return n + syntax.BoolInt(n > 0)
	case m < 7:
		return 0
	}
	w.Set(DayOf(y+1, 1, 1), 'M')
	w.Assumed = 12
	return 3
}
