package recall

import (
	"strings"
	"time"
)

// hanRelative are Chinese words for days and periods: unit in days, and which
// one of it.
var hanRelative = []struct {
	word    string
	unit, n int32
}{
	{"大前天", 1, -3}, {"大后天", 1, 3},
	{"今天", 1, 0}, {"今晚", 1, 0}, {"今早", 1, 0}, {"昨天", 1, -1}, {"昨晚", 1, -1}, {"昨日", 1, -1}, {"前天", 1, -2}, {"前晚", 1, -2},
	{"明天", 1, 1}, {"明晚", 1, 1}, {"后天", 1, 2},
	{"上个月", 30, -1}, {"这个月", 30, 0}, {"下个月", 30, 1}, {"上月", 30, -1}, {"本月", 30, 0}, {"下月", 30, 1},
	{"去年", 365, -1}, {"今年", 365, 0}, {"明年", 365, 1}, {"前年", 365, -2},
}

// hanWeeks begin a week, or a day of one: which week, and whether it was named.
var hanWeeks = []struct {
	word  string
	n     int32
	named bool
}{
	{"上上周", -2, true}, {"上个星期", -1, true}, {"上个礼拜", -1, true}, {"上星期", -1, true}, {"上礼拜", -1, true}, {"上周", -1, true},
	{"下个星期", 1, true}, {"下个礼拜", 1, true}, {"下星期", 1, true}, {"下礼拜", 1, true}, {"下周", 1, true},
	{"这个星期", 0, true}, {"这个礼拜", 0, true}, {"这星期", 0, true}, {"这周", 0, true}, {"本周", 0, true},
	{"星期", 0, false}, {"礼拜", 0, false}, {"周", 0, false},
}

var hanDigits = map[rune]int{'〇': 0, '零': 0, '一': 1, '二': 2, '两': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9, '十': 10}

// hanUnits are what a count of days, weeks, months or years ago ends with.
var hanUnits = []struct {
	word string
	days int32
}{{"天", 1}, {"周", 7}, {"个星期", 7}, {"个礼拜", 7}, {"个月", 30}, {"年", 365}}

// hanRun is what stands from a word on: characters, and numbers between them.
type hanRun struct {
	text []rune
	at   []int // of each, its word
}

// hanRunOf reads at most 14 characters.
func hanRunOf(words []word, i int) hanRun {
	var out hanRun
	for ; i < len(words) && len(out.text) < 14; i++ {
		r := []rune(words[i].text)
		switch {
		case words[i].han && len(r) == 1, !words[i].han && len(r) <= 4 && number(words[i].text) > 0 && r[0] <= '9':
			for _, c := range r {
				out.text, out.at = append(out.text, c), append(out.at, i)
			}
		case !words[i].han:
			return out
		}
	}
	return out
}

// number reads a number up to 31 at a place of the run, in either script, and
// returns how many characters it takes. Both are 0 if there is none.
func (h hanRun) number(from int) (n, size int) {
	for i := from; i < len(h.text); i++ {
		c := h.text[i]
		d, han := hanDigits[c]
		switch {
		case c >= '0' && c <= '9':
			n = 10*n + int(c-'0')
		case han && d == 10:
			n = max(1, n) * 10
		case han && n >= 10 && n%10 == 0 && d > 0:
			n += d
		case han && n == 0 && i == from:
			n = d
		default:
			return n, i - from
		}
		if n > 999 {
			return 0, 0
		}
	}
	return n, len(h.text) - from
}

// year reads a year that is spelt digit by digit before 年: 二零二五年.
func (h hanRun) year() int {
	if len(h.text) < 5 || h.text[4] != '年' {
		return 0
	}
	n := 0
	for _, c := range h.text[:4] {
		d, ok := hanDigits[c]
		if !ok || d > 9 {
			return 0
		}
		n = 10*n + d
	}
	if n < 1900 || n > 2100 {
		return 0
	}
	return n
}

