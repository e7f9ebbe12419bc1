// Package timex finds the time expressions in a sentence, English or Chinese, and computes the days
// and hours that they mean ([When]), relative to when it was said ([Moment]). The name is that of
// TimeML's tag for such expressions.
package timex

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// When is a time expression: which tokens it takes, and what it means.
type When struct {
	First, Next int // indexes of tokens
	Day, Minute int
	HasDay      bool
	Clock       bool // minute is known
	Grain       byte // d, w, M, y; 0 if only a time of day is said
	Habit       bool // "every Monday", "on Mondays": not a single time
	ByPart      bool // minute comes from "morning" and the like
	Weekday     bool // a bare weekday: in the past or the future, depending on the verb
	Zone        int
	Since       bool            // "since 2019", "for three years"
	Sure        bool            // the time of day says whether it is before noon
	Assumed     int             // months that may be too many: 12 for "in May", 1 for "on the 14th"
	Last        int             // the day on which a span ends; 0: no span
	Until       int             // the minute of the day at which a span of hours ends; 0: no span
	Season      string          // "summer"; empty: none
	Days        calendar.Yearly // a yearly event, on these days of a year
	Weekend     bool            // "at the weekend"
	Vague       bool            // void, because it is not known which day it is: "years ago"
	Void        bool            // names a day or an hour that does not exist: words, and not a time
}

// Rest reduces a span that has begun to the part that is still to come.
func (w *When) Rest(now Moment) {
	if w.HasDay && w.Grain == 'd' && w.Day < now.Day && w.Last > now.Day {
		w.Day = now.Day + 1
	}
}

// over returns when a span ends, in ms since 1970; 0 if there is none.
func (w *When) over() int64 {
	switch {
	case w.Last > 0:
		return Moment{w.Last, 24*60 - 1, w.Zone}.Unix()
	case w.Until > 0:
		return Moment{w.Day, w.Until, w.Zone}.Unix()
	}
	return 0
}

// Unix returns the time in ms since 1970.
func (w *When) Unix() int64 { return Moment{w.Day, w.Minute, w.Zone}.Unix() }

// Past moves a bare weekday or day of the month into the past, for a verb
// in the past tense.
func (w *When) Past(now Moment) {
	before := w.Day
	defer func() {
		if w.Last > 0 {
			w.Last -= before - w.Day
		}
	}()
	if w.Weekday && w.Day >= now.Day {
		w.Day -= 7
		if w.Day >= now.Day {
			w.Day -= 7
		}
	}
	if w.Days != nil && w.Assumed > 0 && w.Day > now.Day {
		w.before(now, false)
		before, w.Assumed = w.Day, 0
	}
	if w.Assumed == 1 && w.Last == 0 && w.Day > now.Day {
		_, _, d := Date(w.Day)
		w.Day, w.Assumed = calendar.DayOfMonth(now.Day, d, false), 0
	}
	if w.Assumed > 0 && w.Day > now.Day {
		w.Day, w.Assumed = AddMonths(w.Day, -w.Assumed), 0
	}
}

// FindWhens returns the time expressions of a sentence, with the parts of each joined.
func FindWhens(s syntax.Sentence, now Moment) []When {
	var all []When
	unread := false
	for _, w := range TimesIn(s, now) {
		if !w.Void {
			all = append(all, w)
		}
		unread = unread || w.Void && w.HasDay
	}
	if unread {
		all = undayed(all)
	}
	return undenied(s, withoutOccasion(s, all, now))
}

// TimesIn returns the time expressions of a sentence, including unreadable ones. They are cached,
// because many rules ask for them: nobody may change what it returns.
func TimesIn(s syntax.Sentence, now Moment) []When {
	at := place{s.Start, len(s.Toks), now}
	kept := keptTimes(s)
	if all, ok := kept[at]; ok {
		return all
	}
	var all []When
	var w When // one for all tokens, because it is allocated
	for i := 0; i < len(s.Toks); i++ {
		if w.read(s, i, now) {
			if n := len(all); n > 0 {
				w.Habit = w.Habit || s.Chinese() && all[n-1].Habit && (w.Clock && !w.HasDay && !marked(s, all[n-1].Next, w.First) || w.Weekday && all[n-1].Next == w.First) // 每周二周五
				if w.notBefore(s, &all[n-1]); eachWeek(s, &all[n-1], &w) {
					all[n-1].Habit, w.Habit = true, true
				}
			}
			w.Habit = w.Habit || (w.Clock && !w.HasDay || w.Days != nil || w.Grain == 'M' && w.Assumed > 0) && usually(s, w.First)
			w.Habit = w.Habit || (w.Days != nil || w.Weekend) && eachTime(s, &w)
			w.Void = w.Void || !w.HasDay && besideDayZh(s, w.First)
			all = append(all, w)
			i = w.Next - 1
		}
	}
	if len(all) > 0 && all[0].Clock && !slices.ContainsFunc(all, func(w When) bool { return w.HasDay || w.Habit }) {
		if day := loneDay(s, now); day != nil {
			all[0].OnDay(day)
		}
	}
	if kept != nil {
		kept[at] = all
	}
	return all
}

