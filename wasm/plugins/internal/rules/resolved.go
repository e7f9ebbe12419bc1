package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/chinese"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/ellipsis"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// resolved reads an answer that needs the question of another speaker just before it. It reports
// whether the sentence needs no other reading.
func resolved(t *discourse.Talk, s syntax.Sentence) bool {
	if b := t.JustSaid(); b != nil && syntax.HasHan(b.Text) {
		return agreesZh(t, s) || resolvedZh(t, s)
	}
	if t.Rejoined || len(t.Ev.Before) == 0 || syntax.HasHan(s.Raw()) || len(s.Toks) > 40 || s.Ends == "?" {
		return false
	}
	i := slices.IndexFunc(t.Own, func(o syntax.Sentence) bool { return o.Start == s.Start })
	if i > 1 || i == 1 && (!ellipsis.OnlyYesOrNo(t.Own[0]) || s.At(0) == "start") || t.JustSaid() == nil {
		return false
	}
	a := noted.Reply{Sentence: s}
	if i == 1 {
		a.Sentence = t.Own[0]
		a.Opens()
		a.Sentence, a.From = s, 0
	}
	if i == 0 && ellipsis.OnlyYesOrNo(s) && len(t.Own) > 1 && !noted.OwnClause(t.Own[1], 0) && t.Own[1].At(0) != "start" && t.Own[1].Ends != "?" {
		return true // "Yeah. Two boys."
	}
	q, ok := ellipsis.Inquired(t)
	if ellipsis.Hedged(s) || discourse.Conditioned(s) {
		return false
	}
	if a.Opens(); a.Mixed {
		return false
	}
	if foregone := q.Foregone(&a); foregone != "" {
		return readJoined(t, &q, s, foregone, "")
	}
	if !ok {
		return false
	}
	statement, rest := q.AnsweredBy(&a)
	if statement == "" {
		return false
	}
	return readJoined(t, &q, s, statement, rest)
}

// readJoined reads a statement that was made from a question and an answer, and what follows it in
// the answer.
func readJoined(t *discourse.Talk, q *ellipsis.Inquiry, s syntax.Sentence, statement, rest string) bool {
	from, refused, part, said, called := len(t.Out.Candidates), len(t.Out.Refusals), t.Part, t.Said, t.Called
	defer rejoined(t, s)()
	t.Part = discourse.Facts // notes are made for every part, because otherwise the answer would be read again by itself; tidy drops them
	defer func() { t.Part, t.Said, t.Called = part, said, called }()
	read := func(text string) {
		for _, o := range syntax.Sentences(text) {
			sentence(t, o)
		}
	}
	read(statement)
	// A note without a time that is made from a question and half a sentence is too vague to be kept,
	// unless it is about somebody's health.
	t.Out.Candidates = append(t.Out.Candidates[:from], slices.DeleteFunc(t.Out.Candidates[from:], func(c abi.Candidate) bool {
		if q.Names && (c.Slot == nil && c.Started == t.Ev.At || c.Kind == "promise" && c.Started == 0) {
			return true // a past deed, or one that is over in a minute
		}
		if c.Kind == "noted" && c.Started == t.Ev.At && q.Aux == "did" && q.Word == "" {
			return true // "did you take the bread out?", "yes"
		}
		return c.Kind == "noted" && c.Started == 0 && q.Noun != "much" && !strings.Contains(q.Raw(), "allerg")
	})...)
	if len(t.Out.Candidates) == from {
		t.Out.Refusals = t.Out.Refusals[:refused]
		return false
	}
	for i := from; i < len(t.Out.Candidates); i++ {
		c := &t.Out.Candidates[i]
		if c.Confidence = min(c.Confidence, chinese.AnsweredSure); c.Kind == "noted" {
			c.Confidence = min(c.Confidence, noted.ClauseSure)
		}
		if c.Started == t.Ev.At && c.Ended == 0 {
			c.Started = 0 // the question does not say when it was
		}
	}
	if more := len(t.Out.Candidates); rest != "" {
		read(onAskedDay(t, q, rest))
		if kept := t.Out.Candidates[more:]; q.Subj == "I" || !strings.HasPrefix(rest, q.Subj+" ") { // "I come out in a rash": of what?
			kept = slices.DeleteFunc(kept, func(c abi.Candidate) bool { return c.Kind == "noted" })
			t.Out.Candidates = t.Out.Candidates[:more+len(kept)]
		}
	}
	ellipsis.CitesBoth(t, from, s, q.Start, q.End)
	t.Out.Refusals = t.Out.Refusals[:refused]
	return true
}

