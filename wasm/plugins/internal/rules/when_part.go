package rules

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
)

// Parts of a month and of a year, and the year that is meant.

// runAt reads a part of a month or a year: "late May", "end of next month", "first Monday of October", "first half of
// 2025".
func runAt(s sentence, k int, now moment, w *when) int {
	r, ok := calendar.English(s.at, k, now.day)
	if !ok {
		return 0
	}
	if _, event := eventNoun(s.at(r.Next)); event && s.at(k+1) == "quarter" { // our last quarter review
		return 0
	}
	if m := monthOf(s.at(r.Month)); (m == 3 || m == 5) && !s.toks[r.Month].cap && r.Month > k {
		return 0
	}
	if r.Year == 0 {
		return (r.Next - k) * boolInt(w.yearly(now, r.Days))
	}
	if s.at(r.Next-1) == "month" && s.at(r.Next-2) == "the" && weekdayOf(s.at(r.Next-4), false) >= 0 && !s.wasBefore(k) { // "the first Monday of the month": of each
		w.habit = true
		w.set(now.day, 'd')
		return r.Next - k
	}
	first, last, ok := r.Days(r.Year)
	if !ok {
		return 0
	}
	w.ofDays(first, last)
	return r.Next - k
}

// partLeads stand before the part of a year: "in Q3".
var partLeads = set("in by for until till before after during from since")

// quarterAt reads "Q3": three months.
func quarterAt(s sentence, k int, now moment, w *when) int {
	q := s.at(k)
	if _, lead := partLeads[s.at(k-1)]; !lead || len(q) != 2 || q[0] != 'q' || calendar.Named(q) == nil {
		return 0
	}
	w.yearly(now, calendar.Named(q).Days)
	return 1
}

// seasonAt reads "the summer of 2021", "spring 2027", "winter last year", and after "in", where the verb says
// whether it is over, "the spring" alone.
func seasonAt(s sentence, k int, now moment, w *when, lead string) int {
	j := k + boolInt(s.at(k) == "the")
	what := s.at(j)
	p := calendar.Season(what)
	if p == nil {
		return 0
	}
	y, _, _ := date(now.day)
	if y, n := calendar.YearAt(s.at, j+1, y); n > 0 && (lead != "" || j > k || n > 1) {
		w.ofSeason(p, y)
		return j + 1 + n - k
	}
	if lead != "in" || what == "fall" && j == k || !s.restsAt(j+1, make([]bool, len(s.toks))) && !subjectPronoun(first(contraction(s.at(j+1)))) || s.toks[j].cap || !s.once() || s.born() {
		return 0
	}
	w.seasonOf(what, 0, now)
	return j + 1 - k
}

// born reports whether somebody was born, which is of no year that one knows: "I was born in the summer".
func (s sentence) born() bool {
	return slices.ContainsFunc(s.toks, func(t token) bool { return t.s == "born" })
}

// seasonOf sets the season that is or comes next (sign 0), the next that begins (1) or the last that is over (-1), and
// reports whether it is one.
func (w *when) seasonOf(what string, sign int, now moment) bool {
	p := calendar.Season(what)
	if p == nil {
		return false
	}
	w.season = what
	w.yearly(now, p.Days)
	switch {
	case sign < 0:
		w.before(now, true)
		w.assumed = 0
	case sign > 0 && w.day <= now.day:
		y, _, _ := date(w.day)
		w.ofSeason(p, y+1)
	case sign > 0:
		w.assumed = 0
	}
	return true
}

// ofSeason sets a season, or another part, of a year.
func (w *when) ofSeason(p *calendar.Months, y int) {
	if p.Season() {
		w.season = p.Name
	}
	if head, zh := strings.CutSuffix(p.Name, "季"); zh {
		w.season = head + "天"
	}
	first, last, _ := p.Days(y)
	w.ofDays(first, last)
	w.assumed, w.days = 0, nil
}

// inYear reads at token k which year's are the days of w, "two years ago", or what is meant of the year that w is,
// "in the spring". It says how many tokens that takes.
func (w *when) inYear(s sentence, k int, now moment) int {
	switch y, _, _ := date(now.day); {
	case w.habit || w.since:
	case w.days != nil || w.assumed >= 12:
		if y, n := calendar.YearAt(s.at, k, y); n > 0 {
			w.ofYear(y)
			return n
		}
	case w.grain == 'y' && preposition(s.at(k)):
		var in when
		if n := dayPart(s, k, now, &in); n > 0 && (in.days != nil || in.assumed >= 12) && !in.habit {
			y, _, _ = date(w.day)
			in.first, in.zone = w.first, w.zone
			*w = in
			w.ofYear(y)
			return n
		}
	}
	return 0
}

// ofYear moves what comes every year to a year.
func (w *when) ofYear(y int) {
	switch _, m, d := date(w.day); {
	case w.days != nil:
		first, last, ok := w.days(y)
		if w.ofDays(first, last); !ok {
			w.set(dayOf(y, 1, 1), 'y')
			w.last = 0
		}
	case w.last > 0:
		w.last += dayOf(y, m, d) - w.day
		w.day = dayOf(y, m, d)
	case w.grain == 'd':
		w.calendar(y, m, d)
	default:
		w.set(dayOf(y, m, d), w.grain)
	}
	w.assumed, w.days = 0, nil
}
