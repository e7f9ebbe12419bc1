package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Classes of ordinary Chinese talk for which rules has no phrase: what is done at a point of the
// day, what was decided or chosen, what a doctor advised, what a thing has.

// course takes them from a clause that gave nothing else.
func course(t *discourse.Talk, b *discourse.BareZh) {
	x := discourse.TrimZhEnd(b.Text)
	n := utf8.RuneCountInString(x)
	if n < 5 || n > 40 || strings.ContainsAny(x, "你您吗呢？?") || t.Topic.Unclear || syntax.ContainsAny(x, "如果", "要是", "可能", "也许", "说不定", "觉得", "希望", "听说", "电影", "小说", "电视剧", "梦") {
		return
	}
	who, own := t.Self, strings.Contains(x, "我")
	if t.Topic.Known && t.Topic.Person.Key != t.Self.Key {
		if own && strings.HasPrefix(x, "我") && syntax.KinPrefixZh(strings.TrimPrefix(strings.TrimPrefix(x, "我们"), "我")) == "" {
			who = t.Self
		} else {
			who, own = t.Topic.Person, true
		}
	}
	event := func(kind string, confidence float64) {
		a := t.BaseZh(b, "episodic", kind, who, confidence)
		if a.EventType, a.Actor = kind, who.Name; kind == "event" {
			a.Started = t.Ev.At
		}
		t.Out.Candidates = append(t.Out.Candidates, a)
	}
	switch {
	case own && len(b.Whens) == 0 && syntax.ContainsAny(x, "睡前", "饭前", "饭后", "起床后", "下班后", "放学后", "上班路上", "上班前", "早饭前", "晚饭后") && !strings.Contains(x, "了") && !strings.Contains(x, "一种"):
		habitual(t, b, who, 0.65)
	case own && syntax.ContainsAny(x, "骑车上班", "走路上班", "坐地铁上班", "开车上班", "骑车去", "走路去上") && !strings.Contains(x, "了"), own && len(b.Whens) == 0 && rides(x):
		habitual(t, b, who, 0.65)
	case own && len(b.Whens) == 0 && !strings.Contains(x, "接受不了") && syntax.ContainsAny(x, "不打算", "决定", "说好", "说定", "商量好", "约定", "想好了", "接受", "打算") && !strings.HasSuffix(x, "决定") && !strings.HasSuffix(x, "想好了") && n >= 7:
		event("plan", 0.65)
	case own && len(b.Whens) == 0 && chose(x):
		event("event", 0.6)
	case own && len(b.Whens) == 0 && syntax.ContainsAny(x, "老是", "经常", "总是", "常常") && syntax.ContainsAny(x, "失眠", "疼", "痛", "咳嗽", "抽筋", "耳鸣", "便秘", "头晕"):
		a := t.BaseZh(b, "semantic", "health", who, 0.7)
		a.Sensitivity = "private"
		t.Out.Candidates = append(t.Out.Candidates, a)
	case syntax.ContainsAny(x, "医生给我开", "大夫给我开", "医生让", "大夫让", "医生建议", "大夫建议", "医生叫", "医生不让", "大夫不让") && n >= 7:
		a := t.BaseZh(b, "semantic", "health", who, 0.7)
		a.Sensitivity = "private"
		t.Out.Candidates = append(t.Out.Candidates, a)
	case strings.HasSuffix(x, "是我的") && len(b.Whens) == 0:
		what := strings.TrimSuffix(x, "是我的")
		what = syntax.TrimHeads(what, "那个", "这个", "那辆", "这辆", "那把", "这把", "那件", "这件")
		if l := utf8.RuneCountInString(what); l >= 2 && l <= 8 && !syntax.VagueZh(what) && !strings.ContainsAny(what, "他她") && !strings.HasSuffix(what, "不") {
			t.FactZh(b, t.Self, "possession", "owns", what, true, false, 0.78)
		}
	case len(b.Whens) == 0 && (belongs(t, b, x) || car(t, b, x)):
	case len(b.Whens) == 0 && madeBy(x):
		a := t.BaseZh(b, "semantic", "noted", who, discourse.NotedSure)
		a.Text = t.RewriteZh(b.S, b.Whens, false)
		t.Out.Candidates = append(t.Out.Candidates, a)
	case own && len(b.Whens) == 0 && syntax.ContainsAny(x, "处得", "合得来", "合不来", "处不来"):
		t.Out.Candidates = append(t.Out.Candidates, t.BaseZh(b, "semantic", "noted", who, discourse.NotedSure))
	case own && strings.HasPrefix(x, "我") && strings.HasSuffix(x, "楼") && strings.Contains(x, "住"):
		_, floor, _ := strings.Cut(x, "住")
		if !strings.Contains(floor, "几") {
			t.FactZh(b, who, "biography", "floor", strings.TrimPrefix(floor, "在"), false, false, 0.8)
		}
	case n <= 12 && len(b.Whens) == 0 && strings.Contains(x, "姓"):
		head, name, _ := strings.Cut(x, "姓")
		if l := utf8.RuneCountInString(head); l >= 3 && l <= 8 && utf8.RuneCountInString(name) == 1 && strings.Contains(syntax.SurnamesZh, name) && !strings.ContainsAny(head, "他她谁不") && !strings.HasSuffix(head, "来的") {
			head = thingZh(head)
			t.FactZh(b, discourse.Person{Name: head, Key: head}, "biography", "surname", name, false, false, 0.75)
		}
	}
}

