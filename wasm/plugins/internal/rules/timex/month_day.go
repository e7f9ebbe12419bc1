package timex

import "github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"

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
			if _, _, d := Date(next.Day); next.Assumed == 1 && next.Grain == 'd' && next.Last == 0 && s.At(next.First) == "on" && d <= MonthLength(y, m) {
				w.Set(DayOf(y, m, d), 'd')
				next.Day, next.Assumed = w.Day, w.Assumed
			}
			return
		}
		k := len(s.Toks) - 1
		for k > 0 && s.Toks[k].Kind == 'p' {
			k--
		}
		if d, ok := Ordinal(s.At(k)); ok && k-1 >= w.Next && s.At(k-1) == "the" && !syntax.Preposition(s.At(k-2)) && d > 0 && d <= MonthLength(y, m) {
			w.Set(DayOf(y, m, d), 'd')
		}
	}
}
