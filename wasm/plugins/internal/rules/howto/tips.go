package howto

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// A sentence that says how something is done, without a list of steps: "to reset the router, hold the button for
// ten seconds", "if the boiler cuts out, press the red button", 那个锁要先把把手抬起来.

// deviceVerbs are verbs for what is done with a device or with food. Advice about a person, "if you
// see Tom, tell him", has other verbs.
var deviceVerbs = syntax.Set("press hold turn push pull unplug plug restart reset switch open close lift type click tap hit shake bang add use clean empty remove replace screw unscrew twist soak boil put pour stir fry bake " +
	"simmer rinse drain chop whisk jiggle slide lock unlock insert charge scan dial enter bleed squeeze wind tighten loosen oil descale wipe dip roast peel knead feed water slam kick pump flip cut mix heat warm grease fill")

// Tip takes a sentence that says how something is done. It reports whether the sentence is one.
func Tip(t *discourse.Talk, s syntax.Sentence) bool {
	if len(s.Toks) < 4 || len(s.Toks) > 40 || s.Ends == "?" || s.Ends == "？" || noted.Orders(s) {
		return false
	}
	if s.Chinese() {
		return len(timex.FindWhens(s, t.Now)) == 0 && tipZh(t, s)
	}
	i := 0
	for i < len(s.Toks) && (s.Toks[i].Kind == 'p' || syntax.Lead(s.At(i))) {
		i++
	}
	from, title := -1, ""
	switch w := s.At(i); {
	case w == "to" && s.At(i+1) != "be":
		if l, past, ing := syntax.Lemma(s.At(i + 1)); l == s.At(i+1) && !past && !ing || deviceVerbs[s.At(i+1)] || s.At(i+1) == "book" {
			from = doneFrom(s, i+3, true)
		}
	case w == "if" || w == "when" || w == "whenever":
		if subject := s.At(i + 1); syntax.Determiner(subject) && !syntax.Kin(s.At(i+2)) && !syntax.Profession(s.At(i+2)) || subject == "it" {
			from = doneFrom(s, i+3, false)
		}
	case w == "the":
		if n := s.At(i + 1); s.At(i+3) != "being" && (n == "trick" || n == "secret" || n == "knack") {
			for k := i + 2; k+2 < min(len(s.Toks), i+12); k++ {
				if s.At(k) == "is" && s.At(k+1) == "to" && s.At(k+2) != "be" {
					from = k + 2
				}
			}
		} else if k := onlyIf(s, i+1); k > 0 {
			from = k
		}
	case w == "always" || w == "never":
		if l, past, ing := syntax.Lemma(s.At(i + 1)); (l == s.At(i+1) && !past && !ing || deviceVerbs[s.At(i+1)]) && (says(s, i+2, "before") || says(s, i+2, "after") || says(s, i+2, "until")) {
			from = i
		}
	case w == "you":
		if by := byDoing(s, i+1); by > 0 {
			from = by
			break
		}
		k := i + 1
		for s.At(k) == "first" || s.At(k) == "just" || s.At(k) == "have" || s.At(k) == "need" || s.At(k) == "to" || s.At(k) == "must" || s.At(k) == "gotta" {
			k++
		}
		if k > i+1 && deviceVerbs[s.At(k)] && (says(s, k, "then") || says(s, k, "before") || says(s, k, "first") || s.At(i+1) == "first") {
			from = k
		}
	case w == "first" && s.At(i+1) == "you" && deviceVerbs[s.At(i+2)] && (syntax.Determiner(s.At(i+3)) || s.At(i+3) == "it") && thenDone(s, i+4):
		from = i + 2
	case (w == "i" || w == "we") && (s.At(i+1) == "make" || s.At(i+1) == "cook" || s.At(i+1) == "bake") && syntax.Determiner(s.At(i+2)):
		for k := i + 3; k+2 < len(s.Toks); k++ {
			if s.At(k) == "with" && (noted.Counts(s.At(k+1)) || syntax.Numeric(s.At(k+1))) && measures[syntax.Singular(s.At(k+2))] {
				from = k
			}
		}
	case deviceVerbs[w] && (syntax.Determiner(s.At(i+1)) || s.At(i+1) == "it"):
		if b := t.JustSaid(); b != nil {
			title = asked(t)
			works, ok := strings.CutSuffix(title, " work")
			switch {
			case title == "" || syntax.HasHan(b.Text) || !strings.HasSuffix(strings.TrimSpace(b.Text), "?"):
			case ok && strings.Contains(strings.ToLower(b.Text), "how does"):
				from, title = i, "How "+works+" works"
			case !strings.Contains(strings.ToLower(b.Text), "how does"):
				from, title = i, howTo(t, title, "")
			}
		}
	}
	if from < 0 || len(timex.FindWhens(s, t.Now)) > 0 { // checked last, because it takes long
		return false
	}
	c := refuse.Unparsed(t, s)
	text, step := t.Rewrite(&c), clean(s, from, len(s.Toks))
	if title == "" {
		title = clean(s, i, from)
	} else {
		text = title + ": " + step + "."
	}
	procedural(t, s, text, title, step, "en")
	return true
}

