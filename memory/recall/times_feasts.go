package recall

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// feast is a day, or a run of days, that has a name. Its words are those of the index: 国庆, "new year eve".
type feast struct {
	words      string
	month, day int // of a feast of the sun's calendar
	moon       int // else: one of the moon's, as its place in moonFeasts
	later      int // so many days after that
	days       int // how many it has
}

// feasts are those that people ask by, a longer name before a shorter one that begins it.
var feasts = []feast{
	{words: "国庆", month: 10, day: 1, days: 7}, {words: "元旦", month: 1, day: 1, days: 1}, {words: "跨年", month: 12, day: 31, days: 1},
	{words: "平安夜", month: 12, day: 24, days: 1}, {words: "圣诞", month: 12, day: 25, days: 1}, {words: "情人节", month: 2, day: 14, days: 1},
	{words: "妇女节", month: 3, day: 8, days: 1}, {words: "五一", month: 5, day: 1, days: 5}, {words: "劳动节", month: 5, day: 1, days: 5},
	{words: "儿童节", month: 6, day: 1, days: 1}, {words: "教师节", month: 9, day: 10, days: 1}, {words: "万圣节", month: 10, day: 31, days: 1},
	{words: "双十一", month: 11, day: 11, days: 1}, {words: "双11", month: 11, day: 11, days: 1}, {words: "双十二", month: 12, day: 12, days: 1},
	{words: "清明", month: 4, day: 4, days: 3},
	{words: "除夕", later: -1, days: 1}, {words: "年三十", later: -1, days: 1}, {words: "春节", days: 7}, {words: "大年初一", days: 1}, {words: "元宵", later: 14, days: 1},
	{words: "端午", moon: 1, days: 3}, {words: "七夕", moon: 2, days: 1}, {words: "中秋", moon: 3, days: 1}, {words: "重阳", moon: 4, days: 1},

	{words: "christmas eve", month: 12, day: 24, days: 1}, {words: "christmas day", month: 12, day: 25, days: 1}, {words: "christmas", month: 12, day: 24, days: 3},
	{words: "boxing day", month: 12, day: 26, days: 1}, {words: "new year eve", month: 12, day: 31, days: 1}, {words: "new year day", month: 1, day: 1, days: 1},
	{words: "chinese new year", days: 7}, {words: "spring festival", days: 7}, {words: "dragon boat festival", moon: 1, days: 3}, {words: "mid autumn", moon: 3, days: 1},
	{words: "valentine day", month: 2, day: 14, days: 1}, {words: "halloween", month: 10, day: 31, days: 1},
}

// moonFeasts are the days of 春节, 端午, 七夕, 中秋 and 重阳, as month × 100 + day, from firstMoon on, by
// github.com/6tail/lunar-go 1.4.6.
var moonFeasts = [][5]int{
	{219, 620, 820, 927, 1021}, {208, 609, 809, 915, 1009}, {128, 530, 828, 1004, 1028}, {216, 618, 817, 924, 1017}, {205, 607, 807, 913, 1007},
	{125, 625, 825, 1001, 1025}, {212, 614, 814, 921, 1014}, {201, 603, 804, 910, 1004}, {122, 622, 822, 929, 1023}, {210, 610, 810, 917, 1011},
	{129, 531, 829, 1006, 1029}, {217, 619, 819, 925, 1018}, {206, 609, 808, 915, 1008}, {126, 528, 826, 1003, 1026}, {213, 616, 816, 922, 1016},
	{203, 605, 805, 912, 1005}, {123, 624, 824, 1001, 1024}, {211, 612, 812, 919, 1012}, {131, 601, 801, 908, 1001}, {219, 620, 820, 927, 1020},
	{208, 610, 810, 916, 1009}, {128, 530, 828, 1004, 1027}, {215, 618, 817, 924, 1017}, {204, 607, 807, 913, 1007}, {124, 527, 826, 1002, 1026},
	{212, 614, 814, 920, 1014},
}

