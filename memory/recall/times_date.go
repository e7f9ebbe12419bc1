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
	}
	r.add(from, to, true)
}

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
