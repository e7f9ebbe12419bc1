package rules

import (
	"strings"
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

// weekOfMonth reads "second week of October": seven days of the next such month, the first from the first.
func weekOfMonth(s sentence, k int, now moment, w *when) int {
	nth, ok := ordinal(s.at(k))
	m := monthOf(s.at(k + 3))
	if !ok || nth > 4 || s.at(k+1) != "week" || s.at(k+2) != "of" && s.at(k+2) != "in" || m == 0 {
		return 0
	}
	w.coming(now, m, 7*nth)
	w.set(w.day-6, 'w')
	w.assumed = 12
	return 4
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
	case s.at(i) == "weekend":
		w.set(monday+5, 'd')
	case weekdayOf(s.at(i), true) >= 0:
		w.void = true
	default:
		return 0
	}
	return 3
}
