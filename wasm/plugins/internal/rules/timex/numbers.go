package timex

import "github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"

var ordinals = [...]string{"", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first"}

// Ordinal returns the number of "third" and "3rd".
func Ordinal(s string) (int, bool) {
	if s == "" {
		return 0, false
	}
	switch s[0] {
	case 'f', 's', 't', 'e', 'n', '1', '2', '3', '4', '5', '6', '7', '8', '9', '0':
	default:
		return 0, false // no ordinal begins like that
	}
	for i, w := range ordinals {
		if i > 0 && s == w {
			return i, true
		}
	}
	if len(s) > 2 && syntax.Numeric(s) {
		switch s[len(s)-2:] {
		case "st", "nd", "rd", "th":
			if n, ok := syntax.InDigits(s[:len(s)-2]); ok && n >= 1 && n <= 31 {
				return n, true
			}
		}
	}
	return 0, false
}

func year(s string) (int, bool) {
	if len(s) != 4 {
		return 0, false
	}
	n, ok := syntax.InDigits(s)
	return n, ok && n >= 1900 && n < 2100
}

// IsYear reports whether a number may be a year.
func IsYear(s string) bool { _, ok := year(s); return ok }

// yearAt reads a year from token i on, in digits or words ("nineteen eighty-one", "twenty fifteen",
// "two thousand and nineteen"), and returns how many tokens it takes; 0 if there is none.
func yearAt(s syntax.Sentence, i int) (y, n int) {
	if y, ok := year(s.At(i)); ok {
		return y, 1
	}
	tens := func(i int) (int, int) {
		a, ok := syntax.Number(s.At(i))
		if !ok || syntax.Numeric(s.At(i)) || a < 1 || s.At(i) == "a" || s.At(i) == "an" {
			return 0, 0
		}
		if b, ok := syntax.Number(s.At(i + 1)); ok && a >= 20 && a%10 == 0 && b > 0 && b < 10 && !syntax.Numeric(s.At(i+1)) {
			return a + b, 2
		}
		return a, 1
	}
	switch w := s.At(i); {
	case w == "two" && s.At(i+1) == "thousand":
		and := syntax.BoolInt(s.At(i+2) == "and")
		y, n = 2000, 2
		if rest, more := tens(i + 2 + and); more > 0 {
			y, n = 2000+rest, 2+and+more
		}
	case w == "nineteen" || w == "twenty":
		if rest, more := tens(i + 1); more > 0 && rest >= 10 {
			y, n = map[string]int{"nineteen": 1900, "twenty": 2000}[w]+rest, 1+more
		}
	}
	if next := syntax.FirstOf(syntax.Contraction(s.At(i + n))); next != "" && s.Toks[i+n].Kind == 'w' && !syntax.Preposition(next) && !syntax.SubjectPronoun(next) && !syntax.Joins[next] && next != "when" && next != "so" && !syntax.Adverb(next) {
		return 0, 0 // "two thousand people"
	}
	return y, n
}
