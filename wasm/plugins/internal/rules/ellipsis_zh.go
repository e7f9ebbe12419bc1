package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// An answer says a part of a sentence, and its question the rest: 你儿子对什么过敏？ and 尘螨. Both are read as the
// statement that they make together, 我儿子对尘螨过敏, in which the question's 你 is 我.

// resolvedZh reads the first sentence of a turn together with the question that it answers. It reports whether it did;
// if not, the sentence has yet to be read alone.
func (t *talk) resolvedZh(s sentence) bool {
	b := t.justSaid()
	if b == nil || t.rejoined || s.ends == "?" || s.ends == "？" || strings.TrimSpace(s.text[:s.start]) != "" {
		return false
	}
	q, ok := questionZh(b.Text, t.now)
	if n := len(t.ev.Before); !ok || n > 1 && t.ev.Before[n-2].Speaker == t.ev.Speaker && startsWithAny(q.text, []string{"什么手术", "啥手术", "什么病", "啥病", "什么事", "啥事"}) {
		return false
	}
	first, rest := cutCommaZh(s.raw())
	if containsAny(first, "不知道", "不清楚", "忘了", "不记得", "没想好", "没定", "再说", "随便", "看情况", "可能", "也许", "大概", "好像", "应该", "说不定", "不一定", "你猜", "本来", "什么", "谁", "怎么", "不是周", "等一下", "等等") || strings.HasSuffix(first, "吧") && !strings.Contains(q.text, "喜欢什么") {
		return false
	}
	first = trimTails(stripLeadZh(trimZhEnd(first)), "啊", "呀", "呢", "哈", "咯", "喽", "啦")
	if first == "我" && rest != "" && q.gaps() { // 我啊，八月十七
		first, rest = cutCommaZh(rest)
		first = trimZhEnd(first)
	}
	if startsWithAny(rest, []string{"你", "您"}) && (personZh(first) || kinPrefixZh(first) == first) {
		return false // 王姐，你也来了
	}
	if year := strings.TrimSuffix(trimZh(rest), "年"); q.gaps() && year != trimZh(rest) && strings.Trim(year, digitsZh) == "" && year != "" && q.wholeTime(first) {
		return true // 几月几号走的 / 三月十九，二〇年: a day of another year
	}
	full := q.with(first, rest)
	if full == "" {
		if q.whose != "" && !strings.Contains(q.text, "谁") {
			t.attend(q.whose) // 你老公做什么工作 / 退休了
		}
		return false
	}
	from := len(t.out.Candidates)
	t.rejoined = true
	for _, one := range sentences(full + "。") {
		made := len(t.out.Candidates)
		t.sentence(one)
		t.thingFirst(one, made)
	}
	t.rejoined = false
	t.out.Candidates = append(t.out.Candidates[:from], slices.DeleteFunc(t.out.Candidates[from:], func(c abi.Candidate) bool {
		const few = 4 // characters
		if nobody := startsWithAny(q.text, gapsZh[:]) || utf8.RuneCountInString(q.text) <= few && q.gaps(); nobody && c.Kind == "noted" && !strings.Contains(c.Text, t.self.name) {
			return true // 什么时候再考 / 一月十七号: who?
		}
		return c.Kind == "noted" && (c.Started == 0 || c.Started == t.ev.At) && !(amountZh(full) && aboutZh(q.text) != "") // too vague for a question and half a sentence
	})...)
	t.citesBoth(from, s, 0, len(b.Text))
	for i := from; i < len(t.out.Candidates); i++ {
		t.out.Candidates[i].Confidence = min(t.out.Candidates[i].Confidence, answeredSure)
	}
	return true
}

