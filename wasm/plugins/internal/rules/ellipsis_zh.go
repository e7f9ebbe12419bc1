package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// An answer says a part of a sentence, and its question the rest: 你儿子对什么过敏？ and 尘螨. Both are read as the
// statement that they make together, 我儿子对尘螨过敏, in which the question's 你 is 我.

// mostAnswerZh is how many characters fill the place of 什么 or 哪里 at most.
const mostAnswerZh = 14

// resolvedZh reads the first sentence of a turn together with the question that it answers. It reports whether it did;
// if not, the sentence has yet to be read alone.
func (t *talk) resolvedZh(s sentence) bool {
	b := t.justSaid()
	if b == nil || s.ends == "?" || s.ends == "？" || !hasHan(b.Text) {
		return false
	}
	q, ok := questionZh(b.Text)
	if !ok {
		return false
	}
	first, rest := s.raw(), ""
	if i := strings.IndexAny(first, "，,"); i > 0 {
		_, n := utf8.DecodeRuneInString(first[i:])
		first, rest = first[:i], first[i+n:]
	}
	if strings.HasSuffix(first, "吧") {
		return false
	}
	full := q.with(trimTails(stripLeadZh(trimZhEnd(first)), "啊", "呀", "呢", "哈"), strings.TrimSpace(rest))
	if full == "" {
		return false
	}
	from := len(t.out.Candidates)
	for _, one := range sentences(full + "。") {
		t.sentence(one)
	}
	t.standsFor(from, s)
	asked := abi.Span{Turn: -1, Start: 0, End: len(b.Text)}
	for i := from; i < len(t.out.Candidates); i++ {
		a := &t.out.Candidates[i]
		a.Spans, a.Confidence = append(a.Spans, asked), min(a.Confidence, answeredSure)
	}
	return true
}

// answeredSure is how sure a statement is at most that was made of a question and its answer.
const answeredSure = 0.8

func hasHan(s string) bool { return strings.ContainsFunc(s, isHan) }

// askedZh is a question as the one who answers would say it: 你 is 我, and 我 is 你.
type askedZh struct {
	text  string // without 吗, 没, 呢 and marks
	ends  string // 吗, 没 or 呢; "": none of them
	whose string // the relative or person of whom it is, as 我老公; "": nobody's, or the speaker's
}

// swapZh says what another said from one's own side.
var swapZh = strings.NewReplacer("你", "我", "您", "我", "我", "你")

// questionZh is the question that a turn ends with.
func questionZh(text string) (askedZh, bool) {
	all := sentences(text)
	if len(all) == 0 {
		return askedZh{}, false
	}
	s := all[len(all)-1]
	x := s.raw()
	if i := strings.LastIndexAny(x, "，,"); i >= 0 {
		_, n := utf8.DecodeRuneInString(x[i:])
		x = x[i+n:]
	}
	x = trimTails(strings.TrimLeft(stripLeadZh(strings.TrimRight(x, " 。！!")), " 那诶欸哎"), "来着", "啊", "呀", "哈")
	if containsAny(x, "不是", "要不要", "能不能", "可不可以", "能帮", "可以帮", "好不好", "行不行", "行吗", "好吗", "可以吗", "为什么", "为啥", "怎么", "密码", "验证码", "卡号") && !strings.Contains(x, "是不是") {
		return askedZh{}, false
	}
	q := askedZh{text: swapZh.Replace(x)}
	if startsWithAny(q.text, []string{"会是", "会在", "会几"}) { // 那个会是几点
		q.text = "会议" + q.text[len("会"):]
	}
	for _, end := range [...]string{"没有", "吗", "嘛", "么", "没", "呢"} {
		if r, ok := strings.CutSuffix(q.text, end); ok && r != "" && !strings.HasSuffix(r, "什") {
			q.text, q.ends = r, end
			break
		}
	}
	aNotA := false
	q.text, aNotA = eitherZh(q.text)
	own, _ := cutOwnZh(q.text)
	lead := q.text[:len(q.text)-len(own)]
	if k := kinPrefixZh(own); k != "" && !strings.HasPrefix(own[len(k):], "的") && (lead != "" || utf8.RuneCountInString(k) > 1) {
		q.whose = lead + k
	}
	return q, q.ends != "" || aNotA || s.ends == "?" || s.ends == "？" || containsAny(q.text, askersZh[:]...) || strings.Contains(q.text, "啥") || strings.Contains(q.text, "多大")
}

