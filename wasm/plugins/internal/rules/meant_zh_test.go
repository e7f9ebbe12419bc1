package rules

import (
	"strings"
	"testing"
)

// TestMeantZh checks that changes apply to the plan that they name: by its words, its day, and its
// person. The slot of what a line ends or moves has the words after the tab; "-" is nothing.
func TestMeantZh(t *testing.T) {
	lists := variationLists(t)
	for _, c := range []struct{ line, of string }{
		{"周三我和{友}去钓鱼。 / 周三晚上我要去听课。 / 和{友}钓鱼取消了。", "钓鱼"},
		{"周三我和{友}去钓鱼。 / 周三晚上我要去听课。 / 周三的钓鱼取消了。", "钓鱼"},
		{"周三我和{友}去钓鱼。 / 周三晚上我要去见客户。 / 跟{友}的钓鱼改到周四。", "钓鱼"},
		{"周三我要去买{物}。 / 周三我要见客户。 / 取消买{物}。", "{物}"},
		{"周三我要见客户。 / 周三我要去{处}。 / 见客户改到周五。", "客户"},
		{"周三我要去{处}。 / 我取消了{市}的酒店。", "-"},
		{"周三我要去{处}。 / 我把闹钟改到七点。", "-"},
		{"周五我要去{处}。 / 周三的{事}取消了。", "2026-09-16"},
		{"周五下午开会。 / 周三的会取消了。", "meeting 2026-09-16"},
		{"周三我和{友}开会。 / 周五我和李总开会。 / 和{友}的会取消了。", "meeting"},
	} {
		for n := range variations {
			line, of, _ := strings.Cut(vary(lists, c.line+"\t"+c.of, n), "\t")
			slot := "-"
			for _, a := range hear(t, line).Candidates {
				if a.Slot != nil && (a.Negates || a.Kind == "change") {
					slot = a.Slot.Attribute
				}
			}
			if of != slot && (of == "-" || !strings.Contains(slot, of)) {
				t.Errorf("%s: %q, want %q", line, slot, of)
			}
		}
	}
	turns := strings.Split("周三我和老张开会。 / 周五我和李总开会。 / 和老张的会取消了。", " / ")
	first := hear(t, turns[0]).Candidates[0].Slot.Attribute
	if out := hear(t, strings.Join(turns, " / ")); out.Candidates[0].Slot.Attribute != first {
		t.Errorf("ends %q, want %q", out.Candidates[0].Slot.Attribute, first)
	}
}
