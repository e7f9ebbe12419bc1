package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// What others than the speaker's people do or announce, and what is so for a time, in Chinese:
// neighbours, 楼上邻居月底搬走; schools and firms, 学校说周五放假; 热水停到周四; 电梯周五才能修好.

// neighbourZh is the neighbour that a clause begins with, as it is said; "" where 楼上 and 对面 are places.
func neighbourZh(x string) string {
	for _, where := range [...]string{"楼上", "楼下", "隔壁", "对门", "对面"} {
		rest, ok := strings.CutPrefix(x, where)
		if !ok {
			continue
		}
		for _, who := range [...]string{"的邻居", "邻居", "那对小夫妻", "那对夫妻", "那小两口", "小两口", "小夫妻", "的大爷", "大爷", "的大妈", "大妈", "老太太", "那家人", "人家", "那户", "的住户", "住户"} {
			if after, ok := strings.CutPrefix(rest, who); ok && !(strings.HasPrefix(after, "说") && containsAny(after, outagesZh...)) { // 楼下大爷说停水: it is ours
				return where + who
			}
		}
		if family, ok := strings.CutPrefix(rest, "那家"); ok && startsWithAny(family, []string{"要", "会", "又", "搬", "在", "老", "总", "生", "养", "办", "装修", "半夜", "说", "有"}) {
			return where + "那家" // and not 对面那家店
		}
		if name := namePrefixZh(rest); name != "" {
			return where + name
		}
		if where == "对门" || startsWithAny(rest, []string{"搬", "装修", "办", "吵", "漏", "弹", "打", "要", "会", "准备", "养", "生", "又", "总", "老是", "一直", "半夜", "经常", "每"}) {
			return where
		}
	}
	return ""
}

// institutionsZh are how names of those end that announce something of a day, as officesZh are.
var institutionsZh = []string{"行", "院", "房", "公司", "单位", "校", "园", "班", "馆", "店", "厅", "超市", "商场", "市里", "区里", "镇上", "街道", "政府", "局", "所", "站", "中心", "地铁", "电信", "移动", "联通", "供应商", "厂", "厂里", "院里", "系里", "工地"}

// saidByZh is who says something of a day to come, and what: 银行说周四系统升级.
func saidByZh(x string) (who, inner string) {
	for _, says := range [...]string{"通知说", "通知我们", "发消息说", "通知", "说了", "说"} {
		who, inner, ok := strings.Cut(x, says)
		if n := utf8.RuneCountInString(who); !ok || n < 2 || n > 8 || !endsWithAny(who, institutionsZh) && !endsWithAny(who, officesZh) || strings.ContainsAny(who, "他她你您这那不没") {
			continue
		}
		return who, strings.TrimLeft(inner, "，, ")
	}
	return "", ""
}

// saidZh takes what somebody with an office says is going to be on a day.
func (t *talk) saidZh(b *bareZh, w *when) bool {
	who, inner := saidByZh(b.text)
	if n := utf8.RuneCountInString(inner); who == "" || n < 2 || n > 16 || w.day <= t.now.day || containsAny(inner, "我", "咱", "他", "她", "你", "您", "不定", "没定", "不确定", "不一定", "可能", "天气", "下雨") || containsAny(t.saidAfter(b), "够呛", "未必", "悬", "难说", "不靠谱", "不信") {
		return false
	}
	plain := strings.TrimPrefix(strings.TrimPrefix(who, "我们"), "我")
	p := plan{subject: t.self.key, attribute: "计划：" + plain + trimZh(inner), what: "plan", day: w.day, minute: w.minute, clock: w.clock, chinese: true, label: trimZh(b.text)}
	t.another(&p, false)
	a := t.emit(p, t.rewriteZh(b.s, b.whens, false), "plan", 0.76, b.s, false)
	a.Actor, a.Ended = plain, closed(b.s, b.whens, w, t.now, false)
	return true
}

