package rules

import (
	"strings"
	"unicode/utf8"
)

// whoseZh reads whose the event word of a clause is, from what stands before it: 陈浩的牙医,
// 我弟的婚礼, 把安娜的航班. What is no person, 公司的年会, is no possessor.
func (t *talk) whoseZh(x, word string) possessor {
	head, _, ok := strings.Cut(x, word)
	if !ok || word == "" {
		return possessor{}
	}
	if strings.HasPrefix(word, "的") {
		head += "的"
	}
	if who, what, ok := strings.Cut(head, "把"); ok {
		head = what
		for _, k := range [...]string{"帮", "给", "替"} {
			if _, whom, ok := strings.Cut(who, k); ok && what == "" {
				head = whom + "的" // 我帮陈浩把牙医改到周一
			}
		}
	}
	for _, k := range [...]string{"取消了", "取消", "推迟了", "推迟", "改了", "将", "帮", "给", "替", "，", ","} {
		if i := strings.LastIndex(head, k); i >= 0 {
			head = head[i+len(k):]
		}
	}
	head = stripLeadZh(strings.TrimSpace(head))
	head = trimTails(head, "那个", "这个", "那场", "这场", "那次", "这次")
	owner, of := strings.CutSuffix(head, "的")
	if owner == "" || profession(word) {
		return possessor{}
	}
	return t.ownerZh(owner, of)
}

// ownerZh is whom the words before 的, or before the event itself, mean.
func (t *talk) ownerZh(owner string, of bool) possessor {
	owner = strings.TrimSuffix(strings.TrimSuffix(owner, "家里"), "家")
	switch owner {
	case "我", "我们", "咱们", "咱", "自己", "我自己", "本人", "我们自己":
		return whoseIs(t.self)
	case "他们", "她们", "人家", "别人", "对方":
		return possessor{named: true}
	case "他", "她":
		if p, ok := t.absentZh(); ok {
			return whoseIs(p)
		}
		return possessor{named: true}
	case "你", "您", "你们":
		if p, ok := t.addressee(); ok {
			return whoseIs(p)
		}
		return possessor{named: true}
	}
	said := func(p person) possessor {
		return possessor{person: p, said: strings.ToLower(owner), named: true, known: true}
	}
	relative := kinPrefixZh(owner)
	switch {
	case strings.HasPrefix(owner, "我"):
		rest := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(owner, "我"), "们"), "的")
		if k := kinPrefixZh(rest); k == "" {
			return possessor{} // 我和老王的饭局, 我公司的年会
		}
		if p, ok := t.subjectZh(owner); ok {
			return said(p)
		}
		return possessor{said: owner, named: true}
	case strings.HasPrefix(owner, "他") || strings.HasPrefix(owner, "她"):
		rest := strings.TrimPrefix(strings.TrimLeft(owner, "他她"), "的")
		if p, ok := t.absentZh(); ok && rest != "" && rest == kinPrefixZh(rest) {
			return said(person{p.name + "的" + rest, p.key + "的" + rest})
		}
		return possessor{named: true}
	case relative == owner && utf8.RuneCountInString(owner) > 1 && (of || !groupsZh[owner]) && owner != "医生" && owner != "大夫":
		return said(person{t.self.name + "的" + owner, t.self.key + "的" + owner})
	case personZh(owner) || t.knows(owner) || owner != "" && owner[0] < 0x80 && utf8.RuneCountInString(owner) <= 20 && owner[0] >= 'A' || of && (transliterated(owner) || calledSmallZh(owner)):
		return said(t.named(owner))
	}
	if p, k, ok := t.kinZh(owner); ok && (personZh(p.name) || transliterated(p.name)) {
		return said(person{p.name + "的" + k, p.key + "的" + k})
	}
	return possessor{}
}

// calledSmallZh reports what a child or a friend is called: 小雨, 小宝.
func calledSmallZh(s string) bool {
	rs := []rune(s)
	return len(rs) == 2 && (rs[0] == '小' || rs[0] == '阿') && !commonNounsZh[s] && !strings.ContainsRune("区组学店孩狗猫队班院镇村型说时件屋车菜吃费票路", rs[1])
}

// groupsZh before an event say of what kind it is, and not whose: 同学聚会.
var groupsZh = set("同学 同事 朋友 老师 教练 师傅 邻居 领导 家教 孩子 宝宝")

// soundsZh write the sounds of foreign names.
const soundsZh = "安娜保罗汤姆艾玛凯文杰克麦露西莉丽亚斯尔特德卡米诺奥利维琳达伦迪尼菲雅洛弗格蕾埃伊莎贝拉托马彼得约翰詹妮查理乔治劳丹索佛朱莱恩布鲁戴夫昂迈兰勒瑟珍佐迭哈曼萨诗苏珊蒂芬奈温琪茜玫森雷"

// transliterated reports a foreign name of two to five characters: 保罗.
func transliterated(s string) bool {
	n := utf8.RuneCountInString(s)
	return n >= 2 && n <= 5 && strings.Trim(s, soundsZh) == ""
}

// asSaidZh is [talk.asSaid] of a Chinese clause.
func (t *talk) asSaidZh(b *bareZh) {
	a := t.baseZh(b, "episodic", "noted", person{}, notedSure)
	a.Entities, a.EventType, a.Started = nil, "noted", t.ev.At
	t.out.Candidates = append(t.out.Candidates, a)
}
