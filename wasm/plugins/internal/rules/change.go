package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/english"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// correction takes a sentence that only changes a time that was stated before: "actually, no,
// Thursday", "make it four", "不对，是周四".
func correction(t *discourse.Talk, s syntax.Sentence) bool {
	if len(t.Plans) == 0 {
		return false
	}
	whens := timex.FindWhens(s, t.Now)
	if n := len(whens); n > 1 {
		if comma := beforeOther(&s, &whens[n-1]); comma > 0 {
			s, whens = s.Sub(0, comma), whens[:n-1]
		}
	}
	if w, ok := makeIt(t, s); ok && len(whens) == 0 {
		whens = []timex.When{w}
	}
	after := false
	if len(whens) == 0 {
		after = afterMarks(t, s)
		if w, ok := bareTime(t, s, after); ok {
			whens = []timex.When{w}
		}
	}
	if len(whens) == 0 || discourse.Denies(s, 0) {
		return false
	}
	proposed := english.Agreed(t, whens)
	said := after || marksAt(s) > 0
	marked, others := proposed || said, 0
	timed := map[int]bool{}
	for _, w := range whens {
		for k := w.First; k < w.Next; k++ {
			timed[k] = true
		}
	}
	for i := 0; i < len(s.Toks); i++ {
		if timed[i] || s.Toks[i].Kind == 'p' {
			continue
		}
		if s.Toks[i].Kind == 'c' {
			if w, n := syntax.PrefixZh(s, i, "不对", "改成", "改到", "改为", "还是", "应该是", "不是", "说错了", "记错了", "搞错了", "不好意思", "抱歉", "等一下", "等下", "推迟到", "提前到", "换到", "换成", "等等"); n > 0 {
				marked, said = true, w != ""
				i += n - 1
				continue
			}
			if strings.Contains("是了吧那就哦啊嗯我", s.At(i)) {
				continue
			}
			others++
			continue
		}
		switch s.At(i) {
		case "actually", "no", "sorry", "wait", "instead", "rather", "mean", "meant", "correction", "scratch", "nope", "not":
			marked, said = true, true
		case "make", "change":
			if s.At(i+1) == "it" || s.At(i+1) == "that" {
				marked, said = true, true
				i++
				continue
			}
			others++
		case "it", "it's", "that", "that's", "is", "i", "the", "to", "let's", "say", "oh", "so", "ok", "okay", "better", "be", "then", "on", "at", "for", "we", "said", "will", "must", "they", "and", "but", "now", "hang", "hold", "yes", "well", "um", "uh", "one",
			"works", "fine", "good", "great", "perfect", "me", "i'll", "come", "suits", "sounds", "sure", "lovely", "all", "right":
		default:
			others++
		}
	}
	if !marked || others > 1 {
		return false
	}
	p, ok := english.Meant(t)
	if !ok || proposed && !said && p.At >= t.Ev.Before[len(t.Ev.Before)-1].At {
		return false // "Saturday works" answers what was asked, and not a plan made besides it
	}
	w := &whens[len(whens)-1]
	if len(whens) > 1 { // "not Tuesday, Thursday"; "Thursday, not Tuesday"
		for k := range whens {
			if whens[k].First == 0 || s.At(whens[k].First-1) != "not" && s.At(whens[k].First-2) != "not" {
				w = &whens[k]
			}
		}
	}
	discourse.Moved(t, p.Move(w), s, 0.8)
	cite(t)
	return true
}

// cite adds the previous turn as evidence of the last candidate, because it has what is corrected.
func cite(t *discourse.Talk) {
	n := len(t.Ev.Before)
	if n == 0 || t.Ev.Before[n-1].Text == "" {
		return
	}
	c := &t.Out.Candidates[len(t.Out.Candidates)-1]
	c.Spans = append(c.Spans, abi.Span{Turn: -1, Start: 0, End: len(t.Ev.Before[n-1].Text)})
}

