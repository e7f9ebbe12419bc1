package rules

import (
	"strings"
	"unicode/utf8"
)

// What was found of somebody's health: 我甲状腺有个小结节, 我妈拍了片子说是腰椎间盘突出; and what somebody is allergic to,
// where it stands first or alone: 花生我过敏; 我不喝酒，酒精过敏.

// growthsZh are what is found in an organ.
var growthsZh = []string{"结节", "息肉", "囊肿", "肌瘤", "结石", "骨刺", "肿块", "阴影", "斑块", "增生", "积液", "炎症", "血管瘤"}

// diagnosedZh takes what was found of somebody's health.
func (t *talk) diagnosedZh(b *bareZh) bool {
	x := trimZhEnd(b.text)
	if len(b.whens) > 0 || containsAny(x, "没", "不是", "怀疑", "疑似", "可能", "排除", "怕", "担心", "你", "您", "吗", "好像") {
		return false
	}
	who, what, ok := strings.Cut(x, "有")
	if small := trimHeads(what, "一个", "个", "一点", "点", "一些", "些", "几个", "一颗"); ok && endsWithAny(trimZh(small), growthsZh) && utf8.RuneCountInString(small) <= 6 && !strings.Contains(small, "的") {
		rest, own := cutOwnZh(who)
		k := kinPrefixZh(rest)
		organ := strings.TrimPrefix(rest[len(k):], "的")
		if n := utf8.RuneCountInString(organ); own && n >= 1 && n <= 4 {
			return t.healthOfZh(b, strings.TrimSuffix(who[:len(who)-len(organ)], "的"), "condition", organ+small)
		}
		return false
	}
	for _, found := range [...]string{"说是", "查出来有", "查出来是", "查出来", "查出了", "查出", "诊断为", "诊断出", "诊断是", "确诊了", "确诊是", "确诊"} {
		who, what, ok := strings.Cut(x, found)
		what = strings.TrimPrefix(what, "个")
		if own, mine := strings.CutPrefix(what, "我"); mine && who == "" || mine && endsWithAny(who, []string{"体检", "检查"}) {
			who, what = "我", trimTails(own, "轻度", "中度", "重度") // 单位体检查出来我脂肪肝轻度
		}
		if what, _, _ = strings.Cut(what, "结节"); what != "" && strings.Contains(x, what+"结节") {
			what += "结节" // 甲状腺结节二级的
		}
		if !ok || !conditionZh(trimZh(what)) {
			continue
		}
		if q := t.justSaid(); q != nil && (who == "" || endsWithAny(who, []string{"就是", "医生", "大夫"})) && kinPrefixZh(who) == "" { // 你那个咳嗽多久了 / 拍了片子，说是支气管炎
			asked, ok := questionZh(q.Text, t.now)
			if found := containsAny(q.Text, "医生", "大夫", "检查", "报告", "片子") && !strings.ContainsAny(q.Text, "他她"); (ok && strings.HasPrefix(asked.text, "我") || found) && asked.whose == "" && (!t.topic.known || t.topic.person.key == t.self.key) {
				made := len(t.out.Candidates)
				t.healthZh(b, t.self, "condition", what)
				for i := range t.out.Candidates[made:] {
					t.out.Candidates[made+i].Text = t.self.name + "查出" + what + "。" // and not 说是, which somebody else said
				}
				return true
			}
		}
		rest, own := cutOwnZh(who)
		k := kinPrefixZh(rest)
		if !own && k == "" || strings.HasPrefix(rest, "们") || endsWithAny(k, skilledZh[:]) {
			return false
		}
		return t.healthOfZh(b, who[:len(who)-len(rest)+len(k)], "condition", what)
	}
	return false
}

// byDoctorZh reports whether somebody who says something of the speaker's health knows it.
func byDoctorZh(who string) bool {
	return endsWithAny(who, []string{"医生", "大夫", "护士", "医院"})
}

// allergenZh reports a noun alone, which may cause an allergy.
func allergenZh(s string) bool {
	n := utf8.RuneCountInString(s)
	if n == 1 {
		return strings.Contains("虾蟹鱼蛋奶麦酒桃姜蒜", s)
	}
	return n >= 2 && n <= 6 && !strings.ContainsAny(s, "我你他她对不没有会又是很易总常说这那了过着因所但如最从以平季每年天候也都在就") && !containsAny(s, "皮肤", "鼻", "什么", "开始", "好像", "体质", "突然", "现在", "严重")
}

// frontedZh puts 对 before what somebody is allergic to, where that stands first: 花生我过敏.
func frontedZh(x string) string {
	said, ok := strings.CutSuffix(trimZhEnd(x), "过敏")
	what, who, cut := strings.Cut(said, "我")
	if !ok || !cut || !allergenZh(strings.TrimRight(what, "，, ")) {
		return x
	}
	if k := kinPrefixZh(who); trimHeads(who[len(k):], "都", "也", "严重", "特别") == "" {
		return "我" + k + "对" + strings.TrimRight(what, "，, ") + "过敏"
	}
	return x
}

// causeZh does the same in a clause of a noun alone, behind one that says who is meant: 我不喝酒，酒精过敏.
func (t *talk) causeZh(b *bareZh) {
	what, ok := strings.CutSuffix(trimZhEnd(b.text), "过敏")
	if ok && t.topic.known && t.said.start < b.s.start && allergenZh(what) && utf8.RuneCountInString(what) <= 4 {
		b.text = "对" + what + "过敏"
	}
}
