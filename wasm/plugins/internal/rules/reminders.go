package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/chinese"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// A reminder is a command that is worth keeping: "remind me to call the
// landlord", "don't forget to bring the keys", 记得给房东打电话. It is read as
// if the speaker had said "I have to call the landlord".

// reminderLeads are the beginnings of reminders, as words. A verb follows or, after "about", a
// thing that has a time.
var reminderLeads = [...]string{
	"remind me to", "remind me that i have to", "remind me that i need to", "remember to", "don't forget to", "do not forget to", "never forget to",
	"don't let me forget to", "do not let me forget to", "make a note to", "note to self to", "note to self", "i must remember to", "i have to remember to",
	"i need to remember to", "i should remember to", "i must not forget to", "i mustn't forget to", "i can't forget to", "i shouldn't forget to", "remind me about", "remind me of",
	"don't forget the", "don't forget my", "don't forget our", "don't let me forget", "do not let me forget",
}

// reminder takes a sentence that asks to be reminded.
func reminder(t *discourse.Talk, s syntax.Sentence) bool {
	if s.Chinese() {
		return reminderZh(t, s)
	}
	from := 0
	for from < len(s.Toks) && (s.Toks[from].Kind == 'p' || syntax.Lead(s.At(from)) || slices.Contains([]string{"please", "hey", "locket", "also", "oh"}, s.At(from))) {
		from++
	}
	request := unasked(s)
	if asked := politely(s, from); asked > from {
		from = asked
	} else if s.Ends == "?" && (s.At(from) != "remind" || len(request.Toks) == len(s.Toks)) {
		return false // "Remember when Tom lived in Graz?"
	}
	s = request
	if s.At(from) == "don't" && s.At(from+1) == "forget" && from+3 < len(s.Toks) && s.Toks[from+2].Cap && strings.HasSuffix(s.At(from+2), "'s") {
		rest := s.Text[s.Toks[from+2].Start:s.End]
		if len(timex.FindWhens(s, t.Now)) > 0 { // "don't forget Mia's recital tonight"
			return reread(t, s, "I have "+rest)
		}
		return reread(t, s, "I must not forget "+rest)
	}
	for _, said := range reminderLeads {
		if !strings.HasPrefix(said, s.At(from)) {
			continue
		}
		words := strings.Fields(said)
		next := from + len(words)
		if next >= len(s.Toks) || !slices.EqualFunc(words, s.Toks[from:next], func(w string, tok syntax.Token) bool { return w == tok.S }) {
			continue
		}
		if s.Toks[next].Kind == 'p' {
			next++ // "note to self: call Ann"
		}
		rest := s.Text[s.Toks[min(next, len(s.Toks)-1)].Start:s.End]
		switch last := words[len(words)-1]; {
		case last == "about" || last == "of":
			if timed := timex.FindWhens(s, t.Now); len(timed) == 0 || timed[0].Habit {
				return false
			}
			return reread(t, s, "I have "+rest)
		case last == "forget":
			return reread(t, s, "I must not forget "+rest)
		case last == "the" || last == "my" || last == "our":
			return reread(t, s, "I must not forget "+last+" "+rest)
		case last == "self":
			if l, past, ing := syntax.Lemma(s.At(next)); l == "" || past || ing {
				return false // "note to self: the key is under the pot"
			}
		case words[0] != "remind" && words[0] != "make" && words[0] != "i" && !strings.Contains(said, "let me"):
			if p, ok := t.Addressee(); ok && p.Key != t.Self.Key {
				return reread(t, s, "You have to "+rest) // said to somebody
			}
		}
		return reread(t, s, "I have to "+rest)
	}
	if k := from + 2; s.At(from) == "remind" && s.At(from+1) == "me" && k+3 < len(s.Toks) && s.NewClause(k) && len(timex.FindWhens(s, t.Now)) > 0 {
		return reread(t, s, s.Text[s.Toks[k].Start:s.End]) // "remind me it's Jo's birthday on the second"
	}
	return false
}

// politely returns the token after "can you please" or "would you mind" at token i if a request to
// be reminded follows; otherwise i.
func politely(s syntax.Sentence, i int) int {
	switch s.At(i) {
	case "can", "could", "would", "will":
	default:
		return i
	}
	if s.At(i+1) != "you" {
		return i
	}
	k := i + 2
	for s.At(k) == "please" || s.At(k) == "kindly" || s.At(k) == "also" || s.At(k) == "just" || s.At(k) == "maybe" || s.At(k) == "perhaps" || s.At(k) == "," {
		k++
	}
	if s.At(k) == "remind" && s.At(k+1) == "me" && (s.At(k+2) == "to" || s.At(k+2) == "about" || s.At(k+2) == "that") || s.At(k) == "make" && s.At(k+1) == "a" && s.At(k+2) == "note" {
		return k
	}
	return i
}

