package discourse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Says reports whether a bare weekday is what somebody said or agreed on: "we said Friday".
func (c *Clause) Says(w *timex.When) bool {
	i := w.First
	before := c.At(i - 1)
	if s := c.At(i); s == "on" || s == "for" {
		return s == "on" && (before == "agreed" || before == "settled" || before == "decided") || s == "for" && before == "settled"
	}
	switch c.At(w.Next) {
	case "that", "to", "he", "she", "they", "it", "was", "is":
		return false // "he said Friday was fine"
	}
	return (before == "said" || before == "picked" || before == "chose") && syntax.WeekdayOf(c.At(i), true) >= 0
}

// ToldZh reports whether a clause tells of the past: 搬走了, 去过, 是十月走的. 三月就四十二了 is in the future.
func ToldZh(x string) bool {
	x = strings.TrimRight(x, "。，！! ")
	if ShiftedZh(x) != "" || syntax.ContainsAny(x, "改成", "改到", "改在") {
		return false // 项目延期到一月了
	}
	if strings.Contains(x, "就") && !syntax.ContainsAny(x, "早就", "已经", "当时", "那时", "就认识", "就知道", "就开始", "就有", "就分了", "就分手", "就辞了", "就辞职了", "就离了", "就离婚了", "就离职了", "就卖了", "就没了", "就断了", "就去世") || syntax.ContainsAny(x, "就要", "快要", "会") && strings.HasSuffix(x, "的") {
		return false
	}
	if aboutToZh(x) || syntax.StartsWithAny(x, []string{"得了", "等了", "要了"}) { // 得一月份了
		return false
	}
	if before, _, ok := strings.Cut(x, "该"); ok && strings.HasSuffix(x, "了") && !syntax.EndsWithAny(before, []string{"应", "早", "就", "不", "本"}) {
		return false // 猫一月该打疫苗了
	}
	if syntax.ContainsAny(GuoZh.Replace(x), "了", "过") {
		return true
	}
	if WasDoneZh(x) {
		return true
	}
	for _, v := range [...]string{"走", "去", "来", "到", "搬", "买", "回", "认识", "结婚", "毕业", "开始", "入职", "离职"} {
		if i := strings.Index(x, v+"的"); i >= 0 && (strings.Contains(x, "是") || strings.HasSuffix(x, v+"的") || v != "买") {
			return !syntax.ContainsAny(x, "要", "打算", "准备")
		}
	}
	return false
}

// GuoZh removes the words in which 过 does not mean the past.
var GuoZh = syntax.Compounds("过期 过户 过夜")

// WasDoneZh reports whether a deed has 的 in place of 了, which tells of the past: 我们五一领的证.
func WasDoneZh(x string) bool {
	return (syntax.ContainsAny(x, "领的证", "入的职", "离的婚", "结的婚", "拔的牙", "做的手术", "回的家", "辞的职", "退的休", "考的试", "签的合同", "动的手术", "离的职", "搬的家") ||
		syntax.EndsWithAny(TrimZhEnd(x), []string{"走的", "去世的", "搬的", "离的", "结的", "回来的", "毕业的", "退休的", "入职的", "月生的", "号生的", "日生的", "年生的", "认识的", "出生", "出生的", "出生了"})) && !syntax.ContainsAny(x, "孩子", "宝宝", "双胞胎", "下周", "下个月", "明天", "明年", "后天", "要", "会", "打算", "准备", "将", "预计")
}

// aboutToZh reports whether a clause ends in 要…了, which is the future: 她三月要生了.
func aboutToZh(x string) bool {
	before, after, ok := strings.Cut(strings.TrimSuffix(x, "啦"), "要")
	return ok && strings.HasSuffix(x, "了") && !syntax.EndsWithAny(before, []string{"不", "需", "重", "主", "只", "想", "还", "没", "必"}) &&
		utf8.RuneCountInString(after) > 1 && !syntax.StartsWithAny(after, []string{"了", "求", "紧", "是", "到", "回", "走了"})
}

// shiftsZh are words that say that something is postponed or brought forward.
var shiftsZh = []string{"改签到", "延期到", "推迟到", "延后到", "延到", "推到", "拖到", "提前到"}

// MovesZh are words that say that something gets another time or place.
var MovesZh = append([]string{"改到", "改成", "改为", "挪到", "换到", "改在"}, shiftsZh...)

