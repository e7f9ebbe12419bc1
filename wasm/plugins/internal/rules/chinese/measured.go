package chinese

import (
	"strings"

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

// outOf proposes a condition if one of the words that say how something is follows it.
func outOf(t *discourse.Talk, b *discourse.BareZh, who, what, rest string, how ...string) bool {
	found := syntax.LongestZh(rest, how)
	return found != "" && healthOf(t, b, strings.TrimSuffix(who, "的"), "condition", what+found)
}
