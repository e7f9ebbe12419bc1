package rules

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A reminder is a command that is worth keeping: "remind me to call the
// landlord", "don't forget to bring the keys", 记得给房东打电话. It is read as
// if the speaker had said "I have to call the landlord".

// reminderLeads are what a reminder begins with, as words. What follows is a
// verb, but after "about", where it is a thing that has a time.
var reminderLeads = [...]string{
	"remind me to", "remind me that i have to", "remind me that i need to", "remember to", "don't forget to", "do not forget to", "never forget to",
	"don't let me forget to", "do not let me forget to", "make a note to", "note to self to", "note to self", "i must remember to", "i have to remember to",
	"i need to remember to", "i should remember to", "i must not forget to", "i mustn't forget to", "i can't forget to", "i shouldn't forget to", "remind me about", "remind me of",
	"don't forget the", "don't forget my", "don't forget our", "don't let me forget", "do not let me forget",
}

// reminder takes a sentence that asks to be reminded.
func (t *talk) reminder(s sentence) bool {
	if s.chinese() {
		return t.reminderZh(s)
	}
	from := 0
	for from < len(s.toks) && (s.toks[from].kind == 'p' || lead(s.at(from)) || slices.Contains([]string{"please", "hey", "locket", "also", "oh"}, s.at(from))) {
		from++
	}
	request := s.unasked()
	if asked := s.politely(from); asked > from {
		from = asked
	} else if s.ends == "?" && (s.at(from) != "remind" || len(request.toks) == len(s.toks)) {
		return false // "Remember when Tom lived in Graz?"
	}
	s = request
	if s.at(from) == "don't" && s.at(from+1) == "forget" && from+3 < len(s.toks) && s.toks[from+2].cap && strings.HasSuffix(s.at(from+2), "'s") {
		rest := s.text[s.toks[from+2].start:s.end]
		if len(findWhens(s, t.now)) > 0 { // "don't forget Mia's recital tonight"
			return t.says(s, "I have "+rest)
		}
		return t.says(s, "I must not forget "+rest)
	}
	for _, said := range reminderLeads {
		if !strings.HasPrefix(said, s.at(from)) {
			continue
		}
		words := strings.Fields(said)
		next := from + len(words)
		if next >= len(s.toks) || !slices.EqualFunc(words, s.toks[from:next], func(w string, tok token) bool { return w == tok.s }) {
			continue
		}
		if s.toks[next].kind == 'p' {
			next++ // "note to self: call Ann"
		}
		rest := s.text[s.toks[min(next, len(s.toks)-1)].start:s.end]
		switch last := words[len(words)-1]; {
		case last == "about" || last == "of":
			if timed := findWhens(s, t.now); len(timed) == 0 || timed[0].habit {
				return false
			}
			return t.says(s, "I have "+rest)
		case last == "forget":
			return t.says(s, "I must not forget "+rest)
		case last == "the" || last == "my" || last == "our":
			return t.says(s, "I must not forget "+last+" "+rest)
		case last == "self":
			if l, past, ing := lemma(s.at(next)); l == "" || past || ing {
				return false // "note to self: the key is under the pot"
			}
		case words[0] != "remind" && words[0] != "make" && words[0] != "i" && !strings.Contains(said, "let me"):
			if p, ok := t.addressee(); ok && p.key != t.self.key {
				return t.says(s, "You have to "+rest) // said to somebody
			}
		}
		return t.says(s, "I have to "+rest)
	}
	return false
}

// politely is the word after "can you please", "would you mind" at token i, where a request to be
// reminded follows; i where none does.
func (s sentence) politely(i int) int {
	switch s.at(i) {
	case "can", "could", "would", "will":
	default:
		return i
	}
	if s.at(i+1) != "you" {
		return i
	}
	k := i + 2
	for s.at(k) == "please" || s.at(k) == "kindly" || s.at(k) == "also" || s.at(k) == "just" || s.at(k) == "maybe" || s.at(k) == "perhaps" || s.at(k) == "," {
		k++
	}
	if s.at(k) == "remind" && s.at(k+1) == "me" && (s.at(k+2) == "to" || s.at(k+2) == "about" || s.at(k+2) == "that") || s.at(k) == "make" && s.at(k+1) == "a" && s.at(k+2) == "note" {
		return k
	}
	return i
}

// unasked is a request without what rounds it off: "…, please", "…, will you".
func (s sentence) unasked() sentence {
	n := len(s.toks)
	for n > 1 {
		switch w := s.at(n - 1); {
		case w == "please" || w == "thanks" || w == "ok" || w == "okay" || s.toks[n-1].kind == 'p':
			n--
		case w == "you" && n > 3 && s.at(n-3) == "," && (s.at(n-2) == "will" || s.at(n-2) == "would" || s.at(n-2) == "can" || s.at(n-2) == "could" || s.at(n-2) == "thank"):
			n -= 3
		default:
			if n == len(s.toks) {
				return s
			}
			return s.sub(0, n)
		}
	}
	return s
}

// notReminders begin what 记得 recalls, and does not ask for: 记得小时候…
var notReminders = [...]string{"我", "你", "您", "他", "她", "它", "那", "这", "小时候", "以前", "当时", "上次", "去年", "前年", "有一次", "有次", "是", "很", "不", "吗"}

