package howto

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// stepWithin is how soon after one step, in ms, the next one is said.
const stepWithin = 3 * 60 * 1000

// firstZh are opening words of a step; the lists say which steps they open.
var firstZh = []string{"首先", "第一步", "先"}

var nextZh = []string{"然后", "接着", "接下来", "之后", "再", "第二步", "第三步", "第四步", "第五步"}

var lastZh = []string{"最后"}

// opens says with what a turn begins: 'f' the first step, 'n' a further one, 'l' the last, 0 no
// step; and after which token its words begin.
func opens(s syntax.Sentence) (kind byte, after int) {
	i := 0
	for syntax.Lead(s.At(i)) && s.At(i) != "then" && s.At(i) != "finally" || i < len(s.Toks) && s.Toks[i].Kind == 'p' {
		i++
	}
	if s.Chinese() {
		for k, words := range [...][]string{firstZh, nextZh, lastZh} {
			if _, n := syntax.PrefixZh(s, i, words...); n > 0 {
				return "fnl"[k], i + n
			}
		}
		return 0, 0
	}
	switch s.At(i) {
	case "first", "firstly":
		return 'f', i + 1
	case "you": // "you unscrew the panel first"
		if end := len(s.Toks) - syntax.BoolInt(s.Toks[len(s.Toks)-1].Kind == 'p'); end > i+3 && s.At(end-1) == "first" && imperative(s, i+1) {
			return 'f', i
		}
		return 0, 0
	case "then", "next", "second", "secondly", "third", "thirdly":
		return 'n', i + 1
	case "finally", "lastly":
		return 'l', i + 1
	}
	switch s.At(i) + " " + s.At(i+1) {
	case "step one", "step 1":
		return 'f', i + 2
	case "after that", "step two", "step 2", "step three", "step 3":
		return 'n', i + 2
	case "last step":
		return 'l', i + 2
	}
	if s.At(i)+" "+s.At(i+1)+" "+s.At(i+2) == "in the end" {
		return 'l', i + 3
	}
	return 0, 0
}

// Whole returns a text as one sentence.
func Whole(text string) (s syntax.Sentence, ok bool) {
	toks := syntax.Lex(text)
	if len(toks) == 0 {
		return s, false
	}
	return syntax.Sentence{Text: text, Toks: toks, Start: toks[0].Start, End: toks[len(toks)-1].End, Ends: "", Memo: nil}, true
}

// Sequence takes the last step of what was said in several turns: "First you unplug it." "Then you
// wait." "Finally you plug it back in." Others may say a few words in between.
func Sequence(t *discourse.Talk, toks []syntax.Token) bool {
	if len(toks) == 0 || len(t.Ev.Before) == 0 {
		return false
	}
	s := syntax.Sentence{Text: t.Ev.Text, Toks: toks, Start: toks[0].Start, End: toks[len(toks)-1].End, Ends: "", Memo: nil}
	kind, after := opens(s)
	if last, ok := lastStep(s); kind == 'n' && ok {
		s, kind = last, 'l'
	}
	if kind != 'l' || narrative(s, s.Chinese()) {
		return false
	}
	zh := s.Chinese()
	steps := splitStep(t, clean(s, after, len(s.Toks)))
	spans := []abi.Span{{Start: s.Start, End: s.End}}
	at := t.Ev.At
	for i := len(t.Ev.Before) - 1; i >= 0; i-- {
		b := &t.Ev.Before[i]
		o, ok := Whole(b.Text)
		if !ok || at-b.At > stepWithin {
			return false
		}
		if b.Speaker != t.Ev.Speaker {
			if len(o.Toks) > 8 {
				return false
			}
			continue
		}
		at = b.At
		kind, after := opens(o)
		if kind != 'f' && kind != 'n' || narrative(o, zh) || o.Chinese() != zh {
			return false
		}
		steps = append(splitStep(t, clean(o, after, len(o.Toks))), steps...)
		spans = append(spans, abi.Span{Turn: i - len(t.Ev.Before), Start: o.Start, End: o.End})
		if kind == 'f' {
			if len(steps) < 3 {
				return false
			}
			guide(t, askedBefore(t, i), steps, zh, spans)
			return true
		}
	}
	return false
}

