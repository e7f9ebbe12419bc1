// Package chinese makes candidates from Chinese clauses. [Clause] reads one clause: it tries the
// known forms, and then events with a time.
package chinese

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Clause applies the rules to one clause.
func Clause(t *discourse.Talk, s syntax.Sentence) {
	made := len(t.Out.Candidates)
	if !apart(t, s) {
		read(t, s)
	}
	discourse.Outlast(t, made, !strings.ContainsAny(s.Raw(), "不没") && (discourse.CompletedZh(s.Raw()) || syntax.ContainsAny(s.Raw(), Once[:]...)))
}

func read(t *discourse.Talk, s syntax.Sentence) {
	b := t.Bare(s)
	almost := syntax.ContainsAny(s.Raw(), "差点", "差一点") || strings.Contains(b.Text, "差点") // and did not
	if almost || noted.HeadlessZh(b.Text) || refuse.UnmeantZh(s.Raw()) || refuse.JokeZh(t.Said.Raw()) || syntax.ContainsAny(b.Text, "如果", "要是") || change(t, &b) {
		return
	}
	before := len(t.Out.Candidates)
	b.Text = leftBehind(unechoed(ongoing(&b)))
	t.Attend(b.Text)
	cause(t, &b)
	left(t, &b)
	if not(t, &b) || over(t, &b) || lent(t, &b) || resumed(t, &b) {
		return
	}
	again := false
	done := strings.HasSuffix(discourse.TrimZhEnd(b.Text), "了")
	b.Text, again = cutAgain(b.Text)
	stated(t, &b)
	if len(t.Out.Candidates) > before {
		return
	}
	if again && done {
		b.Text += "了" // 老板今天又发火了
	}
	Event(t, &b)
	if len(t.Out.Candidates) == before {
		course(t, &b)
	}
}

// unechoed returns 我弟考上公务员了 for 我弟他考上公务员了.
func unechoed(x string) string {
	own, mine := discourse.CutOwnZh(x)
	k := syntax.KinPrefixZh(own)
	rest, echoes := syntax.CutHead(own[len(k):], "他", "她")
	if !mine || k == "" || !echoes || syntax.StartsWithAny(rest, []string{"们", "的", "家"}) || syntax.KinPrefixZh(rest) != "" {
		return x
	}
	return x[:len(x)-len(own)+len(k)] + rest
}

// ongoing writes 我正找房子呢 as 我在找房子.
func ongoing(b *discourse.BareZh) string {
	who, doing, ok := strings.Cut(b.Text, "正")
	if !ok || !strings.HasSuffix(b.S.Raw(), "呢") || syntax.StartsWithAny(doing, []string{"要", "打算", "准备", "想", "好", "常", "式", "是", "版", "确", "经"}) {
		return b.Text
	}
	return who + "在" + strings.TrimPrefix(doing, "在")
}

// Promise takes 我得给妈妈打电话, and keeps it as a promise if no rule makes more of it.
func Promise(t *discourse.Talk, s syntax.Sentence) {
	from := len(t.Out.Candidates)
	b := t.Bare(s)
	Event(t, &b)
	if len(t.Out.Candidates) == from {
		p := discourse.Plan{Subject: t.Self.Key, Attribute: "计划：" + syntax.TrimZh(strings.TrimPrefix(b.Text, "我得")), What: "promise", Chinese: true}
		t.Emit(p, t.RewriteZh(s, b.Whens, false), "promise", 0.65, s, false)
	}
}

// stated tries the rules for facts, those of a few words before the phrases of rules. It reports
// whether one of them knew the clause, even if it proposed nothing.
func stated(t *discourse.Talk, b *discourse.BareZh) bool {
	return several(t, b) || namedRole(t, b) || rather(t, b) || noted.OutlookZh(t, b) || anniversary(t, b) || reached(t, b) || denied(t, b) || everyday(t, b) || diagnosed(t, b) || switched(t, b) || reacts(t, b) || lasting(t, b) || where(t, b) ||
		favourite(t, b) || bornOn(t, b) || household(t, b) || nextJob(t, b) || workplace(t, b) || flatmate(t, b) || schooled(t, b) || ofBody(t, b) || called(t, b) || kinIs(t, b) || cleft(t, b) || isKin(t, b) || aged(t, b) || is(t, b) || matched(t, b) || has(t, b)
}

