package discourse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// BareZh is a clause without lead words and times.
type BareZh struct {
	S     syntax.Sentence
	Whens []timex.When
	Text  string
	Until bool // it was true until one of the times, or before: 我五月之前住在上海
}

// symptomsZh are complaints that people have had since a given day.
var symptomsZh = [...]string{"疼", "痛", "咳", "发烧", "难受", "不舒服", "拉肚子", "失眠", "肿", "痒", "头晕", "感冒", "呕吐", "恶心", "发炎", "过敏", "睡不好", "睡不着", "流鼻涕", "鼻塞", "起疹子", "上火"}

// sinceZh removes what is left of 从今天起 without its day.
var sinceZh = strings.NewReplacer("现在", "", "从起", "", "从开始", "", "自起", "", "从以后", "")

// Bare reads a Chinese clause: its times, and what is left without them.
func (t *Talk) Bare(s syntax.Sentence) BareZh {
	b := BareZh{S: s, Whens: timex.FindWhens(s, t.Now)}
	timex.SameDay(s, b.Whens)
	t.OnDayZh(s, b.Whens)
	b.Whens = slices.DeleteFunc(b.Whens, func(w timex.When) bool { // 下个月的房租我交了: that is not when it was done
		of, _ := CutCommaZh(s.From(w.Next))
		return w.HasDay && w.Day > t.Now.Day && strings.HasPrefix(of, "的") && CompletedZh(of) && syntax.ContainsAny(of, "我", "已经")
	})
	for i := range b.Whens {
		w := &b.Whens[i]
		if w.Assumed > 1 && strings.HasPrefix(strings.TrimPrefix(s.Raw(), "我"), "上次") {
			w.Past(t.Now) // 上次体检是三月做的
		}
		if w.Last > w.Day && w.Last >= t.Now.Day && w.Day <= t.Now.Day && (s.At(w.Next) == "前" || s.At(w.Next) == "之" && s.At(w.Next+1) == "前" || s.At(w.First-1) == "到") {
			w.Day, w.Last = w.Last, 0 // 月底前, 住到月底
		}
	}
	if strings.Contains(s.Raw(), "从") && syntax.ContainsAny(t.Said.Raw(), symptomsZh[:]...) {
		for i := range b.Whens {
			if w := &b.Whens[i]; w.Weekday && s.At(w.First-1) == "从" {
				w.Past(t.Now) // 从周一开始头疼: it has already begun
				w.Weekday = false
			}
		}
	}
	if syntax.ContainsAny(t.Said.Raw(), "这学期", "放学", "下课", "开门", "营业") { // 三点半放学，不过周三有社团
		for i := range b.Whens {
			b.Whens[i].Habit = b.Whens[i].Habit || b.Whens[i].Weekday
		}
	}
	if before := t.Said.Text[t.Said.Start:max(t.Said.Start, min(s.Start, t.Said.End))]; t.Said.Text == s.Text && strings.HasSuffix(TrimZhEnd(s.Raw()), "的") && CompletedZh(strings.TrimRight(before, "，, ")) && !syntax.ContainsAny(s.Raw(), "要", "会", "打算", "票", "去") {
		for i := range b.Whens {
			if w := &b.Whens[i]; w.Weekday && !w.Habit {
				w.Past(t.Now) // 补了，周日晚上补的
				w.Weekday = false
			}
		}
	}
	for i := range b.Whens {
		if w := &b.Whens[i]; w.Weekday && syntax.EndsWithAny(s.Text[s.Start:s.Toks[w.First].Start], []string{"讨厌", "喜欢", "烦", "恨", "害怕"}) {
			w.Habit = true // 最讨厌周一
		}
	}
	if syntax.ContainsAny(t.Said.Raw(), "每天", "平时", "工作日") {
		for i := range b.Whens {
			b.Whens[i].Habit = b.Whens[i].Habit || b.Whens[i].Weekend // 每天六点起床，周末七点
		}
	}
	timed := map[int]bool{}
	t.untilZh(&b, timed)
	for _, w := range b.Whens {
		for k := w.First; k < w.Next; k++ {
			timed[k] = true
		}
	}
	var out strings.Builder
	last := s.Start
	for i, tok := range s.Toks {
		if timed[i] {
			out.WriteString(s.Text[last:tok.Start])
			last = tok.End
		}
	}
	out.WriteString(s.Text[last:s.End])
	b.Text = withOfZh(frontedZh(unlaughedZh(hisZh(affirmedZh(syntax.StripLeadZh(sinceZh.Replace(out.String())))))))
	if s.At(0) == "对" && syntax.LeadZh(s) == 1 {
		b.Text = strings.TrimPrefix(b.Text, "对") // 对上个月去了五天
	}
	if !syntax.ContainsAny(s.Raw(), "年前", "那时", "当时", "那年") {
		b.Text = justZh(b.Text)
	}
	b.born()
	return b
}

