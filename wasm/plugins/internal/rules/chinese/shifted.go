package chinese

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Shifted takes an event that was to be at one time and now is at another: 牙医本来是周五，现在改到周一了 is
// read as 牙医改到周一. It reports whether it did.
func Shifted(t *discourse.Talk, s syntax.Sentence) bool {
	if !s.Chinese() || s.Ends == "？" || s.Ends == "?" {
		return false
	}
	was, now, ok := strings.Cut(strings.ReplaceAll(s.Raw(), ",", "，"), "，")
	head := ""
	for _, once := range [...]string{"本来", "原来", "原本", "原定", "之前"} {
		if before, after, has := strings.Cut(was, once); has {
			head, was = before, after
			break
		}
		if once == "之前" {
			return false
		}
	}
	all := syntax.Sentences(syntax.TrimHeads(was, "是", "约在", "定在", "约的", "约了", "定的", "在"))
	if !ok || len(all) != 1 {
		return false
	}
	wrong, ok := timex.WhenAt(all[0], 0, t.Now)
	if !ok || wrong.Habit {
		return false
	}
	head += strings.TrimPrefix(all[0].From(wrong.Next), "的") // 本来周五开会
	moved := false
	now = syntax.TrimHeads(now, "但是", "但", "不过", "可是", "后来", "结果", "现在", "又", "被")
	for _, to := range [...]string{"改到了", "改成了", "改到", "改成", "改为", "推到", "推迟到", "提前到", "挪到", "换到", "换成", "是"} {
		if now, moved = strings.CutPrefix(now, to); moved {
			break
		}
	}
	all = syntax.Sentences(head + "改到" + strings.TrimRight(now, "了啦吧。"))
	if attr, _ := EventIn(head); attr == "" || !moved || len(all) != 1 || strings.Contains(now, "，") || !time(now, t.Now) {
		return false
	}
	from := len(t.Out.Candidates)
	read(t, all[0])
	discourse.StandsFor(t, from, s)
	return len(t.Out.Candidates) > from
}
