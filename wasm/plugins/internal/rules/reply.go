package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// A short line means something only with the question that another speaker asked just before it:
// "Perfect" after "Does Thursday at four work?", "Paula" after "What's your sister's name?".

// reply takes such a line. An answer becomes a statement with the words of its question, and is read
// like any other.
func (t *talk) reply(s sentence) bool {
	n := len(t.ev.Before)
	if n == 0 || len(s.toks) > 9 || s.start != t.own[0].start || s.ends == "?" || s.ends == "？" || t.ev.Before[n-1].Speaker == t.ev.Speaker {
		return false
	}
	q, ok := t.question(s)
	if !ok || q.turn == 0 || q.by.key == t.self.key || conditioned(q.sentence) || len(q.toks) > 30 {
		return false
	}
	if t.accepts(&q, s) {
		return true
	}
	made, statement := len(t.out.Candidates), ""
	if q.chinese() {
		statement = t.completeZh(&q, s)
	} else {
		statement = t.complete(&q, s)
	}
	all := sentences(statement)
	if len(all) != 1 {
		return false
	}
	if t.clause(all[0]); len(t.out.Candidates) == made {
		t.undertook(all[0])
	}
	for i := made; i < len(t.out.Candidates); i++ {
		t.out.Candidates[i].Spans = []abi.Span{{Start: s.start, End: s.end}, {Turn: q.turn, Start: q.start, End: q.end}}
	}
	return len(t.out.Candidates) > made
}

// undertook proposes what somebody does, or will do, as a promise without a day.
func (t *talk) undertook(s sentence) {
	if s.chinese() {
		b := t.bare(s)
		who, rest := person{}, ""
		for i := range s.toks {
			if _, n := prefixZh(s, i, repliedVerbsZh...); n > 0 && i > 0 {
				name := s.text[:s.toks[i].start]
				rest = s.text[s.toks[i].start:]
				who, _ = t.subjectZh(name)
				if who.key == "" {
					who = t.named(name)
				}
				break
			}
		}
		if rest != "" && !toldZh(rest) {
			t.emit(plan{subject: who.key, attribute: "计划：" + trimZh(rest), what: "promise", chinese: true}, t.rewriteZh(b.s, b.whens, false), "promise", 0.65, s, false).Actor = who.name
		}
		return
	}
	if c, ok := t.parse(s); ok && (c.ing || c.future) && !c.past && !c.neg && c.kind != 't' && (errand[c.verb] || duties[c.verb]) {
		t.emit(plan{subject: c.subj.key, attribute: c.slotName(), what: "promise"}, t.rewrite(&c), "promise", 0.65, s, false).Actor = c.subj.name
	}
}

// duties are what somebody does for others, beside [errand].
var duties = set("take drive fetch get walk watch host handle run feed clean wash mow set arrange")

