package chinese

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// A Chinese clause often leaves out its topic: 得下周三才能取. The previous clauses name it, 车送修了, or the
// previous turn, which the clause answers. The memory of the clause begins with these, so that it
// can be understood by itself. Without them there is no memory.

// MostJoined is the greatest length of a memory that was joined with the text before it, in bytes.
const MostJoined = 270

// nameless are the characters of words that say that something is true, but not what: 没了, 还没呢, 用完了.
const nameless = "没还有了好行呢啊都对是的不也嗯哦坏完用修取到买卖丢过，, "

// notHim removes words that contain 他 or 她 and mean nobody, or several people.
var notHim = strings.NewReplacer("其他", "", "他们", "", "她们", "", "吉他", "", "他人", "")

// Whom puts the previous clauses of a Chinese sentence in front of a clause's memory if that
// contains 他, 她 or 它, or has no object: 隔壁老太太住院了，我周末去看她; 眼镜用完了，今晚得下单.
func Whom(t *discourse.Talk, s syntax.Sentence, from int) {
	if !s.Chinese() {
		noted.Whom(t, s, from)
		return
	}
	for i := from; i < len(t.Out.Candidates); i++ {
		a := &t.Out.Candidates[i]
		text := notHim.Replace(a.Text)
		if len(a.Spans) != 1 || a.Spans[0].Turn != 0 || a.Spans[0].Start <= s.Start || !syntax.ContainsAny(text, "他", "她", "它") && !hangs(t, s, a) && !shortDeed(a) && !nobodyDid(t, s, a) && !tellsHow(t, s, a) || a.Type == "core" {
			continue
		}
		if strings.Contains(a.Text, "对方") && hangs(t, s, a) { // 吃完了我给你买: for whom, and what?
			t.Out.Candidates = slices.Delete(t.Out.Candidates, i, i+1)
			i--
			continue
		}
		if fillsSlot(t, from, a.Spans[0].Start) {
			if a.Kind == "plan" && hangs(t, s, a) && !strings.Contains(a.Text, t.Self.Name) {
				t.Out.Candidates = slices.Delete(t.Out.Candidates, i, i+1)
				i--
			}
			continue
		}
		said := SaidBefore(t, s, a.Spans[0].Start)
		if said != "" && strings.Trim(said, nameless) == "" && !syntax.ContainsAny(text, "他", "她", "它") {
			if t.JustSaid() == nil {
				t.Out.Candidates = slices.Delete(t.Out.Candidates, i, i+1)
				i--
			}
			continue
		}
		if said != "" && len(said)+len(a.Text) < noted.MaxAmended {
			if a.Actor != "" && a.Actor != t.Self.Name && strings.HasPrefix(said, a.Actor+"的") { // 我爸的眼镜配好了，明天去取: it does not say who
				a.Text = strings.TrimPrefix(a.Text, a.Actor)
			}
			a.Text, a.Spans[0].Start = said+"，"+a.Text, s.Start
		}
	}
}

// fillsSlot reports whether a memory, from index from on, that begins before a byte fills a
// single-valued slot: 我现在住柏林. If another memory contained it as well, the next value could not end
// that one.
func fillsSlot(t *discourse.Talk, from, start int) bool {
	return slices.ContainsFunc(t.Out.Candidates[from:], func(a abi.Candidate) bool {
		return a.Slot != nil && !a.Slot.Many && a.Type != "episodic" && len(a.Spans) > 0 && a.Spans[0].Start < start
	})
}

// hangs reports whether a memory needs the text before it: a plan or a deed whose verb has no
// object, or a statement of how long without what: 下班前一定发, 得才能取, 到今天整整三个月了.
func hangs(t *discourse.Talk, s syntax.Sentence, a *abi.Candidate) bool {
	if a.Kind != "event" && a.Kind != "plan" && a.Kind != "promise" && a.Kind != "habit" && a.Kind != "noted" {
		return false
	}
	all := syntax.Sentences(s.Text[a.Spans[0].Start:a.Spans[0].End])
	return len(all) == 1 && bareDeed(t.Bare(all[0]).Text)
}

// shortDeed reports whether a plan has one or two characters: 得下单, 还我.
func shortDeed(a *abi.Candidate) bool {
	if a.Slot == nil {
		return false
	}
	deed, ok := strings.CutPrefix(a.Slot.Attribute, "计划：")
	return ok && (utf8.RuneCountInString(deed) <= 2 || strings.HasPrefix(deed, "得") && utf8.RuneCountInString(deed) == 3)
}