// Politeness around 提醒我 in a request that is put as a question.
var (
	politeLeadsZh = [...]string{"请", "麻烦", "劳驾", "你", "您", "能不能", "可不可以", "可以", "能否", "能", "可否", "帮忙", "到时候", "到时", "记得", "也", "再", " ", "，", ","}
	politeTailsZh = [...]string{"可以吗", "可以不", "行吗", "行不行", "好吗", "好不好", "好嘛", "好么", "吗", "吧", " ", "，", ","}
	// askersZh ask for something that is to be told.
	askersZh = [...]string{"什么", "谁", "哪", "几", "多少", "怎么", "为什么", "为何", "有没有", "是不是"}
)

// politeZh is a request to be reminded without the words that only make it polite, and whether
// it was put as a question: 能不能提醒我周五交房租, 麻烦你提醒我吃药好吗. Other sentences lose 请 and
// 麻烦 alone.
func politeZh(raw string, now moment) (request string, polite bool) {
	x := stripLeadZh(raw)
	bare := x
	for again := true; again; {
		again = false
		for _, w := range politeLeadsZh {
			if rest, ok := strings.CutPrefix(bare, w); ok && rest != "" {
				bare, again = rest, true
			}
		}
	}
	polite = containsAny(x[:len(x)-len(bare)], "能", "可", "麻烦", "劳驾")
	if at, rest, ok := strings.Cut(bare, "提醒我"); ok && polite && at != "" && timeAlone(at, now) {
		bare = "提醒我" + at + rest // 能不能明天八点提醒我吃药
	}
	if !strings.HasPrefix(bare, "提醒我") && !strings.HasPrefix(bare, "提醒一下我") {
		return stripLeadZh(strings.TrimPrefix(strings.TrimPrefix(raw, "请"), "麻烦")), false
	}
	for again := true; again; {
		again = false
		for _, w := range politeTailsZh {
			if rest, ok := strings.CutSuffix(bare, w); ok {
				polite = polite || strings.Contains(w, "好") || strings.Contains(w, "行") || strings.Contains(w, "可以")
				bare, again = rest, true
			}
		}
	}
	return bare, polite
}

// timeAlone reports whether a text is a time and nothing else.
func timeAlone(text string, now moment) bool {
	all := sentences(text)
	if len(all) != 1 {
		return false
	}
	timed := 0
	for _, w := range findWhens(all[0], now) {
		timed += w.next - w.first
	}
	return timed == len(all[0].toks)
}

// notesZh ask for what follows to be written down.
var notesZh = [...]string{"帮我记录一下", "帮我记一下", "帮我记下", "帮我记个", "给我记一下", "记录一下", "记一下", "备忘一下", "备忘", "记个事", "记件事"}

// writeDown takes 记一下周五交报告: what is to be noted is read by itself, and is something to do
// where it is no more than what and when.
func (t *talk) writeDown(s sentence) bool {
	x := strings.TrimLeft(s.raw(), "请你您麻烦劳驾 ，,")
	for _, said := range notesZh {
		rest, ok := strings.CutPrefix(x, said)
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, " ，,：:")
		first := 0
		for first < len(s.toks) && s.toks[first].start < s.end-len(rest) {
			first++
		}
		if len([]rune(rest)) < 3 || first == len(s.toks) || askersIn(rest) {
			return false
		}
		from := len(t.out.Candidates)
		part := s.sub(first, len(s.toks))
		t.sentence(part)
		made := t.out.Candidates[from:]
		whens := findWhens(part, t.now)
		b := t.bare(part)
		alone := kinPrefixZh(b.text) == "" && namePrefixZh(b.text) == "" && !strings.ContainsAny(b.text, "我你您他她它是的在")
		if (len(made) == 0 || len(made) == 1 && made[0].Kind == "noted") && alone && len(whens) > 0 && len([]rune(b.text)) > 1 {
			t.out.Candidates = t.out.Candidates[:from]
			t.says(s, "我得"+rest)
		}
		return true
	}
	return false
}

// askersIn reports a text that asks for something.
func askersIn(x string) bool { return containsAny(x, askersZh[:]...) || strings.HasSuffix(x, "吗") }

