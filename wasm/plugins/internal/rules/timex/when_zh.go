package timex

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// NumberZh reads a number at token i, in digits or characters, up to 9999. took is how many tokens
// it takes; 0: there is none.
func NumberZh(s syntax.Sentence, i int) (n, took int) {
	if i < len(s.Toks) && s.Toks[i].Kind == 'n' {
		v, err := strconv.Atoi(s.At(i))
		return v, syntax.BoolInt(err == nil)
	}
	return calendar.Han(s.From(i))
}

var nearDays = map[string]int{"今天": 0, "今晚": 0, "今早": 0, "今儿": 0, "今儿个": 0, "明天": 1, "明晚": 1, "明早": 1, "明儿": 1, "明儿个": 1, "后天": 2, "大后天": 3, "昨天": -1, "昨晚": -1, "昨儿": -1, "昨儿个": -1, "前天": -2, "前晚": -2, "大前天": -3}

// DayPartZh reads a day at token i into w, and returns how many tokens it takes.
func DayPartZh(s syntax.Sentence, i int, now Moment, w *When) int {
	if boundZh(s, i) || s.At(i-1) == "比" { // 比去年长了七公分
		return 0
	}
	for _, read := range [...]func(syntax.Sentence, int, Moment, *When) int{nearDayZh, someTimeZh, everyZh, yearZh, monthZh, roughlyZh, numericDate, soonZh, feastZh, weekZh, dateZh} {
		if n := read(s, i, now, w); n > 0 {
			return n
		}
	}
	return 0
}

// nearDayZh reads 今天, 明早, 大后天.
func nearDayZh(s syntax.Sentence, i int, now Moment, w *When) int {
	word, n := syntax.PrefixZh(s, i, "大后天", "大前天", "今天", "今晚", "今早", "今儿个", "今儿", "明天", "明晚", "明早", "明儿个", "明儿", "后天", "昨天", "昨晚", "昨儿个", "昨儿", "前天", "前晚")
	if n == 0 || (word == "后天" || word == "前天") && s.At(i-1) == "以" && s.At(i+2) == "天" { // 以后天天 is every day after
		return 0
	}
	w.Set(now.Day+nearDays[word], 'd')
	switch {
	case strings.HasSuffix(word, "晚"):
		w.part(20 * 60)
	case strings.HasSuffix(word, "早"):
		w.part(8 * 60)
	}
	return n
}

// someTimeZh is [someTime] in Chinese: 小时候, 多年前, 有一次, 十岁那年.
func someTimeZh(s syntax.Sentence, i int, now Moment, w *When) int {
	_, n := syntax.PrefixZh(s, i, "小时候", "小学时", "初中时", "高中时", "大学时", "上学那会", "上大学的时候", "上学的时候", "读书的时候", "很多年前", "好多年前", "多年前", "好几年前", "几年前", "很久以前", "很久之前", "有一次", "有一回", "有次")
	if n == 0 {
		age, took := NumberZh(s, i)
		after, m := syntax.PrefixZh(s, i+took, "岁的时候", "岁那年", "岁时")
		if took == 0 || after == "" || age > 90 {
			return 0
		}
		n = took + m
	}
	w.Set(now.Day, 'd')
	w.Void, w.Vague = true, true
	return n
}

// everyZh reads 每天, 每个月, 隔周的周三, 每隔一个周日.
func everyZh(s syntax.Sentence, i int, now Moment, w *When) int {
	word, n := syntax.PrefixZh(s, i, "每天", "每晚", "每年", "每个月", "每月", "天天", "每隔一个", "每隔一", "每隔", "隔一周", "隔周", "隔天")
	if n == 0 {
		return 0
	}
	var day When
	n += syntax.BoolInt(s.At(i+n) == "的")
	n += weekZh(s, i+n, now, &day)
	if word == "每个月" || word == "每月" {
		_, of := dayOfMonthZh(s, i+n)
		n += of // 每月五号
	}
	w.Habit = true
	w.Set(now.Day, 'd')
	return n
}

