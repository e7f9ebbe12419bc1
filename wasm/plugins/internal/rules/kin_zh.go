package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// kinZh reads "我妹妹", "小王的女儿": whose relative.
func (t *talk) kinZh(s string) (person, string, bool) {
	if rest, new := strings.CutPrefix(trimHeads(s, "我们", "公司", "部门", "组里", "班上", "办公室"), "新来的"); new {
		s = "我的" + rest
	}
	for _, k := range kinZh {
		who, ok := strings.CutSuffix(s, k)
		if !ok {
			continue
		}
		who = trimTails(who, "那只", "这只", "那条", "这条")
		who = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(who, "新"), "的"), "养") // 我的新老板
		switch who {
		case "我", "我们", "我家", "我家里", "我们家":
			return t.self, k, true
		case "":
			if t.topic.known && t.ofSelf && utf8.RuneCountInString(k) > 1 && !slices.Contains(petsZh[:], k) {
				return t.self, k, true // 我儿子叫…，女儿叫…
			}
			return person{}, "", false
		}
		if utf8.RuneCountInString(who) <= 4 && !commonZh(who) && !strings.HasPrefix(who, "我") {
			return t.named(who), k, true
		}
	}
	for _, k := range rolesZh { // 我的牙医
		if who, ok := strings.CutSuffix(s, k); ok && (who == "我" || who == "我的" || who == "我们的") {
			return t.self, k, true
		}
	}
	return person{}, "", false
}

func (t *talk) relationZh(b *bareZh, owner person, kin, name string) {
	attr := kin
	if name = joinedZh(name); strings.HasSuffix(name, "不") || containsAny(name, "什么", "啥", "谁") { // a denial or a question, and no name
		return
	}
	is := "是"
	if slices.Contains(petsZh[:], kin) {
		if attr, is, name = "pets", "叫", petNameZh(name); name == "" {
			return
		}
	}
	a := t.baseZh(b, "semantic", "relation", owner, 0.9)
	a.Text = owner.name + "的" + kin + is + name + "。"
	a.Slot = &abi.Slot{Subject: owner.key, Attribute: attr, Value: name, Many: attr == "pets" || severalOfZh(kin)}
	a.Subject, a.Predicate, a.Object = name, kin, owner.name
	t.out.Candidates = append(t.out.Candidates, a)
	t.ofSelf = owner.key == t.self.key
	t.about(t.named(name))
}

// petNameZh is what an animal is called, without what more is told of it: 旺财 of 旺财捡来的.
func petNameZh(name string) string {
	for _, of := range [...]string{"捡来", "捡的", "捡回", "买来", "买的", "领养", "收养", "送的", "朋友送", "别人送", "是只", "是条", "是个", "今年", "生了", "走丢", "特别", "很"} {
		if i := strings.Index(name, of); i >= 0 {
			name = name[:i]
		}
	}
	for _, pet := range petsZh {
		if _, called, ok := strings.Cut(name, pet); ok && utf8.RuneCountInString(called) == 2 && startsWithAny(name, []string{"一只", "只", "一条", "条", "一个"}) {
			return called // 一只狗旺财
		}
	}
	return name
}

// lastPerson gives the person who was named last, of those who take no part in the talk.
func (t *talk) lastPerson() (person, bool) {
	for _, p := range slices.Backward(t.persons) {
		if p.name != "" && !strings.EqualFold(p.name, t.ev.Wearer) && !t.present(p.person) {
			return p.person, true
		}
	}
	return person{}, false
}

// knows reports whether somebody of this name was spoken of, or speaks.
func (t *talk) knows(name string) bool {
	for _, p := range t.persons {
		if p.name == name {
			return true
		}
	}
	for i := range t.ev.Before {
		if t.ev.Before[i].Speaker == name {
			return true
		}
	}
	return name == t.ev.Wearer
}

// cutOwnZh cuts a "my" or "our" off the front: 我家的冰箱 is 冰箱.
func cutOwnZh(s string) (rest string, own bool) {
	return cutHead(s, "我们家的", "我们家", "我们的", "我们", "我家的", "我家", "我的", "我", "咱们", "本人")
}