func (t *talk) reminderZh(s sentence) bool {
	if t.writeDown(s) {
		return true
	}
	raw, polite := politeZh(s.raw(), t.now)
	if asks := s.ends == "?" || s.ends == "？"; asks && !polite {
		return false
	}
	if polite && containsAny(s.raw(), askersZh[:]...) {
		return false // 你能提醒我他叫什么吗
	}
	due, mustBe := strings.CutPrefix(strings.TrimPrefix(raw, "我"), "该")
	due, byNow := strings.CutSuffix(due, "了")
	if strings.ContainsAny(due, "的过") {
		mustBe = false // 该做的都做了
	}
	if mustBe && byNow && choreZh(due) { // 该交房租了
		return t.says(s, "我得"+due)
	}
	if mustBe && byNow && strings.HasPrefix(due, "去") && utf8.RuneCountInString(due) >= 3 && !strings.HasSuffix(due, "去") { // 我该去剪头发了
		return t.says(s, "我得"+due)
	}
	if rest, ok := cutHead(raw, "得赶紧", "得赶快", "得尽快", "要赶紧", "要尽快"); ok && utf8.RuneCountInString(rest) >= 3 && !strings.ContainsAny(rest, "了他她你") {
		return t.says(s, "我得"+rest)
	}
	if words := overdueZh(raw); words != "" && len(findWhens(s, t.now)) == 0 {
		return t.says(s, words)
	}
	for _, said := range [...]string{"提醒我一下", "提醒我", "提醒一下我", "记得", "记着", "别忘了", "别忘记", "不要忘了", "不要忘记", "我得记得", "我要记得", "我不能忘了", "我别忘了"} {
		rest, ok := strings.CutPrefix(raw, said)
		rest = strings.TrimLeft(rest, " ，,：:")
		if n := len([]rune(rest)); !ok || n < 2 || n < 3 && !polite && !startsWithAny(rest, []string{"带", "买", "交", "拿", "取"}) || strings.HasSuffix(rest, "吗") {
			continue
		}
		if strings.Contains(said, "记") || strings.Contains(said, "忘") {
			if startsWithAny(rest, notReminders[:]) || strings.HasSuffix(rest, "了") || strings.HasSuffix(rest, "过") || strings.Contains(rest, "的时候") {
				return false
			}
		}
		rest = trimHeads(rest, "们", "提醒我", "别忘了", "别忘记", "记得", "要", "得")
		if len([]rune(strings.Trim(rest, " 。!！?？"))) < 2 {
			continue
		}
		if all := sentences(rest); len(all) == 1 && startsWithAny(said, []string{"别", "提醒"}) {
			if whens := findWhens(all[0], t.now); len(whens) == 1 && whens[0].clock && !whens[0].hasDay && !whens[0].habit && whens[0].minute > t.now.minute {
				rest = "今天" + rest
			}
		}
		return t.says(s, "我得"+rest)
	}
	return false
}

// tendedZh are things of a household that one tends, beside those that fail, are owned or are paid.
var tendedZh = [...]string{"头发", "指甲", "垃圾", "花", "草坪", "地", "碗", "衣服", "床单", "被子", "窗户", "地板", "厨房", "滤芯", "净水器", "机油", "轮胎", "油烟机"}

// overdueZh is what the speaker has to do with a thing, of 车该洗了 and 车该换刹车片了; "" where it is neither.
func overdueZh(raw string) string {
	thing, due, ok := strings.Cut(raw, "该")
	due, byNow := strings.CutSuffix(due, "了")
	thing, _ = cutOwnZh(thing)
	switch {
	case !ok || !byNow || !endsWithAny(thing, failZh[:]) && !endsWithAny(thing, thingsZh[:]) && !endsWithAny(thing, belongingsZh[:]) && !slices.Contains(billsZh[:], thing) && !slices.Contains(tendedZh[:], thing) || utf8.RuneCountInString(thing) > 5 || endsWithAny(thing, kinZh[:]) && !slices.Contains(petsZh[:], thing):
		return ""
	case slices.Contains(choresZh[:], due) || due == "剪" || due == "扔":
		return "我得" + due + thing
	case choreZh(due):
		return "我得给" + thing + due
	}
	return ""
}

// onceThere reports what is to be done when the speaker comes somewhere, and hangs on nothing else: "when we get home".
func (c *clause) onceThere() bool {
	for i := range c.words {
		switch c.w(i) {
		case "if", "unless", "maybe", "perhaps", "whenever":
			return false
		case "when", "once":
			switch verb := c.w(i + 2); {
			case c.w(i+1) != "i" && c.w(i+1) != "we", verb != "get" && verb != "arrive" && verb != "leave" && verb != "come" && verb != "am" && verb != "are":
				return false
			}
		}
	}
	return true
}

// says reads other words in place of a sentence, of which they are the
// evidence, and keeps them as a promise where no rule makes more of them.
func (t *talk) says(s sentence, words string) bool {
	from := len(t.out.Candidates)
	text := words + "."
	all := sentences(text)
	if len(all) == 0 {
		return false
	}
	first := all[0]
	if c, ok := t.parse(first); !first.chinese() && ok {
		t.plan(&c, c.firstTime())
		if len(t.out.Candidates) == from && c.verb != "" && (!c.conditional() || c.onceThere()) {
			a := t.emit(plan{subject: c.subj.key, attribute: c.slotName(), what: "promise"}, t.rewrite(&c), "promise", 0.65, first, false)
			a.Entities = t.entities(&c)
		}
	} else if first.chinese() {
		b := t.bare(first)
		t.eventZh(&b)
		if len(t.out.Candidates) == from {
			p := plan{subject: t.self.key, attribute: "计划：" + trimZh(strings.TrimPrefix(b.text, "我得")), what: "promise", chinese: true}
			t.emit(p, t.rewriteZh(first, b.whens, false), "promise", 0.65, first, false)
		}
	}
	t.standsFor(from, s)
	return len(t.out.Candidates) > from
}
