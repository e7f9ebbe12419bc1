// Package howto finds how something is done, step by step, in one text or in several turns.
package howto

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Procedure takes a whole piece that says how something is done: "To descale
// the machine, first …, then …, finally …", numbered lists, 首先…然后…最后….
func Procedure(t *discourse.Talk, toks []syntax.Token) bool {
	if len(toks) > 0 && toks[0].Kind == 'p' {
		toks = toks[syntax.MarksBefore(toks):]
	}
	if len(toks) < 8 {
		return false
	}
	s := syntax.Sentence{Text: t.Ev.Text, Toks: toks, Start: toks[0].Start, End: toks[len(toks)-1].End, Ends: "", Memo: nil}
	zh := s.Chinese()
	type mark struct{ at, after int }
	var marks []mark
	order := 0
	for i := 0; i < len(toks); i++ {
		n := 0
		if zh {
			_, n = syntax.PrefixZh(s, i, "首先", "第一步", "第二步", "第三步", "第四步", "第五步", "第六步", "先", "然后", "接着", "接下来", "之后", "再", "最后")
			if n == 1 && i > 0 && toks[i-1].Kind != 'p' && !(s.At(i) == "先" && len(marks) == 0) {
				n = 0
			}
			if n == 1 && len(marks) == 0 && s.At(i) == "再" {
				n = 0
			}
		} else {
			n = stepMark(s, i, order)
		}
		if n == 0 {
			continue
		}
		marks = append(marks, mark{i, i + n})
		order++
		i += n - 1
	}
	if len(marks) < 2 || len(marks) == 2 && !stronger(s, marks[0].at, zh) {
		return !zh && orders(t, s) || zh && fewStepsZh(t, s)
	}
	if w := s.At(marks[0].at); !zh && (w == "then" || w == "next" || w == "finally" || w == "after") && marks[0].at > 0 && !goal(s, marks[0].at) {
		return false
	}
	var steps []string
	for k, m := range marks {
		end := len(toks)
		if k+1 < len(marks) {
			end = marks[k+1].at
		}
		step := clean(s, m.after, end)
		if verb := deviceVerbOf(s.At(m.after)); k == 0 && s.At(m.at+1) == "by" {
			step = verb + s.Text[s.Toks[m.after].End:s.Toks[m.after].End+len(step)-len(s.At(m.after))] // "start by soaking the beans"
		}
		if step == "" {
			continue
		}
		steps = append(steps, splitStep(t, step)...)
	}
	head := clean(s, syntax.BoolInt(marks[0].at == 1 && s.At(0) == "you"), marks[0].at) // "you start by soaking the beans"
	if k := colon(s, marks[0].at); !zh && k > 0 && (s.At(marks[0].at) == "then" || s.At(marks[0].at) == "next" || s.At(marks[0].at) == "after") {
		steps = append(splitStep(t, clean(s, k+1, marks[0].at)), steps...) // "you start like this: …"
		if title, _, cut := strings.Cut(clean(s, 0, k), ". "); cut {
			head = title
		}
	}
	if from, k := wayIs(s, marks[0].at); !zh && k > 0 {
		steps = append(splitStep(t, clean(s, k+1, marks[0].at)), steps...) // "the way I make porridge is you soak the oats, then …"
		head = clean(s, from, k)
	}
	if !zh && !goal(s, marks[0].at) && s.At(marks[0].at+1) != "by" || len(steps) < 2 || narrative(s, zh) {
		if len(steps) < 3 || narrative(s, zh) {
			return false
		}
	}
	if zh && len(steps) == 2 && syntax.ContainsAny(steps[0], "这个", "这里", "这儿", "那个") {
		return false // 先点这个加号然后点扫一扫: somebody who does not see it learns nothing
	}
	if zh && len(steps) == 2 && bidden(t, head) && askedHowZh(t) == "" {
		return false // 先把菜洗了，再把肉切了
	}
	title := head
	if !zh && !goal(s, marks[0].at) || head == "" || len(strings.Fields(head)) < 3 {
		if asked := asked(t); asked != "" {
			title = asked
		}
	}
	guide(t, title, steps, zh, []abi.Span{{Start: s.Start, End: s.End}})
	return true
}

