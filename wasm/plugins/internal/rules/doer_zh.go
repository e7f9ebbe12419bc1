package rules

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// absentZh is whom 他 or 她 means: a relative whom the other has just asked
// about, else whoever was named last.
func (t *talk) absentZh() (person, bool) {
	if b := t.justSaid(); b != nil {
		for _, you := range [...]string{"你", "您"} {
			for _, rest, ok := strings.Cut(b.Text, you); ok; _, rest, ok = strings.Cut(rest, you) {
				if k := kinPrefixZh(strings.TrimPrefix(rest, "的")); k != "" {
					return person{t.self.name + "的" + k, t.self.key + "的" + k}, true
				}
			}
		}
	}
	return t.lastPerson()
}

// askedAfterZh is the relative of the speaker after whom somebody has just asked: 你妈怎么样了？
func (t *talk) askedAfterZh() (person, bool) {
	b := t.justSaid()
	if b == nil || strings.HasPrefix(t.ev.Text, "我") {
		return person{}, false
	}
	q := stripLeadZh(b.Text)
	bare := strings.TrimRight(q, "？? ")
	if startsWithAny(q, []string{"她", "他"}) && (askersIn(bare) || len(bare) < len(q) || strings.HasSuffix(bare, "吧")) {
		if p, ok := t.lastPerson(); ok && !startsWithAny(q, []string{"她们", "他们"}) { // 她还在银行上班吗？
			return p, true
		}
		t.topic.unclear = true // what the answer says is not of the speaker
		return person{}, false
	}
	if name := askedNameZh(q); name != "" && !startsWithAny(t.ev.Text, []string{"对", "是", "嗯", "没", "不", "哦", "啊", "谁"}) {
		return t.named(name), true // 老魏怎么样了 / 出院了
	}
	if asksOnZh(strings.TrimPrefix(q, "那")) { // 老韩住院了 / 那现在怎么样了 / 下周一出院
		t.topic = t.earlierTopic()
	}
	for _, you := range [...]string{"你", "您"} {
		_, rest, ok := strings.Cut(b.Text, you)
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, "家"), "的")
		if k := kinPrefixZh(rest); ok && k != "" && startsWithAny(trimHeads(rest[len(k):], "现在", "最近", "身体", "的身体", "的病", "病", "的腿", "的手术"), []string{"怎么样", "好点", "好些", "好了吗", "还好", "好吗", "咋样", "如何"}) {
			return person{t.self.name + "的" + k, t.self.key + "的" + k}, true
		}
	}
	return person{}, false
}

// askedNameZh is the person by name of whom a question asks how they are or what they do; "" where it names none.
func askedNameZh(q string) string {
	rs := []rune(q)
	for n := min(4, len(rs)-1); n >= 2; n-- {
		if strings.ContainsRune("要会也都就没不还已在现最", rs[n-1]) || n > 2 && strings.ContainsRune("小老阿", rs[0]) {
			continue
		}
		if name := string(rs[:n]); personZh(name) && startsWithAny(trimHeads(string(rs[n:]), "现在", "最近", "他", "她", "还", "要"), []string{"怎么样", "怎样", "咋样", "好点", "好些", "好了", "好吗", "出院", "忙啥", "忙什么", "干嘛", "干啥", "干什么", "在忙", "在干", "生了", "结婚"}) {
			return name
		}
	}
	return ""
}

// earlierTopic is whom the speaker's own last turns were about, if they were about others.
func (t *talk) earlierTopic() topic {
	sub := talk{ev: t.ev, now: t.now, self: t.self, persons: t.persons}
	for i := len(t.ev.Before) - 2; i >= max(0, len(t.ev.Before)-4); i-- {
		if t.ev.Before[i].Speaker != t.ev.Speaker {
			continue
		}
		for _, s := range slices.Backward(sentences(t.ev.Before[i].Text)) {
			for _, c := range slices.Backward(clauses(s)) {
				if sub.attend(t.bare(c).text); sub.topic.known || sub.topic.unclear {
					return sub.topic
				}
			}
		}
	}
	return t.topic
}