// complete is the statement that an English question and its answer make together, in the words of
// whoever answers; empty where the answer is none.
func (t *talk) complete(q *asked, s sentence) string {
	i := 0
	for lead(q.at(i)) || i < len(q.toks) && q.toks[i].kind == 'p' {
		i++
	}
	asks, is := contraction(q.at(i))
	if is == "" {
		i++
		is = q.at(i)
	}
	first, end := i+1, len(q.toks)
	if asks == "how" { // "how old is your son"
		if q.at(i) != "old" {
			return ""
		}
		asks, is, first = "age", q.at(i+1), i+2
	}
	for end > first && (q.at(end-1) == "again" || q.at(end-1) == "anyway" || q.at(end-1) == "then" || q.toks[end-1].kind == 'p') {
		end--
	}
	if first >= end {
		return ""
	}
	last := q.at(end - 1)
	verb := is == "do" || is == "does"
	switch asks {
	case "who":
		x := s.replier(t)
		switch _, _, ing := lemma(q.at(first)); {
		case x == "":
			return ""
		case is == "is" && !ing: // "who's your dentist"
			if x == "I" || q.at(first) != "your" && q.at(first) != "my" {
				return ""
			}
			return t.turned(q, first, end) + " is " + x
		case x == "I" && is == "is":
			is = "am"
		case is != "is" && is != "will" && is != "can":
			return ""
		case is == "can":
			is = "will"
		}
		return x + " " + is + " " + t.turned(q, first, end)
	case "what", "where", "age", "when":
	default:
		return ""
	}
	subject := q.at(first)
	if subject != "you" && subject != "your" && subject != "my" && subject != "his" && subject != "her" && !q.toks[first].cap {
		return "" // of whom one remembers it
	}
	x := s.replied(asks, last, t.now)
	switch {
	case x == "":
		return ""
	case asks == "age" || asks == "when":
		if is = "is "; asks == "when" {
			is = "is on "
		} else if subject == "you" {
			is = "am "
		}
		return t.turned(q, first, end) + " " + is + x
	case asks == "what" && (is == "is" || is == "are") && subject != "you":
		if last == "called" {
			end--
			is += " called"
		}
		return t.turned(q, first, end) + " " + is + " " + x
	case asks == "what" && is == "are" && preposition(last):
		return "I am " + t.turned(q, first+1, end) + " " + x // "what are you allergic to"
	case verb && asks == "where" && (last == "live" || last == "work" || last == "study"):
		if !preposition(firstWord(x)) {
			x = map[bool]string{true: "at ", false: "in "}[last == "work"] + x
		}
		fallthrough
	case verb && asks == "what" && end-first < 4 && last != "do" && last != "think" && last != "say" && last != "mean" && last != "want" && last != "need":
		head := t.turned(q, first, end-1)
		if is == "does" {
			last = third(last)
		}
		return head + " " + last + " " + x
	}
	return ""
}

func firstWord(s string) string {
	w, _, _ := strings.Cut(s, " ")
	return w
}

// turned writes tokens of a question as whoever answers says them.
func (t *talk) turned(q *asked, i, end int) string {
	var b strings.Builder
	for from := q.toks[i].start; i < end; i++ {
		tok := q.toks[i]
		b.WriteString(q.text[from:tok.start])
		from = tok.end
		switch tok.s {
		case "you":
			b.WriteString("I")
		case "your":
			b.WriteString("my")
		case "my":
			b.WriteString(possessive(q.by.name))
		case "me", "i":
			b.WriteString(q.by.name)
		default:
			b.WriteString(q.text[tok.start:tok.end])
		}
	}
	return b.String()
}

// replier is who an answer to "who" names: a name, "my sister", or "I"; empty where it names nobody.
func (s sentence) replier(t *talk) string {
	i, end := 0, len(s.toks)
	for i < end && (lead(s.at(i)) || s.toks[i].kind == 'p' || s.at(i) == "it's" || s.at(i) == "that's" || s.at(i) == "probably") {
		if lead(s.at(i)) && s.denies(i) || s.at(i) == "probably" {
			return ""
		}
		i++
	}
	for end > i && (s.toks[end-1].kind == 'p' || auxiliary(s.at(end-1)) && s.at(end-1) != "not" && s.at(end-1) != "never") {
		end--
	}
	if i >= end {
		return ""
	}
	switch base, rest := contraction(s.at(i)); {
	case end == i+1 && (base == "me" || base == "i") && (rest == "" || rest == "will" || rest == "am"):
		return "I"
	case (base == "my" || base == "our") && end == i+2 && kin(s.at(i+1)):
	default:
		k := i
		if n := titleAt(s, i); n > 0 {
			k += n
		}
		for k < end && s.toks[k].cap && s.toks[k].kind == 'w' && nameWord(s.at(k)) && !verbish(s.at(k)) {
			if _, rest := contraction(s.at(k)); rest != "" || unnames[s.at(k)] {
				return ""
			}
			k++
		}
		if k < end || k > i+4 || !s.toks[i].cap {
			return ""
		}
	}
	return s.text[s.toks[i].start:s.toks[end-1].end]
}

// unnames are capitalised words that answer, and name nobody.
var unnames = set("dunno guess depends ask nope hopefully whoever anyone anybody everybody unsure unknown question idea pass secret good nothing none neither either ha well why same definitely tomorrow later soon already wrong correct yours mine ours")

