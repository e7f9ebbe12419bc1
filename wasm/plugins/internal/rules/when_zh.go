package rules

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

var digitsZh = map[string]int{"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}

// numberZh reads a number at token i, in digits or characters, up to 9999.
func numberZh(s sentence, i int) (n, took int) {
	if i >= len(s.toks) {
		return 0, 0
	}
	if s.toks[i].kind == 'n' {
		v, err := strconv.Atoi(s.at(i))
		if err != nil {
			return 0, 0
		}
		return v, 1
	}
	k, total, digit := i, 0, -1
	plain, run := 0, 0 // 二〇二六: digits in a row
	for ; k < len(s.toks); k++ {
		if d, ok := digitsZh[s.at(k)]; ok {
			if digit >= 0 {
				run++
			}
			digit = d
			plain = plain*10 + d
			continue
		}
		unit := map[string]int{"十": 10, "百": 100, "千": 1000}[s.at(k)]
		if unit == 0 {
			break
		}
		if digit < 0 {
			digit = 1
		}
		total += digit * unit
		digit = -1
		plain = 0
	}
	if k == i || k-i > 6 {
		return 0, 0
	}
	if run > 0 && total == 0 {
		return plain, k - i
	}
	if digit >= 0 {
		total += digit
	}
	return total, k - i
}

// prefixZh gives the first of words that the text has at token i, and its
// tokens.
func prefixZh(s sentence, i int, words ...string) (string, int) {
	if i >= len(s.toks) {
		return "", 0
	}
	rest := s.text[s.toks[i].start:s.end]
	for _, w := range words {
		if strings.HasPrefix(rest, w) {
			return w, utf8.RuneCountInString(w)
		}
	}
	return "", 0
}

var nearDays = map[string]int{"今天": 0, "今晚": 0, "今早": 0, "今儿": 0, "明天": 1, "明晚": 1, "明早": 1, "明儿": 1, "后天": 2, "大后天": 3, "昨天": -1, "昨晚": -1, "昨儿": -1, "前天": -2, "前晚": -2, "大前天": -3}

// dayPartZh reads a day at token i into w, and says how many tokens it takes.
func dayPartZh(s sentence, i int, now moment, w *when) int {
	if boundZh(s, i) {
		return 0
	}
	for _, read := range [...]func(sentence, int, moment, *when) int{nearDayZh, everyZh, yearZh, monthZh, roughlyZh, numericDate, soonZh, feastZh, weekZh, dateZh} {
		if n := read(s, i, now, w); n > 0 {
			return n
		}
	}
	return 0
}

// nearDayZh reads 今天, 明早, 大后天.
func nearDayZh(s sentence, i int, now moment, w *when) int {
	word, n := prefixZh(s, i, "大后天", "大前天", "今天", "今晚", "今早", "今儿", "明天", "明晚", "明早", "明儿", "后天", "昨天", "昨晚", "昨儿", "前天", "前晚")
	if n == 0 || word == "后天" && s.at(i-1) == "以" && s.at(i+2) == "天" { // 以后天天 is every day after
		return 0
	}
	w.set(now.day+nearDays[word], 'd')
	switch {
	case strings.HasSuffix(word, "晚"):
		w.part(20 * 60)
	case strings.HasSuffix(word, "早"):
		w.part(8 * 60)
	}
	return n
}

// everyZh reads 每天, 每个月, 隔周的周三, 每隔一个周日.
func everyZh(s sentence, i int, now moment, w *when) int {
	_, n := prefixZh(s, i, "每天", "每晚", "每年", "每个月", "每月", "天天", "每隔一个", "每隔一", "每隔", "隔一周", "隔周", "隔天")
	if n == 0 {
		return 0
	}
	var day when
	n += boolInt(s.at(i+n) == "的")
	n += weekZh(s, i+n, now, &day)
	w.habit = true
	w.set(now.day, 'd')
	return n
}

var yearsZh = map[string]int{"明年": 1, "去年": -1, "今年": 0, "前年": -2, "后年": 2}

// yearZh reads 明年, 明年三月, 去年三月五号.
func yearZh(s sentence, i int, now moment, w *when) int {
	word, n := prefixZh(s, i, "明年", "去年", "今年", "前年", "后年")
	if n == 0 {
		return 0
	}
	y, _, _ := date(now.day)
	return n + inYearZh(s, i+n, y+yearsZh[word], w)
}

// inYearZh reads what is meant of a year, from token k: 三月五号, 三月, or nothing and the year itself.
func inYearZh(s sentence, k, y int, w *when) int {
	if part, n := prefixZh(s, k, "年底", "年末", "年初", "上半年", "下半年"); n > 0 {
		w.partOfYear(part, y)
		return n
	}
	if n := feastOnZh(s, k, moment{day: dayOf(y, 1, 1)}, w); n > 0 {
		first, last, ok := w.days(y)
		w.assumed, w.days, w.last = 0, nil, 0
		if ok {
			w.ofDays(first, last)
		} else {
			w.set(dayOf(y, 1, 1), 'y')
		}
		return n
	}
	for i, season := range [...]string{"春", "夏", "秋", "冬"} {
		if next := s.at(k + 1); s.at(k) == season && (next == "天" || next == "季") {
			w.set(dayOf(y, 3+3*i, 1), 'M')
			w.last, w.season = addMonths(w.day, 3)-1, season+"天"
			return 2
		}
	}
	m, n := numberZh(s, k)
	if n == 0 || s.at(k+n) != "月" || m < 1 || m > 12 {
		w.set(dayOf(y, 1, 1), 'y')
		return 0
	}
	return n + 1 + inMonthZh(s, k+n+1, y, m, w)
}

// inMonthZh reads what is meant of a month, from token k: 五号, or nothing and the month itself.
func inMonthZh(s sentence, k, y, m int, w *when) int {
	d, n := dayOfMonthZh(s, k)
	if n > 0 {
		w.calendar(y, m, d)
		return n
	}
	w.set(dayOf(y, m, 1), 'M')
	return monthPartZh(s, k, w)
}

// monthPartZh reads what follows a month that w has: 底, 初, 中旬, 份, 的第一个周一, 第一周.
func monthPartZh(s sentence, k int, w *when) int {
	first, next := w.day, addMonths(w.day, 1)
	if s.at(k) == "初" && digitsZh[s.at(k+1)] > 0 || s.at(k) == "初" && s.at(k+1) == "十" {
		return 0 // the moon's
	}
	part, n := prefixZh(s, k, "底", "末", "初", "上旬", "中旬", "下旬", "份")
	if after := s.at(k + n); n > 0 && after != "" && strings.Contains("恋次步级中班量", after) {
		return 0 // 五月初恋分手了, 三月末班车
	}
	switch part {
	case "底", "末":
		w.lastDays(next)
	case "初", "上旬":
		w.ofDays(first, first+9)
	case "中旬":
		w.ofDays(first+10, first+19)
	case "下旬":
		w.ofDays(first+20, next-1)
	case "":
		_, of := prefixZh(s, k, "的")
		nth, took := prefixZh(s, k+of, "第一个", "第二个", "第三个", "第四个", "最后一个", "第一", "第二", "第三", "第四", "最后")
		if took == 0 {
			return 0
		}
		_, u := prefixZh(s, k+of+took, "星期", "礼拜", "周")
		word, dn := prefixZh(s, k+of+took+u, "一", "二", "三", "四", "五", "六", "日", "天", "末")
		day := strings.Index("一二三四五六日", word) / 3
		switch word {
		case "天":
			day = 6
		case "末":
			day = 5
		}
		i := strings.Index("一二三四", strings.TrimSuffix(strings.TrimPrefix(nth, "第"), "个")) / 3
		at := first + 7*i
		last := strings.HasPrefix(nth, "最后")
		if last {
			at = next - 7
		}
		switch {
		case u == 0:
			return 0
		case dn == 0 && !last: // 第一周
			w.set(at, 'w')
			return of + took + u
		case dn == 0:
			w.lastDays(next)
			return of + took + u
		}
		w.set(at+mod(day-moment{day: at}.weekday(), 7), 'd')
		return of + took + u + dn
	}
	return n
}

// dayOfMonthZh reads 五号, 五日 at token k; n is 0 where there is none.
func dayOfMonthZh(s sentence, k int) (d, n int) {
	d, n = numberZh(s, k)
	if n == 0 || d > 99 || s.at(k+n) != "日" && s.at(k+n) != "号" {
		return 0, 0
	}
	return d, n + 1
}

// monthZh reads 下个月, 上月五号.
func monthZh(s sentence, i int, now moment, w *when) int {
	word, n := prefixZh(s, i, "下下个月", "上上个月", "下个月", "上个月", "这个月", "本月", "下月", "上月")
	if n == 0 {
		return 0
	}
	y, m, _ := date(now.day)
	y, m, _ = date(addMonths(dayOf(y, m, 1), strings.Count(word, "下")-strings.Count(word, "上")))
	return n + inMonthZh(s, i+n, y, m, w)
}

// roughlyZh reads 前几天, 过两天, 前几年: more or less when.
func roughlyZh(s sentence, i int, now moment, w *when) int {
	word, n := prefixZh(s, i, "前两年", "前几年", "这两年", "前阵子", "前几天", "前两天", "过两天", "过几天")
	switch word {
	case "前两年", "前几年":
		w.set(addMonths(now.day, -24), 'y')
	case "前阵子":
		w.set(now.day-14, 'w')
	case "前几天", "前两天":
		w.set(now.day-3, 'w')
	case "过两天", "过几天":
		w.set(now.day+3, 'w')
	case "这两年":
		w.habit = true
		w.set(now.day, 'd')
	}
	return n
}

// dateZh reads a day, month or year by its number: 2026年三月, 三月五号, 五号; and 三天后.
func dateZh(s sentence, i int, now moment, w *when) int {
	n, k := numberZh(s, i)
	if k == 0 {
		return 0
	}
	next := i + k + 1
	y, _, _ := date(now.day)
	switch s.at(i + k) {
	case "年":
		if n >= 1900 && n < 2100 {
			return k + 1 + inYearZh(s, next, n, w)
		}
	case "月":
		if lunarZh(s, i, next) {
			return 0
		}
		d, took := dayOfMonthZh(s, next)
		if early, more := dayOfMonthZh(s, next+1); s.at(next) == "初" && more > 0 { // 三月初五号
			d, took = early, more+1
		}
		switch {
		case n > 12 && n < 100 && took > 0: // 十三月一号
			w.void = true
			w.set(now.day, 'd')
			return k + 1 + took
		case n >= 1 && n <= 12 && took > 0:
			w.coming(now, n, d)
			w.assumed = 12
			return k + 1 + took + daysZh(s, next+took, w)
		case n >= 1 && n <= 12:
			if dayOf(y, n, monthLength(y, n)) < now.day {
				y++
			}
			w.set(dayOf(y, n, 1), 'M')
			w.assumed = 12
			part := monthPartZh(s, next, w)
			if w.grain == 'd' {
				w.days = func(y int) (first, last int, ok bool) {
					var in when
					in.set(dayOf(y, n, 1), 'M')
					monthPartZh(s, next, &in)
					return in.day, max(in.day, in.last), true
				}
			}
			return k + 1 + part
		}
	case "号":
		if n > 31 && n < 100 && k > 1 && s.at(next) == "见" {
			w.void = true
			w.set(now.day, 'd')
			return k + 1
		}
		if n >= 1 && n <= 31 && !numberedZh[s.at(next)] && !houseZh(s, i) {
			y, m := monthWith(n, now)
			w.calendar(y, m, n)
			w.assumed = 1
			return k + 1 + daysZh(s, next, w)
		}
	}
	return spanZh(s, i, n, k, now, w)
}

// lunarZh reports whether the month at i, after which comes next, is one of the lunar calendar: 农历八月, 七月初七.
func lunarZh(s sentence, i, next int) bool {
	for k := i - 1; k >= 0 && k >= i-3; k-- {
		if w := s.at(k); w == "历" || w == "曆" {
			return s.at(k-1) != "" && strings.Contains("农農阴陰旧舊", s.at(k-1))
		}
	}
	if s.at(next) != "初" || s.at(next+1) == "" || !strings.Contains("一二三四五六七八九十", s.at(next+1)) {
		return false
	}
	_, k := numberZh(s, next+1)
	after := s.at(next + 1 + k)
	return after == "" || !strings.Contains("日号个位天几场次周年名", after) // 三月初五号, 八月初一个朋友
}

// feastZh reads 周末, 月底, 国庆, 春节: days that go by no number.
func feastZh(s sentence, i int, now moment, w *when) int {
	y, m, _ := date(now.day)
	word, n := prefixZh(s, i, "这周末", "周末", "月底", "月末", "月初", "下月初", "年底", "年末", "年初", "上半年", "下半年")
	if s.at(i) == "月" && (digitsZh[s.at(i-1)] > 0 || s.at(i-1) == "十") {
		return 0 // of a month that has a number
	}
	switch word {
	case "周末", "这周末":
		w.set(now.day-now.weekday()+5, 'w')
	case "月底", "月末":
		w.lastDays(addMonths(dayOf(y, m, 1), 1))
	case "下月初":
		w.set(addMonths(dayOf(y, m, 1), 1), 'w')
	case "月初":
		w.ofDays(dayOf(y, m, 1), dayOf(y, m, 10))
	case "年底", "年末", "年初", "上半年", "下半年":
		w.partOfYear(word, y)
	}
	if n == 0 {
		n = feastOnZh(s, i, now, w)
	}
	return n
}

// weekZh reads 周二, 下周二, 上个星期天, 这周末, 每周三, 下周.
func weekZh(s sentence, i int, now moment, w *when) int {
	rel, r := prefixZh(s, i, "下下个", "下下", "下个", "下", "上上个", "上上", "上个", "上", "这个", "这", "本", "每个", "每")
	_, u := prefixZh(s, i+r, "星期", "礼拜", "周")
	if u == 0 {
		return 0
	}
	monday := now.day - now.weekday()
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
	if word, n := prefixZh(s, i+r+u, "一", "二", "三", "四", "五", "六", "日", "天", "末"); n > 0 {
		d := strings.Index("一二三四五六日", word) / 3
		if word == "天" {
			d = 6
		} else if word == "末" {
			d = 5
		}
		switch {
		case strings.HasPrefix(rel, "每"):
			w.habit = true
			w.set(now.day, 'd')
		case r == 0:
			if of, ok := weekBeforeZh(s, i); ok {
				w.set(monday+of+d, 'd')
				break
			}
			w.set(now.day+1+mod(d-now.weekday()-1, 7), 'd')
			w.weekday = true
			if n2, more := pairZh(s, i+u+n, d); more {
				w.habit, w.weekday = true, false
				return u + n + n2
			}
		default:
			w.set(monday+week+d, 'd')
		}
		return r + u + n
	}
	if r == 0 {
		return 0
	}
	if strings.HasPrefix(rel, "每") {
		w.habit = true
	}
	w.set(monday+week, 'w')
	return r + u
}

var partsZh = map[string]int{"凌晨": 3 * 60, "早上": 8 * 60, "早晨": 8 * 60, "上午": 10 * 60, "中午": 12 * 60, "下午": 15 * 60, "傍晚": 18 * 60, "晚上": 20 * 60, "夜里": 22 * 60}

func clockPartZh(s sentence, i int, now moment, w *when) int {
	part, p := prefixZh(s, i, "凌晨", "早上", "早晨", "上午", "中午", "下午", "傍晚", "晚上", "夜里")
	k := i + p
	if next := s.at(k); p > 0 && (next == "饭" || next == "餐") && boundZh(s, i) {
		return 0 // 记一下午饭的时间
	}
	afternoon := -1
	if p > 0 {
		afternoon = partsZh[part]
	} else if w.byPart {
		afternoon = w.minute
	}
	if m, q := prefixZh(s, k, "差一刻", "差五分", "差十分", "差两分", "差三分", "差八分"); q > 0 { // 差五分八点
		if h, n := numberZh(s, k+q); n > 0 && s.at(k+q+n) == "点" && h >= 1 && h <= 12 {
			short := map[string]int{"差一刻": 15, "差五分": 5, "差十分": 10, "差两分": 2, "差三分": 3, "差八分": 8}[m]
			if h = before(h); h < 12 && (afternoon >= 12*60 || afternoon < 0 && h < 7) {
				h += 12
			}
			w.minute, w.clock, w.byPart = h*60+60-short, true, false
			return k + q + n + 1 - i
		}
	}
	h, n := numberZh(s, k)
	_, counted := prefixZh(s, k+n+1, "建议", "意见", "要求", "理由", "原因", "好处", "坏处", "内容", "想法", "说明", "看法", "不同", "共识", "希望")
	if n > 0 && (s.at(k+n) == "点" || s.at(k+n) == "时") && h <= 99 && counted == 0 {
		w.void = w.void || h > 24
		k += n + 1
		m := 0
		if _, q := prefixZh(s, k, "半"); q > 0 {
			m, k = 30, k+1
		} else if _, q := prefixZh(s, k, "一刻"); q > 0 {
			m, k = 15, k+2
		} else if _, q := prefixZh(s, k, "三刻"); q > 0 {
			m, k = 45, k+2
		} else if v, q := numberZh(s, k); q > 0 && v < 100 && s.at(k+q) != "个" && (v > 9 || q > 1 || s.toks[k].kind == 'n' || s.at(k+1) == "分") { // 七点一起吃饭
			w.void = w.void || v > 59
			m, k = v, k+q
			if s.at(k) == "分" {
				k++
			}
		} else if s.at(k) == "钟" {
			k++
		}
		if h < 12 && (afternoon >= 12*60 || afternoon < 0 && h > 0 && (h < 7 && !departsZh(s, i, m) || supperZh(s, i, h))) {
			h += 12
		}
		w.minute, w.clock, w.byPart, w.sure = h%24*60+m, true, false, afternoon >= 0
		return k + hoursZh(s, k, now, w) - i
	}
	if k < len(s.toks) && s.toks[k].kind == 'n' && strings.Contains(s.at(k), ":") {
		hh, mm, _ := strings.Cut(s.at(k), ":")
		h, e1 := strconv.Atoi(hh)
		m, e2 := strconv.Atoi(mm)
		if e1 == nil && e2 == nil && h < 24 && m < 60 {
			if h < 12 && afternoon >= 12*60 {
				h += 12
			}
			w.minute, w.clock, w.byPart = h*60+m, true, false
			return p + 1 + hoursZh(s, i+p+1, now, w)
		}
	}
	if p == 0 {
		return 0
	}
	w.part(afternoon)
	return p
}

// partOfYear sets 年初, 年底, 上半年 or 下半年 of a year.
func (w *when) partOfYear(part string, y int) {
	switch part {
	case "年初":
		w.set(dayOf(y, 1, 1), 'M')
	case "上半年":
		w.ofDays(dayOf(y, 1, 1), dayOf(y, 6, 30))
	case "下半年":
		w.ofDays(dayOf(y, 7, 1), dayOf(y, 12, 31))
	default:
		w.set(dayOf(y, 12, 1), 'M')
	}
}
