package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// over proposes the endings of which a Chinese clause tells, and reports whether it did: 我和小雨分手了,
// 我不再吃素了, 我现在不跑步了, 医生给我停了二甲双胍.
func over(t *discourse.Talk, b *discourse.BareZh) bool {
	x := discourse.TrimZhEnd(b.Text)
	if len(b.Whens) == 0 && syntax.StartsWithAny(x, []string{"她", "他"}) && syntax.EndsWithAny(strings.TrimSuffix(x, "了"), []string{"来不了", "去不了", "不能来", "来不成"}) && offJustNamed(t, b) {
		return true
	}
	if strings.ContainsAny(x, "你您吗？?") || syntax.ContainsAny(x, "可能", "也许", "说不定", "打算", "想", "如果", "差点", "没有", "没跟", "没和") || t.Topic.Unclear {
		return false
	}
	n := len(t.Out.Candidates)
	for _, k := range [...]string{"来不了", "去不了", "不能来了", "来不成"} {
		head, _, ok := strings.Cut(x, k)
		head = strings.TrimSuffix(strings.TrimSpace(head), "说")
		if ok && syntax.PersonZh(head) && t.OffWith(b.S, b.Whens, head, t.RewriteZh(b.S, b.Whens, false)) {
			return true
		}
	}
	if once(t, b, x) || sold(t, b, x) || joins(t, b, x) || owes(t, b, x) || repaid(t, b, x) || others(t, b, x) || noDiet(t, b, x) {
		return true
	}
	parted(t, b, x)
	job(t, b, x)
	own, ok := own(x)
	if !ok && syntax.StartsWithAny(b.S.Raw(), []string{"现在", "已经"}) && (!t.Topic.Known || t.Topic.Person.Key == t.Self.Key) {
		own, ok = x, true
	}
	if ok {
		for _, k := range [...]string{"又吃肉了", "又开始吃肉了", "重新吃肉了", "开始吃肉了"} {
			if syntax.TrimAdverbsZh(strings.TrimSuffix(own, k)) == "" && strings.HasSuffix(own, k) {
				ended(t, b, "diet", "diet", "吃素", false)
				ended(t, b, "diet", "avoids", "肉", true)
				return true
			}
		}
		for _, k := range [...]string{"不再", "不"} {
			head, what, ok := strings.Cut(own, k)
			what, done := strings.CutSuffix(what, "了")
			if ok && smoking[what] && syntax.TrimAdverbsZh(head) == "" && (done || k == "不再") {
				ended(t, b, "diet", "smokes", what, true)
				return true
			}
			if l := utf8.RuneCountInString(what); !ok || syntax.TrimAdverbsZh(strings.TrimSuffix(head, "早")) != "" || !done && k == "不" || l < 2 || l > 8 || !activity(what) {
				continue
			}
			ended(t, b, "habit", discourse.RoutineSlot(what), "", true)
			return true
		}
	}
	for _, k := range [...]string{"我不再吃", "我已经不吃", "我现在不吃", "我不吃", "我停用了"} {
		drug, ok := strings.CutPrefix(x, k)
		stopped := strings.HasSuffix(drug, "了") || strings.Contains(k, "不再") || k == "我停用了"
		if drug = strings.TrimSuffix(drug, "了"); ok && stopped && Drug(drug) {
			noMedicine(t, b, drug)
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
		if drug = strings.TrimSuffix(strings.TrimSuffix(drug, "了"), "的药"); ok && Drug(drug) {
			noMedicine(t, b, drug)
			break
		}
	}
	return len(t.Out.Candidates) > n
}

// offJustNamed cancels the plan that the speaker has just named, because the other cannot come: 她刚发消息说来不了了.
func offJustNamed(t *discourse.Talk, b *discourse.BareZh) bool {
	if len(t.Plans) == 0 {
		return false
	}
	last := &t.Plans[len(t.Plans)-1]
	if last.Day < t.Now.Day || t.Ev.At-last.At > discourse.AnswerWithin || last.Subject != t.Self.Key || !syntax.ContainsAny(last.Label, "约", "跟", "和", "请") {
		return false
	}
	t.Emit(*last, t.RewriteZh(b.S, b.Whens, false), "cancellation", 0.8, b.S, true)
	return true
}

// noDiet takes the end of a diet: 我不再是素食者了, 我弟弟不吃素了.
func noDiet(t *discourse.Talk, b *discourse.BareZh, x string) bool {
	for _, diet := range [...]string{"吃全素", "吃纯素", "吃素", "素食主义者", "纯素食者", "素食者"} {
		head, ok := strings.CutSuffix(strings.TrimSuffix(x, "了"), diet)
		if !ok {
			continue
		}
		who, no := syntax.CutEnd(head, "不再是", "不再", "停止", "放弃", "不是", "不")
		lasts := strings.HasSuffix(x, "了") || strings.Contains(head, "不再")
		p, known := t.SubjectZh(syntax.TrimTails(who, "现在", "已经", "早就"))
		if !no || !lasts || !known || toCome(who) {
			return false
		}
		t.FactZh(b, p, "diet", "diet", diet, false, true, 0.8)
		return true
	}
	return false
}

// own returns a clause about the speaker without its subject.
func own(x string) (string, bool) {
	for _, pre := range [...]string{"我现在", "我已经", "我", "现在"} {
		if rest, ok := strings.CutPrefix(x, pre); ok {
			return rest, true
		}
	}
	return "", false
}

// ended proposes that a value of one of the speaker's slots is no longer true.
func ended(t *discourse.Talk, b *discourse.BareZh, kind, attribute, value string, many bool) {
	endedOf(t, b, t.Self, kind, attribute, value, many)
}

// endedOf does the same for anybody.
func endedOf(t *discourse.Talk, b *discourse.BareZh, p discourse.Person, kind, attribute, value string, many bool) {
	a := t.BaseZh(b, "semantic", kind, p, 0.8)
	discourse.Ends(&a, p.Key, attribute, value, many)
	t.Out.Candidates = append(t.Out.Candidates, a)
}

// parted takes 我和小雨分手了, 我跟老公离婚了.
func parted(t *discourse.Talk, b *discourse.BareZh, x string) {
	for _, end := range [...]string{"分手了", "分开了", "离婚了"} {
		who, ok := strings.CutSuffix(x, end)
		if !ok || toCome(who) {
			continue
		}
		if own := syntax.TrimAdverbsZh(who); own == "我" && end == "离婚了" { // from anybody
			for _, noun := range wed {
				ended(t, b, "relation", noun, "", false)
			}
			t.FactZh(b, t.Self, "relation", "marital_status", "离婚", false, false, 0.88)
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
				nouns = wed[:]
			}
			for _, noun := range nouns {
				if name == noun {
					ended(t, b, "relation", noun, "", false)
					return
				}
			}
			if !syntax.PersonZh(name) && !discourse.NameZh(name) || syntax.KinPrefixZh(name) != "" {
				return
			}
			if end != "离婚了" {
				nouns = unwedTo(t, name, nouns)
			}
			for _, noun := range nouns {
				ended(t, b, "relation", noun, name, false)
			}
			return
		}
	}
}

