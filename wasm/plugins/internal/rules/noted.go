package rules

import (
	"strings"
	"unicode/utf8"
)

// A noted memory is what no rule takes and what somebody would still want to find:
// it has the speaker's own words with its subject in them and its dates worked out,
// no slot, and half of a rule's confidence at most, so that it replaces nothing and
// yields to everything. What is worth noting is told by a sum of marks that anybody
// can read: whose it is, when, names, numbers, and what kind of verb.

// What a clause needs to be noted, and how sure a noted memory is.
const (
	worthNoting = 1.6
	notedSure   = 0.45
)

// note proposes the clause of a sentence that is most worth keeping.
func (t *talk) note(s sentence) bool {
	if s.ends == "?" || s.ends == "？" || len(s.toks) > 60 {
		return false
	}
	if s.chinese() {
		return t.noteZh(s)
	}
	t.noting = true
	defer func() { t.noting = false }()
	var best *clause
	most := worthNoting
	for _, part := range t.timed(clauses(s), s) {
		if quotes(s, part) {
			continue
		}
		c, ok := t.parse(part)
		if !ok {
			continue
		}
		if worth := t.worth(&c); worth >= most {
			best, most = &c, worth
		}
	}
	if best == nil {
		return false
	}
	w := best.firstTime()
	happened := (best.past || best.perfect && w != nil) && !best.usedTo
	ahead := w != nil && w.hasDay && w.unix() > t.ev.At || best.future
	typ := "semantic"
	if happened || ahead {
		typ = "episodic"
	}
	a := t.base(best, typ, "noted", notedSure)
	if typ == "episodic" {
		a.EventType, a.Actor = "noted", best.subj.name
		switch {
		case w != nil && w.hasDay:
			if happened {
				w.past(t.now)
				a.Text = t.rewrite(best)
			}
			a.Started = moment{w.day, 0, t.now.offset}.unix()
			if w.clock {
				a.Started = w.unix()
			}
		case happened && !best.conditional():
			a.Started = t.ev.At
		}
	}
	t.out.Candidates = append(t.out.Candidates, a)
	return true
}

// worth adds up what speaks for keeping a clause and what speaks against it.
func (t *talk) worth(c *clause) float64 {
	if len(c.words)-c.vi < 2 || c.elided() || c.almost() || c.conditional() || c.modal || c.unresolved(false) {
		return 0
	}
	sum := 0.0
	switch {
	case c.kind == 's', c.kind == 'w':
		sum += 1
	case c.kind == 'p':
		sum += 1.3
	case c.kind == 't' && c.own:
		sum += 1.1
	default:
		return 0
	}
	switch c.verb {
	case "think", "feel", "mean", "guess", "know", "believe", "wonder", "agree", "appreciate", "bet", "hope", "wish", "doubt", "suppose", "say", "seem", "sound", "love", "like",
		"want", "hear", "see", "look", "understand", "get", "let", "try", "thank", "care", "need", "enjoy", "tell", "ask", "remember", "forget", "imagine", "mind",
		"keep", "continue", "stay", "push", "mean to", "show", "deserve", "matter", "support", "have", "take", "make", "put", "tend", "reflect", "focus", "help":
		sum -= 1.2
	case "be":
		sum -= 0.8
		if feeling(c.w(c.vi+1)) || feeling(c.w(c.vi+2)) {
			return 0
		}
	}
	if c.past || c.perfect {
		sum += 0.5
	}
	if c.future || c.must || c.intend {
		sum += 0.2
	}
	for i := range c.whens {
		if w := &c.whens[i]; w.hasDay || w.habit || w.since {
			sum += 0.9
			break
		}
	}
	names, numbers, content := 0, 0, 0
	for i := c.vi + 1; i < len(c.words); i++ {
		w := c.w(i)
		tok := c.toks[c.words[i].tok]
		switch {
		case tok.kind == 'n' || counts(w):
			numbers++
		case tok.cap && nameWord(w) && w != "i":
			names++
		case w == "you" || w == "your" || w == "that" && i == c.vi+1 || w == "it" || w == "this" || w == "there" || w == "them" || w == "something" || w == "everything" || w == "stuff":
			sum -= 0.5
		case abstract[w]:
			sum -= 0.5
		case kin(strings.TrimSuffix(w, "s")):
			sum += 0.4
			content++
		case utf8.RuneCountInString(w) > 3 && !function(w) && !preposition(w) && !adverb(w) && !auxiliary(w) && !determiner(w):
			content++
		}
	}
	sum += 0.5*float64(min(names, 2)) + 0.5*float64(min(numbers, 1)) + 0.2*float64(min(content, 5))
	if content+names+numbers < 2 {
		sum -= 1
	}
	return sum - 3*doubt(c.sentence)
}

