package rules

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// agreedOn takes a day that was agreed on, which is to come: "so we said Friday instead, same
// time" moves what is on the day that the turn names beside it, "I said Thursday for the
// dentist" is an appointment.
func (t *talk) agreedOn(c *clause) bool {
	if !c.past || c.neg || c.modal || c.kind == 't' || c.kind == 'y' {
		return false
	}
	var w *when
	for i := range c.whens {
		if c.whens[i].weekday && c.says(&c.whens[i]) {
			w = &c.whens[i]
		}
	}
	if w == nil {
		return false
	}
	d := *c
	d.past = false
	for i := range c.words {
		if c.w(i) != "instead" {
			continue
		}
		if p, ok := t.insteadOf(w); ok {
			if t.offAt > 0 && t.offAt == len(t.out.Candidates) && p == t.off { // it moves, and is not off
				t.out.Candidates = t.out.Candidates[:t.offAt-1]
			}
			t.moved(p.move(w), c.sentence, 0.86)
			return true
		}
	}
	t.planAt(&d, w)
	return true
}

// says reports whether a bare weekday is what somebody said or agreed on: "we said Friday".
func (c *clause) says(w *when) bool {
	i := w.first
	before := c.at(i - 1)
	if s := c.at(i); s == "on" || s == "for" {
		return s == "on" && (before == "agreed" || before == "settled" || before == "decided") || s == "for" && before == "settled"
	}
	switch c.at(w.next) {
	case "that", "to", "he", "she", "they", "it", "was", "is":
		return false // "he said Friday was fine"
	}
	return (before == "said" || before == "picked" || before == "chose") && weekdayOf(c.at(i), true) >= 0
}

// insteadOf is the one plan to come on another day that the turn names, or else the one that
// the talk is about.
func (t *talk) insteadOf(w *when) (plan, bool) {
	if t.offAt > 0 && t.offAt == len(t.out.Candidates) {
		return t.off, true
	}
	var days []int
	for _, s := range sentences(t.ev.Text) {
		for _, o := range findWhens(s, t.now) {
			if o.hasDay && !o.habit && o.day != w.day {
				days = append(days, o.day)
			}
		}
	}
	var found []plan
	for _, p := range t.plans {
		if p.day >= t.now.day && slices.Contains(days, p.day) {
			found = append(found, p)
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	if len(days) > 0 {
		return plan{}, false
	}
	return t.meant()
}

// presentState reports whether a participle says how something is, and not what it did: "the
// kita is closed on Friday". before are the words before it, the last first.
func presentState(before ...string) bool {
	for _, w := range before {
		base, rest := contraction(w)
		switch {
		case rest == "is" || rest == "are" || rest == "am":
			return true
		case base == "is" || base == "are" || base == "am" || base == "be" || base == "being":
			return true
		case !adverb(base) && base != "not":
			return false
		}
	}
	return false
}

// state is presentState of the word at i.
func (v *view) state(i int) bool {
	return i > 0 && presentState(v.words[i-1]) || i > 1 && presentState(v.words[i-1], v.words[i-2])
}

// toldZh reports a clause that tells what was: 搬走了, 去过, 是十月走的. 三月就四十二了 is to come.
func toldZh(x string) bool {
	x = strings.TrimRight(x, "。，！! ")
	if shiftedZh(x) != "" || containsAny(x, "改成", "改到", "改在") {
		return false // 项目延期到一月了
	}
	if strings.Contains(x, "就") && !containsAny(x, "早就", "已经", "当时", "那时", "就认识", "就知道", "就开始", "就有", "就分了", "就分手", "就辞了", "就辞职了", "就离了", "就离婚了", "就离职了", "就卖了", "就没了", "就断了", "就去世") || containsAny(x, "就要", "快要", "会") && strings.HasSuffix(x, "的") {
		return false
	}
	if aboutToZh(x) || startsWithAny(x, []string{"得了", "等了", "要了"}) { // 得一月份了
		return false
	}
	if before, _, ok := strings.Cut(x, "该"); ok && strings.HasSuffix(x, "了") && !endsWithAny(before, []string{"应", "早", "就", "不", "本"}) {
		return false // 猫一月该打疫苗了
	}
	if containsAny(guoZh.Replace(x), "了", "过") {
		return true
	}
	if wasDoneZh(x) {
		return true
	}
	for _, v := range [...]string{"走", "去", "来", "到", "搬", "买", "回", "认识", "结婚", "毕业", "开始", "入职", "离职"} {
		if i := strings.Index(x, v+"的"); i >= 0 && (strings.Contains(x, "是") || strings.HasSuffix(x, v+"的") || v != "买") {
			return !containsAny(x, "要", "打算", "准备")
		}
	}
	return false
}

// guoZh takes out the words in which 过 tells of nothing past.
var guoZh = compounds("过期 过户 过夜")

// wasDoneZh reports a deed with 的 in place of 了, which tells of what is past: 我们五一领的证.
func wasDoneZh(x string) bool {
	return (containsAny(x, "领的证", "入的职", "离的婚", "结的婚", "拔的牙", "做的手术", "回的家", "辞的职", "退的休", "考的试", "签的合同", "动的手术", "离的职", "搬的家") ||
		endsWithAny(trimZhEnd(x), []string{"走的", "去世的", "搬的", "离的", "结的", "回来的", "毕业的", "退休的", "入职的", "月生的", "号生的", "日生的", "年生的", "认识的", "出生", "出生的", "出生了"})) && !containsAny(x, "孩子", "宝宝", "双胞胎", "下周", "下个月", "明天", "明年", "后天", "要", "会", "打算", "准备", "将", "预计")
}

// aboutToZh reports 要…了 at the end of a clause, which is to come: 她三月要生了.
func aboutToZh(x string) bool {
	before, after, ok := strings.Cut(strings.TrimSuffix(x, "啦"), "要")
	return ok && strings.HasSuffix(x, "了") && !endsWithAny(before, []string{"不", "需", "重", "主", "只", "想", "还", "没", "必"}) &&
		utf8.RuneCountInString(after) > 1 && !startsWithAny(after, []string{"了", "求", "紧", "是", "到", "回", "走了"})
}

// shiftsZh say that something is put off or brought forward.
var shiftsZh = []string{"改签到", "延期到", "推迟到", "延后到", "延到", "推到", "拖到", "提前到"}

// movesZh say that something gets another time or place.
var movesZh = append([]string{"改到", "改成", "改为", "挪到", "换到", "改在"}, shiftsZh...)

// shiftedZh returns what a clause says is put off, such as 项目 in 项目延期到一月了; "" where it
// says nothing of the kind.
func shiftedZh(x string) string {
	for _, k := range shiftsZh {
		if what, _, ok := strings.Cut(x, k); ok {
			if _, moved, ok := strings.Cut(what, "把"); ok && moved != "" {
				what = moved // 老周说客户想把上线时间提前到…
			}
			what = strings.TrimSuffix(trimAdverbsZh(strings.TrimSuffix(what, "又")), "又")
			return strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(what, "我们的"), "我们"), "我的")
		}
	}
	return ""
}

