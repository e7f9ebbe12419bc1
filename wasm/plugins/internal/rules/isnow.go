package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
)

// isNow takes what something was and what it is now: "my landlord used to be Mr Gray, now it's Mrs
// Blake", "my doctor was Dr. Moss, but it's Dr. Patel now".
func (t *talk) isNow(s sentence) bool {
	// [talk.retimed] and others take a time that has changed. "[password removed]" says no value.
	if s.ends == "?" || strings.Contains(s.raw(), "[") || len(findWhens(s, t.now)) > 0 {
		return false
	}
	for i := 4; i+1 < len(s.toks); i++ {
		n := s.nowIs(i)
		if n == 0 || i+n >= len(s.toks) {
			continue
		}
		end := i
		for end > 0 && (s.toks[end-1].kind == 'p' || s.at(end-1) == "and" || s.at(end-1) == "but") {
			end--
		}
		if end == 0 || end == i {
			return false
		}
		was, ok := t.parse(s.sub(0, end))
		if !ok || was.verb != "be" || !was.usedTo && !was.past || was.neg || was.thing == "" || !was.own {
			return false
		}
		is := clause{sentence: s.sub(i+n, len(s.toks))}
		is.words = append([]word{{"is", 0}}, t.wordsOf(&is)...)
		if last := len(is.words) - 1; is.w(last) == "now" {
			is.words = is.words[:last]
		}
		is.subj, is.kind, is.thing, is.own, is.bare = was.subj, was.kind, was.thing, true, true
		if len(is.words) < 2 || len(is.words) > 6 || subjectPronoun(is.w(1)) || preposition(is.w(1)) && !is.capital(2) || is.thing == "name" || !is.predicate(0) {
			return false
		}
		made := len(t.out.Candidates)
		if t.english(&is); len(t.out.Candidates) == made {
			if !was.usedTo { // "My dinner was cold, but it's fine now"
				return false
			}
			t.out.Candidates = append(t.out.Candidates, t.base(&is, "semantic", "note", 0.7))
		}
		whose := was.subj.name
		if !strings.HasSuffix(strings.ToLower(whose), was.thing) {
			whose = possessive(whose) + " " + was.thing
		}
		for k := made; k < len(t.out.Candidates); k++ {
			t.out.Candidates[k].Text = whose + " is " + is.join(1, len(is.words)) + "."
		}
		if was.usedTo {
			t.english(&was) // "My landlord used to be Mr Gray": he is no more
		}
		t.out.Candidates = append(t.out.Candidates, t.base(&was, "semantic", "biography", 0.7))
		return true
	}
	return false
}

// nowIs is the number of tokens of "now it's" or "it's" at token i, where the second has "now"
// at the end of the sentence; 0: neither stands there.
func (s sentence) nowIs(i int) int {
	k := i
	if s.at(k) == "now" || s.at(k) == "nowadays" {
		k++
	} else if last := s.at(len(s.toks) - 1); last != "now" && last != "nowadays" {
		return 0
	}
	switch {
	case s.at(k) == "it's" || s.at(k) == "its":
		return k + 1 - i
	case s.at(k) == "it" && s.at(k+1) == "is":
		return k + 2 - i
	}
	return 0
}

// isNowZh takes 我的房东以前是格雷先生，现在是布莱克太太: what is now is read as 我的房东是布莱克太太.
func (t *talk) isNowZh(s sentence) bool {
	if !s.chinese() || s.ends == "？" || s.ends == "?" || len(s.raw()) > 180 { // a long one tells more than that
		return false
	}
	for i := 1; i+1 < len(s.toks); i++ {
		if s.at(i) != "，" && s.at(i) != "," {
			continue
		}
		head, rest := s.sub(0, i), s.sub(i+1, len(s.toks))
		now := rest.raw()
		if strings.Contains(now, "[") {
			return false
		}
		for _, w := range [...]string{"但是", "不过", "但", "而", "现在", "如今"} {
			now = strings.TrimPrefix(now, w)
		}
		value, is := strings.CutPrefix(now, "是")
		if !is || value == "" || !containsAny(rest.raw(), "现在", "如今") {
			continue
		}
		for _, w := range beforeZh {
			whose, _, was := strings.Cut(head.raw(), w+"是")
			if !was || whose == "" {
				continue
			}
			var sink abi.Output
			Extract(&abi.Event{ID: t.ev.ID, At: t.ev.At, Offset: t.ev.Offset, Speaker: t.ev.Speaker, Wearer: t.ev.Wearer, Text: whose + "是" + value + "。"}, &sink, Facts)
			made := len(t.out.Candidates)
			for _, a := range sink.Candidates {
				if a.Slot != nil {
					a.Spans = []abi.Span{{Start: s.start, End: s.end}}
					t.out.Candidates = append(t.out.Candidates, a)
				}
			}
			if len(t.out.Candidates) > made {
				b := t.bare(head)
				t.out.Candidates = append(t.out.Candidates, t.baseZh(&b, "semantic", "biography", t.self, 0.7))
				return true
			}
		}
	}
	return false
}
