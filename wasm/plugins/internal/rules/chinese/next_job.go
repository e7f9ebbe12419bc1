package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// quits are endings of a clause that tells that somebody left their job.
var quits = []string{"辞职了", "离职了", "跳槽了", "换工作了", "换了工作", "换了份工作", "换单位了", "换公司了", "不干了"}

// joinings are words for where somebody then works.
var joinings = []string{"跳槽到了", "跳槽到", "跳到了", "跳到", "换到了", "换到", "转到了", "转到", "去了", "到了", "入职了", "进了"}

// nextJob takes the firm to which somebody went from the job that the clause before it ends: 我换工作了，去了小米.
func nextJob(t *discourse.Talk, b *discourse.BareZh) bool {
	before := discourse.TrimZhEnd(t.Said.Text[min(t.Said.Start, b.S.Start):b.S.Start])
	if !syntax.EndsWithAny(before, quits) && !leftFirm(before) {
		return false
	}
	x := strings.TrimSuffix(discourse.TrimZhEnd(b.Text), "了")
	for _, join := range joinings {
		who, firm, ok := strings.Cut(x, join)
		if n := utf8.RuneCountInString(firm); !ok || n < 2 || n > 12 || !employs(firm) || syntax.VagueZh(firm) ||
			strings.ContainsAny(firm, "了过着我你他她，,") || syntax.StartsWithAny(firm, []string{"趟", "一趟", "南方", "北方", "旅游", "旅行", "休息", "别的", "别处", "新"}) || syntax.EndsWithAny(firm, []string{"旅游", "旅行", "面试", "读书", "留学", "创业", "上学", "玩", "再说", "最后"}) {
			continue
		}
		return factOf(t, b, strings.TrimPrefix(syntax.TrimHeads(who, "后来", "然后", "现在", "刚"), "又"), "work", "employer", firm, 0.85)
	}
	return false
}

// leftFirm reports whether a clause tells that somebody works at a firm no more: 我不在银行干了.
func leftFirm(x string) bool {
	_, x, ok := strings.Cut(x, "不在")
	for _, end := range [...]string{"干了", "做了", "工作了", "上班了", "待了"} {
		if firm, cut := strings.CutSuffix(x, end); ok && cut {
			return utf8.RuneCountInString(firm) >= 2 && employs(firm)
		}
	}
	return false
}
