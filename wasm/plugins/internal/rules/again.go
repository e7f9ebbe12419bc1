package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// What is so again: a medicine, a diet or a habit that somebody takes up after it ended, and what
// somebody "used to" do and still does.

// resumes makes of "I started taking metformin", "I'm back on metformin", "I went back to eating
// meat" a clause of what is so now, and proposes what no other rule would of "I took up tennis
// again". It reports whether it proposed something.
func (t *talk) resumes(c *clause) bool {
	if c.neg || c.modal || c.future || c.usedTo || c.intend || c.must || c.can || c.maybe || c.ends == "?" || c.conditional() {
		return false
	}
	i := c.vi + 1
	for k := i; k < len(c.words); k++ {
		c.again = c.again || c.w(k) == "again" && (k+1 == len(c.words) || c.w(k+1) == ",")
	}
	switch c.verb {
	case "start", "begin", "resume", "restart":
		if resumed, _, ing := lemma(c.w(i)); ing && ingested[resumed] && (c.past || c.perfect) {
			c.nowDoes(t, resumed, i)
		}
	case "be":
		if c.w(i) == "back" && c.w(i+1) == "on" && (medicineNamed(o2(c, i+2)) || foregone(o2(c, i+2)) && !c.past) {
			c.nowDoes(t, "be", i)
			if !medicineNamed(o2(c, i+1)) {
				c.nowDoes(t, map[bool]string{true: "drink", false: "eat"}[drunk(o2(c, i+2))], i+1)
			}
		}
	case "go":
		if c.w(i) != "back" || c.w(i+1) != "to" || !c.past && !c.perfect {
			break
		}
		switch l, _, ing := lemma(c.w(i + 2)); {
		case c.w(i+2) == "being":
			c.nowDoes(t, "be", i+2)
		case ing && ingested[l]:
			c.nowDoes(t, l, i+2)
		case medicineNamed(o2(c, i+2)):
			c.nowDoes(t, "take", i+1)
		}
	case "put":
		return t.putOn(c, i)
	case "take", "pick":
		return t.tookUp(c, i)
	}
	return (c.again || c.back) && t.nowAgain(c)
}

// putOn takes "the doctor put me back on metformin".
func (t *talk) putOn(c *clause, i int) bool {
	k := i + 1
	if c.w(k) == "back" {
		k++
	}
	if c.w(i) != "me" || c.kind == 's' || !c.past && !c.perfect || c.w(k) != "on" || !medicineNamed(first(c.medicine(k+1))) {
		return false
	}
	d := *c
	d.subj, d.kind = t.self, 's'
	d.nowDoes(t, "take", k)
	return t.takes(&d, k+1)
}

// tookUp takes "I took up tennis again".
func (t *talk) tookUp(c *clause, i int) bool {
	k := i
	if c.w(i) == "up" {
		k++
	}
	o := strings.TrimSuffix(strings.TrimSuffix(o2(c, k), " back"), " up")
	if !c.again || k == i && c.find(i, 4, "up") < 0 || !c.past && !c.perfect || o == "" || vague(o) || determiner(c.w(k)) || c.kind != 's' && c.kind != 'p' {
		return false
	}
	t.ended(c, c.subj, "habit", "not_plays", cutTail(o), true)
	d := *c
	d.past, d.perfect = false, false
	return t.fact(&d, "habit", "does", cutTail(o), true, 0.75) != nil
}

// nowAgain proposes what a clause says is so again.
func (t *talk) nowAgain(c *clause) bool {
	if c.past || c.perfect || c.kind != 's' && c.kind != 'p' {
		return false
	}
	o, _ := c.object(c.vi + 1)
	switch c.verb {
	case "eat", "drink":
		if o == "" || vague(o) || mealtime(o) {
			break
		}
		if o == "meat" {
			t.eatsMeat(c)
		} else {
			t.ended(c, c.subj, "diet", "avoids", o, true)
		}
		d := *c
		d.ing = false
		return t.fact(&d, "diet", c.verb+"s", o, true, 0.8) != nil
	case "smoke":
		t.ended(c, c.subj, "diet", "avoids", "smoking", true)
		return t.fact(c, "diet", "smokes", "smoking", true, 0.8) != nil
	default:
		if doing := t.again(c); doing != "" {
			return t.fact(c, "habit", "does", doing, true, 0.75) != nil
		}
	}
	return false
}

