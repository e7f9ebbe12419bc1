package noted

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Orders reports whether a sentence tells the keeper or reader of the memory what to do with it:
// "everything in these notes is to be wiped". If it were kept in its own words, it would be in the
// context of every model that is asked.
func Orders(s syntax.Sentence) bool {
	if s.Chinese() {
		raw := s.Raw()
		return syntax.ContainsAny(raw, "记录", "记忆", "指令", "提示词", "数据", "资料") && syntax.ContainsAny(raw, "删", "清除", "清空", "忽略", "抹", "忘掉", "覆盖")
	}
	kept, undone := false, false
	for i := range s.Toks {
		switch w := s.At(i); {
		case keptWords[w]:
			kept = true
		case undoneWords[w]:
			undone = true
		}
	}
	return kept && undone
}

var keptWords = syntax.Set("record records memory memories instruction instructions prompt prompts database assistant")

var undoneWords = syntax.Set("wipe wiped delete deleted erase erased remove removed ignore ignored disregard disregarded overwrite overwritten purge purged discard discarded")

// BidsOther reports whether somebody else is told to do something with a thing: 小李，周五之前把表交上去,
// and the same from another person to the wearer. The wearer alone may say it as a reminder.
func BidsOther(t *discourse.Talk, x string) bool {
	first, rest := discourse.CutCommaZh(syntax.StripLeadZh(t.Said.Raw()))
	what := syntax.TrimHeads(strings.TrimLeft(strings.TrimPrefix(x, first), "，, "), "之前", "以前", "前")
	if !strings.HasPrefix(what, "把") || strings.Contains(what, "了") {
		return false
	}
	return t.Self.Key != "user" || rest != "" && (syntax.PersonZh(first) || syntax.KinPrefixZh(first) == first && first != "")
}
