package rules

import (
	"strings"
	"unicode/utf8"
)

// phraseZh is a clause with the phrase of a rule, taken apart: 我, 在, 华为, 当, 工程师.
type phraseZh struct {
	*ruleZh
	keyZh
	before string // the key
	object string
	after  string // until; empty where the rule has none
	future bool   // the clause names a day to come
}

// phrasesZh tries rulesZh; it reports whether one of them knew the clause.
func (t *talk) phrasesZh(b *bareZh) bool {
	var p phraseZh
	for k := range b.whens {
		p.future = p.future || !b.whens[k].habit && b.whens[k].hasDay && b.whens[k].unix() > t.ev.At+3600_000
	}
	for i := range rulesZh {
		p.ruleZh = &rulesZh[i]
		for _, p.keyZh = range p.phrases {
			ok := false
			if p.before, p.object, ok = strings.Cut(b.text, p.key); ok && p.until != "" {
				p.object, p.after, ok = strings.Cut(p.object, p.until)
				ok = ok && p.object != ""
			}
			if ok && t.phraseZh(b, &p) {
				return true
			}
		}
	}
	return false
}

// phraseZh proposes what a phrase says. It reports false where the phrase is there by chance, so that
// another may be tried.
func (t *talk) phraseZh(b *bareZh, p *phraseZh) bool {
	if p.unsettled() {
		return true
	}
	if strings.HasPrefix(p.key, "跳到") && generalFirmZh(p.object) {
		p.object += p.until // 一家新公司
	}
	if p.misread() {
		return false
	}
	if p.attribute == "location" {
		t.putZh(b, p)
		return true
	}
	who, object, denies := ofAllergyZh(p.attribute, p.subject(), p.object)
	switch {
	case strings.HasPrefix(p.key, "不喜欢") || strings.HasPrefix(p.key, "不爱"):
		object = t.otherTasteZh(b, who, object, "likes", "喜欢吃", "喜欢喝", "爱吃", "爱喝")
	case p.attribute == "likes":
		object = t.otherTasteZh(b, who, object, "dislikes", "不喜欢", "不爱", "讨厌")
		for _, than := range [...]string{"多过", "胜过", "甚于", "超过"} { // 米饭多过面条
			object, _, _ = strings.Cut(object, than)
		}
	}
	whose, ok := t.subjectZh(who)
	if !ok {
		return false
	}
	if t.passingZh(b, p, whose, object) {
		return true
	}
	if object, ok = p.named(object); !ok {
		return false
	}
	if p.key == "买了" || p.key == "卖了" {
		object = strings.TrimLeft(object, "一二两三辆台部个只把件套架条双张")
		if owned, ok := strings.CutPrefix(whose.name, t.self.name+"的"); ok && object == "" {
			object = owned
		}
		if containsAny(object, "咖啡", "菜", "水果", "面包", "牛奶", "票", "奶茶", "早饭", "午饭", "晚饭", "蛋糕") {
			return true
		}
	}
	negates := p.negates || denies || strings.HasSuffix(strings.TrimRight(p.before, " 再太很"), "不") && p.attribute != "avoids"
	parts := []string{object}
	if p.many && p.attribute != "education" {
		parts = strings.FieldsFunc(object, func(r rune) bool { return r == '和' || r == '、' || r == '跟' })
	}
	for _, o := range parts {
		t.factZh(b, whose, p.kind, p.attribute, o, p.many, negates, p.confidence)
	}
	switch p.until {
	case "做编辑":
		t.factZh(b, whose, "work", "job", "编辑", false, false, 0.85)
	case "当":
		made := len(t.out.Candidates)
		t.factZh(b, whose, "work", "job", p.after, false, false, 0.85)
		for i := made; i < len(t.out.Candidates); i++ {
			if a := &t.out.Candidates[i]; !a.Negates {
				a.Text = whose.name + "是" + a.Slot.Value + "。" // without the firm, which it may outlast
			}
		}
	}
	return true
}

// unsettled reports what is planned and not done yet, and a meal: nothing is so for that.
func (p *phraseZh) unsettled() bool {
	switch {
	case strings.HasPrefix(p.key, "搬"):
		return p.future || containsAny(p.before, "要", "打算", "想")
	case strings.HasPrefix(p.key, "跳"), strings.HasPrefix(p.key, "换到"):
		return p.future || containsAny(p.before, "要", "打算", "想", "准备", "会", "考虑", "没", "不")
	case p.key == "买了":
		return p.future
	}
	return p.key == "不吃" && strings.HasPrefix(p.object, "饭")
}