// keptTimes returns the times that are cached for the sentences of a text; nil: none are.
func keptTimes(s syntax.Sentence) map[place][]When {
	if s.Memo == nil {
		return nil
	}
	if s.Memo.Times == nil {
		s.Memo.Times = map[place][]When{}
	}
	return s.Memo.Times.(map[place][]When)
}

// loneDay returns the day that the previous sentence names, if it names nothing else: "Monday. I've
// got a review at ten." It returns nil otherwise.
func loneDay(s syntax.Sentence, now Moment) *When {
	const most = 30 // bytes
	before, ok := strings.CutSuffix(strings.TrimSpace(s.Text[:s.Start]), ".")
	if !ok {
		return nil
	}
	from := max(0, len(before)-most)
	at := strings.LastIndexAny(before[from:], ".!?\n")
	if at < 0 && from > 0 {
		return nil // it is longer
	}
	for _, alone := range syntax.Sentences(before[from+at+1:]) {
		all := TimesIn(alone, now)
		if len(all) == 1 && all[0].HasDay && !all[0].Habit && all[0].Grain == 'd' && all[0].Next == len(alone.Toks) && (all[0].First == 0 || all[0].First == 1 && syntax.Preposition(alone.At(0))) {
			return &all[0]
		}
	}
	return nil
}

// notBefore moves a bare day of the month or of the week after the day that was named before it. It
// does so if the two are a span, "from the 20th to the 3rd", or if something begins on the one and
// ends on the other: "there on Friday and back on Monday". If only the second one has its week
// ("Monday to Friday last week"), the first one moves before it.
func (w *When) notBefore(s syntax.Sentence, first *When) {
	joined := w.First == first.Next && syntax.Between(s.At(w.First)) || w.First == first.Next+1 && syntax.Between(s.At(first.Next)) || EndsStay(s, first.Next, w)
	if !joined || !first.HasDay || first.Grain != 'd' || first.Habit || w.Day >= first.Day {
		return
	}
	switch {
	case w.Weekday:
		w.Day += 7
	case w.Assumed == 1:
		_, _, d := Date(w.Day)
		w.Day = calendar.DayOfMonth(first.Day, d, true)
	case first.Weekday && w.Grain == 'd' && w.Days == nil:
		first.Day -= (first.Day - w.Day + 6) / 7 * 7
		first.Weekday = false
	}
}

// usually reports whether what is before token i is done regularly: "we usually have dinner at
// seven".
func usually(s syntax.Sentence, i int) bool {
	i -= syntax.BoolInt(i > 2 && s.At(i-1) == "," && s.At(i-2) == "day") // "twice a day, in the morning and at night"
	for last := max(0, i-12); i > last && s.Toks[i-1].Kind != 'p' && s.At(i-1) != "but"; i-- {
		if asRule[s.At(i-1)] || i > 1 && s.At(i-1) == "day" && s.At(i-2) == "a" {
			return true
		}
	}
	return false
}

// asRule are words for what is done regularly.
var asRule = syntax.Set("usually always normally generally typically often mostly 般")

// comeBack are words for the end of a stay, or of something that takes some days.
var comeBack = syntax.Set("back return returns returning leave leaves leaving home end ends ending closes until")

// EndsStay reports whether w is when something ends that was said before it, from token i on.
func EndsStay(s syntax.Sentence, i int, w *When) bool {
	for ; i < w.First; i++ {
		switch t := s.At(i); {
		case comeBack[t]:
			return true
		case t == "," && !comeBack[s.At(i+1)] && !(strings.HasSuffix(s.At(i+1), "ing") && (s.At(i+2) == "back" || s.At(i+2) == "home")): // it may be about somebody else
			return false
		}
	}
	for ; i < min(len(s.Toks), w.Next+4) && s.At(i) != "，"; i++ {
		if t := s.At(i); t == "回" || t == "返" || t == "离" || t == "结" && s.At(i+1) == "束" || t == "开" && (s.At(i+1) == "学" || s.At(i+1) == "工") || t == "收" && s.At(i+1) == "假" {
			return true
		}
	}
	return false
}

// place is a sentence or clause of a text, and when it was said.
type place struct {
	start, tokens int
	now           Moment
}

