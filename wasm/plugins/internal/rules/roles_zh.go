package rules

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// rolesZh end what somebody is to somebody: 班主任 is no relative, and 我女儿的班主任 is a person all the same.
var rolesZh = [...]string{"班主任", "老师", "教练", "医生", "牙医", "大夫", "领导", "老板", "上司", "主管", "经理", "同学", "同桌", "同事", "朋友", "闺蜜", "室友", "邻居", "保姆", "阿姨", "律师", "会计", "导师", "家教", "房东", "师傅", "校长", "园长", "辅导员", "理发师", "护士", "护工", "队友", "队长", "搭档", "助理", "秘书", "客户", "司机", "实习生", "男朋友", "女朋友", "对象", "偶像"}

// roleZh reads who somebody is to one of the speaker's people: 我女儿的班主任, 我儿子最好的朋友.
func (t *talk) roleZh(who string) (owner person, role string, ok bool) {
	k, own := "", ""
	for _, pre := range [...]string{"我们", "我家", "我", ""} {
		if rest, cut := strings.CutPrefix(who, pre); cut {
			if k = kinPrefixZh(strings.TrimPrefix(rest, "的")); k != "" {
				own, role = pre, strings.TrimPrefix(rest, "的")[len(k):]
				break
			}
		}
	}
	if who, role, ok := strings.Cut(who, "的"); ok && k == "" && (personZh(who) || t.knows(who)) && slices.Contains(rolesZh[:], role) { // 小明的老师
		return t.named(who), role, true
	}
	if k == "" || own == "" && utf8.RuneCountInString(k) < 2 {
		return person{}, "", false
	}
	role = strings.TrimPrefix(role, "的")
	if n := utf8.RuneCountInString(role); n < 2 || n > 8 || !endsWithAny(role, rolesZh[:]) {
		return person{}, "", false
	}
	return person{t.self.name + "的" + k, t.self.key + "的" + k}, role, true
}

// namedRoleZh takes what such a person is called, or the surname: 我女儿的班主任姓陈.
func (t *talk) namedRoleZh(b *bareZh) bool {
	for _, k := range [...]string{"名字叫", "叫做", "叫", "姓", "是"} {
		who, name, ok := strings.Cut(b.text, k)
		name = trimZh(name)
		if !ok || name == "" {
			continue
		}
		owner, role, ok := t.roleZh(strings.TrimSuffix(strings.TrimSuffix(who, "的"), "就"))
		switch {
		case !ok:
			continue
		case k == "姓" && (utf8.RuneCountInString(name) > 2 || !strings.Contains(surnamesZh, name)),
			k == "是" && !personZh(name),
			k != "姓" && (!nameZh(name) || orderedZh(name)):
			return false
		}
		n := len(t.out.Candidates)
		t.relationZh(b, owner, role, name)
		if k == "姓" {
			t.out.Candidates[n].Text = owner.name + "的" + role + "姓" + name + "。"
		}
		return true
	}
	return false
}

// ratherZh takes 我宁愿喝茶也不喝咖啡: somebody likes one thing better than another.
func (t *talk) ratherZh(b *bareZh) bool {
	for _, k := range [...]string{"宁愿", "宁可", "情愿", "更愿意"} {
		who, what, ok := strings.Cut(b.text, k)
		if !ok {
			continue
		}
		for _, than := range [...]string{"也不愿意", "也不愿", "也不想", "也不要", "也不", "而不是", "而不"} {
			liked, other, cut := strings.Cut(what, than)
			p, known := t.subjectZh(who)
			if !cut || !known || liked == "" || other == "" || vagueZh(liked) || containsAny(liked, "死", "饿") {
				continue
			}
			t.factZh(b, p, "preference", "likes", liked, true, false, 0.85)
			return true
		}
	}
	return false
}
