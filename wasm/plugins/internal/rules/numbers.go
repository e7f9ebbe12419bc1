package rules

import (
	"strconv"
	"strings"
)

var small = [...]string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"}

// number reads a whole number up to 99 in words or digits.
func number(s string) (int, bool) {
	if numeric(s) {
		n, ok := inDigits(s)
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
		return 0, false // no number begins with it
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

var ordinals = [...]string{"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first"}

func ordinal(s string) (int, bool) {
	if s == "" {
		return 0, false
	}
	switch s[0] {
	case 'f', 's', 't', 'e', 'n', '1', '2', '3', '4', '5', '6', '7', '8', '9', '0':
	default:
		return 0, false // none begins with it
	}
	for i, w := range ordinals {
		if i > 0 && s == w {
			return i, true
		}
	}
	if len(s) > 2 && numeric(s) {
		switch s[len(s)-2:] {
		case "st", "nd", "rd", "th":
			if n, ok := inDigits(s[:len(s)-2]); ok && n >= 1 && n <= 31 {
				return n, true
			}
		}
	}
	return 0, false
}

// numeric reports whether s begins with a digit.
func numeric(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// inDigits reads a whole number in digits. It asks Atoi only about what begins like one, as
// the error that Atoi makes for any other word costs more than the rest of a look.
func inDigits(s string) (int, bool) {
	if !numeric(s) {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

func year(s string) (int, bool) {
	if len(s) != 4 {
		return 0, false
	}
	n, ok := inDigits(s)
	return n, ok && n >= 1900 && n < 2100
}

func isYear(s string) bool { _, ok := year(s); return ok }

// yearAt reads a year from token i on, in digits or words ("nineteen eighty-one", "twenty fifteen", "two thousand and
// nineteen"), and says how many tokens it takes; 0 where there is none.
func (s sentence) yearAt(i int) (y, n int) {
	if y, ok := year(s.at(i)); ok {
		return y, 1
	}
	tens := func(i int) (int, int) {
		a, ok := number(s.at(i))
		if !ok || numeric(s.at(i)) || a < 1 || s.at(i) == "a" || s.at(i) == "an" {
			return 0, 0
		}
		if b, ok := number(s.at(i + 1)); ok && a >= 20 && a%10 == 0 && b > 0 && b < 10 && !numeric(s.at(i+1)) {
			return a + b, 2
		}
		return a, 1
	}
	switch w := s.at(i); {
	case w == "two" && s.at(i+1) == "thousand":
		and := boolInt(s.at(i+2) == "and")
		y, n = 2000, 2
		if rest, more := tens(i + 2 + and); more > 0 {
			y, n = 2000+rest, 2+and+more
		}
	case w == "nineteen" || w == "twenty":
		if rest, more := tens(i + 1); more > 0 && rest >= 10 {
			y, n = map[string]int{"nineteen": 1900, "twenty": 2000}[w]+rest, 1+more
		}
	}
	if next := first(contraction(s.at(i + n))); next != "" && s.toks[i+n].kind == 'w' && !preposition(next) && !subjectPronoun(next) && !joins[next] && next != "when" && next != "so" && !adverb(next) {
		return 0, 0 // "two thousand people"
	}
	return y, n
}
