package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// clubs are the endings of Chinese names of groups.
var clubs = [...]string{"合唱团", "乐队", "乐团", "俱乐部", "读书会", "社团", "协会", "舞团", "剧团", "跑团", "球队", "篮球队", "足球队", "书法社", "话剧社", "读书社"}

// joins takes 我加入了一个读书会, 我在合唱团唱歌, 我退出了乐队.
func joins(t *discourse.Talk, b *discourse.BareZh, x string) bool {
	for _, k := range [...]string{"加入了", "参加了", "退出了", "退出", "是", "在"} {
		who, what, ok := strings.Cut(x, k)
		if !ok {
			continue
		}
		left := strings.HasPrefix(k, "退")
		switch k {
		case "是":
			what, ok = syntax.CutEnd(what, "的成员", "的会员", "的一员", "成员", "会员")
		case "在":
			what, ok = syntax.CutEnd(what, "里唱歌", "唱歌", "里", "跳舞", "弹琴", "弹吉他", "拉琴", "打鼓", "踢球", "打球")
		}
		what = strings.TrimSuffix(what, "了")
		what = syntax.TrimHeads(what, "一个", "一支", "一家", "个", "公司的", "学校的", "我们的", "那个", "这个")
		if n := utf8.RuneCountInString(what); !ok || n < 2 || n > 10 || !syntax.EndsWithAny(what, clubs[:]) || strings.ContainsAny(who, "没不想要会") {
			continue
		}
		p, known := t.SubjectZh(syntax.TrimAdverbsZh(syntax.TrimTails(who, "春天", "夏天", "秋天", "冬天")))
		if !known {
			continue
		}
		if left {
			endedOf(t, b, p, "habit", discourse.MemberOf, what, true)
		} else {
			t.FactZh(b, p, "habit", discourse.MemberOf, what, true, false, 0.8)
		}
		return true
	}
	return false
}

// groupWords are words before an event that say of what kind it is, and not whose: 同学聚会.
var groupWords = syntax.Set("同学 同事 朋友 老师 教练 师傅 邻居 领导 家教 孩子 宝宝")
