package rules

import (
	"slices"
	"strings"
)

// Dates in digits: 2027-03-15, 15.3.2027, 15.3., 15/3/2027. With slashes the day or the month may
// stand first, so nobody can read 3/4/2027: it stays words, as a day does that does not exist. A
// time of day that is said beside such words is of no known day.

// numericDate reads a date in digits at token k into w, and says how many tokens it takes. What is
// a date and cannot be read makes w void.
func numericDate(s sentence, k int, now moment, w *when) int {
	if k >= len(s.toks) || s.toks[k].kind != 'n' {
		return 0
	}
	mark, p := digits(s.at(k))
	switch {
	case len(p) == 3 && centuries(p[0]):
		w.on(now, p[0], p[1], p[2])
	case len(p) == 3 && centuries(p[2]) && !released[s.at(k-1)]:
		m, d := s.monthOfPair(mark, p[0], p[1])
		w.on(now, p[2], m, d)
	case len(p) == 3 && mark != "-" && aDay(p[0], p[1]) && s.at(k-1) != "to" && dayFollows(s, k):
		w.unread(now) // 15/01/27, 12.6.27
	case len(p) == 2 && mark == "." && aDay(p[0], p[1]):
		return s.dayAndMonth(k, now, w, p[0], p[1])
	case len(p) == 2 && mark == "/" && s.at(k) != "24/7" && aDay(p[0], p[1]) && !portion[s.at(k+1)] && (dayFollows(s, k) || dayIs(s, k)):
		m, d := s.monthOfPair(mark, p[0], p[1])
		w.nextOn(now, m, d)
	default:
		return 0
	}
	return 1
}

// dayAndMonth reads 12.6. at token k. After most words a number with a stop is no day ("for 1.5
// hours", "from 9.30", "by 3.5"), so it is one after "on" and a weekday, and where a whole date
// follows: "from 12.6. to 19.6.2027".
func (s sentence) dayAndMonth(k int, now moment, w *when, d, m int) int {
	n := 1 + boolInt(s.at(k+1) == ".")
	year := s.untilYear(k + n)
	switch {
	case stopped(s, k) && dayFollows(s, k) && year > 0:
		w.on(now, year, m, d)
	case !s.onDay(k):
		return 0
	case !stopped(s, k): // "on 3.5"
		w.unread(now)
		return 1
	default:
		w.nextOn(now, m, d)
	}
	return n
}

// onDay reports whether "on" or a weekday stands before token k.
func (s sentence) onDay(k int) bool {
	return s.at(k-1) == "on" || weekdayOf(s.at(k-1), true) >= 0 || s.at(k-1) == "," && weekdayOf(s.at(k-2), false) >= 0
}

// untilYear is the year of a date to which token k leads: "to 19.6.2027"; 0: there is none.
func (s sentence) untilYear(k int) int {
	if _, end := digits(s.at(k + 1)); between(s.at(k)) && len(end) == 3 && centuries(end[2]) {
		return end[2]
	}
	return 0
}

// digits takes a token of two or three numbers and one kind of mark apart; no parts: it is none.
func digits(t string) (mark string, parts []int) {
	for _, mark = range [...]string{"-", "/", "."} {
		fields := strings.Split(t, mark)
		if len(fields) != 2 && len(fields) != 3 {
			continue
		}
		for _, f := range fields {
			n, ok := inDigits(f)
			if !ok || len(f) > 4 || len(f) == 3 {
				return "", nil
			}
			parts = append(parts, n)
		}
		return mark, parts
	}
	return "", nil
}

func centuries(n int) bool { return n >= 1900 && n < 2100 }

// aDay reports whether two numbers can be a day and a month, in either order.
func aDay(a, b int) bool { return a > 0 && b > 0 && min(a, b) <= 12 && max(a, b) <= 31 }

// monthOfPair says which of two numbers is the month: the second after a stop, and with another
// mark the one that can be, or that is in another date of the sentence; 0 where nobody can say.
func (s sentence) monthOfPair(mark string, a, b int) (month, day int) {
	switch {
	case mark == "." || a > 12 || a == b:
		return b, a
	case b > 12:
		return a, b
	}
	for i := range s.toks { // "from 12/06/2027 to 19/06/2027"
		if other, p := digits(s.at(i)); other == mark && len(p) == 3 && centuries(p[2]) && aDay(p[0], p[1]) {
			if p[0] > 12 {
				return b, a
			} else if p[1] > 12 {
				return a, b
			}
		}
	}
	return 0, 0
}