// factOf proposes a fact about the person whom the words before a phrase name; it reports whether
// they name anybody.
func factOf(t *discourse.Talk, b *discourse.BareZh, who, kind, attribute, value string, confidence float64) bool {
	p, ok := t.SubjectZh(who)
	if ok {
		t.FactZh(b, p, kind, attribute, value, false, false, confidence)
	}
	return ok
}

// favourite takes 我最喜欢的颜色是蓝色.
func favourite(t *discourse.Talk, b *discourse.BareZh) bool {
	who, favourite, _ := strings.Cut(b.Text, "最喜欢的")
	what, value, ok := strings.Cut(favourite, "是")
	if ok && syntax.ContainsAny(what, Once[:]...) {
		return true // 我最喜欢的颜色以前是绿色: it does not say which it is now
	}
	return ok && factOf(t, b, who, "preference", "favourite_"+syntax.TrimZh(what), value, 0.93)
}

// bornOn takes 我妈的生日是五月三号.
func bornOn(t *discourse.Talk, b *discourse.BareZh) bool {
	owner, after, ok := strings.Cut(b.Text, "生日")
	if !ok || festive(after) {
		return false
	}
	owner = strings.TrimSuffix(strings.TrimSuffix(owner, "过"), "的")
	if day := lunarDay(owner, after, b); day != "" {
		p, ok := t.SubjectZh(strings.TrimSuffix(strings.TrimSuffix(owner, "农历"), "的"))
		if ok {
			b.Whens = nil
			t.FactZh(b, p, "biography", "birthday", day, false, false, 0.93)
		}
		return ok
	}
	for k := range b.Whens {
		if w := &b.Whens[k]; timex.SameYearly(w) {
			p, ok := t.SubjectZh(owner)
			if !ok && (syntax.CalledSmallZh(owner) || discourse.ForeignZh(owner)) {
				p, ok = t.Named(owner), true
			}
			if ok {
				_, m, d := timex.Date(w.Day)
				t.FactZh(b, p, "biography", "birthday", strconv.Itoa(m)+"月"+strconv.Itoa(d)+"日", false, noted.Denies(b, w), 0.93)
				return true
			}
		}
	}
	return false
}

// called takes the name of the speaker, a relative or an animal: 我叫李娜, 我女儿叫小雨.
func called(t *discourse.Talk, b *discourse.BareZh) bool {
	for _, k := range [...]string{"的名字叫", "的名字是", "名叫", "叫做", "叫"} {
		who, name, ok := strings.Cut(b.Text, k)
		name, aged := syntax.CutEnd(syntax.TrimZh(name), "岁")
		age := ""
		if aged { // 我外甥女叫朵朵今年四岁
			bare := strings.TrimRight(name, "〇零一二两三四五六七八九十0123456789")
			name, age = bare, name[len(bare):]
		}
		if n := utf8.RuneCountInString(name); !ok || n < 1 || n > 12 || strings.ContainsAny(name, "，车他她你") || ordered(name) {
			continue
		}
		switch who {
		case "我", "我的":
			if t.Self.Key != "user" {
				t.FactZh(b, t.Self, "biography", "name", name, false, false, 0.88)
				return true
			}
			a := t.BaseZh(b, "core", "identity", t.Self, 0.92)
			a.Block, a.Slot = "human", &abi.Slot{Subject: "user", Attribute: "name", Value: name}
			if name == t.Self.Name {
				a.Text = "佩戴者叫" + name + "。"
			}
			t.Out.Candidates = append(t.Out.Candidates, a)
			return true
		case "", "它", "它的", "名字", "小名":
			asked := ""
			if q := t.JustSaid(); q != nil {
				asked = q.Text
			}
			if a, ok := animal(t, b.S); ok && !strings.Contains(name, "和") && !syntax.ContainsAny(asked+t.Said.Raw(), "小时候", "以前养", "以前那", "当年", "死了", "走了", "撞了", "没了") {
				t.RelationZh(b, t.Self, a, name)
				return true
			}
		}
		if eachCalled(t, b, strings.TrimSuffix(who, "分别"), name) {
			return true
		}
		if owner, kin, ok := t.KinZh(strings.TrimSuffix(who, "分别")); ok {
			for _, one := range strings.FieldsFunc(name, func(r rune) bool { return r == '和' || r == '、' }) {
				t.RelationZh(b, owner, kin, one)
			}
			if age != "" {
				t.FactZh(b, t.Named(name), "biography", "age", age, false, false, 0.85)
			}
			return true
		}
	}
	return false
}

