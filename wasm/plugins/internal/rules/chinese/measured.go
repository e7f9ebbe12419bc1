package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// outOfRange takes a part of the body that is not well, and a value that is too high or too low:
// 我膝盖不好, 体检说我维生素D偏低.
func outOfRange(t *discourse.Talk, b *discourse.BareZh) bool {
	for _, part := range [...]string{"膝盖", "腰", "胃", "心脏", "颈椎", "眼睛", "肝", "肾", "睡眠"} {
		if who, rest, ok := strings.Cut(b.Text, part); ok && outOf(t, b, who, part, rest, "不好", "有问题") {
			return true
		}
	}
	for _, value := range [...]string{"血压", "血糖", "血脂", "血钾", "血钙", "血小板", "血红蛋白", "尿酸", "胆固醇", "铁蛋白", "白细胞", "转氨酶", "甲状腺激素", "维生素", "骨密度"} {
		who, rest, ok := strings.Cut(b.Text, value)
		if value == "维生素" && ok {
			of := strings.TrimLeft(rest, "ABCDEKabcdek0123456789")
			value, rest, ok = value+rest[:len(rest)-len(of)], of, len(of) < len(rest)
		}
		who = syntax.TrimHeads(who, "体检报告说", "体检报告显示", "体检显示", "体检说", "检查说", "报告说", "查出来", "体检查出")
		if ok && outOf(t, b, who, value, rest, "不好", "有问题", "高", "高点", "高一点", "偏高", "有点高", "有点偏高", "太高", "很高", "偏低", "有点低", "有点偏低", "太低") {
			return true
		}
	}
	return false
}

// symptoms are what a food or a drug may do to somebody.
var symptoms = []string{"拉肚子", "肚子疼", "肚子痛", "胃疼", "胃痛", "胃胀", "反酸", "烧心", "起疹子", "长疹子", "起荨麻疹", "长痘", "上火", "过敏", "嘴肿", "嘴唇肿", "喉咙肿", "头疼", "头痛", "头晕", "恶心", "吐", "睡不着", "心慌", "流鼻涕", "打喷嚏", "咳嗽", "哮喘", "胀气", "放屁"}

// reacts takes what makes somebody ill each time: 我一喝牛奶就拉肚子.
func reacts(t *discourse.Talk, b *discourse.BareZh) bool {
	head, ill, ok := strings.Cut(discourse.TrimZhEnd(b.Text), "就")
	if !ok || len(b.Whens) > 0 || !syntax.StartsWithAny(syntax.TrimHeads(ill, "会", "要", "开始"), symptoms) || syntax.ContainsAny(head, "不", "没", "太多", "多了", "完") {
		return false
	}
	for _, verb := range [...]string{"吃", "喝", "闻", "碰"} {
		who, what, ok := strings.Cut(head, verb)
		what = syntax.TrimHeads(what, "了", "到", "点", "一点", "一口")
		who, each := syntax.CutEnd(who, "一", "只要", "每次", "一旦")
		if n := utf8.RuneCountInString(what); !ok || !each || n < 1 || n > 5 || syntax.VagueZh(what) || syntax.ContainsAny(what, "他", "它", "这", "那", "饭", "药") {
			continue
		}
		p, ok := t.SubjectZh(who)
		if !ok {
			return false
		}
		made := len(t.Out.Candidates)
		if t.FactZh(b, p, "health", "reacts_to", what, true, false, 0.85); len(t.Out.Candidates) > made {
			t.Out.Candidates[made].Sensitivity = "private"
		}
		return true
	}
	return false
}

// outOf proposes a condition if one of the words that say how something is follows it.
func outOf(t *discourse.Talk, b *discourse.BareZh, who, what, rest string, how ...string) bool {
	found := syntax.LongestZh(rest, how)
	return found != "" && healthOf(t, b, strings.TrimSuffix(who, "的"), "condition", what+found)
}
