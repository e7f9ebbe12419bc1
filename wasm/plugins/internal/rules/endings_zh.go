package rules

import (
	"strings"
	"unicode/utf8"
)

// overZh proposes the endings that a Chinese clause tells of, and reports whether it did:
// 我和小雨分手了, 我不再吃素了, 我现在不跑步了, 医生给我停了二甲双胍.
func (t *talk) overZh(b *bareZh) bool {
	x := trimZhEnd(b.text)
	if strings.ContainsAny(x, "你您吗？?") || containsAny(x, "可能", "也许", "说不定", "打算", "想", "如果", "差点", "没有", "没跟", "没和") || t.topic.unclear {
		return false
	}
	n := len(t.out.Candidates)
	for _, k := range [...]string{"来不了", "去不了", "不能来了", "来不成"} {
		head, _, ok := strings.Cut(x, k)
		head = strings.TrimSuffix(strings.TrimSpace(head), "说")
		if ok && personZh(head) && t.offWith(b.s, b.whens, head, t.rewriteZh(b.s, b.whens, false)) {
			return true
		}
	}
	if t.onceZh(b, x) || t.soldZh(b, x) || t.joinsZh(b, x) || t.owesZh(b, x) || t.repaidZh(b, x) || t.othersZh(b, x) {
		return true
	}
	t.partedZh(b, x)
	t.jobZh(b, x)
	own, ok := ownZh(x)
	if !ok && startsWithAny(b.s.raw(), []string{"现在", "已经"}) && (!t.topic.known || t.topic.person.key == t.self.key) {
		own, ok = x, true
	}
	if ok {
		for _, k := range [...]string{"不再吃素了", "不再吃素", "不吃素了", "又吃肉了", "又开始吃肉了", "重新吃肉了", "开始吃肉了"} {
			if trimAdverbsZh(strings.TrimSuffix(own, k)) == "" && strings.HasSuffix(own, k) {
				t.endedZh(b, "diet", "diet", "吃素", false)
				if strings.Contains(k, "肉") {
					t.endedZh(b, "diet", "avoids", "肉", true)
				}
				return true
			}
		}
		for _, k := range [...]string{"不再", "不"} {
			head, what, ok := strings.Cut(own, k)
			what, done := strings.CutSuffix(what, "了")
			if ok && smokingZh[what] && trimAdverbsZh(head) == "" && (done || k == "不再") {
				t.endedZh(b, "diet", "smokes", what, true)
				return true
			}
			if l := utf8.RuneCountInString(what); !ok || trimAdverbsZh(strings.TrimSuffix(head, "早")) != "" || !done && k == "不" || l < 2 || l > 8 || !activityZh(what) {
				continue
			}
			t.endedZh(b, "habit", routineSlot(what), "", true)
			return true
		}
	}
	for _, k := range [...]string{"我不再吃", "我已经不吃", "我现在不吃", "我不吃", "我停用了"} {
		drug, ok := strings.CutPrefix(x, k)
		stopped := strings.HasSuffix(drug, "了") || strings.Contains(k, "不再") || k == "我停用了"
		if drug = strings.TrimSuffix(drug, "了"); ok && stopped && drugZh(drug) {
			t.endedZh(b, "health", medication, drug, true)
			t.out.Candidates[len(t.out.Candidates)-1].Sensitivity = "private"
			return true
		}
	}
	for _, k := range [...]string{"给我停了", "让我停了", "叫我停了", "我停了", "我把"} {
		_, drug, ok := strings.Cut(x, k)
		if k == "我把" {
			if drug, ok = strings.CutSuffix(drug, "停了"); !ok {
				continue
			}
		}
		if drug = strings.TrimSuffix(strings.TrimSuffix(drug, "了"), "的药"); ok && drugZh(drug) {
			t.endedZh(b, "health", medication, drug, true)
			break
		}
	}
	return len(t.out.Candidates) > n
}

// ownZh is a clause of the speaker's without its subject.
func ownZh(x string) (string, bool) {
	for _, pre := range [...]string{"我现在", "我已经", "我", "现在"} {
		if rest, ok := strings.CutPrefix(x, pre); ok {
			return rest, true
		}
	}
	return "", false
}