// kinIs takes 我老板是王伟.
func kinIs(t *discourse.Talk, b *discourse.BareZh) bool {
	who, name, ok := strings.Cut(b.Text, "是")
	if !ok || !strings.HasPrefix(who, "我") || strings.HasSuffix(discourse.TrimZhEnd(name), "的") { // 我老板是新来的
		return false
	}
	name = syntax.TrimZh(name)
	owner, kin, ok := t.KinZh(who)
	if ok = ok && discourse.NameZh(name) && !strings.HasSuffix(name, "人") && !syntax.StartsWithAny(name, []string{"素食", "个", "位", "名"}) && (!syntax.EndsWithAny(name, posts[:]) || addressed(name)); ok {
		t.RelationZh(b, owner, kin, name)
	}
	return ok
}

// addressed reports whether a name is a surname with a post: 王总监.
func addressed(name string) bool {
	surname, n := utf8.DecodeRuneInString(name)
	return strings.ContainsRune(syntax.SurnamesZh, surname) && slices.Contains(posts[:], name[n:])
}

// isKin takes 小王是我同事.
func isKin(t *discourse.Talk, b *discourse.BareZh) bool {
	if child, noun, ok := strings.Cut(strings.TrimPrefix(b.Text, "我是"), "的"); ok && strings.HasPrefix(b.Text, "我是") && (syntax.PersonZh(child) || syntax.CalledSmallZh(child)) && (relative("我"+syntax.TrimZh(noun)) != "" || slices.Contains([]string{"干爹", "干妈", "教父", "教母"}, syntax.TrimZh(noun))) {
		t.RelationZh(b, t.Named(child), syntax.TrimZh(noun), t.Self.Name) // 我是小朵的干爹
		return true
	}
	who, rest, ok := strings.Cut(b.Text, "是我")
	if !ok || who == "" || utf8.RuneCountInString(who) > 8 || syntax.CommonZh(who) || syntax.EndsWithAny(who, []string{"个", "位", "注意", "关键", "重点"}) || strings.HasSuffix(who, "的") || strings.HasSuffix(discourse.TrimZhEnd(b.Text), "的") {
		return false
	}
	k := relative(strings.TrimPrefix(strings.TrimPrefix(syntax.TrimZh(rest), "们"), "的"))
	if k != "" {
		t.RelationZh(b, t.Self, k, who)
	}
	return k != ""
}

