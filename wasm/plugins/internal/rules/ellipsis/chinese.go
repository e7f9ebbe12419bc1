package ellipsis

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/chinese"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// ThingFirst puts what a sentence says first before its memories that name nobody, from index from
// on: 我那台车卖了五万八，上周过的户.
func ThingFirst(t *discourse.Talk, s syntax.Sentence, from int) {
	for i := from; i < len(t.Out.Candidates); i++ {
		a := &t.Out.Candidates[i]
		text := a.Text
		if a.Kind == "plan" && len(a.Spans) > 0 && !strings.Contains(s.Text[a.Spans[0].Start:a.Spans[0].End], "我") {
			text = strings.TrimPrefix(text, t.Self.Name)
		} else if a.Kind != "event" && a.Kind != "noted" {
			continue
		}
		if len(a.Spans) == 0 || a.Spans[0].Start <= s.Start || strings.Contains(text, t.Self.Name) || discourse.NamePrefixZh(text) != "" {
			continue
		}
		if said := chinese.SaidBefore(t, s, a.Spans[0].Start); said != "" && !strings.Contains(a.Text, said) && len(said)+len(text) < chinese.MostJoined {
			a.Text, a.Spans[0].Start = said+"，"+text, s.Start
		}
	}
}

// With returns the statement that a question and the first clause of its answer make together; rest
// are the other clauses. It returns "" if there is none.
func With(q *chinese.Asked, first, rest string) string {
	then := ""
	if rest != "" {
		then = "，" + rest
	}
	for _, he := range [...]string{"他", "她"} {
		after, ok := strings.CutPrefix(first, he)
		if !ok {
			continue
		}
		if q.Whose == "" || strings.HasPrefix(after, "们") {
			return ""
		}
		if made := agreed(q, after, rest); made != "" {
			return made
		}
		return q.Whose + after + then
	}
	if news, known := syntax.CutEnd(q.Text, "我知道", "我听说", "我听说了"); known && news != "" && syntax.StartsWithAny(first, []string{"知道", "听说"}) {
		if rest == "" {
			return ""
		}
		if name := discourse.NamePrefixZh(news); name != "" && !strings.HasPrefix(rest, name) {
			for _, he := range [...]string{"他", "她"} {
				rest = strings.Replace(rest, he, name, 1)
			}
		}
		return rest // 老周住院了你知道吗 / 知道，我昨天去看了他
	}
	if when, stopped := strings.CutSuffix(rest, "戒了"); stopped && strings.HasPrefix(first, "以前") {
		for _, v := range [...]string{"抽", "喝", "吃"} {
			if who, what, ok := strings.Cut(q.Text, v); ok && what != "" && utf8.RuneCountInString(what) <= 3 {
				return strings.TrimSuffix(who, "还") + when + "戒" + what + "了" // 你抽烟吗 / 以前抽，去年戒了
			}
		}
	}
	if what, is := strings.CutSuffix(first, "过敏"); is && strings.Contains(q.Text, "过敏") && discourse.AllergenZh(what) && !strings.HasPrefix(what, "对") {
		who := q.Whose
		if who == "" {
			who = "我"
		}
		return who + "对" + first + then // 有药物过敏史吗 / 青霉素过敏
	}
	if said, is := strings.CutPrefix(rest, "是"); is && (first == "不是" || first == "不对") && said != "" && !q.Gaps() {
		if before, _, ok := strings.Cut(q.Text, "是"); ok && before != "" {
			return before + rest // 你是不是对花生过敏 / 不是，是对腰果过敏
		}
		if who := q.Whose; strings.Contains(said, "过敏") && strings.HasPrefix(q.Text, "我") {
			if who == "" {
				who = "我"
			}
			return who + said
		}
	}
	if q.Gaps() {
		return filled(q, first, rest)
	}
	if _, _, ok := strings.Cut(q.Text, "还是"); ok && q.Ends != "吗" {
		if chosen := chosen(q, first); chosen != "" {
			return chosen + then
		}
		return ""
	}
	if q.Ends == "呢" && !strings.HasPrefix(q.Text, "我还") {
		if q.Text == "我" || strings.ContainsAny(q.Text, "还着在了") || syntax.StartsWithAny(q.Text, []string{"现", "今", "明", "后", "那", "然", "结"}) || utf8.RuneCountInString(q.Text) > 7 || strings.ContainsAny(first, "我你这那来等好别") || !strings.ContainsAny(first, "了去要会在") {
			return ""
		}
		return q.Text + strings.TrimPrefix(first, q.Text) + then
	}
	if made := knows(q, first, rest); made != "" {
		return made
	}
	if made := agreed(q, first, rest); made != "" {
		return made
	}
	if before, _, ok := strings.Cut(q.Text, "是"); ok && strings.HasPrefix(first, "是") && first != "是" {
		return before + first + then // 你老公是医生吗 / 是牙医
	}
	if q.Whose != "" && q.Ends != "" && syntax.StartsWithAny(first, []string{"以前", "现在", "从来", "一直", "偶尔", "天天", "每", "有时", "经常", "早就", "很少", "去年", "今年", "前年"}) && !strings.ContainsAny(first, "我你") && strings.ContainsAny(first+rest, strings.Trim(q.Text[len(q.Whose):], "了的还在不")) {
		return q.Whose + first + then // 你爸喝酒吗 / 以前天天喝
	}
	return ""
}

