package chinese

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Belongings are things that somebody has or does not have, besides [Things].
var Belongings = [...]string{"车", "汽车", "自行车", "摩托车", "电动车", "驾照", "驾驶证", "房子", "房", "电视", "相机", "钢琴", "吉他", "电脑", "微波炉", "烤箱", "洗碗机", "空调", "信用卡", "护照", "签证", "宠物", "狗", "猫",
	"孩子", "小孩", "兄弟姐妹", "哥哥", "姐姐", "弟弟", "妹妹", "女朋友", "男朋友", "对象", "微信", "保险"}

// several takes the names after 我有两个孩子, in a clause with nothing else.
func several(t *discourse.Talk, b *discourse.BareZh) bool {
	noun := t.Several
	t.Several = ""
	if what, ok := strings.CutPrefix(strings.TrimPrefix(b.Text, "我们"), "我"); ok || what != b.Text {
		if what, ok := strings.CutPrefix(what, "有"); ok {
			for _, k := range [...]string{"孩子", "儿子", "女儿", "哥哥", "姐姐", "弟弟", "妹妹"} {
				if strings.HasSuffix(discourse.TrimZhEnd(what), k) {
					t.Several = k
				}
			}
			if w := discourse.TrimZhEnd(what); w == "一儿一女" || w == "一对儿女" {
				t.Several = "孩子"
			}
		}
	}
	if noun == "" {
		return false
	}
	said := discourse.TrimZhEnd(b.Text)
	calls := strings.TrimPrefix(strings.TrimPrefix(said, "分别"), "叫")
	names := strings.FieldsFunc(calls, func(r rune) bool { return r == '和' || r == '、' || r == ' ' })
	for _, n := range names {
		if !discourse.NameZh(n) || calls == said && !syntax.PersonZh(n) && !syntax.CalledSmallZh(n) && !syntax.GivenZh(n) && !discourse.ForeignZh(n) {
			return false // 我有三个孩子，走不开
		}
	}
	for _, n := range names {
		t.RelationZh(b, t.Self, noun, n)
	}
	return len(names) > 0
}

// denied takes what somebody says that they don't have or never do, even if nobody had claimed it:
// 我没有车, 我从来不抽烟, 我没去过日本.
func denied(t *discourse.Talk, b *discourse.BareZh) bool {
	x := discourse.TrimZhEnd(b.Text)
	if len(b.Whens) > 0 || strings.Contains(x, "你") {
		return false
	}
	for _, k := range [...]string{"从来不抽烟", "从来没抽过烟", "从没抽过烟", "从不抽烟", "没抽过烟", "不会抽烟", "不抽烟"} {
		if who, ok := strings.CutSuffix(x, k); ok {
			if p, ok := t.SubjectZh(who); ok {
				t.FactZh(b, p, "diet", "avoids", "烟", true, false, 0.88)
				return true
			}
		}
	}
	for _, k := range [...]string{"没有", "没养", "没"} {
		who, what, ok := strings.Cut(x, k)
		what, gone := strings.CutSuffix(what, "了")
		if !ok || !slices.Contains(Belongings[:], what) {
			continue
		}
		p, ok := t.SubjectZh(who)
		if !ok {
			return false
		}
		if gone {
			t.FactZh(b, p, "possession", "owns", what, true, true, 0.8)
		} else {
			t.FactZh(b, p, "possession", "not_owns", what, true, false, 0.82)
		}
		return true
	}
	for _, k := range [...]string{"从来没有", "从来没", "从没", "一次也没", "没"} {
		who, what, ok := strings.Cut(x, k)
		if !ok || strings.HasSuffix(what, "了") || utf8.RuneCountInString(what) > 12 {
			continue
		}
		for _, did := range [...]string{"去过", "坐过", "吃过", "喝过", "学过", "养过", "住过", "开过"} {
			if rest, ok := strings.CutPrefix(what, did); ok && utf8.RuneCountInString(rest) >= 2 && !syntax.VagueZh(rest) && !strings.ContainsAny(rest, "这那么") {
				if p, ok := t.SubjectZh(who); ok {
					t.FactZh(b, p, "biography", "never", what, true, false, 0.8)
					return true
				}
			}
		}
	}
	return false
}

