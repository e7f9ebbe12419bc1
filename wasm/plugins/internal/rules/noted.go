package rules

import (
	"strings"
	"unicode/utf8"
)

// A noted memory is what no rule takes and what somebody would still want to find:
// it has the speaker's own words with its subject in them and its dates worked out,
// no slot, and half of a rule's confidence at most, so that it replaces nothing and
// yields to everything. The whole sentence is kept; worth.go says which.

// What a sentence needs to be noted, as a likelihood, and how sure a noted memory is.
const (
	worthNoting = 0.85
	worthZhSaid = 0.8  // of a Chinese sentence
	worthPerson = 0.65 // where another person is its subject
	worthAlone  = 0.88 // of a Chinese sentence that names nobody
	worthDeedZh = 0.6  // of a Chinese sentence that tells what the speaker did
	notedSure   = 0.45
	eventSure   = 0.65 // of what took place at no time that is said
)

// note proposes a sentence that is worth keeping and of which no rule makes anything.
func (t *talk) note(s sentence) bool {
	if s = t.uncalled(s); hollow(s) || s.ends == "?" || s.ends == "？" || len(s.toks) > 60 || len(s.toks) < 4 || conditioned(s) || orders(s) || idiomatic(s) {
		return false
	}
	if s.chinese() {
		return t.noteZh(s)
	}
	if t.hangs(s) {
		return false
	}
	if strings.ContainsAny(s.raw(), `"“”`) || reasons[s.at(0)] && s.at(1) != "of" {
		return false
	}
	for _, part := range clauses(s) {
		if quotes(s, part) {
			return false
		}
	}
	for i := range s.toks {
		if s.at(i) == "whoever" || s.at(i) == "whatever" {
			return false // of whom?
		}
	}
	if what, is := contraction(s.at(0)); meal(what) && is == "is" && placing(s.at(1)) {
		return false // "soup's on the hob, dig in": soon it is nowhere
	}
	v := t.view(s)
	if v.slotted() || v.general() {
		return false
	}
	ofFirm := v.ofEmployer()
	likely := worthOf(v, worthEn)
	lasts := v.lasts(t.now)
	if likely < worthPerson && !lasts {
		return false
	}
	t.noting = true
	defer func() { t.noting = false }()
	c, ok := t.parse(s)
	lasts = lasts && ok && c.state()
	if likely < worthNoting && !lasts && (likely < worthPerson || !ok || c.kind != 'p') {
		return false
	}
	if ok && (c.unreal() || c.past && c.future || c.movedOn(t.plain) || c.neg && unheard[c.verb] || c.callsBack(c.firstTime(), t.now) || t.leavesOpen(&c) || c.thing == "they" && t.justSaid() != nil && !t.namesThing(&c)) {
		return false
	}
	if ok && (c.kind == 't' && !c.own && !lasts && (v.content < 3 || c.thing == "it" || c.thing == "that" || c.thing == "this") || c.elided() || c.almost() || c.offers() || c.dangling() || t.nowhere(&c)) {
		return false
	}
	if !ok {
		c = t.unparsed(s)
		if w := c.w(0); w == "" || w == "his" || w == "her" || w == "their" || w == "its" || owners[w] || subjectPronoun(w) && w != "i" && w != "we" && w != "they" || deictics[w] || preposition(w) || wheres[w] || !v.states(w) {
			return false // of whom?
		}
	}
	past := c.past || c.perfect || !ok && v.any(func(i int) bool {
		_, past, _ := lemma(v.words[i])
		fitted := pastForm(v.words[i]) && i > 0 && determiner(v.at(i+1)) && !determiner(v.at(i-1)) // "the plumber fitted a tap"
		return (past || fitted) && !auxiliary(v.words[i]) && !v.state(i)
	}) > 0
	past = past && !c.perPeriod()
	if w := c.firstTime(); ofFirm && !past && !v.ahead || w != nil && w.hasDay && w.grain == 'd' && w.last == 0 && !past && w.day < t.now.day && c.verb == "be" {
		return false // "bins are on Wednesday this week", on a Friday
	}
	t.noteClause(&c, s, past, v.ahead, notedSure)
	return true
}

// noteClause proposes a clause of a sentence as a noted memory.
func (t *talk) noteClause(c *clause, s sentence, past, ahead bool, sure float64) {
	w := c.firstTime()
	happened := past && !c.usedTo && !ahead
	if w != nil {
		if in := c.innerOf(w); in.toCome && in.denied {
			w = nil // "said the wedding isn't on Monday"
		}
	}
	to := c.movedTo(t.now)
	if to != nil {
		w = to
	}
	typ := "semantic"
	if c.episode(w, happened, ahead) {
		typ = "episodic"
	}
	a := t.base(c, typ, "noted", sure)
	if typ == "episodic" {
		a.EventType, a.Actor = "noted", c.subj.name
		switch {
		case w != nil && w.hasDay:
			if happened && to == nil {
				c.pastTime(w, t.now)
				c.past = true
				a.Text = t.rewrite(c)
			}
			a.Started = moment{w.day, 0, t.now.offset}.unix()
			if w.clock {
				a.Started = w.unix()
			}
			a.Ended = closed(s, c.whens, w, t.now, happened && to == nil)
			if c.until(w) && !happened {
				a.Started, a.Ended = t.ev.At, w.ends()
			}
		case happened && !c.conditional() && !c.longAgo():
			a.Started = t.toldAt(s)
		}
	}
	t.out.Candidates = append(t.out.Candidates, a)
}

