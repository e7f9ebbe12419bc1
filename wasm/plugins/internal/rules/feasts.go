package rules

import (
	"strings"

	"github.com/locket-dev/locket/internal/feast"
)

// Days that have another date each year: feasts, and "the first Monday of October".

// everyYear gives the days of a year on which something comes; false: they are not known.
type everyYear func(year int) (first, last int, ok bool)

// ofFeastIn is the first day of a feast in a year; false: it is not known.
func ofFeastIn(f *feast.Feast, year int) (first int, ok bool) {
	m, d, ok := f.In(year)
	return dayOf(year, max(m, 1), 1) + d - 1, ok
}

// yearly sets the next days of what comes every year, and reports whether they are known. [when.past] finds those
// before.
func (w *when) yearly(now moment, days everyYear) bool {
	y, _, _ := date(now.day)
	first, last, ok := days(y)
	if ok && last < now.day {
		first, last, ok = days(y + 1)
	}
	if !ok {
		return false
	}
	w.days, w.assumed = days, 12
	w.ofDays(first, last)
	return true
}

// ofDays sets a run of days.
func (w *when) ofDays(first, last int) {
	w.set(first, 'd')
	w.last = 0
	if last > first {
		w.last = last
	}
}

// before moves what comes every year to the last time that it had begun by now, or to that before today where
// over.
func (w *when) before(now moment, over bool) {
	y, _, _ := date(now.day)
	for range 3 {
		first, last, ok := w.days(y)
		if ok && first <= now.day && (!over || last < now.day) {
			w.ofDays(first, last)
			return
		}
		y--
	}
}

// feastAt is the feast whose name begins at token k, and how many tokens the name takes.
func feastAt(s sentence, k int) (*feast.Feast, int) {
	plain := func(i int) string { return strings.TrimSuffix(strings.ReplaceAll(s.at(i), "’", "'"), "'s") }
	begins := plain(k)
	for i := range feast.All {
		f := &feast.All[i]
		if begins == "" || !strings.HasPrefix(f.Words, begins) {
			continue
		}
		rest, n := f.Words, 0
		for rest != "" {
			word := plain(k + n)
			after, ok := strings.CutPrefix(rest, word)
			if !ok || word == "" || after != "" && after[0] != ' ' {
				break
			}
			rest, n = strings.TrimPrefix(after, " "), n+1
		}
		if rest == "" {
			return f, n
		}
	}
	return nil, 0
}

// ofFeast is what is of a feast and not the feast: "the Christmas party".
var ofFeast = set("party parties tree trees market markets present presents gift gifts card cards egg eggs bunny costume costumes decoration decorations light lights bonus shopping jumper sweater song songs concert play pudding cake cakes cookies turkey island holiday holidays break vacation sale sales parade menu do service film films movie movies carol carols spirit season wishes")

// feastDay reads a feast at token k. A long feast is all its days after "over" or "at", and else its main one.
func feastDay(s sentence, k int, now moment, w *when, lead string) int {
	f, n := feastAt(s, k)
	which := lead
	switch b := s.at(k - 1); b {
	case "last", "next", "this", "past", "coming":
		which = b
	}
	if next := k + n; f == nil || ofFeast[s.at(next)] || next < len(s.toks) && s.toks[next].cap && s.at(next) != "i" && !subjectPronoun(first(contraction(s.at(next)))) || which == "" && (f.Days > 1 || n == 1 && f.Words != "halloween") {
		return 0
	}
	if determiner(s.at(k-1)) && which == "" { // the Thanksgiving that we had
		return 0
	}
	from, days := 0, f.Days
	if next := s.at(k + n); next == "dinner" || next == "lunch" || next == "breakfast" {
		which = "on"
	}
	switch which {
	case "by", "before", "after", "until", "till", "since", "from", "to", "around", "about", "on":
		from, days = f.Main, 1
	}
	in := func(year int) (first, last int, ok bool) {
		first, ok = ofFeastIn(f, year)
		return first + from, first + from + days - 1, ok
	}
	if y, ok := year(s.at(k + n)); ok {
		first, last, known := in(y)
		if !known {
			return 0
		}
		w.ofDays(first, last)
		return n + 1
	}
	if !w.yearly(now, in) {
		return 0
	}
	y, _, _ := date(now.day)
	switch which {
	case "last", "past":
		w.before(now, true)
		w.assumed = 0
	case "this":
		if first, last, ok := in(y); ok && (last >= now.day || s.tells()) {
			w.ofDays(first, last)
		}
	case "since":
		w.before(now, false)
	case "for":
		if s.tells() {
			w.before(now, false)
			w.assumed = 0
		}
	case "next", "coming":
		w.assumed = 0
	}
	if s.at(k+n) == "last" && s.at(k+n+1) == "year" {
		if first, last, ok := in(y - 1); ok {
			w.ofDays(first, last)
		}
		w.assumed = 0
		return n + 2
	}
	return n
}

