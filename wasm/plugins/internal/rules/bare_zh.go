package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// bareZh is a clause without lead words and times.
type bareZh struct {
	s     sentence
	whens []when
	text  string
}

// sinceZh takes out what is left of 从今天起 without its day.
var sinceZh = strings.NewReplacer("现在", "", "从起", "", "从开始", "", "自起", "", "从以后", "")

func (t *talk) bare(s sentence) bareZh {
	b := bareZh{s: s, whens: findWhens(s, t.now)}
	sameDay(s, b.whens)
	t.onDayZh(s, b.whens)
	b.whens = slices.DeleteFunc(b.whens, func(w when) bool { // 下个月的房租我交了: not when it was done
		of, _ := cutCommaZh(s.from(w.next))
		return w.hasDay && w.day > t.now.day && strings.HasPrefix(of, "的") && completedZh(of) && containsAny(of, "我", "已经")
	})
	for i := range b.whens {
		w := &b.whens[i]
		if w.last > w.day && w.last >= t.now.day && w.day <= t.now.day && (s.at(w.next) == "前" || s.at(w.next) == "之" && s.at(w.next+1) == "前" || s.at(w.first-1) == "到") {
			w.day, w.last = w.last, 0 // 月底前, 住到月底
		}
	}
	if containsAny(t.said.raw(), "这学期", "放学", "下课", "开门", "营业") { // 三点半放学，不过周三有社团
		for i := range b.whens {
			b.whens[i].habit = b.whens[i].habit || b.whens[i].weekday
		}
	}
	timed := map[int]bool{}
	for _, w := range b.whens {
		for k := w.first; k < w.next; k++ {
			timed[k] = true
		}
	}
	var out strings.Builder
	last := s.start
	for i, tok := range s.toks {
		if timed[i] {
			out.WriteString(s.text[last:tok.start])
			last = tok.end
		}
	}
	out.WriteString(s.text[last:s.end])
	b.text = withOfZh(frontedZh(unlaughedZh(affirmedZh(stripLeadZh(sinceZh.Replace(out.String()))))))
	if !containsAny(s.raw(), "年前", "那时", "当时", "那年") {
		b.text = justZh(b.text)
	}
	b.born()
	return b
}

// unlaughedZh is a clause without the laughter at its end: 老板夸我了嘿嘿.
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
	x = trimZhEnd(x)
	who, done, ok := strings.Cut(x, "刚")
	if ok && !containsAny(who, "想", "说", "要") && endsWithAny(done, []string{"被裁", "流产", "回国", "买房", "辞职", "离职", "离婚", "结婚", "订婚", "分手", "毕业", "退休", "搬家", "失业", "入职", "怀孕", "出院", "升职", "转正", "换工作"}) && utf8.RuneCountInString(done) <= 4 {
		return x + "了"
	}
	return x
}

// rewriteZh puts names for "I", "my" and "you", and dates beside relative times. Where nobody knows whom 你
// means, it is 对方, the one who is spoken to.
func (t *talk) rewriteZh(s sentence, whens []when, past bool) string {
	var b strings.Builder
	last, lead := s.start, leadZh(s)
	if lead > 0 {
		last = s.toks[lead].start
	}
	for i := lead; i < len(s.toks); i++ {
		tok := s.toks[i]
		if name := t.pronounZh(s, i); name != "" {
			b.WriteString(s.text[last:tok.start])
			last = tok.end
			b.WriteString(name)
			if s.at(i+1) == "们" {
				home := i + 1 + boolInt(s.at(i+2) == "家") // 我们家 is the home of one of them, too
				switch _, n := prefixZh(s, home+1, kinZh[:]...); {
				case n > 0: // 我们女儿, 我们家女儿
					b.WriteString("的")
					i = home
					last = s.toks[i].end
				case home == i+2: // 我们家老大
					i++
					last = s.toks[i].end
				default:
					b.WriteString("他")
				}
			} else if _, n := prefixZh(s, i+1, kinZh[:]...); n > 0 {
				b.WriteString("的")
			}
		}
		for k := range whens {
			w := &whens[k]
			if w.next-1 == i && !w.habit && w.grain != 'y' && (w.hasDay || past) { // 学校三点半放学 is of no one day
				if !w.hasDay {
					w.set(t.now.day, 'd')
				}
				if past {
					w.past(t.now)
				}
				b.WriteString(s.text[last:tok.end])
				last = tok.end
				b.WriteString("（" + w.chinese() + "）")
			}
		}
	}
	b.WriteString(s.text[last:s.end])
	return heardZh(affirmedZh(commasZh(b.String()))) + "。"
}

