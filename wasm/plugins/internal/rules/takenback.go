package rules

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// putsRightNext takes two sentences of which the first only takes back what was said, and the
// second only gives another time: "Hang on, no. Thursday.", 等等，不对。周四。 It reports whether it
// knew the appointment that is meant.
func putsRightNext(t *discourse.Talk, i int) bool {
	s := t.Own[i]
	if i+1 == len(t.Own) || len(t.Plans) == 0 {
		return false
	}
	next, n := t.Own[i+1], len(t.Ev.Before)
	text := "no, " + next.Raw()
	switch {
	case next.Ends == "?" || next.Ends == "？" || s.Ends == "?" || s.Ends == "？":
		return false
	case s.Chinese():
		if text = "不对，" + next.Raw(); !takenBackZh(s.Raw()) {
			return false
		}
	case !takenBack(s):
		return false
	case next.At(0) == "the":
		text = "no, it's " + next.Raw() // the 24th
	}
	if i == 0 && len(s.Toks) == 1 && (n == 0 || t.Ev.Before[n-1].Speaker != t.Ev.Speaker) {
		return false // "No" answers the other
	}
	from := len(t.Out.Candidates)
	defer otherText(t, s)()
	for _, o := range syntax.Sentences(text) {
		if !timeAlone(t, o) || !correction(t, o) {
			return false
		}
	}
	s.End = next.End
	discourse.StandsFor(t, from, s)
	return len(t.Out.Candidates) > from
}

// takenBack reports whether an English sentence only says that something before was wrong.
func takenBack(s syntax.Sentence) bool {
	const most = 7 // tokens
	wrong := false
	for i := range s.Toks {
		switch w := s.At(i); w {
		case "no", "nope", "wait", "sorry", "correction", "mistake", "wrong", "hang", "hold", "scratch":
			wrong = true
		case "on", "oh", "hmm", "um", "uh", "well", "actually", "my", "that", "that's", "is", "was", "i", "got", "a", "sec", "second", "minute", "it":
		default:
			if s.Toks[i].Kind != 'p' {
				return false
			}
		}
	}
	return wrong && len(s.Toks) <= most
}

// takenBackZh does the same for a Chinese sentence.
func takenBackZh(x string) bool {
	wrong := false
	for cut := true; cut; {
		cut = false
		for _, w := range [...]string{"等一下", "等等", "等下", "不对", "不是", "说错了", "记错了", "搞错了", "弄错了", "看错了", "错了", "哦不", "啊不", "不好意思", "抱歉", "不"} {
			if rest, ok := strings.CutPrefix(x, w); ok {
				x, cut, wrong = rest, true, true
			}
		}
		for _, w := range [...]string{"，", ",", " ", "我", "哦", "啊", "嗯", "呃"} {
			if rest, ok := strings.CutPrefix(x, w); ok {
				x, cut = rest, true
			}
		}
	}
	return wrong && x == ""
}

// timeAlone reports whether a sentence is only a day or a time of day: "It's Thursday".
func timeAlone(t *discourse.Talk, s syntax.Sentence) bool {
	whens := timex.FindWhens(s, t.Now)
	for i := range s.Toks {
		if s.Toks[i].Kind == 'p' || slices.ContainsFunc(whens, func(w timex.When) bool { return w.First <= i && i < w.Next }) {
			continue
		}
		switch s.At(i) {
		case "it's", "it", "is", "that's", "no", "on", "at", "i", "mean", "meant", "make", "actually", "不", "对", "是", "应", "该", "改", "到", "成":
		default:
			return false
		}
	}
	return len(whens) > 0
}

// withdraws are sentences, or their beginnings, with which somebody takes back all of what they just said.
var withdraws = refuse.WordLists("scratch that|strike that|forget i said that|forget i said anything|ignore what i just said|disregard that")

var withdrawsZh = []string{"当我没说", "就当我没说", "算我没说", "刚才的话当我没说", "刚才说的不算", "刚说的不算"}

// withdrawnNext reports whether the sentence after sentence i of a turn takes it back, and gives no other time
// for it: "I live in Leeds. Scratch that, Bradford."
func withdrawnNext(t *discourse.Talk, i int) bool {
	if i+1 == len(t.Own) || t.Own[i+1].Ends == "?" || t.Own[i+1].Ends == "？" {
		return false
	}
	next := t.Own[i+1]
	if next.Chinese() {
		return syntax.StartsWithAny(next.Raw(), withdrawsZh)
	}
	from := 0
	for from < len(next.Toks) && (next.Toks[from].Kind == 'p' || correcting[next.At(from)] && !takesThat[next.At(from)]) {
		from++
	}
	for _, words := range withdraws {
		if to := from + len(words); refuse.Has(next, from, words) && (to == len(next.Toks) || next.Toks[to].Kind == 'p') {
			return len(timex.FindWhens(next, t.Now)) == 0
		}
	}
	return false
}