// replied is what an answer says that a question of a kind asks for; last is the question's last word.
func (s sentence) replied(asks, last string, now moment) string {
	i, end := 0, len(s.toks)
	for i < end && (lead(s.at(i)) && !s.denies(i) || s.toks[i].kind == 'p' || s.at(i) == "it's" || s.at(i) == "that's") {
		i++
	}
	for end > i && (s.toks[end-1].kind == 'p' || s.at(end-1) == "years" || s.at(end-1) == "old") {
		end--
	}
	if asks == "when" && s.at(i) == "on" {
		i++
	}
	if n := end - i; n < 1 || n > 5 {
		return ""
	}
	name := strings.HasSuffix(last, "name") || last == "called"
	for k := i; k < end && asks != "when"; k++ {
		w := s.at(k)
		base, rest := contraction(w)
		if base != w && rest != "" || subjectPronoun(w) || auxiliary(w) || w == "," || unnames[w] || w == "know" || w == "sure" || w == "what" || w == "where" || w == "not" || w == "maybe" || w == "think" {
			return ""
		}
		if name && (!s.toks[k].cap || !nameWord(w)) {
			return ""
		}
	}
	low := 0 // bytes that the answer begins with a capital for
	switch w := s.at(i); asks {
	case "when":
		if w, ok := whenAt(s, i, now); !ok || !w.hasDay || w.habit || w.next < end {
			return ""
		}
	case "age":
		low = 1
		if _, ok := number(w); !ok || end > i+1 {
			return ""
		}
	case "where":
		if !s.toks[end-1].cap || preposition(w) && w != "in" && w != "at" && w != "near" {
			return ""
		}
		low = boolInt(preposition(w))
	default:
		if l, past, _ := lemma(w); !name && (past || l == "let" || l == "ask" || l == "tell") {
			return ""
		}
		low = boolInt(!name && (end == i+1 || !s.toks[i+1].cap || determiner(w)))
	}
	at := s.toks[i].start
	return strings.ToLower(s.text[at:at+low]) + s.text[at+low:s.toks[end-1].end]
}

// Chinese questions, with the place of what they ask for as X.
var openZh = [...][2]string{{"叫什么名字", "叫X"}, {"名字是什么", "叫X"}, {"叫什么", "叫X"}, {"叫啥", "叫X"}, {"住在哪里", "住在X"}, {"住在哪儿", "住在X"}, {"住在哪", "住在X"}, {"住哪里", "住在X"}, {"住哪儿", "住在X"}, {"住哪", "住在X"},
	{"在哪里", "在X"}, {"在哪儿", "在X"}, {"在哪个公司", "在X"}, {"在哪家公司", "在X"}, {"在哪", "在X"}, {"多大", "X岁"}, {"几岁", "X岁"}, {"是谁", "是X"}, {"是几月几号", "是X"}, {"是哪天", "是X"}, {"是什么时候", "是X"}, {"是什么", "是X"}, {"对什么", "对X"}, {"谁", "X"}}

// repliedVerbsZh say what somebody will do, after 谁.
var repliedVerbsZh = []string{"去", "来", "盯", "做", "弄", "管", "送", "接", "买", "带", "负责", "跟", "订", "洗", "取", "拿", "写", "发", "约", "交", "陪"}

