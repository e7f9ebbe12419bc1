package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// A sentence that says how something is done, without a list of steps: "to reset the router, hold the button for
// ten seconds", "if the boiler cuts out, press the red button", 那个锁要先把把手抬起来.

// deviceVerbs are the verbs of what is done with a device or with food. What one says to a person, "if you see Tom,
// tell him", has others.
var deviceVerbs = set("press hold turn push pull unplug plug restart reset switch open close lift type click tap hit shake bang add use clean empty remove replace screw unscrew twist soak boil put pour stir fry bake " +
	"simmer rinse drain chop whisk jiggle slide lock unlock insert charge scan dial enter bleed squeeze wind tighten loosen oil descale wipe dip roast peel knead feed water slam kick pump flip cut mix heat warm")

// tip takes a sentence that says how something is done. It reports whether the sentence is one.
func (t *talk) tip(s sentence) bool {
	if len(s.toks) < 5 || len(s.toks) > 40 || s.ends == "?" || s.ends == "？" || orders(s) {
		return false
	}
	if s.chinese() {
		return len(findWhens(s, t.now)) == 0 && t.tipZh(s)
	}
	i := 0
	for i < len(s.toks) && (s.toks[i].kind == 'p' || lead(s.at(i))) {
		i++
	}
	from := -1
	switch w := s.at(i); {
	case w == "to" && s.at(i+1) != "be":
		if l, past, ing := lemma(s.at(i + 1)); l == s.at(i+1) && !past && !ing || deviceVerbs[s.at(i+1)] {
			from = s.doneFrom(i+3, true)
		}
	case w == "if" || w == "when" || w == "whenever":
		if subject := s.at(i + 1); determiner(subject) && !kin(s.at(i+2)) && !profession(s.at(i+2)) || subject == "it" {
			from = s.doneFrom(i+3, false)
		}
	case w == "the":
		if n := s.at(i + 1); n == "trick" || n == "secret" || n == "knack" {
			for k := i + 2; k+2 < min(len(s.toks), i+9); k++ {
				if s.at(k) == "is" && s.at(k+1) == "to" && s.at(k+2) != "be" {
					from = k + 2
				}
			}
		} else if k := s.onlyIf(i + 1); k > 0 {
			from = k
		}
	case w == "always" || w == "never":
		if l, past, ing := lemma(s.at(i + 1)); (l == s.at(i+1) && !past && !ing || deviceVerbs[s.at(i+1)]) && (s.says(i+2, "before") || s.says(i+2, "after") || s.says(i+2, "until")) {
			from = i
		}
	case w == "you":
		k := i + 1
		for s.at(k) == "first" || s.at(k) == "just" || s.at(k) == "have" || s.at(k) == "need" || s.at(k) == "to" || s.at(k) == "must" || s.at(k) == "gotta" {
			k++
		}
		if k > i+1 && deviceVerbs[s.at(k)] && (s.says(k, "then") || s.says(k, "before") || s.says(k, "first") || s.at(i+1) == "first") {
			from = k
		}
	case (w == "i" || w == "we") && (s.at(i+1) == "make" || s.at(i+1) == "cook" || s.at(i+1) == "bake") && determiner(s.at(i+2)):
		for k := i + 3; k+2 < len(s.toks); k++ {
			if s.at(k) == "with" && (counts(s.at(k+1)) || numeric(s.at(k+1))) && measures[trimS(s.at(k+2))] {
				from = k
			}
		}
	}
	if from < 0 || len(findWhens(s, t.now)) > 0 { // looked for last: it takes long
		return false
	}
	c := t.unparsed(s)
	t.procedural(s, t.rewrite(&c), clean(s, i, from), clean(s, from, len(s.toks)), "en")
	return true
}

// measures are what a recipe counts.
var measures = set("part cup spoon spoonful tablespoon teaspoon egg gram g ml litre pinch clove slice")

