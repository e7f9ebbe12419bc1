package recall

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/internal/feast"
)

// feastBegins are the first words of the English names of feasts, and the first characters of the Chinese ones.
var feastBegins = func() map[string]bool {
	begins := map[string]bool{"大": true, "正": true}
	for _, f := range feast.All {
		first, _, _ := strings.Cut(f.Words, " ")
		if first[0] >= utf8.RuneSelf {
			_, wide := utf8.DecodeRuneInString(first)
			first = first[:wide]
		}
		begins[first] = true
	}
	return begins
}()

// hanFeast reads a feast, or the days next to it, at the beginning of a run. It returns how many
// characters that takes, and whether they are only the feast's name.
func (r *timeReader) hanFeast(h hanRun) (n int, alone bool) {
	if !feastBegins[string(h.text[0])] || digit(before(r.words, h.at[0])) {
		return 0, false
	}
	text := string(h.text)
	days, f, n := feast.HanAt(text)
	if n == 0 {
		return 0, false
	}
	beside, took := f.HanBeside(string(h.text[n:]))
	if took > 0 {
		days = beside
	}
	r.yearlyOf(days, r.year, r.aheadOf(h.at[0]))
	return n + took, took == 0
}

// ofYear reports whether a part of a year is at an index of the run, possibly after 的: a month, a
// feast or a season.
func (h hanRun) ofYear(at int) bool {
	if h.has("的", at) {
		at++
	}
	if at >= len(h.text) {
		return false
	}
	if m, size := h.number(at); m >= 1 && m <= 12 && h.has("月", at+size) {
		return true
	}
	text := string(h.text[at:])
	if p, _ := calendar.HanMonths(text); p != nil {
		return true
	}
	_, f, _ := feast.HanAt(text)
	return f != nil
}

// englishFeast reads a feast at words[i], and returns how many words its name has.
func (r *timeReader) englishFeast(i int) int {
	if !feastBegins[r.words[i].text] {
		return 0
	}
	f, n := feast.At(r.text, i)
	before := r.at(i - 1)
	if f == nil || r.at(i+n) == "island" {
		return 0
	}
	days := calendar.Yearly(f.In)
	if f.Words == "new year" {
		switch {
		case before == "the" && r.at(i-2) == "in":
			days = calendar.Months{First: 1, Count: 1}.Days
		case before == "happy", before == "a":
			return 0
		}
	}
	y, ahead := r.yearAt(i, i+n), r.aheadOf(i)
	switch {
	case y > 0:
		r.year = y
	case r.now.IsZero():
	case before == "this":
		y = r.now.Year()
	case before == "last", before == "next":
		ahead = before == "next"
		r.use(i - 1)
	}
	r.yearlyOf(days, y, ahead)
	return n
}

// besideFeast reads "week after Easter" and "two weeks before Christmas" at their unit, and reports
// whether there is one.
func (r *timeReader) besideFeast(i int) bool {
	if by := r.at(i + 1); by != "after" && by != "before" {
		return false
	}
	if calendar.Count(r.at(i-1)) > 0 {
		i--
	}
	days, next, give := feast.Beside(r.text, i)
	if days == nil {
		return false
	}
	for k := i; k < next; k++ {
		r.use(k)
	}
	r.yearly(func(y int) (first, last int, ok bool) {
		first, last, ok = days(y)
		return first - give, last + give, ok
	}, i, next)
	return true
}