// measures are units in recipes.
var measures = syntax.Set("part cup spoon spoonful tablespoon teaspoon egg gram g ml litre pinch clove slice")

// doneFrom returns the token from i on at which the instruction begins: after a comma or, if alone
// may be, by itself before somebody is said to do anything. It returns -1 if there is none.
func doneFrom(s syntax.Sentence, i int, alone bool) int {
	for k := i; k+1 < len(s.Toks); k++ {
		w, before := s.At(k), s.At(k-1)
		if alone && (syntax.SubjectPronoun(w) && w != "you" || syntax.PastForm(w)) {
			alone = false
		}
		if before == "to" || syntax.Auxiliary(before) || syntax.Determiner(before) || syntax.Preposition(before) {
			continue
		}
		if before == "," {
			for w == "you" || w == "just" || w == "first" || w == "have" || w == "need" || w == "to" || w == "then" || w == "always" || w == "simply" {
				k++
				w = s.At(k)
			}
			if deviceVerbs[w] {
				return k
			}
			return -1
		}
		if alone && before == "you" && w == "go" && (s.At(k+1) == "through" || s.At(k+1) == "into" || s.At(k+1) == "to" || s.At(k+1) == "on") && !toPerson(s, i) {
			return k // "to book the room you go through the intranet"
		}
		if alone && deviceVerbs[w] && (!syntax.SubjectPronoun(before) || before == "you") && (syntax.Determiner(s.At(k+1)) || noted.Counts(s.At(k+1))) {
			return k
		}
	}
	return -1
}

// toPerson reports whether a sentence names a person by a pronoun or as kin from token i-2 on: "to get to her you
// go through me".
func toPerson(s syntax.Sentence, i int) bool {
	for k := max(i-2, 0); k < len(s.Toks); k++ {
		switch w := s.At(k); w {
		case "me", "him", "her", "them", "us", "my":
			return true
		default:
			if syntax.Kin(w) {
				return true
			}
		}
	}
	return false
}

// thenDone reports whether from token i on, "then" is followed by something that is done with a device or food.
func thenDone(s syntax.Sentence, i int) bool {
	for ; i < len(s.Toks); i++ {
		if s.At(i) == "then" {
			return deviceVerbs[s.At(i+1)] || s.At(i+1) == "you" && deviceVerbs[s.At(i+2)]
		}
	}
	return false
}

// byDoing reads "descale it by filling the tank" at token i, and returns where "filling" is, or 0.
func byDoing(s syntax.Sentence, i int) int {
	for k := i + 2; (deviceVerbs[s.At(i)] || s.At(i) == "start") && k+1 < min(len(s.Toks), i+8); k++ {
		if s.At(k) == "by" && deviceVerbOf(s.At(k+1)) != "" && (syntax.Determiner(s.At(k+2)) || s.At(k+2) == "it") {
			return k + 1
		}
	}
	return 0
}

// onlyIf reads "only starts if you slam the door" after the thing that begins at token i; it
// returns 0 if it is not there.
func onlyIf(s syntax.Sentence, i int) int {
	for k := i; k < min(len(s.Toks)-4, i+5); k++ {
		if s.At(k) == "only" && (s.At(k+2) == "if" || s.At(k+2) == "when") && s.At(k+3) == "you" && deviceVerbs[s.At(k+4)] {
			return k + 4
		}
	}
	return 0
}

// says reports whether the word w is in the sentence from token i on.
func says(s syntax.Sentence, i int, w string) bool {
	for ; i < len(s.Toks); i++ {
		if s.At(i) == w {
			return true
		}
	}
	return false
}

// procedural proposes a procedure of one step.
func procedural(t *discourse.Talk, s syntax.Sentence, text, title, step, lang string) {
	if title == "" {
		title = step
	}
	title = syntax.Cut(title, discourse.MaxName)
	t.Out.Candidates = append(t.Out.Candidates, abi.Candidate{
		Type: "procedural", Kind: "how-to", Text: text, Lang: lang, Confidence: 0.7 - discourse.Doubt(s), Sensitivity: "personal",
		Spans: []abi.Span{{Start: s.Start, End: s.End}}, EntryType: entryType(title), Title: title, Details: title, Steps: []string{step}, Tags: []string{"how-to"},
	})
}