// completeZh is [talk.complete] in Chinese.
func (t *talk) completeZh(q *asked, s sentence) string {
	asks := strings.TrimRight(q.raw(), "？?呢啊呀的了 ")
	said := strings.TrimRight(s.raw(), "。！!.，, ")
	if n := utf8.RuneCountInString(said); n == 0 || n > 10 || strings.ContainsAny(said, "不没谁哪什怎吗猜秘随好") || utf8.RuneCountInString(asks) > 24 {
		return ""
	}
	for _, k := range openZh {
		head, rest, ok := strings.Cut(asks, k[0])
		if !ok {
			continue
		}
		x := strings.TrimPrefix(strings.TrimPrefix(said, k[1][:len(k[1])-1]), "是")
		switch {
		case k[0] == "谁":
			if raw := strings.TrimRight(q.raw(), "？?呢啊呀 "); toldZh(raw) || strings.HasSuffix(raw, "的") || strings.Contains(rest, "的") && strings.Index(rest, "的") < 7 || strings.HasPrefix(rest, "买单") {
				return ""
			}
			if head = strings.TrimRight(head, "那，, "); head != "" && len(findWhens(q.sentence, momentOf(t.ev.At, t.ev.Offset))) == 0 || !startsWithAny(rest, repliedVerbsZh) {
				return ""
			}
			who := strings.TrimRight(x, "吧呗啊呀嘛的了")
			for _, v := range append([]string{"可以", "行"}, repliedVerbsZh...) {
				who = strings.TrimSuffix(who, v)
			}
			if who != "我" && who != "我们" && (!nameZh(who) || startsWithAny(who, []string{"好", "问", "随"})) && !(strings.HasPrefix(who, "我") && relativeZh(strings.TrimPrefix(who, "我")) != "") {
				return ""
			}
			return who + head + swapZh(rest)
		case !strings.HasPrefix(head, "你") && !strings.HasPrefix(head, "您"):
			return ""
		case k[1] == "X岁":
			if x = strings.TrimRight(x, "岁了"); strings.TrimRight(x, "0123456789一二三四五六七八九十两半") != "" {
				return ""
			}
		case k[1] == "是X" && k[0] != "是谁" && k[0] != "是什么" && len(findWhens(s, t.now)) == 0:
			return ""
		case utf8.RuneCountInString(x) > 8 || k[1] == "叫X" && !nameZh(x):
			return ""
		}
		return swapZh(head) + strings.Replace(k[1], "X", x, 1) + rest
	}
	return ""
}

// swapZh writes words of a question as whoever answers says them.
func swapZh(s string) string { return swappedZh.Replace(s) }

var swappedZh = strings.NewReplacer("你", "我", "您", "我", "我", "你")

// accepts takes the time that another has just offered, where a line agrees to it: an appointment of
// both. A line that declines, or names another time, makes none.
func (t *talk) accepts(q *asked, s sentence) bool {
	said := findWhens(s, t.now)
	if !s.agrees(said) {
		return false
	}
	offered := findWhens(q.sentence, t.now)
	if len(offered) == 0 || !q.offers(offered) {
		return false
	}
	w := together(offered)
	for _, o := range offered {
		if w == nil || o.habit || o.hasDay && o.day != w.day || o.clock && !o.byPart && o.minute != w.minute {
			return false // several, to choose from
		}
	}
	for _, o := range said {
		if o.habit || o.hasDay && o.day != w.day || o.clock && w.clock && !w.byPart && o.minute != w.minute {
			return false
		}
		if o.clock && (!w.clock || w.byPart) {
			w.clock, w.minute, w.byPart = true, o.minute, o.byPart
		}
	}
	if !w.hasDay || w.void || w.grain != 'd' && w.grain != 0 || w.day < t.now.day {
		return false
	}
	if w.overToday(t.now) {
		w.ahead12(t.now)
	}
	wearer, other := t.self, q.by
	if other.key == "user" {
		wearer, other = other, wearer
	}
	if p, ok := t.meant(); ok && q.holdsAny("instead", "换") {
		t.moved(p.move(w), s, 0.8)
		t.cite()
		return true
	}
	kind, what := "appointment", q.offer(offered)
	p := plan{subject: wearer.key, attribute: "meeting", what: "meeting", day: w.day, minute: w.minute, clock: w.clock, label: q.raw(), chinese: q.chinese()}
	c := clause{sentence: q.sentence, whens: offered, vi: -1}
	c.words = t.wordsOf(&c)
	attr, noun := c.eventIn()
	if p.chinese {
		attr, noun = eventInZh(q.raw())
	}
	switch l, _, _ := lemma(firstWord(what)); {
	case attr != "" && !strings.HasPrefix(what, noun+" ") && !strings.HasPrefix(noun, "we "):
		p.attribute, p.what = attr, noun
	case l != "" && l != "meet":
		kind, p.attribute, p.what = "plan", "plan: "+what, "plan"
	case p.chinese && what != "" && !strings.Contains(what, "见"):
		kind, p.attribute, p.what = "plan", "计划："+what, "plan"
	}
	if evening(p.what) && w.clock && !w.sure && p.minute < 12*60 && p.minute >= 5*60 {
		p.minute += 12 * 60
	}
	at, text := p.when(t.now.offset), ""
	switch {
	case p.chinese:
		text = other.name + "和" + wearer.name + "约好" + at.chinese() + what + "。"
	case what == "" || what == "meet":
		text = other.name + " and " + wearer.name + " meet on " + at.english() + "."
	default:
		text = other.name + " and " + wearer.name + " agreed on " + at.english() + ": " + what + "."
	}
	t.another(&p, false)
	a := t.emit(p, text, kind, 0.8, s, false)
	a.Actor = wearer.name
	a.Entities = []abi.Entity{{Name: wearer.name, Kind: "person"}, {Name: other.name, Kind: "person"}}
	a.Spans = append(a.Spans, abi.Span{Turn: q.turn, Start: q.start, End: q.end})
	return true
}