// unasked returns a request without its polite ending: "…, please", "…, will you".
func unasked(s syntax.Sentence) syntax.Sentence {
	n := len(s.Toks)
	for n > 1 {
		switch w := s.At(n - 1); {
		case w == "please" || w == "thanks" || w == "ok" || w == "okay" || s.Toks[n-1].Kind == 'p':
			n--
		case w == "you" && n > 3 && s.At(n-3) == "," && (s.At(n-2) == "will" || s.At(n-2) == "would" || s.At(n-2) == "can" || s.At(n-2) == "could" || s.At(n-2) == "thank"):
			n -= 3
		default:
			if n == len(s.Toks) {
				return s
			}
			return s.Sub(0, n)
		}
	}
	return s
}

// notReminders are beginnings of what 记得 recalls and does not ask for: 记得小时候…
var notReminders = [...]string{"我", "你", "您", "他", "她", "它", "那", "这", "小时候", "以前", "当时", "上次", "去年", "前年", "有一次", "有次", "是", "很", "不", "吗", "啊", "呀", "呢", "吧", "挺", "姓", "叫"}

// Polite words around 提醒我 in a request in the form of a question.
var politeLeadsZh = [...]string{"请", "麻烦", "劳驾", "你", "您", "能不能", "可不可以", "可以", "能否", "能", "可否", "帮忙", "到时候", "到时", "记得", "也", "再", " ", "，", ","}

var politeTailsZh = [...]string{"可以吗", "可以不", "行吗", "行不行", "好吗", "好不好", "好嘛", "好么", "吗", "吧", " ", "，", ","}