// besideFeast reads "day after Christmas" and "week before Easter", where day or week is at token k.
func besideFeast(s sentence, k int, now moment, w *when) int {
	unit, by := s.at(k), s.at(k+1)
	f, n := feastAt(s, k+2)
	if f == nil || by != "after" && by != "before" || unit != "week" && (unit != "day" || f.Days > 4) {
		return 0
	}
	side := 2*boolInt(by == "after") - 1
	known := w.yearly(now, func(year int) (first, last int, ok bool) {
		day, ok := ofFeastIn(f, year)
		day += f.Main
		if unit == "day" {
			return day + side, day + side, ok
		}
		monday := day - moment{day: day}.weekday() + 7*side
		return monday, monday + 6, ok
	})
	return (n + 2) * boolInt(known)
}

// nthOf reads "first Monday of October", "last Friday in January", "last day of September", where the number
// is at token k.
func nthOf(s sentence, k int, now moment, w *when) int {
	nth, ok := ordinal(s.at(k))
	if s.at(k) == "last" {
		nth, ok = -1, true
	}
	of := s.at(k + 2)
	if !ok || nth > 5 || of != "of" && of != "in" {
		return 0
	}
	day := weekdayOf(s.at(k+1), true)
	if what := s.at(k + 1); what == "weekend" {
		day = 5
	} else if what == "day" {
		day = 7 // any
	} else if day < 0 {
		return 0
	}
	j := k + 3
	in := func(y, m int) (int, bool) {
		first, next := dayOf(y, m, 1), addMonths(dayOf(y, m, 1), 1)
		at := first + 7*(nth-1)
		switch {
		case day == 7 && nth < 0:
			return next - 1, true
		case day == 7:
			return first + nth - 1, true
		case nth < 0:
			at = next - 7
		}
		at += mod(day-moment{day: at}.weekday(), 7)
		return at, at < next
	}
	y, m, _ := date(now.day)
	if month := monthOf(s.at(j)); month > 0 && len(s.at(j)) > 2 {
		if y, ok := year(s.at(j + 1)); ok {
			if at, ok := in(y, month); ok {
				w.set(at, 'd')
				return j + 2 - k
			}
			return 0
		}
		if !w.yearly(now, func(y int) (first, last int, ok bool) { first, ok = in(y, month); return first, first, ok }) {
			return 0
		}
		return j + 1 - k
	}
	step := 0
	switch s.at(j) {
	case "next":
		step = 1
	case "last":
		step = -1
	case "the", "this":
	default:
		return 0
	}
	if s.at(j+1) != "month" {
		return 0
	}
	y, m, _ = date(addMonths(dayOf(y, m, 1), step))
	at, ok := in(y, m)
	if !ok {
		return 0
	}
	w.set(at, 'd')
	return j + 2 - k
}

