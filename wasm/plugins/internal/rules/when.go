package rules

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
)

// when is a time expression: which tokens it takes, and what it means.
type when struct {
	first, next int // tokens
	day, minute int
	hasDay      bool
	clock       bool // minute is known
	grain       byte // d, w, M, y; 0 where only a time of day is said
	habit       bool // "every Monday", "on Mondays": no single time
	byPart      bool // minute comes from "morning" and the like
	weekday     bool // a bare weekday: past or to come, as the verb says
	zone        int
	since       bool            // "since 2019", "for three years"
	sure        bool            // the time of day says whether it is before noon
	assumed     int             // months that may be too many: 12 for "in May", 1 for "on the 14th"
	last        int             // the day on which a span ends; 0: no span
	until       int             // the minute of the day at which a span of hours ends; 0: no span
	season      string          // "summer"; empty: none
	days        calendar.Yearly // what comes every year, and is on these days of a year
	weekend     bool            // "at the weekend"
	vague       bool            // void, as nobody can say which day it is: "years ago"
	void        bool            // names a day or an hour that does not exist: words, and no time
}

// rest leaves of a span that has begun what is still to come.
func (w *when) rest(now moment) {
	if w.hasDay && w.grain == 'd' && w.day < now.day && w.last > now.day {
		w.day = now.day + 1
	}
}

// over is when a span ends, in ms since 1970; 0 where there is none.
func (w *when) over() int64 {
	switch {
	case w.last > 0:
		return moment{w.last, 24*60 - 1, w.zone}.unix()
	case w.until > 0:
		return moment{w.day, w.until, w.zone}.unix()
	}
	return 0
}

func (w *when) unix() int64 { return moment{w.day, w.minute, w.zone}.unix() }

// resolve moves a bare weekday or day of the month into the past, for a verb
// in the past tense.
func (w *when) past(now moment) {
	before := w.day
	defer func() {
		if w.last > 0 {
			w.last -= before - w.day
		}
	}()
	if w.weekday && w.day >= now.day {
		w.day -= 7
		if w.day >= now.day {
			w.day -= 7
		}
	}
	if w.days != nil && w.assumed > 0 && w.day > now.day {
		w.before(now, false)
		before, w.assumed = w.day, 0
	}
	if w.assumed == 1 && w.last == 0 && w.day > now.day {
		_, _, d := date(w.day)
		w.day, w.assumed = calendar.DayOfMonth(now.day, d, false), 0
	}
	if w.assumed > 0 && w.day > now.day {
		w.day, w.assumed = addMonths(w.day, -w.assumed), 0
	}
}

// findWhens lists the time expressions of a sentence, the parts of each joined.
func findWhens(s sentence, now moment) []when {
	var all []when
	unread := false
	for _, w := range timesIn(s, now) {
		if !w.void {
			all = append(all, w)
		}
		unread = unread || w.void && w.hasDay
	}
	if unread {
		all = undayed(all)
	}
	return undenied(s, all)
}

// timesIn lists the time expressions of a sentence, those that can't be read among them. They are
// kept beside the sentence, as many rules ask for them: nobody may change what it returns.
func timesIn(s sentence, now moment) []when {
	at := place{s.start, len(s.toks), now}
	kept := keptTimes(s)
	if all, ok := kept[at]; ok {
		return all
	}
	var all []when
	var w when // one for all tokens, as it is allocated
	for i := 0; i < len(s.toks); i++ {
		if w.read(s, i, now) {
			if n := len(all); n > 0 {
				if w.notBefore(s, &all[n-1]); s.eachWeek(&all[n-1], &w) {
					all[n-1].habit, w.habit = true, true
				}
			}
			w.habit = w.habit || (w.clock && !w.hasDay || w.days != nil || w.grain == 'M' && w.assumed > 0) && s.usually(w.first)
			w.habit = w.habit || (w.days != nil || w.weekend) && s.eachTime(&w)
			all = append(all, w)
			i = w.next - 1
		}
	}
	if len(all) > 0 && all[0].clock && !slices.ContainsFunc(all, func(w when) bool { return w.hasDay || w.habit }) {
		if day := s.dayAlone(now); day != nil {
			all[0].onDay(day)
		}
	}
	if kept != nil {
		kept[at] = all
	}
	return all
}

// keptTimes are those that are kept beside the sentences of a text; nil: none are.
func keptTimes(s sentence) map[place][]when {
	if s.memo == nil {
		return nil
	}
	if s.memo.times == nil {
		s.memo.times = map[place][]when{}
	}
	return s.memo.times.(map[place][]when)
}