// doneFrom is the token from i on at which what is to be done begins: after a comma or, if alone may be, by itself
// before somebody is said to do anything. It is -1 where nothing is.
func (s sentence) doneFrom(i int, alone bool) int {
	for k := i; k+1 < len(s.toks); k++ {
		w, before := s.at(k), s.at(k-1)
		if alone && (subjectPronoun(w) && w != "you" || pastForm(w)) {
			alone = false
		}
		if before == "to" || auxiliary(before) || determiner(before) || preposition(before) {
			continue
		}
		if before == "," {
			for w == "you" || w == "just" || w == "first" || w == "have" || w == "need" || w == "to" || w == "then" || w == "always" || w == "simply" {
				k++
				w = s.at(k)
			}
			if deviceVerbs[w] {
				return k
			}
			return -1
		}
		if alone && deviceVerbs[w] && !subjectPronoun(before) && (determiner(s.at(k+1)) || counts(s.at(k+1))) {
			return k
		}
	}
	return -1
}

// onlyIf reads "only starts if you slam the door" after the thing that begins at token i; 0 where it is not there.
func (s sentence) onlyIf(i int) int {
	for k := i; k < min(len(s.toks)-4, i+5); k++ {
		if s.at(k) == "only" && (s.at(k+2) == "if" || s.at(k+2) == "when") && s.at(k+3) == "you" && deviceVerbs[s.at(k+4)] {
			return k + 4
		}
	}
	return 0
}

// says reports whether the word w stands from token i on.
func (s sentence) says(i int, w string) bool {
	for ; i < len(s.toks); i++ {
		if s.at(i) == w {
			return true
		}
	}
	return false
}

// procedural proposes a procedure of one step.
func (t *talk) procedural(s sentence, text, title, step, lang string) {
	if title == "" {
		title = step
	}
	title = cut(title, maxName)
	t.out.Candidates = append(t.out.Candidates, abi.Candidate{
		Type: "procedural", Kind: "how-to", Text: text, Lang: lang, Confidence: 0.7 - doubt(s), Sensitivity: "personal",
		Spans: []abi.Span{{Start: s.start, End: s.end}}, EntryType: entryType(title), Title: title, Details: title, Steps: []string{step}, Tags: []string{"how-to"},
	})
}

// deviceVerbsZh are the verbs of what is done with a device or with food.
var deviceVerbsZh = []string{"长按", "按住", "按下", "按两下", "按", "拔掉", "拔", "拧", "关掉", "断电", "重启", "打开", "点击", "点", "输入", "用力", "使劲", "轻轻", "抬", "推", "拉", "转", "敲", "拍", "插", "泡", "煮", "蒸", "炒", "加", "放", "烤", "焯", "腌", "把", "先", "用"}

// tipZh is tip of a Chinese sentence: 路由器重启要按住按钮十秒, 锅炉熄火了就按红色按钮, 洗衣机要用力关门才能启动.
func (t *talk) tipZh(s sentence) bool {
	x := stripLeadZh(strings.Trim(s.raw(), " ，,。！!"))
	if n := utf8.RuneCountInString(x); n < 7 || n > 40 || strings.ContainsAny(x, "我你他她您吗吧") || containsAny(x, "昨天", "明天", "今天", "上周", "下周", "医生", "老师", "大夫", "孩子", "没", "说", "过的", "公司", "学校", "项目", "部门", "团队", "牙", "齿", "大家", "学生", "人") || strings.HasSuffix(x, "了") || kinPrefixZh(x) != "" || namePrefixZh(x) != "" {
		return false
	}
	for _, k := range [...]string{"之前要先", "要先", "得先", "必须先", "需要先", "之前要", "要", "得", "必须", "需要", "了就", "就"} {
		title, step, ok := strings.Cut(x, k)
		if n := utf8.RuneCountInString(title); !ok || n < 1 || n > 14 || !startsWithAny(step, deviceVerbsZh) || utf8.RuneCountInString(step) < 3 || endsWithAny(title, []string{"不", "只", "想", "还", "需", "主", "重", "早", "马上", "快"}) {
			continue
		}
		first := strings.HasSuffix(k, "先")
		switch {
		case strings.Contains(step, "才能") || strings.Contains(step, "才会") || strings.Contains(step, "才行"):
		case first && (strings.Contains(step, "再") || strings.HasPrefix(step, "把")):
		case containsAny(step, "按钮", "键", "门铃", "开关", "插头", "电源", "螺丝", "阀") && (k == "要" || k == "得" || strings.HasSuffix(k, "就")):
		default:
			continue
		}
		if first {
			step = "先" + step
		}
		t.procedural(s, strings.Trim(s.raw(), " ，,。！!")+"。", title, step, "zh")
		return true
	}
	return false
}
