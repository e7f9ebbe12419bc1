package rules

import "strings"

// The first and the last day somewhere, the days of each week on which somebody works, and what a house has to do without on a day.

// isDay reports a subject that is a day, before "is the 31st" at the article k: "my last day at Acme".
func isDay(s sentence, k int) bool {
	if d, ok := ordinal(s.at(k + 1)); !ok || d < 4 && s.toks[k+1].kind != 'n' || !endsDay(s.at(k+2)) {
		return false
	}
	if _, rest := contraction(s.at(k - 1)); s.at(k-1) != "is" && s.at(k-1) != "was" && rest != "is" {
		return false
	}
	for i := 0; i < k; i++ {
		w, _ := contraction(s.at(i))
		if _, event := eventNoun(w); event || w == "day" || w == "date" || w == "deadline" || w == "shift" || w == "payday" || w == "completion" || w == "anniversary" {
			return true
		}
	}
	return false
}

// dayAt takes "my last day at Acme is the 31st", "Anna's first shift is on Monday".
func (t *talk) dayAt(c *clause, w *when) bool {
	words := strings.Fields(c.thing)
	if !c.own || len(words) < 2 || c.verb != "be" || c.neg || c.past || c.modal || w == nil || !w.hasDay || w.habit || w.grain != 'd' || w.day < t.now.day {
		return false
	}
	if words[0] != "last" && words[0] != "first" || words[1] != "day" && words[1] != "shift" && words[1] != "week" {
		return false
	}
	t.planAt(c, w)
	return true
}

// turn takes "it's my turn to cook tomorrow".
func (t *talk) turn(c *clause, w *when) bool {
	k := c.find(c.vi+1, 3, "turn")
	if c.thing != "it" || k < 0 || c.w(k+1) != "to" || c.w(c.vi+1) != "my" && c.w(c.vi+1) != "our" || c.past || c.neg || w == nil || !w.hasDay || w.habit {
		return false
	}
	d := *c
	d.kind, d.thing, d.subj, d.vi = 's', "", t.self, k+2
	d.verb, _, _ = lemma(c.w(d.vi))
	made := len(t.out.Candidates)
	t.planAt(&d, w)
	if len(t.out.Candidates) > made {
		t.out.Candidates[made].Text = t.rewrite(c)
	}
	return true
}

// gaveNotice takes "I handed in my notice", "Anna has given notice at work".
func (t *talk) gaveNotice(c *clause, i int) bool {
	switch c.verb {
	case "hand", "give", "put", "submit", "send":
	default:
		return false
	}
	k := c.find(i, 6, "notice")
	if k < 0 {
		k = c.find(i, 6, "resignation")
	}
	if k < 0 || c.neg || !c.past && !c.perfect || c.conditional() || c.firstTime() != nil || c.kind != 's' && c.kind != 'p' {
		return false
	}
	if w := c.w(i); w != "in" && w != "my" && w != "his" && w != "her" && w != "notice" {
		return false // "gave me short notice"
	}
	a := t.base(c, "episodic", "event", 0.75)
	a.EventType, a.Actor, a.Started = "event", c.subj.name, t.toldAt(c.sentence)
	t.out.Candidates = append(t.out.Candidates, a)
	return true
}

// utilities are what there is on most days: what a house has until it is cut off, and where one has to go.
var utilities = set("water power electricity gas heating internet wifi broadband lift elevator school nursery kindergarten daycare")

