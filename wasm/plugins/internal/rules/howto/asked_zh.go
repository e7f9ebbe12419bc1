package howto

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// askedHowZh is what the turn before asks how to do, as the title of a procedure: 螃蟹怎么吃 of 这螃蟹怎么吃啊. It is "" where
// that asks nothing of the kind.
func askedHowZh(t *discourse.Talk) string {
	const most = 14 // characters
	b := t.JustSaid()
	if b == nil {
		return ""
	}
	x := strings.TrimRight(syntax.StripLeadZh(b.Text), "？?。！!啊呀呢 ")
	x = syntax.TrimHeads(x, "这个", "那个", "这", "那", "请问")
	thing, deed, ok := strings.Cut(x, "怎么")
	if !ok || thing == "" || deed == "" || utf8.RuneCountInString(x) > most || strings.ContainsAny(x, "，,我你您他她了") || syntax.StartsWithAny(deed, []string{"样", "这", "那", "会", "回事", "没", "不", "卖"}) {
		return ""
	}
	return x
}
