package syntax

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/calendar"
)

// BoolInt returns 1 for true, and 0 for false.
func BoolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

var small = [...]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"}

// Number reads a whole number up to 99 in words or digits.
func Number(s string) (int, bool) {
	if Numeric(s) {
		n, ok := InDigits(s)
		return n, ok && len(s) <= 4
	}
	switch {
	case s == "a" || s == "an":
		return 1, true
	case s == "":
		return 0, false
	}
	switch s[0] {
	case 'z', 'o', 't', 'f', 's', 'e', 'n':
	default:
		return 0, false // no number begins like that
	}
	for i, w := range small {
		if s == w {
			return i, true
		}
	}
	head, tail, _ := strings.Cut(s, "-")
	for i, w := range [...]string{"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"} {
		if head == w {
			n := 10 * (i + 2)
			for d := 1; d < 10; d++ {
				if tail == small[d] {
					return n + d, true
				}
			}
			return n, tail == ""
		}
	}
	return 0, false
}

// Numeric reports whether s begins with a digit.
func Numeric(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// InDigits parses a whole number in digits. It calls Atoi only for words that begin like a number,
// because the error that Atoi makes for any other word costs more than the rest.
func InDigits(s string) (int, bool) {
	if !Numeric(s) {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// OnDay reports whether "on" or a weekday is before token k.
func (s Sentence) OnDay(k int) bool {
	return s.At(k-1) == "on" || WeekdayOf(s.At(k-1), true) >= 0 || s.At(k-1) == "," && WeekdayOf(s.At(k-2), false) >= 0
}

// UntilYear returns the year of a date to which token k leads: "to 19.6.2027"; 0: there is none.
func (s Sentence) UntilYear(k int) int {
	if _, end := Digits(s.At(k + 1)); Between(s.At(k)) && len(end) == 3 && Centuries(end[2]) {
		return end[2]
	}
	return 0
}

// Digits splits a token of two or three numbers and one kind of mark; it returns no parts if the
// token is something else.
func Digits(t string) (mark string, parts []int) {
	for _, mark = range [...]string{"-", "/", "."} {
		fields := strings.Split(t, mark)
		if len(fields) != 2 && len(fields) != 3 {
			continue
		}
		for _, f := range fields {
			n, ok := InDigits(f)
			if !ok || len(f) > 4 || len(f) == 3 {
				return "", nil
			}
			parts = append(parts, n)
		}
		return mark, parts
	}
	return "", nil
}

// Centuries reports whether a number may be a year.
func Centuries(n int) bool { return n >= 1900 && n < 2100 }

// ADay reports whether two numbers can be a day and a month, in either order.
func ADay(a, b int) bool { return a > 0 && b > 0 && min(a, b) <= 12 && max(a, b) <= 31 }

// DayFollows reports whether the word before token k leads to a day.
func DayFollows(s Sentence, k int) bool {
	switch s.At(k - 1) {
	case "on", "by", "until", "till", "since", "before", "after", "from", "for", "to", "在", "是", "于", "到", "从":
		return true
	case ",":
		return WeekdayOf(s.At(k-2), false) >= 0
	}
	return WeekdayOf(s.At(k-1), true) >= 0
}

// dayStop reports whether the stop at token i is part of a date within a sentence: "on 12.6. at
// two".
func dayStop(toks []Token, i int) bool {
	if i < 2 || toks[i-1].Kind != 'n' || toks[i-1].End != toks[i].Start || toks[i+1].Kind != 'w' || toks[i+1].Cap {
		return false
	}
	mark, p := Digits(toks[i-1].S)
	s := Sentence{Toks: toks}
	return len(p) == 2 && mark == "." && ADay(p[0], p[1]) && p[1] <= 12 && (s.OnDay(i-1) || DayFollows(s, i-1) && s.UntilYear(i+1) > 0)
}

// Between reports whether a word comes between the ends of a span.
func Between(w string) bool {
	switch w {
	case "to", "until", "till", "through", "-", "–", "—", "到", "至", "~":
		return true
	}
	return false
}

// WeekdayOf returns 0 for Monday to 6 for Sunday, and -1 if s is not a weekday. It knows "mon" only
// if short is set.
func WeekdayOf(s string, short bool) int {
	if short || len(s) > 5 {
		return calendar.Weekdays(s) - 1
	}
	return -1
}

// MonthOf returns the month that a word names, from 1; 0 if it names none.
func MonthOf(s string) int {
	if m := calendar.MonthNamed(s); m > 0 {
		return m
	}
	return foreignMonths[s]
}

// foreignMonths are the names for them in English talk, without those that are also an English word
// or a name.
var foreignMonths = map[string]int{
	"januar": 1, "februar": 2, "märz": 3, "juni": 6, "juli": 7, "oktober": 10, "dezember": 12,
	"janvier": 1, "février": 2, "avril": 4, "juin": 6, "juillet": 7, "août": 8, "septembre": 9, "octobre": 10, "novembre": 11, "décembre": 12,
	"enero": 1, "febrero": 2, "marzo": 3, "abril": 4, "junio": 6, "agosto": 8, "septiembre": 9, "octubre": 10, "noviembre": 11, "diciembre": 12,
	"gennaio": 1, "febbraio": 2, "aprile": 4, "maggio": 5, "giugno": 6, "luglio": 7, "settembre": 9, "ottobre": 10, "dicembre": 12,
	"januari": 1, "februari": 2, "maart": 3, "augustus": 8,
	"janeiro": 1, "fevereiro": 2, "março": 3, "maio": 5, "junho": 6, "julho": 7, "setembro": 9, "outubro": 10, "novembro": 11, "dezembro": 12,
}

// From returns the text from token i on.
func (s Sentence) From(i int) string {
	if i >= len(s.Toks) {
		return ""
	}
	return s.Text[s.Toks[i].Start:s.End]
}

// PrefixZh returns the first of words that the text has at token i, and the number of its tokens.
func PrefixZh(s Sentence, i int, words ...string) (string, int) {
	rest := s.From(i)
	for _, w := range words {
		if strings.HasPrefix(rest, w) {
			return w, utf8.RuneCountInString(w)
		}
	}
	return "", 0
}

const DigitsZh = "〇零一二两三四五六七八九十百千万半几0123456789"