// on sets a day by its date; a month that there is not makes the time void.
func (w *when) on(now moment, y, m, d int) {
	if m < 1 || m > 12 {
		w.unread(now)
		return
	}
	w.calendar(y, m, d)
}

// unread makes a time void: its words are a day, and nobody knows which.
func (w *when) unread(now moment) {
	w.void = true
	w.set(now.day, 'd')
}

// nextOn sets the next such day of a year that nobody said.
func (w *when) nextOn(now moment, m, d int) {
	if m < 1 || m > 12 {
		w.unread(now)
		return
	}
	w.coming(now, m, d)
	w.assumed = 12
}

// dayFollows reports whether the word before token k leads to a day.
func dayFollows(s sentence, k int) bool {
	switch s.at(k - 1) {
	case "on", "by", "until", "till", "since", "before", "after", "from", "for", "to", "在", "是", "于", "到", "从":
		return true
	case ",":
		return weekdayOf(s.at(k-2), false) >= 0
	}
	return weekdayOf(s.at(k-1), true) >= 0
}

// dayIs reports whether "is" before token k gives the day of an event: "the party is 24/12".
func dayIs(s sentence, k int) bool {
	noun, is := s.at(k-2), s.at(k-1)
	if base, rest := contraction(is); rest == "is" {
		noun, is = base, rest
	}
	_, event := eventNoun(noun)
	return is == "is" && (event || noun == "birthday" || noun == "anniversary")
}

// stopped reports whether a stop follows token k at once: 12.6.
func stopped(s sentence, k int) bool {
	end := s.toks[k].end
	return end < len(s.text) && s.text[end] == '.'
}

// dayStop reports whether the stop at token i is part of a date within a sentence: "on 12.6. at
// two".
func dayStop(toks []token, i int) bool {
	if i < 2 || toks[i-1].kind != 'n' || toks[i-1].end != toks[i].start || toks[i+1].kind != 'w' || toks[i+1].cap {
		return false
	}
	mark, p := digits(toks[i-1].s)
	s := sentence{toks: toks}
	return len(p) == 2 && mark == "." && aDay(p[0], p[1]) && p[1] <= 12 && (s.onDay(i-1) || dayFollows(s, i-1) && s.untilYear(i+1) > 0)
}

// released words stand before the number of a version.
var released = set("version v release build firmware update ip")

// portion words follow a fraction.
var portion = set("of cup cups hour hours mile miles pound pounds kilo kilos teaspoon teaspoons tablespoon tablespoons pint pints litre litres liter liters price size off full empty done")

// namesDay reports whether a sentence names a day, also one that cannot be read.
func namesDay(s sentence, now moment) bool {
	return anyTime(s, now, func(w *when) bool { return w.hasDay })
}

// unreadAt is the token at which a day begins that cannot be read, as in "to Graz on 03/04/2020": it
// is no part of a name. 0: there is none after the first token.
func unreadAt(s sentence, now moment) (first int) {
	anyTime(s, now, func(w *when) bool {
		if w.hasDay && w.void {
			first = w.first
		}
		return first > 0
	})
	return first
}

// toldAt is when something was that a sentence tells without its day: when it was told, and 0 where
// the day is named and cannot be read.
func (t *talk) toldAt(s sentence) int64 {
	if anyTime(s, t.now, func(w *when) bool { return w.hasDay && w.void }) {
		return 0
	}
	return t.ev.At
}

func anyTime(s sentence, now moment, is func(*when) bool) bool {
	return slices.ContainsFunc(timesIn(s, now), func(w when) bool { return is(&w) })
}

// undayed drops the times of day of a sentence that names a day which cannot be read: they are of
// that day, and not of today.
func undayed(all []when) []when {
	kept := all[:0]
	for _, w := range all {
		if w.hasDay || !w.clock {
			kept = append(kept, w)
		}
	}
	return kept
}
