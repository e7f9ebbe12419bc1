package chinese

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Resettled takes a sentence that says that something was changed, and then when it is now:
// 我的航班改了，现在是九点一刻; 牙医改时间了，改到周四. The plan must be known; otherwise the sentence says nothing here.
func Resettled(t *discourse.Talk, s syntax.Sentence) bool {
	if !s.Chinese() || s.Ends == "？" || s.Ends == "?" || len(t.Plans) == 0 {
		return false
	}
	comma := 0
	for comma < len(s.Toks) && s.At(comma) != "，" && s.At(comma) != "," {
		comma++
	}
	if comma == 0 || comma+1 >= len(s.Toks) {
		return false
	}
	head, rest := s.Sub(0, comma), s.Sub(comma+1, len(s.Toks))
	attr, word := EventIn(head.Raw())
	changed := syntax.ContainsAny(head.Raw(), "改了", "改时间", "改期", "调了", "调整了", "变了", "推迟了", "提前了", "延误了", "又改")
	for i := range head.Toks {
		if a, event := syntax.EventNoun(head.At(i)); event && attr == "" {
			if discourse.Owned(head, i) {
				return false // "Tom's flight"
			}
			attr, word = a, head.At(i)
		}
		l, past, _ := syntax.Lemma(head.At(i))
		changed = changed || past && timex.Moves(l)
	}
	if attr == "" || !changed || discourse.Conditioned(s) || len(timex.FindWhens(head, t.Now)) > 0 ||
		!syntax.StartsWithAny(rest.Raw(), []string{"现在", "改成", "改到", "改为", "改在", "变成", "换到", "换成", "推到", "推迟到", "提前到", "延到", "延误到", "是"}) {
		return false
	}
	b := discourse.BareZh{S: rest, Whens: timex.FindWhens(rest, t.Now)}
	if len(b.Whens) == 0 || b.Whens[0].Habit || noted.Denies(&b, &b.Whens[0]) {
		return false
	}
	whose := discourse.Possessor{}
	if word[0] >= 0x80 {
		whose = possessorOf(t, syntax.StripLeadZh(head.Raw()), word)
	}
	p, ok := t.FindOf(whose, func(p *discourse.Plan) bool {
		return p.Day >= t.Now.Day && (whose.Named || p.Subject == t.Self.Key) && (strings.Contains(p.Hay(), attr) || strings.Contains(p.Hay(), word))
	})
	if !ok {
		return false
	}
	p.Chinese = true
	if p.What == "" || p.What == "plan" {
		p.What = word
	}
	discourse.Moved(t, p.Move(&b.Whens[0]), s, 0.86)
	return true
}
