package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// chinese applies the rules to one clause.
func (t *talk) chinese(s sentence) {
	b := t.bare(s)
	almost := containsAny(s.raw(), "差点", "差一点") || strings.Contains(b.text, "差点") // and did not
	if almost || headlessZh(b.text) || unmeantZh(s.raw()) || jokeZh(t.said.raw()) || containsAny(b.text, "如果", "要是") || t.changeZh(&b) {
		return
	}
	before := len(t.out.Candidates)
	t.attend(b.text)
	t.causeZh(&b)
	if t.notZh(&b) || t.overZh(&b) || t.lentZh(&b) || t.resumedZh(&b) {
		return
	}
	again := false
	done := strings.HasSuffix(trimZhEnd(b.text), "了")
	b.text, again = againZh(b.text)
	t.statedZh(&b)
	if len(t.out.Candidates) > before {
		return
	}
	if again && done {
		b.text += "了" // 老板今天又发火了
	}
	t.eventZh(&b)
	if len(t.out.Candidates) == before {
		t.courseZh(&b)
	}
}

// headlessZh reports 我的 without what is mine: 我的上周被偷了.
func headlessZh(x string) bool {
	rest, ok := cutHead(x, "我的", "你的", "他的", "她的")
	return ok && (trimZh(rest) == "" || startsWithAny(rest, []string{"被", "也", "还没", "早就", "刚", "都", "已经", "坏了", "丢了", "没了", "是在", "是去", "不见"}))
}

// statedZh tries the rules for what is so, those of a few words before those of rulesZh. It reports
// whether one knew the clause, though it may have proposed nothing.
func (t *talk) statedZh(b *bareZh) bool {
	return t.severalZh(b) || t.namedRoleZh(b) || t.ratherZh(b) || t.outlookZh(b) || t.anniversaryZh(b) || t.reachedZh(b) || t.deniedZh(b) || t.diagnosedZh(b) || t.attributeZh(b) || t.whereZh(b) ||
		t.favouriteZh(b) || t.bornOnZh(b) || t.calledZh(b) || t.kinIsZh(b) || t.cleftZh(b) || t.isKinZh(b) || t.agedZh(b) || t.isZh(b) || t.phrasesZh(b) || t.hasZh(b)
}

// factOfZh proposes a fact about whom the words before a phrase name; it reports whether they name anybody.
func (t *talk) factOfZh(b *bareZh, who, kind, attribute, value string, confidence float64) bool {
	p, ok := t.subjectZh(who)
	if ok {
		t.factZh(b, p, kind, attribute, value, false, false, confidence)
	}
	return ok
}

// favouriteZh takes 我最喜欢的颜色是蓝色.
func (t *talk) favouriteZh(b *bareZh) bool {
	who, favourite, _ := strings.Cut(b.text, "最喜欢的")
	what, value, ok := strings.Cut(favourite, "是")
	if ok && containsAny(what, beforeZh[:]...) {
		return true // 我最喜欢的颜色以前是绿色: which it is now, it does not say
	}
	return ok && t.factOfZh(b, who, "preference", "favourite_"+trimZh(what), value, 0.93)
}

// bornOnZh takes 我妈的生日是五月三号.
func (t *talk) bornOnZh(b *bareZh) bool {
	owner, after, ok := strings.Cut(b.text, "生日")
	if !ok || festiveZh(after) {
		return false
	}
	owner = strings.TrimSuffix(strings.TrimSuffix(owner, "过"), "的")
	if day := lunarDayZh(owner, after, b); day != "" {
		p, ok := t.subjectZh(strings.TrimSuffix(strings.TrimSuffix(owner, "农历"), "的"))
		if ok {
			b.whens = nil
			t.factZh(b, p, "biography", "birthday", day, false, false, 0.93)
		}
		return ok
	}
	for k := range b.whens {
		if w := &b.whens[k]; w.sameYearly() {
			p, ok := t.subjectZh(owner)
			if !ok && (calledSmallZh(owner) || foreignZh(owner)) {
				p, ok = t.named(owner), true
			}
			if ok {
				_, m, d := date(w.day)
				t.factZh(b, p, "biography", "birthday", itoa(m)+"月"+itoa(d)+"日", false, b.denies(w), 0.93)
				return true
			}
		}
	}
	return false
}