// commasZh writes a comma behind a Chinese character as Chinese does.
func commasZh(text string) string {
	for i := 0; i < len(text); i++ {
		if before, _ := utf8.DecodeLastRuneInString(text[:i]); text[i] == ',' && (isHan(before) || before == '）') {
			text = text[:i] + "，" + text[i+1:]
		}
	}
	return text
}

// affirmedZh is a statement without the 不是 and 嘛 by which somebody reminds of it: 我不是换工作了嘛.
func affirmedZh(text string) string {
	head, rest, ok := strings.Cut(text, "不是")
	if !ok || strings.HasSuffix(head, "是") {
		return text
	}
	what, after, ok := strings.Cut(rest, "嘛")
	if !ok || strings.ContainsAny(what, "，,不") || after != "" && !startsWithAny(after, []string{"，", ","}) {
		return text
	}
	return head + what + after
}

// pronounZh names whom 我, 你 or 您 at place i means. It returns nothing for any other word, for 你们, and in a
// title: 《你的名字》.
func (t *talk) pronounZh(s sentence, i int) string {
	word := s.at(i)
	if word != "我" && word != "你" && word != "您" {
		return ""
	}
	if before := s.text[s.start:s.toks[i].start]; strings.Count(before, "《") > strings.Count(before, "》") {
		return ""
	}
	if word == "我" {
		return t.self.name
	}
	if s.at(i+1) == "们" || s.at(i-1) == "迷" {
		return ""
	}
	if a, ok := t.addressee(); ok {
		return a.name
	}
	return "对方"
}

func (t *talk) baseZh(b *bareZh, typ, kind string, p person, confidence float64) abi.Candidate {
	confidence -= doubt(b.s)
	for i := range b.whens {
		if w := &b.whens[i]; w.assumed > 0 && !w.habit && w.day > t.now.day && t.bygoneZh(b.text, b.s.raw(), w) {
			w.past(t.now) // 我六月离职了: the last June
		}
	}
	text := t.rewriteZh(b.s, b.whens, false)
	if !strings.Contains(text, p.name) && p.key == t.self.key {
		text = t.self.name + text
	}
	if p.key != t.self.key && !strings.Contains(text, p.name) {
		text = named(text, p.name)
	}
	return abi.Candidate{
		Type: typ, Kind: kind, Text: text, Lang: "zh", Confidence: confidence, Sensitivity: "personal",
		Spans: []abi.Span{{Start: b.s.start, End: b.s.end}}, Tags: []string{kind}, Entities: []abi.Entity{{Name: p.name, Kind: "person"}},
	}
}

// formerly are attributes that end where 以前 says that something was so. passingZh are those of which 小时候 and 以前 say
// nothing for today.
var (
	formerly  = set("home employer job likes dislikes")
	passingZh = set("allergies avoids afraid_of plays owns pets condition diet")
)

// clipZh cuts off what another clause says behind a value, where no comma stands between: 麸质 of 麸质吃了肚子疼.
func clipZh(value string) string {
	for _, more := range [...]string{"我", "她", "他", "希望", "之前", "以前", "太", "特别", "非常", "不想", "不用"} {
		if i := strings.Index(value, more); (i > 0 || more == "希望") && i >= 0 && i+len(more) < len(value) && !strings.HasPrefix(value[i:], "他人") && !((more == "我" || more == "她" || more == "他") && endsWithAny(value[:i], []string{"给", "让", "叫", "对", "跟", "帮"})) {
			value = value[:i]
		}
	}
	if i := strings.Index(value, "了"); i > 0 && i+len("了") < len(value) {
		if value = value[:i]; !strings.HasSuffix(value, "子") { // 茄子了软趴趴
			_, verb := utf8.DecodeLastRuneInString(value)
			value = value[:i-verb]
		}
	}
	return trimZh(value)
}

