package chinese

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// mistakes are words with which people say that they were wrong.
var mistakes = []string{"记错", "搞错", "弄错", "说错", "看错", "搞混", "记混", "弄混", "搞反", "记反"}

// besideTime removes the words around a time in such a sentence.
var besideTime = strings.NewReplacer("不是", "", "应该", "", "才对", "", "是", "", "我", "", "刚才", "", "了", "", "不好意思", "", "，", "", ",", "", "。", "", " ", "")

// Mistaken refuses a sentence that only puts a time right, and does not say of what: 不是周三，是周五，我记错了.
func Mistaken(t *discourse.Talk, s syntax.Sentence) bool {
	if !s.Chinese() || !syntax.ContainsAny(s.Raw(), mistakes...) {
		return false
	}
	x, from := "", s.Start
	for _, w := range timex.TimesIn(s, t.Now) {
		x += s.Text[from:s.Toks[w.First].Start]
		from = s.Toks[w.Next-1].End
	}
	if x = besideTime.Replace(x + s.Text[from:s.End]); from == s.Start || syntax.TrimHeads(x, mistakes...) != "" {
		return false
	}
	t.Refuse("nothing", "puts a time right, of something that is not known", s.Start, s.End)
	return true
}
