package noted

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// MaxAmended is the greatest length of the words that are added to a statement, in bytes.
const MaxAmended = 200

// Amend adds to the only memory of a sentence what its later clauses say, if they gave none
// themselves: "Mei saw Dr Patel this morning. He's changed Mei's tablets." These clauses have half
// of what people tell about a thing.
func Amend(t *discourse.Talk, a *abi.Candidate, rest []syntax.Sentence) {
	switch {
	case len(a.Spans) == 0 || a.Type == "procedural" || a.Type == "core" || a.Negates || a.Kind == "change" || a.Kind == "cancellation" || a.Kind == "relation" || a.Kind == "allergy":
		return
	}
	added := 0
	for _, c := range rest {
		if c.Start < a.Spans[0].End {
			continue
		}
		text := hour(t, a, c)
		if text == "" && len(c.Toks) >= 3 {
			text = tail(t, c, a.Started)
		}
		if text == "" {
			continue
		}
		if added += len(text); added > MaxAmended {
			return
		}
		if c.Chinese() {
			a.Text = strings.TrimRight(a.Text, "。.") + "，" + text + "。"
		} else {
			a.Text += " " + text
		}
		a.Spans[0].End = c.End
	}
}

// hour gives a plan without a time of day the one of a Chinese clause that says nothing else, or one
// in some month its day, and returns that clause as it is added to the statement: 下周三家长会，下午两点; 周五晚上看话剧，七点半开场.
func hour(t *discourse.Talk, a *abi.Candidate, c syntax.Sentence) string {
	if !c.Chinese() || discourse.PartOf(a) != discourse.Plans || a.Slot == nil || a.Started == 0 || syntax.ContainsAny(c.Text[a.Spans[0].Start:a.Spans[0].End], "点", ":", "：", "钟") {
		return ""
	}
	whens := timex.FindWhens(c, t.Now)
	t.LastDay = dayOf(t, a.Started)
	t.OnDayZh(c, whens)
	for i := range t.Plans {
		p := &t.Plans[i]
		if p.Subject == a.Slot.Subject && p.Attribute == a.Slot.Attribute && len(whens) == 1 && whens[0].First == 0 && whens[0].Next == len(c.Toks) && whens[0].Assumed == 1 && !p.Clock && wholeMonth(t, p.Day) {
			_, _, d := timex.Date(whens[0].Day) // 下个月打疫苗，十二号
			whens[0].Day = p.Day + d - 1
			p.Day = whens[0].Day
			a.Slot.Value, a.Started, a.Ended = p.Value(), t.Now.Begins(p.Day), 0
			return strings.Trim(t.RewriteZh(c, whens, false), "。 ")
		}
		if p.Subject != a.Slot.Subject || p.Attribute != a.Slot.Attribute || len(whens) != 1 || whens[0].First > 0 && !syntax.EndsWithAny(c.Text[c.Start:c.Toks[whens[0].First].Start], []string{"约的", "定的", "订的", "约在", "定在"}) || !whens[0].Clock || whens[0].ByPart || whens[0].Habit {
			continue
		}
		w := &whens[0]
		rest := c.Text[c.Toks[w.Next-1].End:c.End]
		if more, ok := syntax.CutHead(rest, "，", ","); ok && !syntax.ContainsAny(more, "去", "来", "接", "送", "见", "开", "上课", "吃", "看", "回") {
			rest = "" // 下午两点，别迟到
		}
		switch strings.TrimRight(rest, "。 吧的左右") {
		case "", "开始", "开场", "开演", "开席", "集合", "出发", "入场", "见", "见面", "碰头", "到", "起飞", "发车":
		default:
			return ""
		}
		if p.Clock && p.Minute >= 12*60 && !w.Sure && w.Minute < 12*60 {
			w.Minute += 12 * 60 // in the evening, at half seven
		}
		p.Minute, p.Clock = w.Minute, true
		w.Set(p.Day, 'd')
		whens[0].Clock = true
		a.Slot.Value = p.Value()
		a.Started = w.Unix()
		return strings.Trim(t.RewriteZh(c, whens, false), "。 ")
	}
	return ""
}

// wholeMonth reports whether the sentence names the month that begins on a day, and no day of it.
func wholeMonth(t *discourse.Talk, day int) bool {
	return slices.ContainsFunc(timex.FindWhens(t.Said, t.Now), func(w timex.When) bool { return w.Grain == 'M' && w.Day == day })
}