func (t *talk) factZh(b *bareZh, p person, kind, attribute, value string, many, negates bool, confidence float64) {
	value = joinedZh(trimZh(value))
	switch attribute {
	case "location":
	case "relatives":
		value = strings.TrimPrefix(value, "个") // 我有个弟弟
	case "pets":
		value = clipZh(petNameZh(value))
	case "job":
		value = strings.TrimPrefix(value, "到") // 做到经理
	default:
		value = clipZh(value)
	}
	if value == "" || vagueZh(value) || kind == "preference" && startsWithAny(value, []string{"那个", "这个", "那种", "这种"}) || courtesyZh[value] || utf8.RuneCountInString(value) > 24 {
		return
	}
	for i := range b.whens {
		w := &b.whens[i]
		if lead, after := b.s.at(w.first-1), b.s.at(w.next); w.grain == 'M' && (lead == "从" || lead == "自" || lead == "打") && (after == "起" || after == "以来" || after == "开始") {
			w.past(t.now) // 从三月起住在波尔图: the last March
		}
	}
	if formerly[attribute] && containsAny(b.s.raw(), "起", "开始") && slices.ContainsFunc(b.whens, func(w when) bool { return w.hasDay && !w.habit && w.day > t.now.day }) {
		return // 我下个月开始在美团上班: not yet
	}
	a := t.baseZh(b, "semantic", kind, p, confidence)
	if attribute == "location" || attribute == "belongs_to" {
		a.Entities[0].Kind = "" // a thing
	}
	then := containsAny(b.s.raw(), "的时候", "小时候", "那会儿", "那时", "那几年", "曾经", "当时", "结婚前", "毕业前")
	if (then || strings.Contains(b.s.raw(), "以前")) && (formerly[attribute] || passingZh[attribute]) {
		if attr := onceWas[attribute]; attr != "" {
			once := a
			once.Kind, once.Tags, once.Confidence = "biography", []string{"biography"}, 0.75-doubt(b.s)
			once.Slot = &abi.Slot{Subject: p.key, Attribute: attr, Value: value, Many: true}
			once.Subject, once.Predicate, once.Object = p.name, attr, value
			t.out.Candidates = append(t.out.Candidates, once)
		}
		if then || passingZh[attribute] { // 大学的时候住在罗马 says nothing of now
			return
		}
		negates = true
	}
	if negates && attribute == "allergies" && !strings.Contains(b.s.raw(), "不再") && !strings.Contains(b.s.raw(), "已经") && !completedZh(b.text) {
		negates, attribute = false, "not_allergies" // nobody need have claimed it
	}
	a.Negates = negates
	if attribute == "employer" && p.key == t.self.key && !negates {
		t.firm = value
	}
	if attribute == "allergies" || attribute == "not_allergies" {
		a.Sensitivity = "private"
	}
	a.Slot = &abi.Slot{Subject: p.key, Attribute: attribute, Value: value, Many: many}
	a.Subject, a.Predicate, a.Object = p.name, attribute, value
	for i := range b.whens {
		if w := &b.whens[i]; w.hasDay && !w.habit && !negates && (attribute == "marital_status" || formerly[attribute] && containsAny(b.s.raw(), "起", "以来", "开始", "加入", "入职")) && w.unix() <= t.ev.At {
			a.TrueFrom = w.unix()
		}
	}
	t.out.Candidates = append(t.out.Candidates, a)
}

// courtesyZh is [courtesy] in Chinese.
var courtesyZh = set("对 对对 是 是的 对的 嗯 好 好的 没错 谢谢 当然")
