package timex

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/internal/feast"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Days that have another date each year: feasts, and "the first Monday of October".

// yearly sets the next days of a yearly event, and reports whether they are known. [When.Past]
// finds the previous ones.
func (w *When) yearly(now Moment, days calendar.Yearly) bool {
	first, last, ok := days.Next(now.Day)
	if ok {
		w.Days, w.Assumed = days, 12
		w.ofDays(first, last)
	}
	return ok
}

// ofDays sets a range of days: a month if they are one, and else the days.
func (w *When) ofDays(first, last int) {
	w.Set(first, 'd')
	w.Last = 0
	y, m, d := Date(first)
	switch {
	case d == 1 && last == DayOf(y, m+1, 0):
		w.Grain = 'M'
	case w.Season != "":
		w.Grain, w.Last = 'M', last
	case last > first:
		w.Last = last
	}
}

// before moves a yearly event to the last time that had begun by now or, if over is set, to the one
// before today.
func (w *When) before(now Moment, over bool) {
	if first, last, ok := w.Days.Last(now.Day, over); ok {
		w.ofDays(first, last)
	}
}

// ofFeast are things that belong to a feast and are not the feast: "the Christmas party".
var ofFeast = syntax.Set("party parties tree trees market markets present presents gift gifts card cards egg eggs bunny costume costumes decoration decorations light lights bonus shopping jumper sweater song songs concert play pudding cake cakes cookies turkey island holiday holidays break vacation sale sales parade menu do service film films movie movies carol carols spirit season wishes resolution resolutions")

// feastDay reads a feast at token k. A long feast has all its days after "over" or "at", and
// otherwise its main one.
func feastDay(s syntax.Sentence, k int, now Moment, w *When, lead string) int {
	f, n := feast.At(s.At, k)
	which := lead
	switch b := s.At(k - 1); b {
	case "last", "next", "this", "past", "coming":
		which = b
	}
	if next := k + n; f == nil || ofFeast[s.At(next)] || next < len(s.Toks) && s.Toks[next].Cap && s.At(next) != "i" && !syntax.SubjectPronoun(syntax.FirstOf(syntax.Contraction(s.At(next)))) || which == "" && (f.Days > 1 || n == 1 && f.Words != "halloween" || f.OfParent()) {
		return 0
	}
	if syntax.Determiner(s.At(k-1)) && which == "" { // the Thanksgiving that we had
		return 0
	}
	in := calendar.Yearly(f.In)
	if next := s.At(k + n); next == "dinner" || next == "lunch" || next == "breakfast" {
		which = "on"
	}
	switch which {
	case "by", "before", "after", "until", "till", "since", "from", "to", "around", "about", "on":
		in = f.Alone
	}
	if !w.yearly(now, in) {
		return 0
	}
	y, _, _ := Date(now.Day)
	switch which {
	case "last", "past":
		w.before(now, true)
		w.Assumed = 0
	case "this":
		if first, last, ok := in(y); ok && (last >= now.Day || tells(s)) {
			w.ofDays(first, last)
		}
	case "since":
		w.before(now, false)
	case "for":
		if pastBefore(s, k-1) {
			w.before(now, false)
			w.Assumed = 0
		}
	case "next", "coming":
		w.Assumed = 0
	}
	return n
}

// besideFeast reads "week before Easter", "two weeks after Christmas" at token k.
func besideFeast(s syntax.Sentence, k int, now Moment, w *When) int {
	days, next, _ := feast.Beside(s.At, k)
	if days == nil || !w.yearly(now, days) {
		return 0
	}
	return next - k
}

// feastOnZh reads 国庆节, 中秋, 春节前一周.
func feastOnZh(s syntax.Sentence, i int, now Moment, w *When) int {
	days, n := feastNameZh(s, i)
	if n == 0 || !w.yearly(now, days) {
		return 0
	}
	return n
}

// feastNameZh returns the feast that is named at token i, and how many tokens its name takes.
func feastNameZh(s syntax.Sentence, i int) (days calendar.Yearly, n int) {
	days, f, n := feast.HanAt(s.From(i))
	if f == nil || !feastBoundZh(s, i, n, f.Words) || numbersZh[f.Words] && i > 0 && strings.ContainsAny(s.At(i-1), "0123456789一二两三四五六七八九十百千万块毛第") { // 三千五一个月
		return nil, 0
	}
	if first, last, _ := days(2026); last > first && last-first < 20 { // a single day says nothing about a holiday of weeks
		days = f.Alone
	}
	if _, while := syntax.PrefixZh(s, i+n, "期间", "假期", "长假", "小长假", "那天", "当天"); while > 0 {
		n += while
	}
	if beside, took := f.HanBeside(s.From(i + n)); took > 0 {
		return beside, n + took
	}
	if next := s.At(i + n); next != "" && strings.Contains("红快岛树卡礼帽老作工班联", next) || next == "月" && s.At(i+n+1) == "饼" || next == "晚" && s.At(i+n+1) == "会" {
		return nil, 0 // 圣诞树, 春节联欢晚会
	}
	return days, n
}

