package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// chinese applies the rules to one clause.
func (t *talk) chinese(s sentence) {
	b := t.bare(s)
	if raw := s.raw(); strings.Contains(raw, "差点") || strings.Contains(raw, "差一点") || strings.Contains(b.text, "差点") { // and did not
		return
	}
	if unmeantZh(s.raw()) {
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
	if t.notZh(&b) || t.overZh(&b) || t.lentZh(&b) || t.resumedZh(&b) {
		return
	}
	b.text, _ = againZh(b.text)
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
	if t.severalZh(b) || t.namedRoleZh(b) || t.ratherZh(b) || t.anniversaryZh(b) || t.reachedZh(b) || t.deniedZh(b) || t.attributeZh(b) || t.whereZh(b) {
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
					t.factZh(b, p, "biography", "birthday", itoa(m)+"月"+itoa(d)+"日", false, b.denies(w), 0.93)
					return
				}
			}
		}
	}
	for _, k := range [...]string{"的名字叫", "的名字是", "名叫", "叫做", "叫"} {
		who, name, ok := strings.Cut(x, k)
		name = trimZh(name)
		if n := utf8.RuneCountInString(name); !ok || n < 1 || n > 12 || strings.ContainsAny(name, "，车他她你") || orderedZh(name) {
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
	if t.cleftZh(b) {
		return
	}
	if who, rest, ok := strings.Cut(x, "是我"); ok && who != "" && utf8.RuneCountInString(who) <= 8 && !strings.HasSuffix(who, "的") && !strings.HasSuffix(trimZhEnd(x), "的") {
		rest = strings.TrimPrefix(strings.TrimPrefix(trimZh(rest), "们"), "的")
		if k := relativeZh(rest); k != "" {
			t.relationZh(b, t.self, k, who)
			return
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
				if strings.HasSuffix(v, j) && !strings.HasPrefix(v, "我") && utf8.RuneCountInString(v) <= 10 {
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
		if changesFirmZh(r.key) && (future || containsAny(x[:i], "要", "打算", "想", "准备", "会", "考虑", "没", "不")) {
			return // a plan, or none
		}
		if strings.HasPrefix(r.key, "跳到") && generalFirmZh(object) {
			object += r.until // 一家新公司
		}
		if r.key == "怕" && (!strings.HasSuffix(x[:i], "我") && !strings.HasSuffix(x[:i], "很") && !strings.HasSuffix(x[:i], "最") && !strings.HasSuffix(x[:i], "特别") && !strings.HasSuffix(x[:i], "从小就") || strings.HasPrefix(object, "是") || utf8.RuneCountInString(object) > 5) ||
			(r.until == "读" || r.until == "做编辑") && strings.Contains(object, "家里") {
			continue
		}
		if strings.HasPrefix(r.key, "搬回") && (strings.HasPrefix(object, "来") || strings.HasPrefix(object, "去")) {
			continue // 我搬回来了: where to?
		}
		if (r.key == "结婚了" || r.key == "离婚了" || r.key == "退休了") && toComeZh(x[:i]) {
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
			for _, by := range [...]string{"都", "一般", "平时", "全", "我们", "我"} { // 发票我都放在抽屉里
				if rest := strings.TrimSuffix(what, by); rest != "" {
					what = rest
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
		who, object, denies := ofAllergyZh(r.attribute, who, object)
		if r.attribute == "dislikes" && containsAny(x[:i], "喜欢", "爱吃", "爱喝") {
			continue // the phrase of liking reads both
		}
		if strings.HasPrefix(r.key, "不喜欢") || strings.HasPrefix(r.key, "不爱") {
			object = t.otherTasteZh(b, who, object, "likes", "喜欢吃", "喜欢喝", "爱吃", "爱喝")
		}
		if r.attribute == "likes" {
			object = t.otherTasteZh(b, who, object, "dislikes", "不喜欢", "不爱", "讨厌")
			for _, than := range [...]string{"多过", "胜过", "甚于", "超过"} { // 米饭多过面条
				object, _, _ = strings.Cut(object, than)
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
		negates := r.negates || denies || strings.HasSuffix(trimSpaceAdverb(x[:i]), "不") && r.attribute != "avoids"
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
				made := len(t.out.Candidates)
				t.factZh(b, p, "work", "job", job, false, false, 0.85)
				for i := made; i < len(t.out.Candidates); i++ {
					if a := &t.out.Candidates[i]; !a.Negates {
						a.Text = p.name + "是" + a.Slot.Value + "。" // without the firm, which it may outlast
					}
				}
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

// orderedZh reports what follows 叫 and is no name, but whom or what somebody called for: 我叫了外卖.
func orderedZh(name string) bool {
	return startsWithAny(name, []string{"了", "过", "来", "个", "几", "人", "醒", "不"}) || containsAny(name, "外卖", "快递", "滴滴", "维修", "保洁", "出租", "服务员")
}

// changesFirmZh reports the phrases for leaving a firm for another.
func changesFirmZh(key string) bool {
	return strings.HasPrefix(key, "跳") || strings.HasPrefix(key, "换到")
}

// generalFirmZh reports what stands before 公司 and names none: 一家新.
func generalFirmZh(s string) bool {
	return containsAny(s, "家", "新", "别的", "另", "外企", "上市") || utf8.RuneCountInString(s) < 2
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
