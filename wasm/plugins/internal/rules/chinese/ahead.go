package chinese

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// ThenAhead splits a clause without marks that tells of a past day and then of a future one:
// 昨天买了个沙发 and 下周六送货 for 昨天买了个沙发下周六送货. What was arranged or said on the first day about the second
// is one clause.
func ThenAhead(t *discourse.Talk, parts []syntax.Sentence) []syntax.Sentence {
	const least = 10 // characters of such a clause
	for i := 0; i < len(parts); i++ {
		c := parts[i]
		if len(c.Toks) < least || !c.Chinese() {
			continue
		}
		whens := timex.FindWhens(c, t.Now)
		if len(whens) < 2 {
			continue
		}
		first, k := &whens[0], 1
		for k < len(whens) && !whens[k].HasDay {
			k++
		}
		if k == len(whens) || !first.HasDay || first.Habit || first.Last > 0 || first.Day > t.Now.Day || first.Weekday || whens[k].Day <= t.Now.Day || whens[k].Habit {
			continue
		}
		at := whens[k].First
		told, rest := c.Text[c.Toks[first.Next-1].End:c.Toks[at-1].End], c.From(whens[k].Next)
		if !syntax.ContainsAny(told, "了", "过", "出来") || syntax.ContainsAny(told, "说", "告诉", "通知", "约", "订", "定", "改", "推", "答应", "决定", "商量", "答复", "报", "挂", "抢", "请") ||
			syntax.EndsWithAny(told, []string{"到", "从", "在", "给", "把", "和", "跟", "是", "等"}) || strings.HasPrefix(rest, "的") || len([]rune(rest)) < 2 {
			continue
		}
		parts = slices.Replace(slices.Clone(parts), i, i+1, c.Sub(0, at), c.Sub(at, len(c.Toks)))
	}
	return parts
}
