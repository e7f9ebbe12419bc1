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
		if whenever, ok := strings.CutSuffix(title, "的话"); ok && len(steps) == 2 && utf8.RuneCountInString(whenever) < 9 && doneFirstZh(steps) {
			guide(t, title, steps, true, []abi.Span{{Start: s.Start, End: s.End}})
			return true // 路由器坏了的话，先拔电源，等十秒再插上
		}
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

// doneFirstZh reports whether two steps are 先 with what is done to a device or food, and what is done then.
func doneFirstZh(steps []string) bool {
	first, ok := strings.CutPrefix(steps[0], "先")
	return ok && syntax.StartsWithAny(first, deviceVerbsZh) && (strings.Contains(steps[1], "再") || syntax.StartsWithAny(steps[1], []string{"然后"})) && !strings.Contains(steps[0]+steps[1], "了")
}

// bidden reports whether what is before the first of two Chinese steps is only who has to do them:
// that is an order, and not how something is done.
func bidden(t *discourse.Talk, head string) bool {
	head = strings.Trim(head, " ，,：:")
	if when, ok := strings.CutSuffix(head, "的话"); ok && (strings.ContainsAny(when, "你您") || syntax.EndsWithAny(when, []string{"有空", "有时间", "来得及", "方便", "行", "可以", "没事", "不忙", "同意", "愿意"})) {
		return true // 有空的话，先把作业写完，再去玩
	}
	if _, person := t.SubjectZh(head); person {
		return true // 我爸先住院，再做手术
	}
	return head == "" || syntax.TrimHeads(head, "你们", "你", "您", "咱们", "咱", "我们", "我", "大家", "那", "记得", "记住", "别忘了", "麻烦", "要", "得", "就") == ""
}