var yearsZh = map[string]int{"明年": 1, "去年": -1, "今年": 0, "前年": -2, "后年": 2, "大前年": -3, "大后年": 3}

// yearZh reads 明年, 明年三月, 去年三月五号.
func yearZh(s syntax.Sentence, i int, now Moment, w *When) int {
	word, n := syntax.PrefixZh(s, i, "大前年", "大后年", "明年", "去年", "今年", "前年", "后年")
	if n == 0 {
		return 0
	}
	y, _, _ := Date(now.Day)
	y += yearsZh[word]
	return n + inYearZh(s, i+n, y+syntax.BoolInt(word == "今年" && nextFeastZh(s, i+n, y, now)), w)
}

// inYearZh reads which part of a year is meant, from token k on: 三月五号, 三月, or nothing and the year
// itself.
func inYearZh(s syntax.Sentence, k, y int, w *When) int {
	if s.At(k) == "的" {
		n := inYearZh(s, k+1, y, w)
		return n + syntax.BoolInt(n > 0)
	}
	if p, n := calendar.HanMonths(s.From(k)); n > 0 {
		w.ofSeason(p, y)
		return n
	}
	if days, n := feastNameZh(s, k); n > 0 {
		w.Days = days
		w.ofYear(y)
		return n
	}
	m, n := NumberZh(s, k)
	if n == 0 || s.At(k+n) != "月" || m < 1 || m > 12 {
		w.Set(DayOf(y, 1, 1), 'y')
		return 0
	}
	return n + 1 + inMonthZh(s, k+n+1, y, m, w)
}

// inMonthZh reads which part of a month is meant, from token k on: 五号, or nothing and the month
// itself.
func inMonthZh(s syntax.Sentence, k, y, m int, w *When) int {
	d, n := bareDayZh(s, k)
	if n > 0 {
		w.calendar(y, m, d)
		return n
	}
	w.Set(DayOf(y, m, 1), 'M')
	return monthPartZh(s, k, w)
}

// monthPartZh reads what follows the month of w: 底, 初, 中旬, 份, 的第一个周一, 第一周.
func monthPartZh(s syntax.Sentence, k int, w *When) int {
	if s.At(k) == "份" {
		return 1
	}
	p, n := calendar.HanPart(s.From(k))
	if n == 0 {
		return 0
	}
	y, m, _ := Date(w.Day)
	first, last, ok := p(y, m)
	if !ok {
		return 0
	}
	w.ofDays(first, last)
	return n
}

// dayOfMonthZh reads 五号, 五日 at token k; n is 0 if there is none.
func dayOfMonthZh(s syntax.Sentence, k int) (d, n int) {
	d, n = NumberZh(s, k)
	if n == 0 || d > 99 || s.At(k+n) != "日" && s.At(k+n) != "号" {
		return 0, 0
	}
	return d, n + 1
}

// bareDayZh reads at token k, after a month, a day without 号: 一月十八.
func bareDayZh(s syntax.Sentence, k int) (d, n int) {
	d, n = dayOfMonthZh(s, k)
	if n > 0 {
		return d, n
	}
	d, n = NumberZh(s, k)
	if next := s.At(k + n); n == 0 || d < 10 || d > 31 || next != "" && s.Toks[k+n].Kind != 'p' && (s.Toks[k+n].Kind == 'n' || strings.Contains("个天块元点岁人次年周里斤多几来节集章页家本万千百条件场门分小公平米号月到至和、.:", next)) {
		return 0, 0
	}
	return d, n
}

// monthZh reads 下个月, 上月五号, 上个季度.
func monthZh(s syntax.Sentence, i int, now Moment, w *When) int {
	word, n := syntax.PrefixZh(s, i, "下下个月", "上上个月", "下个月", "上个月", "这个月", "本月", "下月", "上月", "下个季度", "上个季度", "这个季度", "本季度", "下季度", "上季度")
	if n == 0 {
		return 0
	}
	step := strings.Count(word, "下") - strings.Count(word, "上")
	if strings.HasSuffix(word, "季度") {
		w.ofDays(calendar.Quarter(now.Day, step))
		return n
	}
	y, m, _ := Date(now.Day)
	y, m, _ = Date(AddMonths(DayOf(y, m, 1), step))
	return n + inMonthZh(s, i+n, y, m, w)
}

