package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// possessorOf returns whose the event word of a clause is, from the text before it: 陈浩的牙医, 我弟的婚礼,
// 把安娜的航班. Something that is not a person, 公司的年会, is not a possessor.
func possessorOf(t *discourse.Talk, x, word string) discourse.Possessor {
	head, _, ok := strings.Cut(x, word)
	if !ok || word == "" {
		return discourse.Possessor{}
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
	head = syntax.StripLeadZh(strings.TrimSpace(head))
	head = syntax.TrimTails(head, "那个", "这个", "那场", "这场", "那次", "这次")
	owner, of := strings.CutSuffix(head, "的")
	if owner == "" || syntax.Profession(word) {
		return discourse.Possessor{}
	}
	return ownerOf(t, owner, of)
}

// ownerOf returns whom the words before 的, or before the event itself, mean.
func ownerOf(t *discourse.Talk, owner string, of bool) discourse.Possessor {
	owner = strings.TrimSuffix(strings.TrimSuffix(owner, "家里"), "家")
	switch owner {
	case "我", "我们", "咱们", "咱", "自己", "我自己", "本人", "我们自己":
		return discourse.WhoseIs(t.Self)
	case "他们", "她们", "人家", "别人", "对方":
		return discourse.Possessor{Named: true}
	case "他", "她":
		if p, ok := t.AbsentZh(); ok {
			return discourse.WhoseIs(p)
		}
		return discourse.Possessor{Named: true}
	case "你", "您", "你们":
		if p, ok := t.Addressee(); ok {
			return discourse.WhoseIs(p)
		}
		return discourse.Possessor{Named: true}
	}
	said := func(p discourse.Person) discourse.Possessor {
		return discourse.Possessor{Person: p, Said: strings.ToLower(owner), Named: true, Known: true}
	}
	relative := syntax.KinPrefixZh(owner)
	switch {
	case strings.HasPrefix(owner, "我"):
		rest := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(owner, "我"), "们"), "的")
		if k := syntax.KinPrefixZh(rest); k == "" {
			return discourse.Possessor{} // 我和老王的饭局, 我公司的年会
		}
		if p, ok := t.SubjectZh(owner); ok {
			return said(p)
		}
		return discourse.Possessor{Said: owner, Named: true}
	case strings.HasPrefix(owner, "他") || strings.HasPrefix(owner, "她"):
		rest := strings.TrimPrefix(strings.TrimLeft(owner, "他她"), "的")
		if p, ok := t.AbsentZh(); ok && rest != "" && rest == syntax.KinPrefixZh(rest) {
			return said(discourse.Person{Name: p.Name + "的" + rest, Key: p.Key + "的" + rest})
		}
		return discourse.Possessor{Named: true}
	case relative == owner && utf8.RuneCountInString(owner) > 1 && (of || !groupWords[owner]) && owner != "医生" && owner != "大夫":
		return said(discourse.Person{Name: t.Self.Name + "的" + owner, Key: t.Self.Key + "的" + owner})
	case syntax.PersonZh(owner) || t.Knows(owner) || owner != "" && owner[0] < 0x80 && utf8.RuneCountInString(owner) <= 20 && owner[0] >= 'A' || syntax.CalledSmallZh(owner) || of && discourse.Transliterated(owner):
		return said(t.Named(owner))
	}
	if p, k, ok := t.KinZh(owner); ok && (syntax.PersonZh(p.Name) || discourse.Transliterated(p.Name)) {
		return said(discourse.Person{Name: p.Name + "的" + k, Key: p.Key + "的" + k})
	}
	return discourse.Possessor{}
}