// unwedTo returns which of the nouns says what somebody with a name was to the speaker: the one with
// which the talk has named them, else the one that fits the name, else both.
func unwedTo(t *discourse.Talk, name string, nouns []string) []string {
	for i := range t.Ev.Before {
		for _, noun := range nouns {
			if said := t.Ev.Before[i].Text; strings.Contains(said, noun+name) || strings.Contains(said, noun+"叫"+name) || strings.Contains(said, name+"是我"+noun) {
				return []string{noun}
			}
		}
	}
	switch syntax.SexZh(name) {
	case syntax.Female:
		return []string{"女朋友"}
	case syntax.Male:
		return []string{"男朋友"}
	}
	return []string{"女朋友", "男朋友"}
}

// others takes what happened between two other people: 丽娜跟马可分手了.
func others(t *discourse.Talk, b *discourse.BareZh, x string) bool {
	for _, end := range [...]string{"分手了", "分开了", "离婚了", "结婚了", "订婚了", "和好了", "在一起了"} {
		who, ok := strings.CutSuffix(x, end)
		if !ok || toCome(who) {
			continue
		}
		for _, k := range [...]string{"跟", "和", "与"} {
			one, other, cut := strings.Cut(who, k)
			other = syntax.TrimAdverbsZh(other)
			if !cut || !syntax.PersonZh(one) && !syntax.CalledSmallZh(one) && !discourse.ForeignZh(one) || !syntax.PersonZh(other) && !syntax.CalledSmallZh(other) && !discourse.ForeignZh(other) {
				continue
			}
			p := t.Named(one)
			at := noted.ToldAt(t, b.S)
			for i := range b.Whens {
				if w := &b.Whens[i]; w.HasDay && !w.Habit {
					w.Past(t.Now) // 元旦那天订婚了
					at = t.Now.Begins(w.Day)
				}
			}
			a := t.BaseZh(b, "episodic", "event", p, 0.7)
			a.EventType, a.Actor, a.Started = "event", p.Name, at
			t.Out.Candidates = append(t.Out.Candidates, a)
			t.About(p)
			t.Topic.Beside = t.Named(other)
			return true
		}
	}
	return false
}

// toCome reports whether the text before a verb puts it in the future: 我要离婚了.
func toCome(head string) bool {
	return syntax.EndsWithAny(head, []string{"要", "快", "快要", "会", "将", "将要", "准备", "能", "可以", "该"})
}

// wed are words for a spouse.
var wed = [...]string{"老婆", "老公", "妻子", "丈夫", "太太", "先生"}