// ShiftedZh returns what a clause says is postponed, such as 项目 in 项目延期到一月了; "" if it says nothing
// of the kind.
func ShiftedZh(x string) string {
	for _, k := range shiftsZh {
		if what, _, ok := strings.Cut(x, k); ok {
			if _, moved, ok := strings.Cut(what, "把"); ok && moved != "" {
				what = moved // 老周说客户想把上线时间提前到…
			}
			what = strings.TrimSuffix(syntax.TrimAdverbsZh(strings.TrimSuffix(what, "又")), "又")
			return strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(what, "我们的"), "我们"), "我的")
		}
	}
	return ""
}

// born removes the months and days of 我是十月生的, which are of an unknown year.
func (b *BareZh) born() {
	if !strings.HasSuffix(strings.TrimRight(b.Text, "。，！ "), "生的") {
		return
	}
	b.Whens = slices.DeleteFunc(b.Whens, func(w timex.When) bool {
		said := b.S.Text[b.S.Toks[w.First].Start:b.S.Toks[w.Next-1].End]
		return w.HasDay && strings.Contains(said, "月") && !strings.Contains(said, "年")
	})
}

// sinceThenZh reports whether a deed was already done in a month, if the last such month is nearer
// than the next one: 八月份我就还给老方了.
func (t *Talk) sinceThenZh(x string, w *timex.When) bool {
	_, deed, ok := strings.Cut(x, "就")
	last := *w
	last.Past(t.Now)
	return ok && t.Now.Day-last.Day <= w.Day-t.Now.Day && strings.HasSuffix(TrimZhEnd(x), "了") &&
		syntax.ContainsAny(deed, "还给", "还了", "还清", "给了", "交了", "走了", "搬走", "搬了", "卖了", "寄了", "退了", "停了", "拆了", "关门", "关了", "出院", "买了", "生了", "换了", "回来了", "回国了", "来了", "到了", "办完", "弄完", "结束了", "辞职", "取消", "不干了", "不在", "拿到", "收到", "装好", "修好", "订好", "签了")
}

// GoesOnZh reports whether something began and continues: 十月开始我在学西班牙语.
func GoesOnZh(x string) bool {
	return strings.Contains(x, "开始") && syntax.ContainsAny(x, "在学", "在练", "在做", "在看", "在读", "在上", "在吃", "在跑", "一直", "都在", "就在") && !syntax.ContainsAny(x, "要", "会", "将", "打算", "准备")
}

// OneDay reports whether a time is on one particular day. What is done on a weekend may be done on
// each weekend.
func OneDay(w *timex.When) bool {
	return w.HasDay && !w.Habit && w.Grain == 'd' && w.Last == 0 && !w.Weekend
}

// OnDayZh puts the times of a clause on the days that the sentence has for them. An hour alone is
// on the day that was named before it: 明天上午去银行，下午开会. An end on a day is after the day of the
// beginning: 二十号放假，三号开学.
func (t *Talk) OnDayZh(s syntax.Sentence, whens []timex.When) {
	timex.OfMonthBefore(t.Said, s, whens, t.Now)
	day := t.LastDay
	for i := range whens {
		w := &whens[i]
		switch {
		case w.Habit:
		case w.HasDay:
			if day.HasDay && w.Grain == 'd' && w.Day < day.Day && day.Day > t.Now.Day && timex.EndsStay(s, w.First, w) {
				if w.Weekday {
					w.Day += (day.Day - w.Day + 6) / 7 * 7
				} else {
					for w.Assumed == 1 && w.Day < day.Day {
						w.Day = timex.AddMonths(w.Day, 1) // 我元旦回老家，二号回来
					}
				}
			}
			if monday := t.Now.Day - t.Now.Weekday(); w.Weekday && day.Weekday && w.Day < day.Day && timex.Mod(w.Day-monday, 7) > timex.Mod(day.Day-monday, 7) && !syntax.ContainsAny(t.Said.Raw(), MovesZh...) && !syntax.ContainsAny(t.Said.Raw(), "原来", "从", "还是") {
				w.Day += 7 // 周六不行，周日可以: in the same week
			}
			if w.Weekday && day.Grain == 'w' {
				w.Day, w.Weekday = day.Day+timex.Mod(w.Day-t.Now.Day+t.Now.Weekday(), 7), false // 下周 … 周四
			}
			if OneDay(w) {
				day = *w
			}
		case w.Clock && day.HasDay && day.Grain == 'd' && day.Day >= t.Now.Day && (i == 0 || ThenZh(s, whens[i-1].Next, w.First)) && !syntax.ContainsAny(agreedWordsZh.Replace(s.Raw()), "刚才", "了", "过") && !t.eveBeforeZh(s, w, &day):
			w.OnDay(&day)
		}
	}
}