// nobodyDid reports whether a deed is only a verb, and its memory does not say whose: 去年走了.
func nobodyDid(t *discourse.Talk, s syntax.Sentence, a *abi.Candidate) bool {
	all := syntax.Sentences(s.Text[a.Spans[0].Start:a.Spans[0].End])
	return a.Kind == "event" && !strings.Contains(a.Text, t.Self.Name) && len(all) == 1 && utf8.RuneCountInString(syntax.TrimZh(t.Bare(all[0]).Text)) <= 3
}

// bareDeed reports whether a clause is only a verb, with who does it, for whom and when: 得给人送回去,
// 约了师傅上门来修.
func bareDeed(x string) bool {
	x = syntax.TrimTails(syntax.TrimZh(x), "一下", "回去", "过去", "过来", "回来", "进去", "出来", "好", "完", "掉")
	if strings.HasPrefix(x, "到") && strings.Trim(x, "到整正好已经有快〇一二两三四五六七八九十百半多个天周月年了") == "" {
		return true
	}
	if syntax.TrimHeads(syntax.TrimHeads(x, bareHeads[:]...), bareHeads[:]...) == "" && !strings.Contains(x, "我") && x != "" {
		return true // 估计得下周才能回来
	}
	if done, n, ok := strings.Cut(x, "了"); ok && strings.Trim(n, "一二两三四五六七八九十几好多") != n && strings.Contains("颗次个只条本杯片件张回遍趟", strings.Trim(n, "一二两三四五六七八九十几好多")) && utf8.RuneCountInString(n) < 4 {
		return utf8.RuneCountInString(syntax.TrimHeads(done, bareHeads[:]...)) == 1 && !strings.Contains(done, "我") // 昨天掉了一颗
	}
	verb, n := utf8.DecodeLastRuneInString(x)
	if !strings.ContainsRune("发取买开送换修拿交还寄退拆装签付续补领卖改搬办弄搞写订选查休洗单住做犯", verb) {
		return false
	}
	head := syntax.TrimHeads(syntax.StripLeadZh(x[:len(x)-n]), bareHeads[:]...)
	return syntax.TrimHeads(head[len(syntax.KinPrefixZh(head)):], bareHeads[:]...) == ""
}

// bareHeads may be before a verb without saying what it is done to.
var bareHeads = [...]string{"好", "行", "，", "过去", "过来", "我们", "我", "咱们", "你", "人家", "人", "他", "她", "就", "也", "都", "还", "再", "先", "后", "才", "一定", "肯定", "马上", "赶紧", "赶快", "尽快", "打算", "准备", "估计", "应该", "必须", "需要", "可以", "能", "得", "要", "会", "想", "去", "来", "给", "让", "叫", "帮", "约好了", "约了", "约好", "师傅", "工人", "上门", "记得", "医院",
	"下班前", "下班后", "下班", "之前", "以前", "之后", "以后", "前", "住", "下", "统一", "重新"}

// WithTurn joins the memories of the first sentence of a turn, from index from on, with the
// previous turn if they need it: 那个报价单你发给客户了吗 and 还没呢，我今天下班前一定发. A memory that needs something that
// is not there is dropped.
func WithTurn(t *discourse.Talk, s syntax.Sentence, from int) {
	if !s.Chinese() || len(t.Own) == 0 || s.Start != t.Own[0].Start || t.Rejoined {
		return
	}
	b := t.JustSaid()
	if b == nil || !syntax.HasHan(b.Text) {
		return
	}
	absent(t, from)
	all := syntax.Sentences(Swap.Replace(b.Text))
	if len(all) == 0 {
		return
	}
	q := all[len(all)-1]
	whom, asked := Asks(b.Text, t.Now)
	if (asked || strings.Contains(whom.Text, "多久")) && whom.Whose == "" && strings.HasPrefix(whom.Text, "我") && !syntax.StartsWithAny(whom.Text, []string{"我们", "我家", "我那", "我的", "我这"}) {
		ofAsked(t, s, from, whom.Text)
	}
	asked = (asked || q.Ends == "？" || q.Ends == "?") && !syntax.ContainsAny(q.Raw(), "怎么不", "怎么没", "怎么老", "怎么这", "为什么", "为啥", "咋没", "咋不", "咋老")
	kept := t.Out.Candidates[:from]
	for _, a := range t.Out.Candidates[from:] {
		plain := len(a.Spans) == 1 && a.Spans[0].Turn == 0
		hangs := plain && hangs(t, s, &a)
		part := plain && asked && answers(t, s, &a)
		joined := (hangs || part) && !fillsSlot(t, from, a.Spans[0].Start) && join(t, &a, s, q)
		if joined || !hangs && !(part && opensShort(t, s, &a)) {
			kept = append(kept, a)
		}
	}
	t.Out.Candidates = kept
	movedAgain(t, s, from)
}