// fragment takes a sentence without a verb: "Dentist on Thursday at three".
func fragment(t *discourse.Talk, s syntax.Sentence) bool {
	if s.Chinese() || s.Ends == "?" || len(s.Toks) > 14 {
		return false
	}
	whens := timex.FindWhens(s, t.Now)
	if len(whens) == 0 || whens[0].Habit || !whens[0].HasDay || whens[0].Day < t.Now.Day || whens[0].Grain != 'd' || s.At(0) == "there's" {
		return false
	}
	if k := ruledOut(s); k > 0 {
		a, _ := syntax.EventNoun(s.At(k))
		c := discourse.Clause{Sentence: s, Whens: whens, Subj: t.Self, Kind: 't'}
		if of, _ := (&discourse.Clause{Sentence: s, Words: t.WordsOf(&c), Vi: -1}).EventIn(); of != "" {
			a = of
		}
		p := discourse.Plan{Subject: t.Self.Key, Attribute: a, What: s.At(k), Day: whens[0].Day, Minute: whens[0].Minute, Clock: whens[0].Clock, Label: s.Raw()}
		t.Another(&p, true)
		t.Emit(p, t.Rewrite(&c), "appointment", 0.6, s, false)
		return true
	}
	if took, denied := t.DeniedEvent(s, whens); denied {
		return took
	}
	if _, event := syntax.EventNoun(s.At(0)); syntax.LemmaSet[s.At(0)] && (!event || syntax.Preposition(s.At(1)) || syntax.Determiner(s.At(1))) && !syntax.Preposition(s.At(0)) {
		return false // "Save me a seat at the concert on Friday"
	}
	for i := range s.Toks {
		if l, _, ing := syntax.Lemma(s.At(i)); l != "" && i > 0 && !ing || s.At(i) == "this" && i == 0 || syntax.SubjectPronoun(syntax.FirstOf(syntax.Contraction(s.At(i)))) {
			if _, event := syntax.EventNoun(s.At(i)); !event {
				return false
			}
		}
	}
	for i := range s.Toks {
		if a, ok := syntax.EventNoun(s.At(i)); ok && !discourse.OfEvents[s.At(i+1)] && !s.VerbWithin(0, len(s.Toks)) {
			c := discourse.Clause{Sentence: s, Whens: whens, Subj: t.Self, Kind: 't'}
			p := discourse.Plan{Subject: t.Self.Key, Attribute: a, What: s.At(i), Day: whens[0].Day, Minute: whens[0].Minute, Clock: whens[0].Clock, Label: s.Raw()}
			text := t.Rewrite(&c)
			if i == 0 {
				text = strings.ToLower(text[:1]) + text[1:]
			}
			text = discourse.Possessive(t.Self.Name) + " " + text
			of := discourse.Clause{Sentence: s, Whens: whens, Subj: t.Self, Kind: 't', Vi: -1}
			of.Words = t.WordsOf(&of)
			if whose := t.Whose(&of); t.Other(whose) {
				if !whose.Known {
					return false
				}
				p.Subject, text = whose.Key, t.Rewrite(&c)
			}
			t.Another(&p, false)
			t.Emit(p, text, "appointment", 0.7, s, false)
			return true
		}
	}
	return false
}

// ruledOut returns the event before which there must be none of something: "no food before the blood
// test on Thursday"; 0 if there is none.
func ruledOut(s syntax.Sentence) int {
	if s.At(0) != "no" && s.At(0) != "nothing" {
		return 0
	}
	for k := 2; k+2 < len(s.Toks); k++ {
		if s.At(k) != "before" || !syntax.Determiner(s.At(k+1)) {
			continue
		}
		for i := k + 2; i < min(len(s.Toks), k+5); i++ {
			if _, event := syntax.EventNoun(s.At(i)); event && !syntax.Profession(s.At(i)) {
				return i
			}
		}
	}
	return 0
}

// makeIt reads "make it four", in the half of the day of the latest plan.
func makeIt(t *discourse.Talk, s syntax.Sentence) (timex.When, bool) {
	for i := 0; i+2 < len(s.Toks); i++ {
		if (s.At(i) != "make" && s.At(i) != "say") || (s.At(i+1) != "it" && s.At(i+1) != "that") {
			continue
		}
		p, ok := english.Meant(t)
		if !ok {
			break
		}
		if h, ok := syntax.Number(s.At(i + 2)); ok && h >= 1 && h <= 12 && s.At(i+2) != "a" && s.At(i+2) != "an" {
			w := timex.When{First: i + 2, Next: i + 3, Clock: true, Minute: h % 12 * 60, Zone: t.Now.Offset}
			if m, ok := syntax.Number(s.At(i + 3)); ok && m >= 10 && m < 60 {
				w.Minute, w.Next = w.Minute+m, i+4
			}
			if p.Minute >= 12*60 || !p.Clock && h < 7 {
				w.Minute += 12 * 60
			}
			return w, true
		}
	}
	return timex.When{}, false
}