// roughlyZh reads 前几天, 过两天, 前几年: an approximate time.
func roughlyZh(s syntax.Sentence, i int, now Moment, w *When) int {
	word, n := syntax.PrefixZh(s, i, "前两年", "前几年", "这两年", "前阵子", "前几天", "前两天", "过两天", "过几天")
	switch word {
	case "前两年", "前几年":
		w.Set(AddMonths(now.Day, -24), 'y')
	case "前阵子":
		w.Set(now.Day-14, 'w')
	case "前几天", "前两天":
		w.Set(now.Day-3, 'w')
	case "过两天", "过几天":
		w.Set(now.Day+3, 'w')
	case "这两年":
		w.Habit = true
		w.Set(now.Day, 'd')
	}
	return n
}

// dateZh reads a day, month or year by its number: 2026年三月, 三月五号, 五号; and 三天后.
func dateZh(s syntax.Sentence, i int, now Moment, w *When) int {
	if y, k := shortYearZh(s, i, now); k > 0 {
		return k + inYearZh(s, i+k, y, w)
	}
	n, k := NumberZh(s, i)
	if k == 0 {
		return 0
	}
	next := i + k + 1
	y, _, _ := Date(now.Day)
	switch s.At(i + k) {
	case "年":
		if n >= 1900 && n < 2100 {
			return k + 1 + inYearZh(s, next, n, w)
		}
	case "月":
		if lunarZh(s, i, next) {
			return 0
		}
		d, took := bareDayZh(s, next)
		if early, more := dayOfMonthZh(s, next+1); s.At(next) == "初" && more > 0 { // 三月初五号
			d, took = early, more+1
		}
		switch {
		case n > 12 && n < 100 && took > 0: // 十三月一号
			w.Void = true
			w.Set(now.Day, 'd')
			return k + 1 + took
		case n >= 1 && n <= 12 && took > 0:
			w.coming(now, n, d)
			w.Assumed = 12
			return k + 1 + took + daysZh(s, next+took, w)
		case n >= 1 && n <= 12:
			if DayOf(y, n, MonthLength(y, n)) < now.Day {
				y++
			}
			w.Set(DayOf(y, n, 1), 'M')
			w.Assumed = 12
			part := monthPartZh(s, next, w)
			if p, n2 := calendar.HanPart(s.From(next)); n2 > 0 {
				w.Days = p.Of(n)
			}
			return k + 1 + part
		}
	case "号":
		if n > 31 && n < 100 && k > 1 && s.At(next) == "见" {
			w.Void = true
			w.Set(now.Day, 'd')
			return k + 1
		}
		if n >= 1 && n <= 31 && !numberedZh[s.At(next)] && !houseZh(s, i) {
			w.onDayOfMonth(n, now)
			return k + 1 + daysZh(s, next, w)
		}
	}
	return spanZh(s, i, n, k, now, w)
}

// lunarZh reports whether the month at i, after which comes next, is in the lunar calendar: 农历八月,
// 七月初七.
func lunarZh(s syntax.Sentence, i, next int) bool {
	for k := i - 1; k >= 0 && k >= i-3; k-- {
		if w := s.At(k); w == "历" {
			return s.At(k-1) != "" && strings.Contains("农阴旧", s.At(k-1))
		}
	}
	if s.At(next) != "初" || s.At(next+1) == "" || !strings.Contains("一二三四五六七八九十", s.At(next+1)) {
		return false
	}
	_, k := NumberZh(s, next+1)
	after := s.At(next + 1 + k)
	return after == "" || !strings.Contains("日号个位天几场次周年名", after) // 三月初五号, 八月初一个朋友
}

