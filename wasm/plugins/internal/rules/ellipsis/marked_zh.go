package ellipsis

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/chinese"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Speech recognition writes an answer without marks: 退了昨晚三十九度. The word that answers and the text
// after it are read as two clauses.

// repliesZh are words that answer a question by themselves, the longer ones first. goesOnZh are the
// beginnings of what is told after such a word.
var (
	repliesZh = []string{"还没有呢", "还没呢", "没有呢", "没呢", "不在了", "没有了", "好多了", "好点了", "好些了", "老样子", "是的", "对的", "对啊", "是啊", "没错", "有的", "在的", "不是"}
	goesOnZh  = []string{"我", "他", "她", "咱", "在", "说", "就", "要", "从", "得", "还", "但", "不过", "可是", "现在", "因为", "后来", "都", "已经", "今", "明", "昨", "后天", "前天", "上周", "上个", "下周", "下个", "周", "星期", "早上", "上午", "中午", "下午", "晚上", "去年", "前年", "每", "第"}
)

// Marked returns an answer with a comma after the word that answers a question, before what follows
// it.
func Marked(q *chinese.Asked, s syntax.Sentence) string {
	raw := s.Raw()
	const least = 5 // characters
	if strings.ContainsAny(raw, "，, ") || utf8.RuneCountInString(raw) < least {
		return raw
	}
	n := len(raw) - len(afterReply(q, raw))
	if n < len(raw) {
		return raw[:n] + "，" + raw[n:]
	}
	if parts := syntax.Clauses(s); len(parts) > 1 && strings.Contains(raw, parts[1].Raw()) {
		return strings.TrimSuffix(raw[:parts[1].Start-s.Start], "，") + "，" + raw[parts[1].Start-s.Start:]
	}
	return raw
}

// afterAmount returns the text after the number or the time that answers a question: 得赶紧去换 for
// 明年三月得赶紧去换.
func afterAmount(q *chinese.Asked, raw string) string {
	s := syntax.Sentences(raw)[0]
	for _, w := range timex.FindWhens(s, q.Now) {
		if w.First == 0 && (w.HasDay || w.Clock && asksWhen(q)) && w.Next < len(s.Toks)-2 {
			rest := strings.TrimPrefix(raw[s.Toks[w.Next-1].End:], "了")
			if syntax.StartsWithAny(rest, goesOnZh) || syntax.StartsWithAny(rest, []string{"房东", "到时"}) {
				return rest
			}
			if w.HasDay && asksWhen(q) && placeAlone(rest) {
				return rest // 后天上午九点八宝山
			}
			return ""
		}
	}
	rest := strings.TrimLeft(raw, syntax.DigitsZh)
	if len(rest) == len(raw) || !syntax.ContainsAny(q.Text, "几", "多少", "多大", "多高") {
		return ""
	}
	rest, unit := syntax.CutHead(rest, "岁半", "岁多", "岁", "年级", "分", "个月", "块", "楼")
	end, over := syntax.CutHead(rest, "多了", "了")
	if more := syntax.StartsWithAny(end, goesOnZh) || syntax.StartsWithAny(end, []string{"叫", "报", "考", "上"}); more && (unit || over || syntax.StartsWithAny(end, []string{"报", "在"})) {
		return end
	}
	return ""
}

// timeFirst reports whether a text begins with a day and continues: 九月一号去报到.
func timeFirst(q *chinese.Asked, x string) bool {
	all := syntax.Sentences(x)
	if len(all) != 1 {
		return false
	}
	whens := timex.FindWhens(all[0], q.Now)
	return len(whens) > 0 && whens[0].First == 0 && whens[0].HasDay && whens[0].Next < len(all[0].Toks)-1 && all[0].At(whens[0].Next) != "的"
}

// asksWhen reports whether a question asks for a day or an hour.
func asksWhen(q *chinese.Asked) bool {
	return syntax.ContainsAny(q.Text, "什么时候", "啥时候", "几点", "几号", "哪天", "周几", "星期几", "哪年")
}