// politeZh returns a request to be reminded without the words that only make it polite, and whether
// it is a question: 能不能提醒我周五交房租, 麻烦你提醒我吃药好吗. Other sentences only lose 请 and 麻烦.
func politeZh(raw string, now timex.Moment) (request string, polite bool) {
	x := syntax.StripLeadZh(raw)
	bare := x
	for again := true; again; {
		again = false
		for _, w := range politeLeadsZh {
			if rest, ok := strings.CutPrefix(bare, w); ok && rest != "" {
				bare, again = rest, true
			}
		}
	}
	polite = syntax.ContainsAny(x[:len(x)-len(bare)], "能", "可", "麻烦", "劳驾")
	if at, rest, ok := strings.Cut(bare, "提醒我"); ok && polite && at != "" && timex.Alone(at, now) {
		bare = "提醒我" + at + rest // 能不能明天八点提醒我吃药
	}
	if !strings.HasPrefix(bare, "提醒我") && !strings.HasPrefix(bare, "提醒一下我") {
		return syntax.StripLeadZh(strings.TrimPrefix(strings.TrimPrefix(raw, "请"), "麻烦")), false
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

// notesZh are requests to write down what follows.
var notesZh = [...]string{"帮我记录一下", "帮我记一下", "帮我记下", "帮我记个", "给我记一下", "记录一下", "记一下", "备忘一下", "备忘", "记个事", "记件事"}

// writeDown takes 记一下周五交报告: the text to be noted is read by itself, and is something to do if it
// has no more than what and when.
func writeDown(t *discourse.Talk, s syntax.Sentence) bool {
	x := strings.TrimLeft(s.Raw(), "请你您麻烦劳驾 ，,")
	for _, said := range notesZh {
		rest, ok := strings.CutPrefix(x, said)
		if !ok {
			continue
		}
		rest = strings.TrimLeft(rest, " ，,：:")
		first := 0
		for first < len(s.Toks) && s.Toks[first].Start < s.End-len(rest) {
			first++
		}
		if len([]rune(rest)) < 3 || first == len(s.Toks) || chinese.AskersIn(rest) {
			return false
		}
		from := len(t.Out.Candidates)
		part := s.Sub(first, len(s.Toks))
		sentence(t, part)
		made := t.Out.Candidates[from:]
		whens := timex.FindWhens(part, t.Now)
		b := t.Bare(part)
		alone := syntax.KinPrefixZh(b.Text) == "" && discourse.NamePrefixZh(b.Text) == "" && !strings.ContainsAny(b.Text, "我你您他她它是的在")
		if (len(made) == 0 || len(made) == 1 && made[0].Kind == "noted") && alone && len(whens) > 0 && len([]rune(b.Text)) > 1 {
			t.Out.Candidates = t.Out.Candidates[:from]
			reread(t, s, "我得"+rest)
		}
		return true
	}
	return false
}

// beforehandZh moves 记得 to the front if somebody is called, or a time is, before it: 老婆明天记得交煤气费.
func beforehandZh(raw string, now timex.Moment) string {
	for _, k := range [...]string{"记得", "别忘了"} {
		head, rest, ok := strings.Cut(raw, k)
		if !ok || head == "" || utf8.RuneCountInString(head) > 12 || syntax.StartsWithAny(rest, notReminders[:]) {
			continue
		}
		if n := syntax.CalledZh(head + "你"); n > 0 { // by itself
			continue
		}
		at := head
		for n := syntax.CalledFirstZh(at); n > 0; n-- {
			_, width := utf8.DecodeRuneInString(at)
			at = at[width:]
		}
		if at = strings.TrimPrefix(at, "你"); at != "" && timex.Alone(at, now) && utf8.RuneCountInString(rest) > 2 {
			if !strings.HasPrefix(rest, "把") && strings.HasSuffix(rest, "了") {
				return raw // 昨天记得关灯了
			}
			return k + at + rest
		}
	}
	return raw
}

func reminderZh(t *discourse.Talk, s syntax.Sentence) bool {
	if writeDown(t, s) {
		return true
	}
	raw, polite := politeZh(s.Raw(), t.Now)
	if asks := s.Ends == "?" || s.Ends == "？"; asks && !polite {
		return false
	}
	if polite && syntax.ContainsAny(s.Raw(), chinese.Askers[:]...) {
		return false // 你能提醒我他叫什么吗
	}
	raw = beforehandZh(raw, t.Now)
	if b := t.JustSaid(); b != nil && strings.HasPrefix(raw, "记得") && syntax.ContainsAny(b.Text, "还记得", "记不记得", "记得吗", "记得不") {
		return false // 你还记得体育老师吗 / 记得，特别凶
	}
	due, mustBe := strings.CutPrefix(strings.TrimPrefix(raw, "我"), "该")
	due, byNow := strings.CutSuffix(due, "了")
	if strings.ContainsAny(due, "的过") {
		mustBe = false // 该做的都做了
	}
	if mustBe && byNow && chinese.Chore(due) { // 该交房租了
		return reread(t, s, "我得"+due)
	}
	if mustBe && byNow && strings.HasPrefix(due, "去") && utf8.RuneCountInString(due) >= 3 && !strings.HasSuffix(due, "去") { // 我该去剪头发了
		return reread(t, s, "我得"+due)
	}
	if rest, ok := syntax.CutHead(raw, "得赶紧", "得赶快", "得尽快", "要赶紧", "要尽快"); ok && utf8.RuneCountInString(rest) >= 3 && !strings.ContainsAny(rest, "了他她你") {
		return reread(t, s, "我得"+rest)
	}
	if words := overdueZh(raw); words != "" && len(timex.FindWhens(s, t.Now)) == 0 {
		return reread(t, s, words)
	}
	for _, said := range [...]string{"提醒我一下", "提醒我", "提醒一下我", "记得", "记着", "别忘了", "别忘记", "不要忘了", "不要忘记", "我得记得", "我要记得", "我不能忘了", "我别忘了"} {
		rest, ok := strings.CutPrefix(raw, said)
		rest = strings.TrimLeft(rest, " ，,：:")
		if n := len([]rune(rest)); !ok || n < 2 || n < 3 && !polite && !syntax.StartsWithAny(rest, []string{"带", "买", "交", "拿", "取"}) || strings.HasSuffix(rest, "吗") {
			continue
		}
		if strings.Contains(said, "记") || strings.Contains(said, "忘") {
			if syntax.StartsWithAny(rest, notReminders[:]) || strings.HasSuffix(rest, "了") && !strings.Contains(rest, "把") || strings.HasSuffix(rest, "过") || strings.Contains(rest, "的时候") {
				return false
			}
		}
		rest = syntax.TrimHeads(rest, "们", "提醒我", "别忘了", "别忘记", "记得", "要", "得")
		if len([]rune(strings.Trim(rest, " 。!！?？"))) < 2 {
			continue
		}
		if all := syntax.Sentences(rest); len(all) == 1 && syntax.StartsWithAny(said, []string{"别", "提醒"}) {
			if whens := timex.FindWhens(all[0], t.Now); len(whens) == 1 && whens[0].Clock && !whens[0].HasDay && !whens[0].Habit && whens[0].Minute > t.Now.Minute {
				rest = "今天" + rest
			}
		}
		if p, ok := t.Addressee(); ok && p.Key == "user" && !strings.Contains(said, "我") {
			self := t.Self // said to the wearer
			t.Self = p
			defer func() { t.Self = self }()
		}
		return reread(t, s, "我得"+rest)
	}
	return false
}

// tendedZh are household things that people take care of, besides those that fail, are owned or are
// paid.
var tendedZh = [...]string{"头发", "指甲", "垃圾", "花", "草坪", "地", "碗", "衣服", "床单", "被子", "窗户", "地板", "厨房", "滤芯", "净水器", "机油", "轮胎", "油烟机"}

// overdueZh returns what the speaker has to do with a thing, for 车该洗了 and 车该换刹车片了, or "" for other
// sentences.
func overdueZh(raw string) string {
	thing, due, ok := strings.Cut(raw, "该")
	due, byNow := strings.CutSuffix(due, "了")
	thing, _ = discourse.CutOwnZh(thing)
	switch {
	case !ok || !byNow || !syntax.EndsWithAny(thing, chinese.Fail[:]) && !syntax.EndsWithAny(thing, chinese.Things[:]) && !syntax.EndsWithAny(thing, chinese.Belongings[:]) && !slices.Contains(chinese.Bills[:], thing) && !slices.Contains(tendedZh[:], thing) || utf8.RuneCountInString(thing) > 5 || syntax.EndsWithAny(thing, syntax.KinZh[:]) && !slices.Contains(discourse.PetsZh[:], thing):
		return ""
	case slices.Contains(chinese.Chores[:], due) || due == "剪" || due == "扔":
		return "我得" + due + thing
	case chinese.Chore(due):
		return "我得给" + thing + due
	}
	return ""
}
