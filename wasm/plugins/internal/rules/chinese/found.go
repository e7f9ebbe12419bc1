package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Found takes 在书桌的抽屉里 after 我的护照在哪？ or 我找不到护照了: the place of the thing that was asked for, earlier
// in this turn, by another speaker just before, or by the speaker in the last turn. 不对，在小李那里 corrects such a place.
func Found(t *discourse.Talk, s syntax.Sentence) bool {
	if !s.Chinese() || s.Ends == "?" || s.Ends == "？" || len(timex.FindWhens(s, t.Now)) > 0 {
		return false
	}
	where := discourse.TrimZhEnd(syntax.StripLeadZh(s.Raw()))
	said := where
	where = strings.TrimLeft(syntax.TrimHeads(where, "不对", "不是", "说错了", "错了"), "，, ")
	corrects := where != said
	where = syntax.TrimHeads(where, "它们", "它", "应该", "就", "放", "都")
	where, ok := strings.CutPrefix(where, "在")
	where = strings.TrimSuffix(where, "了")
	if n := utf8.RuneCountInString(where); !ok || n < 2 || n > 16 || syntax.VagueZh(where) || !syntax.EndsWithAny(where, places[:]) {
		return false
	}
	q, ok := missed(t, s)
	if !ok {
		return false
	}
	what := thingAsked(q.Raw())
	if at, is, told := strings.Cut(discourse.TrimZhEnd(q.Raw()), "在"); corrects && told && syntax.EndsWithAny(is, places[:]) {
		what = at // 钥匙在小王那里，不对，在小李那里
	}
	owner := discourse.Person{}
	for _, pre := range [...]string{"我的", "我们的", "咱们的"} {
		if rest, ok := strings.CutPrefix(what, pre); ok {
			what, owner = rest, q.By
		}
	}
	if rest, ok := strings.CutPrefix(what, "你的"); ok {
		what, owner = rest, q.Of
	}
	if !syntax.EndsWithAny(what, Things[:]) || utf8.RuneCountInString(what) > 8 {
		return false
	}
	name, key := what, what
	if owner.Name != "" {
		name, key = owner.Name+"的"+what, strings.ToLower(owner.Name)+"的"+what
	}
	t.Out.Candidates = append(t.Out.Candidates, abi.Candidate{Type: "semantic", Kind: "place", Text: name + "在" + where + "。", Lang: "zh", Confidence: 0.8 - discourse.Doubt(s), Sensitivity: "personal",
		Tags: []string{"place"}, Spans: []abi.Span{{Start: s.Start, End: s.End}, {Turn: q.Turn, Start: q.Start, End: q.End}},
		Slot: &abi.Slot{Subject: key, Attribute: "location", Value: where}, Subject: name, Predicate: "location", Object: where})
	return true
}

// missed returns the question, or the line of the speaker, that a place answers.
func missed(t *discourse.Talk, s syntax.Sentence) (discourse.Asked, bool) {
	if q, ok := discourse.AskedBefore(t, s); ok {
		return q, true
	}
	for _, o := range t.Own {
		if o.End <= s.Start && thingAsked(o.Raw()) != "" {
			return discourse.Asked{Sentence: o, Turn: 0, By: t.Self, Of: discourse.Person{}}, true
		}
	}
	n := len(t.Ev.Before)
	if n == 0 || t.Ev.At-t.Ev.Before[n-1].At > discourse.FollowWithin {
		return discourse.Asked{}, false
	}
	b := &t.Ev.Before[n-1]
	all := syntax.Sentences(b.Text)
	if len(all) == 0 {
		return discourse.Asked{}, false
	}
	return discourse.Asked{Sentence: all[len(all)-1], Turn: -1, By: discourse.SpeakerOf(t.Ev, b.Speaker), Of: t.Self}, true
}

// thingAsked returns the thing, with its owner, whose place somebody asks for or does not know: for
// 我的护照在哪, 你看见钥匙了吗, 找不到护照了, 护照呢. It returns "" if the words ask for nothing of the kind.
func thingAsked(x string) string {
	x = strings.TrimRight(syntax.StripLeadZh(x), " ，,。！!？?吧啊呀呢了")
	for _, k := range [...]string{"在哪", "放哪", "放在哪", "跑哪", "去哪"} {
		if what, rest, ok := strings.Cut(x, k); ok && (rest == "" || rest == "里" || rest == "儿" || rest == "了" || rest == "里了" || rest == "儿了") {
			what = syntax.TrimHeads(what, "请问", "你知道", "知道")
			return strings.TrimSuffix(strings.TrimSuffix(what, "放"), "到底")
		}
	}
	for _, k := range [...]string{"找不到", "找不着", "在找", "有没有看到", "有没有看见", "有没有见到", "看到", "看见", "见到"} {
		if head, what, ok := strings.Cut(x, k); ok && utf8.RuneCountInString(head) <= 4 {
			return strings.TrimRight(strings.TrimSuffix(what, "吗"), "了")
		}
	}
	if syntax.EndsWithAny(x, Things[:]) && utf8.RuneCountInString(x) <= 8 {
		return x
	}
	return ""
}