// tellsHow reports whether an event only says how or when the deed of the previous clause was done:
// 课补了，周日晚上补的.
func tellsHow(t *discourse.Talk, s syntax.Sentence, a *abi.Candidate) bool {
	if a.Kind != "event" || len(a.Spans) == 0 {
		return false
	}
	said := discourse.TrimZhEnd(s.Text[a.Spans[0].Start:a.Spans[0].End])
	before := SaidBefore(t, s, a.Spans[0].Start)
	return strings.HasSuffix(said, "的") && discourse.CompletedZh(before)
}

// ofAsked names the speaker in what an answer that begins with a time says about them: 零九年来的 after
// 你在北京待了多久.
func ofAsked(t *discourse.Talk, s syntax.Sentence, from int, q string) {
	said := "" // 来过 of 你以前来过这儿吗
	if i := strings.Index(q, "过"); i > 0 {
		_, n := utf8.DecodeLastRuneInString(q[:i])
		said = q[i-n:i] + "过"
	}
	for i := from; i < len(t.Out.Candidates); i++ {
		a := &t.Out.Candidates[i]
		whens := timex.FindWhens(s, t.Now)
		if (a.Kind == "noted" || a.Kind == "event") && len(a.Spans) == 1 && a.Spans[0].Turn == 0 && a.Spans[0].Start == s.Start && len(whens) > 0 && (whens[0].First == 0 || said != "" && strings.HasPrefix(syntax.StripLeadZh(s.Raw()), said)) &&
			!strings.Contains(a.Text, t.Self.Name) && !strings.ContainsAny(a.Text, "我他她你") && (!t.Topic.Known || t.Topic.Person.Key == t.Self.Key) && discourse.NamePrefixZh(a.Text) == "" {
			a.Text = t.Self.Name + a.Text
		}
	}
}

// answers reports whether a is a note, a plan or an event in an answer that names nobody and
// nothing itself.
func answers(t *discourse.Talk, s syntax.Sentence, a *abi.Candidate) bool {
	if a.Kind != "noted" && a.Kind != "event" && a.Kind != "plan" && a.Kind != "promise" && a.Kind != "habit" || t.Topic.Known && t.Topic.Person.Key != t.Self.Key && strings.HasPrefix(a.Text, t.Topic.Person.Name) {
		return false
	}
	if opensShort(t, s, a) {
		return true
	}
	x := syntax.StripLeadZh(t.Ev.Text[a.Spans[0].Start:a.Spans[0].End])
	return (a.Kind != "plan" || a.Spans[0].Start == s.Start) && !strings.Contains(x, "我") && syntax.KinPrefixZh(x) == "" && discourse.NamePrefixZh(x) == "" && !strings.ContainsAny(x, "他她")
}

// join puts the topic of the previous turn before an answer. If that turn continues a question,
// 哪天啊, what the speaker had said before it is used. The words of others are not part of a memory.
func join(t *discourse.Talk, a *abi.Candidate, s, q syntax.Sentence) bool {
	n := len(t.Ev.Before)
	turn, head, mark := -1, About(q.Raw()), ""
	if asksOn(q.Raw()) {
		if n < 2 || t.Ev.Before[n-2].Speaker != t.Ev.Speaker {
			return false
		}
		own := syntax.Sentences(t.Ev.Before[n-2].Text)
		if len(own) == 0 || own[len(own)-1].Ends == "?" || own[len(own)-1].Ends == "？" || AskersIn(own[len(own)-1].Raw()) {
			return false
		}
		turn, head, mark = -2, own[len(own)-1].Raw(), "。"
	}
	all := syntax.Sentences(head)
	if len(all) != 1 {
		return false
	}
	head = strings.Trim(t.RewriteZh(all[0], timex.FindWhens(all[0], t.Now), false), "。，, ")
	if strings.Contains(head, "对方") {
		return false
	}
	if before := SaidBefore(t, s, a.Spans[0].Start); before != "" {
		head += mark + before + "，"
	} else if head += mark; mark == "" && strings.HasPrefix(a.Text, t.Self.Name) {
		head += "，"
	}
	if len(head)+len(a.Text) > MostJoined {
		return false
	}
	a.Text, a.Confidence = head+a.Text, min(a.Confidence, AnsweredSure)
	a.Spans[0].Start = s.Start
	for i := turn; i < 0; i++ {
		a.Spans = append(a.Spans, abi.Span{Turn: i, End: len(t.Ev.Before[n+i].Text)})
	}
	return true
}

