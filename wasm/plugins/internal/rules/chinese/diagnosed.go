package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Diagnoses: 我甲状腺有个小结节, 我妈拍了片子说是腰椎间盘突出; and allergies whose cause comes first or by itself: 花生我过敏;
// 我不喝酒，酒精过敏.

// growths are findings in an organ.
var growths = []string{"结节", "息肉", "囊肿", "肌瘤", "结石", "骨刺", "肿块", "阴影", "斑块", "增生", "积液", "炎症", "血管瘤"}

// diagnosed takes a diagnosis.
func diagnosed(t *discourse.Talk, b *discourse.BareZh) bool {
	x := discourse.TrimZhEnd(b.Text)
	if len(b.Whens) > 0 || syntax.ContainsAny(x, "没", "不是", "怀疑", "疑似", "可能", "排除", "怕", "担心", "你", "您", "吗", "好像") {
		return false
	}
	who, what, ok := strings.Cut(x, "有")
	if small := syntax.TrimHeads(what, "一个", "个", "一点", "点", "一些", "些", "几个", "一颗"); ok && syntax.EndsWithAny(syntax.TrimZh(small), growths) && utf8.RuneCountInString(small) <= 6 && !strings.Contains(small, "的") {
		rest, own := discourse.CutOwnZh(who)
		k := syntax.KinPrefixZh(rest)
		organ := strings.TrimPrefix(rest[len(k):], "的")
		if n := utf8.RuneCountInString(organ); own && n >= 1 && n <= 4 {
			return healthOf(t, b, strings.TrimSuffix(who[:len(who)-len(organ)], "的"), "condition", organ+small)
		}
		return false
	}
	for _, found := range [...]string{"说是", "查出来有", "查出来是", "查出来", "查出了", "查出", "诊断为", "诊断出", "诊断是", "确诊了", "确诊是", "确诊"} {
		who, what, ok := strings.Cut(x, found)
		what = beforeOrder(syntax.TrimHeads(what, "有", "一点", "点", "个"))
		if own, mine := strings.CutPrefix(what, "我"); mine && who == "" || mine && syntax.EndsWithAny(who, []string{"体检", "检查"}) {
			who, what = "我", syntax.TrimTails(own, "轻度", "中度", "重度") // 单位体检查出来我脂肪肝轻度
		}
		if what, _, _ = strings.Cut(what, "结节"); what != "" && strings.Contains(x, what+"结节") {
			what += "结节" // 甲状腺结节二级的
		}
		if !ok || !condition(syntax.TrimZh(what)) {
			continue
		}
		if q := t.JustSaid(); q != nil && (who == "" || syntax.EndsWithAny(who, []string{"就是", "医生", "大夫"})) && syntax.KinPrefixZh(who) == "" { // 你那个咳嗽多久了 / 拍了片子，说是支气管炎
			asked, ok := Asks(q.Text, t.Now)
			if found := syntax.ContainsAny(q.Text, "医生", "大夫", "检查", "报告", "片子") && !strings.ContainsAny(q.Text, "他她"); (ok && strings.HasPrefix(asked.Text, "我") || found) && asked.Whose == "" && (!t.Topic.Known || t.Topic.Person.Key == t.Self.Key) {
				made := len(t.Out.Candidates)
				health(t, b, t.Self, "condition", what)
				for i := range t.Out.Candidates[made:] {
					t.Out.Candidates[made+i].Text = t.Self.Name + "查出" + what + "。" // without 说是, which somebody else said
				}
				return true
			}
		}
		if syntax.TrimHeads(who, "刚刚", "刚", "最近", "才") == "" { // 刚确诊糖尿病
			p, known := t.SubjectlessZh()
			if known {
				health(t, b, p, "condition", what)
			}
			return known
		}
		rest, own := discourse.CutOwnZh(who)
		k := syntax.KinPrefixZh(rest)
		if !own && k == "" || strings.HasPrefix(rest, "们") || syntax.EndsWithAny(k, skilled[:]) {
			return false
		}
		return healthOf(t, b, who[:len(who)-len(rest)+len(k)], "condition", what)
	}
	return false
}

// ByDoctor reports whether somebody who says something about the speaker's health is a source who
// knows it.
func ByDoctor(who string) bool {
	return syntax.EndsWithAny(who, []string{"医生", "大夫", "护士", "医院"})
}

// cause does the same for a clause that is only a noun, after one that says who is meant:
// 我不喝酒，酒精过敏.
func cause(t *discourse.Talk, b *discourse.BareZh) {
	what, ok := strings.CutSuffix(discourse.TrimZhEnd(b.Text), "过敏")
	if ok && t.Topic.Known && t.Said.Start < b.S.Start && discourse.AllergenZh(what) && utf8.RuneCountInString(what) <= 4 {
		b.Text = "对" + what + "过敏"
	}
}

// beforeOrder returns a diagnosis without its consequences for somebody: 胃炎 for 胃炎让我少吃辣.
func beforeOrder(x string) string {
	for _, order := range [...]string{"让", "叫", "要", "得", "所以", "医生", "大夫", "不能", "需要"} {
		if i := strings.Index(x, order); i > 0 {
			x = x[:i]
		}
	}
	return x
}
