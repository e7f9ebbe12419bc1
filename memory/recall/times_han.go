package recall

import (
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
)

// hanRelative are Chinese words for days and periods: the unit in days, and which one.
var hanRelative = []struct {
	word    string
	unit, n int32
}{
	{"大前天", 1, -3}, {"大后天", 1, 3},
	{"今天", 1, 0}, {"今晚", 1, 0}, {"今早", 1, 0}, {"昨天", 1, -1}, {"昨晚", 1, -1}, {"昨日", 1, -1}, {"前天", 1, -2}, {"前晚", 1, -2},
	{"明天", 1, 1}, {"明晚", 1, 1}, {"后天", 1, 2},
	{"上上个月", 30, -2}, {"下下个月", 30, 2}, {"上个月", 30, -1}, {"这个月", 30, 0}, {"下个月", 30, 1}, {"上月", 30, -1}, {"本月", 30, 0}, {"下月", 30, 1},
	{"上个季度", 91, -1}, {"这个季度", 91, 0}, {"下个季度", 91, 1}, {"上季度", 91, -1}, {"本季度", 91, 0}, {"下季度", 91, 1},
	{"去年", 365, -1}, {"今年", 365, 0}, {"明年", 365, 1}, {"前年", 365, -2},
}

// hanWeeks begin a week, or a day of one: which week, and whether it was named.
var hanWeeks = []struct {
	word  string
	n     int32
	named bool
}{
	{"上上个星期", -2, true}, {"上上个礼拜", -2, true}, {"上上个周", -2, true}, {"下下个星期", 2, true}, {"下下周", 2, true}, {"上个周", -1, true}, {"下个周", 1, true},
	{"上上周", -2, true}, {"上个星期", -1, true}, {"上个礼拜", -1, true}, {"上星期", -1, true}, {"上礼拜", -1, true}, {"上周", -1, true},
	{"下个星期", 1, true}, {"下个礼拜", 1, true}, {"下星期", 1, true}, {"下礼拜", 1, true}, {"下周", 1, true},
	{"这个星期", 0, true}, {"这个礼拜", 0, true}, {"这星期", 0, true}, {"这周", 0, true}, {"本周", 0, true},
	{"星期", 0, false}, {"礼拜", 0, false}, {"周", 0, false},
}

// hanUnits are the endings of a number of days, weeks, months or years ago.
var hanUnits = []struct {
	word string
	days int32
}{{"天", 1}, {"周", 7}, {"个星期", 7}, {"个礼拜", 7}, {"个月", 30}, {"年", 365}}

