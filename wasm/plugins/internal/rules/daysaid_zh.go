package rules

import "strings"

// A Chinese sentence names a day once: the clauses that follow say only the hour, or the day by its
// number. Of two times in a clause, one is the time that something had before.

// keepDay keeps the day that a Chinese clause names, for the clauses after it.
func (t *talk) keepDay(c sentence) {
	if !c.chinese() {
		return
	}
	whens := findWhens(c, t.now)
	t.onDayZh(c, whens)
	for _, w := range whens {
		if w.oneDay() {
			t.lastDay = w
		}
	}
}

// askedDayZh is the day of which a turn was asked, 明天下午你有空没 and 三点我约了美容. Where that asks on, 几点集合, it is the day
// that the speaker had named.
func (t *talk) askedDayZh(s sentence) (day when) {
	b := t.justSaid()
	if b == nil || !s.chinese() || len(t.own) == 0 || s.start != t.own[0].start {
		return day
	}
	said := []string{b.Text}
	if n := len(t.ev.Before); n > 1 && t.ev.Before[n-2].Speaker == t.ev.Speaker {
		said = append(said, t.ev.Before[n-2].Text)
	}
	for _, text := range said {
		all := sentences(text)
		if len(all) == 0 {
			return day
		}
		asks := all[len(all)-1]
		for _, o := range all {
			for _, w := range findWhens(o, t.now) {
				if (w.oneDay() || w.grain == 'w' && !w.habit) && w.day >= t.now.day && !w.weekend {
					day = w
				}
			}
		}
		if day.hasDay || !asksOnZh(asks.raw()) {
			return day
		}
	}
	return day
}

// oneDay reports a time on a day of its own. What is done on a weekend may be done on each.
func (w *when) oneDay() bool {
	return w.hasDay && !w.habit && w.grain == 'd' && w.last == 0 && !w.weekend
}

// dayOf is the day that the sentence names for what began at started, in ms since 1970. It has none where the
// sentence names a week, a month or a year.
func (t *talk) dayOf(started int64) when {
	day := momentOf(started, t.now.offset).day
	for _, w := range findWhens(t.said, t.now) {
		if started > 0 && w.day == day && w.oneDay() {
			return w
		}
	}
	return when{}
}

// onDayZh puts the times of a clause where the sentence has them. An hour alone is of the day that was named
// before it: 明天上午去银行，下午开会. What ends on a day is behind the day on which it began: 二十号放假，三号开学.
func (t *talk) onDayZh(s sentence, whens []when) {
	day := t.lastDay
	for i := range whens {
		w := &whens[i]
		switch {
		case w.habit:
		case w.hasDay:
			if day.hasDay && w.grain == 'd' && w.day < day.day && day.day > t.now.day && endsStay(s, w.first, w) {
				if w.weekday {
					w.day += (day.day - w.day + 6) / 7 * 7
				} else if w.assumed == 1 {
					w.day = addMonths(w.day, 1)
				}
			}
			if monday := t.now.day - t.now.weekday(); w.weekday && day.weekday && w.day < day.day && mod(w.day-monday, 7) > mod(day.day-monday, 7) && !containsAny(t.said.raw(), movesZh...) && !containsAny(t.said.raw(), "原来", "从", "还是") {
				w.day += 7 // 周六不行，周日可以: of one week
			}
			if w.weekday && day.grain == 'w' {
				w.day, w.weekday = day.day+mod(w.day-t.now.day+t.now.weekday(), 7), false // 下周 … 周四
			}
			if w.oneDay() {
				day = *w
			}
		case w.clock && day.hasDay && day.grain == 'd' && day.day >= t.now.day && (i == 0 || thenZh(s, whens[i-1].next, w.first)) && !containsAny(agreedWordsZh.Replace(s.raw()), "刚才", "了", "过") && !t.eveBeforeZh(s, w, &day):
			w.onDay(&day)
		}
	}
}

// agreedWordsZh takes out what is arranged, which is still to come: 三点我约了美容.
var agreedWordsZh = strings.NewReplacer("约了", "", "订了", "", "定了", "", "请了", "")

// eveBeforeZh reports what is done this evening for tomorrow: 明天要交报告，晚上得加班.
func (t *talk) eveBeforeZh(s sentence, w, day *when) bool {
	const evening = 18 * 60
	return day.day == t.now.day+1 && !day.clock && w.minute >= evening && containsAny(s.raw(), "得", "赶", "准备", "复习", "早点", "早睡", "收拾", "先")
}

// thenZh reports whether something else begins between two times: 上午去银行然后下午开会.
func thenZh(s sentence, from, to int) bool {
	return from < to && containsAny(s.text[s.toks[from].start:s.toks[to].start], "然后", "接着", "，", ",")
}

// lastOf is the time at which the event of a clause is, if something else stands before it: 上午去银行然后下午开会.
func (b *bareZh) lastOf(w *when, word string) *when {
	at := strings.Index(b.s.raw(), word)
	if word == "" || at < 0 {
		return w
	}
	for i := range b.whens {
		if o := &b.whens[i]; o.first > w.next && o.clock && o.day == w.day && !o.habit && b.s.toks[o.first].start < b.s.start+at && thenZh(b.s, w.next, o.first) {
			return o
		}
	}
	return w
}