// perPeriod reports whether a clause says how much a month something is, with a verb that may be of
// the present: "we put 300 euros a month aside".
func (c *clause) perPeriod() bool {
	if c.w(c.vi) != c.verb || pastForm(c.verb) {
		return false
	}
	for i := c.vi; i < len(c.words); i++ {
		if w := c.w(i + 1); c.w(i) == "a" && (w == "month" || w == "week" || w == "year" || w == "day") {
			return true
		}
	}
	return false
}

// unheard verbs tell nothing when they are denied: "I've never heard of it".
var unheard = set("hear see think know feel understand believe mean care mind notice realise realize")

// states reports whether a sentence that begins with a word says something of
// somebody or something: it has a verb after what can be a subject.
func (v *view) states(first string) bool {
	if _, _, ing := lemma(first); ing || commands[first] || askers[first] || hosts[first] && !determiner(first) {
		return false
	}
	return v.any(func(i int) bool { return i > v.start() && (verbish(v.words[i]) || pastForm(v.words[i])) }) > 0
}

// slotted reports whether a sentence says where somebody lives or works. A rule
// that takes it gives it a slot, so that the next such line replaces it; noted, it
// would stay.
func (v *view) slotted() bool {
	if containsAny(v.raw, "住在", "搬到", "搬去", "上班", "就职", "定居") {
		return true
	}
	return v.any(func(i int) bool {
		switch v.words[i] {
		case "live", "lives", "living", "based", "reside", "resides", "settled", "relocated":
			return v.at(i+1) == "in" || v.at(i+1) == "at" || v.at(i+1) == "to"
		case "work", "works", "working":
			return v.at(i+1) == "at" || v.at(i+1) == "for"
		}
		return false
	}) > 0
}

// conditioned reports what is only so if something else is.
func conditioned(s sentence) bool {
	for i := range s.toks {
		switch s.at(i) {
		case "if", "unless", "如", "whether":
			return true
		}
	}
	return false
}

// unparsed is a sentence whose subject or verb no rule finds, as a clause: after
// its lead words.
func (t *talk) unparsed(s sentence) clause {
	c := clause{sentence: s, whens: findWhens(s, t.now), kind: 't'}
	sameDay(s, c.whens)
	c.words = t.wordsOf(&c)
	for len(c.words) > 1 && (c.opens(0) || c.w(0) == "," || c.phraseLead(0) > 0) {
		c.words = c.words[max(1, c.phraseLead(0)):]
	}
	c.subj = t.self
	if c.w(0) == "i" {
		c.kind = 's'
		c.predicate(1)
	}
	return c
}

// counts reports a number in words that is more than one.
func counts(w string) bool {
	n, ok := number(w)
	return ok && n > 1
}

// feelings say how somebody is just now, or what they hold of a thing.
var feelings = set("happy glad sad sorry sure afraid excited tired proud grateful thankful fine good great nice ok okay well lucky ready busy hungry thirsty cold hot late early back here there so " +
	"such really very just not amazing awesome lovely interested curious impressed honored honoured blessed pleased hopeful stoked pumped psyched keen right wrong able going trying looking feeling " +
	"thinking wondering hoping kidding joking serious crazy stuck bored lost confused worried nervous scared jealous true done all always quite pretty super too still only also important special cool fun hard tough")

// abstract nouns are what one speaks of without telling anything.
var abstract = set("passion passions journey support dream dreams impact balance effort efforts energy life world future progress challenge challenges inspiration motivation way ways time times " +
	"fun blast point thing things stuff lot bit kind part sense idea ideas difference feeling feelings moment moments experience experiences goal goals self others people everyone someone")

// calledOffZh reports that something is changed before it comes: 周一的理疗取消了, 周六的班跟阿美换了.
func calledOffZh(x string) bool {
	return containsAny(x, "取消", "改期", "会不开了") || containsAny(x, "的班", "的课") && containsAny(x, "换了", "调了", "换给")
}

// deedZh reports what 我 did or has done: no thought, no feeling, nothing denied.
func deedZh(x string) bool {
	return strings.HasPrefix(x, "我") && toldZh(x) && !containsAny(x, "不", "没", "忘", "知道", "记得", "记错", "明白", "懂", "喜欢", "累", "困", "饿", "饱")
}

// billZh reports what has to be paid for a home, a car, a school or a card: 这个月信用卡要还六千八.
func billZh(x string) bool {
	return containsAny(x, "信用卡", "花呗", "房贷", "车贷", "房租", "租金", "学费", "物业费", "暖气费", "电费", "水费", "燃气费", "停车费", "保险", "月供") && containsAny(x, "要还", "要交", "要付", "得还", "得交", "得付", "交了", "还了", "付了", "扣", "一个月", "每月", "一年")
}