// feastOnZh reads 国庆节, 去年春节, 中秋.
func feastOnZh(s sentence, i int, now moment, w *when) int {
	f, n := (*feast.Feast)(nil), 0
	for k := range feast.All {
		if _, took := prefixZh(s, i, feast.All[k].Words); took > n {
			f, n = &feast.All[k], took
		}
	}
	day := 0
	if _, moon := prefixZh(s, i, "大年初", "正月初"); moon > 0 {
		nth, took := numberZh(s, i+moon)
		f, n = feast.Named("春节"), moon+took
		if day = nth - 1; took == 0 || nth > 10 {
			return 0
		}
	} else if _, eve := prefixZh(s, i, "大年三十"); eve > 0 {
		f, n = feast.Named("除夕"), eve
	}
	if f == nil || f.Words[0] < 0x80 {
		return 0
	}
	if !feastBoundZh(s, i, n, f.Words) {
		return 0
	}
	if next := s.at(i + n); f.Words == "五一" && (digitsZh[next] > 0 || next == "号" || next == "点" || next == "年" || next == "路" || next == "广") {
		return 0
	}
	n += boolInt(s.at(i+n) == "节")
	if _, while := prefixZh(s, i+n, "期间", "假期", "长假", "小长假", "那天", "当天"); while > 0 {
		n += while
	}
	if next := s.at(i + n); next == "红" || next == "快" || next == "岛" || next == "树" || next == "卡" || next == "礼" || next == "帽" || next == "老" || next == "月" && s.at(i+n+1) == "饼" || next == "晚" && s.at(i+n+1) == "会" || next == "联" {
		return 0 // 圣诞树, 春节联欢晚会
	}
	in := func(year int) (first, last int, ok bool) {
		first, ok = ofFeastIn(f, year)
		return first + day, first + day, ok
	}
	if !w.yearly(now, in) {
		return 0
	}
	return n
}

// seasonAt reads "the summer of 2021", "spring 2027", "winter last year", and after "in", where the verb says
// whether it is over, "the spring" alone.
func seasonAt(s sentence, k int, now moment, w *when, lead string) int {
	j := k + boolInt(s.at(k) == "the")
	what := s.at(j)
	if seasons[what] == 0 {
		return 0
	}
	of := j + 1 + boolInt(s.at(j+1) == "of")
	if y, ok := year(s.at(of)); ok && (lead != "" || j > k) {
		w.ofSeason(what, y)
		return of + 1 - k
	}
	y, _, _ := date(now.day)
	if step := map[string]int{"this": 0, "next": 1, "last": -1}[s.at(of)]; s.at(of+1) == "year" && (step != 0 || s.at(of) == "this") {
		w.ofSeason(what, y+step)
		return of + 2 - k
	}
	if lead != "in" || what == "fall" && j == k || !s.restsAt(j+1, make([]bool, len(s.toks))) && !subjectPronoun(first(contraction(s.at(j+1)))) || s.toks[j].cap || !s.once() {
		return 0
	}
	w.seasonOf(what, 0, now)
	w.assumed = 12
	return j + 1 - k
}

// once reports whether a sentence tells of what was done or will be, and not of what one does: "we go there in
// the summer".
func (s sentence) once() bool {
	for i := range s.toks {
		switch t := s.at(i); t {
		case "always", "usually", "often", "every", "used", "never", "sometimes":
			return false
		case "will", "gonna", "'ll", "won't":
			return true
		case "am", "is", "are", "'m", "'re", "'s":
			if strings.HasSuffix(s.at(i+1), "ing") {
				return true
			}
		default:
			if strings.HasSuffix(t, "'ll") || (strings.HasSuffix(t, "'m") || strings.HasSuffix(t, "'re")) && strings.HasSuffix(s.at(i+1), "ing") {
				return true
			}
			if _, past, _ := lemma(t); past && t != "been" {
				return true
			}
		}
	}
	return false
}

// someTime reads what names a time of which nobody can say the day: "some years ago", "as a child", "in the
// nineties". What is told of it was not today.
func someTime(s sentence, k int, now moment, w *when, lead string) int {
	at := s.at
	n := 0
	if lead == "" && at(k) == "back" && at(k+1) == "in" {
		if took := someTime(s, k+2, now, w, "in"); took > 0 {
			return took + 2
		}
	}
	switch {
	case at(k+1) == "ago" && vagueLong[at(k)]:
		n = 2
	case at(k+2) == "ago" && vagueLong[at(k)+" "+at(k+1)]:
		n = 3
	case lead == "in" && at(k) == "the":
		j := k + 1
		if at(j) == "early" || at(j) == "late" {
			j++
		}
		if d := strings.TrimLeft(at(j), "'’"); decades[d] || len(d) == 5 && (d[:2] == "19" || d[:2] == "20") && strings.HasSuffix(d, "0s") {
			n = j + 1 - k
		}
	case lead == "in" && (at(k) == "my" || at(k) == "our") && (decades[at(k+1)] || at(k+1) == "childhood" || at(k+1) == "youth" || at(k+1) == "teens"):
		n = 2
	case at(k) == "as" && (at(k+1) == "a" || at(k+1) == "an") && youths[at(k+2)] && (at(k+3) == "" || s.toks[k+3].kind == 'p'):
		n = 3
	}
	if n > 0 {
		w.void, w.vague = true, true
		w.set(now.day, 'd')
	}
	return n
}

