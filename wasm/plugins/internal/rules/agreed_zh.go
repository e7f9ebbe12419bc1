package rules

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Who says 行 to 周六一起去爬山好不好 has agreed on a plan, which is made of the words of the proposal.

// agreementsZh are the first words of those who agree.
var agreementsZh = []string{"行", "行啊", "行呀", "行吧", "行行", "行行行", "好", "好的", "好啊", "好呀", "好嘞", "好吧", "好好", "好好好", "可以", "可以啊", "可以的", "没问题", "成", "中", "得", "嗯", "嗯嗯", "嗯好", "嗯行", "那行", "那好", "一言为定", "说定了", "就这么定了", "没事可以", "OK", "ok", "Ok", "要得", "好哒", "好喔", "好哦"}

// proposalTagsZh are asked after a proposal.
var proposalTagsZh = []string{"行不行", "好不好", "可不可以", "成不成", "可以不", "怎么样", "怎样", "如何", "行吗", "好吗", "可以吗", "成吗", "方便吗", "行不", "好不", "好么", "行么", "ok吗", "OK吗", "吧"}

// agreesZh takes a proposal for a day, in the turn before, to which a turn says yes.
func (t *talk) agreesZh(s sentence) bool {
	b := t.justSaid()
	if b == nil || s.ends == "？" || s.ends == "?" || t.rejoined || strings.TrimSpace(s.text[:s.start]) != "" {
		return false
	}
	yes, rest := cutCommaZh(strings.ReplaceAll(s.raw(), " ", "，"))
	if !slices.Contains(agreementsZh, yes) || containsAny(rest, "但", "不过", "不", "没", "改", "先", "等", "再") || slices.ContainsFunc(sentences(rest), func(o sentence) bool {
		return slices.ContainsFunc(timesIn(o, t.now), func(w when) bool { return w.clock })
	}) {
		return false
	}
	all := sentences(b.Text)
	if len(all) == 0 {
		return false
	}
	q := all[len(all)-1]
	x := strings.TrimRight(q.raw(), "？?。！!啊呀呢哈 ")
	said := x
	for _, tag := range proposalTagsZh {
		if r, ok := strings.CutSuffix(said, tag); ok {
			said = strings.TrimRight(r, "，, ")
			break
		}
	}
	if asks := q.ends == "？" || q.ends == "?"; said == x && !(asks && strings.HasSuffix(said, "见")) && !strings.HasPrefix(x, "那") {
		return false
	}
	for i := strings.LastIndexAny(said, "，,"); i >= 0; i = strings.LastIndexAny(said, "，,") {
		_, comma := utf8.DecodeRuneInString(said[i:])
		last := said[i+comma:]
		if w := t.dayIn(last); w == nil {
			break
		}
		said = last // 明天不行，后天吧
	}
	said = trimHeads(stripLeadZh(said), "那就", "那么", "那", "要不", "就")
	w := t.dayIn(said)
	if w == nil || w.day < t.now.day || askersIn(said) || containsAny(said, "不", "没", "别", "他", "她", "了", "你们") {
		return false
	}
	from := len(t.out.Candidates)
	said = swapZh.Replace(said)
	if first, _ := cutHead(said, "我们", "咱们", "咱"); strings.ContainsAny(first, "我你") {
		if !strings.Contains(first, "我") && containsAny(first, "帮你", "给你", "替你", "陪你", "接你", "来你", "去你") {
			said = "我" + said
		}
		t.rejoined = true
		for _, one := range sentences(said + "。") {
			t.sentence(one)
		}
		t.rejoined = false
		if len(t.out.Candidates) == from {
			return false
		}
		if other := speakerOf(t.ev, b.Speaker); !strings.Contains(strings.SplitN(said, "你", 2)[0], "我") { // 我周六去接你好吗: the other does it
			for i := from; i < len(t.out.Candidates); i++ {
				if a := &t.out.Candidates[i]; a.Slot != nil && a.Slot.Subject == t.self.key {
					a.Slot.Subject, a.Actor = other.key, other.name
				}
			}
		}
	} else if t.part == Plans {
		t.agreedOnZh(sentences(first)[0], w, s, speakerOf(t.ev, b.Speaker))
	}
	t.citesBoth(from, s, 0, len(b.Text))
	for i := from; i < len(t.out.Candidates); i++ {
		t.out.Candidates[i].Confidence = min(t.out.Candidates[i].Confidence, answeredSure)
	}
	return true
}

// dayIn is the one day that a text names; nil: it names none, or more.
func (t *talk) dayIn(text string) *when {
	all := sentences(text)
	if len(all) != 1 {
		return nil
	}
	whens := findWhens(all[0], t.now)
	sameDay(all[0], whens)
	if len(whens) == 0 || !whens[0].hasDay || whens[0].habit || slices.ContainsFunc(whens[1:], func(w when) bool { return w.hasDay && w.day != whens[0].day }) {
		return nil
	}
	w := whens[len(whens)-1]
	return &w
}

// agreedOnZh proposes what the two who speak will do together, in the words of s.
func (t *talk) agreedOnZh(proposed sentence, w *when, s sentence, other person) {
	b := t.bare(proposed)
	what := trimZh(b.text)
	p := plan{subject: t.self.key, attribute: "计划：" + what, what: "plan", label: what, day: w.day, minute: w.minute, clock: w.clock, chinese: true}
	if other.key == "user" {
		p.subject = other.key
	}
	if attr, word := eventInZh(what); attr != "" {
		p.attribute, p.what = attr, word
	}
	if what == "" {
		p.attribute = "计划：和" + other.name + "约"
	}
	whens := findWhens(proposed, t.now)
	sameDay(proposed, whens)
	t.emit(p, t.self.name+"和"+other.name+"约好"+t.rewriteZh(proposed, whens, false), "plan", answeredSure, s, false)
}

// proposedZh reports 那 before the day of a clause that names nobody, and proposes what to do then: 那周日去打球.
func proposedZh(raw string, w *when) bool {
	return strings.HasPrefix(raw, "那") && !strings.Contains(raw, "我") && w.first <= 2
}

// bidsZh reports what the other is asked to bring or send the speaker: 明天上班带给我.
func (t *talk) bidsZh(x string) bool {
	for _, to := range [...]string{"带给我", "拿给我", "发给我", "还给我", "寄给我", "交给我", "转给我", "发我", "转我", "还我", "递给我"} {
		if head, ok := strings.CutSuffix(trimZhEnd(x), to); ok {
			return utf8.RuneCountInString(head) <= 3 && kinPrefixZh(head) == "" && !strings.ContainsAny(head, "他她") && (!t.topic.known || t.topic.person.key == t.self.key) && !t.topic.unclear
		}
	}
	return false
}