// eitherZh takes what is asked in both ways, 来不来 or 是不是, as one, and reports whether it was.
func eitherZh(x string) (string, bool) {
	rs := []rune(x)
	for i := 1; i+1 < len(rs); i++ {
		if (rs[i] == '不' || rs[i] == '没') && rs[i-1] == rs[i+1] {
			return string(rs[:i]) + string(rs[i+2:]), true
		}
	}
	return x, false
}

// with is the statement that a question makes with the first clause of its answer; rest are the other clauses. It is
// empty if there is none.
func (q *askedZh) with(first, rest string) string {
	if containsAny(first, "不知道", "不清楚", "忘了", "不记得", "没想好", "没定", "再说", "随便", "看情况", "可能", "也许", "大概", "好像", "应该", "说不定", "不一定", "你猜", "本来", "什么", "谁", "怎么") {
		return ""
	}
	then := ""
	if rest != "" {
		then = "，" + rest
	}
	for _, he := range [...]string{"他", "她"} {
		if after, ok := strings.CutPrefix(first, he); ok {
			if q.whose == "" || strings.HasPrefix(after, "们") {
				return ""
			}
			return q.whose + after + then
		}
	}
	if made := q.filled(first); made != "" {
		return made + then
	}
	if q.ends == "呢" && !containsAny(q.text, askersZh[:]...) {
		if q.text == "我" || utf8.RuneCountInString(q.text) > 7 || strings.ContainsAny(first, "我你") {
			return ""
		}
		return q.text + first + then
	}
	if made := q.knows(first, rest); made != "" {
		return made
	}
	if made := q.agreed(first, rest); made != "" {
		return made
	}
	if q.whose != "" && q.ends != "" && first != "" && !strings.ContainsAny(first, "我你") && kinPrefixZh(first) == "" && utf8.RuneCountInString(first) > 2 {
		return q.whose + first + then // 你爸喝酒吗 / 以前天天喝
	}
	return ""
}

// gapsZh are the words for what is asked for, the longer ones first.
var gapsZh = [...]string{"什么时候", "什么时间", "几点钟", "几点", "哪一天", "哪天", "几月几号", "几号", "星期几", "礼拜几", "周几", "哪一年", "哪年",
	"什么地方", "哪个城市", "哪个公司", "哪家公司", "哪个区", "哪里", "哪儿", "多少钱", "多少岁", "多大年纪", "多大岁数", "多大", "几岁", "多少", "多高", "多长时间", "多久", "什么名字", "什么", "啥", "谁"}

// filled puts an answer where the question has its gap: 下周六 in 我体检是什么时候.
func (q *askedZh) filled(a string) string {
	gap, at := "", len(q.text)
	for _, g := range gapsZh {
		if i := strings.Index(q.text, g); i >= 0 && i < at {
			gap, at = g, i
		}
	}
	if gap == "" || a == "" || utf8.RuneCountInString(a) > mostAnswerZh || strings.ContainsAny(a, "你") || strings.HasPrefix(a, "我") && gap != "谁" && !strings.HasPrefix(a, "我是") {
		return ""
	}
	before, after := q.text[:at], q.text[at+len(gap):]
	if strings.HasPrefix(q.text, "我") && q.whose == "" {
		a = strings.TrimPrefix(a, "我是")
	}
	a = trimHeads(a, "就是", "是", "就")
	for _, v := range [...]string{"叫", "在", "姓", "住", "学", "喜欢"} {
		if strings.HasSuffix(before, v) || strings.HasSuffix(before, v+"的") {
			a = strings.TrimPrefix(a, v)
		}
	}
	if a == "" {
		return ""
	}
	if strings.HasPrefix(after, "了") {
		a = strings.TrimSuffix(a, "了")
	}
	switch gap {
	case "几号", "几月几号":
		if r, _ := utf8.DecodeLastRuneInString(a); strings.ContainsRune("一二三四五六七八九十0123456789", r) {
			a += "号"
		}
	case "多大", "几岁", "多大年纪", "多大岁数", "多少岁":
		if strings.Trim(a, "〇零一二三四五六七八九十百半多0123456789岁个月") != "" {
			return "" // 九十平, of a flat
		}
		if !strings.Contains(a, "岁") && !strings.Contains(a, "月") {
			a += "岁"
		}
	case "什么", "啥":
		if end := strings.TrimSuffix(after, "呢"); endsWithAny(before, []string{"做", "干", "当"}) && (end == "的" || end == "工作" || end == "") {
			return strings.TrimSuffix(trimTails(before, "做", "干", "当"), "是") + "是" + a
		} else if n := utf8.RuneCountInString(end); n > 0 && n <= 2 && !strings.HasPrefix(end, "过") && !strings.HasPrefix(end, "的") { // 什么血型
			if before = strings.TrimSuffix(before, "是"); before == "我" || before == q.whose {
				return before + end + "是" + a
			}
			after = ""
		}
	case "哪里", "哪儿":
		switch {
		case after == "人":
			a = strings.TrimSuffix(a, "的")
		case endsWithAny(before, []string{"放", "住", "存", "搁", "落"}):
			a = "在" + strings.TrimPrefix(a, "在")
		case strings.HasSuffix(before, "老家"):
			a, after = "是"+a, ""
		}
	case "谁":
		if strings.HasPrefix(after, "的") {
			a = strings.TrimSuffix(a, "的")
		}
	}
	return before + a + after
}

