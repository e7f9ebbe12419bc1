package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/chinese"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/ellipsis"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Somebody who says 行 to 周六一起去爬山好不好 has agreed to a plan, which is made from the words of the
// proposal. An errand that somebody was asked to do needs no day: 记得带医保卡 and 好的.

// agreementsZh are the first words of an agreement.
var agreementsZh = []string{"行", "行啊", "行呀", "行吧", "行行", "行行行", "好", "好的", "好啊", "好呀", "好嘞", "好吧", "好好", "好好好", "可以", "可以啊", "可以的", "没问题", "成", "中", "得", "嗯", "嗯嗯", "嗯好", "嗯行", "那行", "那好", "一言为定", "说定了", "就这么定了", "没事可以", "OK", "ok", "Ok", "要得", "好哒", "好喔", "好哦"}

// remindedZh are answers to who is reminded of something, besides agreements.
var remindedZh = []string{"知道了", "知道啦", "我知道了", "记住了", "记着呢", "忘不了", "不会忘", "不会忘的", "我不会忘的", "不会的", "放心", "放心吧", "你放心", "收到"}

// remindersZh are beginnings of a reminder, and requestsZh those of another request.
var remindersZh, requestsZh = []string{"千万别忘了", "千万记得", "可别忘了", "别忘了", "别忘记", "不要忘了", "不要忘记", "你记得", "记得"}, []string{"麻烦你", "麻烦您", "麻烦", "请你", "请您", "请", "你能不能", "你能", "能不能"}

// agreedTailsZh are words that may follow without changing what was agreed.
var agreedTailsZh = []string{"谢谢", "谢谢你", "谢谢啦", "谢了", "多谢", "辛苦了", "辛苦你了", "麻烦你了", "麻烦了", "到时候见", "到时见", "回头见", "到时候联系", "听你的", "都听你的", "那就这么定了", "那就这样", "就这样", "太好了", "那太好了", "我也想去", "我都行", "我都可以"}

// daySuitsZh are words after a day that agree to it.
var daySuitsZh = []string{"没问题", "可以的", "可以", "行的", "行", "OK", "ok", "成", "好"}

// proposalTagsZh are question tags after a proposal.
var proposalTagsZh = []string{"行不行", "好不好", "可不可以", "成不成", "可以不", "怎么样", "怎样", "如何", "行吗", "好吗", "可以吗", "成吗", "方便吗", "行不", "好不", "好么", "行么", "ok吗", "OK吗", "吧"}

// agreesZh takes a proposal for a day, or an errand, in the previous turn, to which this turn says yes.
func agreesZh(t *discourse.Talk, s syntax.Sentence) bool {
	b := t.JustSaid()
	if b == nil || s.Ends == "？" || s.Ends == "?" || t.Rejoined || strings.TrimSpace(s.Text[:s.Start]) != "" {
		return false
	}
	var days []string
	promises := false
	for i, part := range strings.FieldsFunc(s.Text[s.Start:], func(r rune) bool { return strings.ContainsRune(" ，,。.！!、~～", r) }) {
		switch {
		case slices.Contains(agreementsZh, part), i > 0 && slices.Contains(agreedTailsZh, part):
		case slices.Contains(remindedZh, part):
			promises = true
		case i == 0:
			day, agrees := syntax.CutEnd(part, daySuitsZh...)
			if !agrees || utf8.RuneCountInString(day) < 2 {
				return false
			}
			days = append(days, day) // 周四可以
		default:
			days = append(days, syntax.TrimTails(syntax.TrimHeads(part, "那就", "就"), "吧", "见"))
		}
	}
	all := syntax.Sentences(b.Text)
	if len(all) == 0 {
		return false
	}
	q := all[len(all)-1]
	x := strings.TrimRight(q.Raw(), "？?。！!啊呀呢哈 ")
	said := x
	for _, tag := range proposalTagsZh {
		if r, ok := strings.CutSuffix(said, tag); ok {
			said = strings.TrimRight(r, "，, ")
			break
		}
	}
	if len(days) == 0 && askedErrandZh(t, b, s, said, said != x, promises) {
		return true
	}
	if asks := q.Ends == "？" || q.Ends == "?"; promises || said == x && !(asks && strings.HasSuffix(said, "见")) && !strings.HasPrefix(x, "那") {
		return false
	}
	for i := strings.LastIndexAny(said, "，,"); i >= 0; i = strings.LastIndexAny(said, "，,") {
		_, comma := utf8.DecodeRuneInString(said[i:])
		last := said[i+comma:]
		if w := dayWithin(t, last); w == nil {
			break
		}
		said = last // 明天不行，后天吧
	}
	said = syntax.TrimHeads(syntax.StripLeadZh(said), "那就", "那么", "那", "要不", "就")
	w := dayWithin(t, said)
	if w == nil || w.Day < t.Now.Day || chinese.AskersIn(said) || syntax.ContainsAny(said, "不", "没", "别", "他", "她", "了", "你们", "取消", "推迟", "想象", "相信", "看见", "的照片", "密码") {
		return false
	}
	for _, part := range days { // 行，就周四; anything else may be a condition, a conflict or a joke
		if same := dayWithin(t, part); same == nil || same.Day != w.Day || same.Next-same.First < len(syntax.Lex(part)) {
			return false
		}
	}
	from := len(t.Out.Candidates)
	said = chinese.Swap.Replace(said)
	if first, _ := syntax.CutHead(said, "我们", "咱们", "咱"); strings.ContainsAny(first, "我你") {
		if !strings.Contains(first, "我") && syntax.ContainsAny(first, "帮你", "给你", "替你", "陪你", "接你", "来你", "去你") {
			said = "我" + said
		}
		if !strings.Contains(first, "你") && syntax.ContainsAny(first, "帮我", "给我", "替我", "陪我", "接我", "送我", "来我", "去我") && !strings.HasPrefix(first, "我") {
			said = "你" + said // 明天十点给你打电话好吗: the other person does it
		}
		readAs(t, s, said+"。")
		if len(t.Out.Candidates) == from {
			return false
		}
		if other := discourse.SpeakerOf(t.Ev, b.Speaker); !strings.Contains(strings.SplitN(said, "你", 2)[0], "我") { // 我周六去接你好吗: the other person does it
			for i := from; i < len(t.Out.Candidates); i++ {
				if a := &t.Out.Candidates[i]; a.Slot != nil && a.Slot.Subject == t.Self.Key {
					a.Slot.Subject, a.Actor = other.Key, other.Name
				}
			}
		}
	} else if t.Part == discourse.Plans {
		agreedOnZh(t, syntax.Sentences(first)[0], w, s, discourse.SpeakerOf(t.Ev, b.Speaker))
	}
	ellipsis.CitesBoth(t, from, s, 0, len(b.Text))
	for i := from; i < len(t.Out.Candidates); i++ {
		t.Out.Candidates[i].Confidence = min(t.Out.Candidates[i].Confidence, chinese.AnsweredSure)
	}
	return true
}

