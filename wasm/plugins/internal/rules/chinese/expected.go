package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// institutions are the endings of names of institutions that announce something for a day, as
// offices do.
var institutions = []string{"行", "院", "房", "公司", "单位", "校", "园", "班", "馆", "店", "厅", "超市", "商场", "市里", "区里", "镇上", "街道", "政府", "局", "所", "站", "中心", "地铁", "电信", "移动", "联通", "供应商", "厂", "厂里", "院里", "系里", "工地"}

// saidBy returns who says something about a future day, and what: 银行说周四系统升级.
func saidBy(x string) (who, inner string) {
	for _, says := range [...]string{"通知说", "通知我们", "发消息说", "通知", "说了", "说"} {
		who, inner, ok := strings.Cut(x, says)
		if n := utf8.RuneCountInString(who); !ok || n < 2 || n > 8 || !syntax.EndsWithAny(who, institutions) && !syntax.EndsWithAny(who, offices) || strings.ContainsAny(who, "他她你您这那不没") {
			continue
		}
		return who, strings.TrimLeft(inner, "，, ")
	}
	return "", ""
}

// said takes what an institution says will happen on a day.
func said(t *discourse.Talk, b *discourse.BareZh, w *timex.When) bool {
	if strings.HasSuffix(strings.TrimRight(b.S.Raw(), "。！ "), "吧") {
		return false // 医生说再观察两天周五吧
	}
	who, inner := saidBy(b.Text)
	if n := utf8.RuneCountInString(inner); who == "" || n < 2 || n > 16 || w.Day <= t.Now.Day || syntax.ContainsAny(inner, "我", "咱", "他", "她", "你", "您", "不定", "没定", "不确定", "不一定", "可能", "天气", "下雨") || syntax.ContainsAny(saidAfter(t, b), "够呛", "未必", "悬", "难说", "不靠谱", "不信") {
		return false
	}
	plain := strings.TrimPrefix(strings.TrimPrefix(who, "我们"), "我")
	p := discourse.Plan{Subject: t.Self.Key, Attribute: "计划：" + plain + syntax.TrimZh(inner), What: "plan", Day: w.Day, Minute: w.Minute, Clock: w.Clock, Chinese: true, Label: syntax.TrimZh(b.Text)}
	t.Another(&p, false)
	a := t.Emit(p, t.RewriteZh(b.S, b.Whens, false), "plan", 0.76, b.S, false)
	a.Actor, a.Ended = plain, timex.Closed(b.S, b.Whens, w, t.Now, false)
	return true
}