// not takes 乐乐不是我儿子, 我女儿不叫小雨, and what follows such a clause: 是我干儿子, 叫小雪. It
// reports whether it did.
func not(t *discourse.Talk, b *discourse.BareZh) bool {
	was := t.Denied
	t.Denied = discourse.DenialZh{}
	x := discourse.TrimZhEnd(b.Text)
	if syntax.ContainsAny(x, "是不是", "要不是", "如果", "好像") {
		return false
	}
	if was.Person.Key != "" || was.Noun != "" {
		return instead(t, b, was, x)
	}
	if who, rest, ok := strings.Cut(x, "不是我"); ok {
		noun := relative(strings.TrimSuffix(rest, "了"))
		p, ok := t.SubjectZh(who)
		if name := syntax.TrimAdverbsZh(who); !ok && discourse.NameZh(name) && utf8.RuneCountInString(name) <= 3 {
			p, ok = t.Named(name), true
		}
		if noun == "" || !ok || p.Key == t.Self.Key || strings.Contains(p.Key, "的") {
			return false
		}
		ended(t, b, "relation", noun, p.Name, discourse.SeveralOfZh(noun))
		t.About(p)
		t.Denied = discourse.DenialZh{Person: p, Start: b.S.Start}
		return true
	}
	for _, k := range [...]string{"的名字不是", "的名字不叫", "不叫", "不是"} {
		who, name, ok := strings.Cut(x, k)
		if !ok || !strings.HasPrefix(who, "我") || !discourse.NameZh(name) && !syntax.PersonZh(name) || strings.HasSuffix(name, "人") || syntax.EndsWithAny(name, syntax.JobsZh[:]) {
			continue
		}
		who = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(syntax.TrimAdverbsZh(who), "我"), "们"), "的")
		if relative("我"+who) == "" || k == "不是" && !syntax.PersonZh(name) && !strings.Contains(b.S.Text[b.S.End:], "，是") && !strings.Contains(b.S.Text[b.S.End:], ",是") {
			continue
		}
		attribute := who
		if slices.Contains(discourse.PetsZh[:], who) {
			attribute = "pets"
		}
		ended(t, b, "relation", attribute, name, attribute == "pets" || discourse.SeveralOfZh(who))
		t.Denied = discourse.DenialZh{Noun: who, Start: b.S.Start}
		return true
	}
	return false
}

// instead takes what somebody is in place of what was denied.
func instead(t *discourse.Talk, b *discourse.BareZh, was discourse.DenialZh, x string) bool {
	x = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(x, "而"), "他"), "她"), "应该")
	is := ""
	for _, k := range [...]string{"是", "叫"} {
		if rest, ok := strings.CutPrefix(x, k); ok && is == "" {
			is, x = k, rest
		}
	}
	n := len(t.Out.Candidates)
	switch noun := relative("我" + strings.TrimPrefix(x, "我")); {
	case is == "":
		return false
	case was.Noun != "" && (discourse.NameZh(x) || syntax.PersonZh(x)) && !strings.HasSuffix(x, "人") && !syntax.EndsWithAny(x, syntax.JobsZh[:]):
		t.RelationZh(b, t.Self, was.Noun, x)
	case is == "是" && was.Person.Key != "" && noun != "":
		t.RelationZh(b, t.Self, noun, was.Person.Name)
	}
	for i := n; i < len(t.Out.Candidates); i++ {
		t.Out.Candidates[i].Spans[0].Start = was.Start
	}
	return len(t.Out.Candidates) > n
}

// relative returns what somebody is to the speaker: 我的干儿子, 儿子; "" if it is not a relative.
func relative(s string) string {
	s = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(s, "我"), "们"), "的")
	for _, k := range syntax.KinZh {
		if head, ok := strings.CutSuffix(s, k); ok && (head == "" || strings.Contains("|干|亲|继|养|堂|表|前|准|远房|远房表|大|小|二|好|老|男|女|", "|"+head+"|")) {
			return s
		}
	}
	return ""
}