// aged takes 我女儿五岁了.
func aged(t *discourse.Talk, b *discourse.BareZh) bool {
	head, after, ok := strings.Cut(b.Text, "岁")
	if !ok && strings.Contains(b.S.Raw(), "今年") { // 我妈今年六十八了
		head, ok = strings.CutSuffix(discourse.TrimZhEnd(b.Text), "了")
		ok = ok && utf8.RuneCountInString(head)-utf8.RuneCountInString(strings.TrimRight(head, syntax.DigitsZh)) >= 2
		if bare := strings.TrimRight(head, syntax.DigitsZh); !ok && strings.Contains(head[len(bare):], "十") && utf8.RuneCountInString(head[len(bare):]) <= 3 {
			who, _, _ := strings.Cut(bare, "属")                                               // 我闺女属兔今年十五
			head, ok = syntax.TrimTails(who, "才", "刚", "都", "也", "已经")+head[len(bare):], true // 她今年才二十四
		}
	}
	head = strings.TrimRight(head, " ")
	if !ok || head == "" {
		return false
	}
	if slices.ContainsFunc(b.Whens, func(w timex.When) bool { return w.HasDay && !w.Habit && w.Day > t.Now.Day }) {
		return true // 三月就七岁了: not yet true
	}
	topic := t.Topic.Known && t.Topic.Person.Key != t.Self.Key // 旺财是我的狗，十三岁了
	who := strings.TrimRight(head, "〇零一二两三四五六七八九十0123456789")
	if child, _ := utf8.DecodeRuneInString(head[len(who):]); strings.HasSuffix(who, "老") && strings.ContainsRune("二三四", child) { // 我家老二五岁
		who = head[:len(who)+utf8.RuneLen(child)]
	}
	p, ok := t.SubjectZh(who)
	if n := utf8.RuneCountInString(who); !ok && n >= 2 && n <= 3 && discourse.NameZh(who) && !discourse.FolkZh(who) && !syntax.CommonNounsZh[who] && !syntax.EndsWithAny(who, Belongings[:]) && !syntax.EndsWithAny(who, []string{"我", "楼", "树", "店", "机", "司", "班", "人", "城", "校", "年"}) && !syntax.StartsWithAny(who, []string{"刚", "大约", "大概", "超过", "差不多", "快", "将", "不到", "接近", "才", "满", "起码", "至少", "平均", "到", "从", "过"}) {
		p, ok = t.Named(who), true // 旺财十三岁了
	}
	if ok = ok && (who != "" || topic) && who != head && strings.Trim(after, "了啦，, 半") == ""; ok {
		t.FactZh(b, p, "biography", "age", head[len(who):], false, false, 0.85)
	}
	return ok
}

// is takes somebody's job, where they are from, and that they eat no meat: 我是护士, 外婆是四川人.
func is(t *discourse.Talk, b *discourse.BareZh) bool {
	who, v, ok := strings.Cut(b.Text, "是")
	if does, job, cut := strings.Cut(discourse.TrimZhEnd(b.Text), "做"); !ok && cut && strings.HasSuffix(job, "的") && discourse.JobZh(strings.TrimSuffix(job, "的")) {
		who, v, ok = does, job, true // 我做会计的
	}
	if !ok {
		return false
	}
	v = syntax.TrimZh(v)
	v = syntax.TrimHeads(v, "一", "名", "个", "位")
	p, ok := t.SubjectZh(who)
	if job, firm, at := strings.Cut(v, "在"); at && ok && discourse.JobZh(job) && utf8.RuneCountInString(firm) <= 8 && employs(firm) { // 她是护士在市二院
		t.FactZh(b, p, "work", "employer", syntax.TrimTails(firm, "上班", "工作"), false, false, 0.85)
		v = job
	}
	place, from := strings.CutSuffix(v, "人")
	n := utf8.RuneCountInString(place)
	switch {
	case !ok:
		return false
	case (syntax.EndsWithAny(v, syntax.JobsZh[:]) || strings.HasSuffix(v, "员") && utf8.RuneCountInString(v) >= 3 && !syntax.EndsWithAny(v, []string{"成员", "会员", "人员", "一员", "党员", "队员", "团员"}) && !strings.Contains(v, "的") || syntax.EndsWithAny(v, posts[:])) && !strings.HasPrefix(v, "我") && utf8.RuneCountInString(v) <= 10:
		t.FactZh(b, p, "work", "job", v, false, false, 0.88)
	case from && n >= 2 && n <= 4 && !character[place] && !strings.Contains(place, "的"):
		t.FactZh(b, p, "biography", "origin", place, false, false, 0.85)
	case v == "素食" || v == "素食者" || v == "素食主义者" || v == "纯素食者" || strings.EqualFold(v, "vegetarian") || strings.EqualFold(v, "vegan"):
		t.FactZh(b, p, "diet", "diet", v, false, false, 0.9)
	default:
		return false
	}
	return true
}

