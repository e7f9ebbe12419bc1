package timex

import (
	"slices"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// dayOfNamedMonth sets the day that a sentence says apart from its month: "we're getting married in
// June, in Leeds, the twentieth", "in October, on the fifth".
func dayOfNamedMonth(s syntax.Sentence, whens []When) {
	for i := range whens {
		w := &whens[i]
		if w.Grain != 'M' || w.Assumed != 12 || w.Habit || w.Since || w.Last > 0 || s.Chinese() {
			continue
		}
		y, m, _ := Date(w.Day)
		if i+1 < len(whens) {
			next := &whens[i+1]
			if _, _, d := Date(next.Day); bareDay(*next) && s.At(next.First) == "on" && ofOneClause(s, w.Next, next.First) && d <= MonthLength(y, m) {
				w.Set(DayOf(y, m, d), 'd')
				next.Day, next.Assumed = w.Day, w.Assumed
			}
			return
		}
		for k := w.Next + 1; k < len(s.Toks); k++ {
			ends := k+1 == len(s.Toks) || s.Toks[k+1].Kind == 'p' || s.At(k+1) == "i"
			if d, ok := Ordinal(s.At(k)); ok && ends && s.At(k-1) == "the" && !syntax.Preposition(s.At(k-2)) && ofOneClause(s, w.Next, k) && d > 0 && d <= MonthLength(y, m) {
				w.Set(DayOf(y, m, d), 'd')
				break
			}
		}
	}
}

// ofOneClause reports whether no other clause begins between two tokens.
func ofOneClause(s syntax.Sentence, i, j int) bool {
	for ; i < j; i++ {
		base, rest := syntax.Contraction(s.At(i))
		if base == "and" || base == "but" || syntax.SubjectPronoun(base) || rest != "" && rest != "is" {
			return false
		}
	}
	return true
}

// OfMonthBefore sets the month of a bare day of the month to the one to come that the sentence named
// in an earlier clause: "Mum's sixty next month, we've booked a table for the eighteenth", 我们十一月去日本，六号出发.
func OfMonthBefore(said, s syntax.Sentence, whens []When, now Moment) {
	if said.Text != s.Text || s.Start <= said.Start || !slices.ContainsFunc(whens, bareDay) || over(said, s.Start) {
		return
	}
	for _, o := range TimesIn(said, now) {
		if o.Grain != 'M' || o.Habit || o.Since || o.Void || o.Last > 0 || o.Day <= now.Day || said.Toks[o.First].Start >= s.Start {
			continue
		}
		y, m, _ := Date(o.Day)
		for i := range whens {
			w := &whens[i]
			if _, _, d := Date(w.Day); bareDay(*w) && d <= MonthLength(y, m) {
				w.Set(DayOf(y, m, d), 'd')
			}
		}
	}
}

// bareDay reports whether a time is a day of the month whose month was not said.
func bareDay(w When) bool { return w.Assumed == 1 && w.Grain == 'd' && w.Last == 0 }

// over reports whether the words of a sentence before a byte tell of what is past.
func over(s syntax.Sentence, end int) bool {
	for _, tok := range s.Toks {
		if _, past, _ := syntax.Lemma(tok.S); tok.Start < end && (past || tok.S == "was" || tok.S == "were" || tok.S == "了" || tok.S == "过") {
			return true
		}
	}
	return false
}

// weekdayIn reads at token i which day of a month that was just named is meant: "in October, on the
// first Saturday". For "in June, on the Saturday after school breaks up", it is not known which one
// that is, and the time stays the month. It returns how many tokens that takes.
func (w *When) weekdayIn(s syntax.Sentence, i int) int {
	if w.Grain != 'M' || w.Assumed != 12 || w.Last > 0 {
		return 0
	}
	k := i + syntax.BoolInt(s.At(i) == ",")
	if s.At(k) != "on" || s.At(k+1) != "the" {
		return 0
	}
	if d := syntax.WeekdayOf(s.At(k+2), true); d >= 0 {
		return k + 3 - i
	}
	d := syntax.WeekdayOf(s.At(k+3), true)
	nth, counted := Ordinal(s.At(k + 2))
	if d < 0 || s.At(k+2) != "last" && (!counted || nth > 5) {
		return 0
	}
	y, m, _ := Date(w.Day)
	first := DayOf(y, m, 1)
	day := first + Mod(d-(Moment{Day: first}).Weekday(), 7) + 7*(nth-1)
	if last := first + MonthLength(y, m) - 1; !counted {
		day = last - Mod((Moment{Day: last}).Weekday()-d, 7)
	} else if day > last {
		w.Void = true
		return k + 4 - i
	}
	w.Set(day, 'd')
	return k + 4 - i
}