// asksOn reports whether a question does not name its topic: 哪天啊, 什么时候的事.
func asksOn(x string) bool {
	x = syntax.TrimHeads(strings.TrimLeft(x, " "), "行啊", "行", "好的", "好啊", "好", "哦", "嗯")
	x = strings.TrimLeft(x, "，, ")
	return utf8.RuneCountInString(x) <= 7 && !strings.ContainsAny(x, "我你您") && syntax.StartsWithAny(syntax.StripLeadZh(x), []string{"哪", "什么", "啥", "几", "多", "谁", "怎", "咋", "在哪", "真的", "要紧", "严重", "要几", "看啥", "学啥", "干啥", "做啥", "转啥", "去哪", "为", "现在", "然后", "结果", "后来"})
}

// opensShort reports whether an answer begins with a few words that say little without the
// question: 停了，胃出血.
func opensShort(t *discourse.Talk, s syntax.Sentence, a *abi.Candidate) bool {
	x := syntax.StripLeadZh(t.Ev.Text[a.Spans[0].Start:a.Spans[0].End])
	first, _, _ := strings.Cut(strings.ReplaceAll(x, " ", "，"), "，")
	return a.Spans[0].Start == s.Start && utf8.RuneCountInString(first) <= 5 && !strings.HasPrefix(first, "我们") && (syntax.KinPrefixZh(first) == "" || discourse.JobZh(first)) && discourse.NamePrefixZh(first) == "" && utf8.RuneCountInString(first) < utf8.RuneCountInString(x)
}

// SaidBefore returns the part of a sentence before a byte, in the words of a memory.
func SaidBefore(t *discourse.Talk, s syntax.Sentence, at int) string {
	last := 0
	for last < len(s.Toks) && s.Toks[last].End <= at {
		last++
	}
	if last == 0 {
		return ""
	}
	head := s.Sub(0, last)
	return strings.Trim(t.RewriteZh(head, timex.FindWhens(head, t.Now), discourse.CompletedZh(head.Raw())), "。，, ")
}

// absent names in a memory the person whom 他 or 她 means, if the speaker's own last turn names
// exactly one relative: 给我妈换了手机 and then 带她去云南.
func absent(t *discourse.Talk, from int) {
	n := len(t.Ev.Before)
	if n < 2 || t.Ev.Before[n-2].Speaker != t.Ev.Speaker {
		return
	}
	said, k := t.Ev.Before[n-2].Text, ""
	for _, rest, ok := strings.Cut(said, "我"); ok; _, rest, ok = strings.Cut(rest, "我") {
		if one := syntax.KinPrefixZh(rest); one != "" {
			if k != "" && k != one {
				return // which of them?
			}
			k = one
		}
	}
	if k == "" || slices.Contains(discourse.PetsZh[:], k) || strings.ContainsAny(said, "他她") {
		return
	}
	for i := from; i < len(t.Out.Candidates); i++ {
		a := &t.Out.Candidates[i]
		for _, he := range [...]string{"他", "她"} {
			if before, after, ok := strings.Cut(a.Text, he); ok && (a.Kind == "plan" || a.Kind == "promise" || a.Kind == "event" || a.Kind == "noted") && !strings.HasPrefix(after, "们") && !syntax.EndsWithAny(before, []string{"其", "吉"}) && strings.Contains(before, t.Self.Name) {
				a.Text = before + t.Self.Name + "的" + k + after
				break
			}
		}
	}
}

// movedAgain puts what the speaker said in their last turn before a note that only says to when
// something is moved: 周三的会 取消了 and then 改到下周一十点了. If that was a question or nothing, the note is
// dropped.
func movedAgain(t *discourse.Talk, s syntax.Sentence, from int) {
	if !syntax.StartsWithAny(syntax.StripLeadZh(s.Raw()), discourse.MovesZh) || len(t.Out.Candidates) == from {
		return
	}
	n := len(t.Ev.Before)
	said := ""
	if n > 1 && t.Ev.Before[n-2].Speaker == t.Ev.Speaker {
		said = strings.Trim(t.Ev.Before[n-2].Text, "。！， ")
	}
	all := syntax.Sentences(said)
	for i := len(t.Out.Candidates) - 1; i >= from; i-- {
		a := &t.Out.Candidates[i]
		switch {
		case a.Kind != "noted" || len(a.Spans) != 1 || !syntax.StartsWithAny(a.Text, discourse.MovesZh):
		case len(all) == 1 && !AskersIn(said) && all[0].Ends != "？" && len(said)+len(a.Text) < MostJoined:
			a.Text = strings.Trim(t.RewriteZh(all[0], timex.FindWhens(all[0], t.Now), false), "。") + "，" + a.Text
			a.Spans = append(a.Spans, abi.Span{Turn: -2, End: len(t.Ev.Before[n-2].Text)})
		default:
			t.Out.Candidates = slices.Delete(t.Out.Candidates, i, i+1)
		}
	}
}