// onAskedDay returns what follows in an answer, with the day of the question after its hour: "are
// you coming on Sunday?", "yes, but we'll have to leave by four".
func onAskedDay(t *discourse.Talk, q *ellipsis.Inquiry, rest string) string {
	var day, hour *timex.When
	for _, w := range timex.FindWhens(q.Sentence, t.Now) {
		if w.HasDay && !w.Habit && w.Grain == 'd' && w.Day >= t.Now.Day {
			day = &w
		}
	}
	if day == nil {
		return rest
	}
	coming := false
	for _, s := range syntax.Sentences(rest) {
		for i := range s.Toks {
			_, aux := syntax.Contraction(s.At(i))
			coming = coming || aux == "will" || s.At(i) == "will" || s.At(i) == "must" || s.At(i+1) == "to" && (s.At(i) == "have" || s.At(i) == "need" || s.At(i) == "going")
		}
		for _, w := range timex.FindWhens(s, t.Now) {
			if w.HasDay || w.Habit {
				return rest
			}
			hour = &w
		}
	}
	if hour == nil || !hour.Clock || !coming {
		return rest
	}
	from := day.First
	if from > 0 && syntax.Preposition(q.At(from-1)) {
		from--
	}
	return strings.TrimRight(rest, " .!") + " " + q.Text[q.Toks[from].Start:q.Toks[day.Next-1].End]
}

// An answer has one part of a sentence, and its question the rest: 你儿子对什么过敏？ and 尘螨. Both are read
// as one statement, 我儿子对尘螨过敏, in which 你 of the question becomes 我.

// settledZh end a question for what was decided or found: 学校定了吗 / 定了，实验小学.
var settledZh = []string{"定了", "定好了", "选好了", "找到了", "租好了", "订好了", "订了"}