// unlaughedZh returns a clause without the laughter at its end: 老板夸我了嘿嘿.
func unlaughedZh(x string) string {
	for _, laugh := range [...]string{"嘿嘿", "哈哈哈", "哈哈", "呵呵", "嘻嘻", "呜呜"} {
		if r, ok := strings.CutSuffix(strings.TrimRight(x, " 。！!"), laugh); ok && r != "" {
			return r
		}
	}
	return x
}

// justZh adds the 了 that people leave out after 刚: 我刚辞职 becomes 我刚辞职了.
func justZh(x string) string {
	x = TrimZhEnd(x)
	who, done, ok := strings.Cut(x, "刚")
	if ok && !syntax.ContainsAny(who, "想", "说", "要") && syntax.EndsWithAny(done, []string{"被裁", "流产", "回国", "买房", "辞职", "离职", "离婚", "结婚", "订婚", "分手", "毕业", "退休", "搬家", "失业", "入职", "怀孕", "出院", "升职", "转正", "换工作"}) && utf8.RuneCountInString(done) <= 4 {
		return x + "了"
	}
	return x
}

// RewriteZh replaces "I", "my" and "you" by names, and adds dates to relative times. If it is not
// known whom 你 means, it becomes 对方, the other person.
func (t *Talk) RewriteZh(s syntax.Sentence, whens []timex.When, past bool) string {
	var b strings.Builder
	last, lead := s.Start, syntax.LeadZh(s)
	if lead > 0 {
		last = s.Toks[lead].Start
	}
	for i := lead; i < len(s.Toks); i++ {
		tok := s.Toks[i]
		if name := t.pronounZh(s, i); name != "" {
			b.WriteString(s.Text[last:tok.Start])
			last = tok.End
			b.WriteString(name)
			if s.At(i+1) == "们" {
				home := i + 1 + syntax.BoolInt(s.At(i+2) == "家") // 我们家 is the home of one person, too
				switch _, n := syntax.PrefixZh(s, home+1, syntax.KinZh[:]...); {
				case n > 0: // 我们女儿, 我们家女儿
					b.WriteString("的")
					i = home
					last = s.Toks[i].End
				case home == i+2: // 我们家老大
					i++
					last = s.Toks[i].End
				default:
					b.WriteString("他")
				}
			} else if _, n := syntax.PrefixZh(s, i+1, syntax.KinZh[:]...); n > 0 {
				b.WriteString("的")
			}
		}
		for k := range whens {
			w := &whens[k]
			if w.Next-1 == i && !w.Habit && w.Grain != 'y' && (w.HasDay || past) && s.Text[s.Toks[w.First].Start:tok.End] != w.Chinese() { // 学校三点半放学 is not about one day
				if !w.HasDay {
					w.Set(t.Now.Day, 'd')
				}
				if past {
					w.Past(t.Now)
				}
				b.WriteString(s.Text[last:tok.End])
				last = tok.End
				b.WriteString("（" + w.Chinese() + "）")
			}
		}
	}
	b.WriteString(s.Text[last:s.End])
	return hisZh(heardZh(affirmedZh(commasZh(ungapped(b.String()))))) + "。"
}

// ungapped closes the gaps in a Chinese text from which words were left out.
func ungapped(text string) string {
	parts := strings.Split(text, "  ")
	out := parts[0]
	for _, part := range parts[1:] {
		out, part = strings.TrimRight(out, " "), strings.TrimLeft(part, " ")
		if out != "" && part != "" && out[len(out)-1] < utf8.RuneSelf && part[0] < utf8.RuneSelf {
			out += " " // Mei 12月4日
		}
		out += part
	}
	return out
}

// commasZh writes a comma after a Chinese character in the Chinese form.
func commasZh(text string) string {
	for i := 0; i < len(text); i++ {
		if before, _ := utf8.DecodeLastRuneInString(text[:i]); text[i] == ',' && (syntax.IsHan(before) || before == '）') {
			text = text[:i] + "，" + text[i+1:]
		}
	}
	return text
}

