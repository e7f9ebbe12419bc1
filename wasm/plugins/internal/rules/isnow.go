package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/chinese"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/english"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// isNow takes a sentence that says what something was and what it is now: "my landlord used to be
// Mr Gray, now it's Mrs Blake", "my doctor was Dr. Moss, but it's Dr. Patel now".
func isNow(t *discourse.Talk, s syntax.Sentence) bool {
	// retimed in package english and other rules handle a time that has changed. "[password
	// removed]" is not a value.
	if s.Ends == "?" || strings.Contains(s.Raw(), "[") || len(timex.FindWhens(s, t.Now)) > 0 {
		return false
	}
	for i := 4; i+1 < len(s.Toks); i++ {
		n := nowIs(s, i)
		if n == 0 || i+n >= len(s.Toks) {
			continue
		}
		end := i
		for end > 0 && (s.Toks[end-1].Kind == 'p' || s.At(end-1) == "and" || s.At(end-1) == "but") {
			end--
		}
		if end == 0 || end == i {
			return false
		}
		was, ok := t.Parse(s.Sub(0, end))
		if !ok || was.Verb != "be" || !was.UsedTo && !was.Past || was.Neg || was.Thing == "" || !was.Own {
			return false
		}
		is := discourse.Clause{Sentence: s.Sub(i+n, len(s.Toks))}
		is.Words = append([]discourse.Word{{S: "is", Tok: 0}}, t.WordsOf(&is)...)
		if last := len(is.Words) - 1; is.W(last) == "now" {
			is.Words = is.Words[:last]
		}
		is.Subj, is.Kind, is.Thing, is.Own, is.Bare = was.Subj, was.Kind, was.Thing, true, true
		if len(is.Words) < 2 || len(is.Words) > 6 || syntax.SubjectPronoun(is.W(1)) || syntax.Preposition(is.W(1)) && !is.Capital(2) || is.Thing == "name" || !is.Predicate(0) {
			return false
		}
		made := len(t.Out.Candidates)
		if english.Read(t, &is); len(t.Out.Candidates) == made {
			if !was.UsedTo { // "My dinner was cold, but it's fine now"
				return false
			}
			t.Out.Candidates = append(t.Out.Candidates, t.Base(&is, "semantic", "note", 0.7))
		}
		whose := was.Subj.Name
		if !strings.HasSuffix(strings.ToLower(whose), was.Thing) {
			whose = discourse.Possessive(whose) + " " + was.Thing
		}
		for k := made; k < len(t.Out.Candidates); k++ {
			t.Out.Candidates[k].Text = whose + " is " + is.Join(1, len(is.Words)) + "."
		}
		if was.UsedTo {
			english.Read(t, &was) // "My landlord used to be Mr Gray": he no longer is
		}
		t.Out.Candidates = append(t.Out.Candidates, t.Base(&was, "semantic", "biography", 0.7))
		return true
	}
	return false
}

// nowIs returns the number of tokens of "now it's" or "it's" at token i, if the second has "now" at
// the end of the sentence; 0 if neither is there.
func nowIs(s syntax.Sentence, i int) int {
	k := i
	if s.At(k) == "now" || s.At(k) == "nowadays" {
		k++
	} else if last := s.At(len(s.Toks) - 1); last != "now" && last != "nowadays" {
		return 0
	}
	switch {
	case s.At(k) == "it's" || s.At(k) == "its":
		return k + 1 - i
	case s.At(k) == "it" && s.At(k+1) == "is":
		return k + 2 - i
	}
	return 0
}

// isNowZh takes 我的房东以前是格雷先生，现在是布莱克太太: the present value is read as 我的房东是布莱克太太.
func isNowZh(t *discourse.Talk, s syntax.Sentence) bool {
	if !s.Chinese() || s.Ends == "？" || s.Ends == "?" || len(s.Raw()) > 180 { // a long one tells more than that
		return false
	}
	for i := 1; i+1 < len(s.Toks); i++ {
		if s.At(i) != "，" && s.At(i) != "," {
			continue
		}
		head, rest := s.Sub(0, i), s.Sub(i+1, len(s.Toks))
		now := rest.Raw()
		if strings.Contains(now, "[") {
			return false
		}
		for _, w := range [...]string{"但是", "不过", "但", "而", "现在", "如今"} {
			now = strings.TrimPrefix(now, w)
		}
		value, is := strings.CutPrefix(now, "是")
		if !is || value == "" || !syntax.ContainsAny(rest.Raw(), "现在", "如今") {
			continue
		}
		for _, w := range chinese.Once {
			whose, _, was := strings.Cut(head.Raw(), w+"是")
			if !was || whose == "" {
				continue
			}
			var sink abi.Output
			Extract(&abi.Event{ID: t.Ev.ID, At: t.Ev.At, Offset: t.Ev.Offset, Speaker: t.Ev.Speaker, Wearer: t.Ev.Wearer, Text: whose + "是" + value + "。"}, &sink, discourse.Facts)
			made := len(t.Out.Candidates)
			for _, a := range sink.Candidates {
				if a.Slot != nil {
					a.Spans = []abi.Span{{Start: s.Start, End: s.End}}
					t.Out.Candidates = append(t.Out.Candidates, a)
				}
			}
			if len(t.Out.Candidates) > made {
				b := t.Bare(head)
				t.Out.Candidates = append(t.Out.Candidates, t.BaseZh(&b, "semantic", "biography", t.Self, 0.7))
				return true
			}
		}
	}
	return false
}
