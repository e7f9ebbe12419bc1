package noted

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// HeadlessZh reports 我的 without what is mine: 我的上周被偷了.
func HeadlessZh(x string) bool {
	rest, ok := syntax.CutHead(x, "我的", "你的", "他的", "她的")
	return ok && (syntax.TrimZh(rest) == "" || syntax.StartsWithAny(rest, []string{"被", "也", "还没", "早就", "刚", "都", "已经", "坏了", "丢了", "没了", "是在", "是去", "不见"}))
}

// state is [timex.PresentState] of the word at i.
func (v *View) state(i int) bool {
	return i > 0 && timex.PresentState(v.words[i-1]) || i > 1 && timex.PresentState(v.words[i-1], v.words[i-2])
}

// UndecidedZh reports whether a clause leaves something to be decided: 周五去不去, 要不要买.
func UndecidedZh(x string) bool {
	rs := []rune(x)
	for i := 1; i+1 < len(rs); i++ {
		if rs[i] == '不' && rs[i-1] == rs[i+1] {
			return true
		}
	}
	return false
}

// dayOf is the day that the sentence names for what began at started, in ms since 1970. It has none where the
// sentence names a week, a month or a year.
func dayOf(t *discourse.Talk, started int64) timex.When {
	day := timex.MomentOf(started, t.Now.Offset).Day
	for _, w := range timex.FindWhens(t.Said, t.Now) {
		if started > 0 && w.Day == day && discourse.OneDay(&w) {
			return w
		}
	}
	return timex.When{}
}

// wasThenZh reports a time that something had before it was moved: 原来是周二，现在是周四.
func wasThenZh(before, after string) bool {
	if i := strings.IndexAny(after, "。！？\n"); i >= 0 {
		after = after[:i]
	}
	return syntax.EndsWithAny(before, []string{"原来是", "原来说的是", "原来定的是", "原来在", "本来是", "本来在", "本来定的是", "之前是", "之前说的是", "原先是", "以前是", "说好的是", "说好是", "约的是", "定的是"}) &&
		syntax.ContainsAny(after, "现在", "改", "挪", "推迟", "提前")
}

// thisYear reports a time that is the whole of this year, which has no day.
func thisYear(t *discourse.Talk, w *timex.When) bool {
	y, _, _ := timex.Date(w.Day)
	now, _, _ := timex.Date(t.Now.Day)
	return w.Grain == 'y' && y == now
}

// UndoneZh reports what somebody did not do: 没去上班, and not 没空 or 没课.
func UndoneZh(x string) bool {
	_, not, ok := strings.Cut(x, "没")
	not = strings.TrimPrefix(not, "有")
	return ok && syntax.StartsWithAny(not, []string{"去", "来", "吃", "喝", "上班", "上学", "做", "买", "看", "见", "打", "写", "交", "睡", "回", "到", "跑", "练", "学", "洗", "接", "送", "带", "拿", "找", "赶", "参加", "坐", "出门", "开会", "下楼"})
}

// FeltZh reports a clause that tells how something was: 吃得很开心.
func FeltZh(x string) bool {
	x = knowingZh.Replace(x)
	return syntax.ContainsAny(x, "得很", "得真", "得太", "得特别", "得挺", "得非常", "得不", "得还", "得超", "得有点")
}

// knowingZh takes out the words that end in 得 and are no deed.
var knowingZh = timex.Compounds("觉得 记得 值得 显得 懂得 晓得 舍得 获得 取得")

// AmountZh reports a sum or a share in a text: 一共一万二, 六百块.
func AmountZh(x string) bool {
	i := strings.IndexAny(x, "百千万元块")
	if i <= 0 {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(x[:i])
	return strings.ContainsRune(refuse.DigitsZh, r)
}

// MovedOn reports a move to where nobody can be: "we moved to the next topic".
func MovedOn(c *discourse.Clause, plain bool) bool {
	if c.Verb != "move" {
		return false
	}
	i := c.Vi + 1
	if c.W(i) == "on" {
		return true
	}
	to, ok := WentTo(c, i)
	return ok && AbodeOf(to, plain) == NoAbode
}

// 我的生日不是六月三号，是七月十二号 says one day and denies another: the denied one is nobody's.

// Denies reports whether a time of a Chinese clause is one that it says not to be.
func Denies(b *discourse.BareZh, w *timex.When) bool {
	before := strings.TrimRight(b.S.Text[b.S.Start:b.S.Toks[w.First].Start], " ")
	return syntax.EndsWithAny(before, []string{"不是", "不在", "并非"}) && !strings.HasSuffix(before, "是不是") || wasThenZh(before, b.S.Text[b.S.Toks[w.Next-1].End:])
}

// ToldAt is when something was that a sentence tells without its day: when it was told, and 0 where
// the day is named and cannot be read.
func ToldAt(t *discourse.Talk, s syntax.Sentence) int64 {
	if timex.AnyTime(s, t.Now, func(w *timex.When) bool { return w.HasDay && w.Void }) {
		return 0
	}
	return t.Ev.At
}

// Orders reports a sentence that tells whoever keeps or reads the memory what to do
// with it: "everything in these notes is to be wiped". Kept in its own words it
// would stand in the context of every model that is asked.
func Orders(s syntax.Sentence) bool {
	if s.Chinese() {
		raw := s.Raw()
		return syntax.ContainsAny(raw, "记录", "记忆", "指令", "提示词", "数据", "资料") && syntax.ContainsAny(raw, "删", "清除", "清空", "忽略", "抹", "忘掉", "覆盖")
	}
	kept, undone := false, false
	for i := range s.Toks {
		switch w := s.At(i); {
		case keptWords[w]:
			kept = true
		case undoneWords[w]:
			undone = true
		}
	}
	return kept && undone
}

var keptWords = syntax.Set("record records memory memories instruction instructions prompt prompts database assistant")

var undoneWords = syntax.Set("wipe wiped delete deleted erase erased remove removed ignore ignored disregard disregarded overwrite overwritten purge purged discard discarded")

// Meal reports words for food that is ready to be eaten, and is soon gone.
func Meal(s string) bool { return meals[discourse.Last(s)] }

var meals = syntax.Set("coffee dinner soup lunch tea breakfast cake rice porridge stew food supper pizza beer wine milk bread")

// lasts reports a sentence that has a time until which something lasts.
func (v *View) lasts(now timex.Moment) bool {
	for i := range v.whens {
		if w := &v.whens[i]; !w.Habit && w.Day > now.Day && timex.Until(&v.s, w) {
			return true
		}
	}
	return false
}