// untilZh takes what is so until a day, 热水停到周四, 图书馆周五之前不开门, and what is so from a day on, and
// not before: 电梯坏了，周五才能修好.
func (t *talk) untilZh(b *bareZh, w *when) bool {
	x := strings.TrimRight(b.text, "。，！! 了")
	if w.day <= t.now.day || w.habit || containsAny(x, "吗", "如果", "你", "不知道") {
		return false
	}
	head, lasts := strings.CutSuffix(x, "到")
	lasts = lasts && endsWithAny(head, []string{"停", "关", "封", "闭", "休", "歇", "修", "租", "借", "忙", "住", "堵", "放", "休息", "关闭", "暂停", "出差", "请假", "停业"}) && utf8.RuneCountInString(head) >= 2 && !strings.HasPrefix(head, "从")
	for _, before := range [...]string{"之前", "以前", "前"} {
		what, not, ok := strings.Cut(x, before)
		lasts = lasts || ok && what != "" && (strings.HasPrefix(not, "不") || strings.HasPrefix(not, "都不") || strings.HasPrefix(not, "没有") || strings.HasPrefix(not, "都没有")) && !strings.Contains(not, "完")
	}
	late := containsAny(x, "才能", "才会", "才可以", "才开", "才来", "才到", "才回", "才修", "才好")
	if !lasts && !late {
		return false
	}
	s, whens := b.s, b.whens
	if what := strings.TrimLeft(x, " "); strings.HasPrefix(what, "才") { // what? the clause before says it
		if s = t.said; s.start >= b.s.start || utf8.RuneCountInString(s.raw()) > 24 {
			return false
		}
		whens = findWhens(s, t.now)
		head, _, _ := strings.Cut(s.raw(), "，")
		x = trimZh(head) + x
	}
	p := plan{subject: t.self.key, attribute: "计划：" + trimZh(x), what: "plan", day: w.day, minute: w.minute, clock: w.clock, chinese: true, label: trimZh(x)}
	if lasts {
		p.day, p.clock = t.now.day, false
		if end := &b.whens[len(b.whens)-1]; end.first > w.first && end.hasDay && !end.habit {
			p.day, w = w.day, end // 我爸妈下周一来看我，住到月底
		}
	}
	t.another(&p, false)
	text := t.rewriteZh(s, whens, false)
	if r := s.raw(); strings.HasPrefix(r, "要") || strings.HasPrefix(r, "得") {
		text = t.self.name + text
	}
	if a := t.emit(p, text, "plan", 0.8, s, false); lasts {
		a.Ended = w.ends()
	}
	return true
}

// failZh are things of a household whose failing or loss is worth a note.
var failZh = [...]string{"电梯", "空调", "快递", "包裹", "水管", "马桶", "冰箱", "洗衣机", "洗碗机", "热水器", "暖气", "网", "宽带", "门锁", "灯", "电视", "微波炉", "烤箱", "电饭锅", "抽油烟机", "车胎", "车", "手机", "电脑", "打印机", "水龙头", "下水道", "屋顶", "天花板", "锅炉"}

// papersZh are what one applies for or waits for, and billsZh what comes to a sum.
var (
	papersZh = [...]string{"签证", "护照", "驾照", "身份证", "户口", "贷款", "房产证", "居住证", "录取通知书", "营业执照", "体检报告", "化验结果"}
	billsZh  = [...]string{"电费", "水费", "水电费", "煤气费", "燃气费", "物业费", "话费", "网费", "取暖费", "停车费", "修车费", "维修费", "学费", "补课费", "保险费", "房租"}
)

