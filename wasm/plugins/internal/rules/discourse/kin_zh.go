package discourse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// KinZh parses "我妹妹", "小王的女儿": whose relative somebody is.
func (t *Talk) KinZh(s string) (Person, string, bool) {
	if rest, new := strings.CutPrefix(syntax.TrimHeads(s, "我们", "公司", "部门", "组里", "班上", "办公室"), "新来的"); new {
		s = "我的" + rest
	}
	for _, k := range syntax.KinZh {
		who, ok := strings.CutSuffix(s, k)
		if !ok {
			continue
		}
		who = syntax.TrimTails(who, "那只", "这只", "那条", "这条")
		who = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(who, "新"), "的"), "养") // 我的新老板
		switch who {
		case "我", "我们", "我家", "我家里", "我们家":
			return t.Self, k, true
		case "":
			if t.Topic.Known && t.ofSelf && utf8.RuneCountInString(k) > 1 && !slices.Contains(PetsZh[:], k) {
				return t.Self, k, true // 我儿子叫…，女儿叫…
			}
			return Person{}, "", false
		}
		if utf8.RuneCountInString(who) <= 4 && !syntax.CommonZh(who) && !strings.HasPrefix(who, "我") {
			return t.Named(who), k, true
		}
	}
	for _, k := range RolesZh { // 我的牙医
		if who, ok := strings.CutSuffix(s, k); ok && (who == "我" || who == "我的" || who == "我们的") {
			return t.Self, k, true
		}
	}
	return Person{}, "", false
}

// RelationZh proposes that somebody is a relative, pet or friend.
func (t *Talk) RelationZh(b *BareZh, owner Person, kin, name string) {
	attr := kin
	if name = joinedZh(name); strings.HasSuffix(name, "不") || syntax.ContainsAny(name, "什么", "啥", "谁") { // a denial or a question, and not a name
		return
	}
	is := "是"
	if slices.Contains(PetsZh[:], kin) {
		if attr, is, name = "pets", "叫", petNameZh(name); name == "" {
			return
		}
	}
	a := t.BaseZh(b, "semantic", "relation", owner, 0.9)
	a.Text = owner.Name + "的" + kin + is + name + "。"
	a.Slot = &abi.Slot{Subject: owner.Key, Attribute: attr, Value: name, Many: attr == "pets" || SeveralOfZh(kin)}
	a.Subject, a.Predicate, a.Object = name, kin, owner.Name
	t.Out.Candidates = append(t.Out.Candidates, a)
	t.ofSelf = owner.Key == t.Self.Key
	t.About(t.Named(name))
}

// petNameZh returns the name of an animal, without what else is told about it: 旺财 for 旺财捡来的.
func petNameZh(name string) string {
	for _, of := range [...]string{"捡来", "捡的", "捡回", "买来", "买的", "领养", "收养", "送的", "朋友送", "别人送", "是只", "是条", "是个", "今年", "生了", "走丢", "特别", "很"} {
		if i := strings.Index(name, of); i >= 0 {
			name = name[:i]
		}
	}
	for _, pet := range PetsZh {
		if _, called, ok := strings.Cut(name, pet); ok && utf8.RuneCountInString(called) == 2 && syntax.StartsWithAny(name, []string{"一只", "只", "一条", "条", "一个"}) {
			return called // 一只狗旺财
		}
	}
	return name
}

// LastPerson returns the person who was named last, of those who take no part in the talk.
func (t *Talk) LastPerson() (Person, bool) {
	for _, p := range slices.Backward(t.Persons()) {
		if p.Name != "" && !strings.EqualFold(p.Name, t.Ev.Wearer) && !t.Present(p.Person) {
			return p.Person, true
		}
	}
	return Person{}, false
}

// Knows reports whether somebody with this name was mentioned, or is a speaker.
func (t *Talk) Knows(name string) bool {
	if name == "" { // a turn may have no speaker
		return false
	}
	for _, p := range t.Persons() {
		if p.Name == name {
			return true
		}
	}
	for i := range t.Ev.Before {
		if t.Ev.Before[i].Speaker == name {
			return true
		}
	}
	return name == t.Ev.Wearer
}