// chosen returns a question between two things with the one that an answer names: 我喜欢吃咸的豆花 for
// 你喜欢吃甜的还是咸的豆花 and 咸的. It returns "" if it is not clear where the other thing ends.
func chosen(q *chinese.Asked, answer string) string {
	one, other, _ := strings.Cut(q.Text, "还是")
	rs, as := []rune(one), []rune(answer)
	switch n := len(rs) - len(as); {
	case len(as) == 0:
	case strings.HasSuffix(one, answer):
		return one
	case strings.HasPrefix(other, string(as[:1])) && strings.LastIndex(one, string(as[:1])) > 0 && strings.HasPrefix(other, answer): // 喝咖啡还是喝茶
		return one[:strings.LastIndex(one, string(as[:1]))] + other
	case strings.HasPrefix(other, answer) && n > 0 && (rs[len(rs)-1] == as[len(as)-1] || other == answer && len(as) > 1):
		return string(rs[:n]) + other
	}
	return ""
}

// knows takes a person whom somebody says they know as the one about whom the answer continues:
// 你认识陈晨吗 / 认识，我同学.
func knows(q *chinese.Asked, first, rest string) string {
	for _, know := range [...]string{"认识", "知道", "记得"} {
		who, ok := strings.CutPrefix(strings.TrimPrefix(q.Text, "我"), know)
		if !ok || !strings.HasPrefix(first, know) || rest == "" || !syntax.PersonZh(who) && !discourse.ForeignZh(who) {
			continue
		}
		if own, is := discourse.CutOwnZh(rest); is && own != rest && !strings.HasPrefix(rest, "我们") {
			return who + "是" + rest
		}
		return who + rest
	}
	return ""
}

// didThen returns when something was done according to the clause after an answer, 上周 for 上周卖的, and what
// follows with its comma; "" if that clause says something else.
func didThen(q *chinese.Asked, verb, rest string) (when, then string) {
	clause, more := discourse.CutCommaZh(rest)
	when, did := strings.CutSuffix(discourse.TrimZhEnd(clause), verb+"的")
	if !did || !WholeTime(q, when) {
		return "", ""
	}
	if more != "" {
		then = "，" + more
	}
	return when, then
}

// adverbsZh may be before the verb that an answer takes from its question.
var adverbsZh = [...]string{"没有", "已经", "早就", "经常", "当然", "特别", "不", "没", "还", "都", "也", "早", "刚", "常", "挺", "会", "要"}