// feastZh reads 周末, 月底, 国庆, 春节: days without a number.
func feastZh(s syntax.Sentence, i int, now Moment, w *When) int {
	y, m, _ := Date(now.Day)
	if word, n := syntax.PrefixZh(s, i, "这周末", "周末"); n > 0 {
		w.Set(now.Day-now.Weekday()+5, 'd')
		w.Weekday = word == "周末" && s.At(i+n) != "的"
		w.Weekend = w.Weekday
		return n
	}
	if p, n := calendar.HanMonths(s.From(i)); n > 0 && !p.Season() {
		w.ofSeason(p, y)
		return n
	}
	before, _ := utf8.DecodeRuneInString(s.At(i - 1))
	if p, n := calendar.HanMonth(before, s.From(i)); n > 0 {
		first, last, _ := p(y, m)
		w.ofDays(first, last)
		return n
	}
	return feastOnZh(s, i, now, w)
}

// weekZh reads 周二, 下周二, 上个星期天, 这周末, 每周三, 下周.
func weekZh(s syntax.Sentence, i int, now Moment, w *When) int {
	rel, r := syntax.PrefixZh(s, i, "下下个", "下下", "下个", "下", "上上个", "上上", "上个", "上", "这个", "这", "本", "每个", "每")
	_, u := syntax.PrefixZh(s, i+r, "星期", "礼拜", "周")
	if u == 0 {
		return 0
	}
	monday := now.Day - now.Weekday()
	week := 0
	switch {
	case strings.HasPrefix(rel, "下下"):
		week = 14
	case strings.HasPrefix(rel, "下"):
		week = 7
	case strings.HasPrefix(rel, "上上"):
		week = -14
	case strings.HasPrefix(rel, "上"):
		week = -7
	}
	if word, n := syntax.PrefixZh(s, i+r+u, "一", "二", "三", "四", "五", "六", "日", "天", "末"); n > 0 {
		d := strings.Index("一二三四五六日", word) / 3
		if before, of := s.At(i-1), s.At(i+u+n); r == 0 && u == 1 && of != "" && (strings.Contains("百千万", of) || strings.Contains("小老", before) && strings.Contains("块元十", of)) {
			return 0 // 小周六百块
		} else if word, next := s.At(i+u), s.At(i+u+n); r == 0 && u == 1 && word == "一" && next == "家" && (before == "小" || before == "老") {
			return 0 // 小周一家
		} else if r == 0 && before != "" && of != "" && strings.Contains("一两每", before) && strings.Contains("次回遍天节趟顿小", of) {
			return 0 // 一周三次
		}
		if word == "天" {
			d = 6
		} else if word == "末" {
			d = 5
		}
		switch {
		case strings.HasPrefix(rel, "每"):
			w.Habit = true
			w.Set(now.Day, 'd')
		case r == 0:
			if of, ok := weekBeforeZh(s, i); ok {
				w.Set(monday+of+d, 'd')
				break
			}
			w.Set(now.Day+1+Mod(d-now.Weekday()-1, 7), 'd')
			w.Weekday = true
			if verb, after := s.At(i+u+n), s.At(i+u+n+2); verb != "" && strings.Contains("出到来买去回走办生转订寄发拿交换修装卖做约", verb) && s.At(i+u+n+1) == "的" && (after == "" || s.Toks[i+u+n+2].Kind == 'p') {
				w.Past(now) // 礼拜三出的
				w.Weekday = false
				return u + n
			}
			more, each := barePairZh(s, i+u+n, d)
			if more == 0 {
				if more, each = pairZh(s, i+u+n, d); !each {
					more = 0
				}
			}
			if n += more; each || s.At(i+u+n) == "都" && !syntax.ContainsAny(s.Raw(), "了", "要", "会", "过", "没", "不", "可以", "能", "行", "有空", "在", "吗") { // 我们家周五都吃鱼
				w.Habit, w.Weekday = true, false
			}
		default:
			w.Set(monday+week+d, 'd')
			bare, _ := barePairZh(s, i+r+u+n, d)
			n += bare // 下周一三五: from the first one on
		}
		return r + u + n
	}
	if r == 0 {
		return 0
	}
	if strings.HasPrefix(rel, "每") {
		w.Habit = true
	}
	w.Set(monday+week, 'w')
	return r + u
}