// guide proposes how something is done.
func guide(t *discourse.Talk, title string, steps []string, zh bool, spans []abi.Span) {
	lang, body := "en", ""
	if zh {
		if title = syntax.TrimTails(strings.TrimRight(title, " ,:，："), "都是", "都", "一般", "就是", "的话", "我", "，"); title == "" {
			if title = askedHowZh(t); title == "" {
				title = steps[0]
			}
		}
		lang, body = "zh", title+"："+strings.Join(steps, "；")+"。"
	} else {
		if entry := entryType(title); entry == "guide" && !titled(title) {
			title = howTo(t, title, steps[0])
		} else {
			title = strings.TrimRight(title, " ,:.!")
			for _, who := range [...]string{" I", " we"} {
				title = strings.TrimRight(strings.TrimSuffix(title, who), " ,")
			}
			title = strings.TrimSuffix(discourse.SentenceCase(title), ".")
		}
		body = title + ": " + strings.Join(steps, "; ") + "."
	}
	t.Out.Candidates = append(t.Out.Candidates, abi.Candidate{
		Type: "procedural", Kind: "how-to", Text: body, Lang: lang, Confidence: 0.88, Sensitivity: "public",
		Spans: spans, EntryType: entryType(title), Title: title, Details: title, Steps: steps, Tags: []string{"how-to"},
	})
}

// entryType returns what kind of procedure a title names: a workflow is done again and again or
// whenever something happens, a script is said or typed exactly, everything else is a guide.
func entryType(title string) string {
	words := strings.Fields(strings.ToLower(strings.Trim(title, " ,.:")))
	for i, w := range words {
		switch w = strings.Trim(w, ",."); {
		case w == "script" || w == "commands":
			return "script"
		case w == "checklist" || w == "routine" || w == "workflow" || i == 0 && (w == "when" || w == "whenever" || w == "if" || w == "every" || w == "each"):
			return "workflow"
		}
	}
	switch {
	case syntax.ContainsAny(title, "脚本", "话术"):
		return "script"
	case syntax.ContainsAny(title, "的时候", "每天", "每次", "每周", "每晚", "流程", "清单") || strings.HasSuffix(title, "时"):
		return "workflow"
	}
	return "guide"
}

// titled reports whether a heading is used without "how to": "Recipe for pancakes".
func titled(title string) bool {
	words := strings.Fields(strings.ToLower(strings.Trim(title, " ,.:")))
	if len(words) > 1 && (words[0] == "the" || words[0] == "my" || words[0] == "our") {
		words = words[1:]
	}
	return len(words) > 1 && (words[0] == "recipe" || words[0] == "instructions" || words[0] == "steps") && words[1] == "for"
}

// splitStep leaves a step whole, unless it has several sentences, which become steps.
func splitStep(t *discourse.Talk, step string) []string {
	var all []string
	for _, s := range syntax.Sentences(step) {
		if r := bareStep(strings.Trim(s.Raw(), " ,，")); r != "" && len(s.Toks) > 1 {
			all = append(all, r)
		}
	}
	return all
}

// colon returns the last colon before token n, or 0.
func colon(s syntax.Sentence, n int) int {
	for n--; n > 0 && s.At(n) != ":"; n-- {
	}
	return max(n, 0)
}

// bareStep returns a step as a command: "you empty the tank" as "empty the tank".
func bareStep(s string) string {
	for _, you := range [...]string{"you'll need to ", "you need to ", "you have to ", "you just ", "you ", "I ", "we ", "才"} {
		if len(s) > len(you) && strings.EqualFold(s[:len(you)], you) {
			return s[len(you):]
		}
	}
	return s
}