// job takes 我被腾讯裁了, 腾讯把我辞退了, 我从面包店离职了.
func job(t *discourse.Talk, b *discourse.BareZh, x string) {
	if own, ok := own(x); ok { // 我已经不在华为当工程师了
		firm, job, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(trimStart(own), "不再在"), "不在"), "当")
		job, done := strings.CutSuffix(job, "了")
		if ok && done && firm != own && strings.HasPrefix(trimStart(own), "不") && utf8.RuneCountInString(firm) >= 2 && employs(firm) && syntax.EndsWithAny(job, syntax.JobsZh[:]) {
			ended(t, b, "work", "employer", firm, false)
			ended(t, b, "work", "job", job, false)
			return
		}
	}
	if own, ok := own(x); ok {
		switch w := syntax.TrimHeads(trimStart(own), "刚刚", "刚"); w {
		case "辞职了", "离职了", "失业了", "被裁了", "被裁员了", "被辞退了", "被开除了", "被炒了", "从公司离职了", "从公司辞职了", "被公司裁了", "被公司辞退了", "被公司开除了", "把工作辞了", "把工作辞掉了":
			ended(t, b, "work", "employer", "", false)
			return
		default:
			firm, left := strings.CutPrefix(w, "离开")
			firm, done := strings.CutSuffix(firm, "了")
			firm, had := strings.CutPrefix(firm, "了")
			if left && (done || had) && utf8.RuneCountInString(firm) >= 2 && !syntax.VagueZh(firm) && employs(firm) && relative(firm) == "" {
				ended(t, b, "work", "employer", firm, false)
				a := t.BaseZh(b, "episodic", "event", t.Self, 0.65)
				a.EventType, a.Actor, a.Started = "event", t.Self.Name, noted.ToldAt(t, b.S)
				t.Out.Candidates = append(t.Out.Candidates, a)
				return
			}
		}
	}
	for _, end := range [...]string{"的工作辞了", "的工作辞掉了"} { // 我把面包店的工作辞了
		head, ok := strings.CutSuffix(x, end)
		who, firm, took := strings.Cut(head, "把")
		if p := party(t, who); ok && took && p.Key != "" && utf8.RuneCountInString(firm) >= 2 && !syntax.VagueZh(firm) && employs(firm) {
			endedOf(t, b, p, "work", "employer", firm, false)
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
		default:
			who, of, from := strings.Cut(head, "从")
			if p, ok := t.SubjectZh(who); from && ok && who != "" && utf8.RuneCountInString(of) >= 2 && !syntax.VagueZh(of) && of != "公司" && employs(of) { // 海波从华为离职了
				endedOf(t, b, p, "work", "employer", of, false)
				return
			}
		}
		if utf8.RuneCountInString(firm) >= 2 && !syntax.VagueZh(firm) && firm != "公司" && employs(firm) {
			ended(t, b, "work", "employer", firm, false)
			return
		}
	}
}

// trimStart returns a clause without the words before its verb that only say since when.
func trimStart(s string) string {
	s = syntax.TrimHeads(s, "现在", "已经", "早就", "早已")
	return s
}

// activities are beginnings of things that people do regularly.
var activities = [...]string{"跑步", "游泳", "健身", "打", "踢", "骑", "爬山", "练", "学", "弹", "画画", "唱歌", "跳", "冥想", "瑜伽", "晨跑", "散步", "钓鱼", "写日记", "去健身房", "坐地铁", "坐公交", "午睡", "加班"}

func activity(what string) bool {
	return syntax.StartsWithAny(what, activities[:]) && !syntax.StartsWithAny(what, []string{"打算", "打扰"})
}

// routineOf returns the name of a habit, as in over: 跑步 for 我每天早上六点跑步.
func routineOf(b *discourse.BareZh) string {
	own, ok := own(discourse.TrimZhEnd(b.Text))
	own = syntax.TrimHeads(own, "都", "会", "要", "去", "在", "一般", "通常", "平时", "经常", "习惯")
	if n := utf8.RuneCountInString(own); !ok || n < 2 || n > 8 || !activity(own) {
		return ""
	}
	return own
}

// Drug reports whether s is a medicine: 二甲双胍, 降压药, 阿司匹林.
func Drug(s string) bool {
	if n := utf8.RuneCountInString(s); n < 2 || n > 8 {
		return false
	}
	return strings.HasSuffix(s, "药") || strings.HasSuffix(s, "片") && !syntax.ContainsAny(s, "面包", "薯", "麦", "果", "肉", "鱼") || syntax.ContainsAny(s, "双胍", "西林", "匹林", "他汀", "沙坦", "洛尔", "地平", "普利", "胰岛素", "华法林", "布洛芬", "头孢", "维生素", "激素", "褪黑素", "抗生素", "胶囊")
}