// affirmedZh returns a statement without the 不是 and 嘛 with which somebody reminds another of it:
// 我不是换工作了嘛.
func affirmedZh(text string) string {
	head, rest, ok := strings.Cut(text, "不是")
	if !ok || strings.HasSuffix(head, "是") {
		return text
	}
	what, after, ok := strings.Cut(rest, "嘛")
	if !ok || strings.ContainsAny(what, "，,不") || after != "" && !syntax.StartsWithAny(after, []string{"，", ","}) {
		return text
	}
	return head + what + after
}

// pronounZh returns the name of the person whom 我, 你 or 您 at index i means. It returns nothing for
// any other word, for 你们, and in a title: 《你的名字》.
func (t *Talk) pronounZh(s syntax.Sentence, i int) string {
	word := s.At(i)
	if word == "咱" {
		word = "我"
	}
	if word != "我" && word != "你" && word != "您" {
		return ""
	}
	if before := s.Text[s.Start:s.Toks[i].Start]; strings.Count(before, "《") > strings.Count(before, "》") {
		return ""
	}
	if word == "我" {
		return t.Self.Name
	}
	if s.At(i+1) == "们" || s.At(i-1) == "迷" {
		return ""
	}
	if a, ok := t.Addressee(); ok {
		return a.Name
	}
	return "对方"
}

// BaseZh does the same as [Talk.Base], for a Chinese clause.
func (t *Talk) BaseZh(b *BareZh, typ, kind string, p Person, confidence float64) abi.Candidate {
	confidence -= Doubt(b.S)
	for i := range b.Whens {
		if w := &b.Whens[i]; w.Assumed > 0 && !w.Habit && w.Day > t.Now.Day && t.BygoneZh(b.Text, b.S.Raw(), w) {
			w.Past(t.Now) // 我六月离职了: the last June
		}
	}
	text := t.RewriteZh(b.S, b.Whens, false)
	if !strings.Contains(text, p.Name) && p.Key == t.Self.Key {
		if ordered, is := PatientNamed(text, p.Name); is {
			text = ordered
		} else {
			text = t.MineZh(text)
		}
	}
	if p.Key != t.Self.Key && !strings.Contains(text, p.Name) {
		text = Named(text, p.Name)
	}
	return abi.Candidate{
		Type: typ, Kind: kind, Text: text, Lang: "zh", Confidence: confidence, Sensitivity: "personal",
		Spans: []abi.Span{{Start: b.S.Start, End: b.S.End}}, Tags: []string{kind}, Entities: []abi.Entity{{Name: p.Name, Kind: "person"}},
	}
}

// MineZh puts the speaker's name before a text without a subject, or before a relative or a teacher
// of theirs: Mei的老师要求周五之前交作业.
func (t *Talk) MineZh(text string) string {
	if syntax.KinPrefixZh(text) != "" {
		return t.Self.Name + "的" + text
	}
	return t.Self.Name + text
}

// NoteZh returns a note of a sentence in the speaker's words, with the first day that it names from
// today on.
func (t *Talk) NoteZh(s syntax.Sentence) abi.Candidate {
	b := t.Bare(s)
	a := t.BaseZh(&b, "semantic", "noted", t.Self, NotedSure)
	a.Text = t.RewriteZh(s, b.Whens, false)
	for i := range b.Whens {
		if w := &b.Whens[i]; w.HasDay && !w.Habit && w.Day >= t.Now.Day {
			a.Type, a.EventType, a.Started = "episodic", "noted", t.Now.Begins(w.Day)
			break
		}
	}
	return a
}

// formerly are attributes that end if 以前 says that something was true. passingZh are those about
// which 小时候 and 以前 say nothing for today.
var formerly = syntax.Set("home employer job likes dislikes")

var passingZh = syntax.Set("allergies avoids afraid_of plays owns pets condition diet")

// ClipZh cuts off what another clause says after a value, if there is no comma between: 麸质 for
// 麸质吃了肚子疼.
func ClipZh(value string) string {
	for _, more := range [...]string{"我", "她", "他", "嫌", "一吃", "一碰", "一闻", "一喝", "一沾", "不能", "不吃", "不喝", "希望", "之前", "以前", "太", "特别", "非常", "不想", "不用", "其实", "以后", "之后"} {
		if i := strings.Index(value, more); (i > 0 || more == "希望") && i >= 0 && i+len(more) < len(value) && !strings.HasPrefix(value[i:], "他人") && !((more == "我" || more == "她" || more == "他") && syntax.EndsWithAny(value[:i], []string{"给", "让", "叫", "对", "跟", "帮"})) {
			value = value[:i]
		}
	}
	if i := strings.Index(value, "了"); i > 0 && i+len("了") < len(value) {
		if value = value[:i]; !strings.HasSuffix(value, "子") { // 茄子了软趴趴
			_, verb := utf8.DecodeLastRuneInString(value)
			value = value[:i-verb]
		}
	}
	return syntax.TrimZh(value)
}