// howTo returns the title of a guide: "How to descale the coffee machine".
func howTo(t *discourse.Talk, title, step string) string {
	title = strings.TrimRight(title, " ,:.!?")
	for _, asked := range [...]string{"how do i ", "how do you ", "how do we ", "how can i ", "how should i ", "how does one "} {
		if len(title) > len(asked) && strings.EqualFold(title[:len(asked)], asked) {
			return "How to " + title[len(asked):]
		}
	}
	words := strings.Fields(title)
	for k, w := range words { // from the goal on: "right, here's how you …", "to …"
		w = strings.Trim(strings.ToLower(w), ",.:")
		if (w == "to" || w == "you" || w == "we" || w == "i") && k+1 < len(words) && (k == 0 || w != "you" || strings.EqualFold(words[k-1], "how")) {
			if l, _, _ := syntax.Lemma(strings.ToLower(words[k+1])); l != "" || w == "to" || k > 0 && strings.EqualFold(words[k-1], "how") {
				words = words[k+1:]
				break
			}
		}
	}
	for n := len(words); n > 1 && (strings.EqualFold(words[n-1], "you") || strings.EqualFold(words[n-1], "anyway")); n = len(words) {
		words = words[:n-1]
	}
	what := strings.TrimRight(strings.Join(words, " "), " ,:.")
	if what == "" {
		what = step
	}
	for _, vague := range [...]string{" that thing", " this thing", " the thing", " it", " this", " that"} {
		if head, ok := strings.CutSuffix(what, vague); ok {
			if thing := lastThing(t); thing != "" {
				what = head + " " + thing
			}
			break
		}
	}
	if what[0] >= 'A' && what[0] <= 'Z' && (len(what) < 2 || what[1] >= 'a') {
		what = string(what[0]+32) + what[1:]
	}
	return "How to " + what
}

// lastThing returns the beginning of one of the last turns: "the coffee machine" for "The coffee
// machine is flashing at me again."
func lastThing(t *discourse.Talk) string {
	for i := len(t.Ev.Before) - 1; i >= max(0, len(t.Ev.Before)-4); i-- {
		for _, s := range syntax.Sentences(t.Ev.Before[i].Text) {
			if s.Chinese() || s.At(0) != "the" && s.At(0) != "our" {
				continue
			}
			for k := 1; k < min(len(s.Toks), 5); k++ {
				if base, rest := syntax.Contraction(s.At(k)); syntax.Auxiliary(base) || rest != "" {
					if k > 1 {
						return "the " + s.Text[s.Toks[1].Start:s.Toks[k-1].End]
					}
					break
				}
			}
		}
	}
	return ""
}

// stepMark recognises a word or number that begins a step.
func stepMark(s syntax.Sentence, i, order int) int {
	begins := i == 0 || order == 0 && (s.At(i-1) == "i" || s.At(i-1) == "we") || s.Toks[i-1].Kind == 'p' || s.At(i-1) == "and" || s.At(i-1) == "so" || s.At(i-1) == "you"
	if i > 1 && s.At(i-1) == "you" {
		begins = true
	}
	switch s.At(i) {
	case "first", "firstly", "second", "secondly", "third", "thirdly", "fourth", "fifth", "finally", "lastly", "next":
		if begins && !(s.At(i) == "next" && (unitWord(s.At(i+1)) || syntax.WeekdayOf(s.At(i+1), false) >= 0)) {
			if n := s.At(i + 1); n == "of" || n == "time" || n == "half" {
				return 0
			}
			return 1
		}
	case "start", "begin":
		if begins && order == 0 && s.At(i+1) == "by" && (i == 0 || s.At(i-1) == "you") && deviceVerbOf(s.At(i+2)) != "" && syntax.Determiner(s.At(i+3)) {
			return 2
		}
	case "then":
		if begins && order > 0 || begins && i > 0 && goal(s, i) {
			return 1
		}
	case "in", "last":
		if begins && order > 0 {
			switch s.At(i) + " " + s.At(i+1) + " " + s.At(i+2) {
			case "in the end", "last of all":
				return 3
			}
			if s.At(i) == "last" && s.At(i+1) == "step" {
				return 2
			}
		}
	case "after":
		if begins && (s.At(i+1) == "that" || s.At(i+1) == "which") && (order > 0 || goal(s, i)) {
			return 2
		}
	case "step":
		if _, ok := syntax.Number(s.At(i + 1)); ok {
			return 2
		}
	}
	if n, ok := syntax.Number(s.At(i)); ok && s.Toks[i].Kind == 'n' && n == order+1 && (s.At(i+1) == "." || s.At(i+1) == ")" || s.At(i+1) == ":") && (i == 0 || s.Toks[i-1].Kind == 'p') {
		return 2
	}
	return 0
}