// subjectZh reads who a clause is about from what stands before its phrase.
func (t *talk) subjectZh(s string) (p person, ok bool) {
	s = trimAdverbsZh(strings.TrimSpace(s))
	if s != "" && s[0] >= '0' && s[0] <= '9' {
		return person{}, false // 618我买了台电视
	}
	s = trimHeads(s, "小时候", "最近", "现在", "目前", "平时", "这阵子", "这段时间") // 最近我在戒糖
	if r, ok := strings.CutPrefix(s, "我们"); ok && r == "" || s == "咱们" || s == "我" || s == "本人" {
		return t.self, true
	}
	if rest, own := cutOwnZh(s); own {
		rest = trimAgeZh(rest)
		k := kinPrefixZh(rest)
		p := person{t.self.name + "的" + k, t.self.key + "的" + k}
		after := rest[len(k):]
		for k != "" && strings.HasPrefix(after, "的") {
			k = kinPrefixZh(after[len("的"):])
			p = person{p.name + "的" + k, p.key + "的" + k}
			after = after[min(len(after), len("的")+len(k)):]
		}
		n := utf8.RuneCountInString(after)
		switch {
		case k == "":
		case after == "" || bodyZh[after]: // 我女儿眼睛近视
			return p, true
		case n >= 2 && n <= 4 && utf8.RuneCountInString(k) > 1 && (personZh(after) || nameZh(after)):
			return t.named(after), true
		}
		return person{}, false
	}
	for _, k := range kinZh { // 外婆是四川人: one's own, and 新房东姓周
		if strings.TrimPrefix(s, "新") == k && (utf8.RuneCountInString(k) > 1 || k == "爸" || k == "妈") && k != "师傅" {
			return person{t.self.name + "的" + k, t.self.key + "的" + k}, true
		}
	}
	if s == "他" || s == "她" {
		if p, ok := t.lastPerson(); ok {
			return p, true
		}
		return t.absentZh() // whom the other has asked about
	}
	if strings.HasPrefix(s, "你") || strings.HasPrefix(s, "您") {
		if a, ok := t.addressee(); ok && (s == "你" || s == "您") {
			return a, true
		}
		return person{}, false
	}
	if strings.ContainsAny(s, "\"“”：:") { // 他问我："…"我说："我…
		return person{}, false
	}
	n := utf8.RuneCountInString(s)
	latin := s != "" && s[0] < 0x80
	if s == "" {
		return t.subjectlessZh()
	}
	if who, k, ok := strings.Cut(s, "的"); ok && slices.Contains(kinZh[:], k) && (personZh(who) || t.knows(who)) { // 小明的爸爸
		return person{s, s}, true
	}
	if of := strings.LastIndex(s, "的"); of > 0 && personZh(s[of+len("的"):]) { // 隔壁的小陈
		return t.named(s[of+len("的"):]), true
	}
	if personZh(s) || foreignZh(s) || t.knows(s) || latin && n <= 20 && !strings.Contains(s, " ") {
		t.persons = append(t.persons, met{person{s, strings.ToLower(s)}, -1})
		return t.named(s), true
	}
	return person{}, false
}

// bodyZh are parts of the body, which are no names of relatives.
var bodyZh = set("眼睛 膝盖 颈椎 腰椎 心脏 肠胃 皮肤 鼻子 耳朵 牙齿 嗓子 肩膀 胳膊 手腕 脚踝 后背 身体")

// trimAgeZh cuts off how old a relative is, or which of several: 8岁的, 那个最小的.
func trimAgeZh(s string) string {
	which, rest, ok := strings.Cut(strings.TrimPrefix(s, "的"), "的")
	if !ok || kinPrefixZh(rest) == "" {
		return s
	}
	which = trimHeads(which, "家里", "家", "那个", "那", "这个")
	age := strings.TrimSuffix(strings.TrimSuffix(which, "岁"), "个月大")
	if aged := age != which && age != "" && strings.Trim(age, "〇零一二两三四五六七八九十半多0123456789") == ""; !aged && which != "最小" && which != "最大" && which != "刚出生" && which != "亲" {
		return s
	}
	return rest
}

// joinedZh takes out the spaces between Chinese characters.
func joinedZh(s string) string {
	parts := strings.Fields(s)
	for i := len(parts) - 1; i > 0; i-- {
		before, _ := utf8.DecodeLastRuneInString(parts[i-1])
		if after, _ := utf8.DecodeRuneInString(parts[i]); isHan(before) && isHan(after) {
			parts[i-1] += parts[i]
			parts = append(parts[:i], parts[i+1:]...)
		}
	}
	return strings.Join(parts, " ")
}

// named puts whom a clause is about before it: a clause without a subject, or
// with 他, stands by itself then.
func named(text, name string) string {
	if owner, chain, _ := strings.Cut(name, "的"); strings.Contains(chain, "的") {
		head, after, ok := strings.Cut(text, owner)
		if after = trimAgeZh(after); ok && strings.HasPrefix(after, chain) {
			return head + owner + "的" + after // 我8岁的女儿的老师
		}
	}
	for _, he := range [...]string{"他", "她"} {
		if rest, ok := strings.CutPrefix(text, he); ok {
			return name + rest
		}
	}
	short := name[strings.LastIndex(name, "的")+1:] // 外婆是四川人: Mei的外婆
	if short != name {
		short = name[strings.LastIndex(name, "的")+len("的"):]
	}
	if _, tail, ok := strings.Cut(name, "的"); ok && strings.Contains(tail, "的") && strings.Contains(text, tail) {
		return strings.Replace(text, tail, name, 1) // 邻居的孩子
	}
	if owner := strings.TrimSuffix(name, "的"+short); short != name && strings.Contains(text, short) {
		before, _, _ := strings.Cut(text, short)
		if which, own := strings.CutPrefix(before, owner); own && which != "" && trimAgeZh(which+short) == short {
			which = strings.TrimSuffix(strings.TrimPrefix(which, "的"), "的")
			return strings.Replace(text, before+short, name+"（"+which+"）", 1) // 我8岁的女儿
		}
		for _, own := range [...]string{owner + "家" + short, owner + short} {
			if strings.Contains(text, own) {
				return strings.Replace(text, own, name, 1)
			}
		}
		if strings.Contains(text, "新"+short) {
			return strings.Replace(text, "新"+short, name, 1)
		}
		return strings.Replace(text, short, name, 1) // 水管漏了，师傅明天来
	}
	return name + strings.TrimPrefix(text, short)
}