// numbersZh are the feasts whose names are also numbers.
var numbersZh = syntax.Set("五一 六一 十一")

// once reports whether a sentence tells of what was done or will be, and not of what somebody does:
// "we go there in the summer".
func once(s syntax.Sentence) bool {
	for i := range s.Toks {
		switch t := s.At(i); t {
		case "always", "usually", "often", "every", "used", "never", "sometimes":
			return false
		case "will", "gonna", "'ll", "won't":
			return true
		case "am", "is", "are", "'m", "'re", "'s":
			if strings.HasSuffix(s.At(i+1), "ing") {
				return true
			}
		default:
			if strings.HasSuffix(t, "'ll") || (strings.HasSuffix(t, "'m") || strings.HasSuffix(t, "'re")) && strings.HasSuffix(s.At(i+1), "ing") {
				return true
			}
			if _, past, _ := syntax.Lemma(t); past && t != "been" {
				return true
			}
		}
	}
	return false
}

// someTime reads a time whose day is not known: "some years ago", "as a child", "in the nineties".
// What is told about it was not today.
func someTime(s syntax.Sentence, k int, now Moment, w *When, lead string) int {
	at := s.At
	n := 0
	if lead == "" && at(k) == "back" && (at(k+1) == "in" || at(k+1) == "at") {
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
	case at(k) == "as" && (at(k+1) == "a" || at(k+1) == "an") && Youths[at(k+2)] && (at(k+3) == "" || s.Toks[k+3].Kind == 'p'):
		n = 3
	case lead == "in" && schoolAt(s, k) > 0:
		if n = schoolAt(s, k); !phraseEnds(s, k+n) || !tells(s) || studies(s) {
			n = 0
		}
	case lead == "at":
		n = ageAt(s, k)
	}
	if n > 0 {
		w.Void, w.Vague = true, true
		w.Set(now.Day, 'd')
	}
	return n
}

var vagueLong = map[string]bool{"long": true, "years": true, "ages": true, "decades": true, "months": true, "weeks": true, "some years": true, "many years": true, "several years": true, "some months": true, "some time": true, "a while": true, "long time": true}

var decades = syntax.Set("twenties thirties forties fifties sixties seventies eighties nineties")

// Youths are words for how old somebody was.
var Youths = syntax.Set("child kid boy girl teenager baby toddler youngster teen")

// Schooldays are schools that stand for the years when somebody went there: "I ran marathons in college".
var Schooldays = syntax.Set("college university uni kindergarten nursery")

var schoolKinds = syntax.Set("high primary secondary elementary middle grad")

// schoolAt returns the number of tokens from k on that name such a school: "college", "high
// school".
func schoolAt(s syntax.Sentence, k int) int {
	switch {
	case Schooldays[s.At(k)]:
		return 1
	case schoolKinds[s.At(k)] && s.At(k+1) == "school":
		return 2
	}
	return 0
}

// studies reports whether the sentence has a verb of learning, to which a school belongs.
func studies(s syntax.Sentence) bool {
	return slices.ContainsFunc(s.Toks, func(t syntax.Token) bool {
		return strings.HasPrefix(t.S, "stud") || t.S == "taught" || t.S == "learned"
	})
}

// phraseEnds reports whether no noun continues the phrase at token k: "in college", and not "in
// college football".
func phraseEnds(s syntax.Sentence, k int) bool {
	if k >= len(s.Toks) || s.Toks[k].Kind == 'p' || syntax.SubjectPronoun(s.At(k)) || syntax.Determiner(s.At(k)) || syntax.Preposition(s.At(k)) {
		return true
	}
	switch s.At(k) {
	case "and", "but", "so", "because", "when", "my", "our":
		return true
	}
	return false
}