// endedZh proposes that a value of a slot of the speaker's no longer holds.
func (t *talk) endedZh(b *bareZh, kind, attribute, value string, many bool) {
	a := t.baseZh(b, "semantic", kind, t.self, 0.8)
	ends(&a, t.self.key, attribute, value, many)
	t.out.Candidates = append(t.out.Candidates, a)
}

// partedZh takes 我和小雨分手了, 我跟老公离婚了.
func (t *talk) partedZh(b *bareZh, x string) {
	for _, end := range [...]string{"分手了", "离婚了"} {
		who, ok := strings.CutSuffix(x, end)
		if !ok || toComeZh(who) {
			continue
		}
		if own := trimAdverbsZh(who); own == "我" && end == "离婚了" { // from whomever
			for _, noun := range wedZh {
				t.endedZh(b, "relation", noun, "", false)
			}
			t.factZh(b, t.self, "relation", "marital_status", "离婚", false, false, 0.88)
			return
		}
		for _, with := range [...]string{"我和", "我跟", "我与", "和", "跟"} {
			name, ok := strings.CutPrefix(strings.TrimSuffix(who, "已经"), with)
			if !ok {
				continue
			}
			name = strings.TrimPrefix(strings.TrimSuffix(name, "已经"), "我")
			nouns := []string{"女朋友", "男朋友", "女友", "男友", "对象"}
			if end == "离婚了" {
				nouns = wedZh[:]
			}
			for _, noun := range nouns {
				if name == noun {
					t.endedZh(b, "relation", noun, "", false)
					return
				}
			}
			if !personZh(name) && !nameZh(name) || kinPrefixZh(name) != "" {
				return
			}
			for _, noun := range nouns {
				t.endedZh(b, "relation", noun, name, false)
			}
			return
		}
	}
}

// othersZh takes what two others came to: 丽娜跟马可分手了.
func (t *talk) othersZh(b *bareZh, x string) bool {
	for _, end := range [...]string{"分手了", "离婚了", "结婚了", "订婚了", "和好了", "在一起了"} {
		who, ok := strings.CutSuffix(x, end)
		if !ok || toComeZh(who) {
			continue
		}
		for _, k := range [...]string{"跟", "和", "与"} {
			one, other, cut := strings.Cut(who, k)
			other = trimAdverbsZh(other)
			if !cut || !personZh(one) && !calledSmallZh(one) && !foreignZh(one) || !personZh(other) && !calledSmallZh(other) && !foreignZh(other) {
				continue
			}
			p := t.named(one)
			a := t.baseZh(b, "episodic", "event", p, 0.7)
			a.EventType, a.Actor, a.Started = "event", p.name, t.toldAt(b.s)
			t.out.Candidates = append(t.out.Candidates, a)
			t.about(p)
			return true
		}
	}
	return false
}

// toComeZh reports whether what stands before a verb says that it is still to come: 我要离婚了.
func toComeZh(head string) bool {
	return endsWithAny(head, []string{"要", "快", "快要", "会", "将", "将要", "准备", "能", "可以", "该"})
}

// wedZh are what married people are to each other.
var wedZh = [...]string{"老婆", "老公", "妻子", "丈夫", "太太", "先生"}