// thingFirst puts what a sentence says first before its memories, from number from on, that name nobody: 我那台车卖了五万八，上周过的户.
func (t *talk) thingFirst(s sentence, from int) {
	for i := from; i < len(t.out.Candidates); i++ {
		a := &t.out.Candidates[i]
		text := a.Text
		if a.Kind == "plan" && len(a.Spans) > 0 && !strings.Contains(s.text[a.Spans[0].Start:a.Spans[0].End], "我") {
			text = strings.TrimPrefix(text, t.self.name)
		} else if a.Kind != "event" && a.Kind != "noted" {
			continue
		}
		if len(a.Spans) == 0 || a.Spans[0].Start <= s.start || strings.Contains(text, t.self.name) || namePrefixZh(text) != "" {
			continue
		}
		if said := t.beforeZh(s, a.Spans[0].Start); said != "" && !strings.Contains(a.Text, said) && len(said)+len(text) < mostJoined {
			a.Text, a.Spans[0].Start = said+"，"+text, s.start
		}
	}
}

// amountZh reports a sum or a share in a text: 一共一万二, 六百块.
func amountZh(x string) bool {
	i := strings.IndexAny(x, "百千万元块")
	if i <= 0 {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(x[:i])
	return strings.ContainsRune(digitsZh, r)
}

// answeredSure is how sure a statement is at most that was made of a question and its answer.
const answeredSure = 0.8

func hasHan(s string) bool { return strings.ContainsFunc(s, isHan) }

// cutCommaZh is what stands before the first comma of a text, and after it.
func cutCommaZh(s string) (before, after string) {
	if i := strings.IndexAny(s, "，,"); i > 0 {
		_, n := utf8.DecodeRuneInString(s[i:])
		return s[:i], strings.TrimSpace(s[i+n:])
	}
	return s, ""
}

// askedZh is a question as the one who answers would say it: 你 is 我, and 我 is 你.
type askedZh struct {
	text  string // without 吗, 没, 呢 and marks
	ends  string // 吗, 没 or 呢; "": none of them
	whose string // the relative of whom it is, as 我老公; "": of none
	now   moment
}

// swapZh says what another said from one's own side.
var swapZh = strings.NewReplacer("你", "我", "您", "我", "我", "你")

// tagsZh are asked after a statement.
var tagsZh = []string{"对吧", "是吧", "对不对", "是不是", "没错吧", "对吗", "是吗"}

// questionZh is the question that a turn asks, if it asks one alone.
func questionZh(text string, now moment) (askedZh, bool) {
	all := sentences(text)
	const cry = 2 // characters at most: 啊？
	if len(all) == 0 || len(all) > 1 && len(all[len(all)-2].toks) > cry && (all[len(all)-2].ends == "？" || all[len(all)-2].ends == "?") {
		return askedZh{}, false
	}
	s := all[len(all)-1]
	x, tagged := strings.TrimRight(s.raw(), " 。！!"), false
	for _, tag := range tagsZh {
		if r, ok := strings.CutSuffix(x, tag); ok && strings.TrimRight(r, "，, ") != r {
			x, tagged = strings.TrimRight(r, "，, "), true
		}
	}
	if i := strings.LastIndexAny(x, "，,"); i >= 0 {
		_, n := utf8.DecodeRuneInString(x[i:])
		if to := stripLeadZh(x[:i]); personZh(to) || kinPrefixZh(to) == to && to != "" {
			return askedZh{}, false // 小王，你对什么过敏？
		}
		x = x[i+n:]
	}
	x = trimTails(strings.TrimLeft(stripLeadZh(x), " 那诶欸哎"), "来着", "啊", "呀", "哈", "啦")
	if containsAny(x, "要不", "能不能", "可不可以", "能帮", "可以帮", "好不好", "行不行", "行吗", "好吗", "可以吗", "为什么", "为啥", "怎么", "应该", "密码", "验证码", "卡号") {
		return askedZh{}, false
	}
	q := askedZh{text: swapZh.Replace(x), now: now}
	for _, end := range [...]string{"没有", "吗", "嘛", "么", "没", "呢"} {
		if r, ok := strings.CutSuffix(q.text, end); ok && r != "" && !strings.HasSuffix(r, "什") && !strings.HasSuffix(r, "有") {
			q.text, q.ends = r, end
			break
		}
	}
	if k := kinPrefixZh(q.text); k != "" && strings.HasPrefix(q.text[len(k):], "我") {
		q.text = q.text[len(k):] // 阿姨您贵姓
	}
	rhetorical := strings.Contains(q.text, "不是") && !strings.Contains(q.text, "是不是") // 你不是对芒果过敏吗
	if rhetorical {
		if q.text = strings.Replace(q.text, "不是", "", 1); !strings.HasPrefix(q.text, "我") || strings.HasPrefix(q.text, "我说") {
			return askedZh{}, false
		}
	}
	if startsWithAny(q.text, []string{"会是", "会在", "会几"}) { // 那个会是几点
		q.text = "会议" + q.text[len("会"):]
	}
	if rest, ok := cutHead(q.text, "我还记得", "我记得", "我知道", "我知不知道"); ok && q.gaps() && rest != "" {
		q.text = rest // 你记得我电梯卡在谁那儿吗
	}
	either := false
	q.text, either = eitherZh(q.text)
	own, _ := cutOwnZh(q.text)
	lead := q.text[:len(q.text)-len(own)]
	if k := kinPrefixZh(own); k != "" && !strings.HasPrefix(own[len(k):], "的") && (lead != "" || utf8.RuneCountInString(k) > 1) {
		q.whose = lead + k
	}
	return q, tagged || either || q.ends != "" || s.ends == "?" || s.ends == "？" || q.gaps() || strings.Contains(q.text, "还是")
}

// gaps reports that a question has a word for what it asks for.
func (q *askedZh) gaps() bool {
	return containsAny(q.text, askersZh[:]...) || strings.Contains(q.text, "啥") || strings.Contains(q.text, "多大") || strings.Contains(q.text, "多高")
}

// eitherZh takes what is asked in both ways, 来不来 or 是不是, as one, and reports whether it was.
func eitherZh(x string) (string, bool) {
	rs := []rune(x)
	for i := 1; i+1 < len(rs); i++ {
		if (rs[i] == '不' || rs[i] == '没') && rs[i-1] == rs[i+1] && rs[i-1] != '时' {
			return string(rs[:i]) + string(rs[i+2:]), true
		}
	}
	return x, false
}

// with is the statement that a question makes with the first clause of its answer; rest are the other clauses. It is
// empty if there is none.
func (q *askedZh) with(first, rest string) string {
	then := ""
	if rest != "" {
		then = "，" + rest
	}
	for _, he := range [...]string{"他", "她"} {
		after, ok := strings.CutPrefix(first, he)
		if !ok {
			continue
		}
		if q.whose == "" || strings.HasPrefix(after, "们") {
			return ""
		}
		if made := q.agreed(after, rest); made != "" {
			return made
		}
		return q.whose + after + then
	}
	if q.gaps() {
		return q.filled(first, rest)
	}
	if _, _, ok := strings.Cut(q.text, "还是"); ok && q.ends != "吗" {
		if chosen := q.chosen(first); chosen != "" {
			return chosen + then
		}
		return ""
	}
	if q.ends == "呢" && !strings.HasPrefix(q.text, "我还") {
		if q.text == "我" || strings.ContainsAny(q.text, "还着在了") || startsWithAny(q.text, []string{"现", "今", "明", "后", "那", "然", "结"}) || utf8.RuneCountInString(q.text) > 7 || strings.ContainsAny(first, "我你这那来等好别") || !strings.ContainsAny(first, "了去要会在") {
			return ""
		}
		return q.text + strings.TrimPrefix(first, q.text) + then
	}
	if made := q.knows(first, rest); made != "" {
		return made
	}
	if made := q.agreed(first, rest); made != "" {
		return made
	}
	if before, _, ok := strings.Cut(q.text, "是"); ok && strings.HasPrefix(first, "是") && first != "是" {
		return before + first + then // 你老公是医生吗 / 是牙医
	}
	if q.whose != "" && q.ends != "" && startsWithAny(first, []string{"以前", "现在", "从来", "一直", "偶尔", "天天", "每", "有时", "经常", "早就", "很少", "去年", "今年", "前年"}) && !strings.ContainsAny(first, "我你") && strings.ContainsAny(first+rest, strings.Trim(q.text[len(q.whose):], "了的还在不")) {
		return q.whose + first + then // 你爸喝酒吗 / 以前天天喝
	}
	return ""
}

// chosen is a question between two things with the one that an answer names: 我喜欢吃咸的豆花 of 你喜欢吃甜的还是咸的豆花 and 咸的.
// It is empty where nobody can tell how long the other one is.
func (q *askedZh) chosen(answer string) string {
	one, other, _ := strings.Cut(q.text, "还是")
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
	who := q.whose
	if who == "" && strings.HasPrefix(q.text, "我") && !strings.HasPrefix(q.text, "我们") {
		who = "我"
	}
	switch first {
	case "对", "是", "是的", "对的", "没错", "嗯":
		if q.ends == "呢" || q.ends == "没" || q.ends == "没有" || q.gaps() || containsAny(rest, "以前", "现在不", "不了", "好了") {
			return ""
		}
		return q.text + then
	case "不是", "没有了", "没了", "不了", "不在了", "哪有", "没有", "没":
		for _, he := range [...]string{"他", "她"} {
			if after, ok := strings.CutPrefix(rest, he); ok && q.whose != "" {
				return q.whose + after // 你妈是老师吗 / 不是，她是会计
			}
		}
	}
	switch first {
	case "不是", "没有了", "没了", "不了", "哪有":
		return ""
	case "还没", "没", "没有", "还没有":
		after := q.text[len(who):]
		if what, ok := strings.CutPrefix(after, "有"); ok && who != "" && what != "" && q.ends != "没" {
			return who + "没有" + what + then
		}
		if thing := aboutZh(q.text); thing != "" && strings.HasPrefix(q.text, thing) && strings.HasSuffix(after, "了") && !strings.Contains(q.text[len(thing):], "我") {
			return thing + "还没" + strings.TrimSuffix(q.text[len(thing):], "了") + then // 我那个片子拍了
		}
		did, ok := strings.CutSuffix(after, "了")
		if r, _ := utf8.DecodeRuneInString(did); who == "" || !ok || q.ends == "呢" || strings.ContainsRune("是的没不", r) {
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
		i := strings.LastIndex(q.text, v)
		if i < 0 || v == "是" || v == "的" || v == "了" {
			continue
		}
		counted := trimHeads(tail, "过", "了")
		if tail != "" && counted != "" && tail != "的" && tail != "着" && !countZh(counted) {
			continue
		}
		before, after := q.text[:i], strings.TrimSuffix(trimHeads(q.text[i+len(v):], "过", "了", "着"), "了")
		if i < len(who) {
			return "" // 你吃辣吗 / 我，我不吃辣
		}
		if rest, ok := strings.CutPrefix(before, who); ok && who != "" { // 你不喜欢狗吗 / 喜欢: the answer says which
			before = who + trimTails(trimHeads(rest, "不", "没"), "不", "没")
		}
		if v == "过敏" && startsWithAny(adverbs, []string{"不", "没"}) { // 不会过敏的
			adverbs, tail = "不", ""
		}
		if adverbs != "" {
			before = trimTails(before, "还", "也", "都", "已经")
		}
		if v == "有" && adverbs == "" && rest != "" { // 有，两个女儿
			if r, _ := utf8.DecodeRuneInString(rest); strings.ContainsRune("一二两三四五六七八九十", r) {
				return before + "有" + rest
			}
		}
		if tail != "" && q.wholeTime(rest) { // 结了，去年五月
			before, then = before+rest, ""
		}
		if countZh(counted) {
			if after == "我" || after == "你" {
				return before + adverbs + v + after + tail + then // 押金退你了吗 / 退了一半
			}
			return before + adverbs + v + tail + after + then
		}
		return before + adverbs + v + after + tail + then
	}
	if tail, ok := strings.CutPrefix(verb, "有"); ok && tail != "" && who != "" && strings.HasPrefix(q.text[len(who):], "有") && !strings.Contains(tail, "点") {
		return who + first + then // 有没有兄弟姐妹 / 有个弟弟
	}
	if _, drug, ok := strings.Cut(q.text, "吃"); ok && who == "我" && (verb == "停了" || verb == "停药了") { // 你还吃那个阿司匹林吗 / 停了
		if drug = strings.TrimPrefix(drug, "那个"); drugZh(drug) {
			return "我停了" + drug + then
		}
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
