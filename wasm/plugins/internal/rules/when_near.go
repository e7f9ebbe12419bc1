package rules

import (
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/internal/feast"
)

// after sets a moment so many minutes from now, to the minute.
func (w *when) after(now moment, minutes int) {
	m := now.minute + minutes
	w.set(now.day+(m-mod(m, 1440))/1440, 'd')
	w.minute, w.clock, w.sure = mod(m, 1440), true, true
}

// soon reads "half an hour", "a quarter of an hour", "two and a half hours"
// after "in", or before "ago" and "from now".
func soon(s sentence, k int, now moment, w *when, lead string) int {
	at := s.at
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
		n, ok := number(at(k))
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

// beyond reports an ordinal that no month has: 32nd.
func beyond(s string) bool {
	if len(s) < 4 || !numeric(s) || !strings.Contains("st nd rd th", s[len(s)-2:]) {
		return false
	}
	n, ok := inDigits(s[:len(s)-2])
	return ok && n > 31
}

// noDay reads a number with a month that no month has: 32 May, the 40th of June.
func noDay(s sentence, k int, now moment, w *when) int {
	none := func(s string) bool {
		if beyond(s) {
			return true
		}
		n, ok := inDigits(s)
		return ok && (n == 0 || n > 31 && n < 100)
	}
	n := 0
	switch {
	case none(s.at(k)) && monthOf(s.at(k+1)) > 0:
		n = 2
	case beyond(s.at(k)) && s.at(k+1) == "of" && monthOf(s.at(k+2)) > 0:
		n = 3
	case monthOf(s.at(k)) > 0 && none(s.at(k+1)):
		n = 2
	default:
		return 0
	}
	w.void = true
	w.set(now.day, 'd')
	return n
}

// span reads "3 to 10 May", "3-10 May", "between the 3rd and the 10th of May":
// days with their end.
func span(s sentence, k int, now moment, w *when) int {
	day := func(i int) (d, n int) {
		if s.at(i) == "the" {
			d, n = day31(s.at(i + 1))
			return d, 2 * n
		}
		return day31(s.at(i))
	}
	first, n := day(k)
	j := k + n
	last := 0
	if a, b, ok := strings.Cut(s.at(k), "-"); ok && numeric(a) && numeric(b) {
		first, _ = day31(a)
		last, n = day31(b)
		j = k + 1
	} else if n > 0 {
		switch s.at(j) {
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
	if s.at(j) == "of" {
		j++
	}
	m := monthOf(s.at(j))
	if m == 0 {
		return 0
	}
	j += 1 + monthDay(s, j+1, m, first, now, w)
	y, _, _ := date(w.day)
	if last <= first || last > monthLength(y, m) {
		w.void = true
		return j - k
	}
	w.last = dayOf(y, m, last)
	return j - k
}

// day31 reads a day of the month, in digits or as an ordinal.
func day31(s string) (d, n int) {
	if d, ok := ordinal(s); ok {
		return d, 1
	}
	if d, ok := inDigits(s); ok && d >= 1 && d <= 31 {
		return d, 1
	}
	return 0, 0
}

// foreignMonths are the names that English talk has them by, where none is an
// English word or a name as well.
var foreignMonths = map[string]int{
	"januar": 1, "februar": 2, "märz": 3, "juni": 6, "juli": 7, "oktober": 10, "dezember": 12,
	"janvier": 1, "février": 2, "avril": 4, "juin": 6, "juillet": 7, "août": 8, "septembre": 9, "octobre": 10, "novembre": 11, "décembre": 12,
	"enero": 1, "febrero": 2, "marzo": 3, "abril": 4, "junio": 6, "agosto": 8, "septiembre": 9, "octubre": 10, "noviembre": 11, "diciembre": 12,
	"gennaio": 1, "febbraio": 2, "aprile": 4, "maggio": 5, "giugno": 6, "luglio": 7, "settembre": 9, "ottobre": 10, "dicembre": 12,
	"januari": 1, "februari": 2, "maart": 3, "augustus": 8,
	"janeiro": 1, "fevereiro": 2, "março": 3, "maio": 5, "junho": 6, "julho": 7, "setembro": 9, "outubro": 10, "novembro": 11, "dezembro": 12,
}

// ranked is what "the third" counts, so that it names no day: "on the third floor".
func ranked(s string) bool {
	switch s {
	case "floor", "level", "storey", "story", "row", "shelf", "page", "try", "attempt", "drawer", "deck", "platform", "door", "house", "street", "avenue", "bus", "train", "stop", "exit", "time", "person",
		"item", "topic", "question", "place", "bay", "track", "half", "quarter", "part", "line", "lap", "round", "chapter", "slide", "seat", "step", "left", "right", "lane", "hook", "bench", "table", "desk", "day", "week", "night", "trip", "visit", "date", "hole", "gear", "base", "car", "kid", "child":
		return true
	}
	return false
}

func unitOf(s string) (days, months int, ok bool) {
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

// weekFrom is 1 and the days from now to the day from which "a week" counts: "a week on Saturday", "a week
// today"; 0 where the words say none.
func weekFrom(s sentence, i int, now moment) int {
	switch s.at(i) {
	case "today":
		return 1
	case "tomorrow":
		return 2
	case "on", "from":
		if s.at(i+1) == "tomorrow" {
			return 2
		}
		if d := weekdayOf(s.at(i+1), true); d >= 0 {
			return 2 + mod(d-now.weekday()-1, 7)
		}
	}
	return 0
}

// afterNext reads "week after next" and "weekend after next". Of "the Saturday after next" nobody can say
// which one it is.
func afterNext(s sentence, i int, now moment, w *when) int {
	if s.at(i+1) != "after" || s.at(i+2) != "next" {
		return 0
	}
	switch monday := now.day - now.weekday() + 14; {
	case s.at(i) == "week":
		w.set(monday, 'w')
		if d := weekdayOf(s.at(i+4), true); s.at(i+3) == "on" && d >= 0 {
			w.set(monday+d, 'd')
			return 5
		}
	case s.at(i) == "weekend":
		w.set(monday+5, 'd')
	case weekdayOf(s.at(i), true) >= 0:
		w.void = true
	default:
		return 0
	}
	return 3
}

// atTime reads what "at" or "over" at token i begins: "at the weekend", "over Easter", "at New Year".
func atTime(s sentence, i int, now moment, w *when) int {
	k := i + 1
	took := 0
	switch {
	case s.at(k) != "the":
		took = feastDay(s, k, now, w, s.at(i))
	case s.at(k+1) == "weekend":
		w.set(now.day-now.weekday()+5, 'd')
		w.weekday, w.weekend = true, true
		return 3
	default:
		took = endOf(s, k, now, w)
	}
	if took == 0 {
		return 0
	}
	return 1 + took + w.inYear(s, k+took, now)
}

// agoFrom is how many days before today "a week ago" counts from: 0 in "a week ago today", 3 on Friday in "a week
// ago Tuesday"; -1 where nothing follows.
func agoFrom(s sentence, i int, now moment) int {
	if s.at(i) == "on" {
		i++
	}
	if s.at(i) == "today" {
		return 0
	}
	if d := weekdayOf(s.at(i), true); d >= 0 {
		return 1 + mod(now.weekday()-d-1, 7)
	}
	return -1
}

// beforeLast reads "week before last", "night before last", "summer before last". Of "the Friday before last"
// nobody can say which one it is.
func beforeLast(s sentence, i int, now moment, w *when) int {
	if s.at(i+1) != "before" || s.at(i+2) != "last" {
		return 0
	}
	y, m, _ := date(now.day)
	switch monday, what := now.day-now.weekday()-14, s.at(i); what {
	case "week":
		w.set(monday, 'w')
	case "weekend":
		w.set(monday+5, 'd')
	case "night":
		w.set(now.day-2, 'd')
		w.part(partsOfDay["night"])
	case "month":
		w.set(addMonths(dayOf(y, m, 1), -2), 'M')
	case "year":
		w.set(dayOf(y-2, 1, 1), 'y')
	default:
		if w.seasonOf(what, -1, now) {
			y, _, _ := date(w.day)
			w.ofSeason(calendar.Season(what), y-1)
			break
		}
		if weekdayOf(what, true) < 0 {
			return 0
		}
		w.void = true
		w.set(now.day, 'd')
	}
	return 3
}

// laterThis reads what follows "later": the rest of this week or month, from tomorrow on.
func (w *when) laterThis(what string, now moment) bool {
	last := 0
	switch y, m, _ := date(now.day); what {
	case "week":
		last = now.day - now.weekday() + 6
	case "month":
		last = addMonths(dayOf(y, m, 1), 1) - 1
	}
	if last <= now.day {
		return false
	}
	w.ofDays(now.day+1, last)
	return true
}

// halfYears sets the month that is so many months away, if what stands around the n tokens from k says in which
// direction.
func halfYears(s sentence, k, n, months int, now moment, w *when, lead string) int {
	switch {
	case s.at(k+n) == "ago":
		months, n = -months, n+1
	case lead != "in":
		return 0
	}
	w.set(addMonths(now.day, months), 'M')
	return n
}

// newYearAt reads "before the new year", and "in the new year", which is January.
func newYearAt(s sentence, k int, now moment, w *when, lead string) int {
	if s.at(k) != "the" {
		return 0
	}
	f, n := feast.At(s.at, k+1)
	if f == nil || f.Words != "new year" || ofFeast[s.at(k+1+n)] {
		return 0
	}
	y, m, _ := date(now.day)
	switch {
	case lead == "":
		return 0
	case lead != "in":
		n = feastDay(s, k+1, now, w, lead)
		return n + boolInt(n > 0)
	case m < 7:
		return 0
	}
	w.set(dayOf(y+1, 1, 1), 'M')
	w.assumed = 12
	return 3
}