// again is what somebody does of late once more, in its "-ing" form: "running" of "I'm running again".
func (t *talk) again(c *clause) string {
	if w := c.w(c.vi); c.ing && strings.HasSuffix(w, "ing") && c.w(c.vi+1) == "again" && c.routineOf(c.verb, c.vi+1) == c.verb && c.firstTime() == nil {
		return w
	}
	return ""
}

// ingested are verbs whose rules read what somebody takes as a matter of course.
var ingested = set("take eat drink smoke play learn")

// drunk reports what one drinks, of what one can be off.
func drunk(s string) bool { return drinks[last(strings.ToLower(s))] }

var drinks = set("caffeine alcohol coffee milk beer wine soda")

// nowDoes makes of a clause that tells of a beginning what is so since. Its times are past.
func (c *clause) nowDoes(t *talk, verb string, at int) {
	for i := range c.whens {
		if w := &c.whens[i]; w.hasDay && !w.habit && (c.past || c.perfect) {
			w.past(t.now)
		}
	}
	c.verb, c.vi, c.past, c.perfect, c.ing, c.back = verb, at, false, false, false, true
}

// againZh makes of 我又开始吃素了 the clause 我吃素, so that the rules for what is so read it.
func againZh(x string) (string, bool) {
	end := trimZhEnd(x)
	for _, k := range [...]string{"又重新开始", "重新开始", "又开始", "又"} {
		who, what, ok := strings.Cut(end, k)
		if !ok || who != "" && !endsWithAny(who, []string{"我", "现在", "他", "她", "已经", "最近"}) && !personZh(who) && kinPrefixZh(strings.TrimPrefix(who, "我")) == "" {
			continue
		}
		return strings.TrimSuffix(who, "现在") + strings.TrimSuffix(what, "了"), true
	}
	return x, false
}

// resumedZh takes 我又开始吃二甲双胍了, 我又抽烟了, 我又跑步了: what is so again.
func (t *talk) resumedZh(b *bareZh) bool {
	x, again := againZh(b.text)
	if !again || strings.ContainsAny(x, "没不吗想要") {
		return false
	}
	own, ok := ownZh(x)
	if own = strings.TrimPrefix(own, "在"); !ok || !strings.HasPrefix(x, "我") {
		return false
	}
	n := len(t.out.Candidates)
	switch {
	case smokingZh[own]:
		t.endedZh(b, "diet", "avoids", "烟", true)
		t.factZh(b, t.self, "diet", "smokes", own, true, false, 0.8)
	case own == "吃素" || own == "吃全素":
		t.factZh(b, t.self, "diet", "diet", own, false, false, 0.85)
		t.endedZh(b, "diet", "eats", "肉", true)
	case (strings.HasPrefix(own, "吃") || strings.HasPrefix(own, "服用") || strings.HasPrefix(own, "打")) && drugZh(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(own, "吃"), "服用"), "打")):
		t.factZh(b, t.self, "health", medication, strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(own, "吃"), "服用"), "打"), true, false, 0.85)
		t.out.Candidates[len(t.out.Candidates)-1].Sensitivity = "private"
	case strings.HasPrefix(own, "吃") || strings.HasPrefix(own, "喝"):
		food := own[len("吃"):]
		if food == "" || vagueZh(food) || strings.ContainsAny(food, "了过完到多少饱醉撑坏错") || strings.Contains(food, "饭") || len([]rune(food)) > 4 {
			return false
		}
		if food == "肉" {
			t.endedZh(b, "diet", "diet", "吃素", false)
		}
		t.endedZh(b, "diet", "avoids", food, true)
		t.factZh(b, t.self, "diet", map[string]string{"吃": "eats", "喝": "drinks"}[own[:len("吃")]], food, true, false, 0.75)
	case activityZh(own) && len([]rune(own)) <= 8 && !strings.ContainsAny(own, "了过完到"):
		t.habitZh(b, t.self, 0.7)
		if c := &t.out.Candidates[len(t.out.Candidates)-1]; len(t.out.Candidates) > n {
			c.Slot = &abi.Slot{Subject: t.self.key, Attribute: routineSlot(own), Value: own, Many: true}
		}
	}
	return len(t.out.Candidates) > n
}