// consents are words that agree to something, and those that may stand beside them.
var (
	consents = set("works perfect sure yes yeah yep ok okay great fine suits lovely absolutely definitely course agreed love brilliant alright sounds free deal please")
	beside   = set("that it this for me by with us you see then there good at on the a to i'd i i'll we can do will be is am sounds very really all right of of-course cool oh awesome nice wonderful happily thanks thank so both well idea plan")
)

var consentsZh = set("好 行 可以 没问题 成 ok 说定 一言为定 到时见 不见不散 就这么定 就这样 那就这么定 我可以 我行 我没问题 可以呀 嗯 嗯嗯 当然 当然可以 必须 约 听你 方便 有空 我有空 能 到时候见 对")

// agrees reports whether a line says yes, with no more than times beside it.
func (s sentence) agrees(whens []when) bool {
	timed := func(i int) bool {
		return slices.ContainsFunc(whens, func(w when) bool { return i >= w.first && i < w.next })
	}
	if s.chinese() {
		yes := false
		for part := range strings.FieldsFuncSeq(strings.ToLower(s.raw()), func(r rune) bool { return strings.ContainsRune("，,、！!。 ", r) }) {
			if part = strings.TrimRight(part, "啊呀哦嘛吧的呢了啦"); consentsZh[part] {
				yes = true
			} else if part != "" && part != "那" && !slices.ContainsFunc(whens, func(w when) bool { return part == strings.ToLower(s.text[s.toks[w.first].start:s.toks[w.next-1].end]) }) {
				return false
			}
		}
		return yes
	}
	yes := false
	for i, tok := range s.toks {
		switch w := tok.s; {
		case timed(i) || tok.kind == 'p':
		case consents[w], (w == "am" || w == "can") && i == len(s.toks)-1:
			yes = true
		case (w == "problem" || w == "worries") && s.at(i-1) == "no", w == "not" && s.at(i-1) == "why":
			yes = true
		case w == "no" && (s.at(i+1) == "problem" || s.at(i+1) == "worries"), w == "why" && s.at(i+1) == "not":
		case w == "i'm" && (s.at(i+1) == "free" || s.at(i+1) == "in"):
		case w == "good" && s.at(i-1) == "sounds" || w == "suits" || w == "good" && (s.at(i-1) == "is" || s.at(i-1) == "that's"):
			yes = true
		case !beside[w] && w != "that's" && w != "it's" && w != "in":
			return false
		}
	}
	return yes
}

// holdsAny reports whether a question has one of the words.
func (q *asked) holdsAny(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return holdsWord(strings.ToLower(q.raw()), w) })
}

