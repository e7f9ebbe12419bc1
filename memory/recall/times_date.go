package recall

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
)

// numeric reads a date in figures whose year is at words[i]: 2025-05-28, or 28.5.2025 and 5/28/2025
// if it is not ambiguous.
func (r *timeReader) numeric(i, y int) bool {
	figure := func(k, most int) int {
		if k < 0 || k >= len(r.words) || r.consumed[k] || strings.Trim(r.words[k].text, "0123456789") != "" {
			return 0
		}
		if n := number(r.words[k].text); n <= most {
			return n
		}
		return 0
	}
	m, d := figure(i+1, 12), figure(i+2, 31)
	from := i + 1
	if m == 0 || d == 0 {
		a, b := figure(i-2, 31), figure(i-1, 31)
		switch {
		case a > 12 && b >= 1 && b <= 12 || a > 0 && a == b && a <= 12:
			d, m = a, b
		case b > 12 && a >= 1 && a <= 12:
			m, d = a, b
		default:
			return false
		}
		from = i - 2
	}
	r.use(from, from+1)
	r.month, r.day = m, d
	first, _ := monthSpan(y, m)
	r.add(first+int32(d)-1, first+int32(d)-1, true)
	return true
}

// isMonth distinguishes May from the verb may, and March from a march.
func isMonth(words []word, i int) bool {
	w := words[i]
	if w.text != "may" && w.text != "march" && w.text != "mar" && w.text != "sun" && w.text != "sat" {
		return true
	}
	if w.capital && i > 0 {
		return true
	}
	if i+1 < len(words) && number(words[i+1].text) > 0 || i > 0 && number(words[i-1].text) > 0 {
		return true
	}
	if i > 0 {
		switch words[i-1].text {
		case "in", "last", "next", "of", "since", "until", "by", "this", "early", "late":
			return true
		}
	}
	return false
}

// englishDate reads a date whose month m is named at words[i], such as "3 May 2025" and "next March".
func (r *timeReader) englishDate(i, m int) {
	r.any = true
	r.use(i)
	day, y := 0, r.yearAt(i, i+1)
	if y == 0 {
		if day = r.dayOfMonth(i + 1); day > 0 {
			y = r.yearAt(i, i+2)
		}
	}
	if k := i - 1; day == 0 && r.at(k) == "of" {
		day = r.dayOfMonth(k - 1)
	} else if day == 0 {
		day = r.dayOfMonth(k)
	}
	if r.month, r.day = m, day; y > 0 {
		r.year = y
	} else {
		if r.now.IsZero() {
			return
		}
		y = r.now.Year()
		if r.at(i-1) == "next" {
			if m <= int(r.now.Month()) {
				y++
			}
		} else if m > int(r.now.Month()) || r.at(i-1) == "last" && m == int(r.now.Month()) {
			y--
		}
	}
	from, to := monthSpan(y, m)
	if day > 0 {
		from += int32(day - 1)
		to = from
	}
	r.add(from, to, true)
}

// englishPart reads a part of a month or a year that begins at words[i], "late May", "first Monday
// of October", and reports whether there is one.
func (r *timeReader) englishPart(i int) bool {
	run, ok := calendar.English(r.text, i, r.today)
	if !ok || run.Month >= 0 && !isMonth(r.words, run.Month) {
		return false
	}
	for k := i; k < run.Next; k++ {
		r.use(k)
	}
	if run.Year < 1900 { // also for "last year" if now isn't known
		r.yearly(run.Days, i, run.Next)
		return true
	}
	r.year = run.Year
	if first, last, ok := run.Days(run.Year); ok {
		r.add(int32(first), int32(last), true)
	}
	return true
}

// quarterLeads come before a quarter of a year, and not before a car of that name.
var quarterLeads = set(`in by for until before after during from since`)

