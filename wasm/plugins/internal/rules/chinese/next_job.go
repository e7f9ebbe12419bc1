package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// quits end a clause that tells that somebody left their job, and changes one that tells that they
// have another.
var (
	quits   = []string{"辞职了", "离职了"}
	changes = []string{"跳槽了", "换工作了", "换了工作", "换了份工作", "换单位了", "换公司了"}
)

// joinings are words for where somebody then works, and firms endings of what is a firm.
var (
	joinings = []string{"跳槽到了", "跳槽到", "跳到了", "跳到", "换到了", "换到", "转到了", "转到", "去了", "到了", "入职了", "进了"}
	firms    = []string{"公司", "银行", "集团", "科技", "律所", "事务所", "研究所", "研究院", "设计院", "外企", "国企", "央企", "大厂", "工厂", "机构"}
)

// nextJob takes the firm to which somebody went from the job that the clause before it ends: 我换工作了，去了小米.
func nextJob(t *discourse.Talk, b *discourse.BareZh) bool {
	before := discourse.TrimZhEnd(t.Said.Text[min(t.Said.Start, b.S.Start):b.S.Start])
	changed := syntax.EndsWithAny(before, changes) || leftFirm(before)
	if !changed && !syntax.EndsWithAny(before, quits) {
		return false
	}
	x := strings.TrimSuffix(discourse.TrimZhEnd(b.Text), "了")
	for _, joined := range joinings {
		who, firm, ok := strings.Cut(x, joined)
		if ok && employs(firm) && isFirm(firm, changed) {
			return factOf(t, b, syntax.TrimHeads(who, "后来", "然后", "现在", "刚", "又"), "work", "employer", firm, 0.85)
		}
	}
	return false
}

// isFirm reports whether the text is a firm. If it is known that somebody has another job, a short
// name is one, too: people who quit also go away, or home.
func isFirm(s string, changed bool) bool {
	n := utf8.RuneCountInString(s)
	switch {
	case n < 2 || n > 12 || strings.ContainsAny(s, "了过着我你他她，,") || syntax.VagueZh(s):
		return false
	case syntax.EndsWithAny(s, firms):
		return !syntax.EndsWithAny(s, []string{"分公司", "总公司", "子公司"}) && !syntax.StartsWithAny(s, []string{"趟", "一趟"})
	}
	return changed && n <= 4 && !strings.ContainsAny(s, "的新别") && !syntax.EndsWithAny(s, []string{"部", "边", "山里", "村里", "城里", "镇里", "家里", "下", "上", "间", "处", "方", "台", "店", "家", "外", "地", "组", "岗", "底", "初", "月", "年", "天"})
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

// trades are what a firm does, and not its name: 保险公司.
var trades = []string{"保险", "芯片", "游戏", "外贸", "贸易", "物流", "建筑", "广告", "科技", "互联网", "软件", "医药", "地产", "房地产", "投资", "证券", "基金", "装修", "咨询", "能源", "快递", "电力", "自来水"}

// generalFirm reports whether the text before 公司 does not name a firm: 一家新.
func generalFirm(s string) bool {
	return syntax.ContainsAny(s, "家", "新", "别的", "另", "外企", "上市") || syntax.EndsWithAny(s, trades) || utf8.RuneCountInString(s) < 2
}

// joinedFirm reports whether what somebody joined can be a firm, and not a group, team or dish.
func joinedFirm(s string) bool {
	s = syntax.TrimZh(s)
	return !strings.ContainsAny(s, "一的我你他这那") && !syntax.EndsWithAny(s, []string{"群", "组", "队", "会", "社", "班", "党", "讨论", "项目", "计划", "行列", "联盟", "盐", "糖", "水", "国籍", "聊天", "游戏"})
}