// movedTo is the time to which a clause moves something: 周四 of 原来说的是周五现在改成周四. Nil: there is none.
func (b *bareZh) movedTo() *when {
	if len(b.whens) < 2 || !containsAny(b.s.raw(), movesZh...) {
		return nil
	}
	for i := range b.whens {
		w := &b.whens[i]
		if before := strings.TrimSuffix(b.s.text[b.s.start:b.s.toks[w.first].start], "了"); !w.habit && w.hasDay && endsWithAny(before, movesZh) {
			return w
		}
	}
	return nil
}

// movedZh is what a clause moves from one time to another: 发布会 of 发布会从十二号改成十五号.
func (b *bareZh) movedZh(x string) string {
	if b.movedTo() == nil {
		return ""
	}
	for _, k := range movesZh {
		if what, _, ok := strings.Cut(x, k); ok {
			what = trimHeads(trimTails(what, "从", "现在", "由"), "我们", "我", "的", "把")
			if len(what) > len("一") {
				return trimZh(what)
			}
		}
	}
	return ""
}

// wasThenZh reports a time that something had before it was moved: 原来是周二，现在是周四.
func wasThenZh(before, after string) bool {
	if i := strings.IndexAny(after, "。！？\n"); i >= 0 {
		after = after[:i]
	}
	return endsWithAny(before, []string{"原来是", "原来说的是", "原来定的是", "原来在", "本来是", "本来在", "本来定的是", "之前是", "之前说的是", "原先是", "以前是", "说好的是", "说好是", "约的是", "定的是"}) &&
		containsAny(after, "现在", "改", "挪", "推迟", "提前")
}

// nextFeastZh reports whether a feast of this year at token k is the one that comes next year, as in autumn
// 今年过年去三亚 means it. What is told of it is of the one that was.
func nextFeastZh(s sentence, k, y int, now moment) bool {
	const longAgo = 180 // days
	days, n := feastNameZh(s, k)
	if n == 0 || containsAny(strings.NewReplacer("不回去了", "", "不回了", "", "不去了", "", "不走了", "").Replace(s.from(k)), "了", "没", "时候", "那会", "过得", "过的") {
		return false
	}
	first, _, ok := days(y)
	return ok && first < now.day-longAgo && first < dayOf(y, 3, 15)
}

// thisYear reports a time that is the whole of this year, which has no day.
func (t *talk) thisYear(w *when) bool {
	y, _, _ := date(w.day)
	now, _, _ := date(t.now.day)
	return w.grain == 'y' && y == now
}

// longSinceZh reports a clause behind one that says that it is over by now: 早不在了，我三月就离职了.
func (t *talk) longSinceZh(b *bareZh) bool {
	return strings.HasSuffix(trimZhEnd(b.text), "了") && containsAny(t.saidBefore(b).raw(), "早不", "早就", "早没", "早已", "已经不", "已经没")
}

// aheadZh reports a clause without 了 behind one that decides something or names a year or a day to come:
// 明年不续租了，搬回我妈那边住.
func (t *talk) aheadZh(b *bareZh) bool {
	before := t.saidBefore(b)
	if q := t.justSaid(); q != nil && containsAny(q.Text, "要搬", "打算搬", "准备搬", "时候搬", "哪天搬") && !strings.Contains(b.text, "了") {
		return true // 听说你要搬家 / 对，搬到亦庄去
	}
	if len(before.toks) == 0 || strings.Contains(b.text, "了") {
		return false
	}
	return containsAny(before.raw(), "决定", "打算", "准备", "计划", "要搬") || anyTime(before, t.now, func(w *when) bool { return w.hasDay && !w.habit && w.day > t.now.day })
}

// saidBefore is what the sentence says before a clause, which may be none.
func (t *talk) saidBefore(b *bareZh) sentence {
	n := 0
	if t.said.text == b.s.text {
		for n < len(t.said.toks) && t.said.toks[n].end <= b.s.start {
			n++
		}
	}
	if n == 0 {
		return sentence{}
	}
	return t.said.sub(0, n)
}

// saidAfter is what the sentence says after a clause.
func (t *talk) saidAfter(b *bareZh) string {
	if t.said.text != b.s.text || t.said.end < b.s.end {
		return ""
	}
	return b.s.text[b.s.end:t.said.end]
}

// offZh keeps a plan that a clause calls off, as the next one may say that it only moves: 会议取消了，改到周一.
func (t *talk) offZh(b *bareZh, p plan, attr string) {
	if w, _ := b.single(); p.day < t.now.day && attr != "" { // nobody has heard of it
		p = plan{subject: p.subject, shown: p.shown, attribute: attr, what: p.what, label: b.text, day: t.now.day, chinese: true}
		if w != nil && w.hasDay {
			p.day, p.minute, p.clock = w.day, w.minute, w.clock
		}
	}
	t.off, t.offAt = p, len(t.out.Candidates)
}

// movedOffZh takes 改到周一 right behind a clause that calls something off. The event is moved, and no cancellation is kept.
func (t *talk) movedOffZh(b *bareZh) bool {
	if len(b.whens) != 1 || t.offAt == 0 || t.offAt != len(t.out.Candidates) || !t.off.chinese || !b.whens[0].hasDay && !b.whens[0].clock || !startsWithAny(b.text, movesZh) || len(t.saidBefore(b).toks) == 0 {
		return false
	}
	t.out.Candidates = t.out.Candidates[:t.offAt-1]
	t.moved(t.off.move(&b.whens[0]), b.s, 0.86)
	t.offAt = 0
	return true
}