// agreed adds to the verb of an answer what it has in the question: 你离过婚吗 / 离过.
func agreed(q *chinese.Asked, first, rest string) string {
	then := ""
	if rest != "" {
		then = "，" + rest
	}
	who := q.Whose
	if who == "" && strings.HasPrefix(q.Text, "我") && !strings.HasPrefix(q.Text, "我们") {
		who = "我"
	}
	switch first {
	case "好多了", "好点了", "好些了":
		if i := strings.LastIndex(q.Text, "好"); i > 0 { // 你妈身体好点没
			return q.Text[:i] + first + then
		}
	case "对", "是", "是的", "对的", "没错", "嗯":
		if q.Ends == "呢" || q.Ends == "没" || q.Ends == "没有" || q.Gaps() || syntax.ContainsAny(rest, "以前", "现在不", "不了", "好了") {
			return ""
		}
		return q.Text + then
	case "不是", "没有了", "没了", "不了", "不在了", "哪有", "没有", "没":
		for _, he := range [...]string{"他", "她"} {
			if after, ok := strings.CutPrefix(rest, he); ok && q.Whose != "" {
				return q.Whose + after // 你妈是老师吗 / 不是，她是会计
			}
		}
	}
	switch first {
	case "不是", "没有了", "没了", "不了", "哪有":
		return ""
	case "还没", "没", "没有", "还没有":
		after := q.Text[len(who):]
		if what, ok := strings.CutPrefix(after, "有"); ok && who != "" && what != "" && q.Ends != "没" {
			return who + "没有" + what + then
		}
		if thing := chinese.About(q.Text); thing != "" && strings.HasPrefix(q.Text, thing) && (strings.HasSuffix(after, "了") || strings.HasPrefix(q.Ends, "没")) && !strings.Contains(q.Text[len(thing):], "我") {
			did := strings.TrimSuffix(q.Text[len(thing):], "了")
			if later, ok := strings.CutPrefix(then, "，"); ok && did != "" && strings.HasSuffix(discourse.TrimZhEnd(later), did) && q.Whose == "" && !strings.ContainsAny(later, "我你您他她不没") {
				then = "，我" + later // 报告写了吗 / 还没，明天写
			}
			return thing + "还没" + did + then // 我那个片子拍了
		}
		did, ok := strings.CutSuffix(after, "了")
		if r, _ := utf8.DecodeRuneInString(did); who == "" || !ok || q.Ends == "呢" || strings.ContainsRune("是的没不", r) {
			return ""
		}
		return who + "还没" + did + then
	}
	verb := first
	for again := true; again; {
		again = false
		for _, a := range adverbsZh {
			if r, ok := strings.CutPrefix(verb, a); ok && strings.Trim(r, "了的") != "" {
				verb, again = r, true
			}
		}
	}
	adverbs := first[:len(first)-len(verb)]
	rs := []rune(verb)
	for n := min(3, len(rs)); n > 0; n-- {
		v, tail := string(rs[:n]), string(rs[n:])
		i := strings.LastIndex(q.Text, v)
		if i < 0 || v == "是" || v == "的" || v == "了" {
			continue
		}
		counted := syntax.TrimHeads(tail, "过", "了")
		if tail != "" && counted != "" && tail != "的" && tail != "着" && !chinese.Count(counted) {
			continue
		}
		before, after := q.Text[:i], strings.TrimSuffix(syntax.TrimHeads(q.Text[i+len(v):], "过", "了", "着"), "了")
		if i < len(who) {
			return "" // 你吃辣吗 / 我，我不吃辣
		}
		if rest, ok := strings.CutPrefix(before, who); ok && who != "" { // 你不喜欢狗吗 / 喜欢: the answer decides
			before = who + syntax.TrimTails(syntax.TrimHeads(rest, "不", "没"), "不", "没")
		}
		if v == "过敏" && syntax.StartsWithAny(adverbs, []string{"不", "没"}) { // 不会过敏的
			adverbs, tail = "不", ""
		}
		if adverbs != "" {
			before = syntax.TrimTails(before, "还", "也", "都", "已经")
		}
		if v == "有" && adverbs == "" && rest != "" { // 有，两个女儿
			if r, _ := utf8.DecodeRuneInString(rest); strings.ContainsRune("一二两三四五六七八九十", r) {
				return before + "有" + rest
			}
		}
		if when, more := didThen(q, v, rest); strings.HasPrefix(tail, "了") && when != "" { // 卖了，上周卖的
			before, then = before+when, more
		} else if tail != "" && WholeTime(q, rest) { // 结了，去年五月
			before, then = before+rest, ""
		}
		if chinese.Count(counted) {
			if after == "我" || after == "你" {
				return before + adverbs + v + after + tail + then // 押金退你了吗 / 退了一半
			}
			return before + adverbs + v + tail + after + then
		}
		return before + adverbs + v + after + tail + then
	}
	if tail, ok := strings.CutPrefix(verb, "有"); ok && tail != "" && who != "" && strings.HasPrefix(q.Text[len(who):], "有") && !strings.Contains(tail, "点") {
		return who + first + then // 有没有兄弟姐妹 / 有个弟弟
	}
	if _, drug, ok := strings.Cut(q.Text, "吃"); ok && who == "我" && (verb == "停了" || verb == "停药了") { // 你还吃那个阿司匹林吗 / 停了
		if drug = strings.TrimPrefix(drug, "那个"); chinese.Drug(drug) {
			return "我停了" + drug + then
		}
	}
	if after, ok := strings.CutPrefix(verb, "戒了"); ok && after == "" { // 你还抽烟吗 / 戒了
		for _, v := range [...]string{"抽", "喝", "吃"} {
			if who, what, found := strings.Cut(q.Text, v); found && what != "" && utf8.RuneCountInString(what) <= 3 {
				return strings.TrimSuffix(who, "还") + "戒" + what + "了" + then
			}
		}
	}
	return ""
}
