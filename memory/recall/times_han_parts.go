package recall

import (
	"strings"

	"github.com/locket-dev/locket/internal/calendar"
)

// hanPart reads a part of the year that was named before, or else of the last or the next year.
func (r *timeReader) hanPart(h hanRun) bool {
	if !strings.ContainsRune("春夏秋冬上下年第一二三四", h.text[0]) {
		return false
	}
	p, n := calendar.HanMonths(string(h.text))
	if p == nil || r.now.IsZero() && r.year == 0 || hanBound(h.text[0], r.words, h.at[0]) {
		return false
	}
	r.yearlyOf(p.Days, r.year, r.aheadOf(h.at[0]))
	r.spend(h, n)
	return true
}

// hanMonth reads a part of this month: 月底.
func (r *timeReader) hanMonth(h hanRun) bool {
	if h.text[0] != '月' {
		return false
	}
	p, n := calendar.HanMonth(before(r.words, h.at[0]), string(h.text))
	if p == nil {
		return false
	}
	y, m, _ := calendar.Date(r.today)
	first, last, ok := p(y, m)
	switch ahead := r.aheadOf(h.at[0]); {
	case ahead && last < r.today:
		first, last, ok = p(y, m+1)
	case !ahead && first > r.today:
		first, last, ok = p(y, m-1)
	}
	if r.any = true; ok {
		r.add(int32(first), int32(last), false)
	}
	r.spend(h, n)
	return true
}

// partOf narrows the days of a month by what follows it: 底, 初, 中旬, 第一周, 的第一个周一. It also returns how many
// characters that takes.
func (h hanRun) partOf(at int, from, to int32) (first, last int32, n int) {
	if at >= len(h.text) {
		return from, to, 0
	}
	p, n := calendar.HanPart(string(h.text[at:]))
	if n == 0 {
		return from, to, 0
	}
	y, m, _ := calendar.Date(int(from))
	if a, b, ok := p(y, m); ok {
		return int32(a), int32(b), n
	}
	return from, to, 0
}

// hanHalf reads 半年前, 半个月后 and 一年半前.
func (r *timeReader) hanHalf(h hanRun) bool {
	months, n := 0, 0
	switch k, size := h.number(0); {
	case h.has("半年", 0):
		months, n = 6, 2
	case h.has("半个月", 0):
		n = 3
	case size > 0 && h.has("年半", size):
		months, n = 12*k+6, size+2
	case size > 0 && h.has("个半月", size):
		months, n = k, size+3
	default:
		return false
	}
	days := 0
	if h.text[n-1] == '月' {
		days = 15
	}
	sign := 0
	for _, by := range [...]string{"前", "之前", "以前", "后", "之后", "以后"} {
		if h.has(by, n) {
			n += len([]rune(by))
			if sign = 1; strings.HasSuffix(by, "前") {
				sign = -1
			}
			break
		}
	}
	if sign == 0 {
		return false
	}
	d := int32(calendar.AddMonths(r.today, sign*months) + sign*days)
	give := int32(3)
	if months > 0 {
		give = 15
	}
	r.add(d-give, d+give, false)
	r.spend(h, n)
	return true
}

// dropYear removes a year that was read by itself, because it is now part of a
// date.
func (r *timeReader) dropYear(y int) {
	for i, s := range r.spans {
		if s.said && s.to-s.from > 300 && dayTime(s.from).Year() == y {
			r.spans = append(r.spans[:i], r.spans[i+1:]...)
			return
		}
	}
}
