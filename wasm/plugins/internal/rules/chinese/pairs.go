package chinese

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// jointlyZh are attributes for what two people may have one of.
var jointlyZh = syntax.Set("owns pets relatives 孩子 儿子 女儿 marital_status spouse 宠物")

// apart reads what a clause says of two people for each of them: 我哥和我姐都住在上海. What they have or do
// together stays one memory. It reports whether it did.
func apart(t *discourse.Talk, s syntax.Sentence) bool {
	raw := s.Raw()
	one, other, does := pairIn(raw)
	if other == "" {
		return false
	}
	from := len(t.Out.Candidates)
	each := func(who string) int {
		before := len(t.Out.Candidates)
		for _, o := range syntax.Sentences(who + does) {
			o.Ends = s.Ends
			read(t, o)
		}
		made := t.Out.Candidates[before:]
		if slices.ContainsFunc(made, func(a abi.Candidate) bool {
			return a.Type != "semantic" || a.Slot == nil || a.Kind != "relation" && jointlyZh[a.Slot.Attribute] || a.Kind == "relation" && a.Slot.Attribute == "marital_status"
		}) {
			return 0
		}
		return len(made)
	}
	said := t.Said
	first := each(one)
	if first == 0 || each(other) == 0 {
		t.Out.Candidates = t.Out.Candidates[:from]
		t.Said = said
		return false
	}
	discourse.StandsFor(t, from, s)
	return true
}

// pairIn returns the two people of whom a clause tells the same, and what it tells; empty strings if
// there are not two.
func pairIn(s string) (one, other, does string) {
	head, rest := s, ""
	const most = 8 // characters of a person
	for _, and := range [...]string{"和", "跟", "与"} {
		if before, after, ok := strings.Cut(s, and); ok && len(before) < len(head) {
			head, rest = before, after
		}
	}
	if rest == "" || utf8.RuneCountInString(head) > most || syntax.ContainsAny(rest, "一起", "互相", "彼此", "一块") {
		return "", "", ""
	}
	one = syntax.StripLeadZh(head)
	if !someZh(one) {
		return "", "", ""
	}
	if before, after, ok := strings.Cut(rest, "都"); ok {
		who := syntax.TrimTails(before, "已经", "去年", "今年", "前年", "上个月", "上周", "现在", "后来", "最近", "以前")
		if someZh(who) { // 我哥和我姐去年都搬到上海了
			return one, who, before[len(who):] + after
		}
	}
	for n := 2; n <= 4; n++ {
		if len(rest) <= 3*n || !utf8.RuneStart(rest[3*n]) {
			continue
		}
		other, does = rest[:3*n], rest[3*n:]
		if someZh(other) && syntax.StartsWithAny(does, saysOfThem) {
			return one, other, does
		}
	}
	return "", "", ""
}

// saysOfThem are words with which clauses begin that tell the same of two people.
var saysOfThem = []string{"住", "在", "是", "对", "喜欢", "不", "也", "搬"}

// someZh reports whether s is a relative of the speaker's or a name.
func someZh(s string) bool {
	if s == "我" {
		return true
	}
	rest, _ := discourse.CutOwnZh(s)
	if k := syntax.KinPrefixZh(rest); k != "" && (k == rest || syntax.PersonZh(rest[len(k):]) || syntax.CalledSmallZh(rest[len(k):])) {
		return true
	}
	return syntax.PersonZh(s) || syntax.CalledSmallZh(s)
}

// eachCalled takes the names of two relatives or animals: 我的猫和狗叫咪咪和旺财.
func eachCalled(t *discourse.Talk, b *discourse.BareZh, who, names string) bool {
	one, other, both := strings.Cut(who, "和")
	first, second, two := strings.Cut(names, "和")
	owner, kin, ok := t.KinZh(one)
	other = syntax.TrimHeads(other, "我的", "我")
	if !both || !two || !ok || other == "" || syntax.KinPrefixZh(other) != other || strings.Contains(second, "和") || !discourse.NameZh(first) || !discourse.NameZh(second) {
		return false
	}
	t.RelationZh(b, owner, kin, first)
	t.RelationZh(b, owner, other, second)
	return true
}

// bothIn returns the two people with whom a clause begins if the rules know neither of them: 小雪和阿明要搬去厦门.
func bothIn(x string) string {
	one, rest, ok := strings.Cut(x, "和")
	if !ok || !syntax.CalledSmallZh(one) || len(rest) <= len("阿明") {
		return ""
	}
	if other := rest[:len("阿明")]; utf8.ValidString(other) && (syntax.PersonZh(other) || syntax.CalledSmallZh(other)) {
		return one + "和" + other
	}
	return ""
}
