package recall

import (
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/memory"
)

// span is a range of days, both ends included, as days since 1970-01-01 in the speaker's local
// calendar.
type span struct {
	from, to int32
	said     bool // named by month, day or year, not relative
}

func dayOf(t time.Time) int32 {
	y, m, d := t.Date()
	return int32(calendar.Day(y, int(m), d))
}

func dayTime(d int32) time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

// local reads t in a zone by its IANA name; an unknown name leaves t as it is.
func local(t time.Time, zone string) time.Time {
	return t.In(memory.ZoneOr(zone, t.Location()))
}

// found is what a text says about time.
type found struct {
	spans    []span // resolved to days
	month    int    // the month that is named without a year: 1 to 12
	day      int    // the day that is named with that month: 1 to 31
	year     int    // the year that is named
	weekday  int    // the weekday that is named without "last" or "next": 1 Monday to 7 Sunday
	any      bool   // the text has some word of time
	consumed map[int]bool
	named    map[int]bool // words of a feast's name, which a text of that day need not have
}

// timeReader reads the times that words name.
type timeReader struct {
	found
	words []word
	now   time.Time // local; zero: relative times are noticed but not resolved
	today int       // day of now
	text  calendar.Words
	tense *tense // tense of words; nil until it is needed
	of    yearOf
}

// yearOf is a year that was read by itself, and whose part may be read next: "two years ago in the
// spring".
type yearOf struct {
	year, span, next int // the year, the index of its span, and that of the word after it
}

// findTimes reads the times that words name, relative to now (local). If now is zero, relative
// times are noticed but not resolved.
func findTimes(words []word, now time.Time) found {
	r := timeReader{found: found{consumed: map[int]bool{}, named: map[int]bool{}}, words: words, now: now, today: int(dayOf(now))}
	r.text = r.at
	for i, w := range words {
		if r.done(i) {
			continue
		}
		if w.han || w.text[0] <= '9' && i+1 < len(words) && words[i+1].han { // 5月3日
			r.hanTime(i)
			if w.han || r.done(i) {
				continue
			}
		}
		r.englishTime(i)
	}
	return r.found
}

// done reports whether words[i] is part of a time that was read.
func (r *timeReader) done(i int) bool { return r.consumed[i] || r.named[i] }

// at returns the text of words[i], or "" if there is no such word.
func (r *timeReader) at(i int) string {
	if i >= 0 && i < len(r.words) {
		return r.words[i].text
	}
	return ""
}

// add adds a range of days. said means that it was named by month, day or year, so it is known
// without now.
func (r *timeReader) add(from, to int32, said bool) {
	r.any = true
	if (said || !r.now.IsZero()) && len(r.spans) < 8 {
		r.spans = append(r.spans, span{from, to, said})
	}
}

// use marks words as part of a time.
func (r *timeReader) use(at ...int) {
	for _, i := range at {
		r.consumed[i] = true
	}
}

// name marks words as those of a feast's name.
func (r *timeReader) name(from, to int) {
	for ; from <= to; from++ {
		r.named[from] = true
	}
}

// englishTime reads an English time that has its main word at words[i].
func (r *timeReader) englishTime(i int) {
	w := r.words[i]
	if r.englishDay(i) || r.englishPart(i) {
		return
	}
	if m := calendar.MonthNamed(w.text); m > 0 && isMonth(r.words, i) {
		r.englishDate(i, m)
		return
	}
	if d := calendar.Weekdays(w.text); d > 0 && (len(w.text) > 3 || w.capital) {
		r.englishWeekday(i, d)
		return
	}
	if days, ago := strings.CutSuffix(w.text, "s"); ago && r.at(i+1) == "ago" && calendar.Weekdays(days) > 0 { // two Fridays ago
		if n := number(r.at(i - 1)); n > 0 && n < 9 {
			day := nearestWeekday(r.now, calendar.Weekdays(days), false) - 7*int32(n-1)
			r.add(day, day, false)
			r.use(i-1, i, i+1)
		}
		return
	}
	if len(w.text) == 2 && w.text[0] == 'q' && (year(r.at(i+1)) > 0 || quarterLeads[r.at(i-1)]) {
		if q := calendar.Named(w.text); q != nil {
			r.use(i)
			r.yearly(q.Days, i, i+1)
			return
		}
	}
	if n := r.englishFeast(i); n > 0 {
		r.name(i, i+n-1)
		return
	}
	if n := dayOnly(r.words, i); n > 0 && !r.now.IsZero() {
		r.use(i)
		r.day, r.month = n, 0
		d := nearestDay(r.now, n, r.aheadOf(i))
		r.add(d, d, false)
		return
	}
	if y := year(w.text); y > 0 && !r.consumed[i] {
		r.year = y
		r.use(i)
		if !r.numeric(i, y) {
			r.of = yearOf{y, len(r.spans), i + 1}
			from, to := yearSpan(y)
			r.add(from, to, true)
		}
		return
	}
	if unit := timeUnit(w.text); unit != 0 {
		r.relative(i, unit)
	}
}

