package timex

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Parts of a month and of a year, and the year to which they belong.

// runAt reads a part of a month or a year: "late May", "end of next month", "first Monday of October", "first half of
// 2025".
func runAt(s syntax.Sentence, k int, now Moment, w *When) int {
	r, ok := calendar.English(s.At, k, now.Day)
	if !ok {
		return 0
	}
	if _, event := syntax.EventNoun(s.At(r.Next)); event && s.At(k+1) == "quarter" { // our last quarter review
		return 0
	}
	if m := syntax.MonthOf(s.At(r.Month)); (m == 3 || m == 5) && !s.Toks[r.Month].Cap && r.Month > k {
		return 0
	}
	if r.Year == 0 {
		return (r.Next - k) * syntax.BoolInt(w.yearly(now, r.Days))
	}
	if s.At(r.Next-1) == "month" && s.At(r.Next-2) == "the" && syntax.WeekdayOf(s.At(r.Next-4), false) >= 0 && !WasBefore(s, k) { // "the first Monday of the month": in each month
		w.Habit = true
		w.Set(now.Day, 'd')
		return r.Next - k
	}
	first, last, ok := r.Days(r.Year)
	if !ok {
		return 0
	}
	w.ofDays(first, last)
	return r.Next - k
}

// partLeads are words before the part of a year: "in Q3".
var partLeads = syntax.Set("in by for until till before after during from since")

// quarterAt reads "Q3": three months.
func quarterAt(s syntax.Sentence, k int, now Moment, w *When) int {
	q := s.At(k)
	if _, lead := partLeads[s.At(k-1)]; !lead || len(q) != 2 || q[0] != 'q' || calendar.Named(q) == nil {
		return 0
	}
	w.yearly(now, calendar.Named(q).Days)
	return 1
}

// seasonAt reads "the summer of 2021", "spring 2027", "winter last year", and after "in", if the
// verb shows whether it is over, "the spring" alone.
func seasonAt(s syntax.Sentence, k int, now Moment, w *When, lead string) int {
	j := k + syntax.BoolInt(s.At(k) == "the")
	what := s.At(j)
	p := calendar.Season(what)
	if p == nil {
		return 0
	}
	y, _, _ := Date(now.Day)
	if y, n := calendar.YearAt(s.At, j+1, y); n > 0 && (lead != "" || j > k || n > 1) {
		w.ofSeason(p, y)
		return j + 1 + n - k
	}
	if lead != "in" || what == "fall" && j == k || !RestsAt(s, j+1, make([]bool, len(s.Toks))) && !syntax.SubjectPronoun(syntax.FirstOf(syntax.Contraction(s.At(j+1)))) || s.Toks[j].Cap || !once(s) || born(s) {
		return 0
	}
	w.seasonOf(what, 0, now)
	return j + 1 - k
}

// born reports whether somebody was born, in an unknown year: "I was born in the summer".
func born(s syntax.Sentence) bool {
	return slices.ContainsFunc(s.Toks, func(t syntax.Token) bool { return t.S == "born" })
}

// seasonOf sets the season that is now or comes next (sign 0), the next one that begins (1) or the
// last one that is over (-1), and reports whether what is a season.
func (w *When) seasonOf(what string, sign int, now Moment) bool {
	p := calendar.Season(what)
	if p == nil {
		return false
	}
	w.Season = what
	w.yearly(now, p.Days)
	switch {
	case sign < 0:
		w.before(now, true)
		w.Assumed = 0
	case sign > 0 && w.Day <= now.Day:
		y, _, _ := Date(w.Day)
		w.ofSeason(p, y+1)
	case sign > 0:
		w.Assumed = 0
	}
	return true
}

// ofSeason sets a season, or another part, of a year.
func (w *When) ofSeason(p *calendar.Months, y int) {
	if p.Season() {
		w.Season = p.Name
	}
	if head, zh := strings.CutSuffix(p.Name, "季"); zh {
		w.Season = head + "天"
	}
	first, last, _ := p.Days(y)
	w.ofDays(first, last)
	w.Assumed, w.Days = 0, nil
}

// inYear reads at token k in which year the days of w are, "two years ago", which part of the year w
// is meant, "in the spring", or which day of the month w, "on the first Saturday". It returns how many tokens that takes.
func (w *When) inYear(s syntax.Sentence, k int, now Moment) int {
	switch y, _, _ := Date(now.Day); {
	case w.Habit || w.Since:
	case w.Days != nil || w.Assumed >= 12:
		if y, n := calendar.YearAt(s.At, k, y); n > 0 {
			w.ofYear(y)
			return n
		}
		return w.weekdayIn(s, k)
	case w.Grain == 'y' && syntax.Preposition(s.At(k)):
		var in When
		if n := dayPart(s, k, now, &in); n > 0 && (in.Days != nil || in.Assumed >= 12) && !in.Habit {
			y, _, _ = Date(w.Day)
			in.First, in.Zone = w.First, w.Zone
			*w = in
			w.ofYear(y)
			return n
		}
	}
	return 0
}

// ofYear moves a yearly event to a year.
func (w *When) ofYear(y int) {
	switch _, m, d := Date(w.Day); {
	case w.Days != nil:
		first, last, ok := w.Days(y)
		if w.ofDays(first, last); !ok {
			w.Set(DayOf(y, 1, 1), 'y')
			w.Last = 0
		}
	case w.Last > 0:
		w.Last += DayOf(y, m, d) - w.Day
		w.Day = DayOf(y, m, d)
	case w.Grain == 'd':
		w.calendar(y, m, d)
	default:
		w.Set(DayOf(y, m, d), w.Grain)
	}
	w.Assumed, w.Days = 0, nil
}

// Alone reports whether a text is a time and nothing else.
func Alone(text string, now Moment) bool {
	all := syntax.Sentences(text)
	if len(all) != 1 {
		return false
	}
	timed := 0
	for _, w := range FindWhens(all[0], now) {
		timed += w.Next - w.First
	}
	return timed == len(all[0].Toks)
}

// marked reports whether there is a mark between two tokens.
func marked(s syntax.Sentence, from, to int) bool {
	return slices.ContainsFunc(s.Toks[from:to], func(t syntax.Token) bool { return t.Kind == 'p' })
}