// SameDay puts a time of day on the day that the sentence named before it, "on Wednesday … at
// seven", 周二面试在三点, or in English after it: "at six for dinner on Friday".
func SameDay(s syntax.Sentence, whens []When) {
	dayOfNamedMonth(s, whens)
	var day *When
	for i := range whens {
		w := &whens[i]
		switch {
		case w.HasDay && !w.Habit:
			if day == nil && i == 1 && w.Grain == 'd' && !s.Chinese() && together(&s, &whens[0], w) {
				whens[0].OnDay(w)
			}
			if day != nil && w.Assumed == 1 && w.Day < day.Day && LeadsUntil(&s, w) {
				_, _, d := Date(w.Day)
				w.Day = calendar.DayOfMonth(day.Day, d, true) // "for Christmas, until the second"
			}
			day = w
		case w.Habit && s.Chinese():
			day = nil // 今年…天天学到十点
		case day != nil && w.Clock && !w.HasDay && !w.ByPart && (day.Grain == 'd' || day.Grain == 0):
			const night = 20 * 60 // when it begins
			if s.Chinese() && day.ByPart && day.Minute >= night && !w.Sure && w.Minute%(12*60) < 5*60 && w.Minute > 0 && w.Until == 0 {
				small := w.Minute % (12 * 60)
				w.OnDay(day)
				w.Day, w.Minute = w.Day+1, small // 昨晚三点就醒了
				continue
			}
			if s.Chinese() && leavesZh(s, day, w) {
				w.Minute -= 12 * 60
			}
			w.OnDay(day)
		}
	}
}

// together reports whether a time of day belongs to the day that is named after it, and to nothing
// between them.
func together(s *syntax.Sentence, at, day *When) bool {
	if !at.Clock || at.ByPart || at.HasDay || at.Habit || at.Since || day.Last > 0 {
		return false
	}
	switch s.At(day.First) {
	case "to", "until", "till", "from", "since", "by", "not":
		return false
	}
	for k := at.Next; k < day.First; k++ {
		switch s.At(k) {
		case "to":
			if !s.Toks[k+1].Cap || k+1 == day.First { // the 8:15 flight to Berlin on Monday
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
func ofSameDay(s syntax.Sentence, i int, now Moment, w *When) int {
	if !w.HasDay || w.Grain != 'd' || w.Weekday || w.Habit || w.Last > 0 {
		return 0
	}
	o := When{Zone: now.Offset}
	n := dayPart(s, i, now, &o)
	if !o.Weekday || (o.Day-w.Day)%7 != 0 {
		return 0
	}
	return n
}

// WhenAt reads a time expression at token i: a day, a time of day, or both, in
// either order.
func WhenAt(s syntax.Sentence, i int, now Moment) (w When, ok bool) {
	ok = w.read(s, i, now)
	return w, ok
}

// read fills w for [WhenAt], and reports whether there is a time expression.
func (w *When) read(s syntax.Sentence, i int, now Moment) bool {
	if roughAge(s, i) {
		return false
	}
	*w = When{First: i, Zone: now.Offset, Day: now.Day}
	k, found := i, false
	for k < len(s.Toks) {
		j := k
		for found && (s.At(j) == "," || s.At(j) == "，" || s.At(j) == "的" && w.HasDay) && j < k+1 {
			j++
		}
		n := 0
		if !w.HasDay {
			n = dayPart(s, j, now, w)
		}
		if n == 0 && (!w.Clock || w.ByPart) {
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
	w.Next = k
	if w.HasDay && w.Clock && !w.ByPart && !w.Sure && w.Minute >= 5*60 && w.Minute < 12*60 && bookedOpen(s) {
		w.Clock, w.Minute = false, 0
	}
	if w.Grain == 0 && w.Clock && !w.HasDay && w.Minute <= now.Minute && !w.Habit {
		w.Weekday = false
	}
	return true
}

// calendar sets a day by its date, which need not exist.
func (w *When) calendar(y, m, d int) {
	if d < 1 || d > MonthLength(y, m) {
		w.Void = true
		d = MonthLength(y, m)
	}
	w.Set(DayOf(y, m, d), 'd')
}

// coming sets the next day with that month and number; 29 February is in the next leap year.
func (w *When) coming(now Moment, m, d int) {
	y, _, _ := Date(now.Day)
	if d > MonthLength(2028, m) {
		w.calendar(y, m, d)
		return
	}
	for d > MonthLength(y, m) || DayOf(y, m, d) < now.Day {
		y++
	}
	w.Set(DayOf(y, m, d), 'd')
}

// Set sets the day of the time and its precision: d, w, M, y.
func (w *When) Set(day int, grain byte) { w.Day, w.HasDay, w.Grain = day, true, grain }