// counts reports a number in words that is more than one.
func counts(w string) bool {
	n, ok := number(w)
	return ok && n > 1
}

// feeling words say how somebody is just now, or what they hold of a thing.
func feeling(s string) bool {
	return feelings[s]
}

var feelings = set("happy glad sad sorry sure afraid excited tired proud grateful thankful fine good great nice ok okay well lucky ready busy hungry thirsty cold hot late early back here there so " +
	"such really very just not amazing awesome lovely interested curious impressed honored honoured blessed pleased hopeful stoked pumped psyched keen right wrong able going trying looking feeling " +
	"thinking wondering hoping kidding joking serious crazy stuck bored lost confused worried nervous scared jealous true done all always quite pretty super too still only also important special cool fun hard tough")

// abstract nouns are what one speaks of without telling anything.
var abstract = set("passion passions journey support dream dreams impact balance effort efforts energy life world future progress challenge challenges inspiration motivation way ways time times " +
	"fun blast point thing things stuff lot bit kind part sense idea ideas difference feeling feelings moment moments experience experiences goal goals self others people everyone someone")

// noteZh does the same of a Chinese sentence: the whole of it is kept.
func (t *talk) noteZh(s sentence) bool {
	raw := strings.Trim(s.raw(), " ，,。！!")
	n := utf8.RuneCountInString(raw)
	if n < 6 || n > 60 || t.topic.unclear {
		return false
	}
	for _, no := range [...]string{"你", "您", "如果", "要是", "吗", "呢", "吧", "差点", "什么", "怎么", "谁", "哪", "觉得", "以为", "希望", "但愿", "想想", "看看", "这样", "那样", "可能", "大概", "也许", "估计", "听说", "据说", "他们", "她们",
		"“", "\"", "天气", "谢谢", "好的", "不错", "哈哈", "说", "讲", "别", "请", "帮我"} {
		if strings.Contains(raw, no) {
			return false
		}
	}
	sum := 0.0
	who := t.self
	b := t.bare(s)
	switch x := b.text; {
	case strings.HasPrefix(x, "我"):
		sum += 1.2
		if t.topic.known && t.topic.person.key != t.self.key {
			who = t.topic.person
		}
	case strings.HasPrefix(x, "他") || strings.HasPrefix(x, "她") || strings.HasPrefix(x, "它") || strings.HasPrefix(x, "这") || strings.HasPrefix(x, "那"):
		return false
	case t.topic.known && t.topic.person.key != t.self.key:
		sum += 1.2
		who = t.topic.person
	case strings.Contains(raw, "我"):
		sum += 0.8
	default:
		return false
	}
	timed := false
	for i := range b.whens {
		timed = timed || b.whens[i].hasDay || b.whens[i].habit
	}
	if timed {
		sum += 0.9
	}
	for _, mark := range [...]struct {
		words string
		worth float64
	}{{"了 过 刚 已经", 0.6}, {"在 从 到 给 把 跟 和", 0.4}, {"喜欢 讨厌 习惯 一直 每 总是 从来", 0.6}, {"公司 医院 学校 孩子 儿子 女儿 爸 妈 姐 妹 哥 弟 老公 老婆 朋友 同事 老板 医生 老师 房 车 工作 项目 考 病 药 钱 块 万 公里 岁 年 月 天 小时", 0.6},
		{"想 高兴 开心 难过 累 困 饿 烦 无聊 真 好 太 挺", -0.5}} {
		for w := range strings.FieldsSeq(mark.words) {
			if strings.Contains(raw, w) {
				sum += mark.worth
				break
			}
		}
	}
	sum += 0.05 * float64(min(n, 20))
	for _, tok := range s.toks {
		if tok.kind == 'n' {
			sum += 0.4
			break
		}
	}
	if sum < worthNoting+0.2 {
		return false
	}
	a := t.baseZh(&b, "semantic", "noted", who, notedSure)
	if a.Text = t.rewriteZh(s, b.whens, false); !strings.Contains(a.Text, t.self.name) {
		a.Text = named(a.Text, who.name)
	}
	for i := range b.whens {
		if w := &b.whens[i]; w.hasDay && !w.habit {
			past := w.day <= t.now.day
			a.Type, a.EventType, a.Actor = "episodic", "noted", who.name
			if a.Text = t.rewriteZh(s, b.whens, past); !strings.Contains(a.Text, t.self.name) {
				a.Text = named(a.Text, who.name)
			}
			a.Started = moment{w.day, 0, t.now.offset}.unix()
			break
		}
	}
	if a.Type == "semantic" && (strings.HasSuffix(raw, "了") && !strings.Contains(raw, "要") || strings.Contains(raw, "刚")) {
		a.Type, a.EventType, a.Actor, a.Started = "episodic", "noted", who.name, t.ev.At
	}
	t.out.Candidates = append(t.out.Candidates, a)
	return true
}