func unitWord(s string) bool { _, _, ok := timex.UnitOf(s); return ok }

// goal reports whether the text before token n says what the steps are for.
func goal(s syntax.Sentence, n int) bool {
	for i := 0; i < n; i++ {
		switch s.At(i) {
		case "to":
			if i == 0 || s.Toks[i-1].Kind == 'p' || s.At(i-1) == "how" || s.At(i-1) == "so" || s.At(i-1) == "way" || s.At(i-1) == "want" || s.At(i-1) == "trick" {
				return true
			}
		case "how", "recipe", "trick", "instructions", "steps", "way", "procedure", "when", "if", "for":
			return true
		}
	}
	return n == 0
}

func stronger(s syntax.Sentence, at int, zh bool) bool {
	if zh {
		return s.At(at) == "首" || s.At(at) == "先" || s.At(at) == "第"
	}
	return goal(s, at) && at > 0 || s.At(at+1) == "by" || s.At(at) == "step" || s.Toks[at].Kind == 'n'
}

// narrative reports whether a sentence is like "first we went to the park, then we had lunch", and
// not a how-to.
func narrative(s syntax.Sentence, zh bool) bool {
	if zh {
		raw := s.Raw()
		return strings.Contains(raw, "昨天") || strings.Contains(raw, "我们去了") || strings.Contains(raw, "了") && strings.Contains(raw, "我们") && strings.Contains(raw, "去了")
	}
	past, present := 0, 0
	for i := range s.Toks {
		if l, p, ing := syntax.Lemma(s.At(i)); l != "" && !ing {
			if p && l != "be" && l != "put" && l != "read" && l != "cut" && l != "set" && l != "shut" {
				past++
			} else if !p {
				present++
			}
		}
	}
	return past > present
}

func clean(s syntax.Sentence, i, j int) string {
	for i < j && (s.Toks[i].Kind == 'p' || s.At(i) == "and" || s.At(i) == "so" || s.At(i) == "you" && j-i > 2 && i == 0) {
		i++
	}
	for j > i && (s.Toks[j-1].Kind == 'p' && s.At(j-1) != ")" || s.At(j-1) == "and") {
		j--
	}
	if i >= j {
		return ""
	}
	return s.Text[s.Toks[i].Start:s.Toks[j-1].End]
}

// asked returns what one of the last turns asked how to do: "Descale that thing".
func asked(t *discourse.Talk) string { return askedBefore(t, len(t.Ev.Before)) }

// askedBefore is asked for the turns before turn n.
func askedBefore(t *discourse.Talk, n int) string {
	for i := n - 1; i >= max(0, n-2); i-- {
		text := t.Ev.Before[i].Text
		if low := strings.ToLower(text); !strings.Contains(low, "how") && !strings.Contains(low, "怎么") && !strings.Contains(low, "如何") {
			continue
		}
		for _, s := range syntax.Sentences(text) {
			k := 0
			for syntax.Lead(s.At(k)) || s.At(k) == "," {
				k++
			}
			for h := k; h+1 < len(s.Toks); h++ {
				if s.At(h) != "how" {
					continue
				}
				switch s.At(h + 1) {
				case "do", "can", "to", "does", "should", "would":
				default:
					continue
				}
				h += 2
				if syntax.SubjectPronoun(s.At(h)) || s.At(h) == "one" {
					h++
				}
				if h < len(s.Toks) {
					return clean(s, h, len(s.Toks))
				}
			}
			if w, n := syntax.PrefixZh(s, k, "怎么", "如何"); n > 0 && w != "" && k+n < len(s.Toks) {
				return clean(s, k+n, len(s.Toks))
			}
		}
	}
	return ""
}