// CutOwnZh removes a "my" or "our" from the front: 我家的冰箱 is 冰箱.
func CutOwnZh(s string) (rest string, own bool) {
	return syntax.CutHead(s, "我们家的", "我们家", "我们的", "我们", "我家的", "我家", "我的", "我", "咱们家的", "咱们家", "咱们", "咱家的", "咱家", "咱", "本人")
}

// OursZh returns what follows the speaker's home at the beginning of a text, without 的: 豆豆 for 我们家豆豆. It
// returns "" if the text begins otherwise.
func OursZh(s string) string {
	rest, _ := syntax.CutHead(s, "我们家", "我家", "咱们家", "咱家")
	if rest == s || strings.HasPrefix(rest, "的") {
		return ""
	}
	return rest
}

// SubjectZh returns whom a clause is about, from the text before its phrase.
func (t *Talk) SubjectZh(s string) (p Person, ok bool) {
	s = syntax.TrimAdverbsZh(strings.TrimSpace(s))
	if s != "" && s[0] >= '0' && s[0] <= '9' {
		return Person{}, false // 618我买了台电视
	}
	s = syntax.TrimHeads(s, "小时候", "最近", "现在", "目前", "平时", "这阵子", "这段时间") // 最近我在戒糖
	if r, ok := strings.CutPrefix(s, "我们"); ok && r == "" || s == "咱们" || s == "咱" || s == "我" || s == "本人" {
		return t.Self, true
	}
	if rest, own := CutOwnZh(s); own {
		rest = TrimAgeZh(rest)
		k := syntax.KinPrefixZh(rest)
		p := Person{t.Self.Name + "的" + k, t.Self.Key + "的" + k}
		after := rest[len(k):]
		for k != "" && strings.HasPrefix(after, "的") {
			k = syntax.KinPrefixZh(after[len("的"):])
			p = Person{p.Name + "的" + k, p.Key + "的" + k}
			after = after[min(len(after), len("的")+len(k)):]
		}
		n := utf8.RuneCountInString(after)
		switch {
		case k == "" && OursZh(s) != "" && syntax.PersonZh(rest): // 我们家豆豆
			return t.Named(rest), true
		case k == "":
		case after == "" || bodyZh[after] || ageZh(after): // 我女儿眼睛近视
			return p, true
		case n >= 2 && n <= 4 && utf8.RuneCountInString(k) > 1 && (syntax.PersonZh(after) || NameZh(after)):
			return t.Named(after), true
		}
		return Person{}, false
	}
	for _, k := range syntax.KinZh { // 外婆是四川人: the speaker's own, and 新房东姓周
		if strings.TrimPrefix(s, "新") == k && (utf8.RuneCountInString(k) > 1 || k == "爸" || k == "妈") && k != "师傅" {
			return Person{t.Self.Name + "的" + k, t.Self.Key + "的" + k}, true
		}
	}
	if s == "他" || s == "她" {
		if p, ok := t.LastPerson(); ok {
			return p, true
		}
		return t.AbsentZh() // the person about whom the other has asked
	}
	if strings.HasPrefix(s, "你") || strings.HasPrefix(s, "您") {
		if a, ok := t.Addressee(); ok && (s == "你" || s == "您") {
			return a, true
		}
		return Person{}, false
	}
	if strings.ContainsAny(s, "\"“”：:") { // 他问我："…"我说："我…
		return Person{}, false
	}
	n := utf8.RuneCountInString(s)
	latin := s != "" && s[0] < 0x80
	if s == "" {
		return t.SubjectlessZh()
	}
	if who, k, ok := strings.Cut(s, "的"); ok && slices.Contains(syntax.KinZh[:], k) && (syntax.PersonZh(who) || t.Knows(who)) { // 小明的爸爸
		return Person{s, s}, true
	}
	if of := strings.LastIndex(s, "的"); of > 0 && syntax.PersonZh(s[of+len("的"):]) { // 隔壁的小陈
		return t.Named(s[of+len("的"):]), true
	}
	if syntax.PersonZh(s) || ForeignZh(s) || t.Knows(s) || latin && n <= 20 && !strings.Contains(s, " ") {
		t.Spoken(Met{Person{s, strings.ToLower(s)}, -1})
		return t.Named(s), true
	}
	return Person{}, false
}