// placeAlone reports whether x is a few characters that can name a place, without a verb: 首都机场T3.
func placeAlone(x string) bool {
	const most = 8 // characters
	r, _ := utf8.DecodeRuneInString(x)
	n := utf8.RuneCountInString(x)
	return n > 1 && n <= most && !strings.ContainsRune(discourse.VerbStartsZh+"的落飞起前后左多半吧开第约不没别", r) && !strings.ContainsAny(x, "了吧吗呢啊我你他她")
}

// afterReply returns the text after the word that answers a question, or "" if no such word can be
// separated.
func afterReply(q *chinese.Asked, raw string) string {
	if rest, ok := syntax.CutHead(raw, "还没"); ok && syntax.StartsWithAny(rest, []string{"下周", "下个", "明天", "明年", "后天", "周"}) {
		return rest // 还没下周二去面签
	}
	for _, reply := range repliesZh {
		rest, ok := strings.CutPrefix(raw, reply)
		if ok && utf8.RuneCountInString(rest) > 1 && (reply != "不是" || syntax.StartsWithAny(rest, []string{"是", "我", "他", "她", "对"})) {
			return rest
		}
	}
	if q.Ends == "呢" {
		return ""
	}
	if once, ok := strings.CutPrefix(raw, "以前"); ok && !q.Gaps() {
		for k := range once { // 以前抽去年戒了
			if k > 0 {
				if rest := once[k:]; strings.Contains(q.Text, once[:k]) && timeFirst(q, rest) {
					return rest
				}
				break
			}
		}
	}
	if q.Gaps() {
		return afterAmount(q, raw)
	}
	for _, no := range [...]string{"不", "没"} {
		for k := 2; k > 0; k-- {
			rs := []rune(strings.TrimPrefix(raw, no))
			if len(rs) < k+3 || !strings.HasPrefix(raw, no) || !strings.Contains(q.Text, string(rs[:k])) || string(rs[:k]) == "是" {
				continue
			}
			if rest, still := strings.CutPrefix(string(rs[k:]), "呢"); still && utf8.RuneCountInString(rest) > 1 {
				return rest // 没发呢说推迟到下月十号
			}
			if rest := string(rs[k:]); syntax.StartsWithAny(rest, []string{"我", "他", "她", "因为", "但", "怕"}) || syntax.ContainsAny(rest, "太", "很", "受不了", "睡不着", "难受", "过敏") {
				return rest // 不会我怕水
			}
		}
	}
	verb := raw
	for _, a := range [...]string{"早就", "已经", "都", "刚", "没"} {
		verb = strings.TrimPrefix(verb, a)
	}
	for k := 2; k > 0; k-- {
		rs := []rune(verb)
		if len(rs) < k+3 || !strings.Contains(q.Text, string(rs[:k])) || strings.ContainsAny(string(rs[:k]), "我他她是的了") {
			continue
		}
		rest, ok := syntax.CutHead(string(rs[k:]), "了", "过")
		if !ok && k == 2 && syntax.StartsWithAny(rest, []string{"我", "他", "她"}) && !strings.Contains(q.Text, string(rs[:k])+"我") {
			return rest // 能吃我四川人
		}
		if over := strings.TrimLeft(rest, syntax.DigitsZh); ok && over != rest {
			_, what, _ := strings.Cut(q.Text, string(rs[:k]))
			if over == "" && utf8.RuneCountInString(strings.Trim(what, "了过")) > 1 {
				return rest // 考过四级没 / 考过了五百二
			}
		}
		if ok && (syntax.StartsWithAny(rest, goesOnZh) || timeFirst(q, rest) || strings.HasPrefix(rest, string(rs[:k])) || discourse.NamePrefixZh(rest) != "") {
			return rest
		}
	}
	return ""
}