// until takes what is true until a day, 热水停到周四, 图书馆周五之前不开门, and what is true only from a day on:
// 电梯坏了，周五才能修好.
func until(t *discourse.Talk, b *discourse.BareZh, w *timex.When) bool {
	x := strings.TrimRight(b.Text, "。，！! 了")
	if w.Day <= t.Now.Day || w.Habit || syntax.ContainsAny(x, "吗", "如果", "你", "不知道") {
		return false
	}
	head, lasts := strings.CutSuffix(x, "到")
	lasts = lasts && syntax.EndsWithAny(head, []string{"停", "关", "封", "闭", "休", "歇", "修", "租", "借", "忙", "住", "堵", "放", "休息", "关闭", "暂停", "出差", "请假", "停业"}) && utf8.RuneCountInString(head) >= 2 && !strings.HasPrefix(head, "从")
	for _, before := range [...]string{"之前", "以前", "前"} {
		what, not, ok := strings.Cut(x, before)
		lasts = lasts || ok && what != "" && (strings.HasPrefix(not, "不") || strings.HasPrefix(not, "都不") || strings.HasPrefix(not, "没有") || strings.HasPrefix(not, "都没有")) && !strings.Contains(not, "完")
	}
	late := syntax.ContainsAny(x, "才能", "才会", "才可以", "才开", "才来", "才到", "才回", "才修", "才好")
	if !lasts && !late {
		return false
	}
	who := t.Self
	if he := syntax.StartsWithAny(x, []string{"他", "她"}) && !syntax.StartsWithAny(x, []string{"他们", "她们"}); he { // 她休产假了，要到四月才回来
		p, ok := t.SubjectZh(x[:len("他")])
		if !ok {
			return true
		}
		who = p
	}
	s, whens := b.S, b.Whens
	if what := strings.TrimLeft(x, " "); strings.HasPrefix(what, "才") { // what? the previous clause says it
		if s = t.Said; s.Start >= b.S.Start || utf8.RuneCountInString(s.Raw()) > 24 {
			return false
		}
		whens = timex.FindWhens(s, t.Now)
		head, _, _ := strings.Cut(s.Raw(), "，")
		x = syntax.TrimZh(head) + x
	}
	p := discourse.Plan{Subject: who.Key, Attribute: "计划：" + syntax.TrimZh(x), What: "plan", Day: w.Day, Minute: w.Minute, Clock: w.Clock, Chinese: true, Label: syntax.TrimZh(x)}
	if lasts {
		p.Day, p.Clock = t.Now.Day, false
		if end := &b.Whens[len(b.Whens)-1]; end.First > w.First && end.HasDay && !end.Habit {
			p.Day, w = w.Day, end // 我爸妈下周一来看我，住到月底
		}
	}
	t.Another(&p, false)
	text := t.RewriteZh(s, whens, false)
	if who.Key != t.Self.Key {
		text = discourse.Named(text, who.Name)
	}
	if r := s.Raw(); strings.HasPrefix(r, "要") || strings.HasPrefix(r, "得") {
		text = t.Self.Name + text
	}
	if a := t.Emit(p, text, "plan", 0.8, s, false); lasts {
		a.Ended = w.Ends()
	}
	return true
}

// Fail are household things whose failure or loss is worth a note.
var Fail = [...]string{"电梯", "空调", "快递", "包裹", "水管", "马桶", "冰箱", "洗衣机", "洗碗机", "热水器", "暖气", "网", "宽带", "门锁", "灯", "电视", "微波炉", "烤箱", "电饭锅", "抽油烟机", "车胎", "车", "手机", "电脑", "打印机", "水龙头", "下水道", "屋顶", "天花板", "锅炉"}

// papers are documents for which somebody applies or waits, and Bills are things with a price.
var papers = [...]string{"签证", "护照", "驾照", "身份证", "户口", "贷款", "房产证", "居住证", "录取通知书", "营业执照", "体检报告", "化验结果"}

// Bills are things for which people pay regularly.
var Bills = [...]string{"电费", "水费", "水电费", "煤气费", "燃气费", "物业费", "话费", "网费", "取暖费", "停车费", "修车费", "维修费", "学费", "补课费", "保险费", "房租"}