// noteZh does the same of a Chinese sentence: the whole of it is kept.
func (t *talk) noteZh(s sentence) bool {
	raw := strings.Trim(s.raw(), " ，,。！!")
	n := utf8.RuneCountInString(raw)
	b := t.bare(s)
	milestone := milestoneZh(b.text)
	if n < 6 && !milestone || n > 60 || t.topic.unclear && !t.topic.thing || headlessZh(b.text) || unmeantZh(raw) || jokeZh(t.said.raw()) || undecidedZh(raw) || containsAny(raw, moodsZh[:]...) && !milestone {
		return false
	}
	alone := compoundsZh.Replace(raw)
	for _, no := range [...]string{"你", "您", "如果", "要是", "吗", "呢", "吧", "差点", "什么", "怎么", "谁", "哪", "觉得", "以为", "希望", "但愿", "想想", "看看", "这样", "那样", "多少钱", "可能", "大概", "也许", "估计", "听说", "据说", "本来想", "本来应该", "本该", "早该", "本想", "原本想", "发誓", "打赌", "简直", "他们", "她们",
		"“", "\"", "朋友的朋友", "不想", "天气", "谢谢", "好的", "不错", "哈哈", "说", "讲", "别", "请", "帮我", "等我"} {
		if strings.Contains(alone, no) && (no != "请" || !milestone) {
			return false
		}
	}
	if startsWithAny(b.text, []string{"我那是", "我这是"}) || containsAny(b.text, "这只不", "那只不", "这个不", "那个不", "这只会", "那只会", "这条不", "那条不") {
		return false // which?
	}
	who, nobody := t.self, false
	switch x := b.text; {
	case strings.HasPrefix(x, "我"):
		if t.topic.known && t.topic.person.key != t.self.key {
			who = t.topic.person
		}
	case strings.HasPrefix(x, "他") || strings.HasPrefix(x, "她") || strings.HasPrefix(x, "它") || strings.HasPrefix(x, "这") || strings.HasPrefix(x, "那"):
		return false
	case (t.topic.known || t.topic.thing) && t.topic.person.key != t.self.key:
		who = t.topic.person
	case strings.Contains(raw, "我"):
	default:
		nobody = true // 水管工周四上午来: the sentence says itself who
	}
	if v := t.view(s); v.slotted() {
		return false
	} else if likely := worthOf(v, worthZh); !milestone && !(amountZh(raw) && (t.rejoined || billZh(raw))) && (nobody && likely < worthAlone || likely < worthZhSaid && (likely < worthDeedZh || nobody || !deedZh(b.text)) && (likely < worthPerson || nobody || who.key == t.self.key)) {
		return false
	}
	kind, sure := "noted", notedSure
	if milestone {
		kind, sure = "event", eventSure
	}
	a := t.baseZh(&b, "semantic", kind, who, sure)
	if a.Text = t.rewriteZh(s, b.whens, false); !nobody && !strings.Contains(a.Text, t.self.name) {
		a.Text = named(a.Text, who.name)
	}
	moved := containsAny(b.text, movesZh...)
	for i := range b.whens {
		if moved && i+1 < len(b.whens) {
			continue // 从周六改到周日: it is on Sunday
		}
		if w := &b.whens[i]; w.hasDay && !w.habit && !b.denies(w) && !(t.thisYear(w) && i+1 == len(b.whens)) {
			past := w.day <= t.now.day || w.weekday && !calledOffZh(b.text) && (completedZh(b.text) && !strings.Contains(b.text, "不") || containsAny(b.text, "买的", "放的", "收的", "拍的", "寄的", "借的")) || w.weekday && (undoneZh(b.text) || feltZh(b.text))
			a.Type, a.EventType, a.Actor = "episodic", kind, who.name
			if a.Text = t.rewriteZh(s, b.whens, past); !nobody && !strings.Contains(a.Text, t.self.name) {
				a.Text = named(a.Text, who.name)
			}
			if a.Started = w.unix(); !w.clock {
				a.Started = moment{w.day, 0, t.now.offset}.unix()
			}
			break
		}
	}
	if a.Type == "semantic" && (milestone || strings.Contains(b.text, "了") && deedZh(b.text) || strings.HasSuffix(raw, "了") && !strings.Contains(raw, "要") || strings.Contains(raw, "刚")) {
		a.Type, a.EventType, a.Actor, a.Started = "episodic", kind, who.name, t.toldAt(s)
		if strings.Contains(b.text, "过") && !strings.Contains(b.text, "了") && !strings.Contains(b.text, "刚") {
			a.Started = 0 // 我做过手术: some day
		}
	}
	if a.Type == "semantic" && (&view{raw: raw}).ofEmployer() {
		return false
	}
	t.out.Candidates = append(t.out.Candidates, a)
	return true
}