// feastBoundZh reports whether the n characters from token i on are a feast, and not part of a name
// or another word: 李重阳, 清明桥, 吃元宵, 当过年级组长.
func feastBoundZh(s syntax.Sentence, i, n int, words string) bool {
	before, after := s.Text[s.Start:s.Toks[i].Start], s.At(i+n)
	if syntax.EndsWithAny(before, []string{"叫", "姓", "不过", "喜欢", "讨厌", "爱", "怕", "恨", "期待", "节日是"}) {
		return false
	}
	switch words {
	case "暑假", "寒假", "母亲节", "父亲节":
		return freeDaysZh(s.Raw(), before, after, words)
	case "过年":
		return (before == "" || syntax.EndsWithAny(before, []string{"我", "们", "年", "，", "在", "等", "到", "逢", "次", "妈", "爸", "家"})) && (after == "" || !strings.Contains("级轻糕会龄年假审检夜货", after))
	case "清明", "重阳", "元宵", "中秋", "七夕", "端午", "除夕", "腊八", "小年":
		return (before == "" || syntax.EndsWithAny(before, []string{"我", "们", "年", "，", "在", "等", "到", "的", "月"})) && (after == "" || strings.Contains("节期假那当前后我们去回要没放在带给打想会跟和，", after))
	}
	return true
}

// freeDaysZh reports whether school holidays, or Mother's or Father's Day, say when something will
// be. What is told about them may be in any year: 暑假我学会了游泳. before and after are the texts next to
// the words.
func freeDaysZh(raw, before, after, words string) bool {
	told := freeWordsZh.Replace(raw)
	if strings.HasSuffix(words, "假") && !syntax.ContainsAny(told, "要", "去", "会", "打算", "准备", "计划", "回", "想", "带", "飞") {
		return false
	}
	return (before == "" || syntax.EndsWithAny(before, []string{"我", "们", "年", "，", "在", "这个", "子", "打算", "想"})) && (after == "" || !strings.Contains("档票前后作工班贺礼快到有结开从里的卡", after)) &&
		!syntax.ContainsAny(told, "了", "过", "得", "没", "不", "盼", "喜欢", "爱", "讨厌", "忘", "那年", "小时候", "有一次", "年前", "上个", "上次")
}

// freeWordsZh removes the words that contain 了, 得, 过, 要, 去 or 会.
var freeWordsZh = syntax.Compounds("了解 记得 得去 得回 过去 重要 主要 需要 会议 开会 社会 机会 去年 要是")

// eachTime reports whether what is done at a feast or on the weekend is done each time: "we go
// skiing at Christmas", 我们过年都回老家.
func eachTime(s syntax.Sentence, w *When) bool {
	if s.Chinese() {
		return w.Days != nil && !syntax.ContainsAny(s.Raw(), "今年", "明年", "去年", "前年") && syntax.ContainsAny(s.Raw(), "每次", "每到", "每逢", "一到", "们都", "我都", "年都", "节都", "年才", "节才", "从来", "总是", "经常", "常常")
	}
	for i := range s.Toks {
		switch word := s.At(i); word {
		case "never", "hardly", "rarely", "tend":
			return true
		case "would":
			return !wishes[s.At(i+1)]
		case "every":
			return i+1 < len(s.Toks) && i != w.First
		case "used":
			return s.At(i+1) == "to"
		default:
			if asRule[word] {
				return true
			}
		}
	}
	if lead := s.At(w.First); lead != "at" && lead != "over" || once(s) {
		return false
	}
	if i, _ := syntax.Contraction(s.At(0)); i != "i" && i != "we" || i != s.At(0) {
		return false
	}
	switch s.At(1) {
	case "am", "are", "was", "were", "have", "had", "start", "begin", "leave", "fly", "arrive", "move", "finish", "return", "get", "need", "want", "hope", "plan", "can", "might", "could", "should", "must":
		return false
	}
	return true
}

// wishes are words after "would" about the future: "I would like to visit him at Easter".
var wishes = syntax.Set("like love prefer rather be")

// tells reports whether a sentence tells of the past, with a verb that is not one of arranging.
func tells(s syntax.Sentence) bool {
	for i := range s.Toks {
		if base, past, _ := syntax.Lemma(s.At(i)); past && !arranged[base] && s.At(i) != "been" {
			return true
		}
	}
	return false
}

// SameYearly reports whether a time is one day that has the same date each year: "the last Sunday
// in May" is not.
func SameYearly(w *When) bool {
	if !w.HasDay || w.Habit || w.Grain != 'd' || w.Last > 0 {
		return false
	}
	if w.Days == nil {
		return true
	}
	first, _, ok := w.Days(2026)
	second, _, ok2 := w.Days(2027)
	return ok && ok2 && second-first == 365
}
