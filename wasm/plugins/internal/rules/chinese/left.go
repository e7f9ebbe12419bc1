package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// leaves are the words for somebody who left their home or their job.
var leaves = [...]struct {
	attribute string
	words     []string
}{
	{"home", []string{"搬走了", "搬出来了", "搬出去了", "搬家了", "不住那了", "不住那儿了", "不在那住了", "不在那儿住了"}},
	{"employer", []string{"辞职了", "离职了", "不干了", "被裁了", "跳槽了"}},
}

// left ends the home or the job of which the text spoke before, if a clause tells that somebody left
// it: 其实五月就搬走了.
func left(t *discourse.Talk, b *discourse.BareZh) {
	x := discourse.TrimZhEnd(b.Text)
	for _, l := range leaves {
		for _, w := range l.words {
			who, ok := strings.CutSuffix(x, w)
			if !ok {
				continue
			}
			for _, w := range b.Whens {
				if w.HasDay && w.Day > t.Now.Day && w.Assumed == 0 {
					return // 下个月就搬走了
				}
			}
			who = syntax.TrimTails(syntax.TrimHeads(who, "其实", "不过", "但是", "后来"), "早就", "就", "已经", "都", "又", "刚", "从那")
			if p, ok := t.SubjectZh(who); ok {
				t.Left(p, l.attribute, t.RewriteZh(b.S, b.Whens, true))
			}
			return
		}
	}
}

// courseOff returns the course or similar event that a clause cancels and that is none of the known
// kinds of events: 瑜伽课 for 瑜伽课取消了.
func courseOff(x string) string {
	what, ok := strings.CutSuffix(strings.TrimRight(x, "。，！! 了"), "取消")
	what = strings.TrimLeft(strings.TrimSuffix(strings.TrimSuffix(what, "被"), "又"), "的 ")
	if n := utf8.RuneCountInString(what); !ok || n < 2 && what != "课" || n > 8 || !syntax.EndsWithAny(what, []string{"课", "班", "训练", "活动", "演出", "航班", "团", "球赛", "讲座", "秋游", "春游", "团建"}) || strings.ContainsAny(what, "他她你") {
		return ""
	}
	return what
}

// countries do things that nobody plans, and nobodys are endings of what is nobody's own.
var (
	countries = []string{"美国", "英国", "法国", "德国", "中国", "韩国", "日本", "泰国", "俄罗斯", "欧盟", "国家", "政府"}
	nobodys   = []string{"会", "课", "车", "班", "船", "店", "剧"}
)

// leftBehind writes 我在火车上把伞落下了, 我把伞落火车上了 and 我在火车上落了一把伞 as 我把伞落在火车上了.
func leftBehind(x string) string {
	if !strings.ContainsAny(x, "落忘") || strings.ContainsAny(x, "没不？?吗") {
		return x
	}
	who, rest, ok := strings.Cut(x, "在")
	if place, what, placed := strings.Cut(rest, "把"); ok && placed && utf8.RuneCountInString(who) <= 5 {
		if what, left := syntax.CutEnd(discourse.TrimZhEnd(what), "给落下了", "落下了", "落了"); left && isPlaceZh(place) && what != "" {
			return who + "把" + what + "落在" + place + "了"
		}
	}
	for _, left := range [...]string{"落了", "落下了"} {
		if place, what, placed := strings.Cut(rest, left); ok && placed && isPlaceZh(place) && utf8.RuneCountInString(who) <= 5 && what != "" {
			what = strings.TrimLeft(what, "一两二三四五六七八九十几")
			what = syntax.TrimHeads(what, "把", "个", "件", "副", "本", "部", "张", "串", "双", "顶", "条", "瓶", "台")
			if n := utf8.RuneCountInString(what); n > 0 && n <= 8 {
				return who + "把" + what + "落在" + place + "了"
			}
		}
	}
	if who, rest, ok := strings.Cut(x, "把"); ok {
		for _, verb := range [...]string{"落", "忘"} {
			what, place, cut := strings.Cut(discourse.TrimZhEnd(rest), verb)
			place, done := strings.CutSuffix(place, "了")
			if cut && done && what != "" && !strings.HasPrefix(place, "在") && isPlaceZh(place) {
				return who + "把" + what + verb + "在" + place + "了"
			}
		}
	}
	return x
}

// isPlaceZh reports whether words are a place in which a thing is left: 火车上, 家里, 公司.
func isPlaceZh(x string) bool {
	n := utf8.RuneCountInString(x)
	return n >= 2 && n <= 8 && !strings.ContainsAny(x, "把给跟了的时候") && (syntax.EndsWithAny(x, []string{"上", "里", "家", "公司", "学校", "酒店", "店", "馆", "室", "站", "机场", "医院", "银行", "单位", "车", "那儿", "那里"}))
}
