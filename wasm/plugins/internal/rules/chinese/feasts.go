package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/calendar"
	"github.com/locket-dev/locket/internal/feast"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
)

// lunarDay returns the day of somebody's birthday in the lunar calendar, 大年初三 or 农历八月十五, or "".
func lunarDay(owner, after string, b *discourse.BareZh) string {
	for i := range b.Whens {
		after += b.S.Text[b.S.Toks[b.Whens[i].First].Start:b.S.Toks[b.Whens[i].Next-1].End]
	}
	day, lunar := strings.CutPrefix(discourse.TrimZhEnd(strings.TrimLeft(after, "是在")), "农历")
	lunar = lunar || strings.HasSuffix(owner, "农历")
	day = strings.Replace(day, "大年初", "正月初", 1)
	if _, f, n := feast.HanAt(day); f != nil && f.Moon() && n == utf8.RuneCountInString(day) && !strings.HasPrefix(day, "正月") {
		return day
	}
	month, nth, ok := strings.Cut(day, "月")
	m, k := calendar.Han(month)
	d, n := calendar.Han(strings.TrimPrefix(strings.Replace(nth, "廿", "二十", 1), "初"))
	ok = ok && (m > 0 && m < 13 && k == utf8.RuneCountInString(month) || month == "正" || month == "腊") && d > 0 && d < 31 && n > 0 && utf8.RuneCountInString(nth) <= 3
	if !ok || !lunar && !strings.HasPrefix(nth, "初") {
		return ""
	}
	return "农历" + day
}