// dayAlone is the day that the sentence before this one names, and nothing else: "Monday. I've got a review at ten."
// Nil: it does not.
func (s sentence) dayAlone(now moment) *when {
	const most = 30 // bytes
	before, ok := strings.CutSuffix(strings.TrimSpace(s.text[:s.start]), ".")
	if !ok {
		return nil
	}
	from := max(0, len(before)-most)
	at := strings.LastIndexAny(before[from:], ".!?\n")
	if at < 0 && from > 0 {
		return nil // it is longer
	}
	for _, alone := range sentences(before[from+at+1:]) {
		all := timesIn(alone, now)
		if len(all) == 1 && all[0].hasDay && !all[0].habit && all[0].grain == 'd' && all[0].next == len(alone.toks) && (all[0].first == 0 || all[0].first == 1 && preposition(alone.at(0))) {
			return &all[0]
		}
	}
	return nil
}

// notBefore moves a bare day of the month or of the week behind the day that was named before it. It does so if the two
// are a span, "from the 20th to the 3rd", or if something begins on the one and ends on the other: "there on Friday and
// back on Monday". Where the second one alone says its week ("Monday to Friday last week"), the first one moves before it.
func (w *when) notBefore(s sentence, first *when) {
	joined := w.first == first.next && between(s.at(w.first)) || w.first == first.next+1 && between(s.at(first.next)) || endsStay(s, first.next, w)
	if !joined || !first.hasDay || first.grain != 'd' || first.habit || w.day >= first.day {
		return
	}
	switch {
	case w.weekday:
		w.day += 7
	case w.assumed == 1:
		w.day = addMonths(w.day, 1)
	case first.weekday && w.grain == 'd' && w.days == nil:
		first.day -= (first.day - w.day + 6) / 7 * 7
		first.weekday = false
	}
}

// usually reports whether what stands before token i is done as a matter of course: "we usually have dinner at seven".
func (s sentence) usually(i int) bool {
	for last := max(0, i-12); i > last && s.toks[i-1].kind != 'p' && s.at(i-1) != "but"; i-- {
		if asRule[s.at(i-1)] {
			return true
		}
	}
	return false
}

// asRule are words for what is done as a matter of course.
var asRule = set("usually always normally generally typically often mostly")

// comeBack are the words for the end of a stay, or of what takes some days.
var comeBack = set("back return returns returning leave leaves leaving home end ends ending closes until")

// endsStay reports whether w is when something ends that was said before it, from the token i on.
func endsStay(s sentence, i int, w *when) bool {
	for ; i < w.first; i++ {
		switch t := s.at(i); {
		case comeBack[t]:
			return true
		case t == "," && s.at(i+1) != "back": // of somebody else, it may be
			return false
		}
	}
	for ; i < min(len(s.toks), w.next+4) && s.at(i) != "，"; i++ {
		if t := s.at(i); t == "回" || t == "返" || t == "离" || t == "结" && s.at(i+1) == "束" || t == "开" && (s.at(i+1) == "学" || s.at(i+1) == "工") || t == "收" && s.at(i+1) == "假" {
			return true
		}
	}
	return false
}

// place is a sentence or clause of a text, and when it was said.
type place struct {
	start, tokens int
	now           moment
}

// undenied leaves out a time that is said not to be: "at three, not two, tomorrow"
// is at three; the day may stand with either.
func undenied(s sentence, all []when) []when {
	for i := 0; i+1 < len(all); i++ {
		a, b := &all[i], all[i+1]
		not := b.first - 1
		if _, hour := number(s.at(not)); hour && a.clock {
			not-- // "at three, not two tomorrow"
		}
		if s.at(not) != "not" || a.next != not && !(a.next == not-1 && s.at(a.next) == ",") || a.habit || b.habit {
			continue
		}
		if !a.hasDay && b.hasDay && a.clock {
			a.set(b.day, b.grain)
		}
		a.next = b.next
		all = append(all[:i+1], all[i+2:]...)
	}
	return all
}

// sameDay puts a time of day on the day that the sentence named before it, "on Wednesday … at
// seven", 周二面试在三点, or in English after it: "at six for dinner on Friday".
func sameDay(s sentence, whens []when) {
	var day *when
	for i := range whens {
		w := &whens[i]
		switch {
		case w.hasDay && !w.habit:
			if day == nil && i == 1 && w.grain == 'd' && !s.chinese() && s.together(&whens[0], w) {
				whens[0].onDay(w)
			}
			if day != nil && w.assumed == 1 && w.day < day.day && (s.at(w.first) == "until" || s.at(w.first) == "till" || s.at(w.first-1) == "until" || s.at(w.first-1) == "till") {
				_, _, d := date(w.day)
				w.day = calendar.DayOfMonth(day.day, d, true) // "for Christmas, until the second"
			}
			day = w
		case day != nil && w.clock && !w.hasDay && !w.byPart:
			const night = 20 * 60 // when it begins
			if s.chinese() && day.byPart && day.minute >= night && !w.sure && w.minute%(12*60) < 5*60 && w.minute > 0 && w.until == 0 {
				small := w.minute % (12 * 60)
				w.onDay(day)
				w.day, w.minute = w.day+1, small // 昨晚三点就醒了
				continue
			}
			w.onDay(day)
		}
	}
}