// whoseEventZh is whose the event of a clause is, and whether the clause names them; ok is false where it is
// of somebody whom no rule can name.
func (t *talk) whoseEventZh(x string, habit bool) (who person, named, ok bool) {
	who, named = t.doerZh(x)
	if t.topic.thing && !containsAny(x, "他", "她") { // 我妈的手机坏了，得去给她买个新的: who buys it is not she
		who, named = t.topic.person, true
	}
	if !hasMeZh(x) && (strings.HasPrefix(x, "他") || strings.HasPrefix(x, "她")) {
		who, ok = t.absentZh()
		return who, named, ok && habit
	}
	meeting := strings.Contains(x, "家长会")
	if t.topic.unclear && !t.topic.thing && !feastOfZh(x) && !comesZh(x) && !meeting || t.topic.known && t.topic.person.key != t.self.key && !named && !strings.Contains(x, "我") && !meeting {
		return who, named, false
	}
	return who, named, true
}

// doerZh is who a clause says did something: the person that it begins with, and then
// named is true, or the speaker.
func (t *talk) doerZh(x string) (who person, named bool) {
	if !t.topic.known || t.topic.person.key == t.self.key {
		return t.self, false
	}
	p := t.topic.person
	for _, own := range [...]string{"我们家的", "我们家", "我们", "我家的", "我家", "我的", "我"} {
		if rest, ok := strings.CutPrefix(x, own); ok {
			if neighbourZh(rest) == p.name {
				return p, true
			}
			rest = trimAgeZh(rest)
			if _, chain, _ := strings.Cut(p.name, "的"); strings.Contains(chain, "的") && strings.HasPrefix(rest, chain) {
				return p, true // 我儿子的老师
			}
			if k := kinPrefixZh(rest); k != "" && !strings.HasPrefix(rest[len(k):], "的") && !withMeZh(rest[len(k):]) {
				return p, true
			}
			return t.self, false
		}
	}
	if neighbourZh(x) == p.name || familyZh(x) == p.name {
		return p, true
	}
	if k := kinPrefixZh(x); utf8.RuneCountInString(k) > 1 && k != "师傅" && k != "医生" && k != "大夫" { // 老公下周去北京
		after := x[len(k):]
		_, word := eventInZh(x)
		if strings.HasPrefix(after, "的") || strings.HasPrefix(after, "我") || withMeZh(after) || ofVisitZh(after) || word != "" && strings.HasPrefix(after, word) && groupsZh[k] {
			return t.self, false
		}
		return p, true
	}
	if name := namePrefixZh(x); name != "" && strings.EqualFold(t.named(name).key, p.key) && !withMeZh(x[len(name):]) {
		return p, true
	}
	if startsWithAny(x, []string{"带我", "送我", "陪我", "请我", "接我", "帮我", "教我"}) { // 老公又忘了，周五带我去吃饭
		return p, true
	}
	return t.self, false
}

// ofWhomZh is a statement that names whom it is about.
func ofWhomZh(text string, who person) string {
	if strings.Contains(text, who.name) {
		return text
	}
	return named(text, who.name)
}

// withMeZh reports whether the speaker does it, too, or alone: 我老婆和我, 老婆让我.
func withMeZh(after string) bool {
	return startsWithAny(after, []string{"和我", "跟我", "与我", "让我", "叫我", "要我"})
}

// eventLeadsZh reports whether an event is what a clause is about, 牙医预约在…,
// 去柏林的航班…, and not what the speaker does.
func eventLeadsZh(x, word string) bool {
	before, after, ok := strings.Cut(x, word)
	if !ok || word == "" {
		return false
	}
	if strings.HasSuffix(before, "的") {
		return true
	}
	return before == "" && startsWithAny(after, []string{"预约", "在", "是", "定在", "约在", "安排", "改在"})
}

// isSubjectZh reports whether x names whom a clause is about. An empty x is the speaker.
func (t *talk) isSubjectZh(x string) bool {
	_, ok := t.subjectZh(x)
	return ok || x == ""
}