// Failed takes a sentence about such a thing that has failed, 快递丢了, or about somebody who did not
// come: 物业到现在都没来修灯. What is done about it stays with it.
func Failed(t *discourse.Talk, s syntax.Sentence) bool {
	x := syntax.StripLeadZh(s.Raw())
	if !s.Chinese() || utf8.RuneCountInString(x) > 24 || syntax.ContainsAny(x, "吗", "你", "如果", "要是", "他", "她", "？", "?") {
		return false
	}
	x, _ = discourse.CutOwnZh(x)
	thing := syntax.LongestZh(x, Fail[:])
	rest := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(x[len(thing):], "又"), "也"), "被")
	failed := thing != "" && syntax.StartsWithAny(rest, []string{"坏了", "丢了", "漏水", "漏了", "堵了", "裂了", "爆了", "偷了", "停了", "断了", "进水了", "坏掉了", "不制冷了", "不制热了", "不工作了", "打不开了", "打不着火", "开不了机", "修好了", "换了", "换好了", "装好了", "没反应了", "不转了", "连不上了"})
	if paper := syntax.LongestZh(x, papers[:]); paper != "" {
		failed = failed || syntax.StartsWithAny(x[len(paper):], []string{"下来了", "批了", "批下来了", "办好了", "办下来了", "出来了", "到了"})
	}
	for _, bill := range Bills {
		if _, sum, ok := strings.Cut(x, bill); ok && utf8.RuneCountInString(sum) >= 2 && strings.ContainsAny(sum, "0123456789十百千万") && strings.Trim(strings.TrimLeft(sum, "是一共花了交"), "0123456789一二两三四五六七八九十百千万点块元毛钱多") == "" {
			failed = true
		}
	}
	if who := syntax.LongestZh(x, offices); who != "" && !failed {
		after := x[len(who):]
		after = syntax.TrimHeads(after, "到现在", "一直", "还是", "还", "都", "又", "也")
		failed = syntax.StartsWithAny(after, []string{"没来", "没有来", "没到", "没出现", "没送"})
	}
	if !failed {
		return false
	}
	whens := timex.FindWhens(s, t.Now)
	for i := range whens {
		if whens[i].HasDay && whens[i].Day > t.Now.Day && !whens[i].Weekday {
			return false
		}
	}
	t.Out.Candidates = append(t.Out.Candidates, abi.Candidate{Type: "episodic", Kind: "noted", EventType: "noted", Text: t.RewriteZh(s, whens, true), Lang: "zh", Confidence: discourse.NotedSure - discourse.Doubt(s), Sensitivity: "personal",
		Started: noted.ToldAt(t, s), Tags: []string{"noted"}, Spans: []abi.Span{{Start: s.Start, End: s.End}}})
	return true
}

// rumour notes what somebody has heard about a thing that belongs to nobody: 听说地铁明年要通车.
func rumour(t *discourse.Talk, b *discourse.BareZh, w *timex.When) bool {
	head, x, heard := strings.Cut(b.S.Raw(), "听说")
	if head == "我" {
		head = ""
	}
	if !heard || strings.ContainsAny(head, "我咱你他她") || strings.ContainsAny(x, "我咱") || syntax.ContainsAny(x, discourse.OutagesZh...) || comes(b.Text) || syntax.ContainsAny(x, "公司", "学校", "幼儿园", "单位", "小区") {
		return false
	}
	a := t.BaseZh(b, "episodic", "noted", discourse.Person{}, discourse.NotedSure+discourse.Hedge)
	a.Entities, a.EventType, a.Started = nil, "noted", t.Now.Begins(w.Day)
	t.Out.Candidates = append(t.Out.Candidates, a)
	return true
}

// leadPerson reports whether a clause says who gave the order: 高总让咱们交总结.
func leadPerson(x string) bool {
	who, _, ok := strings.Cut(x, "让")
	return ok && syntax.PersonZh(who)
}

// feastOf reports whether a clause is about a relative's party, to which the speaker goes: 我妈的生日聚会.
func feastOf(x string) bool {
	head, _, ok := strings.Cut(x, "的")
	attribute, word := EventIn(x)
	return ok && strings.HasPrefix(head, "我") && (attribute == "party" || attribute == "wedding" || attribute == "dinner") && strings.Contains(x[len(head):], word)
}

// shift reports whether the speaker does something for the whole week: 这周我上夜班.
func shift(x string) bool {
	return strings.Contains(x, "我") && syntax.ContainsAny(x, "夜班", "早班", "晚班", "值班", "出差", "休假", "请假", "在家办公")
}

// today reports whether the speaker will do something at an hour of today, without a word for the
// day: 我六点去健身房.
func today(x string) bool {
	return syntax.ContainsAny(x, "我去", "我们去", "有个会", "有会", "有课", "有个约", "有约", "有个面试") && !syntax.ContainsAny(x, "了", "过", "平时", "一般", "通常", "总", "经常", "往往", "常", "都", "每", "如果", "要是", "想", "没")
}

// asSaid does the same as [discourse.Talk.AsSaid], for a Chinese clause.
func asSaid(t *discourse.Talk, b *discourse.BareZh) {
	a := t.BaseZh(b, "episodic", "noted", discourse.Person{}, discourse.NotedSure)
	a.Entities, a.EventType, a.Started = nil, "noted", t.Ev.At
	t.Out.Candidates = append(t.Out.Candidates, a)
}
