package rules

import (
	"slices"
	"strconv"
	"strings"
)

// Spans of days and of hours have both ends: when.last and when.until.

// between reports a word that stands between the ends of a span.
func between(w string) bool {
	switch w {
	case "to", "until", "till", "through", "-", "–", "—", "到", "至", "~":
		return true
	}
	return false
}

// datedSpan reads "May 3 to 10", "3 May to 2 June", "May 3rd to June 2nd".
func datedSpan(s sentence, k int, now moment, w *when) int {
	m, first, n := monthAndDay(s, k)
	if n == 0 || !between(s.at(k+n)) {
		return 0
	}
	j := k + n + 1
	m2, last, n2 := monthAndDay(s, j)
	if n2 == 0 {
		at := j
		if s.at(at) == "the" {
			at++
		}
		if last, n2 = day31(s.at(at)); n2 == 0 {
			return 0
		}
		if m2, n2 = m, at+1-j; last < first { // 20 December to the 3rd
			m2 = m%12 + 1
		}
		switch s.at(at + 1) {
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
func monthAndDay(s sentence, i int) (m, d, n int) {
	if s.at(i) == "the" {
		if d, n = day31(s.at(i + 1)); n > 0 && s.at(i+2) == "of" && monthOf(s.at(i+3)) > 0 {
			return monthOf(s.at(i + 3)), d, 4
		}
		return 0, 0, 0
	}
	if m = monthOf(s.at(i)); m > 0 && i < len(s.toks) && s.toks[i].cap {
		if d, n = day31(s.at(i + 1)); n > 0 {
			return m, d, 2
		}
		return 0, 0, 0
	}
	if d, n = day31(s.at(i)); n > 0 {
		if m = monthOf(s.at(i + 1)); m > 0 && s.toks[i+1].cap {
			return m, d, 2
		}
	}
	return 0, 0, 0
}

// end closes a span of days on a day of a month, which is not before it begins.
func (w *when) end(m, d int) {
	y, _, _ := date(w.day)
	for range 2 {
		if d > monthLength(y, m) {
			break
		}
		if last := dayOf(y, m, d); last > w.day {
			w.last = last
			return
		}
		y++
	}
	w.void = true
}

// hourAt reads an hour with its minutes: "3", "three", "3:30", "3pm", "half past
// three"; half is 1 before noon, 2 after, 0 where it does not say.
func hourAt(s sentence, i int) (minute, half, n int) {
	t := s.at(i)
	if t == "noon" || t == "midday" {
		return 12 * 60, 2, 1
	}
	if t == "half" && s.at(i+1) == "past" {
		if h, ok := number(s.at(i + 2)); ok && h >= 1 && h <= 12 {
			return h%12*60 + 30, 0, 3
		}
		return 0, 0, 0
	}
	for k, x := range [...]string{"am", "pm"} {
		if rest, ok := strings.CutSuffix(t, x); ok && numeric(rest) {
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
	} else if h, ok = number(t); !ok || h < 1 || h > 12 || t == "a" || t == "an" {
		return 0, 0, 0
	}
	n = 1
	switch x := s.at(i + 1); {
	case half > 0:
	case x == "am" || x == "pm":
		half, n = 1+boolInt(x == "pm"), 2
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
func clockSpan(s sentence, i int, w *when) int {
	k := i
	lead := s.at(k) == "from" || s.at(k) == "between"
	if lead {
		k++
	}
	if a, b, ok := strings.Cut(s.at(k), "-"); ok && strings.Contains(a, ":") && strings.Contains(b, ":") { // 15:00-16:30
		first, _, n := hourAt(sentence{toks: lex(a)}, 0)
		last, _, n2 := hourAt(sentence{toks: lex(b)}, 0)
		if n == 0 || n2 == 0 || last <= first {
			return 0
		}
		w.minute, w.clock, w.byPart, w.sure, w.until = first, true, false, true, last
		return k + 1 - i
	}
	first, half, n := hourAt(s, k)
	if n == 0 || !between(s.at(k+n)) && !(s.at(i) == "between" && s.at(k+n) == "and") {
		return 0
	}
	j := k + n + 1
	last, half2, n2 := hourAt(s, j)
	if n2 == 0 {
		return 0
	}
	till := s.at(k+n) == "till" || s.at(k+n) == "until"
	if till && half == 0 && half2 == 0 && !uncounted[s.at(j+n2)] && s.toks[k].kind == 'w' && s.toks[j].kind == 'w' && !s.counting(k) {
		return tillSpan(s, first, last, j+n2-i, w)
	}
	colons := strings.Contains(s.at(k), ":") || strings.Contains(s.at(j), ":")
	dated := w.hasDay
	switch next := s.at(j + n2); next {
	case "on", "today", "tonight", "tomorrow", "yesterday", "this", "next", "last":
		dated = true
	default:
		dated = dated || weekdayOf(next, true) >= 0
	}
	if half == 0 && half2 == 0 && !colons && !(lead && dated) {
		return 0 // three to five what?
	}
	if monthOf(s.at(j+n2)) > 0 || s.at(j+n2) == "of" {
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
	w.minute, w.clock, w.byPart, w.sure, w.until = first, true, false, true, last
	return j + n2 - i
}

// tillSpan reads "two till ten", hours of a working day. Of nights, and of the days of a week, they are no single time. n is
// how many tokens they take.
func tillSpan(s sentence, first, last, n int, w *when) int {
	if first < 6*60 {
		first += 12 * 60
	}
	if last <= first {
		last += 12 * 60
	}
	night := slices.ContainsFunc(s.toks, func(t token) bool { return t.s == "nights" || t.s == "night" })
	if night || last >= 24*60 || w.hasDay && (w.grain != 'd' || w.last > 0) {
		w.void = w.void || !w.hasDay
		return n
	}
	w.minute, w.clock, w.byPart, w.sure, w.until = first, true, false, true, last
	return n
}

// counting reports whether the number at token k is one of a count: "I counted from one till ten".
func (s sentence) counting(k int) bool {
	for i := max(0, k-3); i < k; i++ {
		if l, _, _ := lemma(s.at(i)); l == "count" || l == "grow" {
			return true
		}
	}
	return false
}

// pastTheHour reads "ten past four", "twenty to three", "five minutes to six" at
// token k; lead reports a word before it that makes it a time of day.
func pastTheHour(s sentence, k int, lead bool) (hour, minute, n int) {
	m, ok := number(s.at(k))
	if !ok || m < 1 || m > 29 || s.at(k) == "a" || s.at(k) == "an" {
		return 0, 0, 0
	}
	j := k + 1
	if s.at(j) == "minutes" {
		j++
	}
	to := s.at(j) == "to"
	h, ok := number(s.at(j + 1))
	if !ok || h < 1 || h > 12 || s.at(j) != "past" && !(to && lead) {
		return 0, 0, 0
	}
	switch s.at(j + 2) {
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

// before is the hour before one of the clock.
func before(h int) int {
	if h == 1 {
		return 12
	}
	return h - 1
}

// daysZh reads what follows a day to make it a span: 到十号, 至6月2日.
func daysZh(s sentence, i int, w *when) int {
	if !between(s.at(i)) {
		return 0
	}
	k := i + 1
	_, m, first := date(w.day)
	d, n := numberZh(s, k)
	if n > 0 && s.at(k+n) == "月" {
		m, k = d, k+n+1
		d, n = numberZh(s, k)
	} else if n > 0 && d < first { // 20号到3号
		m = m%12 + 1
	}
	if n == 0 || s.at(k+n) != "号" && s.at(k+n) != "日" || m < 1 || m > 12 || d < 1 {
		return 0
	}
	w.end(m, d)
	return k + n + 1 - i
}

// hoursZh reads what follows a time of day to make it a span: 到五点, 到下午四点半.
func hoursZh(s sentence, i int, now moment, w *when) int {
	if !between(s.at(i)) {
		return 0
	}
	end := when{day: w.day, hasDay: true}
	n := clockPartZh(s, i+1, now, &end)
	if n == 0 || end.byPart || end.void {
		return 0
	}
	if end.minute <= w.minute && end.minute < 12*60 {
		end.minute += 12 * 60
	}
	if end.minute <= w.minute {
		return 0
	}
	w.until = end.minute
	return n + 1
}

// closed closes a span whose ends are two times of a clause, "from Monday to
// Wednesday", 周五到周日, "from 2015 to 2019", and gives its end in ms since 1970; the
// second time is not before the first then. 0: w begins no span.
func closed(s sentence, whens []when, w *when, now moment, past bool) int64 {
	if end := w.over(); end != 0 {
		return end
	}
	if !w.hasDay || w.habit {
		return 0
	}
	for k := range whens {
		e := &whens[k]
		joined := e.first == w.next && between(s.at(e.first)) || e.first == w.next+1 && (between(s.at(w.next)) || s.at(w.next) == "and" && s.at(w.first-1) == "between") ||
			e.first == w.next && s.chinese() && e.weekday && e.day == w.day+1 // 周四周五
		if !joined || !e.hasDay || e.habit || e.void {
			continue
		}
		if past {
			e.past(now)
		}
		for e.weekday && e.day < w.day {
			e.day += 7
		}
		for e.weekday && e.day-w.day > 6 {
			e.day -= 7
		}
		e.weekday = false
		last := e.day
		switch y, m, _ := date(e.day); e.grain {
		case 'y':
			last = dayOf(y, 12, 31)
		case 'M':
			last = dayOf(y, m, monthLength(y, m))
		case 'w':
			last = e.day + 6
		}
		if e.last > 0 {
			last = e.last
		}
		if last < w.day {
			return 0
		}
		if e.clock {
			return e.unix()
		}
		return moment{last, 24*60 - 1, w.zone}.unix()
	}
	return lasted(s, w)
}

// lasted gives the end of what begins at a known hour and lasts as long as the
// clause says: "at three for two hours", 三点开了两个小时会.
func lasted(s sentence, w *when) int64 {
	if !w.clock || w.byPart {
		return 0
	}
	for i := range s.toks {
		if i >= w.first && i < w.next {
			continue
		}
		n, minutes := 0, 0
		if s.chinese() {
			for _, unit := range [...]struct {
				word    string
				minutes int
			}{{"个小时", 60}, {"小时", 60}, {"分钟", 1}} {
				if count, took := numberZh(s, i); took > 0 && n == 0 && strings.HasPrefix(s.text[s.toks[i+took-1].end:s.end], unit.word) {
					n, minutes = count, unit.minutes
				}
			}
			if s.at(i-1) == "每" || strings.HasSuffix(s.text[s.start:s.toks[i].start], "提前") || strings.HasSuffix(s.text[s.start:s.toks[i].start], "迟到") {
				n = 0
			}
		} else if count, ok := number(s.at(i)); ok && s.at(i-1) == "for" {
			switch s.at(i + 1) {
			case "hour", "hours":
				n, minutes = count, 60
			case "minute", "minutes":
				n, minutes = count, 1
			}
		}
		if n > 0 && n*minutes <= 24*60 {
			return w.unix() + int64(n*minutes)*60_000
		}
	}
	return 0
}

// standsFor makes the candidates from number from on cite the whole sentence. They were made from its words in another
// order.
func (t *talk) standsFor(from int, s sentence) {
	for i := from; i < len(t.out.Candidates); i++ {
		for k := range t.out.Candidates[i].Spans {
			if span := &t.out.Candidates[i].Spans[k]; span.Turn == 0 {
				span.Start, span.End = s.start, s.end
			}
		}
	}
}