func (h hanRun) has(prefix string, from int) bool {
	for _, r := range prefix {
		if from >= len(h.text) || h.text[from] != r {
			return false
		}
		from++
	}
	return true
}

// hanTime reads a Chinese time that begins at words[i].
func (f *found) hanTime(words []word, i int, now time.Time, add func(int32, int32, bool), use func(...int)) {
	h := hanRunOf(words, i)
	if len(h.text) == 0 || h.at[0] != i { // a pair: its characters are read by themselves
		return
	}
	reach := func(n int) (from, last int) {
		last = len(words) - 1
		if n < len(h.at) {
			last = h.at[n-1]
		} else if n > 0 && n <= len(h.at) {
			last = h.at[len(h.at)-1]
		}
		from = i
		if from > 0 && words[from-1].han && len([]rune(words[from-1].text)) == 2 {
			from-- // a pair of which half is a time
		}
		if next := last + 1; next < len(words) && words[next].han && len([]rune(words[next].text)) == 2 {
			last = next
		}
		return from, last
	}
	spent := func(n int) {
		for from, last := reach(n); from <= last; from++ {
			use(from)
		}
	}
	if n := f.hanFeast(h, before(words, i), now, func() bool { return aheadOf(words, i) }, add); n > 0 {
		f.name(reach(n))
		return
	}
	if y := h.year(); y > 0 {
		f.year = y
		add(dayOf(time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC)), dayOf(time.Date(y, 12, 31, 0, 0, 0, 0, time.UTC)), true)
		spent(5)
		return
	}
	for _, p := range hanRelative {
		if !h.has(p.word, 0) || hanBound(h.text[0], words, i) {
			continue
		}
		n := len([]rune(p.word))
		from, to := period(now, p.unit, p.n, "")
		m, size := h.number(n)
		switch {
		case p.unit == 365 && (m >= 1 && m <= 12 && h.has("月", n+size) || h.beginsFeast(n)) && !now.IsZero():
			f.year = now.Year() + int(p.n) // of which the month, or the feast, is read next
			f.any = true
		case p.unit == 30 && m >= 1 && int32(m) <= to-from+1 && (h.has("号", n+size) || h.has("日", n+size)):
			from += int32(m) - 1
			add(from, from, false)
			n += size + 1
		default:
			add(from, to, false)
		}
		spent(n)
		return
	}
	if f.hanWeek(h, words, i, now, add, spent) {
		return
	}
	n, size := h.number(0)
	if n == 0 || i > 0 && digit(before(words, i)) {
		return
	}
	first := i == 0 || i <= 2 && words[0].text == "那"                                                                                                // 那20号呢
	if first && n <= 31 && h.has("号", size) && (len(h.text) == size+1 || strings.ContainsRune("那我们有发的上下晚早呢做干去怎", h.text[size+1])) && !now.IsZero() { // 20号那天
		d := nearestDay(now, n, aheadOf(words, i))
		add(d, d, false)
		spent(size + 1)
		return
	}
	if h.has("月", size) && n <= 12 {
		f.hanDate(h, n, size+1, now, add, spent)
		return
	}
	for _, u := range hanUnits {
		if !h.has(u.word, size) {
			continue
		}
		end := size + len([]rune(u.word))
		for _, rel := range []struct {
			word string
			sign int32
		}{{"前", -1}, {"之前", -1}, {"以前", -1}, {"后", 1}, {"之后", 1}, {"以后", 1}} {
			if h.has(rel.word, end) {
				d := dayOf(now) + rel.sign*int32(n)*u.days
				add(d-u.days/4, d+u.days/4, false)
				spent(end + len([]rune(rel.word)))
				return
			}
		}
	}
}

// before is the character before a word, or 0.
func before(words []word, i int) rune {
	for i--; i >= 0; i-- {
		if r := []rune(words[i].text); len(r) == 1 || !words[i].han {
			return r[len(r)-1]
		}
	}
	return 0
}