// Whom puts the previous clauses of an English sentence in front of a clause's plan if the plan
// does not say what it is about: "I've run out of lenses, so I'm ordering new ones tonight".
func Whom(t *discourse.Talk, s syntax.Sentence, from int) {
	for i := from; i < len(t.Out.Candidates); i++ {
		a := &t.Out.Candidates[i]
		if len(a.Spans) != 1 || a.Spans[0].Turn != 0 || a.Spans[0].Start <= s.Start || discourse.PartOf(a) != discourse.Plans {
			continue
		}
		last, open, itself := 0, false, false
		for k := range s.Toks {
			vague := s.At(k) == "it" || s.At(k) == "them" || s.At(k) == "ones"
			if s.Toks[k].End <= a.Spans[0].Start {
				last, itself = k+1, itself || vague
			} else if s.Toks[k].Start < a.Spans[0].End {
				open = open || vague
			}
		}
		for last > 0 && (s.Toks[last-1].Kind == 'p' || syntax.Lead(s.At(last-1))) {
			last--
		}
		if !open || itself || last <= 2 {
			continue
		}
		if head := s.Sub(0, last); !discourse.Conditioned(head) && discourse.Doubt(head) == 0 {
			c, ok := t.Parse(head)
			if !ok {
				c = refuse.Unparsed(t, head)
			}
			if said := strings.TrimSuffix(t.Rewrite(&c), "."); len(said)+len(a.Text) < MaxAmended {
				a.Text, a.Spans[0].Start = said+"; "+a.Text, s.Start
			}
		}
	}
}

// tail returns a clause as a statement of its own, to be put after one that says whom it is about;
// "" if it says nothing, or nothing that is true.
func tail(t *discourse.Talk, c syntax.Sentence, started int64) string {
	own := c
	if c.Chinese() { // 我可能得请假，孩子学校开家长会: only the first is in doubt
		own.Text, own.Start, own.End = c.Raw(), 0, len(c.Raw())
	}
	if discourse.Conditioned(c) || discourse.Doubt(own) > 0 || refuse.Fillers(c) {
		return ""
	}
	if kind, _ := refuse.Junk(t, c); kind != "" {
		return ""
	}
	v := ViewOf(t, c)
	if v.slotted() {
		return ""
	}
	if c.Chinese() {
		raw := strings.Trim(c.Raw(), " ，,。")
		whens := timex.FindWhens(c, t.Now)
		if short := utf8.RuneCountInString(raw) < 4 && !stays(raw) && (len(whens) == 0 || !strings.HasSuffix(raw, "还")); short || strings.ContainsAny(raw, "你您吗呢吧") || strings.Contains(syntax.TrimHeads(raw, "说好", "说定"), "说") || syntax.ContainsAny(raw, "觉得", "写成", "记成", "印成", "填成") {
			return ""
		}
		afterIt(t, whens, started)
		t.LastDay = dayOf(t, started)
		t.OnDayZh(c, whens)
		return strings.Trim(t.RewriteZh(c, whens, false), "。 ")
	}
	if v.content < 2 || v.has(wordsYou) > 0 || v.has(wordsMay) > 0 || v.has(Opinions) > 0 || v.has(wordsSaid) > 0 {
		return ""
	}
	p, ok := t.Parse(c)
	if !ok || discourse.Thirds[v.at(v.start())] || deictics[v.at(v.start())] {
		p = refuse.Unparsed(t, c) // the text before it says whom it means
	}
	if !p.Past {
		afterIt(t, p.Whens, started)
	}
	if first := p.W(0); syntax.Preposition(first) || syntax.Askers[first] {
		return ""
	}
	return t.Rewrite(&p)
}

// stays reports whether a clause only says how long somebody stays: 住三晚.
func stays(x string) bool {
	long := syntax.TrimHeads(x, "住", "待", "呆", "玩", "去")
	return long != x && syntax.TrimHeads(strings.TrimLeft(long, syntax.DigitsZh), "个") != long && syntax.EndsWithAny(long, []string{"晚", "夜", "天", "周", "月", "晚上"})
}

// afterIt moves bare weekdays after what begins at started, in ms since 1970; 0: it has no time.
// "We leave next Tuesday, back on Thursday", 下周二飞深圳，周四回来.
func afterIt(t *discourse.Talk, whens []timex.When, started int64) {
	for i := range whens {
		for w := &whens[i]; w.Weekday && started > 0 && (timex.Moment{Day: w.Day + 1, Minute: 0, Offset: t.Now.Offset}).Unix() <= started; {
			w.Day += 7
		}
	}
}