// hanRun is the text from a word on: characters, and numbers between them.
type hanRun struct {
	text []rune
	at   []int // index of the word of each character
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

// number reads a number up to 999 at a place of the run, in either script, and
// returns how many characters it takes. Both are 0 if there is none.
func (h hanRun) number(from int) (n, size int) {
	if from >= len(h.text) || !digit(h.text[from]) {
		return 0, 0
	}
	if h.text[from] > '9' {
		if n, size = calendar.Han(string(h.text[from:])); n > 999 {
			return 0, 0
		}
		return n, size
	}
	for i := from; i < len(h.text) && h.text[i] >= '0' && h.text[i] <= '9'; i++ {
		if n, size = 10*n+int(h.text[i]-'0'), size+1; n > 999 {
			return 0, 0
		}
	}
	return n, size
}

// year reads a year that is spelt digit by digit before 年: 二零二五年.
func (h hanRun) year() int {
	if len(h.text) < 5 || h.text[4] != '年' {
		return 0
	}
	if n, size := calendar.Han(string(h.text[:4])); size == 4 && n >= 1900 && n <= 2100 {
		return n
	}
	return 0
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
func (r *timeReader) hanTime(i int) {
	h := hanRunOf(r.words, i)
	if len(h.text) == 0 || h.at[0] != i { // a pair: its characters are read by themselves
		return
	}
	if n, alone := r.hanFeast(h); alone {
		r.name(r.reach(h, n))
		return
	} else if n > 0 {
		r.spend(h, n)
		return
	}
	if y := h.year(); y > 0 {
		r.year = y
		from, to := yearSpan(y)
		r.add(from, to, true)
		r.spend(h, 5)
		return
	}
	if r.hanPeriod(h) || r.hanWeek(h) || r.hanPart(h) || r.hanMonth(h) || r.hanHalf(h) {
		return
	}
	n, size := h.number(0)
	switch {
	case n == 0 || i > 0 && digit(before(r.words, i)):
	case n <= 31 && r.hanDayOnly(h, size):
		d := nearestDay(r.now, n, r.aheadOf(i))
		r.add(d, d, false)
		r.spend(h, size+1)
	case n <= 12 && h.has("月", size):
		r.hanDate(h, n, size+1)
	default:
		r.hanCounted(h, n, size)
	}
}

// reach returns the first and the last of the words that contain the first n characters of a run. A
// pair with only one of them counts, too.
func (r *timeReader) reach(h hanRun, n int) (from, last int) {
	pair := func(i int) bool {
		return i >= 0 && i < len(r.words) && r.words[i].han && len([]rune(r.words[i].text)) == 2
	}
	last = len(r.words) - 1
	if n < len(h.at) {
		last = h.at[n-1]
	} else if n > 0 && n <= len(h.at) {
		last = h.at[len(h.at)-1]
	}
	from = h.at[0]
	if pair(from - 1) {
		from--
	}
	if pair(last + 1) {
		last++
	}
	return from, last
}

// spend marks the words of the first n characters of a run as used.
func (r *timeReader) spend(h hanRun, n int) {
	for from, last := r.reach(h, n); from <= last; from++ {
		r.use(from)
	}
}

// hanPeriod reads a day, month or year by its distance from now: 昨天, 上个月, 上个月20号, 去年.
func (r *timeReader) hanPeriod(h hanRun) bool {
	for _, p := range hanRelative {
		if !h.has(p.word, 0) || hanBound(h.text[0], r.words, h.at[0]) {
			continue
		}
		n := len([]rune(p.word))
		from, to := period(r.now, p.unit, p.n)
		m, size := h.number(n)
		switch {
		case p.unit == 365 && h.ofYear(n) && !r.now.IsZero():
			r.year = r.now.Year() + int(p.n) // the part of this year is read next
			r.any = true
		case p.unit == 30 && m >= 1 && int32(m) <= to-from+1 && (h.has("号", n+size) || h.has("日", n+size)):
			from += int32(m) - 1
			r.add(from, from, false)
			n += size + 1
		case p.unit == 30:
			part := 0
			from, to, part = h.partOf(n, from, to)
			r.add(from, to, false)
			n += part
		default:
			r.add(from, to, false)
		}
		r.spend(h, n)
		return true
	}
	return false
}

// hanDayOnly reports whether a run begins with a day of a month without its month, whose number has
// size characters: 20号那天, and 那20号呢.
func (r *timeReader) hanDayOnly(h hanRun, size int) bool {
	i := h.at[0]
	first := i == 0 || i <= 2 && r.words[0].text == "那"
	return first && !r.now.IsZero() && h.has("号", size) &&
		(len(h.text) == size+1 || strings.ContainsRune("那我们有发的上下晚早呢做干去怎", h.text[size+1]))
}

// hanCounted reads n days, weeks, months or years from now, plus or minus a quarter of a unit: 三天前,
// 两周后. The number has size characters.
func (r *timeReader) hanCounted(h hanRun, n, size int) {
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
				if past := end + len([]rune(rel.word)); u.days == 365 && rel.sign < 0 && h.ofYear(past) && !r.now.IsZero() {
					r.year, r.any = r.now.Year()-n, true // the part of this year is read next
					r.spend(h, past)
					return
				}
				d := dayOf(r.now) + rel.sign*int32(n)*u.days
				r.add(d-u.days/4, d+u.days/4, false)
				r.spend(h, end+len([]rune(rel.word)))
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
	_, ok := calendar.Digit(r)
	return ok || r == '十' || r >= '0' && r <= '9'
}

// hanEnders are the characters that form one word with 下, 上, 本 or 这 after them: 楼下周五 is on Friday,
// and not in the next week. The rules have the same list (wasm/plugins/internal/rules).
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
		return first == 0 || !strings.ContainsRune("周期拜十初月第", first) // 一下, but not 星期一下周
	}
	return last != 0 && strings.ContainsRune(hanEnders[c], last)
}

// hanWeek reads a week, its end, or a day of it.
func (r *timeReader) hanWeek(h hanRun) bool {
	bound := hanBound(h.text[0], r.words, h.at[0])
	for _, p := range hanWeeks {
		if !h.has(p.word, 0) || bound {
			continue
		}
		n := len([]rune(p.word))
		d := 0
		if n < len(h.text) {
			if c := h.text[n]; c != '天' || p.word != "周" {
				d = calendar.HanWeekday(c)
			}
		}
		last := before(r.words, h.at[0])
		switch {
		case h.has("末", n):
			from, to := period(r.now, 6, p.n)
			r.add(from, to, false)
			r.spend(h, n+1)
		case d >= 1 && d <= 7 && !p.named && (digit(last) || last == '个'): // 一周三次
			return false
		case d >= 1 && d <= 7 && p.named:
			monday, _ := period(r.now, 7, p.n)
			r.add(monday+int32(d)-1, monday+int32(d)-1, false)
			r.spend(h, n+1)
		case d >= 1 && d <= 7:
			r.weekday, r.any = d, true
			if last != '每' {
				day := nearestWeekday(r.now, d, r.aheadOf(h.at[0]))
				r.add(day, day, false)
			}
			r.spend(h, n+1)
		case p.named:
			from, to := period(r.now, 7, p.n)
			r.add(from, to, false)
			r.spend(h, n)
		default:
			return false
		}
		return true
	}
	return false
}

// hanDate reads the day after a month, if there is one, and adds the date. It drops a year that was
// read by itself before.
func (r *timeReader) hanDate(h hanRun, month, from int) {
	r.month = month
	if n, size := h.number(from); n >= 1 && n <= 31 && (h.has("日", from+size) || h.has("号", from+size)) {
		r.day = n
		from += size + 1
	}
	r.spend(h, from)
	if r.now.IsZero() && r.year == 0 {
		r.any = true
		return
	}
	y := r.now.Year()
	if month > int(r.now.Month()) {
		y--
	}
	if r.year > 0 {
		y = r.year
		r.dropYear(y)
	}
	first, last := monthSpan(y, month)
	if r.day > 0 {
		first += int32(r.day - 1)
		last = first
	} else {
		part := 0
		if first, last, part = h.partOf(from, first, last); part > 0 {
			r.spend(h, from+part)
		}
	}
	r.add(first, last, true)
}