// has takes somebody's illness, relative or animal: 我有哮喘, 我有两个哥哥, 我家有只猫.
func has(t *discourse.Talk, b *discourse.BareZh) bool {
	who, what, ok := strings.Cut(b.Text, "有")
	if ill, of, got := strings.Cut(b.Text, "得了"); got && !ok && len(b.Whens) == 0 {
		who, what, ok = ill, of, condition(syntax.TrimZh(of)) // 小刚的女儿得了糖尿病
	}
	who = syntax.TrimTails(who, "还")                                                     // 我还有个弟弟
	if !ok || syntax.StartsWithAny(what, []string{"一次", "一回", "一天", "一阵", "一段", "几次"}) { // 有一次被狗咬了
		return false
	}
	if condition(syntax.TrimZh(what)) {
		who = syntax.TrimHeads(who, "医生说", "大夫说", "医生讲")
		what = syntax.TrimHeads(what, "一点", "点", "一个", "个", "轻微", "轻度")
	}
	if condition(syntax.TrimZh(what)) && healthOf(t, b, who, "condition", what) {
		return true
	}
	n := utf8.RuneCountInString(what)
	if who != "我" && who != "我们" && who != "我家" || strings.Contains(what, "点") {
		return false
	}
	for _, k := range syntax.KinZh {
		attribute := "relatives"
		if k == "狗" || k == "猫" {
			attribute = "pets"
		}
		if at := strings.Index(what, k); at > 0 && !syntax.StartsWithAny(what[at+len(k):], []string{"聚会", "会", "婚礼", "生日"}) && (n <= 14 && utf8.RuneCountInString(k) > 1 || n <= 12 && attribute == "pets") {
			if _, name, ok := strings.Cut(what[at:], "叫"); ok {
				what = name
			} else if does := what[at+len(k):]; syntax.StartsWithAny(does, []string{"在", "是", "开", "做", "刚", "今年", "住", "还"}) {
				what = what[:at+len(k)] // 我有个发小在加拿大开餐馆
			}
			if syntax.StartsWithAny(what, []string{"十", "百", "千", "一百", "几十", "一千", "一万"}) {
				return true // 我有十八个孩子: a joke
			}
			t.FactZh(b, t.Self, "family", attribute, what, true, false, 0.85)
			return true
		}
	}
	return false
}

// ordered reports whether what follows 叫 is not a name, but whom or what somebody called for:
// 我叫了外卖.
func ordered(name string) bool {
	return syntax.StartsWithAny(name, []string{"了", "过", "来", "个", "几", "人", "醒", "不", "我", "你", "他", "她", "别", "起", "吃", "回", "去", "帮", "蚊子", "狗咬", "老师骂"}) || strings.ContainsAny(name, "了给着") || syntax.ContainsAny(name, "外卖", "快递", "滴滴", "维修", "保洁", "出租", "服务员", "起床")
}

// festive reports whether what follows 生日 makes it a party or a gift, and not the day.
func festive(after string) bool {
	after = strings.TrimPrefix(after, "的")
	return syntax.StartsWithAny(after, []string{"聚会", "派对", "宴", "会", "聚餐", "晚餐", "晚饭", "饭", "蛋糕", "礼物", "贺卡", "趴", "酒"})
}

// character are words before 人 that say what somebody is like, or does, and not where they are
// from.
var character = syntax.Set("老实 聪明 年轻 明白 热心 外地 本地 当地 老年 成年 未成年 残疾 普通 正常 陌生 有钱 主持 负责 候选 合伙 经纪 代理 当事 好客 中年 单身 生意 管理 发言 联系 创始 继承 监护 证明 介绍 主办 很好 大好 真好 大忙 老好 善良 内向 外向 有趣 幽默 细心 感性 理性")

// animal returns the animal that 叫团子 names: one named earlier in this text, or in the turns just
// before.
func animal(t *discourse.Talk, s syntax.Sentence) (string, bool) {
	texts := []string{s.Text[:s.Start]}
	for i := len(t.Ev.Before) - 1; i >= max(0, len(t.Ev.Before)-3); i-- {
		if t.Ev.At-t.Ev.Before[i].At <= discourse.AnswerWithin {
			texts = append(texts, t.Ev.Before[i].Text)
		}
	}
	for _, text := range texts {
		for _, a := range discourse.PetsZh {
			if strings.Contains(text, a) {
				return a, true
			}
		}
	}
	return "", false
}
