package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// bareZh is a clause without lead words and times.
type bareZh struct {
	s     sentence
	whens []when
	text  string
}

// sinceZh takes out what is left of 从今天起 without its day.
var sinceZh = strings.NewReplacer("现在", "", "从起", "", "从开始", "", "自起", "", "从以后", "")

func (t *talk) bare(s sentence) bareZh {
	b := bareZh{s: s, whens: findWhens(s, t.now)}
	sameDay(b.whens)
	timed := map[int]bool{}
	for _, w := range b.whens {
		for k := w.first; k < w.next; k++ {
			timed[k] = true
		}
	}
	var out strings.Builder
	last := s.start
	for i, tok := range s.toks {
		if timed[i] {
			out.WriteString(s.text[last:tok.start])
			last = tok.end
		}
	}
	out.WriteString(s.text[last:s.end])
	b.text = stripLeadZh(sinceZh.Replace(out.String()))
	return b
}

// rewriteZh puts names for "I" and "my", and dates beside relative times.
func (t *talk) rewriteZh(s sentence, whens []when, past bool) string {
	var b strings.Builder
	last := s.start
	for i := 0; i < len(s.toks); i++ {
		tok := s.toks[i]
		if a, ok := t.addressee(); ok && (tok.s == "你" || tok.s == "您") && i == 0 && s.at(1) != "们" {
			b.WriteString(s.text[last:tok.start])
			last = tok.end
			b.WriteString(a.name)
		}
		if tok.s == "我" {
			b.WriteString(s.text[last:tok.start])
			last = tok.end
			b.WriteString(t.self.name)
			if _, n := prefixZh(s, i+2, kinZh[:]...); n > 0 && s.at(i+1) == "们" { // 我们女儿
				b.WriteString("的")
				i++
				last = s.toks[i].end
			} else if s.at(i+1) == "们" {
				b.WriteString("他")
			} else if _, n := prefixZh(s, i+1, kinZh[:]...); n > 0 {
				b.WriteString("的")
			}
		}
		for k := range whens {
			w := &whens[k]
			if w.next-1 == i && !w.habit && w.grain != 'y' && (w.hasDay || past) { // 学校三点半放学 is of no one day
				if !w.hasDay {
					w.set(t.now.day, 'd')
				}
				if past {
					w.past(t.now)
				}
				b.WriteString(s.text[last:tok.end])
				last = tok.end
				b.WriteString("（" + w.chinese() + "）")
			}
		}
	}
	b.WriteString(s.text[last:s.end])
	return stripLeadZh(b.String()) + "。"
}

func (t *talk) baseZh(b *bareZh, typ, kind string, p person, confidence float64) abi.Candidate {
	confidence -= doubt(b.s)
	text := t.rewriteZh(b.s, b.whens, false)
	if !strings.Contains(text, p.name) && p.key == t.self.key {
		text = t.self.name + text
	}
	if p.key != t.self.key && !strings.Contains(text, p.name) {
		text = named(text, p.name)
	}
	return abi.Candidate{
		Type: typ, Kind: kind, Text: text, Lang: "zh", Confidence: confidence, Sensitivity: "personal",
		Spans: []abi.Span{{Start: b.s.start, End: b.s.end}}, Tags: []string{kind}, Entities: []abi.Entity{{Name: p.name, Kind: "person"}},
	}
}

func (t *talk) factZh(b *bareZh, p person, kind, attribute, value string, many, negates bool, confidence float64) {
	value = joinedZh(trimZh(value))
	if value == "" || vagueZh(value) || courtesyZh[value] || utf8.RuneCountInString(value) > 24 {
		return
	}
	a := t.baseZh(b, "semantic", kind, p, confidence)
	if strings.Contains(b.s.raw(), "以前") && (attribute == "home" || attribute == "employer" || attribute == "likes") {
		if attr := map[string]string{"home": "lived_in", "employer": "worked_at"}[attribute]; attr != "" {
			once := a
			once.Kind, once.Tags, once.Confidence = "biography", []string{"biography"}, 0.75-doubt(b.s)
			once.Slot = &abi.Slot{Subject: p.key, Attribute: attr, Value: value, Many: true}
			once.Subject, once.Predicate, once.Object = p.name, attr, value
			t.out.Candidates = append(t.out.Candidates, once)
		}
		negates = true
	}
	if negates && attribute == "allergies" && !strings.Contains(b.s.raw(), "不再") && !strings.Contains(b.s.raw(), "已经") && !completedZh(b.text) {
		negates, attribute = false, "not_allergies" // nobody need have claimed it
	}
	a.Negates = negates
	if attribute == "allergies" || attribute == "not_allergies" {
		a.Sensitivity = "private"
	}
	a.Slot = &abi.Slot{Subject: p.key, Attribute: attribute, Value: value, Many: many}
	a.Subject, a.Predicate, a.Object = p.name, attribute, value
	t.out.Candidates = append(t.out.Candidates, a)
}