// outage takes "there's no water on Thursday", "they're turning off the power tomorrow": a day to come
// at the speaker's home.
func (t *talk) outage(s sentence) bool {
	if s.chinese() || s.ends == "?" || len(s.toks) > 16 {
		return false
	}
	c := t.unparsed(s)
	w := c.firstTime()
	if w == nil || !w.hasDay || w.habit || w.grain != 'd' || w.day < t.now.day {
		return false
	}
	i := 1
	none := false
	switch c.w(0) {
	case "there":
		for auxiliary(c.w(i)) || c.w(i) == "be" || c.w(i) == "going" || c.w(i) == "to" || c.w(i) == "is" {
			none = none || c.w(i) == "is" || c.w(i) == "be"
			i++
		}
		none = none && c.w(i) == "no"
	case "they":
		for auxiliary(c.w(i)) || c.w(i) == "going" || c.w(i) == "to" || c.w(i) == "be" {
			i++
		}
		switch c.w(i) {
		case "cut", "cutting", "turn", "turning", "shut", "shutting", "switch", "switching":
			none = c.find(i, len(c.words)-i, "off") > 0
		}
	}
	what := ""
	for k := 0; none && k < len(c.words); k++ {
		switch w := c.w(k); {
		case utilities[w] && k >= i:
			what = w
		case w == "if" || w == "might" || w == "may" || w == "could" || w == "should" || w == "would":
			return false
		}
	}
	if what == "" {
		return false
	}
	p := plan{subject: t.self.key, attribute: "plan: no " + what, what: "plan", label: "no " + what, day: w.day, minute: w.minute, clock: w.clock}
	if a := t.emit(p, t.rewrite(&c), "plan", 0.8, s, false); a != nil {
		a.Ended = closed(s, c.whens, w, t.now, false)
	}
	return true
}

// outagesZh say that a house has to do without, or that something is worked on.
var outagesZh = []string{"停水", "停电", "停气", "停暖", "停热水", "停煤气", "断水", "断电", "断网", "停网", "检修", "消杀", "停课", "施工", "清洗水箱"}

// officesZh are who announces what concerns the speaker, by where they say it.
var officesZh = []string{"物业", "房东", "学校", "幼儿园", "社区", "居委会", "小区", "供电局", "自来水公司", "供水公司", "电力公司", "燃气公司", "通知", "公告", "群里", "班主任", "老师", "医生", "老板", "领导", "单位", "公司", "客服", "快递", "邻居", "师傅"}

// announcedZh is who announces, and what: 物业说周四停水. It is the speaker's where it is of their house
// or names what is appointed.
func announcedZh(x string) (who, inner string) {
	if inner, ok := strings.CutPrefix(x, "他们说"); ok && !strings.Contains(inner, "他") && containsAny(inner, outagesZh...) {
		return "他们", inner
	}
	for _, pre := range [...]string{"我们", "咱们", "我", "楼下", "公司", ""} {
		for _, office := range officesZh {
			rest, ok := strings.CutPrefix(x, pre)
			if ok {
				rest, ok = strings.CutPrefix(rest, office)
			}
			if !ok {
				continue
			}
			for _, says := range [...]string{"发通知说", "通知说", "通知我们", "通知我", "跟我说", "告诉我", "说了", "说", "通知"} {
				inner, said := strings.CutPrefix(rest, says)
				if !said {
					continue
				}
				if _, word := eventInZh(inner); !strings.HasPrefix(inner, "，") && !strings.HasPrefix(inner, "我") && !strings.HasPrefix(inner, "咱") && !strings.ContainsAny(inner, "他她") && (containsAny(inner, outagesZh...) || word != "" || containsAny(inner, "上门安装", "上门维修")) {
					return pre + office, inner
				}
			}
		}
	}
	return "", ""
}

// eachWeek reports the days from one to another on which somebody works, or usually does something: "I work Monday to Friday", 我周一到周五上班.
func (s sentence) eachWeek(first, last *when) bool {
	if !first.weekday || !last.weekday || s.at(first.next) == "or" || s.at(first.next) == "and" || last.first-first.next != 1 && last.first != first.next {
		return false
	}
	if s.chinese() {
		for _, work := range [...]string{"上班", "上课", "上学", "工作", "营业", "开门"} {
			if head, rest, ok := strings.Cut(s.raw(), work); ok {
				return !strings.ContainsAny(head+rest, "上下这本个要会得了没不前")
			}
		}
		return false
	}
	usual := false
	for i := range s.toks {
		switch s.at(i) {
		case "usually", "normally", "always", "generally", "typically":
			usual = true
		case "next", "this", "last", "tomorrow", "will":
			return false
		}
	}
	if usual {
		return true
	}
	for i := 1; i < first.first; i++ {
		switch s.at(i) {
		case "work", "works", "teach", "teaches", "commute", "commutes", "open", "opens":
			before := s.at(i - 1)
			return before == "i" || before == "we" || before == "they" || before == "he" || before == "she" || before == "only" || before == "is" || strings.HasSuffix(before, "'s") || strings.HasSuffix(s.at(i), "s")
		}
	}
	return false
}