// undecidedZh reports whether a clause leaves something to be decided: 周五去不去, 要不要买.
func undecidedZh(x string) bool {
	rs := []rune(x)
	for i := 1; i+1 < len(rs); i++ {
		if rs[i] == '不' && rs[i-1] == rs[i+1] {
			return true
		}
	}
	return false
}

// recurs reports whether a sentence says after token k that something is so each week:
// "moved to Thursdays", "from now on".
func recurs(s sentence, k int) bool {
	for i := k; i < min(len(s.toks), k+nearby); i++ {
		w := s.at(i)
		if strings.HasSuffix(w, "s") && weekdayOf(w[:len(w)-1], false) >= 0 || w == "from" && s.at(i+1) == "now" && s.at(i+2) == "on" || w == "every" {
			return true
		}
	}
	return false
}

// closedOn reports "the library's closed on Friday": what looks like an owner before a verb is
// "is", and the verb says how the thing is on that day.
func (c *clause) closedOn() bool {
	if c.kind != 't' || c.vi == 0 || c.vi >= len(c.words) || c.w(c.vi-1) != "'s" || !closing[c.w(c.vi)] {
		return false
	}
	for i := range c.whens {
		if c.whens[i].first == c.words[c.vi].tok+1 {
			return true
		}
	}
	return false
}

// closing are participles that say how a thing is: "the parcel's arrived" is none.
var closing = set("closed shut booked reserved blocked locked taken occupied sold cancelled")

// born takes away the months and days of 我是十月生的, which are of no year that one knows.
func (b *bareZh) born() {
	if !strings.HasSuffix(strings.TrimRight(b.text, "。，！ "), "生的") {
		return
	}
	b.whens = slices.DeleteFunc(b.whens, func(w when) bool {
		said := b.s.text[b.s.toks[w.first].start:b.s.toks[w.next-1].end]
		return w.hasDay && strings.Contains(said, "月") && !strings.Contains(said, "年")
	})
}

// sinceThenZh reports a deed that was done as early as a month, if the last such month is nearer than the next one:
// 八月份我就还给老方了.
func (t *talk) sinceThenZh(x string, w *when) bool {
	_, deed, ok := strings.Cut(x, "就")
	last := *w
	last.past(t.now)
	return ok && t.now.day-last.day <= w.day-t.now.day && strings.HasSuffix(trimZhEnd(x), "了") &&
		containsAny(deed, "还给", "还了", "还清", "给了", "交了", "走了", "搬走", "搬了", "卖了", "寄了", "退了", "停了", "拆了", "关门", "关了", "出院", "买了", "生了", "换了", "回来了", "回国了", "来了", "到了", "办完", "弄完", "结束了", "辞职", "取消", "不干了", "不在", "拿到", "收到", "装好", "修好", "订好", "签了")
}

// goesOnZh reports what began and goes on: 十月开始我在学西班牙语.
func goesOnZh(x string) bool {
	return strings.Contains(x, "开始") && containsAny(x, "在学", "在练", "在做", "在看", "在读", "在上", "在吃", "在跑", "一直", "都在", "就在") && !containsAny(x, "要", "会", "将", "打算", "准备")
}