// courtesyZh is [courtesy] in Chinese.
var courtesyZh = set("对 对对 是 是的 对的 嗯 好 好的 没错 谢谢 当然")

// chinese applies the rules to one clause.
func (t *talk) chinese(s sentence) {
	b := t.bare(s)
	if strings.Contains(b.text, "差点") || strings.Contains(b.text, "差一点") { // and did not
		return
	}
	if strings.Contains(b.text, "如果") || strings.Contains(b.text, "要是") {
		return
	}
	if t.changeZh(&b) {
		return
	}
	before := len(t.out.Candidates)
	t.attend(b.text)
	if t.overZh(&b) {
		return
	}
	t.statedZh(&b)
	if len(t.out.Candidates) > before {
		return
	}
	t.eventZh(&b)
	if len(t.out.Candidates) == before {
		t.courseZh(&b)
	}
}

// statedZh tries the phrases of rulesZh and those that need more than a table.
func (t *talk) statedZh(b *bareZh) {
	x := b.text
	if t.severalZh(b) || t.reachedZh(b) || t.deniedZh(b) || t.attributeZh(b) || t.whereZh(b) {
		return
	}
	if i := strings.Index(x, "最喜欢的"); i >= 0 {
		if what, value, ok := strings.Cut(x[i+len("最喜欢的"):], "是"); ok {
			if p, ok := t.subjectZh(x[:i]); ok {
				t.factZh(b, p, "preference", "favourite_"+trimZh(what), value, false, false, 0.93)
				return
			}
		}
	}
	if i := strings.Index(x, "生日"); i >= 0 && !festiveZh(x[i+len("生日"):]) {
		owner := strings.TrimSuffix(strings.TrimSuffix(x[:i], "过"), "的")
		for k := range b.whens {
			if w := &b.whens[k]; w.hasDay && !w.habit && w.grain == 'd' {
				if p, ok := t.subjectZh(owner); ok {
					_, m, d := date(w.day)
					t.factZh(b, p, "biography", "birthday", itoa(m)+"月"+itoa(d)+"日", false, false, 0.93)
					return
				}
			}
		}
	}
	for _, k := range [...]string{"的名字叫", "的名字是", "名叫", "叫做", "叫"} {
		who, name, ok := strings.Cut(x, k)
		name = trimZh(name)
		if n := utf8.RuneCountInString(name); !ok || n < 1 || n > 12 || strings.ContainsAny(name, "，车他她你") {
			continue
		}
		if who == "我" || who == "我的" {
			a := t.baseZh(b, "core", "identity", t.self, 0.92)
			if t.self.key != "user" {
				t.factZh(b, t.self, "biography", "name", name, false, false, 0.88)
				return
			}
			a.Block, a.Slot = "human", &abi.Slot{Subject: "user", Attribute: "name", Value: name}
			t.out.Candidates = append(t.out.Candidates, a)
			return
		}
		switch who {
		case "", "它", "它的", "名字", "小名":
			if a, ok := t.animalZh(b.s); ok {
				t.relationZh(b, t.self, a, name)
				return
			}
		}
		if owner, kin, ok := t.kinZh(strings.TrimSuffix(who, "分别")); ok {
			for _, one := range strings.FieldsFunc(name, func(r rune) bool { return r == '和' || r == '、' }) {
				t.relationZh(b, owner, kin, one)
			}
			return
		}
	}
	if who, name, ok := strings.Cut(x, "是"); ok && strings.HasPrefix(who, "我") {
		name = trimZh(name)
		if owner, kin, ok := t.kinZh(who); ok && nameZh(name) && !strings.HasSuffix(name, "人") {
			t.relationZh(b, owner, kin, name)
			return
		}
	}
	if who, rest, ok := strings.Cut(x, "是我"); ok && who != "" && utf8.RuneCountInString(who) <= 8 {
		rest = strings.TrimPrefix(strings.TrimPrefix(trimZh(rest), "们"), "的")
		for _, k := range kinZh {
			if rest == k {
				t.relationZh(b, t.self, k, who)
				return
			}
		}
	}
	if i := strings.Index(x, "岁"); i > 0 {
		head := strings.TrimRight(x[:i], " ")
		k := len(head)
		for k > 0 {
			r, n := utf8.DecodeLastRuneInString(head[:k])
			if _, digit := digitsZh[string(r)]; !digit && r != '十' && (r < '0' || r > '9') {
				break
			}
			k -= n
		}
		if p, ok := t.subjectZh(head[:k]); ok && k > 0 && k < len(head) && strings.Trim(x[i+len("岁"):], "了啦，, 半") == "" {
			t.factZh(b, p, "biography", "age", head[k:], false, false, 0.85)
			return
		}
	}
	if i := strings.Index(x, "是"); i >= 0 {
		v := trimZh(x[i+len("是"):])
		v = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(v, "一"), "名"), "个"), "位")
		if p, ok := t.subjectZh(x[:i]); ok {
			for _, j := range jobsZh {
				if strings.HasSuffix(v, j) && utf8.RuneCountInString(v) <= 10 {
					t.factZh(b, p, "work", "job", v, false, false, 0.88)
					return
				}
			}
			if place, ok := strings.CutSuffix(v, "人"); ok && utf8.RuneCountInString(place) >= 2 && utf8.RuneCountInString(place) <= 4 && !characterZh[place] {
				t.factZh(b, p, "biography", "origin", place, false, false, 0.85)
				return
			}
			if v == "素食者" || v == "素食主义者" || v == "纯素食者" {
				t.factZh(b, p, "diet", "diet", v, false, false, 0.9)
				return
			}
		}
	}
	future := false
	for k := range b.whens {
		future = future || !b.whens[k].habit && b.whens[k].hasDay && b.whens[k].unix() > t.ev.At+3600_000
	}
	for _, r := range rulesZh {
		i := strings.Index(x, r.key)
		if i < 0 {
			continue
		}
		object := x[i+len(r.key):]
		if r.until != "" {
			j := strings.Index(object, r.until)
			if j <= 0 {
				continue
			}
			object = object[:j]
		}
		if r.attribute == "home" && strings.HasPrefix(r.key, "搬") && (future || strings.Contains(x[:i], "要") || strings.Contains(x[:i], "打算") || strings.Contains(x[:i], "想")) {
			return // a plan
		}
		if r.key == "怕" && (!strings.HasSuffix(x[:i], "我") && !strings.HasSuffix(x[:i], "很") && !strings.HasSuffix(x[:i], "最") && !strings.HasSuffix(x[:i], "特别") || strings.HasPrefix(object, "是") || utf8.RuneCountInString(object) > 5) ||
			(r.until == "读" || r.until == "做编辑") && strings.Contains(object, "家里") {
			continue
		}
		if r.key == "买了" && future || r.key == "不吃" && strings.HasPrefix(object, "饭") {
			return
		}
		if r.attribute == "location" {
			what := trimAdverbsZh(stripLeadZh(x[:i]))
			if _, after, ok := strings.Cut(what, "把"); ok && after != "" {
				what = after
			}
			for _, pre := range [...]string{"我把", "我们把", "把", "我的", "我"} {
				if rest, ok := strings.CutPrefix(what, pre); ok {
					what = rest
					break
				}
			}
			if what != "" && utf8.RuneCountInString(what) <= 10 && !vagueZh(what) {
				t.factZh(b, person{what, what}, r.kind, r.attribute, object, false, false, r.confidence)
			}
			return
		}
		who := x[:i]
		if strings.HasPrefix(r.key, "搬") {
			who, _, _ = strings.Cut(who, "从")
		}
		if i := strings.LastIndex(who, "比起"); i >= 0 { // 比起咖啡我更喜欢喝茶
			if k := strings.LastIndex(who, "我"); k > i {
				who = who[k:]
			}
		}
		p, ok := t.subjectZh(who)
		if !ok {
			continue
		}
		switch {
		case r.attribute == "home" && !r.negates:
			switch abodeZh(object, strings.HasPrefix(r.key, "搬")) {
			case noAbode:
				return
			case passing:
				t.factZh(b, p, "place", "staying_at", object, false, false, 0.7)
				return
			}
		case r.attribute == "employer" && !r.negates && !employsZh(object):
			if v := trimZh(object); citiesZh[v] && v != "家" || strings.HasSuffix(v, "区") || strings.HasSuffix(v, "中心") {
				t.factZh(b, p, "work", "works_in", object, false, false, 0.8)
			}
			return
		}
		switch r.key {
		case "戒烟", "戒酒":
			object = strings.TrimPrefix(r.key, "戒")
		case "吃素", "结婚了", "离婚了", "退休了":
			object = strings.TrimSuffix(r.key, "了")
		case "养了":
			if strings.HasPrefix(object, "好") {
				continue
			}
			if _, name, ok := strings.Cut(object, "叫"); ok {
				object = name
			}
		}
		if r.key != "吃素" {
			object = strings.TrimLeft(object, "吃喝 ")
			object = strings.TrimPrefix(object, "在")
		}
		if strings.HasPrefix(object, "过") || r.key == "在学" && strings.HasPrefix(object, "校") {
			continue
		}
		if r.key == "买了" || r.key == "卖了" {
			object = strings.TrimLeft(object, "一二两三辆台部个只把件套架条双张")
			if owned, ok := strings.CutPrefix(p.name, t.self.name+"的"); ok && object == "" {
				object = owned
			}
			for _, f := range [...]string{"咖啡", "菜", "水果", "面包", "牛奶", "票", "奶茶", "早饭", "午饭", "晚饭", "蛋糕"} {
				if strings.Contains(object, f) {
					return
				}
			}
		}
		negates := r.negates || strings.HasSuffix(trimSpaceAdverb(x[:i]), "不") && r.attribute != "avoids"
		parts := []string{object}
		if r.many && r.attribute != "education" {
			parts = strings.FieldsFunc(object, func(r rune) bool { return r == '和' || r == '、' || r == '跟' })
		}
		for _, o := range parts {
			t.factZh(b, p, r.kind, r.attribute, o, r.many, negates, r.confidence)
		}
		if r.until == "做编辑" {
			t.factZh(b, p, "work", "job", "编辑", false, false, 0.85)
		}
		if r.until == "当" {
			if _, job, ok := strings.Cut(x[i:], "当"); ok {
				t.factZh(b, p, "work", "job", job, false, false, 0.85)
			}
		}
		return
	}
	if who, what, ok := strings.Cut(x, "有"); ok && conditionZh(trimZh(what)) {
		if p, ok := t.subjectZh(who); ok {
			t.healthZh(b, p, "condition", what)
			return
		}
	}
	if who, what, ok := strings.Cut(x, "有"); ok && (who == "我" || who == "我们" || who == "我家") && !strings.Contains(what, "点") {
		for _, k := range kinZh {
			if at := strings.Index(what, k); at > 0 && utf8.RuneCountInString(what) <= 14 && utf8.RuneCountInString(k) > 1 || at > 0 && (k == "狗" || k == "猫") && utf8.RuneCountInString(what) <= 12 {
				if _, name, ok := strings.Cut(what[at:], "叫"); ok {
					what = name
				}
				attr := "relatives"
				if k == "狗" || k == "猫" {
					attr = "pets"
				}
				t.factZh(b, t.self, "family", attr, what, true, false, 0.85)
				return
			}
		}
	}
}

// festiveZh reports whether what follows 生日 makes it a feast or a gift, and not the day.
func festiveZh(after string) bool {
	after = strings.TrimPrefix(after, "的")
	for _, w := range [...]string{"聚会", "派对", "宴", "会", "聚餐", "晚餐", "晚饭", "饭", "蛋糕", "礼物", "贺卡", "趴", "酒"} {
		if strings.HasPrefix(after, w) {
			return true
		}
	}
	return false
}

// characterZh stands before 人 and says what somebody is like, or does, and not
// where they are from.
var characterZh = set("老实 聪明 年轻 明白 热心 外地 本地 当地 老年 成年 未成年 残疾 普通 正常 陌生 有钱 主持 负责 候选 合伙 经纪 代理 当事 好客 中年 单身 生意 管理 发言 联系 创始 继承 监护 证明 介绍 主办 很好 大好 真好 大忙 老好 善良 内向 外向 有趣 幽默 细心 感性 理性")

func trimSpaceAdverb(s string) string { return strings.TrimRight(s, " 再太很") }