// agreedWordsZh removes what is arranged, which is in the future: 三点我约了美容.
var agreedWordsZh = strings.NewReplacer("约了", "", "订了", "", "定了", "", "请了", "")

// eveBeforeZh reports whether something is done this evening for tomorrow: 明天要交报告，晚上得加班.
func (t *Talk) eveBeforeZh(s syntax.Sentence, w, day *timex.When) bool {
	const evening = 18 * 60
	return day.Day == t.Now.Day+1 && !day.Clock && w.Minute >= evening && syntax.ContainsAny(s.Raw(), "得", "赶", "准备", "复习", "早点", "早睡", "收拾", "先")
}

// ThenZh reports whether something else begins between two times: 上午去银行然后下午开会.
func ThenZh(s syntax.Sentence, from, to int) bool {
	return from < to && syntax.ContainsAny(s.Text[s.Toks[from].Start:s.Toks[to].Start], "然后", "接着", "，", ",")
}

// What the form of a Chinese clause says about its time: done, still to be done, not done.

// CompletedZh reports whether a clause ends in 了 for something that is done: 住院了, and not 要走了.
func CompletedZh(x string) bool {
	if x = GatheringsZh.Replace(strings.TrimRight(x, "。，! ")); !strings.HasSuffix(x, "了") {
		return false
	}
	return !syntax.ContainsAny(x, "要", "快", "就", "该", "马上", "会", "准备", "打算", "改")
}

// GatheringsZh removes the words in which 会 is not a verb.
var GatheringsZh = syntax.Compounds("聚会 晚会 宴会 会议 开会 年会 音乐会 演唱会 家长会 同学会 运动会 例会 会上 舞会 机会 社会 会员")

// CutCommaZh returns the text before the first comma, and after it.
func CutCommaZh(s string) (before, after string) {
	if i := strings.IndexAny(s, "，,"); i > 0 {
		_, n := utf8.DecodeRuneInString(s[i:])
		return s[:i], strings.TrimSpace(s[i+n:])
	}
	return s, ""
}

// arrangedZh are words for things that are arranged, told or forgotten, for a future day:
// 我约了12月3号看牙.
var arrangedZh = [...]string{"约", "订", "定", "安排", "票", "抢", "报", "请了", "通知", "告诉", "听说", "忘", "说", "改", "排", "有", "快", "要", "会", "打算", "准备", "申请", "挂", "走了"}

// BygoneZh reports whether a clause tells of a past day, month or feast whose name alone would mean
// a future one.
func (t *Talk) BygoneZh(x, raw string, w *timex.When) bool {
	if w.Grain != 'd' || w.Last > 0 && w.Days == nil {
		return ToldZh(x) || GoesOnZh(raw) || strings.Contains(x, "就没") && strings.HasSuffix(TrimZhEnd(x), "了") || w.Grain == 'M' && (t.sinceThenZh(x, w) || strings.Contains(raw, "从") && syntax.ContainsAny(raw, "开始", "起") && syntax.ContainsAny(t.Said.Raw(), "现在", "已经", "一直") && !strings.Contains(raw, "要"))
	}
	if WasDoneZh(x) {
		return true
	}
	if w.Days != nil && syntax.ContainsAny(x, "没", "那会儿", "的婚", "生的", "出生") && !syntax.ContainsAny(strings.ReplaceAll(x, "那会儿", ""), "还没", "要", "会") {
		return true // 我春节没回家
	}
	if syntax.ContainsAny(x, "见过", "去过", "来过", "看过", "做过", "聊过") && !syntax.ContainsAny(x, "没", "再") || strings.Contains(x, "是在") && strings.HasSuffix(strings.TrimRight(x, "。！"), "的") {
		return true // 我们11月3号见过面, 是在端午节去世的
	}
	if syntax.ContainsAny(x, arrangedZh[:]...) || !strings.Contains(x, "了") && !strings.HasSuffix(TrimZhEnd(x), "过") {
		return false
	}
	last := *w
	last.Past(t.Now)
	return ToldZh(x) && (w.Days != nil || t.Now.Day-last.Day <= w.Day-t.Now.Day || CompletedZh(x))
}