// bodyZh are parts of the body, which are not names of relatives.
var bodyZh = syntax.Set("眼睛 膝盖 颈椎 腰椎 心脏 肠胃 皮肤 鼻子 耳朵 牙齿 嗓子 肩膀 胳膊 手腕 脚踝 后背 身体")

// TrimAgeZh removes the age of a relative, or which of several it is: 8岁的, 那个最小的.
func TrimAgeZh(s string) string {
	which, rest, ok := strings.Cut(strings.TrimPrefix(s, "的"), "的")
	if !ok || syntax.KinPrefixZh(rest) == "" {
		return s
	}
	which = syntax.TrimHeads(which, "家里", "家", "那个", "那", "这个")
	age := strings.TrimSuffix(strings.TrimSuffix(which, "岁"), "个月大")
	if aged := age != which && age != "" && strings.Trim(age, "〇零一二两三四五六七八九十半多0123456789") == ""; !aged && which != "最小" && which != "最大" && which != "刚出生" && which != "亲" {
		return s
	}
	return rest
}

// ageZh reports whether s is an age, or an animal of the zodiac, and not a name: 十二岁, 属兔.
func ageZh(s string) bool {
	rest := strings.TrimLeft(s, syntax.DigitsZh)
	return rest != s && (rest == "" || rest == "岁" || rest == "岁半" || rest == "岁了") || strings.HasPrefix(s, "属") && utf8.RuneCountInString(s) == 2
}

// joinedZh removes the spaces between Chinese characters.
func joinedZh(s string) string {
	parts := strings.Fields(s)
	for i := len(parts) - 1; i > 0; i-- {
		before, _ := utf8.DecodeLastRuneInString(parts[i-1])
		if after, _ := utf8.DecodeRuneInString(parts[i]); syntax.IsHan(before) && syntax.IsHan(after) {
			parts[i-1] += parts[i]
			parts = append(parts[:i], parts[i+1:]...)
		}
	}
	return strings.Join(parts, " ")
}

// Named adds the name of whom a clause is about, so that a clause without a subject, or with 他, can
// be understood by itself.
func Named(text, name string) string {
	if told, ok := PatientNamed(text, name); ok {
		return told
	}
	owner, chain, _ := strings.Cut(name, "的")
	for _, house := range [...]string{"家的", "他们的", "他们", "家"} { // Mei家的药箱, Mei他们公司的打印机
		if whole := owner + house + chain; chain != "" && strings.Contains(text, whole) {
			return strings.Replace(text, whole, name, 1)
		}
	}
	if strings.Contains(chain, "的") {
		head, after, ok := strings.Cut(text, owner)
		if after = TrimAgeZh(after); ok && strings.HasPrefix(after, chain) {
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
		if which, own := strings.CutPrefix(before, owner); own && which != "" && TrimAgeZh(which+short) == short {
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

// hisZh replaces by 的 the 他 or 她 with which people say whose relative somebody is: 老张他儿子, 我弟他老婆.
func hisZh(x string) string {
	for _, he := range [...]string{"他", "她"} {
		who, rest, ok := strings.Cut(x, he)
		if !ok || who == "" || syntax.KinPrefixZh(rest) == "" || utf8.RuneCountInString(who) > 12 || syntax.EndsWithAny(who, []string{"孩子", "跟", "和", "给", "对", "让", "叫", "把", "陪", "带"}) {
			continue
		}
		owner := syntax.StripLeadZh(who)
		if own, mine := CutOwnZh(owner); mine {
			owner = own
		} else if i := strings.LastIndex(owner, "的"); i > 0 {
			owner = owner[i+len("的"):] // Mei的弟他老婆
		}
		if syntax.PersonZh(owner) || owner != "" && syntax.KinPrefixZh(owner) == owner || syntax.EndsWithAny(owner, []string{"主任", "总监", "经理", "局长", "校长", "处长", "科长"}) && utf8.RuneCountInString(owner) <= 4 {
			return who + "的" + rest
		}
	}
	return x
}
