package recall

import (
	"strings"
	"time"
)

// numeric reads a date in figures with its year at words[i]: 2025-05-28, or
// 28.5.2025 and 5/28/2025 where it can't be read in two ways.
func (f *found) numeric(words []word, i, y int, add func(int32, int32, bool), use func(...int)) bool {
	figure := func(k, most int) int {
		if k < 0 || k >= len(words) || f.consumed[k] || strings.Trim(words[k].text, "0123456789") != "" {
			return 0
		}
		if n := number(words[k].text); n <= most {
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
	use(from, from+1)
	f.month, f.day, f.any = m, d, true
	first, _ := monthSpan(y, m)
	add(first+int32(d)-1, first+int32(d)-1, true)
	return true
}

// monthHere tells May the month from may the verb, and march from walking.
func (f *found) monthHere(words []word, i int) bool {
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

func (f *found) englishDate(words []word, i, m int, now time.Time, add func(int32, int32, bool), use func(...int)) {
	f.any = true
	use(i)
	day, y := 0, 0
	j := i + 1
	if j < len(words) {
		if n := number(words[j].text); n >= 1 && n <= 31 {
			day = n
			use(j)
			j++
		}
	}
	if day == 0 {
		k := i - 1
		if k >= 0 && words[k].text == "of" {
			k--
		}
		if k >= 0 {
			if n := number(words[k].text); n >= 1 && n <= 31 {
				day = n
				use(k)
			}
		}
	}
	if j < len(words) {
		if y = year(words[j].text); y > 0 {
			use(j)
			f.year = y
		}
	}
	f.month, f.day = m, day
	if y == 0 {
		if now.IsZero() {
			return
		}
		y = now.Year()
		if next := i > 0 && words[i-1].text == "next"; next {
			if m <= int(now.Month()) {
				y++
			}
		} else if m > int(now.Month()) || i > 0 && words[i-1].text == "last" && m == int(now.Month()) {
			y--
		}
	}
	from, to := monthSpan(y, m)
	if day > 0 {
		from += int32(day - 1)
		to = from
	}
	add(from, to, true)
}

func monthSpan(y, m int) (from, to int32) {
	return dayOf(time.Date(y, time.Month(m), 1, 0, 0, 0, 0, time.UTC)), dayOf(time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC))
}