// jobZh takes 我被腾讯裁了, 腾讯把我辞退了, 我从面包店离职了.
func (t *talk) jobZh(b *bareZh, x string) {
	if own, ok := ownZh(x); ok { // 我已经不在华为当工程师了
		firm, job, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(trimStartZh(own), "不再在"), "不在"), "当")
		job, done := strings.CutSuffix(job, "了")
		if ok && done && firm != own && strings.HasPrefix(trimStartZh(own), "不") && utf8.RuneCountInString(firm) >= 2 && employsZh(firm) && endsWithAny(job, jobsZh[:]) {
			t.endedZh(b, "work", "employer", firm, false)
			t.endedZh(b, "work", "job", job, false)
			return
		}
	}
	if own, ok := ownZh(x); ok {
		switch w := trimHeads(trimStartZh(own), "刚刚", "刚"); w {
		case "辞职了", "离职了", "失业了", "被裁了", "被裁员了", "被辞退了", "被开除了", "被炒了", "从公司离职了", "从公司辞职了", "被公司裁了", "被公司辞退了", "被公司开除了", "把工作辞了", "把工作辞掉了":
			t.endedZh(b, "work", "employer", "", false)
			return
		default:
			firm, left := strings.CutPrefix(w, "离开")
			firm, done := strings.CutSuffix(firm, "了")
			firm, had := strings.CutPrefix(firm, "了")
			if left && (done || had) && utf8.RuneCountInString(firm) >= 2 && !vagueZh(firm) && employsZh(firm) && relativeZh(firm) == "" {
				t.endedZh(b, "work", "employer", firm, false)
				a := t.baseZh(b, "episodic", "event", t.self, 0.65)
				a.EventType, a.Actor, a.Started = "event", t.self.name, t.toldAt(b.s)
				t.out.Candidates = append(t.out.Candidates, a)
				return
			}
		}
	}
	for _, end := range [...]string{"的工作辞了", "的工作辞掉了"} { // 我把面包店的工作辞了
		head, ok := strings.CutSuffix(x, end)
		who, firm, took := strings.Cut(head, "把")
		if p := t.partyZh(who); ok && took && p.key != "" && utf8.RuneCountInString(firm) >= 2 && !vagueZh(firm) && employsZh(firm) {
			a := t.baseZh(b, "semantic", "work", p, 0.8)
			ends(&a, p.key, "employer", firm, false)
			t.out.Candidates = append(t.out.Candidates, a)
			return
		}
	}
	for _, end := range [...]string{"辞退了", "开除了", "裁员了", "裁掉了", "裁了", "炒了", "离职了", "辞职了", "辞掉了"} {
		head, ok := strings.CutSuffix(x, end)
		if !ok {
			continue
		}
		firm := ""
		switch {
		case strings.HasPrefix(head, "我被"):
			firm = strings.TrimPrefix(head, "我被")
		case strings.HasPrefix(head, "我从"):
			firm = strings.TrimPrefix(head, "我从")
		case strings.HasSuffix(head, "把我"):
			firm = strings.TrimSuffix(head, "把我")
		}
		if utf8.RuneCountInString(firm) >= 2 && !vagueZh(firm) && firm != "公司" && employsZh(firm) {
			t.endedZh(b, "work", "employer", firm, false)
			return
		}
	}
}

// trimStartZh is a clause without the words before its verb that only say since when.
func trimStartZh(s string) string {
	s = trimHeads(s, "现在", "已经", "早就", "早已")
	return s
}

// activitiesZh begin what one does as a matter of course.
var activitiesZh = [...]string{"跑步", "游泳", "健身", "打", "踢", "骑", "爬山", "练", "学", "弹", "画画", "唱歌", "跳", "冥想", "瑜伽", "晨跑", "散步", "钓鱼", "写日记", "去健身房", "坐地铁", "坐公交", "午睡", "加班"}

func activityZh(what string) bool {
	return startsWithAny(what, activitiesZh[:]) && !startsWithAny(what, []string{"打算", "打扰"})
}

// routineOfZh names a habit as overZh does: 跑步 of 我每天早上六点跑步.
func (b *bareZh) routineOfZh() string {
	own, ok := ownZh(trimZhEnd(b.text))
	own = trimHeads(own, "都", "会", "要", "去", "在", "一般", "通常", "平时", "经常", "习惯")
	if n := utf8.RuneCountInString(own); !ok || n < 2 || n > 8 || !activityZh(own) {
		return ""
	}
	return own
}

// drugZh reports a medicine: 二甲双胍, 降压药, 阿司匹林.
func drugZh(s string) bool {
	if n := utf8.RuneCountInString(s); n < 2 || n > 8 {
		return false
	}
	return strings.HasSuffix(s, "药") || strings.HasSuffix(s, "片") && !containsAny(s, "面包", "薯", "麦", "果", "肉", "鱼") || containsAny(s, "双胍", "西林", "匹林", "他汀", "沙坦", "洛尔", "地平", "普利", "胰岛素", "华法林", "布洛芬", "头孢", "维生素", "激素", "褪黑素", "抗生素", "胶囊")
}