// FactZh proposes that somebody's attribute has a value, as [Talk.Fact] does for an English clause.
func (t *Talk) FactZh(b *BareZh, p Person, kind, attribute, value string, many, negates bool, confidence float64) {
	value = joinedZh(syntax.TrimZh(value))
	switch attribute {
	case "location":
	case "relatives":
		value = strings.TrimPrefix(value, "个") // 我有个弟弟
	case "pets":
		value = ClipZh(petNameZh(value))
	case "job":
		value = strings.TrimPrefix(value, "到") // 做到经理
	default:
		value = ClipZh(value)
	}
	if value == "" || syntax.VagueZh(value) || (kind == "preference" || kind == "diet") && syntax.StartsWithAny(value, []string{"那个", "这个", "那种", "这种", "那味", "这味", "那玩意", "这玩意", "那东西", "这东西"}) || courtesyZh[value] || utf8.RuneCountInString(value) > 24 {
		return
	}
	for i := range b.Whens {
		w := &b.Whens[i]
		if lead, after := b.S.At(w.First-1), b.S.At(w.Next); w.Grain == 'M' && (lead == "从" || lead == "自" || lead == "打") && (after == "起" || after == "以来" || after == "开始") {
			w.Past(t.Now) // 从三月起住在波尔图: the last March
		}
	}
	if formerly[attribute] && syntax.ContainsAny(b.S.Raw(), "起", "开始") && slices.ContainsFunc(b.Whens, func(w timex.When) bool { return w.HasDay && !w.Habit && w.Day > t.Now.Day }) {
		return // 我下个月开始在美团上班: not yet
	}
	a := t.BaseZh(b, "semantic", kind, p, confidence)
	if attribute == "location" || attribute == "belongs_to" {
		a.Entities[0].Kind = "" // it is a thing
	}
	then := syntax.ContainsAny(b.S.Raw(), "的时候", "小时候", "那会儿", "那时", "那几年", "曾经", "当时", "结婚前", "毕业前")
	if (then || b.Until || strings.Contains(b.S.Raw(), "以前")) && (formerly[attribute] || passingZh[attribute]) {
		if attr := onceWas[attribute]; attr != "" {
			once := a
			once.Kind, once.Tags, once.Confidence = "biography", []string{"biography"}, 0.75-Doubt(b.S)
			once.Slot = &abi.Slot{Subject: p.Key, Attribute: attr, Value: value, Many: true}
			once.Subject, once.Predicate, once.Object = p.Name, attr, value
			t.Out.Candidates = append(t.Out.Candidates, once)
		}
		if then || passingZh[attribute] { // 大学的时候住在罗马 says nothing about now
			return
		}
		negates = true
	}
	if negates && attribute == "allergies" && !strings.Contains(b.S.Raw(), "不再") && !strings.Contains(b.S.Raw(), "已经") && !CompletedZh(b.Text) {
		negates, attribute = false, "not_allergies" // it need not have been claimed before
	}
	a.Negates = negates
	if attribute == "employer" && p.Key == t.Self.Key && !negates {
		t.firm = value
	}
	if attribute == "allergies" || attribute == "not_allergies" {
		a.Sensitivity = "private"
	}
	a.Slot = &abi.Slot{Subject: p.Key, Attribute: attribute, Value: value, Many: many}
	a.Subject, a.Predicate, a.Object = p.Name, attribute, value
	for i := range b.Whens {
		if w := &b.Whens[i]; w.HasDay && !w.Habit && !negates && (attribute == "marital_status" || formerly[attribute] && syntax.ContainsAny(b.S.Raw(), "起", "以来", "开始", "加入", "入职")) && w.Unix() <= t.Ev.At {
			a.TrueFrom = w.Unix()
		}
	}
	t.Out.Candidates = append(t.Out.Candidates, a)
}

// courtesyZh is [courtesy] in Chinese.
var courtesyZh = syntax.Set("对 对对 是 是的 对的 嗯 好 好的 没错 谢谢 当然")
