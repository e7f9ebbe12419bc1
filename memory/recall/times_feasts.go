package recall

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/feast"
)

// daysOf returns the days of a feast in a year; false: they are not known.
func daysOf(t *feast.Feast, y int) (from, to int32, known bool) {
	month, day, ok := t.In(y)
	if !ok {
		return 0, 0, false
	}
	from = dayOf(time.Date(y, time.Month(month), day, 0, 0, 0, 0, time.UTC))
	return from, from + int32(t.Days) - 1, true
}

// feast adds the days of a feast: of a year that is named, or else the last ones or, where the text
// speaks of what is to come, the next.
func (r *timeReader) feast(t *feast.Feast, year int, ahead bool) {
	r.any = true
	if year > 0 {
		r.dropYear(year)
		if from, to, ok := daysOf(t, year); ok {
			r.add(from, to, true)
		}
		return
	}
	if r.now.IsZero() {
		return
	}
	today := dayOf(r.now)
	for _, y := range []int{r.now.Year() + 1, r.now.Year(), r.now.Year() - 1} {
		from, to, ok := daysOf(t, y)
		if ahead && y > r.now.Year() { // unless this year's is still to come
			if this, last, is := daysOf(t, y-1); is && last >= today {
				from, to, ok = this, last, true
			}
		} else if from > today {
			continue
		}
		if ok && (ahead || from <= today) {
			r.add(from, to, false)
			return
		}
	}
}

// hanFeast reads a feast where a run begins, and returns how many characters its name has.
func (r *timeReader) hanFeast(h hanRun) int {
	if digit(before(r.words, h.at[0])) {
		return 0
	}
	if n, size := h.number(3); h.has("大年初", 0) && n > 0 && n < 11 {
		t := *feast.Named("春节")
		t.Days = 1
		before := len(r.spans)
		if r.feast(&t, r.year, r.aheadOf(h.at[0])); len(r.spans) > before {
			s := &r.spans[len(r.spans)-1]
			s.from, s.to = s.from+int32(n)-1, s.from+int32(n)-1
		}
		return 3 + size
	}
	for i := range feast.All {
		t := &feast.All[i]
		if !h.has(t.Words, 0) {
			continue
		}
		n := utf8.RuneCountInString(t.Words)
		if t.Words == "五一" && n < len(h.text) && (digit(h.text[n]) || strings.ContainsRune("月号日点年", h.text[n])) {
			continue
		}
		r.feast(t, r.year, r.aheadOf(h.at[0]))
		if h.has("节", n) {
			n++
		}
		return n
	}
	return 0
}

// beginsFeast reports whether a feast's name stands at a place of the run, maybe after 的.
func (h hanRun) beginsFeast(at int) bool {
	of := h.has("的", at)
	return slices.ContainsFunc(feast.All, func(t feast.Feast) bool { return h.has(t.Words, at) || of && h.has(t.Words, at+1) })
}

// englishFeasts are the feasts by the first word of their names, in the order of [feast.All].
var englishFeasts = func() map[string][]*feast.Feast {
	by := map[string][]*feast.Feast{}
	for i := range feast.All {
		first, _, _ := strings.Cut(feast.All[i].Words, " ")
		by[first] = append(by[first], &feast.All[i])
	}
	return by
}()

// englishFeast reads a feast at words[i], and returns how many words its name has.
func (r *timeReader) englishFeast(i int) int {
	for _, t := range englishFeasts[r.words[i].text] {
		names := strings.Fields(t.Words)
		if r.at(i+len(names)) == "island" || i+len(names) > len(r.words) || !slices.EqualFunc(names, r.words[i:i+len(names)], func(s string, w word) bool { return s == w.text }) {
			continue
		}
		y, end := year(r.at(i+len(names))), i+len(names)
		ahead := r.aheadOf(i)
		switch {
		case y > 0:
			r.year = y
			r.use(end)
		case r.now.IsZero():
		case r.at(end) == "last" && r.at(end+1) == "year":
			y = r.now.Year() - 1
			r.use(end, end+1)
		case r.at(end) == "this" && r.at(end+1) == "year", r.at(i-1) == "this":
			y = r.now.Year()
		case r.at(i-1) == "last":
			ahead = false
			r.use(i - 1)
		case r.at(i-1) == "next":
			ahead = true
			r.use(i - 1)
		}
		r.feast(t, y, ahead)
		if by := r.at(i - 1); r.at(i-2) == "day" && (by == "after" || by == "before") && len(r.spans) > 0 {
			s := &r.spans[len(r.spans)-1] // the day after Christmas
			s.from += int32(t.Main) + 1
			if by == "before" {
				s.from -= 2
			}
			s.to = s.from
		}
		return len(names)
	}
	return 0
}