// yearAt reads at words[j] the year of what begins at words[i], and marks its words as used, or
// takes the year before it: "two years ago in the spring". It returns 0 if there is none.
func (r *timeReader) yearAt(i, j int) int {
	y, n := calendar.YearAt(r.text, j, r.now.Year())
	switch b := r.of; {
	case y >= 1900:
		for k := range n {
			r.use(j + k)
		}
		return y
	case b.year >= 1900 && b.next < i && i <= b.next+2 && b.span < len(r.spans) && yearLeads[r.at(b.next)]:
		r.spans = slices.Delete(r.spans, b.span, b.span+1)
		r.of = yearOf{}
		return b.year
	}
	return 0
}

// yearLeads come between a year and its part.
var yearLeads = set(`in at on over around during`)

// yearly adds the days of a yearly event that is named from words[i] up to words[j]: those in a
// year that is named, or else the last ones or, if the text speaks of the future, the next.
func (r *timeReader) yearly(days calendar.Yearly, i, j int) {
	y := r.yearAt(i, j)
	if y > 0 {
		r.year = y
	}
	r.yearlyOf(days, y, r.aheadOf(i))
}

// yearlyOf adds the days of a yearly event; year 0: the last or the next ones.
func (r *timeReader) yearlyOf(days calendar.Yearly, year int, ahead bool) {
	r.any = true
	var first, last int
	ok := false
	switch {
	case year > 0:
		r.dropYear(year)
		first, last, ok = days(year)
	case r.now.IsZero():
	case ahead:
		first, last, ok = days.Next(r.today)
	default:
		first, last, ok = days.Last(r.today, false)
	}
	if ok {
		r.add(int32(first), int32(last), year > 0)
	}
}

// season reads "the summer of 2021", "last spring", "in the spring" and "the summer before last" at
// the season's name.
func (r *timeReader) season(i int) {
	name, plural := strings.CutSuffix(r.at(i), "s")
	days := calendar.Yearly(calendar.Season(name).Days)
	before := r.at(i - 1)
	ago := 0 // years before the last one
	switch n := number(before); {
	case plural && n > 0 && n < 100 && r.at(i+1) == "ago": // two summers ago
		before, ago = "last", n-1
		r.use(i-1, i+1)
	case plural:
		return
	case r.at(i+1) == "before" && r.at(i+2) == "last":
		before, ago = "last", 1
		r.use(i+1, i+2)
	case before == "last", before == "past", before == "previous", before == "this", before == "next", before == "coming", before == "following":
		r.use(i - 1)
	default:
		y := r.yearAt(i, i+1)
		if y > 0 {
			r.year = y
		} else if r.now.IsZero() || before != "in" && (before != "the" || r.at(i-2) != "in") {
			return
		}
		r.use(i)
		r.yearlyOf(days, y, r.aheadOf(i))
		return
	}
	r.use(i)
	if r.any = true; r.now.IsZero() {
		return
	}
	var first int
	switch before {
	case "this":
		r.yearlyOf(days, 0, r.aheadOf(i))
		return
	case "last", "past", "previous":
		first, _, _ = days.Last(r.today, true)
	default:
		if first, _, _ = days.Next(r.today); first <= r.today {
			ago = -1
		}
	}
	y, _, _ := calendar.Date(first)
	first, last, _ := days(y - ago)
	r.add(int32(first), int32(last), false)
}

// dayOfMonth reads words[i] as a day of a month, and marks it as used; it returns 0 if it is none.
func (r *timeReader) dayOfMonth(i int) int {
	if n := number(r.at(i)); n >= 1 && n <= 31 {
		r.use(i)
		return n
	}
	return 0
}

// monthSpan returns the days of a month; a month beyond 12 is in the next year.
func monthSpan(y, m int) (from, to int32) {
	return int32(calendar.Day(y, m, 1)), int32(calendar.Day(y, m+1, 0))
}

func yearSpan(y int) (from, to int32) {
	return int32(calendar.Day(y, 1, 1)), int32(calendar.Day(y, 12, 31))
}