// rides reports whether somebody goes to work or to school by some line: 我坐42路上班.
func rides(x string) bool {
	if strings.ContainsAny(x, "了不没想要得过") || !syntax.EndsWithAny(x, []string{"上班", "上学", "去公司", "去单位", "去学校", "去上班", "去上学"}) {
		return false
	}
	_, by, ok := strings.Cut(x, "坐")
	if !ok {
		_, by, ok = strings.Cut(x, "骑")
	}
	return ok && syntax.ContainsAny(by, "路", "公交", "地铁", "轻轨", "班车", "号线", "电动车", "电瓶车", "自行车", "单车", "校车", "高铁", "轮渡")
}

// belongs takes the owner of a thing: 桌上那本书是小马的.
func belongs(t *discourse.Talk, b *discourse.BareZh, x string) bool {
	what, whose, ok := strings.Cut(x, "是")
	whose, of := strings.CutSuffix(whose, "的")
	if syntax.EndsWithAny(what, []string{"店", "馆", "厅", "公司", "诊所", "超市", "摊"}) {
		whose = strings.TrimSuffix(whose, "开")
	} else if strings.HasSuffix(whose, "开") {
		return false // 空调是老周开的
	}
	if n := utf8.RuneCountInString(what); !ok || !of || didZh(whose) != "" || n < 2 || n > 12 || strings.ContainsAny(what, "他她不") || !syntax.PersonZh(whose) && syntax.KinPrefixZh(strings.TrimPrefix(whose, "我")) != strings.TrimPrefix(whose, "我") || whose == "" || whose == "我" {
		return false
	}
	p, ok := t.SubjectZh(whose)
	if ok {
		what = thingZh(what)
		t.FactZh(b, discourse.Person{Name: what, Key: what}, "possession", "belongs_to", p.Name, false, false, 0.78)
	}
	return ok
}

// thingZh returns a thing without the words for whose it is: 沙发 for 我们家沙发.
func thingZh(x string) string {
	if rest, own := discourse.CutOwnZh(x); own && rest != "" {
		return rest
	}
	return x
}

// didZh returns who did something, for a person with a verb: 小马 for 小马买; "" if x is something else.
func didZh(x string) string {
	_, size := utf8.DecodeLastRuneInString(x)
	who, verb := x[:len(x)-size], x[len(x)-size:]
	mine := strings.TrimPrefix(who, "我")
	if !strings.Contains("做修买送画织写装种拍挑选煮炒烤寄带找订定留", verb) || who == "" || !syntax.PersonZh(who) && (mine == "" || syntax.KinPrefixZh(mine) != mine) {
		return ""
	}
	return who
}

// madeBy reports whether a clause says who made or gave a thing, which does not say whose it is: 这个蛋糕是小李送的.
func madeBy(x string) bool {
	what, who, ok := strings.Cut(x, "是")
	who, of := strings.CutSuffix(who, "的")
	who, _ = syntax.CutEnd(who, "帮我们", "帮我", "给我们", "给我")
	n := utf8.RuneCountInString(what)
	return ok && of && n >= 2 && n <= 12 && !strings.ContainsAny(what, "他她不") && !syntax.VagueZh(what) && didZh(who) != ""
}

// car takes 我的车是红色的斯柯达.
func car(t *discourse.Talk, b *discourse.BareZh, x string) bool {
	for _, k := range [...]string{"我的车是", "我车是", "我开的是", "我开的车是"} {
		what, ok := strings.CutPrefix(x, k)
		if _, rest, cut := strings.Cut(what, "的"); cut {
			what = rest
		}
		if what = strings.TrimLeft(what, "一二两辆台部"); ok && what != "" && utf8.RuneCountInString(what) <= 8 && !syntax.ContainsAny(what, "色", "的", "谁", "哪", "什么", "玩笑", "会") {
			t.FactZh(b, t.Self, "possession", "owns", what, true, false, 0.8)
			return true
		}
	}
	return false
}

// chose reports whether a clause tells of a choice or of something handed over: 我选了…, 我把…推了.
func chose(x string) bool {
	if !strings.Contains(x, "了") || strings.Contains(x, "没") {
		return false
	}
	for _, v := range [...]string{"选了", "选择了", "定了", "拒绝了", "推了", "推掉了", "答应了", "报名了", "报了", "退了", "签了", "交了", "还了", "借了", "取消了", "续了", "换了", "拿到了", "收到了", "修好了", "认识了", "介绍了"} {
		if before, after, ok := strings.Cut(x, v); ok && !(v == "答应了" && syntax.KinPrefixZh(after) == after) && (utf8.RuneCountInString(after) >= 2 && !syntax.VagueZh(after) || strings.Contains(before, "把") || strings.HasSuffix(before, "我") && syntax.StartsWithAny(before, []string{"那", "这"})) {
			return true
		}
	}
	return false
}