// deviceVerbsZh are verbs for what is done with a device or with food.
var deviceVerbsZh = []string{"长按", "按住", "按下", "按两下", "按", "拔掉", "拔", "拧", "关掉", "断电", "重启", "打开", "点击", "点", "输入", "用力", "使劲", "轻轻", "抬", "推", "拉", "转", "敲", "拍", "插", "泡", "煮", "蒸", "炒", "加", "放", "倒", "烤", "焯", "腌", "把", "先", "用", "往"}

// choresZh are verbs for what a tip in Chinese is for: 去水垢就往壶里倒点白醋, 洗羊毛衫要用冷水.
var choresZh = []string{"洗", "擦", "去水垢", "去油", "去污", "去霉", "去异味", "除", "通下水", "通马桶", "拆", "刷", "清洗", "清理", "煮", "炖", "蒸", "腌", "和面", "焯"}

// tipZh is Tip for a Chinese sentence: 路由器重启要按住按钮十秒, 锅炉熄火了就按红色按钮, 洗衣机要用力关门才能启动.
func tipZh(t *discourse.Talk, s syntax.Sentence) bool {
	x := syntax.StripLeadZh(strings.Trim(s.Raw(), " ，,。！!"))
	if n := utf8.RuneCountInString(x); n < 7 || n > 40 || strings.ContainsAny(x, "我你他她您吗吧") || syntax.ContainsAny(x, "昨天", "明天", "今天", "上周", "下周", "医生", "老师", "大夫", "孩子", "没", "说", "过的", "公司", "学校", "项目", "部门", "团队", "牙", "齿", "大家", "学生", "人") || strings.HasSuffix(x, "了") || syntax.KinPrefixZh(x) != "" || discourse.NamePrefixZh(x) != "" {
		return false
	}
	for _, k := range [...]string{"之前要先", "要先", "得先", "必须先", "需要先", "之前要", "要", "得", "必须", "需要", "了就", "就"} {
		title, step, ok := strings.Cut(x, k)
		if n := utf8.RuneCountInString(title); !ok || n < 1 || n > 14 || !syntax.StartsWithAny(step, deviceVerbsZh) || utf8.RuneCountInString(step) < 3 || syntax.EndsWithAny(title, []string{"不", "只", "想", "还", "需", "主", "重", "早", "马上", "快"}) {
			continue
		}
		first := strings.HasSuffix(k, "先")
		switch {
		case strings.Contains(step, "才能") || strings.Contains(step, "才会") || strings.Contains(step, "才行"):
		case strings.HasPrefix(step, "往") && (k == "就" || k == "了就") && syntax.StartsWithAny(title, choresZh) && syntax.ContainsAny(step, "倒", "加", "放", "撒", "拧", "推"):
		case strings.HasPrefix(step, "用") && (k == "要" || k == "得" || k == "就") && syntax.StartsWithAny(title, choresZh):
		case first && (strings.Contains(step, "再") || strings.HasPrefix(step, "把")):
		case syntax.ContainsAny(step, "按钮", "键", "门铃", "开关", "插头", "电源", "螺丝", "阀") && (k == "要" || k == "得" || strings.HasSuffix(k, "就")):
		default:
			continue
		}
		if first {
			step = "先" + step
		}
		procedural(t, s, strings.Trim(s.Raw(), " ，,。！!")+"。", title, step, "zh")
		return true
	}
	return false
}

// askedHowZh returns what the previous turn asks how to do, as the title of a procedure: 螃蟹怎么吃 for
// 这螃蟹怎么吃啊. It returns "" if that turn asks nothing of the kind.
func askedHowZh(t *discourse.Talk) string {
	const most = 14 // characters
	b := t.JustSaid()
	if b == nil {
		return ""
	}
	x := strings.TrimRight(syntax.StripLeadZh(b.Text), "？?。！!啊呀呢 ")
	x = syntax.TrimHeads(x, "这个", "那个", "这", "那", "请问")
	thing, deed, ok := strings.Cut(x, "怎么")
	if to, after, found := strings.Cut(deed, "给"); ok && thing == "" && found && to == "" {
		x = after // 怎么给路由器重启
		thing = after
	}
	if !ok || thing == "" || deed == "" || utf8.RuneCountInString(x) > most || strings.ContainsAny(x, "，,我你您他她了") || syntax.StartsWithAny(deed, []string{"样", "这", "那", "会", "回事", "没", "不", "卖"}) {
		return ""
	}
	return x
}

// deviceVerbOf returns the verb of [deviceVerbs] of which w is the present participle: soak for soaking, "" if
// there is none.
func deviceVerbOf(w string) string {
	base, ing := strings.CutSuffix(w, "ing")
	for _, verb := range [...]string{base, base + "e", base[:max(len(base)-1, 0)]} {
		if ing && deviceVerbs[verb] {
			return verb
		}
	}
	return ""
}