// englishDay reads a day that is one word: "today", "the day before yesterday".
func (r *timeReader) englishDay(i int) bool {
	d := dayOf(r.now)
	switch r.words[i].text {
	case "today", "tonight":
	case "yesterday":
		d--
		if r.at(i-1) == "before" && r.at(i-2) == "day" {
			d--
			r.use(i-1, i-2)
		}
	case "tomorrow":
		d++
		if r.at(i-1) == "after" && r.at(i-2) == "day" {
			d++
			r.use(i-1, i-2)
		}
	case "recently", "lately":
		r.any = true
		return true
	default:
		return false
	}
	r.add(d, d, false)
	r.use(i)
	return true
}

// englishWeekday reads a day of a week: "last Friday", "Friday next week". Without its week it is
// the last one, or the next if the text speaks of the future.
func (r *timeReader) englishWeekday(i, d int) {
	r.any = true
	r.use(i)
	day := monday(r.now) + int32(d) - 1
	switch which := r.at(i - 1); {
	case r.at(i+1) == "last" && r.at(i+2) == "week":
		day -= 7
		r.use(i+1, i+2)
	case r.at(i+1) == "next" && r.at(i+2) == "week":
		day += 7
		r.use(i+1, i+2)
	case which == "last":
		day = nearestWeekday(r.now, d, false)
		r.use(i - 1)
	case which == "next":
		if day = nearestWeekday(r.now, d, true); day == dayOf(r.now) {
			day += 7
		}
		r.use(i - 1)
	default:
		r.weekday = d
		day = nearestWeekday(r.now, d, r.aheadOf(i))
	}
	r.add(day, day, false)
}

// monday returns the first day of a time's week.
func monday(t time.Time) int32 { return dayOf(t) - (int32(t.Weekday())+6)%7 }

// nearestWeekday returns the last such weekday in the week before now, or the next one from now on;
// 7 is Sunday.
func nearestWeekday(now time.Time, d int, ahead bool) int32 {
	back := (int32(now.Weekday()) - int32(d)%7 + 7) % 7
	switch {
	case ahead:
		return dayOf(now) + (7-back)%7
	case back == 0:
		back = 7
	}
	return dayOf(now) - back
}

// dayOnly reads a day of the month at its number: "on the 20th", if no month and nothing that is
// counted follows, or "and the 20th?" by itself. It returns 0 if there is none.
func dayOnly(words []word, i int) int {
	n := number(words[i].text)
	if i < 1 || n < 1 || n > 31 || words[i].text[0] > '9' || words[i].text[len(words[i].text)-1] <= '9' || words[i-1].text != "the" {
		return 0
	}
	alone := i+1 == len(words) && !slices.ContainsFunc(words[:i], func(w word) bool { return !goesOn[w.text] })
	if !alone && (i < 2 || !dayLeads[words[i-2].text]) {
		return 0
	}
	if i+1 < len(words) && !stopWords[words[i+1].text] || i+1 < len(words) && words[i+1].text == "of" {
		return 0
	}
	return n
}

// dayLeads come before a day of the month: "on the 20th", "the morning of the 9th".
var dayLeads = set(`on by of around about since before after until`)

// goesOn are the words of a question that continues the previous one with another day.
var goesOn = set(`and but so then what how about of for the`)

// nearestDay returns the last day up to now with this number in its month, or the next one from now
// on.
func nearestDay(now time.Time, n int, ahead bool) int32 {
	return int32(calendar.DayOfMonth(int(dayOf(now)), n, ahead))
}
