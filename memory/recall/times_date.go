package recall

import (
	"strings"
	"time"
)

// numeric reads a date in figures with its year at words[i]: 2025-05-28, or
// 28.5.2025 and 5/28/2025 where it can't be read in two ways.
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

// isMonth tells May the month from may the verb, and March from a march.
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
	j := i + 1
	day := r.dayOfMonth(j)
	if day > 0 {
		j++
	} else if k := i - 1; r.at(k) == "of" {
		day = r.dayOfMonth(k - 1)
	} else {
		day = r.dayOfMonth(k)
	}
	y := year(r.at(j))
	if y > 0 {
		r.use(j)
		r.year = y
	}
	r.month, r.day = m, day
	if y == 0 {
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
	} else {
		from, to = r.partOf(i, from, to)
	}
	r.add(from, to, true)
}

// partOf narrows the days of the month that is named at words[i]: "late May", "the end of May", "the first week of May".
func (r *timeReader) partOf(i int, from, to int32) (int32, int32) {
	part, k := r.at(i-1), i-1
	if part == "of" || part == "in" && r.at(i-2) == "week" {
		part, k = r.at(i-2), i-2
		if part == "week" {
			n := int32(ordinals[r.at(i-3)])
			switch {
			case n > 0 && n < 5:
				r.use(i-2, i-3)
				return from + 7*(n-1), from + 7*n - 1
			case r.at(i-3) == "last":
				r.use(i-2, i-3)
				return to - 6, to
			}
			return from, to
		}
	}
	switch part {
	case "early", "start", "beginning":
		r.use(k)
		return from, from + 9
	case "mid", "middle":
		r.use(k)
		return from + 10, from + 19
	case "late", "end":
		r.use(k)
		return from + 20, to
	}
	return from, to
}

var ordinals = map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}

// nthWeekday reads "the first Monday of October", and reports whether it is there.
func (r *timeReader) nthWeekday(i, d int) bool {
	n, last := ordinals[r.at(i-1)], r.at(i-1) == "last"
	m := months[r.at(i+2)]
	if n == 0 && !last || m == 0 || r.at(i+1) != "of" && r.at(i+1) != "in" || r.now.IsZero() {
		return false
	}
	in := func(y int) int32 {
		from, to := monthSpan(y, m)
		if last {
			return to - (weekdayOf(to)-int32(d)+7)%7
		}
		return from + (int32(d)-weekdayOf(from)+7)%7 + int32(7*(n-1))
	}
	y := r.now.Year()
	day := in(y)
	r.use(i-1, i, i+1, i+2)
	switch named := year(r.at(i + 3)); {
	case named > 0:
		day = in(named)
		r.use(i + 3)
	case r.aheadOf(i) && day < dayOf(r.now):
		day = in(y + 1)
	case !r.aheadOf(i) && day > dayOf(r.now):
		day = in(y - 1)
	}
	r.add(day, day, true)
	return true
}

// weekdayOf is the day of the week of a day, 1 for Monday to 7 for Sunday.
func weekdayOf(day int32) int32 { return (day+3)%7 + 1 }

// quarterLeads stand before a quarter, and not before a car of that name.
var quarterLeads = set(`in by for until before after during from since`)

// quarter reads "Q3", "Q3 2025": the last one, or the next where the text speaks of what is to come.
func (r *timeReader) quarter(i, q int) {
	r.use(i)
	y := year(r.at(i + 1))
	if y > 0 {
		r.use(i + 1)
		r.year = y
	} else if r.now.IsZero() {
		return
	}
	r.monthsOf(3*q-2, 3, y, r.aheadOf(i))
}

// monthsOf adds so many months from one on, of a year or else the last or the next such months.
func (r *timeReader) monthsOf(first, n, y int, ahead bool) {
	said := y > 0
	in := func(y int) (from, to int32) {
		from, _ = monthSpan(y, first)
		_, to = monthSpan(y, first+n-1)
		return from, to
	}
	if !said {
		y = r.now.Year()
		if from, to := in(y); ahead && to < dayOf(r.now) {
			y++
		} else if !ahead && from > dayOf(r.now) {
			y--
		}
	}
	from, to := in(y)
	r.add(from, to, said)
}

// season reads "the summer of 2021", "spring 2027" and "in the spring" at its name, and reports whether it did.
func (r *timeReader) season(i int) bool {
	first := int(seasons[r.at(i)])
	at := i + 1
	if r.at(at) == "of" {
		at++
	}
	y := year(r.at(at))
	switch before := r.at(i - 1); {
	case y > 0:
		r.year = y
		r.use(at)
	case r.now.IsZero(), first == 0, before != "in" && (before != "the" || r.at(i-2) != "in"):
		return false
	}
	r.use(i)
	r.monthsOf(first, 3, y, r.aheadOf(i))
	return true
}

var seasons = map[string]time.Month{"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}

// dayOfMonth reads words[i] as a day of a month, and uses it; 0: it is none.
func (r *timeReader) dayOfMonth(i int) int {
	if n := number(r.at(i)); n >= 1 && n <= 31 {
		r.use(i)
		return n
	}
	return 0
}

func monthSpan(y, m int) (from, to int32) {
	return dayOf(time.Date(y, time.Month(m), 1, 0, 0, 0, 0, time.UTC)), dayOf(time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC))
}

func yearSpan(y int) (from, to int32) {
	return dayOf(time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC)), dayOf(time.Date(y, 12, 31, 0, 0, 0, 0, time.UTC))
}
