package chinese

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// A Chinese sentence names a day once: the following clauses have only the hour, or the number of
// the day. If a clause has two times, one is the earlier time of something that was moved.

// KeepDay keeps the day that a Chinese clause names, for the following clauses.
func KeepDay(t *discourse.Talk, c syntax.Sentence) {
	if !c.Chinese() {
		return
	}
	whens := timex.FindWhens(c, t.Now)
	t.OnDayZh(c, whens)
	for _, w := range whens {
		if discourse.OneDay(&w) {
			t.LastDay = w
		}
	}
}

// AskedDay returns the day about which a turn was asked, 明天下午你有空没 and 三点我约了美容. If the question
// continues an earlier one, 几点集合, it is the day that the speaker had named.
func AskedDay(t *discourse.Talk, s syntax.Sentence) (day timex.When) {
	b := t.JustSaid()
	if b == nil || !s.Chinese() || len(t.Own) == 0 || s.Start != t.Own[0].Start {
		return day
	}
	said := []string{b.Text}
	if n := len(t.Ev.Before); n > 1 && t.Ev.Before[n-2].Speaker == t.Ev.Speaker {
		said = append(said, t.Ev.Before[n-2].Text)
	}
	for _, text := range said {
		all := syntax.Sentences(text)
		if len(all) == 0 {
			return day
		}
		asks := all[len(all)-1]
		for _, o := range all {
			for _, w := range timex.FindWhens(o, t.Now) {
				if (discourse.OneDay(&w) || w.Grain == 'w' && !w.Habit) && w.Day >= t.Now.Day && !w.Weekend {
					day = w
				}
			}
		}
		if day.HasDay || !asksOn(asks.Raw()) {
			return day
		}
	}
	return day
}

// lastOf returns the time of a clause's event if something else comes before it: 上午去银行然后下午开会.
func lastOf(b *discourse.BareZh, w *timex.When, word string) *timex.When {
	at := strings.Index(b.S.Raw(), word)
	if word == "" || at < 0 {
		return w
	}
	for i := range b.Whens {
		if o := &b.Whens[i]; o.First > w.Next && o.Clock && o.Day == w.Day && !o.Habit && b.S.Toks[o.First].Start < b.S.Start+at && discourse.ThenZh(b.S, w.Next, o.First) {
			return o
		}
	}
	return w
}

// movedTo returns the time to which a clause moves something: 周四 for 原来说的是周五现在改成周四. It returns nil
// if there is none.
func movedTo(b *discourse.BareZh) *timex.When {
	if len(b.Whens) < 2 || !syntax.ContainsAny(b.S.Raw(), discourse.MovesZh...) {
		return nil
	}
	for i := range b.Whens {
		w := &b.Whens[i]
		if before := strings.TrimSuffix(b.S.Text[b.S.Start:b.S.Toks[w.First].Start], "了"); !w.Habit && w.HasDay && syntax.EndsWithAny(before, discourse.MovesZh) {
			return w
		}
	}
	return nil
}

// whatMoves returns what a clause moves from one time to another: 发布会 for 发布会从十二号改成十五号.
func whatMoves(b *discourse.BareZh, x string) string {
	if movedTo(b) == nil {
		return ""
	}
	for _, k := range discourse.MovesZh {
		if what, _, ok := strings.Cut(x, k); ok {
			what = syntax.TrimHeads(syntax.TrimTails(what, "从", "现在", "由"), "我们", "我", "的", "把")
			if len(what) > len("一") {
				return syntax.TrimZh(what)
			}
		}
	}
	return ""
}

// longSince reports whether a clause follows one that says that it is already over: 早不在了，我三月就离职了.
func longSince(t *discourse.Talk, b *discourse.BareZh) bool {
	return strings.HasSuffix(discourse.TrimZhEnd(b.Text), "了") && syntax.ContainsAny(saidBefore(t, b).Raw(), "早不", "早就", "早没", "早已", "已经不", "已经没")
}

// ahead reports whether a clause without 了 follows one that decides something or names a future
// year or day: 明年不续租了，搬回我妈那边住.
func ahead(t *discourse.Talk, b *discourse.BareZh) bool {
	before := saidBefore(t, b)
	if q := t.JustSaid(); q != nil && syntax.ContainsAny(q.Text, "要搬", "打算搬", "准备搬", "时候搬", "哪天搬") && !strings.Contains(b.Text, "了") {
		return true // 听说你要搬家 / 对，搬到亦庄去
	}
	if len(before.Toks) == 0 || strings.Contains(b.Text, "了") {
		return false
	}
	return syntax.ContainsAny(before.Raw(), "决定", "打算", "准备", "计划", "要搬") || timex.AnyTime(before, t.Now, func(w *timex.When) bool { return w.HasDay && !w.Habit && w.Day > t.Now.Day })
}

// saidBefore returns the part of the sentence before a clause, which may be empty.
func saidBefore(t *discourse.Talk, b *discourse.BareZh) syntax.Sentence {
	n := 0
	if t.Said.Text == b.S.Text {
		for n < len(t.Said.Toks) && t.Said.Toks[n].End <= b.S.Start {
			n++
		}
	}
	if n == 0 {
		return syntax.Sentence{}
	}
	return t.Said.Sub(0, n)
}

// saidAfter returns the part of the sentence after a clause.
func saidAfter(t *discourse.Talk, b *discourse.BareZh) string {
	if t.Said.Text != b.S.Text || t.Said.End < b.S.End {
		return ""
	}
	return b.S.Text[b.S.End:t.Said.End]
}

// off keeps a plan that a clause cancels, because the next clause may say that it is only moved:
// 会议取消了，改到周一.
func off(t *discourse.Talk, b *discourse.BareZh, p discourse.Plan, attr string) {
	if w, _ := single(b); p.Day < t.Now.Day && attr != "" { // an unknown plan
		p = discourse.Plan{Subject: p.Subject, Shown: p.Shown, Attribute: attr, What: p.What, Label: b.Text, Day: t.Now.Day, Chinese: true}
		if w != nil && w.HasDay {
			p.Day, p.Minute, p.Clock = w.Day, w.Minute, w.Clock
		}
	}
	t.Off, t.OffAt = p, len(t.Out.Candidates)
}

// movedOff takes 改到周一 directly after a clause that cancels something. The event is moved, and the
// cancellation is dropped.
func movedOff(t *discourse.Talk, b *discourse.BareZh) bool {
	if len(b.Whens) != 1 || t.OffAt == 0 || t.OffAt != len(t.Out.Candidates) || !t.Off.Chinese || !b.Whens[0].HasDay && !b.Whens[0].Clock || !syntax.StartsWithAny(b.Text, discourse.MovesZh) || len(saidBefore(t, b).Toks) == 0 {
		return false
	}
	t.Out.Candidates = t.Out.Candidates[:t.OffAt-1]
	discourse.Moved(t, t.Off.Move(&b.Whens[0]), b.S, 0.86)
	t.OffAt = 0
	return true
}