// askedErrandZh takes an errand without a day of which the speaker was asked in the previous turn. tagged: a
// question tag followed it. promises: the answer fits only a reminder (忘不了).
func askedErrandZh(t *discourse.Talk, b *abi.Turn, s syntax.Sentence, said string, tagged, promises bool) bool {
	said = syntax.StripLeadZh(said)
	what := syntax.TrimHeads(said, remindersZh...)
	if what == said {
		if what = syntax.TrimHeads(said, requestsZh...); promises || what == said && !tagged && !strings.HasPrefix(said, "帮我") {
			return false
		}
	}
	what, _, _ = strings.Cut(syntax.TrimHeads(what, "你", "您"), "，")
	if what == "" || strings.Contains(what, "我") && !discourse.Capitalised(b.Speaker) || syntax.ContainsAny(what, "我们", "咱", "你", "您", "不", "没", "了吗") || dayWithin(t, what) != nil {
		return false
	}
	what = "我得" + strings.ReplaceAll(what, "我", b.Speaker)
	if !chinese.IsErrand(what) {
		return false
	}
	from := len(t.Out.Candidates)
	readAs(t, s, what+"。")
	ellipsis.CitesBoth(t, from, s, 0, len(b.Text))
	return len(t.Out.Candidates) > from
}

// readAs reads a text in place of the sentence s.
func readAs(t *discourse.Talk, s syntax.Sentence, text string) {
	defer rejoined(t, s)()
	for _, one := range syntax.Sentences(text) {
		sentence(t, one)
	}
}

// dayWithin returns the only day that a text names; nil if it names none or several.
func dayWithin(t *discourse.Talk, text string) *timex.When {
	all := syntax.Sentences(text)
	if len(all) != 1 {
		return nil
	}
	whens := timex.FindWhens(all[0], t.Now)
	timex.SameDay(all[0], whens)
	if len(whens) == 0 || !whens[0].HasDay || whens[0].Habit || slices.ContainsFunc(whens[1:], func(w timex.When) bool { return w.HasDay && w.Day != whens[0].Day }) {
		return nil
	}
	w := whens[len(whens)-1]
	return &w
}

// agreedOnZh proposes what the two speakers will do together, in the words of proposed; s is the
// evidence.
func agreedOnZh(t *discourse.Talk, proposed syntax.Sentence, w *timex.When, s syntax.Sentence, other discourse.Person) {
	b := t.Bare(proposed)
	what := syntax.TrimZh(b.Text)
	p := discourse.Plan{Subject: t.Self.Key, Attribute: "计划：" + what, What: "plan", Label: what, Day: w.Day, Minute: w.Minute, Clock: w.Clock, Chinese: true}
	if other.Key == "user" {
		p.Subject = other.Key
	}
	if attr, word := chinese.EventIn(what); attr != "" {
		p.Attribute, p.What = attr, word
	}
	if what == "" {
		p.Attribute = "计划：和" + other.Name + "约"
	}
	whens := timex.FindWhens(proposed, t.Now)
	timex.SameDay(proposed, whens)
	t.Emit(p, t.Self.Name+"和"+other.Name+"约好"+t.RewriteZh(proposed, whens, false), "plan", chinese.AnsweredSure, s, false)
}
