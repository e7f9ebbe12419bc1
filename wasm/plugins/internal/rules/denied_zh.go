package rules

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// belongingsZh are what one has or has not, besides thingsZh.
var belongingsZh = [...]string{"车", "汽车", "自行车", "摩托车", "电动车", "驾照", "驾驶证", "房子", "房", "电视", "相机", "钢琴", "吉他", "电脑", "微波炉", "烤箱", "洗碗机", "空调", "信用卡", "护照", "签证", "宠物", "狗", "猫",
	"孩子", "小孩", "兄弟姐妹", "哥哥", "姐姐", "弟弟", "妹妹", "女朋友", "男朋友", "对象", "微信", "保险"}

// severalZh takes the names after 我有两个孩子: a clause of nothing else.
func (t *talk) severalZh(b *bareZh) bool {
	noun := t.several
	t.several = ""
	if what, ok := strings.CutPrefix(strings.TrimPrefix(b.text, "我们"), "我"); ok || what != b.text {
		if what, ok := strings.CutPrefix(what, "有"); ok {
			for _, k := range [...]string{"孩子", "儿子", "女儿", "哥哥", "姐姐", "弟弟", "妹妹"} {
				if strings.HasSuffix(trimZhEnd(what), k) {
					t.several = k
				}
			}
			if w := trimZhEnd(what); w == "一儿一女" || w == "一对儿女" {
				t.several = "孩子"
			}
		}
	}
	if noun == "" {
		return false
	}
	names := strings.FieldsFunc(strings.TrimPrefix(strings.TrimPrefix(trimZhEnd(b.text), "分别"), "叫"), func(r rune) bool { return r == '和' || r == '、' || r == ' ' })
	for _, n := range names {
		if !nameZh(n) {
			return false
		}
	}
	for _, n := range names {
		t.relationZh(b, t.self, noun, n)
	}
	return len(names) > 0
}

// deniedZh takes what somebody says that they have not or never do, whether or not anybody
// had claimed it: 我没有车, 我从来不抽烟, 我没去过日本.
func (t *talk) deniedZh(b *bareZh) bool {
	x := trimZhEnd(b.text)
	if len(b.whens) > 0 || strings.Contains(x, "你") {
		return false
	}
	for _, k := range [...]string{"从来不抽烟", "从来没抽过烟", "从没抽过烟", "从不抽烟", "没抽过烟", "不会抽烟", "不抽烟"} {
		if who, ok := strings.CutSuffix(x, k); ok {
			if p, ok := t.subjectZh(who); ok {
				t.factZh(b, p, "diet", "avoids", "烟", true, false, 0.88)
				return true
			}
		}
	}
	for _, k := range [...]string{"没有", "没养", "没"} {
		who, what, ok := strings.Cut(x, k)
		what, gone := strings.CutSuffix(what, "了")
		if !ok || !slices.Contains(belongingsZh[:], what) {
			continue
		}
		p, ok := t.subjectZh(who)
		if !ok {
			return false
		}
		if gone {
			t.factZh(b, p, "possession", "owns", what, true, true, 0.8)
		} else {
			t.factZh(b, p, "possession", "not_owns", what, true, false, 0.82)
		}
		return true
	}
	for _, k := range [...]string{"从来没有", "从来没", "从没", "一次也没", "没"} {
		who, what, ok := strings.Cut(x, k)
		if !ok || strings.HasSuffix(what, "了") || utf8.RuneCountInString(what) > 12 {
			continue
		}
		for _, did := range [...]string{"去过", "坐过", "吃过", "喝过", "学过", "养过", "住过", "开过"} {
			if rest, ok := strings.CutPrefix(what, did); ok && utf8.RuneCountInString(rest) >= 2 && !vagueZh(rest) && !strings.ContainsAny(rest, "这那么") {
				if p, ok := t.subjectZh(who); ok {
					t.factZh(b, p, "biography", "never", what, true, false, 0.8)
					return true
				}
			}
		}
	}
	return false
}

// denialZh is whom a Chinese clause has just said not to be somebody: the next clause may say what
// they are instead.
type denialZh struct {
	person person // of 乐乐不是我儿子: 乐乐
	noun   string // of 我表弟不是乐乐: 表弟
	start  int    // where the clause begins; a zero person and noun: there is none
}