// misread reports words among which the phrase stands by chance, or says less than it seems to.
func (p *phraseZh) misread() bool {
	switch p.key {
	case "怕":
		return !endsWithAny(p.before, []string{"我", "很", "最", "特别", "从小就"}) || strings.HasPrefix(p.object, "是") || utf8.RuneCountInString(p.object) > 5
	case "搬回", "搬回了":
		return startsWithAny(p.object, []string{"来", "去"}) // 我搬回来了: where to?
	case "结婚了", "离婚了", "退休了":
		return toComeZh(p.before)
	}
	return (p.until == "读" || p.until == "做编辑") && strings.Contains(p.object, "家里") ||
		p.attribute == "dislikes" && containsAny(p.before, "喜欢", "爱吃", "爱喝") // the phrase of liking reads both
}

// subject is what names whom the phrase is about: 我 of 我从北京搬到上海, and of 比起咖啡我更喜欢喝茶.
func (p *phraseZh) subject() string {
	who := p.before
	if strings.HasPrefix(p.key, "搬") {
		who, _, _ = strings.Cut(who, "从")
	}
	if i := strings.LastIndex(who, "比起"); i >= 0 {
		if k := strings.LastIndex(who, "我"); k > i {
			who = who[k:]
		}
	}
	return who
}

// named is the value that the object names; ok is false where it names none.
func (p *phraseZh) named(object string) (value string, ok bool) {
	switch p.key {
	case "戒烟", "戒酒":
		object = strings.TrimPrefix(p.key, "戒")
	case "吃素":
		return p.key, true
	case "结婚了", "离婚了", "退休了":
		object = strings.TrimSuffix(p.key, "了")
	case "养了":
		if strings.HasPrefix(object, "好") {
			return "", false
		}
		if _, name, ok := strings.Cut(object, "叫"); ok {
			object = name
		}
	}
	object = strings.TrimPrefix(strings.TrimLeft(object, "吃喝 "), "在")
	return object, !strings.HasPrefix(object, "过") && (p.key != "在学" || !strings.HasPrefix(object, "校"))
}

// putZh proposes where a thing was put: 我把护照放在抽屉里, 发票我都放在抽屉里.
func (t *talk) putZh(b *bareZh, p *phraseZh) {
	what := trimAdverbsZh(stripLeadZh(p.before))
	if _, after, ok := strings.Cut(what, "把"); ok && after != "" {
		what = after
	}
	what, _ = cutHead(what, "我把", "我们把", "把", "我的", "我")
	for _, by := range [...]string{"都", "一般", "平时", "全", "我们", "我"} {
		if rest := strings.TrimSuffix(what, by); rest != "" {
			what = rest
		}
	}
	if what != "" && utf8.RuneCountInString(what) <= 10 && !vagueZh(what) {
		t.factZh(b, person{what, what}, p.kind, p.attribute, p.object, false, false, p.confidence)
	}
}

// passingZh takes where somebody stays, or works, and that is no home or employer: 住在酒店, 在浦东上班.
func (t *talk) passingZh(b *bareZh, p *phraseZh, who person, object string) bool {
	switch {
	case p.negates:
		return false
	case p.attribute == "home":
		abode := abodeZh(object, strings.HasPrefix(p.key, "搬"))
		if abode == passing {
			t.factZh(b, who, "place", "staying_at", object, false, false, 0.7)
		}
		return abode != dwelling
	case p.attribute == "employer" && !employsZh(object):
		if v := trimZh(object); citiesZh[v] && v != "家" || strings.HasSuffix(v, "区") || strings.HasSuffix(v, "中心") {
			t.factZh(b, who, "work", "works_in", object, false, false, 0.8)
		}
		return true
	}
	return false
}

// otherTasteZh is the first object of 喜欢喝茶不喜欢喝咖啡, of which it proposes the second, after one of
// the phrases, under the other attribute.
func (t *talk) otherTasteZh(b *bareZh, who, object, attribute string, phrases ...string) string {
	for _, k := range phrases {
		first, second, ok := strings.Cut(object, k)
		if p, known := t.subjectZh(who); ok && known && first != "" && second != "" {
			t.factZh(b, p, "preference", attribute, strings.TrimLeft(second, "吃喝 "), true, false, 0.85)
			return first
		}
	}
	return object
}

// generalFirmZh reports what stands before 公司 and names none: 一家新.
func generalFirmZh(s string) bool {
	return containsAny(s, "家", "新", "别的", "另", "外企", "上市") || utf8.RuneCountInString(s) < 2
}
