package discourse

import "github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"

// statesZh are words for what may have been true until a time, and toDoZh those for what is to be
// done by then.
var (
	statesZh = []string{"住", "上班", "工作", "吃素", "不吃", "单身", "养"}
	toDoZh   = []string{"要", "会", "得", "想", "打算", "必须", "准备", "可能", "应该", "能", "别", "可以", "搬", "去", "回", "来", "给", "买", "完", "好", "交", "找", "定", "不许", "争取", "尽量", "都在", "都住", "不住", "不上班", "不工作", "？", "吗"}
)

// untilZh finds a time until which something was true, 我五月之前住在上海, and puts it into the past. It
// adds its tokens to timed, as no part of what was true.
func (t *Talk) untilZh(b *BareZh, timed map[int]bool) {
	const most = 5 // characters of a subject
	for i := 1; len(b.Whens) == 0 && i < min(most, len(b.S.Toks)-2); i++ {
		if b.S.At(i) == "之" && b.S.At(i+1) == "前" && b.wasZh() {
			b.Until, timed[i], timed[i+1] = true, true, true // 我之前住在上海
		}
	}
	for i := range b.Whens {
		w := &b.Whens[i]
		word, n := syntax.PrefixZh(b.S, w.Next, "之前", "以前", "前")
		if n == 0 || w.Habit || w.Assumed != 12 || w.Grain != 'M' && w.Grain != 'd' || w.Day <= t.Now.Day || !b.wasZh() {
			continue
		}
		w.Past(t.Now)
		b.Until = true
		for k := w.Next; word != "以前" && k < w.Next+n; k++ {
			timed[k] = true
		}
	}
}

// wasZh reports whether a clause tells how something was, and not what is to be done.
func (b *BareZh) wasZh() bool {
	raw := b.S.Raw()
	return syntax.ContainsAny(raw, statesZh...) && !syntax.ContainsAny(raw, toDoZh...)
}