// notZh takes 乐乐不是我儿子, 我女儿不叫小雨, and what follows such a clause: 是我干儿子, 叫小雪. It
// reports whether it did.
func (t *talk) notZh(b *bareZh) bool {
	was := t.denied
	t.denied = denialZh{}
	x := trimZhEnd(b.text)
	if containsAny(x, "是不是", "要不是", "如果", "好像") {
		return false
	}
	if was.person.key != "" || was.noun != "" {
		return t.insteadZh(b, was, x)
	}
	if who, rest, ok := strings.Cut(x, "不是我"); ok {
		noun := relativeZh(strings.TrimSuffix(rest, "了"))
		p, ok := t.subjectZh(who)
		if name := trimAdverbsZh(who); !ok && nameZh(name) && utf8.RuneCountInString(name) <= 3 {
			p, ok = t.named(name), true
		}
		if noun == "" || !ok || p.key == t.self.key || strings.Contains(p.key, "的") {
			return false
		}
		t.endedZh(b, "relation", noun, p.name, severalOfZh(noun))
		t.about(p)
		t.denied = denialZh{person: p, start: b.s.start}
		return true
	}
	for _, k := range [...]string{"的名字不是", "的名字不叫", "不叫", "不是"} {
		who, name, ok := strings.Cut(x, k)
		if !ok || !strings.HasPrefix(who, "我") || !nameZh(name) && !personZh(name) || strings.HasSuffix(name, "人") || endsWithAny(name, jobsZh[:]) {
			continue
		}
		who = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(trimAdverbsZh(who), "我"), "们"), "的")
		if relativeZh("我"+who) == "" || k == "不是" && !personZh(name) && !strings.Contains(b.s.text[b.s.end:], "，是") && !strings.Contains(b.s.text[b.s.end:], ",是") {
			continue
		}
		attribute := who
		if slices.Contains(petsZh[:], who) {
			attribute = "pets"
		}
		t.endedZh(b, "relation", attribute, name, attribute == "pets" || severalOfZh(who))
		t.denied = denialZh{noun: who, start: b.s.start}
		return true
	}
	return false
}

// insteadZh takes what somebody is instead of what was denied.
func (t *talk) insteadZh(b *bareZh, was denialZh, x string) bool {
	x = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(x, "而"), "他"), "她"), "应该")
	is := ""
	for _, k := range [...]string{"是", "叫"} {
		if rest, ok := strings.CutPrefix(x, k); ok && is == "" {
			is, x = k, rest
		}
	}
	n := len(t.out.Candidates)
	switch noun := relativeZh("我" + strings.TrimPrefix(x, "我")); {
	case is == "":
		return false
	case was.noun != "" && (nameZh(x) || personZh(x)) && !strings.HasSuffix(x, "人") && !endsWithAny(x, jobsZh[:]):
		t.relationZh(b, t.self, was.noun, x)
	case is == "是" && was.person.key != "" && noun != "":
		t.relationZh(b, t.self, noun, was.person.name)
	}
	for i := n; i < len(t.out.Candidates); i++ {
		t.out.Candidates[i].Spans[0].Start = was.start
	}
	return len(t.out.Candidates) > n
}

// relativeZh is what somebody is to the speaker: 我的干儿子, 儿子; "" for what is no relative.
func relativeZh(s string) string {
	s = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(s, "我"), "们"), "的")
	for _, k := range kinZh {
		if head, ok := strings.CutSuffix(s, k); ok && (head == "" || strings.Contains("|干|亲|继|养|堂|表|前|准|远房|远房表|大|小|二|好|老|男|女|", "|"+head+"|")) {
			return s
		}
	}
	return ""
}

// severalOfZh reports relatives of whom one has several.
func severalOfZh(noun string) bool {
	return strings.Contains("朋友同事同学邻居室友哥哥弟弟姐姐妹妹", noun)
}

// ofAllergyZh takes 不是 off whom an allergy is denied of, 小雨不是对青霉素过敏, and what only
// stresses it off the allergen, 对青霉素其实不过敏; denies reports the former.
func ofAllergyZh(attribute, who, object string) (whose, what string, denies bool) {
	if attribute != "allergies" {
		return who, object, false
	}
	for _, k := range [...]string{"不", "没有", "并非"} {
		if rest, ok := strings.CutSuffix(trimAdverbsZh(who), k); ok {
			who, denies = rest, true
		}
	}
	if strings.HasSuffix(object, "不是") {
		return who, "", denies // 我对海鲜不是过敏，就是不爱吃
	}
	return who, trimAdverbsZh(object), denies
}

// withOfZh puts 对 before what somebody is allergic to, where it is left out: 我花生过敏, 我爸海鲜过敏.
func withOfZh(x string) string {
	said, ok := strings.CutSuffix(trimZhEnd(x), "过敏")
	rest, own := cutOwnZh(said)
	rest = strings.TrimPrefix(rest, kinPrefixZh(rest))
	if n := utf8.RuneCountInString(rest); !ok || !own || n < 2 || n > 4 || containsAny(rest, "对", "不", "没", "有", "会", "又", "是", "很", "易", "皮肤", "鼻", "春", "秋", "换季", "什么", "开始", "总", "常", "说", "好像", "体质", "这", "那", "也", "都") {
		return x
	}
	return said[:len(said)-len(rest)] + "对" + rest + "过敏"
}

// allergicZh is who a clause says has an allergy, or none: a name that only this shows to be
// one, 小雨对青霉素过敏; "" where it is none.
func allergicZh(x string) string {
	who, rest, ok := strings.Cut(x, "对")
	if !ok || !strings.Contains(rest, "过敏") {
		return ""
	}
	who, _, _ = ofAllergyZh("allergies", trimAdverbsZh(who), "")
	who = trimAdverbsZh(who)
	if n := utf8.RuneCountInString(who); n < 2 || n > 3 || !nameZh(who) || commonNounsZh[who] || strings.ContainsAny(who, "人们己肤眼身体客") || endsWithAny(who, jobsZh[:]) {
		return ""
	}
	return who
}
