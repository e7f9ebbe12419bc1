package chinese

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// takes takes the medicine of somebody: 我每天吃两片阿司匹林, 我妈在吃二甲双胍.
func takes(t *discourse.Talk, b *discourse.BareZh) bool {
	x := discourse.TrimZhEnd(b.Text)
	if syntax.ContainsAny(x, "不", "没", "忘", "了", "过", "想", "别", "能", "如果", "要是", "给") {
		return false
	}
	for _, verb := range [...]string{"吃", "服用", "服", "打"} {
		who, drug, ok := strings.Cut(x, verb)
		for cut := ok; cut; {
			who, cut = syntax.CutEnd(who, "一天", "每天", "天天", "早晚", "各", "都", "饭后", "饭前", "睡前", "现在", "正在", "在", "一直", "长期", "按时", "得", "要")
		}
		for _, unit := range [...]string{"片", "粒", "颗", "次", "毫克", "支", "针"} {
			n, rest, counted := strings.Cut(drug, unit)
			if counted && rest != "" && utf8.RuneCountInString(n) <= 3 && strings.Trim(n, "0123456789一二两三四五半") == "" {
				drug = rest
				break
			}
		}
		drugs := strings.FieldsFunc(drug, func(r rune) bool { return strings.ContainsRune("和跟、", r) })
		if !ok || len(drugs) == 0 || slices.ContainsFunc(drugs, func(d string) bool { return !Drug(d) }) || utf8.RuneCountInString(who) > 6 {
			continue
		}
		p, known := t.SubjectZh(who)
		if !known || who == "" && !strings.HasPrefix(x, "在"+verb) {
			continue
		}
		for i := range b.Whens {
			if w := &b.Whens[i]; w.Habit && w.Next > w.First { // each time of day is a value of its own
				when, made := b.S.Text[b.S.Toks[w.First].Start:b.S.Toks[w.Next-1].End], len(t.Out.Candidates)
				if health(t, b, p, discourse.TimesOf(drug), when); len(t.Out.Candidates) > made {
					a := &t.Out.Candidates[made]
					a.Predicate, a.Object = discourse.Medication, drug+" "+when
				}
				return true
			}
		}
		if !strings.HasPrefix(drug, "完") { // 刚吃完药: which?
			for _, d := range drugs {
				health(t, b, p, discourse.Medication, d)
			}
		}
		return true
	}
	return false
}