// lastStep reports whether a further step says that nothing comes after it, and returns it without saying
// so: 然后点火就行了, "then put it back and that's it".
func lastStep(s syntax.Sentence) (syntax.Sentence, bool) {
	raw := strings.ToLower(strings.TrimRight(s.Raw(), "。.!！ "))
	if s.Chinese() {
		return s, syntax.EndsWithAny(raw, []string{"就行了", "就好了", "就可以了", "就完了", "就成了"})
	}
	if !syntax.EndsWithAny(raw, []string{"that's it", "that's all", "you're done", "you're all done", "that's that"}) {
		return s, false
	}
	for k := len(s.Toks) - 1; k > 3; k-- {
		if s.At(k) == "and" || s.Toks[k].Kind == 'p' && k+1 < len(s.Toks) {
			return s.Sub(0, k), true
		}
	}
	return s, false
}

// imperative reports whether the word at token i is used as a command: "fill it with water".
func imperative(s syntax.Sentence, i int) bool {
	w, next := s.At(i), s.At(i+1)
	return i < len(s.Toks) && s.Toks[i].Kind == 'w' && !s.Toks[i].Cap && !syntax.Function(w) && !syntax.Preposition(w) && !syntax.Auxiliary(w) && !syntax.Determiner(w) && !syntax.SubjectPronoun(w) && !syntax.Lead(w) && !syntax.Adverb(w) && !syntax.Joins[w] && !syntax.Askers[w] && !syntax.Kin(w) && !strings.HasSuffix(w, "s") && !syntax.PastForm(w) && (next == "it" || next == "them" || syntax.Determiner(next))
}

// orders takes steps without counting words: "To make the dressing: mix oil and lemon, add mustard,
// then shake it", or the like as an answer to "how do you …?". Each begins with what has to be
// done.
func orders(t *discourse.Talk, s syntax.Sentence) bool {
	first, title := 0, ""
	if s.At(0) == "to" || s.At(0) == "how" || s.At(0) == "recipe" || s.At(0) == "instructions" || s.At(0) == "steps" || s.At(0) == "this" && s.At(1) == "is" && s.At(2) == "how" || s.At(0) == "here" && s.At(1) == "is" && s.At(2) == "how" || s.At(0) == "here's" && s.At(1) == "how" {
		for k := range s.Toks {
			if w := s.At(k); w == ":" || w == "," && s.At(0) != "recipe" || w == "?" {
				title, first = clean(s, 0, k), k+1
				break
			}
		}
	} else {
		title = asked(t)
	}
	if title == "" {
		return false
	}
	var steps []string
	from := first
	flush := func(to int) bool {
		for from < to && (s.Toks[from].Kind == 'p' || s.At(from) == "and" || s.At(from) == "then" || s.At(from) == "just" || s.At(from) == "you") {
			from++
		}
		if from >= to {
			return true
		}
		if l, _, ing := syntax.Lemma(s.At(from)); ing || l != s.At(from) && !imperative(s, from) && !slices.Contains([]string{"mix", "stir", "lift", "press", "shake", "slide", "wait", "unplug", "plug", "whisk", "add", "rinse", "twist", "tap", "click", "screw", "unscrew", "empty", "heat", "chop", "flip", "reset", "type", "scroll", "wipe", "soak", "drain", "preheat", "season", "lock", "unlock", "fry", "boil", "pour", "choose", "select", "bake", "cook", "simmer", "melt", "turn", "switch", "pull", "push", "hold", "restart", "insert"}, s.At(from)) {
			return false
		}
		steps = append(steps, clean(s, from, to))
		from = to
		return true
	}
	for k := first; k < len(s.Toks); k++ {
		if s.Toks[k].Kind == 'p' && s.At(k) != "'" && s.At(k) != "-" || s.At(k) == "then" {
			if !flush(k) {
				return false
			}
		}
	}
	enough := 3
	if s.At(0) == "to" && s.At(1) != "be" && says(s, first, "then") {
		enough = 2 // "to get the lid off, run it under hot water first, then tap the edge"
	}
	if !flush(len(s.Toks)) || len(steps) < enough || strings.EqualFold(title, s.Raw()) {
		return false
	}
	guide(t, title, steps, false, []abi.Span{{Start: s.Start, End: s.End}})
	return true
}

// wayIs returns where the deed in "the way I make porridge is" begins, and its "is", before token n; 0 if
// there is none.
func wayIs(s syntax.Sentence, n int) (from, is int) {
	for i := 1; i+3 < n; i++ {
		if s.At(i) == "way" && s.At(i-1) == "the" && syntax.SubjectPronoun(s.At(i+1)) {
			for k := i + 3; k+2 < n; k++ {
				if s.At(k) == "is" {
					return i + 2, k
				}
			}
		}
	}
	return 0, 0
}
