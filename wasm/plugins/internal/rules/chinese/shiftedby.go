package chinese

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// shiftsBy are words before a length of time by which an event is later or, if earlier is set, earlier.
var shiftsBy = [...]struct {
	word    string
	earlier bool
}{
	{"推迟", false}, {"延后", false}, {"延期", false}, {"推后", false}, {"往后推", false}, {"往后挪", false}, {"往后延", false}, {"顺延", false},
	{"提前", true}, {"往前挪", true}, {"往前提", true},
}

// shiftedBy takes 面试推迟了一周, 会提前半小时: a known appointment, later or earlier by a length of time.
// Without a noun it is the one that the speaker has just named.
func shiftedBy(t *discourse.Talk, b *discourse.BareZh) bool {
	if len(t.Plans) == 0 {
		return false
	}
	raw := strings.TrimRight(b.S.Raw(), "。！! ，,啦啊了")
	head, by, sign := "", "", 1
	for _, s := range shiftsBy {
		if before, after, ok := strings.Cut(raw, s.word); ok {
			if head, by = before, strings.TrimPrefix(after, "了"); s.earlier {
				sign = -1
			}
			break
		}
	}
	if by == "" || b.S.Ends == "？" || b.S.Ends == "?" || syntax.ContainsAny(head, "想", "要", "能", "可以", "可能", "建议", "希望", "申请", "打算", "不", "没", "如果", "要是", "是否") && !strings.Contains(head, "需要") {
		return false
	}
	length := syntax.Sentences(by)
	if len(length) != 1 {
		return false
	}
	n, unit, took := timex.LengthZh(length[0], 0)
	if n == 0 || took < len(length[0].Toks) || unit == "year" || n > 600 || unit != "minute" && n > 60 {
		return false
	}
	attr, word := EventIn(head)
	if of, ok := strings.CutSuffix(head, "会"); ok && attr == "" && (of == "" || syntax.EndsWithAny(of, []string{"那个", "这个", "的"})) {
		attr, word = "meeting", "会"
	}
	var p discourse.Plan
	ok := false
	if attr != "" {
		p, ok = meant(t, b, attr, word, true)
	} else if bare := syntax.TrimTails(syntax.TrimHeads(syntax.StripLeadZh(head), "它", "时间", "那个", "这个"), "被", "又", "要", "就", "已经", "时间"); bare == "" {
		if last := t.Plans[len(t.Plans)-1]; last.Day >= t.Now.Day && t.Ev.At-last.At <= discourse.AnswerWithin {
			p, ok = last, true
		}
	}
	if !ok || p.Day < t.Now.Day || p.Day <= 1 {
		return false
	}
	p.Chinese = true
	if p.What == "" || p.What == "plan" {
		p.What = word
	}
	return discourse.Shifted(t, p, n*sign, unit, b.S)
}