func digit(r rune) bool {
	_, ok := hanDigits[r]
	return ok || r >= '0' && r <= '9'
}

// hanEnders are the characters that make one word with 下, 上, 本 or 这 behind them: 楼下周五 is on
// Friday, and no week after. The rules read them alike (wasm/plugins/internal/rules).
var hanEnders = map[rune]string{
	'下': "楼桌台地山乡树私线床底脚旗名眼当手天灯车城月足零以之剩坐躺脱卸丢扔跪蹲趴余收",
	'上': "早晚桌网路楼身手床墙书山船车班世街线马课头脸纸海天表台本际实以之赶遇碰锁贴挂坐骑爬晨群岸镇",
	'本': "版剧书课样成根基资标副绘文译",
}

// hanBound reports whether the character c of words[i] ends the word before it.
func hanBound(c rune, words []word, i int) bool {
	last := before(words, i)
	if c == '下' && last == '一' {
		k := i - 1
		for k >= 0 && len([]rune(words[k].text)) != 1 {
			k--
		}
		first := before(words, k)
		return first == 0 || !strings.ContainsRune("周期拜十初月第", first) // 一下, and not 星期一下周
	}
	return last != 0 && strings.ContainsRune(hanEnders[c], last)
}

// hanWeek reads a week, its end, or a day of it.
func (f *found) hanWeek(h hanRun, words []word, i int, now time.Time, add func(int32, int32, bool), spent func(int)) bool {
	bound := hanBound(h.text[0], words, i)
	for _, p := range hanWeeks {
		if !h.has(p.word, 0) || bound {
			continue
		}
		n := len([]rune(p.word))
		d := 0
		if n < len(h.text) {
			d = hanDigits[h.text[n]]
			if c := h.text[n]; c == '日' || c == '天' && p.word != "周" {
				d = 7
			}
		}
		last := before(words, i)
		switch {
		case h.has("末", n):
			from, to := period(now, 6, p.n, "")
			add(from, to, false)
			spent(n + 1)
		case d >= 1 && d <= 7 && !p.named && (digit(last) || last == '个'): // 一周三次
			return false
		case d >= 1 && d <= 7 && p.named:
			monday, _ := period(now, 7, p.n, "")
			add(monday+int32(d)-1, monday+int32(d)-1, false)
			spent(n + 1)
		case d >= 1 && d <= 7:
			f.weekday, f.any = d, true
			if last != '每' {
				day := nearestWeekday(now, d, aheadOf(words, i))
				add(day, day, false)
			}
			spent(n + 1)
		case p.named:
			from, to := period(now, 7, p.n, "")
			add(from, to, false)
			spent(n)
		default:
			return false
		}
		return true
	}
	return false
}

// hanDate reads the day after a month, if there is one, and adds the date. It
// drops a year that was read by itself before.
func (f *found) hanDate(h hanRun, month, from int, now time.Time, add func(int32, int32, bool), spent func(int)) {
	f.month = month
	if n, size := h.number(from); n >= 1 && n <= 31 && (h.has("日", from+size) || h.has("号", from+size) || h.has("號", from+size)) {
		f.day = n
		from += size + 1
	}
	spent(from)
	if now.IsZero() && f.year == 0 {
		f.any = true
		return
	}
	y := now.Year()
	if month > int(now.Month()) {
		y--
	}
	if f.year > 0 {
		y = f.year
		f.dropYear(y)
	}
	first, last := monthSpan(y, month)
	if f.day > 0 {
		first += int32(f.day - 1)
		last = first
	}
	add(first, last, true)
}

// dropYear removes a year that was read by itself, because it is now part of a
// date.
func (f *found) dropYear(y int) {
	for i, s := range f.spans {
		if s.said && s.to-s.from > 300 && dayTime(s.from).Year() == y {
			f.spans = append(f.spans[:i], f.spans[i+1:]...)
			return
		}
	}
}
