package rules

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/chinese"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// still reports whether s only says that what the previous sentence "used to" do is still true: "I
// still do", "Still am", 现在还抽.
func still(before, s syntax.Sentence) bool {
	if s.Chinese() != before.Chinese() || s.Ends == "?" || s.Ends == "？" || len(s.Toks) > 12 {
		return false
	}
	if s.Chinese() {
		x := strings.TrimSpace(discourse.TrimZhEnd(s.Raw()))
		x = syntax.TrimHeads(x, "不过", "其实", "我", "他", "她", "到现在", "直到现在", "现在", "至今")
		for _, k := range [...]string{"还是", "还在", "还", "也", "仍然", "依然", "照样", "一直"} {
			if rest, ok := strings.CutPrefix(x, k); ok && syntax.ContainsAny(before.Raw(), chinese.Once[:]...) {
				rest = strings.TrimSuffix(rest, "这样")
				return rest == "" || strings.Contains(before.Raw(), string([]rune(rest)[0]))
			}
		}
		return false
	}
	used := false
	for i := range before.Toks {
		used = used || before.At(i) == "used" && before.At(i+1) == "to"
	}
	does := false
	kept := false
	for i := range s.Toks {
		switch w := s.At(i); {
		case w == "still":
			kept = true
		case w == "do" || w == "does" || w == "am" || w == "is" || w == "are" || w == "have" || w == "has":
			does = true
		case syntax.SubjectPronoun(w) || syntax.Lead(w) || s.Toks[i].Kind == 'p' || w == "actually" || w == "today" || w == "now" || w == "and" || w == "but" || w == "in" || w == "fact":
		default:
			return false
		}
	}
	return used && kept && does
}

// does returns the verb that stands for what is still true, in the third person.
func does(s syntax.Sentence) string {
	for i := range s.Toks {
		switch base, rest := syntax.Contraction(s.At(i)); {
		case base == "am" || base == "is" || base == "are" || rest == "am" || rest == "are":
			return "is"
		case base == "have" || base == "has" || rest == "have":
			return "has"
		}
	}
	return "does"
}

// stillSo takes "I used to smoke. I still do.": what was true, and still is. The previous sentence
// is in this text or, within two minutes, in the speaker's last turn.
func stillSo(t *discourse.Talk, s syntax.Sentence) bool {
	before, turn := syntax.Sentence{}, 0
	for _, o := range t.Own {
		if o.End <= s.Start {
			before = o
		}
	}
	if n := len(t.Ev.Before); before.Toks == nil && n > 0 {
		if b := &t.Ev.Before[n-1]; b.Speaker == t.Ev.Speaker && t.Ev.At-b.At <= discourse.FollowWithin {
			if all := t.SentencesOf(b); len(all) > 0 {
				before, turn = all[len(all)-1], -1
			}
		}
	}
	if before.Toks == nil || !still(before, s) {
		return false
	}
	var sink abi.Output
	ev := abi.Event{ID: t.Ev.ID, At: t.Ev.At, Offset: t.Ev.Offset, Speaker: t.Ev.Speaker, Wearer: t.Ev.Wearer, Text: before.Raw()}
	Extract(&ev, &sink, discourse.Facts)
	for i := range sink.Candidates {
		a := sink.Candidates[i]
		if a.Slot == nil {
			continue
		}
		claim, denied := strings.CutPrefix(a.Slot.Attribute, "not_")
		if !denied && !a.Negates {
			continue
		}
		slot := *a.Slot
		slot.Attribute = claim
		if what, ok := strings.CutPrefix(claim, discourse.RoutineSlot("")); ok && slot.Value == "" {
			slot.Value = what
		}
		if slot.Value == "" {
			continue
		}
		a.Slot, a.Negates, a.Predicate, a.Object = &slot, false, claim, slot.Value
		if a.Text = strings.TrimSuffix(a.Text, "."); s.Chinese() {
			a.Text = strings.TrimSuffix(a.Text, "。") + "，现在还是。"
		} else {
			a.Text += ", and still " + does(s) + "."
		}
		a.Confidence = min(a.Confidence, 0.75)
		a.Spans = []abi.Span{{Start: s.Start, End: s.End}, {Turn: turn, Start: before.Start, End: before.End}}
		t.Out.Candidates = append(t.Out.Candidates, a)
	}
	return true
}
