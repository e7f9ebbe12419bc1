package howto

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// fewStepsZh takes Chinese steps that no words such as 首先 and 然后 open: those of an answer (空调怎么调成制热
// and 长按模式键三秒，再按一下上键), or the turns of one thing (泡茶，第一泡倒掉，第二泡等十秒再喝).
func fewStepsZh(t *discourse.Talk, s syntax.Sentence) bool {
	const most = 60 // characters
	raw := syntax.StripLeadZh(strings.Trim(s.Raw(), " ，,。！!"))
	if utf8.RuneCountInString(raw) > most || strings.ContainsAny(raw, "我你您他她吗吧呢？?。") || strings.HasSuffix(raw, "了") {
		return false
	}
	steps := strings.FieldsFunc(raw, func(r rune) bool { return r == '，' || r == ',' || r == '；' })
	title := askedHowZh(t)
	if title == "" {
		title, steps = steps[0], steps[1:]
		if len(steps) < 2 || utf8.RuneCountInString(title) > 8 {
			return false
		}
		for k, step := range steps {
			if k < 2 && !syntax.StartsWithAny(step, []string{"第" + string([]rune("一二")[k]) + "泡", "第" + string([]rune("一二")[k]) + "遍", "第" + string([]rune("一二")[k]) + "道"}) || k < 2 && !syntax.ContainsAny(step, "要", "得", "等", "倒", "加", "放", "用", "别", "洗") || strings.Contains(step, "了") {
				return false
			}
		}
	} else {
		for k, step := range steps {
			steps[k] = syntax.TrimHeads(step, "先", "然后", "再", "就")
			if !syntax.StartsWithAny(steps[k], deviceVerbsZh) || utf8.RuneCountInString(steps[k]) < 3 || strings.Contains(step, "了") {
				return false
			}
		}
	}
	guide(t, title, steps, true, []abi.Span{{Start: s.Start, End: s.End}})
	return len(steps) > 0
}
