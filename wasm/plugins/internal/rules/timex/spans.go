package timex

import (
	"slices"
	"strconv"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Spans of days and of hours have both ends: When.Last and When.Until.

// datedSpan reads "May 3 to 10", "3 May to 2 June", "May 3rd to June 2nd".
func datedSpan(s syntax.Sentence, k int, now Moment, w *When) int {
	m, first, n := monthAndDay(s, k)
	if n == 0 || !syntax.Between(s.At(k+n)) {
		return 0
	}
	j := k + n + 1
	m2, last, n2 := monthAndDay(s, j)
	if n2 == 0 {
		at := j
		if s.At(at) == "the" {
			at++
		}
		if last, n2 = Day31(s.At(at)); n2 == 0 {
			return 0
		}
		if m2, n2 = m, at+1-j; last < first { // 20 December to the 3rd
			m2 = m%12 + 1
		}
		switch s.At(at + 1) {
		case "am", "pm", "people", "days", "weeks", "o'clock":
			return 0
		}
	}
	j += n2
	j += monthDay(s, j, m, first, now, w)
	w.end(m2, last)
	return j - k
}

// monthAndDay reads a month with a day, in either order.
func monthAndDay(s syntax.Sentence, i int) (m, d, n int) {
	if s.At(i) == "the" {
		if d, n = Day31(s.At(i + 1)); n > 0 && s.At(i+2) == "of" && syntax.MonthOf(s.At(i+3)) > 0 {
			return syntax.MonthOf(s.At(i + 3)), d, 4
		}
		return 0, 0, 0
	}
	if m = syntax.MonthOf(s.At(i)); m > 0 && i < len(s.Toks) && s.Toks[i].Cap {
		if d, n = Day31(s.At(i + 1)); n > 0 {
			return m, d, 2
		}
		return 0, 0, 0
	}
	if d, n = Day31(s.At(i)); n > 0 {
		if m = syntax.MonthOf(s.At(i + 1)); m > 0 && s.Toks[i+1].Cap {
			return m, d, 2
		}
	}
	return 0, 0, 0
}

// end ends a span of days on a day of a month, which is not before its beginning.
func (w *When) end(m, d int) {
	y, _, _ := Date(w.Day)
	for range 2 {
		if d > MonthLength(y, m) {
			break
		}
		if last := DayOf(y, m, d); last > w.Day {
			w.Last = last
			return
		}
		y++
	}
	w.Void = true
}

// hourAt reads an hour with its minutes: "3", "three", "3:30", "3pm", "half past three"; half is 1
// before noon, 2 after, 0 if it does not say.
func hourAt(s syntax.Sentence, i int) (minute, half, n int) {
	t := s.At(i)
	if t == "noon" || t == "midday" {
		return 12 * 60, 2, 1
	}
	if t == "half" && s.At(i+1) == "past" {
		if h, ok := syntax.Number(s.At(i + 2)); ok && h >= 1 && h <= 12 {
			return h%12*60 + 30, 0, 3
		}
		return 0, 0, 0
	}
	for k, x := range [...]string{"am", "pm"} {
		if rest, ok := strings.CutSuffix(t, x); ok && syntax.Numeric(rest) {
			t, half = rest, k+1
		}
	}
	h, m := 0, 0
	if hh, mm, ok := strings.Cut(t, ":"); ok {
		var e1, e2 error
		h, e1 = strconv.Atoi(hh)
		m, e2 = strconv.Atoi(mm)
		if e1 != nil || e2 != nil || h > 23 || m > 59 {
			return 0, 0, 0
		}
		if h > 12 || strings.HasPrefix(hh, "0") {
			half = 1 + h/12
		}
	} else if h, ok = syntax.Number(t); !ok || h < 1 || h > 12 || t == "a" || t == "an" {
		return 0, 0, 0
	}
	n = 1
	switch x := s.At(i + 1); {
	case half > 0:
	case x == "am" || x == "pm":
		half, n = 1+syntax.BoolInt(x == "pm"), 2
	case x == "o'clock":
		n = 2
	}
	switch {
	case half == 2 && h < 12:
		h += 12
	case half == 1 && h == 12:
		h = 0
	}
	return h*60 + m, half, n
}

// clockSpan reads "from 3 to 5 pm", "9 am to noon", "15:00-16:30".
func clockSpan(s syntax.Sentence, i int, w *When) int {
	k := i
	lead := s.At(k) == "from" || s.At(k) == "between"
	if lead {
		k++
	}
	if a, b, ok := strings.Cut(s.At(k), "-"); ok && strings.Contains(a, ":") && strings.Contains(b, ":") { // 15:00-16:30
		first, _, n := hourAt(syntax.Sentence{Toks: syntax.Lex(a)}, 0)
		last, _, n2 := hourAt(syntax.Sentence{Toks: syntax.Lex(b)}, 0)
		if n == 0 || n2 == 0 || last <= first {
			return 0
		}
		w.Minute, w.Clock, w.ByPart, w.Sure, w.Until = first, true, false, true, last
		return k + 1 - i
	}
	first, half, n := hourAt(s, k)
	if n == 0 || !syntax.Between(s.At(k+n)) && !(s.At(i) == "between" && s.At(k+n) == "and") {
		return 0
	}
	j := k + n + 1
	last, half2, n2 := hourAt(s, j)
	if n2 == 0 {
		return 0
	}
	till := s.At(k+n) == "till" || s.At(k+n) == "until"
	if till && half == 0 && half2 == 0 && !uncounted[s.At(j+n2)] && s.Toks[k].Kind == 'w' && s.Toks[j].Kind == 'w' && !counting(s, k) {
		return tillSpan(s, first, last, j+n2-i, w)
	}
	colons := strings.Contains(s.At(k), ":") || strings.Contains(s.At(j), ":")
	dated := w.HasDay
	switch next := s.At(j + n2); next {
	case "on", "today", "tonight", "tomorrow", "yesterday", "this", "next", "last":
		dated = true
	default:
		dated = dated || syntax.WeekdayOf(next, true) >= 0
	}
	if half == 0 && half2 == 0 && !colons && !(lead && dated) {
		return 0 // three to five what?
	}
	if syntax.MonthOf(s.At(j+n2)) > 0 || s.At(j+n2) == "of" {
		return 0
	}
	if half == 0 && half2 == 2 && first < 12*60 && first+12*60 < last {
		first += 12 * 60
	}
	if half == 0 && half2 == 0 && first < 7*60 {
		first += 12 * 60
	}
	for last <= first && half2 == 0 {
		last += 12 * 60
	}
	if last <= first || last >= 24*60 {
		return 0
	}
	w.Minute, w.Clock, w.ByPart, w.Sure, w.Until = first, true, false, true, last
	return j + n2 - i
}

// tillSpan reads "two till ten", the hours of a working day. At night, and with the days of a week,
// they are not a single time. n is how many tokens they take.
func tillSpan(s syntax.Sentence, first, last, n int, w *When) int {
	if first < 6*60 {
		first += 12 * 60
	}
	if last <= first {
		last += 12 * 60
	}
	night := slices.ContainsFunc(s.Toks, func(t syntax.Token) bool { return t.S == "nights" || t.S == "night" })
	if last <= first || night || last >= 24*60 || w.HasDay && (w.Grain != 'd' || w.Last > 0) {
		w.Void = w.Void || !w.HasDay
		return n
	}
	w.Minute, w.Clock, w.ByPart, w.Sure, w.Until = first, true, false, true, last
	return n
}

// counting reports whether the number at token k is part of a count: "I counted from one till ten".
func counting(s syntax.Sentence, k int) bool {
	for i := max(0, k-3); i < k; i++ {
		if l, _, _ := syntax.Lemma(s.At(i)); l == "count" || l == "grow" {
			return true
		}
	}
	return false
}

// pastTheHour reads "ten past four", "twenty to three", "five minutes to six" at token k; lead says
// that a word before it makes it a time of day.
func pastTheHour(s syntax.Sentence, k int, lead bool) (hour, minute, n int) {
	m, ok := syntax.Number(s.At(k))
	if !ok || m < 1 || m > 29 || s.At(k) == "a" || s.At(k) == "an" {
		return 0, 0, 0
	}
	j := k + 1
	if s.At(j) == "minutes" {
		j++
	}
	to := s.At(j) == "to"
	h, ok := syntax.Number(s.At(j + 1))
	if !ok || h < 1 || h > 12 || s.At(j) != "past" && !(to && lead) {
		return 0, 0, 0
	}
	switch s.At(j + 2) {
	case "people", "days", "weeks", "months", "years", "hours", "minutes", "times", "percent", "euros", "dollars", "pounds", "pm", "am":
		if to {
			return 0, 0, 0
		}
	}
	if to {
		return before(h), 60 - m, j + 2 - k
	}
	return h, m, j + 2 - k
}

// before returns the previous hour of the clock.
func before(h int) int {
	if h == 1 {
		return 12
	}
	return h - 1
}

// daysZh reads what follows a day to make it a span: 到十号, 至6月2日.
func daysZh(s syntax.Sentence, i int, w *When) int {
	if !syntax.Between(s.At(i)) {
		return 0
	}
	k := i + 1
	_, m, first := Date(w.Day)
	d, n := NumberZh(s, k)
	if n > 0 && s.At(k+n) == "月" {
		m, k = d, k+n+1
		d, n = NumberZh(s, k)
	} else if n > 0 && d < first { // 20号到3号
		m = m%12 + 1
	}
	if n == 0 || s.At(k+n) != "号" && s.At(k+n) != "日" || m < 1 || m > 12 || d < 1 {
		return 0
	}
	w.end(m, d)
	return k + n + 1 - i
}

// hoursZh reads what follows a time of day to make it a span: 到五点, 到下午四点半.
func hoursZh(s syntax.Sentence, i int, now Moment, w *When) int {
	if !syntax.Between(s.At(i)) {
		return 0
	}
	end := When{Day: w.Day, HasDay: true}
	n := clockPartZh(s, i+1, now, &end)
	if n == 0 || end.ByPart || end.Void {
		return 0
	}
	if end.Minute <= w.Minute && end.Minute < 12*60 {
		end.Minute += 12 * 60
	}
	if end.Minute <= w.Minute {
		return 0
	}
	w.Until = end.Minute
	return n + 1
}

// Closed ends a span whose ends are two times of a clause, "from Monday to Wednesday", 周五到周日, "from
// 2015 to 2019", and returns its end in ms since 1970; the second time is then not before the
// first. It returns 0 if w does not begin a span.
func Closed(s syntax.Sentence, whens []When, w *When, now Moment, past bool) int64 {
	if end := w.over(); end != 0 {
		return end
	}
	if !w.HasDay || w.Habit {
		return 0
	}
	for k := range whens {
		e := &whens[k]
		joined := e.First == w.Next && syntax.Between(s.At(e.First)) || e.First == w.Next+1 && (syntax.Between(s.At(w.Next)) || s.At(w.Next) == "and" && s.At(w.First-1) == "between") ||
			e.First == w.Next && s.Chinese() && e.Weekday && e.Day == w.Day+1 // 周四周五
		if !joined || !e.HasDay || e.Habit || e.Void {
			continue
		}
		if past {
			e.Past(now)
		}
		for e.Weekday && e.Day < w.Day {
			e.Day += 7
		}
		for e.Weekday && e.Day-w.Day > 6 {
			e.Day -= 7
		}
		e.Weekday = false
		last := e.Day
		switch y, m, _ := Date(e.Day); e.Grain {
		case 'y':
			last = DayOf(y, 12, 31)
		case 'M':
			last = DayOf(y, m, MonthLength(y, m))
		case 'w':
			last = e.Day + 6
		}
		if e.Last > 0 {
			last = e.Last
		}
		if last < w.Day {
			return 0
		}
		if e.Clock {
			return e.Unix()
		}
		return Moment{last, 24*60 - 1, w.Zone}.Unix()
	}
	return lasted(s, w)
}

// lasted returns the end of what begins at a known hour and lasts as long as the clause says: "at
// three for two hours", 三点开了两个小时会.
func lasted(s syntax.Sentence, w *When) int64 {
	if !w.Clock || w.ByPart {
		return 0
	}
	for i := range s.Toks {
		if i >= w.First && i < w.Next {
			continue
		}
		n, minutes := 0, 0
		if s.Chinese() {
			for _, unit := range [...]struct {
				word    string
				minutes int
			}{{"个小时", 60}, {"小时", 60}, {"分钟", 1}} {
				if count, took := NumberZh(s, i); took > 0 && n == 0 && strings.HasPrefix(s.Text[s.Toks[i+took-1].End:s.End], unit.word) {
					n, minutes = count, unit.minutes
				}
			}
			if s.At(i-1) == "每" || strings.HasSuffix(s.Text[s.Start:s.Toks[i].Start], "提前") || strings.HasSuffix(s.Text[s.Start:s.Toks[i].Start], "迟到") {
				n = 0
			}
		} else if count, ok := syntax.Number(s.At(i)); ok && s.At(i-1) == "for" {
			switch s.At(i + 1) {
			case "hour", "hours":
				n, minutes = count, 60
			case "minute", "minutes":
				n, minutes = count, 1
			}
		}
		if n > 0 && n*minutes <= 24*60 {
			return w.Unix() + int64(n*minutes)*60_000
		}
	}
	return 0
}
