package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// kinZh reads "我妹妹", "小王的女儿": whose relative.
func (t *talk) kinZh(s string) (person, string, bool) {
	for _, k := range kinZh {
		who, ok := strings.CutSuffix(s, k)
		if !ok {
			continue
		}
		for _, tail := range [...]string{"那只", "这只", "那条", "这条"} {
			who = strings.TrimSuffix(who, tail)
		}
		who = strings.TrimSuffix(strings.TrimSuffix(who, "的"), "养")
		switch who {
		case "我", "我们", "我家", "我家里", "我们家":
			return t.self, k, true
		case "":
			return person{}, "", false
		}
		if utf8.RuneCountInString(who) <= 4 && !commonZh(who) {
			return t.named(who), k, true
		}
	}
	return person{}, "", false
}

func (t *talk) relationZh(b *bareZh, owner person, kin, name string) {
	attr := kin
	is := "是"
	if slices.Contains(petsZh[:], kin) {
		attr, is = "pets", "叫"
	}
	a := t.baseZh(b, "semantic", "relation", owner, 0.9)
	a.Text = owner.name + "的" + kin + is + name + "。"
	a.Slot = &abi.Slot{Subject: owner.key, Attribute: attr, Value: name, Many: attr == "pets" || strings.Contains("朋友同事同学邻居室友哥哥弟弟姐姐妹妹", kin)}
	a.Subject, a.Predicate, a.Object = name, kin, owner.name
	t.out.Candidates = append(t.out.Candidates, a)
	t.persons = append(t.persons, person{name, strings.ToLower(name)})
}

// subjectZh reads who a clause is about from what stands before its phrase.
func (t *talk) subjectZh(s string) (p person, ok bool) {
	s = trimAdverbsZh(strings.TrimSpace(s))
	if r, ok := strings.CutPrefix(s, "我们"); ok && r == "" || s == "咱们" || s == "我" || s == "本人" {
		return t.self, true
	}
	for _, pre := range [...]string{"我们的", "我们", "我的", "我家的", "我家", "我"} {
		rest, cut := strings.CutPrefix(s, pre)
		if !cut {
			continue
		}
		for _, k := range kinZh {
			if rest == k {
				return person{t.self.name + "的" + k, t.self.key + "的" + k}, true
			}
			if name, ok := strings.CutPrefix(rest, k); ok && utf8.RuneCountInString(name) <= 4 && utf8.RuneCountInString(name) >= 2 && utf8.RuneCountInString(k) > 1 {
				return t.named(name), true
			}
		}
		return person{}, false
	}
	for _, k := range kinZh { // 外婆是四川人: one's own
		if s == k && utf8.RuneCountInString(k) > 1 {
			return person{t.self.name + "的" + k, t.self.key + "的" + k}, true
		}
	}
	if s == "他" || s == "她" {
		if n := len(t.persons); n > 0 {
			return t.named(t.persons[n-1].name), true
		}
		return person{}, false
	}
	if strings.HasPrefix(s, "你") || strings.HasPrefix(s, "您") {
		if a, ok := t.addressee(); ok && (s == "你" || s == "您") {
			return a, true
		}
		return person{}, false
	}
	n := utf8.RuneCountInString(s)
	latin := s != "" && s[0] < 0x80
	if s == "" {
		return t.self, true // Chinese drops "I"
	}
	if n >= 2 && n <= 4 && !commonZh(s) || latin && n <= 20 && !strings.Contains(s, " ") {
		t.persons = append(t.persons, person{s, strings.ToLower(s)})
		return t.named(s), true
	}
	return person{}, false
}
