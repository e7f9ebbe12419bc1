package rules

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/abi"
)

// foundZh takes 在书桌的抽屉里 after 我的护照在哪？ or 我找不到护照了: where the thing is that was asked
// for, earlier in this turn, by another speaker just before, or by the speaker in the last turn.
func (t *talk) foundZh(s sentence) bool {
	if !s.chinese() || s.ends == "?" || s.ends == "？" || len(findWhens(s, t.now)) > 0 {
		return false
	}
	where := trimZhEnd(stripLeadZh(s.raw()))
	where = trimHeads(where, "它们", "它", "应该", "就", "放", "都")
	where, ok := strings.CutPrefix(where, "在")
	where = strings.TrimSuffix(where, "了")
	if n := utf8.RuneCountInString(where); !ok || n < 2 || n > 16 || vagueZh(where) || !endsWithAny(where, placesZh[:]) {
		return false
	}
	q, ok := t.missed(s)
	if !ok {
		return false
	}
	what := thingAsked(q.raw())
	owner := person{}
	for _, pre := range [...]string{"我的", "我们的", "咱们的"} {
		if rest, ok := strings.CutPrefix(what, pre); ok {
			what, owner = rest, q.by
		}
	}
	if rest, ok := strings.CutPrefix(what, "你的"); ok {
		what, owner = rest, q.of
	}
	if !endsWithAny(what, thingsZh[:]) || utf8.RuneCountInString(what) > 8 {
		return false
	}
	name, key := what, what
	if owner.name != "" {
		name, key = owner.name+"的"+what, strings.ToLower(owner.name)+"的"+what
	}
	t.out.Candidates = append(t.out.Candidates, abi.Candidate{Type: "semantic", Kind: "place", Text: name + "在" + where + "。", Lang: "zh", Confidence: 0.8 - doubt(s), Sensitivity: "personal",
		Tags: []string{"place"}, Spans: []abi.Span{{Start: s.start, End: s.end}, {Turn: q.turn, Start: q.start, End: q.end}},
		Slot: &abi.Slot{Subject: key, Attribute: "location", Value: where}, Subject: name, Predicate: "location", Object: where})
	return true
}

// missed is the question, or the line of the speaker's, that a place answers.
func (t *talk) missed(s sentence) (asked, bool) {
	if q, ok := t.question(s); ok {
		return q, true
	}
	for _, o := range t.own {
		if o.end <= s.start && thingAsked(o.raw()) != "" {
			return asked{o, 0, t.self, person{}}, true
		}
	}
	n := len(t.ev.Before)
	if n == 0 || t.ev.At-t.ev.Before[n-1].At > followWithin {
		return asked{}, false
	}
	b := &t.ev.Before[n-1]
	all := sentences(b.Text)
	if len(all) == 0 {
		return asked{}, false
	}
	return asked{all[len(all)-1], -1, speakerOf(t.ev, b.Speaker), t.self}, true
}

// thingAsked is the thing, with its owner, whose place somebody asks for or does not know: of
// 我的护照在哪, 你看见钥匙了吗, 找不到护照了, 护照呢. It is "" where the words ask for nothing of the kind.
func thingAsked(x string) string {
	x = strings.TrimRight(stripLeadZh(x), " ，,。！!？?吧啊呀呢了")
	for _, k := range [...]string{"在哪", "放哪", "放在哪", "跑哪", "去哪"} {
		if what, rest, ok := strings.Cut(x, k); ok && (rest == "" || rest == "里" || rest == "儿" || rest == "了" || rest == "里了" || rest == "儿了") {
			what = trimHeads(what, "请问", "你知道", "知道")
			return strings.TrimSuffix(strings.TrimSuffix(what, "放"), "到底")
		}
	}
	for _, k := range [...]string{"找不到", "找不着", "在找", "有没有看到", "有没有看见", "有没有见到", "看到", "看见", "见到"} {
		if head, what, ok := strings.Cut(x, k); ok && utf8.RuneCountInString(head) <= 4 {
			return strings.TrimRight(strings.TrimSuffix(what, "吗"), "了")
		}
	}
	if endsWithAny(x, thingsZh[:]) && utf8.RuneCountInString(x) <= 8 {
		return x
	}
	return ""
}
