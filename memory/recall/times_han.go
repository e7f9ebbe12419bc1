package recall

import (
	"strings"
	"time"
)

// hanRelative are Chinese words for days and periods: unit in days, and which
// one of it.
var hanRelative = map[string]struct{ unit, n int32 }{
	"今天": {1, 0}, "今晚": {1, 0}, "今早": {1, 0}, "昨天": {1, -1}, "昨晚": {1, -1}, "前天": {1, -2}, "明天": {1, 1}, "明晚": {1, 1}, "后天": {1, 2},
	"上周": {7, -1}, "这周": {7, 0}, "本周": {7, 0}, "下周": {7, 1}, "周末": {6, 0},
	"上月": {30, -1}, "本月": {30, 0}, "下月": {30, 1}, "去年": {365, -1}, "今年": {365, 0}, "明年": {365, 1}, "前年": {365, -2},
}

var hanDigits = map[string]int{"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "日": 7, "天": 7}

// hanTime reads a Chinese time that begins at words[i].
func (f *found) hanTime(words []word, i int, now time.Time, add func(int32, int32, bool), use func(...int)) {
	w := words[i]
	if p, ok := hanRelative[w.text]; ok {
		from, to := period(now, p.unit, p.n, "")
		add(from, to, false)
		use(i)
		return
	}
	rest := hanRun(words, i)
	before := 0
	if i > 0 && !words[i-1].han {
		before = number(words[i-1].text)
	}
	switch {
	case strings.HasPrefix(rest, "上个星期"), strings.HasPrefix(rest, "上星期"), strings.HasPrefix(rest, "上个礼拜"):
		from, to := period(now, 7, -1, "")
		add(from, to, false)
	case strings.HasPrefix(rest, "下个星期"), strings.HasPrefix(rest, "下星期"):
		from, to := period(now, 7, 1, "")
		add(from, to, false)
	case strings.HasPrefix(rest, "上个月"):
		from, to := period(now, 30, -1, "")
		add(from, to, false)
	case strings.HasPrefix(rest, "下个月"):
		from, to := period(now, 30, 1, "")
		add(from, to, false)
	case strings.HasPrefix(rest, "星期"), strings.HasPrefix(rest, "礼拜"):
		r := []rune(rest)
		if len(r) > 2 && hanDigits[string(r[2])] >= 1 && hanDigits[string(r[2])] <= 7 {
			d := hanDigits[string(r[2])]
			f.weekday = d
			back := (int32(now.Weekday()) - int32(d)%7 + 7) % 7
			if back == 0 {
				back = 7
			}
			add(dayOf(now)-back, dayOf(now)-back, false)
		}
	case w.text == "月" && before >= 1 && before <= 12:
		f.month = before
		y := now.Year()
		if before > int(now.Month()) {
			y--
		}
		if f.year > 0 {
			y = f.year
		}
		if day := followingNumber(words, i); day >= 1 && day <= 31 {
			f.day = day
		}
		if now.IsZero() && f.year == 0 {
			f.any = true
			return
		}
		from, to := monthSpan(y, before)
		if f.day > 0 {
			from += int32(f.day - 1)
			to = from
		}
		add(from, to, true)
	}
}

func followingNumber(words []word, i int) int {
	if i+1 < len(words) && !words[i+1].han {
		return number(words[i+1].text)
	}
	return 0
}

// hanRun puts the single characters from words[i] on together again, at most six.
func hanRun(words []word, i int) string {
	var b strings.Builder
	n := 0
	for ; i < len(words) && words[i].han && n < 6; i++ {
		if r := []rune(words[i].text); len(r) == 1 {
			b.WriteRune(r[0])
			n++
		}
	}
	return b.String()
}
