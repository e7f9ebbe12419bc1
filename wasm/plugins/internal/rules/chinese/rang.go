package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// calls are words with which people say that somebody gave news.
var calls = []string{"打电话过来", "打电话来", "打来电话", "打电话给我", "来电话", "打电话", "发短信来", "发短信", "来短信", "发消息", "发微信", "来消息", "通知我们", "通知我", "通知", "接到电话", "接到通知", "收到短信", "收到通知"}

// callers are those whom nobody needs to name: whoever the last plan is with.
var callers = []string{"那边", "他们", "对方", "人家", ""}

// Rang takes the news apart from a new time: 牙医刚来电话，改成周四三点了 is read as 牙医改成周四三点了. If whoever gave
// the news is not named, it returns 改成周四三点了, which belongs to the plan that was made before.
func Rang(t *discourse.Talk, s syntax.Sentence) (syntax.Sentence, bool) {
	if !s.Chinese() || s.Ends == "?" || s.Ends == "？" {
		return s, false
	}
	for i := 3; i < len(s.Toks)-3 && i < 14; i++ {
		if w := s.At(i); w != "，" && w != "," {
			continue
		}
		said := s.Text[s.Start:s.Toks[i].Start]
		who, ok := syntax.CutEnd(syntax.TrimTails(syntax.StripLeadZh(said), "说", "了"), calls...)
		if who = syntax.TrimTails(who, "刚刚", "刚才", "刚", "又", "突然"); !ok {
			return s, false
		}
		_, n := syntax.PrefixZh(s, i+1, "说", "我的", "把我", "给我", "我")
		rest := s.Sub(i+1+n, len(s.Toks))
		if !syntax.StartsWithAny(rest.Raw(), discourse.MovesZh) {
			return s, false
		}
		for _, c := range callers {
			if who == c || who == "我" {
				return rest, false
			}
		}
		if attr, word := EventIn(who); attr == "" || word != who || utf8.RuneCountInString(who) > 4 {
			return s, false
		}
		from := len(t.Out.Candidates)
		for _, o := range syntax.Sentences(who + strings.TrimRight(rest.Raw(), "。")) {
			read(t, o)
		}
		discourse.StandsFor(t, from, s)
		return s, len(t.Out.Candidates) > from
	}
	return s, false
}