// failedZh takes a sentence of such a thing that has failed, 快递丢了, and of somebody who did not come:
// 物业到现在都没来修灯. What is done about it stands beside it.
func (t *talk) failedZh(s sentence) bool {
	x := stripLeadZh(s.raw())
	if !s.chinese() || utf8.RuneCountInString(x) > 24 || containsAny(x, "吗", "你", "如果", "要是", "他", "她", "？", "?") {
		return false
	}
	x, _ = cutOwnZh(x)
	thing := longestZh(x, failZh[:])
	rest := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(x[len(thing):], "又"), "也"), "被")
	failed := thing != "" && startsWithAny(rest, []string{"坏了", "丢了", "漏水", "漏了", "堵了", "裂了", "爆了", "偷了", "停了", "断了", "进水了", "坏掉了", "不制冷了", "不制热了", "不工作了", "打不开了", "打不着火", "开不了机", "修好了", "换了", "换好了", "装好了", "没反应了", "不转了", "连不上了"})
	if paper := longestZh(x, papersZh[:]); paper != "" {
		failed = failed || startsWithAny(x[len(paper):], []string{"下来了", "批了", "批下来了", "办好了", "办下来了", "出来了", "到了"})
	}
	for _, bill := range billsZh {
		if _, sum, ok := strings.Cut(x, bill); ok && utf8.RuneCountInString(sum) >= 2 && strings.ContainsAny(sum, "0123456789十百千万") && strings.Trim(strings.TrimLeft(sum, "是一共花了交"), "0123456789一二两三四五六七八九十百千万点块元毛钱多") == "" {
			failed = true
		}
	}
	if who := longestZh(x, officesZh); who != "" && !failed {
		after := x[len(who):]
		after = trimHeads(after, "到现在", "一直", "还是", "还", "都", "又", "也")
		failed = startsWithAny(after, []string{"没来", "没有来", "没到", "没出现", "没送"})
	}
	if !failed {
		return false
	}
	whens := findWhens(s, t.now)
	for i := range whens {
		if whens[i].hasDay && whens[i].day > t.now.day && !whens[i].weekday {
			return false
		}
	}
	t.out.Candidates = append(t.out.Candidates, abi.Candidate{Type: "episodic", Kind: "noted", EventType: "noted", Text: t.rewriteZh(s, whens, true), Lang: "zh", Confidence: notedSure - doubt(s), Sensitivity: "personal",
		Started: t.toldAt(s), Tags: []string{"noted"}, Spans: []abi.Span{{Start: s.start, End: s.end}}})
	return true
}

// longestZh is the longest of words that x begins with; "" where there is none.
func longestZh(x string, words []string) (longest string) {
	for _, w := range words {
		if strings.HasPrefix(x, w) && len(w) > len(longest) {
			longest = w
		}
	}
	return longest
}

// rumourZh notes what somebody has heard of a thing that is nobody's: 听说地铁明年要通车.
func (t *talk) rumourZh(b *bareZh, w *when) bool {
	head, x, heard := strings.Cut(b.s.raw(), "听说")
	if head == "我" {
		head = ""
	}
	if !heard || strings.ContainsAny(head, "我咱你他她") || strings.ContainsAny(x, "我咱") || containsAny(x, outagesZh...) || comesZh(b.text) || containsAny(x, "公司", "学校", "幼儿园", "单位", "小区") {
		return false
	}
	a := t.baseZh(b, "episodic", "noted", person{}, notedSure+hedge)
	a.Entities, a.EventType, a.Started = nil, "noted", moment{w.day, 0, t.now.offset}.unix()
	t.out.Candidates = append(t.out.Candidates, a)
	return true
}

// leadPersonZh reports a clause that says whom it has it from: 高总让咱们交总结.
func leadPersonZh(x string) bool {
	who, _, ok := strings.Cut(x, "让")
	return ok && personZh(who)
}

// feastOfZh reports a clause about the feast of a relative, to which the speaker goes: 我妈的生日聚会.
func feastOfZh(x string) bool {
	head, _, ok := strings.Cut(x, "的")
	attribute, word := eventInZh(x)
	return ok && strings.HasPrefix(head, "我") && (attribute == "party" || attribute == "wedding" || attribute == "dinner") && strings.Contains(x[len(head):], word)
}

// shiftZh reports what the speaker is doing for all of a week: 这周我上夜班.
func shiftZh(x string) bool {
	return strings.Contains(x, "我") && containsAny(x, "夜班", "早班", "晚班", "值班", "出差", "休假", "请假", "在家办公")
}

// todayZh reports what the speaker will do at an hour of this day, without a word for the day: 我六点去健身房.
func todayZh(x string) bool {
	return containsAny(x, "我去", "我们去", "有个会", "有会", "有课", "有个约", "有约", "有个面试") && !containsAny(x, "了", "过", "平时", "一般", "通常", "总", "经常", "往往", "常", "都", "每", "如果", "要是", "想", "没")
}