// resolvedZh reads the first sentence of a turn together with the question that it answers. It
// reports whether it did; if not, the sentence has yet to be read by itself.
func resolvedZh(t *discourse.Talk, s syntax.Sentence) bool {
	b := t.JustSaid()
	if b == nil || t.Rejoined || s.Ends == "?" || s.Ends == "？" || strings.TrimSpace(s.Text[:s.Start]) != "" {
		return false
	}
	q, ok := chinese.Asks(b.Text, t.Now)
	n := len(t.Ev.Before)
	if !ok || n > 1 && t.Ev.Before[n-2].Speaker == t.Ev.Speaker && syntax.StartsWithAny(q.Text, []string{"什么手术", "啥手术", "什么病", "啥病", "什么事", "啥事"}) {
		return false
	}
	if n > 1 && syntax.StartsWithAny(q.Text, []string{"住哪", "住在哪"}) {
		return false // 下周去杭州 / 住哪儿 / 公司订的酒店
	}
	first, rest := discourse.CutCommaZh(ellipsis.Marked(&q, s))
	if syntax.ContainsAny(first, "不知道", "不清楚", "忘了", "不记得", "没想好", "没定", "再说", "随便", "看情况", "可能", "也许", "大概", "好像", "应该", "说不定", "不一定", "你猜", "本来", "什么", "谁", "怎么", "不是周", "等一下", "等等") || strings.HasSuffix(first, "吧") && !strings.Contains(q.Text, "喜欢什么") {
		return false
	}
	first = syntax.TrimTails(syntax.StripLeadZh(discourse.TrimZhEnd(first)), "啊", "呀", "呢", "哈", "咯", "喽", "啦")
	if first == "我" && rest != "" && q.Gaps() { // 我啊，八月十七
		first, rest = discourse.CutCommaZh(rest)
		first = discourse.TrimZhEnd(first)
	}
	if syntax.StartsWithAny(rest, []string{"你", "您"}) && (syntax.PersonZh(first) || syntax.KinPrefixZh(first) == first) {
		return false // 王姐，你也来了
	}
	if year := strings.TrimSuffix(syntax.TrimZh(rest), "年"); q.Gaps() && year != syntax.TrimZh(rest) && strings.Trim(year, syntax.DigitsZh) == "" && year != "" && ellipsis.WholeTime(&q, first) {
		return true // 几月几号走的 / 三月十九，二〇年: a day of another year
	}
	full := ellipsis.With(&q, first, rest)
	if denial := slices.Contains([]string{"不是", "没有", "不会"}, first); full == "" && denial && strings.HasPrefix(rest, "我") && !q.Gaps() && chinese.About(q.Text) == "" {
		full = rest // 你是独生子女吗 / 不是，我还有个弟弟
	}
	if full == "" && !q.Gaps() && rest != "" && slices.Contains([]string{"不是", "不对", "不", "没有"}, first) {
		full = putRightByZh(q.Text, rest, t.Now)
	}
	if full == "" {
		if q.Whose != "" && !strings.Contains(q.Text, "谁") {
			t.Attend(q.Whose) // 你老公做什么工作 / 退休了
		}
		return false
	}
	settled := rest != "" && syntax.EndsWithAny(q.Text, settledZh) && !syntax.ContainsAny(rest, "上次", "那个", "刚才")
	if settled && q.Whose == "" && !strings.Contains(full, "我") {
		full = "我" + full
	}
	from, plans, replanned, declines := len(t.Out.Candidates), t.Plans, t.Replanned, syntax.StartsWithAny(first, []string{"不", "没"})
	if declines {
		plans = slices.Clone(plans)
	}
	end := rejoined(t, s)
	for _, one := range syntax.Sentences(full + "。") {
		made := len(t.Out.Candidates)
		sentence(t, one)
		ellipsis.ThingFirst(t, one, made)
	}
	end()
	t.Out.Candidates = append(t.Out.Candidates[:from], slices.DeleteFunc(t.Out.Candidates[from:], func(c abi.Candidate) bool {
		const few = 4 // characters
		if nobody := syntax.StartsWithAny(q.Text, ellipsis.GapsZh[:]) || utf8.RuneCountInString(q.Text) <= few && q.Gaps(); nobody && (c.Kind == "habit" && syntax.ContainsAny(q.Text, "在哪", "哪儿", "哪里") || c.Kind == "noted" && !strings.Contains(c.Text, t.Self.Name)) {
			return true // 什么时候再考 / 一月十七号: who?
		}
		return c.Kind == "noted" && (c.Started == 0 || c.Started == t.Ev.At) && !(noted.AmountZh(full) && (chinese.About(q.Text) != "" || syntax.ContainsAny(q.Text, noted.BillsZh...))) && !(q.Whose != "" && strings.Contains(q.Text, "在哪")) && !settled // too vague for a question and half a sentence
	})...)
	ellipsis.CitesBoth(t, from, s, 0, len(b.Text))
	for i := from; i < len(t.Out.Candidates); i++ {
		c := &t.Out.Candidates[i]
		c.Confidence = min(c.Confidence, chinese.AnsweredSure)
		if declines && (rest == "" || c.Slot != nil && strings.HasSuffix(c.Slot.Attribute, first)) && (c.Kind == "appointment" || c.Kind == "plan") {
			c.Kind, c.EventType, c.Slot = "noted", "noted", nil // 周六婚礼你去吗 / 不去
			t.Plans, t.Replanned = plans, replanned
		}
	}
	return true
}
