package calendar

import (
	"strconv"
	"strings"
)

var weekdayNames = [...][3]string{{"monday", "mon"}, {"tuesday", "tue", "tues"}, {"wednesday", "wed"}, {"thursday", "thu", "thurs"}, {"friday", "fri"}, {"saturday", "sat"}, {"sunday", "sun"}}

// Weekdays returns the weekday of an English name, in full or short; 0: it is not one.
func Weekdays(s string) int {
	if len(s) < 3 || strings.IndexByte("mtwfs", s[0]) < 0 {
		return 0
	}
	for i, names := range weekdayNames {
		if s[0] == names[0][0] && (s == names[0] || s == names[1] || s == names[2]) {
			return i + 1
		}
	}
	return 0
}

var monthNames = [...]string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}

// MonthNamed returns the month of an English name, in full or short; 0: it is not one.
func MonthNamed(s string) int {
	if len(s) < 3 || strings.IndexByte("jfmasond", s[0]) < 0 {
		return 0
	}
	for i, name := range monthNames {
		if s[0] == name[0] && (s == name || s == name[:3] || s == "sept" && i == 8) {
			return i + 1
		}
	}
	return 0
}

// Words returns the word at an index of a text, in lower case; "": there is none.
type Words func(i int) string

// Run is a part of a month or a year, named by a run of words.
type Run struct {
	Days  Yearly
	Year  int // 0: none is named
	Month int // index of the word that names the month; -1: none does
	Next  int // index after its last word
}

// English reads at word k a part of a month or a year, without the article before it: "late May",
// "end of last month", "first Monday of October", "third quarter of 2025".
func English(at Words, k, today int) (r Run, ok bool) {
	if rest, mid := strings.CutPrefix(at(k), "mid-"); mid {
		r, ok = English(func(i int) string {
			switch {
			case i == k:
				return "mid"
			case i == k+1:
				return rest
			case i > k:
				i--
			}
			return at(i)
		}, k, today)
		r.Month, r.Next = r.Month-1, r.Next-1
		return r, ok
	}
	y, m, _ := Date(today)
	if step, ok := steps[at(k)]; ok && at(k) != "the" && at(k+1) == "quarter" && at(k+2) != "of" {
		return Run{Days: func(int) (int, int, bool) {
			first, last := Quarter(today, step)
			return first, last, true
		}, Year: y, Month: -1, Next: k + 2}, true
	}
	part, ofYear, of := english(at, k)
	if of == 0 {
		return r, false
	}
	if month := MonthNamed(at(of)); month > 0 && part != nil {
		year, took := YearAt(at, of+1, y)
		return Run{Days: part.Of(month), Year: year, Month: of, Next: of + 1 + took}, true
	}
	if year, took := YearAt(at, of, y); took > 0 && ofYear != nil {
		return Run{Days: ofYear, Year: year, Month: -1, Next: of + took}, true
	}
	step, ok := steps[at(of)]
	if ok {
		of++
	}
	switch what := at(of); {
	case what == "month" && part != nil:
		y, m, _ = Date(Day(y, m+step, 1))
		return Run{Days: part.Of(m), Year: y, Month: -1, Next: of + 1}, true
	case what == "year" && ofYear != nil:
		return Run{Days: ofYear, Year: y + step, Month: -1, Next: of + 1}, true
	case part == nil && at(k-1) == "the" && at(k-2) == "in": // "in the third quarter"
		return Run{Days: ofYear, Month: -1, Next: k + 2}, true
	}
	return r, false
}

// steps are how many months, quarters or years away something is, by the word before it.
var steps = map[string]int{"the": 0, "this": 0, "next": 1, "last": -1}

// english reads the name of a part, as one of a month and as one of a year, and returns the index
// of the word that names the month or year. Nil: there is no such part; 0: it is not a part at all.
func english(at Words, k int) (part Part, ofYear Yearly, of int) {
	switch w := at(k); w {
	case "early", "mid", "late":
		of = k + 1
		if at(of) == "in" {
			of++
		}
		switch w {
		case "early":
			return early, Months{First: 1, Count: 3}.Days, of
		case "mid":
			return middle, Months{First: 6, Count: 2}.Days, of
		}
		return late, Months{First: 10, Count: 3}.Days, of
	case "start", "beginning", "middle", "end":
		of = k + 2
		switch {
		case at(k+1) != "of":
			return nil, nil, 0
		case w == "middle":
			return middle, Months{First: 6, Count: 2}.Days, of
		case w == "end":
			return end, Months{First: 12, Count: 1}.Days, of
		}
		return early, Months{First: 1, Count: 1}.Days, of
	}
	n := rank(at(k))
	if n == 0 {
		return nil, nil, 0
	}
	of = k + 2
	if at(of) == "of" || at(of) == "in" {
		of++
	}
	switch what := at(k + 1); {
	case what == "quarter" && n > 0 && n < 5:
		return nil, Months{First: 3*n - 2, Count: 3}.Days, of
	case of == k+2:
	case what == "half" && n > 0 && n < 3:
		return half(n), Months{First: 6*n - 5, Count: 6}.Days, of
	default:
		if part = nth(n, what); part == nil {
			break
		}
		switch n { // "the last day of the year"
		case 1:
			ofYear = part.Of(1)
		case -1:
			ofYear = part.Of(12)
		}
		return part, ofYear, of
	}
	return nil, nil, 0
}

// rank is 1 for "first" to 5, and -1 for "last"; 0: it is none of them.
func rank(s string) int {
	switch s {
	case "last":
		return -1
	case "first", "1st":
		return 1
	case "second", "2nd":
		return 2
	case "third", "3rd":
		return 3
	case "fourth", "4th":
		return 4
	case "fifth", "5th":
		return 5
	}
	return 0
}

// YearAt reads a year at word k that tells when something yearly was: "2021", "of 2021", "last
// year", "two years ago". It returns how many words that takes; 0: there is none.
func YearAt(at Words, k, this int) (year, n int) {
	if w := at(k); w == "of" || w == "in" {
		n = 1
	}
	first, second := at(k+n), at(k+n+1)
	if y := Year(first); y > 0 {
		return y, n + 1
	}
	if step, ok := steps[first]; ok && first != "the" && second == "year" {
		return this + step, n + 2
	}
	if ago := Count(first); n == 0 && ago > 0 && (second == "year" || second == "years") && at(k+2) == "ago" {
		return this - ago, 3
	}
	return 0, 0
}

// Year reads a year in four figures; 0: it is not one.
func Year(s string) int {
	if len(s) != 4 || s[0] != '1' && s[0] != '2' {
		return 0
	}
	y, err := strconv.Atoi(s)
	if err != nil || y < 1900 || y > 2100 {
		return 0
	}
	return y
}

// Count reads a number of days or years, in words up to ten or in figures up to 99; 0: it is not one.
func Count(s string) int {
	switch s {
	case "a", "an":
		return 1
	}
	for i, w := range [...]string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"} {
		if s == w {
			return i + 1
		}
	}
	if len(s) > 2 || s == "" || s[0] < '1' || s[0] > '9' {
		return 0
	}
	n, _ := strconv.Atoi(s)
	return n
}