// calledZh takes what the speaker, a relative or an animal is called: 我叫李娜, 我女儿叫小雨.
func (t *talk) calledZh(b *bareZh) bool {
	for _, k := range [...]string{"的名字叫", "的名字是", "名叫", "叫做", "叫"} {
		who, name, ok := strings.Cut(b.text, k)
		name, aged := cutEnd(trimZh(name), "岁")
		age := ""
		if aged { // 我外甥女叫朵朵今年四岁
			bare := strings.TrimRight(name, "〇零一二两三四五六七八九十0123456789")
			name, age = bare, name[len(bare):]
		}
		if n := utf8.RuneCountInString(name); !ok || n < 1 || n > 12 || strings.ContainsAny(name, "，车他她你") || orderedZh(name) {
			continue
		}
		switch who {
		case "我", "我的":
			if t.self.key != "user" {
				t.factZh(b, t.self, "biography", "name", name, false, false, 0.88)
				return true
			}
			a := t.baseZh(b, "core", "identity", t.self, 0.92)
			a.Block, a.Slot = "human", &abi.Slot{Subject: "user", Attribute: "name", Value: name}
			t.out.Candidates = append(t.out.Candidates, a)
			return true
		case "", "它", "它的", "名字", "小名":
			asked := ""
			if q := t.justSaid(); q != nil {
				asked = q.Text
			}
			if a, ok := t.animalZh(b.s); ok && !containsAny(asked+t.said.raw(), "小时候", "以前养", "以前那", "当年", "死了", "走了", "撞了", "没了") {
				t.relationZh(b, t.self, a, name)
				return true
			}
		}
		if owner, kin, ok := t.kinZh(strings.TrimSuffix(who, "分别")); ok {
			for _, one := range strings.FieldsFunc(name, func(r rune) bool { return r == '和' || r == '、' }) {
				t.relationZh(b, owner, kin, one)
			}
			if age != "" {
				t.factZh(b, t.named(name), "biography", "age", age, false, false, 0.85)
			}
			return true
		}
	}
	return false
}

// kinIsZh takes 我老板是王伟.
func (t *talk) kinIsZh(b *bareZh) bool {
	who, name, ok := strings.Cut(b.text, "是")
	if !ok || !strings.HasPrefix(who, "我") || strings.HasSuffix(trimZhEnd(name), "的") { // 我老板是新来的
		return false
	}
	name = trimZh(name)
	owner, kin, ok := t.kinZh(who)
	if ok = ok && nameZh(name) && !strings.HasSuffix(name, "人") && !startsWithAny(name, []string{"素食", "个", "位", "名"}) && (!endsWithAny(name, postsZh[:]) || addressedZh(name)); ok {
		t.relationZh(b, owner, kin, name)
	}
	return ok
}

// addressedZh reports a surname with a post: 王总监.
func addressedZh(name string) bool {
	surname, n := utf8.DecodeRuneInString(name)
	return strings.ContainsRune(surnamesZh, surname) && slices.Contains(postsZh[:], name[n:])
}

// isKinZh takes 小王是我同事.
func (t *talk) isKinZh(b *bareZh) bool {
	if child, noun, ok := strings.Cut(strings.TrimPrefix(b.text, "我是"), "的"); ok && strings.HasPrefix(b.text, "我是") && (personZh(child) || calledSmallZh(child)) && (relativeZh("我"+trimZh(noun)) != "" || slices.Contains([]string{"干爹", "干妈", "教父", "教母"}, trimZh(noun))) {
		t.relationZh(b, t.named(child), trimZh(noun), t.self.name) // 我是小朵的干爹
		return true
	}
	who, rest, ok := strings.Cut(b.text, "是我")
	if !ok || who == "" || utf8.RuneCountInString(who) > 8 || strings.HasSuffix(who, "的") || strings.HasSuffix(trimZhEnd(b.text), "的") {
		return false
	}
	k := relativeZh(strings.TrimPrefix(strings.TrimPrefix(trimZh(rest), "们"), "的"))
	if k != "" {
		t.relationZh(b, t.self, k, who)
	}
	return k != ""
}

// agedZh takes 我女儿五岁了.
func (t *talk) agedZh(b *bareZh) bool {
	head, after, ok := strings.Cut(b.text, "岁")
	if !ok && strings.Contains(b.s.raw(), "今年") { // 我妈今年六十八了
		head, ok = strings.CutSuffix(trimZhEnd(b.text), "了")
		ok = ok && utf8.RuneCountInString(head)-utf8.RuneCountInString(strings.TrimRight(head, digitsZh)) >= 2
	}
	head = strings.TrimRight(head, " ")
	if !ok || head == "" {
		return false
	}
	topic := t.topic.known && t.topic.person.key != t.self.key // 旺财是我的狗，十三岁了
	who := strings.TrimRight(head, "〇零一二两三四五六七八九十0123456789")
	p, ok := t.subjectZh(who)
	if n := utf8.RuneCountInString(who); !ok && n >= 2 && n <= 3 && nameZh(who) && !commonNounsZh[who] && !endsWithAny(who, belongingsZh[:]) && !endsWithAny(who, []string{"我", "楼", "树", "店", "机", "司", "班", "人", "城", "校", "年"}) && !startsWithAny(who, []string{"刚", "大约", "大概", "超过", "差不多", "快", "将", "不到", "接近", "才", "满", "起码", "至少", "平均", "到", "从", "过"}) {
		p, ok = t.named(who), true // 旺财十三岁了
	}
	if ok = ok && (who != "" || topic) && who != head && strings.Trim(after, "了啦，, 半") == ""; ok {
		t.factZh(b, p, "biography", "age", head[len(who):], false, false, 0.85)
	}
	return ok
}