// still reports whether s only says that what the sentence before it "used to" hold still does: "I
// still do", "Still am", 现在还抽.
func still(before, s sentence) bool {
	if s.chinese() != before.chinese() || s.ends == "?" || s.ends == "？" || len(s.toks) > 12 {
		return false
	}
	if s.chinese() {
		x := strings.TrimSpace(trimZhEnd(s.raw()))
		x = trimHeads(x, "不过", "其实", "我", "他", "她", "到现在", "直到现在", "现在", "至今")
		for _, k := range [...]string{"还是", "还在", "还", "也", "仍然", "依然", "照样", "一直"} {
			if rest, ok := strings.CutPrefix(x, k); ok && containsAny(before.raw(), beforeZh[:]...) {
				rest = strings.TrimSuffix(rest, "这样")
				return rest == "" || strings.Contains(before.raw(), string([]rune(rest)[0]))
			}
		}
		return false
	}
	used := false
	for i := range before.toks {
		used = used || before.at(i) == "used" && before.at(i+1) == "to"
	}
	does := false
	kept := false
	for i := range s.toks {
		switch w := s.at(i); {
		case w == "still":
			kept = true
		case w == "do" || w == "does" || w == "am" || w == "is" || w == "are" || w == "have" || w == "has":
			does = true
		case subjectPronoun(w) || lead(w) || s.toks[i].kind == 'p' || w == "actually" || w == "today" || w == "now" || w == "and" || w == "but" || w == "in" || w == "fact":
		default:
			return false
		}
	}
	return used && kept && does
}

// does is the verb that stands for what still is so, in the third person.
func does(s sentence) string {
	for i := range s.toks {
		switch base, rest := contraction(s.at(i)); {
		case base == "am" || base == "is" || base == "are" || rest == "am" || rest == "are":
			return "is"
		case base == "have" || base == "has" || rest == "have":
			return "has"
		}
	}
	return "does"
}

// stillSo takes "I used to smoke. I still do.": what once was, and is. The sentence before it is of
// this text or, within two minutes, of the speaker's last turn.
func (t *talk) stillSo(s sentence) bool {
	before, turn := sentence{}, 0
	for _, o := range t.own {
		if o.end <= s.start {
			before = o
		}
	}
	if n := len(t.ev.Before); before.toks == nil && n > 0 {
		b := &t.ev.Before[n-1]
		if all := sentences(b.Text); b.Speaker == t.ev.Speaker && t.ev.At-b.At <= followWithin && len(all) > 0 {
			before, turn = all[len(all)-1], -1
		}
	}
	if before.toks == nil || !still(before, s) {
		return false
	}
	var sink abi.Output
	ev := abi.Event{ID: t.ev.ID, At: t.ev.At, Offset: t.ev.Offset, Speaker: t.ev.Speaker, Wearer: t.ev.Wearer, Text: before.raw()}
	Extract(&ev, &sink, Facts)
	for i := range sink.Candidates {
		a := sink.Candidates[i]
		if a.Slot == nil {
			continue
		}
		claim, denied := strings.CutPrefix(a.Slot.Attribute, "not_")
		if !denied && !a.Negates {
			continue
		}
		slot := *a.Slot
		slot.Attribute = claim
		if what, ok := strings.CutPrefix(claim, routineSlot("")); ok && slot.Value == "" {
			slot.Value = what
		}
		if slot.Value == "" {
			continue
		}
		a.Slot, a.Negates, a.Predicate, a.Object = &slot, false, claim, slot.Value
		if a.Text = strings.TrimSuffix(a.Text, "."); s.chinese() {
			a.Text = strings.TrimSuffix(a.Text, "。") + "，现在还是。"
		} else {
			a.Text += ", and still " + does(s) + "."
		}
		a.Confidence = min(a.Confidence, 0.75)
		a.Spans = []abi.Span{{Start: s.start, End: s.end}, {Turn: turn, Start: before.start, End: before.end}}
		t.out.Candidates = append(t.out.Candidates, a)
	}
	return true
}
