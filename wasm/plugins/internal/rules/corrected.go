package rules

import (
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/english"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// correcting are words that only say that what comes next corrects what came before: "hang on, no".
var correcting = syntax.Set("no nope sorry wait hang hold on oh oops actually well i mean meant um uh scratch strike make that")

// takesThat are verbs that take back what was said, before "that".
var takesThat = syntax.Set("scratch strike make")

// marksAt returns the token after the words with which a sentence takes back what was said before; 0
// if it begins otherwise.
func marksAt(s syntax.Sentence) int {
	i, marked := 0, false
	for ; i < len(s.Toks) && (s.Toks[i].Kind == 'p' || correcting[s.At(i)]); i++ {
		w, next := s.At(i), s.At(i+1)
		if w == "on" && s.At(i-1) != "hang" && s.At(i-1) != "hold" || (w == "hang" || w == "hold") && next != "on" || w == "i" && next != "mean" && next != "meant" || takesThat[w] && next != "that" || w == "that" && !takesThat[s.At(i-1)] {
			break
		}
		marked = marked || takesThat[w] && (w != "make" || i > 0) || w == "no" || w == "nope" || w == "sorry" || w == "wait" || w == "hang" || w == "hold" || w == "oops" || w == "actually"
	}
	if !marked {
		return 0
	}
	return i
}

// waitsZh reports whether a sentence begins with words to wait: 等等，不对，四点.
func waitsZh(s syntax.Sentence) bool {
	const most = 16 // characters
	return len(s.Toks) <= most && (s.At(0) == "等" || s.At(0) == "不" && s.At(1) == "好" || s.At(0) == "抱")
}

// onlyMarks reports whether a sentence has no other words.
func onlyMarks(s syntax.Sentence) bool { return len(s.Toks) > 0 && marksAt(s) == len(s.Toks) }

// afterMarks reports whether the sentence before s in its turn only takes back what was said before.
func afterMarks(t *discourse.Talk, s syntax.Sentence) bool {
	for i := 1; i < len(t.Own); i++ {
		if t.Own[i].Start == s.Start {
			return onlyMarks(t.Own[i-1])
		}
	}
	return false
}

// bareTime reads a day or an hour without a preposition that takes back the time of an appointment
// which the speaker has just named: "no wait, the 24th", "hang on, no. Four". after says that the
// words that take it back are in the sentence before.
func bareTime(t *discourse.Talk, s syntax.Sentence, after bool) (w timex.When, ok bool) {
	i := marksAt(s)
	const most = 5 // tokens of a time
	if n := len(t.Ev.Before); i == 0 && !after || i >= len(s.Toks) || len(s.Toks)-i > most || s.Ends == "?" || n == 0 || t.Ev.Before[n-1].Speaker != t.Ev.Speaker {
		return w, false
	}
	p, ok := english.Meant(t)
	if !ok || p.At < t.Ev.Before[len(t.Ev.Before)-1].At {
		return w, false
	}
	how := "at "
	if s.At(i) == "the" {
		how = "on "
	}
	all := syntax.Sentences(how + s.Text[s.Toks[i].Start:s.End])
	if len(all) != 1 {
		return w, false
	}
	whens := timex.FindWhens(all[0], t.Now)
	if len(whens) != 1 || whens[0].Next != len(all[0].Toks) || whens[0].First > 1 {
		return w, false
	}
	w = whens[0]
	if w.Clock && !w.HasDay && !w.Sure && !w.ByPart && p.Clock && p.Minute >= 12*60 && w.Minute < 12*60 {
		w.Minute += 12 * 60 // in the same half of the day
	}
	w.First, w.Next = i, len(s.Toks)
	return w, true
}

// beforeOther returns the comma before the clause at the end of a sentence that says what is on another
// day, which begins with the time w: "no, Tuesday at ten, Monday was the optician", 不对，是周二，周一是配眼镜.
// It returns 0 if there is none.
func beforeOther(s *syntax.Sentence, w *timex.When) int {
	comma := w.First - 1
	if s.At(comma) == "on" {
		comma--
	}
	if is := s.At(w.Next); (s.At(comma) == "," || s.At(comma) == "，") && (is == "was" || is == "is" || is == "是") {
		return comma
	}
	return 0
}
