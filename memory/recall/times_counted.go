package recall

import (
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/calendar"
)

// number reads 3, 3rd or three; it returns 0 if s is not a number.
func number(s string) int {
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz")
	switch rest := s[len(digits):]; {
	case digits != "" && (rest == "" || rest == "st" || rest == "nd" || rest == "rd" || rest == "th"):
		n, err := strconv.Atoi(digits)
		if err != nil {
			return 0
		}
		return n
	case digits == "":
		if s == "a" || s == "an" {
			return 1
		}
		n, _ := strconv.Atoi(irregular[s])
		return n
	}
	return 0
}

func year(s string) int {
	if len(s) != 4 {
		return 0
	}
	y, err := strconv.Atoi(s)
	if err != nil || y < 1900 || y > 2100 {
		return 0
	}
	return y
}

// timeUnit is the length of a unit in days; 0: not a unit.
func timeUnit(s string) int32 {
	switch strings.TrimSuffix(s, "s") {
	case "day":
		return 1
	case "week":
		return 7
	case "fortnight":
		return 14
	case "weekend":
		return 6
	case "month":
		return 30
	case "year":
		return 365
	}
	switch s {
	case "night", "evening", "morning", "afternoon":
		return 2
	}
	if calendar.Season(strings.TrimSuffix(s, "s")) != nil {
		return 90
	}
	return 0
}

// relative reads "last week", "two months ago", "the week before", "in three days".
func (r *timeReader) relative(i int, unit int32) {
	n := int32(0)
	if r.besideFeast(i) {
		return
	}
	if unit == 90 {
		r.season(i)
		return
	}
	if r.at(i+1) == "before" && r.at(i+2) == "last" { // the week before last
		from, to := period(r.now, unit, -2)
		r.add(from, to, false)
		r.use(i, i+1, i+2)
		return
	}
	if the := r.at(i - 2); unit == 6 && r.at(i-1) == "the" && (the == "at" || the == "over" || the == "on") {
		if !r.aheadOf(i) && monday(r.now)+5 > dayOf(r.now) {
			n = -1
		}
		from, to := period(r.now, unit, n)
		r.add(from, to, false)
		r.use(i)
		return
	}
	switch r.at(i - 1) {
	case "last", "past", "previous":
		n = -1
	case "this":
		n = 0
	case "next", "coming", "following":
		n = 1
	default:
		r.counted(i, unit)
		return
	}
	r.use(i, i-1)
	from, to := period(r.now, unit, n)
	switch {
	case unit == 365:
		r.of = yearOf{r.now.Year() + int(n), len(r.spans), i + 1}
	case unit == 30 && r.at(i-2) == "of": // the 3rd of last month
		if d := r.dayOfMonth(i - 3); d > 0 {
			from += int32(d) - 1
			to = from
		}
	}
	switch today := dayOf(r.now); {
	case n != 0 || unit < 7:
	case r.at(i-2) == "earlier":
		to = today
		r.use(i - 2)
	case r.at(i-2) == "later" && today < to:
		from = today + 1
		r.use(i - 2)
	}
	r.add(from, to, false)
}

// counted reads "two months ago" and "in three days", plus or minus a quarter of a unit.
func (r *timeReader) counted(i int, unit int32) {
	count := int32(number(r.at(i - 1)))
	if b := r.at(i - 1); b == "few" || b == "couple" || b == "several" || b == "of" && r.at(i-2) == "couple" {
		count = 3
	}
	if count == 0 || count > 1000 {
		return
	}
	if r.at(i-2) == "half" && r.at(i-1) == "a" && unit == 365 { // half a year ago
		unit, count = 30, 6
		r.use(i - 2)
	}
	far := count * natural(unit)
	switch after := r.at(i + 1); {
	case after == "ago" && unit == 7 && (calendar.Weekdays(r.at(i+2)) > 0 || r.at(i+2) == "today"): // a week ago Tuesday
		d := dayOf(r.now) - far
		if day := calendar.Weekdays(r.at(i + 2)); day > 0 {
			d = nearestWeekday(r.now, day, false) - far
		}
		r.add(d, d, false)
		r.use(i, i-1, i+1, i+2)
	case after == "ago" || after == "back" || after == "earlier":
		d := dayOf(r.now) - far
		if unit == 365 {
			r.of = yearOf{r.now.Year() - int(count), len(r.spans), i + 2}
		}
		r.add(d-unit/4, d+unit/4, false)
		r.use(i, i-1, i+1)
	case r.at(i-2) == "in" || after == "later":
		d := dayOf(r.now) + far
		r.add(d, d+unit/4, false)
		r.use(i, i-1)
	default:
		r.any = r.any || r.at(i-2) == "for"
	}
}

func natural(unit int32) int32 {
	switch unit {
	case 2:
		return 1
	case 6:
		return 7
	}
	return unit
}

// period returns the days of this unit (n is 0), the last one (-1) or the next
// one (1).
func period(now time.Time, unit, n int32) (from, to int32) {
	switch unit {
	case 1, 2:
		return dayOf(now) + n, dayOf(now) + n
	case 7, 14:
		from = monday(now) + unit*n
		return from, from + unit - 1
	case 6:
		from = monday(now) + 7*n + 5
		return from, from + 1
	case 30:
		return monthSpan(now.Year(), int(now.Month())+int(n))
	case 91:
		first, last := calendar.Quarter(int(dayOf(now)), int(n))
		return int32(first), int32(last)
	}
	return yearSpan(now.Year() + int(n))
}
