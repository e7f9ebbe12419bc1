package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// pay are words for pay that come before its amount.
var pay = [...]string{"税前工资", "税后工资", "月工资", "工资", "月薪", "年薪", "时薪", "底薪", "薪水", "薪资"}

// salary takes 我月薪一万五, 我的工资是税前两万, 我工资涨到一万八了.
func salary(t *discourse.Talk, b *discourse.BareZh) bool {
	x := discourse.TrimZhEnd(b.Text)
	for _, word := range pay {
		head, value, ok := strings.Cut(x, word)
		if !ok {
			continue
		}
		value = syntax.TrimHeads(value, "现在", "已经", "大概", "是", "有", "涨到了", "涨到", "税前", "税后", "每月", "一个月", "差不多")
		value = strings.TrimSuffix(value, "了")
		amount := strings.TrimRight(value, "元块钱左右多")
		head = strings.TrimSuffix(strings.TrimSuffix(head, "现在"), "的")
		if p, ok := t.SubjectZh(head); ok && amount != "" && strings.Trim(amount, "0123456789.,kKwW零〇一二两三四五六七八九十百千万") == "" && utf8.RuneCountInString(value) > 1 {
			t.FactZh(b, p, "work", "salary", value, false, false, 0.8)
			return true
		}
		return false
	}
	return false
}