const firstMoon = 2015

// in returns the days of a feast in a year; false: they are not known.
func (t feast) in(y int) (from, to int32, known bool) {
	month, day := t.month, t.day
	if month == 0 {
		if y < firstMoon || y >= firstMoon+len(moonFeasts) {
			return 0, 0, false
		}
		at := moonFeasts[y-firstMoon][t.moon]
		month, day = at/100, at%100+t.later
	}
	from = dayOf(time.Date(y, time.Month(month), day, 0, 0, 0, 0, time.UTC))
	return from, from + int32(t.days) - 1, true
}

// feast adds the days of a feast: of a year that is named, or else the last ones or, where the text
// speaks of what is to come, the next.
func (r *timeReader) feast(t feast, year int, ahead bool) {
	r.any = true
	if year > 0 {
		r.dropYear(year)
		if from, to, ok := t.in(year); ok {
			r.add(from, to, true)
		}
		return
	}
	if r.now.IsZero() {
		return
	}
	today := dayOf(r.now)
	for _, y := range []int{r.now.Year() + 1, r.now.Year(), r.now.Year() - 1} {
		from, to, ok := t.in(y)
		if ahead && y > r.now.Year() { // unless this year's is still to come
			if this, last, is := t.in(y - 1); is && last >= today {
				from, to, ok = this, last, true
			}
		} else if from > today {
			continue
		}
		if ok && (ahead || from <= today) {
			r.add(from, to, false)
			return
		}
	}
}

// hanFeast reads a feast where a run begins, and returns how many characters its name has.
func (r *timeReader) hanFeast(h hanRun) int {
	if digit(before(r.words, h.at[0])) {
		return 0
	}
	for _, t := range feasts {
		if !h.has(t.words, 0) {
			continue
		}
		n := utf8.RuneCountInString(t.words)
		if t.words == "五一" && n < len(h.text) && (digit(h.text[n]) || strings.ContainsRune("月号日点年", h.text[n])) {
			continue
		}
		r.feast(t, r.year, r.aheadOf(h.at[0]))
		if h.has("节", n) {
			n++
		}
		return n
	}
	return 0
}

// beginsFeast reports whether a feast's name stands at a place of the run, maybe after 的.
func (h hanRun) beginsFeast(at int) bool {
	of := h.has("的", at)
	return slices.ContainsFunc(feasts, func(t feast) bool { return h.has(t.words, at) || of && h.has(t.words, at+1) })
}

// englishFeasts are the feasts by the first word of their names, in the order of [feasts].
var englishFeasts = func() map[string][]feast {
	by := map[string][]feast{}
	for _, t := range feasts {
		first, _, _ := strings.Cut(t.words, " ")
		by[first] = append(by[first], t)
	}
	return by
}()

// englishFeast reads a feast at words[i], and returns how many words its name has.
func (r *timeReader) englishFeast(i int) int {
	for _, t := range englishFeasts[r.words[i].text] {
		names := strings.Fields(t.words)
		if i+len(names) > len(r.words) || !slices.EqualFunc(names, r.words[i:i+len(names)], func(s string, w word) bool { return s == w.text }) {
			continue
		}
		y, end := year(r.at(i+len(names))), i+len(names)
		ahead := r.aheadOf(i)
		switch {
		case y > 0:
			r.year = y
			r.use(end)
		case r.now.IsZero():
		case r.at(end) == "last" && r.at(end+1) == "year":
			y = r.now.Year() - 1
			r.use(end, end+1)
		case r.at(end) == "this" && r.at(end+1) == "year", r.at(i-1) == "this":
			y = r.now.Year()
		case r.at(i-1) == "last":
			ahead = false
			r.use(i - 1)
		case r.at(i-1) == "next":
			ahead = true
			r.use(i - 1)
		}
		r.feast(t, y, ahead)
		return len(names)
	}
	return 0
}
