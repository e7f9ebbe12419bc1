package rules

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// stepWithin is how long after one step, in ms, the next is said.
const stepWithin = 3 * 60 * 1000

// opening words of a step, and which of the steps they open.
var (
	firstZh = []string{"首先", "第一步", "先"}
	nextZh  = []string{"然后", "接着", "接下来", "之后", "再", "第二步", "第三步", "第四步", "第五步"}
	lastZh  = []string{"最后"}
)

// opens says what a turn begins with: 'f' the first step, 'n' a further one,
// 'l' the last, 0 no step; and after which token its words begin.
func opens(s sentence) (kind byte, after int) {
	i := 0
	for lead(s.at(i)) && s.at(i) != "then" || i < len(s.toks) && s.toks[i].kind == 'p' {
		i++
	}
	if s.chinese() {
		for k, words := range [...][]string{firstZh, nextZh, lastZh} {
			if _, n := prefixZh(s, i, words...); n > 0 {
				return "fnl"[k], i + n
			}
		}
		return 0, 0
	}
	switch s.at(i) {
	case "first", "firstly":
		return 'f', i + 1
	case "then", "next", "second", "secondly", "third", "thirdly":
		return 'n', i + 1
	case "finally", "lastly":
		return 'l', i + 1
	}
	switch s.at(i) + " " + s.at(i+1) {
	case "step one", "step 1":
		return 'f', i + 2
	case "after that", "step two", "step 2", "step three", "step 3":
		return 'n', i + 2
	case "last step":
		return 'l', i + 2
	}
	if s.at(i)+" "+s.at(i+1)+" "+s.at(i+2) == "in the end" {
		return 'l', i + 3
	}
	return 0, 0
}

// whole is a text as one sentence.
func whole(text string) (s sentence, ok bool) {
	toks := lex(text)
	if len(toks) == 0 {
		return s, false
	}
	return sentence{text, toks, toks[0].start, toks[len(toks)-1].end, "", nil}, true
}

// sequence takes the last step of what was said over several turns: "First
// you unplug it." "Then you wait." "Finally you plug it back in." Others may
// say a few words between.
func (t *talk) sequence(toks []token) bool {
	if len(toks) == 0 || len(t.ev.Before) == 0 {
		return false
	}
	s := sentence{t.ev.Text, toks, toks[0].start, toks[len(toks)-1].end, "", nil}
	kind, after := opens(s)
	if kind != 'l' || narrative(s, s.chinese()) {
		return false
	}
	zh := s.chinese()
	steps := t.splitStep(clean(s, after, len(s.toks)))
	spans := []abi.Span{{Start: s.start, End: s.end}}
	at := t.ev.At
	for i := len(t.ev.Before) - 1; i >= 0; i-- {
		b := &t.ev.Before[i]
		o, ok := whole(b.Text)
		if !ok || at-b.At > stepWithin {
			return false
		}
		if b.Speaker != t.ev.Speaker {
			if len(o.toks) > 8 {
				return false
			}
			continue
		}
		at = b.At
		kind, after := opens(o)
		if kind != 'f' && kind != 'n' || narrative(o, zh) || o.chinese() != zh {
			return false
		}
		steps = append(t.splitStep(clean(o, after, len(o.toks))), steps...)
		spans = append(spans, abi.Span{Turn: i - len(t.ev.Before), Start: o.start, End: o.end})
		if kind == 'f' {
			if len(steps) < 3 {
				return false
			}
			t.guide(t.askedBefore(i), steps, zh, spans)
			return true
		}
	}
	return false
}

// orders takes steps that no word counts: "To make the dressing: mix oil and
// lemon, add mustard, then shake it", or the like as an answer to "how do you
// …?". Each begins with what is to be done.
func (t *talk) orders(s sentence) bool {
	first, title := 0, ""
	if s.at(0) == "to" || s.at(0) == "how" || s.at(0) == "recipe" || s.at(0) == "instructions" || s.at(0) == "steps" || s.at(0) == "this" && s.at(1) == "is" && s.at(2) == "how" || s.at(0) == "here" && s.at(1) == "is" && s.at(2) == "how" || s.at(0) == "here's" && s.at(1) == "how" {
		for k := range s.toks {
			if w := s.at(k); w == ":" || w == "," && s.at(0) != "recipe" || w == "?" {
				title, first = clean(s, 0, k), k+1
				break
			}
		}
	} else {
		title = t.asked()
	}
	if title == "" {
		return false
	}
	var steps []string
	from := first
	flush := func(to int) bool {
		for from < to && (s.toks[from].kind == 'p' || s.at(from) == "and" || s.at(from) == "then" || s.at(from) == "just" || s.at(from) == "you") {
			from++
		}
		if from >= to {
			return true
		}
		if l, _, ing := lemma(s.at(from)); ing || l != s.at(from) && !slices.Contains([]string{"mix", "stir", "lift", "press", "shake", "slide", "wait", "unplug", "plug", "whisk", "add", "rinse", "twist", "tap", "click", "screw", "unscrew", "empty", "heat", "chop", "flip", "reset", "type", "scroll", "wipe", "soak", "drain", "preheat", "season", "lock", "unlock", "fry", "boil", "pour", "choose", "select", "bake", "cook", "simmer", "melt", "turn", "switch", "pull", "push", "hold", "restart", "insert"}, s.at(from)) {
			return false
		}
		steps = append(steps, clean(s, from, to))
		from = to
		return true
	}
	for k := first; k < len(s.toks); k++ {
		if s.toks[k].kind == 'p' && s.at(k) != "'" && s.at(k) != "-" || s.at(k) == "then" {
			if !flush(k) {
				return false
			}
		}
	}
	if !flush(len(s.toks)) || len(steps) < 3 || strings.EqualFold(title, s.raw()) {
		return false
	}
	t.guide(title, steps, false, []abi.Span{{Start: s.start, End: s.end}})
	return true
}