// offers reports whether a question proposes the times in it.
func (q *asked) offers(whens []when) bool {
	if q.chinese() {
		raw := strings.NewReplacer("行不行", "行", "能不能", "能", "好不好", "好吗").Replace(q.raw())
		return !containsAny(raw, "谁", "什么", "几点", "哪", "不行", "不能", "为什么", "了吗", "过吗", "改", "是", "会下", "会有", "会来", "会去") && containsAny(raw, "吧", "可以", "行", "怎么样", "好吗", "有空", "方便", "如何", "好不好", "ok", "OK", "能", "那就", "要不", "成吗")
	}
	i := 0
	for lead(q.at(i)) || i < len(q.toks) && q.toks[i].kind == 'p' {
		i++
	}
	for k := i; k < len(q.toks); k++ {
		if w := q.at(k); w == "not" || w == "or" || w == "why" && q.at(k+1) != "don't" || w == "who" || w == "where" || w == "when" || w == "which" {
			return false
		}
		if l, _, _ := lemma(q.at(k)); moves(l) || l == "cancel" || l == "miss" || l == "drop" || q.at(k) == "skip" {
			return false
		}
	}
	named := q.offer(whens)
	_, event := eventNoun(named[strings.LastIndexByte(named, ' ')+1:])
	switch a, b := q.at(i), q.at(i+1); {
	case (a == "how" || a == "what") && b == "about":
		c := q.at(i + 2)
		return event || !determiner(c) || c == "a" || c == "this"
	case a == "how" && b == "does", a == "how's", a == "shall" || a == "should" || (a == "can" || a == "could") && b == "we", (a == "can" || a == "could") && b == "you" && (q.at(i+2) == "do" || q.at(i+2) == "make"),
		a == "let's" || a == "fancy" || a == "wanna" || a == "want" && b == "to" || a == "why" && b == "don't", a == "see" && b == "you", a == "are" && b == "you" && q.at(i+2) == "free",
		(a == "do" || a == "would") && b == "you" && (q.at(i+2) == "want" || q.at(i+2) == "like" || q.at(i+2) == "fancy"):
		return true
	case a == "does" || a == "do" || a == "would" || a == "will" || a == "is" || a == "are":
		for k := i + 1; k < len(q.toks) && (named == "" || event); k++ {
			switch q.at(k) {
			case "work", "works", "suit", "suits", "okay", "ok", "alright", "fine", "good", "available", "convenient", "possible", "sound":
				return true
			}
		}
		return false
	}
	for k := i; k < len(q.toks); k++ {
		if l, _, _ := lemma(q.at(k)); l != "" || auxiliary(q.at(k)) || subjectPronoun(first(contraction(q.at(k)))) {
			if _, event := eventNoun(q.at(k)); !event {
				return false
			}
		}
	}
	return true // "Dinner on Friday at seven?"
}

// offer is what a question proposes to do, without its time; empty where it names nothing.
func (q *asked) offer(whens []when) string {
	var kept []token
	for i, tok := range q.toks {
		timed := slices.ContainsFunc(whens, func(w when) bool { return i >= w.first && i < w.next })
		if !timed && tok.kind != 'p' {
			kept = append(kept, tok)
		}
	}
	if q.chinese() {
		var b strings.Builder
		for _, tok := range kept {
			b.WriteString(tok.s)
		}
		what := b.String()
		for _, w := range [...]string{"怎么样", "可以", "行", "好吗", "好不好", "如何", "方便", "有空", "那就", "要不", "咱们", "我们", "咱", "吗", "吧", "呢", "不", "那", "你", "能", "ok", "成"} {
			what = strings.ReplaceAll(what, w, "")
		}
		return trimZh(what)
	}
	var words []string
	for _, tok := range kept {
		switch tok.s {
		case "does", "do", "work", "works", "for", "you", "how", "what", "about", "shall", "we", "can", "could", "should", "would", "is", "okay", "ok", "good", "fine", "alright", "suit", "suits", "say", "sound", "so", "then", "and", "at", "on", "make", "like", "to", "want", "are", "free", "let's", "see", "it", "that", "us", "me", "maybe", "well", "great", "how's", "will", "be", "available", "possible", "convenient", "instead", "in", "with", "your", "don't", "why", "a", "the", "next":
		default:
			words = append(words, q.text[tok.start:tok.end])
		}
	}
	return strings.ToLower(strings.Join(words, " "))
}