// isZh takes what somebody does, where they are from, and that they eat no meat: 我是护士, 外婆是四川人.
func (t *talk) isZh(b *bareZh) bool {
	who, v, ok := strings.Cut(b.text, "是")
	if does, job, cut := strings.Cut(trimZhEnd(b.text), "做"); !ok && cut && strings.HasSuffix(job, "的") && jobZh(strings.TrimSuffix(job, "的")) {
		who, v, ok = does, job, true // 我做会计的
	}
	if !ok {
		return false
	}
	v = trimZh(v)
	v = trimHeads(v, "一", "名", "个", "位")
	p, ok := t.subjectZh(who)
	place, from := strings.CutSuffix(v, "人")
	n := utf8.RuneCountInString(place)
	switch {
	case !ok:
		return false
	case (endsWithAny(v, jobsZh[:]) || strings.HasSuffix(v, "员") && utf8.RuneCountInString(v) >= 3 && !endsWithAny(v, []string{"成员", "会员", "人员", "一员", "党员", "队员", "团员"}) && !strings.Contains(v, "的") || endsWithAny(v, postsZh[:])) && !strings.HasPrefix(v, "我") && utf8.RuneCountInString(v) <= 10:
		t.factZh(b, p, "work", "job", v, false, false, 0.88)
	case from && n >= 2 && n <= 4 && !characterZh[place] && !strings.Contains(place, "的"):
		t.factZh(b, p, "biography", "origin", place, false, false, 0.85)
	case v == "素食" || v == "素食者" || v == "素食主义者" || v == "纯素食者" || strings.EqualFold(v, "vegetarian") || strings.EqualFold(v, "vegan"):
		t.factZh(b, p, "diet", "diet", v, false, false, 0.9)
	default:
		return false
	}
	return true
}

// hasZh takes an illness, a relative or an animal that somebody has: 我有哮喘, 我有两个哥哥, 我家有只猫.
func (t *talk) hasZh(b *bareZh) bool {
	who, what, ok := strings.Cut(b.text, "有")
	if !ok || startsWithAny(what, []string{"一次", "一回", "一天", "一阵", "一段", "几次"}) { // 有一次被狗咬了
		return false
	}
	if conditionZh(trimZh(what)) {
		who = trimHeads(who, "医生说", "大夫说", "医生讲")
		what = trimHeads(what, "一点", "点", "一个", "个", "轻微", "轻度")
	}
	if conditionZh(trimZh(what)) && t.healthOfZh(b, who, "condition", what) {
		return true
	}
	n := utf8.RuneCountInString(what)
	if who != "我" && who != "我们" && who != "我家" || strings.Contains(what, "点") {
		return false
	}
	for _, k := range kinZh {
		attribute := "relatives"
		if k == "狗" || k == "猫" {
			attribute = "pets"
		}
		if at := strings.Index(what, k); at > 0 && !startsWithAny(what[at+len(k):], []string{"聚会", "会", "婚礼", "生日"}) && (n <= 14 && utf8.RuneCountInString(k) > 1 || n <= 12 && attribute == "pets") {
			if _, name, ok := strings.Cut(what[at:], "叫"); ok {
				what = name
			}
			t.factZh(b, t.self, "family", attribute, what, true, false, 0.85)
			return true
		}
	}
	return false
}

// orderedZh reports what follows 叫 and is no name, but whom or what somebody called for: 我叫了外卖.
func orderedZh(name string) bool {
	return startsWithAny(name, []string{"了", "过", "来", "个", "几", "人", "醒", "不", "我", "你", "他", "她", "别", "起", "吃", "回", "去", "帮", "蚊子", "狗咬", "老师骂"}) || strings.ContainsAny(name, "了给着") || containsAny(name, "外卖", "快递", "滴滴", "维修", "保洁", "出租", "服务员", "起床")
}

// festiveZh reports whether what follows 生日 makes it a feast or a gift, and not the day.
func festiveZh(after string) bool {
	after = strings.TrimPrefix(after, "的")
	return startsWithAny(after, []string{"聚会", "派对", "宴", "会", "聚餐", "晚餐", "晚饭", "饭", "蛋糕", "礼物", "贺卡", "趴", "酒"})
}

// characterZh stands before 人 and says what somebody is like, or does, and not
// where they are from.
var characterZh = set("老实 聪明 年轻 明白 热心 外地 本地 当地 老年 成年 未成年 残疾 普通 正常 陌生 有钱 主持 负责 候选 合伙 经纪 代理 当事 好客 中年 单身 生意 管理 发言 联系 创始 继承 监护 证明 介绍 主办 很好 大好 真好 大忙 老好 善良 内向 外向 有趣 幽默 细心 感性 理性")
