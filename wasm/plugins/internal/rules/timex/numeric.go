package timex

import (
	"slices"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Dates in digits: 2027-03-15, 15.3.2027, 15.3., 15/3/2027. With slashes, the day or the month may
// come first, so 3/4/2027 is ambiguous: it stays words, and so does a day that does not exist. A
// time of day next to such words is on an unknown day.

// numericDate reads a date in digits at token k into w, and returns how many tokens it takes. A
// date that can't be read makes w void.
func numericDate(s syntax.Sentence, k int, now Moment, w *When) int {
	if k >= len(s.Toks) || s.Toks[k].Kind != 'n' {
		return 0
	}
	mark, p := syntax.Digits(s.At(k))
	switch {
	case len(p) == 3 && syntax.Centuries(p[0]):
		w.on(now, p[0], p[1], p[2])
	case len(p) == 3 && syntax.Centuries(p[2]) && !released[s.At(k-1)]:
		m, d := monthOfPair(s, mark, p[0], p[1])
		w.on(now, p[2], m, d)
	case len(p) == 3 && mark != "-" && syntax.ADay(p[0], p[1]) && s.At(k-1) != "to" && syntax.DayFollows(s, k):
		w.unread(now) // 15/01/27, 12.6.27
	case len(p) == 2 && mark == "." && syntax.ADay(p[0], p[1]):
		return dayAndMonth(s, k, now, w, p[0], p[1])
	case len(p) == 2 && mark == "/" && s.At(k) != "24/7" && syntax.ADay(p[0], p[1]) && !portion[s.At(k+1)] && (syntax.DayFollows(s, k) || dayIs(s, k)):
		m, d := monthOfPair(s, mark, p[0], p[1])
		w.nextOn(now, m, d)
	default:
		return 0
	}
	return 1
}

// dayAndMonth reads 12.6. at token k. After most words, a number with a stop is not a day ("for 1.5
// hours", "from 9.30", "by 3.5"). It is one after "on" and a weekday, and if a whole date follows:
// "from 12.6. to 19.6.2027".
func dayAndMonth(s syntax.Sentence, k int, now Moment, w *When, d, m int) int {
	n := 1 + syntax.BoolInt(s.At(k+1) == ".")
	year := s.UntilYear(k + n)
	switch {
	case stopped(s, k) && syntax.DayFollows(s, k) && year > 0:
		w.on(now, year, m, d)
	case !s.OnDay(k):
		return 0
	case !stopped(s, k): // "on 3.5"
		w.unread(now)
		return 1
	default:
		w.nextOn(now, m, d)
	}
	return n
}

// monthOfPair decides which of two numbers is the month: the second after a stop; with another mark
// the one that can be, or that is one in another date of the sentence; 0 if it is not clear.
func monthOfPair(s syntax.Sentence, mark string, a, b int) (month, day int) {
	switch {
	case mark == "." || a > 12 || a == b:
		return b, a
	case b > 12:
		return a, b
	}
	for i := range s.Toks { // "from 12/06/2027 to 19/06/2027"
		if other, p := syntax.Digits(s.At(i)); other == mark && len(p) == 3 && syntax.Centuries(p[2]) && syntax.ADay(p[0], p[1]) {
			if p[0] > 12 {
				return b, a
			} else if p[1] > 12 {
				return a, b
			}
		}
	}
	return 0, 0
}

// on sets a day by its date; a month that does not exist makes the time void.
func (w *When) on(now Moment, y, m, d int) {
	if m < 1 || m > 12 {
		w.unread(now)
		return
	}
	w.calendar(y, m, d)
}

// unread makes a time void: its words are a day, and it is not known which.
func (w *When) unread(now Moment) {
	w.Void = true
	w.Set(now.Day, 'd')
}

// nextOn sets the next such day, for a date without a year.
func (w *When) nextOn(now Moment, m, d int) {
	if m < 1 || m > 12 {
		w.unread(now)
		return
	}
	w.coming(now, m, d)
	w.Assumed = 12
}

// dayIs reports whether "is" before token k gives the day of an event: "the party is 24/12".
func dayIs(s syntax.Sentence, k int) bool {
	noun, is := s.At(k-2), s.At(k-1)
	if base, rest := syntax.Contraction(is); rest == "is" {
		noun, is = base, rest
	}
	_, event := syntax.EventNoun(noun)
	return is == "is" && (event || noun == "birthday" || noun == "anniversary")
}

// stopped reports whether a stop directly follows token k: 12.6.
func stopped(s syntax.Sentence, k int) bool {
	end := s.Toks[k].End
	return end < len(s.Text) && s.Text[end] == '.'
}

// released are words before the number of a version.
var released = syntax.Set("version v release build firmware update ip")

// portion are words after a fraction.
var portion = syntax.Set("of cup cups hour hours mile miles pound pounds kilo kilos teaspoon teaspoons tablespoon tablespoons pint pints litre litres liter liters price size off full empty done")

// NamesDay reports whether a sentence names a day, even one that can't be read.
func NamesDay(s syntax.Sentence, now Moment) bool {
	return AnyTime(s, now, func(w *When) bool { return w.HasDay })
}

// UnreadAt returns the token at which an unreadable day begins, as in "to Graz on 03/04/2020": it
// is not part of a name. It returns 0 if there is none after the first token.
func UnreadAt(s syntax.Sentence, now Moment) (first int) {
	AnyTime(s, now, func(w *When) bool {
		if w.HasDay && w.Void {
			first = w.First
		}
		return first > 0
	})
	return first
}

// AnyTime reports whether is returns true for one of the times of a sentence.
func AnyTime(s syntax.Sentence, now Moment, is func(*When) bool) bool {
	return slices.ContainsFunc(TimesIn(s, now), func(w When) bool { return is(&w) })
}

// undayed drops the times of day of a sentence that names an unreadable day, because they are on
// that day, and not today.
func undayed(all []When) []When {
	kept := all[:0]
	for _, w := range all {
		if w.HasDay || !w.Clock {
			kept = append(kept, w)
		}
	}
	return kept
}