var (
	vagueLong = map[string]bool{"long": true, "years": true, "ages": true, "decades": true, "months": true, "weeks": true, "some years": true, "many years": true, "several years": true, "some months": true, "some time": true, "a while": true, "long time": true}
	decades   = set("twenties thirties forties fifties sixties seventies eighties nineties")
	youths    = set("child kid boy girl teenager baby toddler youngster")
)

// partLeads stand before the part of a year: "in Q3".
var partLeads = set("in by for until till before after during from since")

// quarterAt reads "Q3", "Q1 2027": three months.
func quarterAt(s sentence, k int, now moment, w *when) int {
	q := s.at(k)
	if _, lead := partLeads[s.at(k-1)]; !lead || len(q) != 2 || q[0] != 'q' || q[1] < '1' || q[1] > '4' {
		return 0
	}
	days := func(y int) (int, int, bool) {
		first := dayOf(y, 3*int(q[1]-'1')+1, 1)
		return first, addMonths(first, 3) - 1, true
	}
	if y, ok := year(s.at(k + 1)); ok {
		first, last, _ := days(y)
		w.ofDays(first, last)
		return 2
	}
	w.yearly(now, days)
	return 1
}

// feast is the feast that a clause begins with, and how many words it has.
func (c *clause) feast() (*feast.Feast, int) {
	if len(c.words) == 0 {
		return nil, 0
	}
	return feastAt(c.sentence, c.words[0].tok)
}

// feastBoundZh reports whether the n characters from token i are a feast, and no part of a name or another word: 李重阳,
// 清明桥, 吃元宵, 当过年级组长.
func feastBoundZh(s sentence, i, n int, words string) bool {
	before, after := s.text[s.start:s.toks[i].start], s.at(i+n)
	if endsWithAny(before, []string{"叫", "姓", "喜欢", "讨厌", "爱", "怕", "恨", "期待", "节日是"}) {
		return false
	}
	switch words {
	case "过年":
		return (before == "" || endsWithAny(before, []string{"我", "们", "年", "，", "在", "等", "到", "逢", "次", "妈", "爸", "家"})) && (after == "" || !strings.Contains("级轻糕会龄年假审检夜货", after))
	case "清明", "重阳", "元宵", "中秋", "七夕", "端午", "除夕":
		return (before == "" || endsWithAny(before, []string{"我", "们", "年", "，", "在", "等", "到", "的", "月"})) && (after == "" || strings.Contains("节期假那当前后我们去回要没放在带给打想会跟和，", after))
	}
	return true
}

// eachTime reports whether what is done at a feast or on the weekend is done each time: "we go skiing at Christmas",
// 我们过年都回老家.
func (s sentence) eachTime(w *when) bool {
	if s.chinese() {
		return w.days != nil && !containsAny(s.raw(), "今年", "明年", "去年", "前年") && containsAny(s.raw(), "每次", "每到", "每逢", "一到", "们都", "我都", "年都", "节都", "年才", "节才", "从来", "总是", "经常", "常常")
	}
	for i := range s.toks {
		switch s.at(i) {
		case "always", "usually", "never", "hardly", "normally", "rarely", "tend", "would":
			return true
		case "every":
			return i+1 < len(s.toks) && i != w.first
		case "used":
			return s.at(i+1) == "to"
		}
	}
	if lead := s.at(w.first); lead != "at" && lead != "over" || s.once() {
		return false
	}
	if i, _ := contraction(s.at(0)); i != "i" && i != "we" || i != s.at(0) {
		return false
	}
	switch s.at(1) {
	case "am", "are", "was", "were", "have", "had", "start", "begin", "leave", "fly", "arrive", "move", "finish", "return", "get", "need", "want", "hope", "plan", "can", "might", "could", "should", "must":
		return false
	}
	return true
}

// tells reports whether a sentence tells of the past, with another verb than those by which one arranges.
func (s sentence) tells() bool {
	for i := range s.toks {
		switch base, past, _ := lemma(s.at(i)); base {
		case "book", "reserve", "order", "buy", "plan", "schedule", "invite", "organise", "organize":
		default:
			if past && s.at(i) != "been" {
				return true
			}
		}
	}
	return false
}
