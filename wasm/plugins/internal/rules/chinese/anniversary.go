package chinese

import (
	"strconv"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// anniversary takes 我们的结婚纪念日是9月14号.
func anniversary(t *discourse.Talk, b *discourse.BareZh) bool {
	for _, k := range [...]string{"结婚纪念日", "婚礼纪念日", "结婚周年纪念日"} {
		who, is, ok := strings.Cut(b.Text, k)
		if is = discourse.TrimZhEnd(is); !ok || is != "是" && is != "在" && is != "" {
			continue
		}
		for i := range b.Whens {
			w := &b.Whens[i]
			p, ok := t.SubjectZh(strings.TrimSuffix(who, "的"))
			if !ok || !timex.SameYearly(w) {
				continue
			}
			_, m, d := timex.Date(w.Day)
			t.FactZh(b, p, "biography", "wedding_anniversary", strconv.Itoa(m)+"月"+strconv.Itoa(d)+"日", false, false, 0.88)
			return true
		}
	}
	return false
}