// onDay puts a time of day on a day, and in the half of it that its part names: "tomorrow evening … at seven".
func (w *when) onDay(day *when) {
	w.set(day.day, 'd')
	w.weekday, w.assumed = day.weekday, day.assumed
	if day.byPart && day.minute >= 12*60 && !w.sure && w.minute > 0 && w.minute < 12*60 && w.until < 12*60 {
		w.minute += 12 * 60
		if w.until > 0 {
			w.until += 12 * 60
		}
	}
}

// together reports whether a time of day is of the day that is named after it, and of nothing between them.
func (s *sentence) together(at, day *when) bool {
	if !at.clock || at.byPart || at.hasDay || at.habit || at.since || day.last > 0 {
		return false
	}
	switch s.at(day.first) {
	case "to", "until", "till", "from", "since", "by", "not":
		return false
	}
	for k := at.next; k < day.first; k++ {
		switch s.at(k) {
		case "to":
			if !s.toks[k+1].cap || k+1 == day.first { // the 8:15 flight to Berlin on Monday
				return false
			}
		case "about", "before", "after", "because", "until", "till", "that", "by", "than", "not", ",", ".", "and", "but", "or", "so", "then":
			return false
		}
	}
	return true
}

// ofSameDay reads at token i the weekday of a day that was named by its date: "the 26th, Thursday",
// 二十六号，礼拜四.
func ofSameDay(s sentence, i int, now moment, w *when) int {
	if !w.hasDay || w.grain != 'd' || w.weekday || w.habit || w.last > 0 {
		return 0
	}
	o := when{zone: now.offset}
	n := dayPart(s, i, now, &o)
	if !o.weekday || (o.day-w.day)%7 != 0 {
		return 0
	}
	return n
}

// whenAt reads a time expression at token i: a day, a time of day, or both, in
// either order.
func whenAt(s sentence, i int, now moment) (w when, ok bool) {
	ok = w.read(s, i, now)
	return w, ok
}

// read fills w as [whenAt] has it, and reports whether there is a time expression.
func (w *when) read(s sentence, i int, now moment) bool {
	if s.roughAge(i) {
		return false
	}
	*w = when{first: i, zone: now.offset, day: now.day}
	k, found := i, false
	for k < len(s.toks) {
		j := k
		for found && (s.at(j) == "," || s.at(j) == "，" || s.at(j) == "的" && w.hasDay) && j < k+1 {
			j++
		}
		n := 0
		if !w.hasDay {
			n = dayPart(s, j, now, w)
		}
		if n == 0 && (!w.clock || w.byPart) {
			n = clockPart(s, j, now, w)
		}
		if n == 0 && j == k {
			n = halfOfDay(s, k, w)
		}
		if n == 0 {
			n = ofSameDay(s, j, now, w)
		}
		if n == 0 {
			break
		}
		k, found = j+n, true
	}
	if !found {
		return false
	}
	w.next = k
	if w.hasDay && w.clock && !w.byPart && !w.sure && w.minute >= 5*60 && w.minute < 12*60 && bookedOpen(s) {
		w.clock, w.minute = false, 0
	}
	if w.grain == 0 && w.clock && !w.hasDay && w.minute <= now.minute && !w.habit {
		w.weekday = false
	}
	return true
}

// calendar sets a day by its date, which may not exist.
func (w *when) calendar(y, m, d int) {
	if d < 1 || d > monthLength(y, m) {
		w.void = true
		d = monthLength(y, m)
	}
	w.set(dayOf(y, m, d), 'd')
}

// coming sets the next day of that month and number; 29 February waits for its
// year.
func (w *when) coming(now moment, m, d int) {
	y, _, _ := date(now.day)
	if d > monthLength(2028, m) {
		w.calendar(y, m, d)
		return
	}
	for d > monthLength(y, m) || dayOf(y, m, d) < now.day {
		y++
	}
	w.set(dayOf(y, m, d), 'd')
}

func (w *when) set(day int, grain byte) { w.day, w.hasDay, w.grain = day, true, grain }

// weekdayOf returns 0 for Monday to 6 for Sunday, and -1 where s names no weekday. It knows "mon" only where short is set.
func weekdayOf(s string, short bool) int {
	if short || len(s) > 5 {
		return calendar.Weekdays(s) - 1
	}
	return -1
}

func monthOf(s string) int {
	if m := calendar.MonthNamed(s); m > 0 {
		return m
	}
	return foreignMonths[s]
}
