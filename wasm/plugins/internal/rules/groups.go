package rules

import (
	"strings"
	"unicode/utf8"
)

// The clubs, choirs and bands that somebody is in: one value each of one slot.
const memberOf = "member_of"

// groups are what one joins without working there. A team may be of one's work.
var groups = set("choir band club orchestra ensemble quartet quintet trio society association guild troupe chorus")

// groupAt is the group that the words from i name, without its article: "book club"; "" where they name
// none. "The club" may be any place with music.
func (c *clause) groupAt(i int) string {
	o := cutTail(o2(c, i))
	words := strings.Fields(strings.ToLower(o))
	if n := len(words); n == 0 || n > 4 || !groups[words[n-1]] || n == 1 && c.w(i) == "the" && words[0] == "club" {
		return ""
	}
	return o
}

// joins takes the group that somebody is in, joins or leaves: "I joined a choir", "I sing in a band",
// "I'm in the alpine club". It reports whether the clause says nothing else.
func (t *talk) joins(c *clause, i int) bool {
	if c.kind == 't' || c.ends == "?" || c.conditional() || c.modal || c.future || c.intend {
		return false
	}
	done := c.past || c.perfect
	switch c.verb {
	case "join":
		return done && !c.neg && t.inGroup(c, i)
	case "leave", "quit":
		o := c.groupAt(i)
		if o != "" && done && !c.neg {
			t.ended(c, c.subj, "habit", memberOf, o, true)
		}
		return o != ""
	}
	if done && !c.usedTo {
		return false
	}
	switch c.verb {
	case "belong":
		return c.w(i) == "to" && t.inGroup(c, i+1)
	case "be":
		for adverb(c.w(i)) || c.w(i) == "not" {
			i++
		}
		if c.w(i) == "a" && c.w(i+1) == "member" {
			i++
		}
		if (c.w(i) == "member" || c.w(i) == "part") && c.w(i+1) == "of" {
			return t.inGroup(c, i+2)
		}
		return c.w(i) == "in" && t.inGroup(c, i+1)
	case "play":
		if in := c.find(i+1, 4, "in"); in > 0 { // "the violin in an orchestra"
			t.inGroup(c, in+1)
			return false
		}
		fallthrough
	case "sing", "drum", "dance", "row", "sail", "climb", "perform":
		return (c.w(i) == "in" || c.w(i) == "with") && t.inGroup(c, i+1)
	}
	return false
}

// inGroup proposes the group that the words from i name, if they name one.
func (t *talk) inGroup(c *clause, i int) bool {
	o := c.groupAt(i)
	return o != "" && t.fact(c, "habit", memberOf, o, true, 0.8) != nil
}

// clubsZh end what groups are in Chinese.
var clubsZh = [...]string{"合唱团", "乐队", "乐团", "俱乐部", "读书会", "社团", "协会", "舞团", "剧团", "跑团", "球队", "篮球队", "足球队", "书法社", "话剧社", "读书社"}

// joinsZh takes 我加入了一个读书会, 我在合唱团唱歌, 我退出了乐队.
func (t *talk) joinsZh(b *bareZh, x string) bool {
	for _, k := range [...]string{"加入了", "参加了", "退出了", "退出", "是", "在"} {
		who, what, ok := strings.Cut(x, k)
		if !ok {
			continue
		}
		left := strings.HasPrefix(k, "退")
		switch k {
		case "是":
			what, ok = cutEnd(what, "的成员", "的会员", "的一员", "成员", "会员")
		case "在":
			what, ok = cutEnd(what, "里唱歌", "唱歌", "里", "跳舞", "弹琴", "弹吉他", "拉琴", "打鼓", "踢球", "打球")
		}
		what = strings.TrimSuffix(what, "了")
		what = trimHeads(what, "一个", "一支", "一家", "个", "公司的", "学校的", "我们的", "那个", "这个")
		if n := utf8.RuneCountInString(what); !ok || n < 2 || n > 10 || !endsWithAny(what, clubsZh[:]) || strings.ContainsAny(who, "没不想要会") {
			continue
		}
		p, known := t.subjectZh(trimAdverbsZh(trimTails(who, "春天", "夏天", "秋天", "冬天")))
		if !known {
			continue
		}
		if left {
			a := t.baseZh(b, "semantic", "habit", p, 0.8)
			ends(&a, p.key, memberOf, what, true)
			t.out.Candidates = append(t.out.Candidates, a)
		} else {
			t.factZh(b, p, "habit", memberOf, what, true, false, 0.8)
		}
		return true
	}
	return false
}