// knows takes a person whom somebody says to know as the one of whom the answer goes on to tell: 你认识陈晨吗 / 认识，我同学.
func (q *askedZh) knows(first, rest string) string {
	for _, know := range [...]string{"认识", "知道", "记得"} {
		who, ok := strings.CutPrefix(strings.TrimPrefix(q.text, "我"), know)
		if !ok || !strings.HasPrefix(first, know) || rest == "" || !personZh(who) && !foreignZh(who) {
			continue
		}
		if own, is := cutOwnZh(rest); is && own != rest && !strings.HasPrefix(rest, "我们") {
			return who + "是" + rest
		}
		return who + rest
	}
	return ""
}

// adverbsZh may stand before the verb that an answer takes from its question.
var adverbsZh = [...]string{"没有", "已经", "早就", "经常", "当然", "特别", "不", "没", "还", "都", "也", "早", "刚", "常", "挺", "会", "要"}

// agreed gives the verb of an answer what it has in the question: 你离过婚吗 / 离过.
func (q *askedZh) agreed(first, rest string) string {
	then := ""
	if rest != "" {
		then = "，" + rest
	}
	switch first {
	case "对", "是", "是的", "对的", "没错", "嗯":
		if q.ends == "呢" || q.ends == "没" || q.ends == "没有" || containsAny(q.text, askersZh[:]...) {
			return ""
		}
		return q.text + then
	case "还没", "没", "没有", "还没有":
		who := q.whose
		if who == "" && strings.HasPrefix(q.text, "我") && !strings.HasPrefix(q.text, "我们") {
			who = "我"
		}
		did, ok := strings.CutSuffix(q.text[len(who):], "了")
		if r, _ := utf8.DecodeRuneInString(did); who == "" || !ok || q.ends == "呢" || r == '是' || r == '的' {
			return ""
		}
		return who + "还没" + did + then
	}
	verb := first
	for again := true; again; {
		again = false
		for _, a := range adverbsZh {
			if r, ok := strings.CutPrefix(verb, a); ok && r != "" {
				verb, again = r, true
			}
		}
	}
	if verb == "" {
		return ""
	}
	adverbs := first[:len(first)-len(verb)]
	rs := []rune(verb)
	for n := min(3, len(rs)); n > 0; n-- {
		v, tail := string(rs[:n]), string(rs[n:])
		i := strings.LastIndex(q.text, v)
		if i < 0 || tail != "" && tail != "了" && tail != "过" && tail != "过了" && tail != "的" && tail != "着" {
			continue
		}
		before, after := q.text[:i], strings.TrimSuffix(trimHeads(q.text[i+len(v):], "过", "了", "着"), "了")
		if containsAny(after, askersZh[:]...) || v == "是" || v == "的" {
			return ""
		}
		if adverbs != "" {
			before = trimTails(before, "还", "也", "都", "已经")
		}
		if v == "有" && adverbs == "" && rest != "" { // 有，两个女儿
			if r, _ := utf8.DecodeRuneInString(rest); strings.ContainsRune("一二两三四五六七八九十", r) {
				return before + "有" + rest
			}
		}
		return before + adverbs + v + after + tail + then
	}
	if after, ok := strings.CutPrefix(verb, "戒了"); ok && after == "" { // 你还抽烟吗 / 戒了
		for _, v := range [...]string{"抽", "喝", "吃"} {
			if who, what, found := strings.Cut(q.text, v); found && what != "" && utf8.RuneCountInString(what) <= 3 {
				return strings.TrimSuffix(who, "还") + "戒" + what + "了" + then
			}
		}
	}
	return ""
}
