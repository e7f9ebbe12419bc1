package recall

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// span is a run of days, both ends included, as days since 1970-01-01 in the
// local calendar of whoever said it.
type span struct {
	from, to int32
	said     bool // named by month, day or year, not relative
}

func dayOf(t time.Time) int32 {
	y, m, d := t.Date()
	return int32(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

func dayTime(d int32) time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

// local reads t in a zone by its IANA name; an unknown name leaves t as it is.
func local(t time.Time, zone string) time.Time {
	return t.In(memory.ZoneOr(zone, t.Location()))
}

var months = calendar(`january jan:1 february feb:2 march mar:3 april apr:4 may:5 june jun:6 july jul:7 august aug:8
september sep sept:9 october oct:10 november nov:11 december dec:12`)

var weekdays = calendar(`sunday sun:7 monday mon:1 tuesday tue tues:2 wednesday wed:3 thursday thu thurs:4 friday fri:5 saturday sat:6`)

// calendar reads words with the number of a month or weekday after their last.
func calendar(s string) map[string]int {
	m := map[string]int{}
	var wait []string
	for _, w := range strings.Fields(s) {
		name, n, ok := strings.Cut(w, ":")
		wait = append(wait, name)
		if ok {
			v, _ := strconv.Atoi(n)
			for _, x := range wait {
				m[x] = v
			}
			wait = wait[:0]
		}
	}
	return m
}

// found is what a text says of time.
type found struct {
	spans    []span // resolved to days
	month    int    // named without a year: 1 to 12
	day      int    // named beside that month: 1 to 31
	year     int    // named
	weekday  int    // named without "last" or "next": 1 Monday to 7 Sunday
	any      bool   // holds some word of time at all
	consumed map[int]bool
	named    map[int]bool // words of a feast's name, which a text of that day need not have
}

func (f *found) name(from, to int) {
	for ; from <= to; from++ {
		f.named[from] = true
	}
}

// findTimes reads the times that words name, relative to now (local). Zero
// now: relative times are noticed and not resolved.
func findTimes(words []word, now time.Time) found {
	f := found{consumed: map[int]bool{}, named: map[int]bool{}}
	today := dayOf(now)
	known := !now.IsZero()
	add := func(from, to int32, said bool) {
		f.any = true
		if (known || said) && len(f.spans) < 8 {
			f.spans = append(f.spans, span{from, to, said})
		}
	}
	at := func(i int) string {
		if i >= 0 && i < len(words) {
			return words[i].text
		}
		return ""
	}
	use := func(i ...int) {
		for _, n := range i {
			f.consumed[n] = true
		}
	}
	for i := range words {
		if f.consumed[i] || f.named[i] {
			continue
		}
		w := words[i]
		if w.han || w.text[0] <= '9' && i+1 < len(words) && words[i+1].han { // 5月3日
			f.hanTime(words, i, now, add, use)
			if w.han || f.consumed[i] || f.named[i] {
				continue
			}
		}
		switch w.text {
		case "today", "tonight":
			add(today, today, false)
			use(i)
			continue
		case "yesterday":
			d := today - 1
			if at(i-1) == "before" && at(i-2) == "day" {
				d--
				use(i-1, i-2)
			}
			add(d, d, false)
			use(i)
			continue
		case "tomorrow":
			d := today + 1
			if at(i-1) == "after" && at(i-2) == "day" {
				d++
				use(i-1, i-2)
			}
			add(d, d, false)
			use(i)
			continue
		case "recently", "lately":
			f.any = true
			continue
		}
		if m, ok := months[w.text]; ok && f.monthHere(words, i) {
			f.englishDate(words, i, m, now, add, use)
			continue
		}
		if d, ok := weekdays[w.text]; ok && (len(w.text) > 3 || w.capital) {
			f.englishWeekday(words, i, d, now, add, use)
			continue
		}
		if n := f.englishFeast(words, i, now, add, use); n > 0 {
			f.name(i, i+n-1)
			continue
		}
		if n := dayOnly(words, i); n > 0 && known {
			use(i)
			f.day, f.month = n, 0
			d := nearestDay(now, n, aheadOf(words, i))
			add(d, d, false)
			continue
		}
		if y := year(w.text); y > 0 && !f.consumed[i] {
			f.year = y
			use(i)
			if f.numeric(words, i, y, add, use) {
				continue
			}
			add(dayOf(time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC)), dayOf(time.Date(y, 12, 31, 0, 0, 0, 0, time.UTC)), true)
			continue
		}
		if unit := timeUnit(w.text); unit != 0 {
			f.relative(words, i, unit, now, add, use)
		}
	}
	return f
}

// englishWeekday reads a day of a week: "last Friday", "Friday next week". Without its week it is the last one, or
// the next where the text speaks of what is to come.
func (f *found) englishWeekday(words []word, i, d int, now time.Time, add func(int32, int32, bool), use func(...int)) {
	at := func(k int) string {
		if k >= 0 && k < len(words) {
			return words[k].text
		}
		return ""
	}
	f.any = true
	use(i)
	today := dayOf(now)
	monday := today - (int32(now.Weekday())+6)%7
	one := func(day int32, also ...int) {
		use(also...)
		add(day, day, false)
	}
	switch which := at(i - 1); {
	case at(i+1) == "last" && at(i+2) == "week":
		one(monday-7+int32(d)-1, i+1, i+2)
	case at(i+1) == "next" && at(i+2) == "week":
		one(monday+7+int32(d)-1, i+1, i+2)
	case which == "last":
		one(nearestWeekday(now, d, false), i-1)
	case which == "next":
		ahead := nearestWeekday(now, d, true)
		if ahead == today {
			ahead += 7
		}
		one(ahead, i-1)
	default:
		f.weekday = d
		one(nearestWeekday(now, d, aheadOf(words, i)))
	}
}

// nearestWeekday returns the last such day of the week before now, or the next from now on; 7 is Sunday.
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

// dayOnly reads "on the 20th" at its number, where no month and nothing that is counted follows, and "and the
// 20th?", which says nothing else; 0: it is none.
func dayOnly(words []word, i int) int {
	n := number(words[i].text)
	if i < 1 || n < 1 || n > 31 || words[i].text[0] > '9' || words[i].text[len(words[i].text)-1] <= '9' || words[i-1].text != "the" {
		return 0
	}
	alone := i+1 == len(words) && !slices.ContainsFunc(words[:i], func(w word) bool { return !goesOn[w.text] })
	if !alone && (i < 2 || words[i-2].text != "on" && words[i-2].text != "by") {
		return 0
	}
	if i+1 < len(words) && !stopWords[words[i+1].text] || i+1 < len(words) && words[i+1].text == "of" {
		return 0
	}
	return n
}

// goesOn are the words of a question that goes on from the one before it, to another day.
var goesOn = set(`and but so then what how about of for the`)

// nearestDay returns the last day with a number in its month up to now, or the next from now on.
func nearestDay(now time.Time, n int, ahead bool) int32 {
	step := -1
	if ahead {
		step = 1
	}
	for k := 0; ; k += step {
		t := time.Date(now.Year(), now.Month()+time.Month(k), n, 0, 0, 0, 0, time.UTC)
		if d := dayOf(t); t.Day() == n && (ahead && d >= dayOf(now) || !ahead && d <= dayOf(now)) {
			return d
		}
	}
}

// number reads 3, 3rd, three; 0 where it is none.
func number(s string) int {
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz")
	switch rest := s[len(digits):]; {
	case digits != "" && (rest == "" || rest == "st" || rest == "nd" || rest == "rd" || rest == "th"):
		n, err := strconv.Atoi(digits)
		if err != nil {
			return 0
		}
		return n
	case digits == "":
		if s == "a" || s == "an" {
			return 1
		}
		n, _ := strconv.Atoi(irregular[s])
		return n
	}
	return 0
}

func year(s string) int {
	if len(s) != 4 {
		return 0
	}
	y, err := strconv.Atoi(s)
	if err != nil || y < 1900 || y > 2100 {
		return 0
	}
	return y
}

// timeUnit is the length of a unit in days; 0: not a unit.
func timeUnit(s string) int32 {
	switch strings.TrimSuffix(s, "s") {
	case "day":
		return 1
	case "week":
		return 7
	case "weekend":
		return 6
	case "month":
		return 30
	case "year":
		return 365
	}
	switch s {
	case "summer", "winter", "spring", "autumn", "fall":
		return 90
	case "night", "evening", "morning", "afternoon":
		return 2
	}
	return 0
}

// relative reads "last week", "two months ago", "the week before", "in three days".
func (f *found) relative(words []word, i int, unit int32, now time.Time, add func(int32, int32, bool), use func(...int)) {
	at := func(k int) string {
		if k >= 0 && k < len(words) {
			return words[k].text
		}
		return ""
	}
	today := dayOf(now)
	n := int32(0)
	switch at(i - 1) {
	case "last", "past", "previous":
		n = -1
	case "this":
		n = 0
	case "next", "coming", "following":
		n = 1
	default:
		count := int32(number(at(i - 1)))
		switch {
		case at(i-1) == "few" || at(i-1) == "couple" || at(i-1) == "several" || at(i-1) == "of" && at(i-2) == "couple":
			count = 3
		}
		if count == 0 || count > 1000 {
			return
		}
		switch {
		case at(i+1) == "ago" || at(i+1) == "back" || at(i+1) == "earlier":
			d := today - count*natural(unit)
			slack := unit / 4
			add(d-slack, d+slack, false)
			use(i, i-1, i+1)
		case at(i-2) == "in" || at(i+1) == "later":
			d := today + count*natural(unit)
			add(d, d+unit/4, false)
			use(i, i-1)
		default:
			f.any = f.any || unit >= 1 && at(i-2) == "for"
		}
		return
	}
	use(i, i-1)
	from, to := period(now, unit, n, words[i].text)
	add(from, to, false)
}

func natural(unit int32) int32 {
	switch unit {
	case 2:
		return 1
	case 6:
		return 7
	}
	return unit
}

// period returns the days of this unit (n is 0), the last one (-1) or the next
// one (1).
func period(now time.Time, unit, n int32, name string) (from, to int32) {
	today := dayOf(now)
	monday := today - (int32(now.Weekday())+6)%7
	switch unit {
	case 1, 2:
		return today + n, today + n
	case 7:
		return monday + 7*n, monday + 7*n + 6
	case 6:
		return monday + 7*n + 5, monday + 7*n + 6
	case 30:
		t := time.Date(now.Year(), now.Month()+time.Month(n), 1, 0, 0, 0, 0, time.UTC)
		return monthSpan(t.Year(), int(t.Month()))
	case 365:
		y := now.Year() + int(n)
		return dayOf(time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC)), dayOf(time.Date(y, 12, 31, 0, 0, 0, 0, time.UTC))
	}
	start := map[string]time.Month{"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}[name]
	y := now.Year() + int(n)
	if n < 0 && now.Month() >= start+3 {
		y++ // "last summer" said in autumn is this year's
	}
	from = dayOf(time.Date(y, start, 1, 0, 0, 0, 0, time.UTC))
	return from, dayOf(time.Date(y, start+3, 0, 0, 0, 0, 0, time.UTC))
}
