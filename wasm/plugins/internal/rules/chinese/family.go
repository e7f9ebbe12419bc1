package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// Who lives at home, and which year of school somebody is in.

// household takes how many people a home has: 我家五口人.
func household(t *discourse.Talk, b *discourse.BareZh) bool {
	x := syntax.TrimHeads(discourse.TrimZhEnd(b.Text), "我们一家", "我们家", "咱们家", "咱家", "我家")
	if x == discourse.TrimZhEnd(b.Text) {
		return false
	}
	x = syntax.TrimHeads(x, "现在", "总共", "一共", "就", "只", "有", "是")
	n, ok := strings.CutSuffix(strings.TrimSuffix(x, "人"), "口")
	if !ok || n == "" || utf8.RuneCountInString(n) > 2 || strings.Trim(n, syntax.DigitsZh) != "" {
		return false
	}
	t.FactZh(b, t.Self, "family", "family_size", x, false, false, 0.85)
	return true
}

// flatmate takes with whom the speaker rents a flat: 我跟老王合租.
func flatmate(t *discourse.Talk, b *discourse.BareZh) bool {
	x := strings.TrimSuffix(discourse.TrimZhEnd(b.Text), "了")
	with, ok := strings.CutSuffix(x, "合租")
	if !ok {
		with, ok = strings.CutSuffix(x, "合租房子")
	}
	with, mine := syntax.CutHead(with, "我跟", "我和", "我现在跟", "我现在和", "我与")
	if !ok || !mine || !syntax.PersonZh(with) && syntax.KinPrefixZh(strings.TrimPrefix(with, "我")) == "" {
		return false
	}
	t.FactZh(b, t.Self, "relation", "lives_with", strings.TrimPrefix(with, "我"), true, false, 0.8)
	return true
}

// workplace takes where the speaker's firm is: 我们公司搬到望京去了.
func workplace(t *discourse.Talk, b *discourse.BareZh) bool {
	x := discourse.TrimZhEnd(b.Text)
	if syntax.ContainsAny(x, "要", "会", "打算", "准备", "可能", "不", "没", "想", "以前", "之前") {
		return false
	}
	for _, firm := range [...]string{"我们公司", "我们单位", "我公司", "我单位", "公司", "单位"} {
		where, ok := strings.CutPrefix(x, firm)
		if !ok {
			continue
		}
		where, moved := syntax.CutHead(strings.TrimPrefix(where, "已经"), "搬到", "搬去", "迁到")
		where = syntax.TrimTails(where, "了", "去", "来")
		if n := utf8.RuneCountInString(where); !moved || n < 2 || n > 8 || syntax.VagueZh(where) || syntax.StartsWithAny(where, []string{"新", "楼", "隔壁", "对面", "附近", "旁边", "郊区"}) || b.Whens != nil && b.Whens[0].Day > t.Now.Day {
			return false
		}
		t.FactZh(b, t.Self, "work", "office", where, false, false, 0.8)
		return true
	}
	return false
}

// schooled takes in which year of school somebody is: 我儿子在读三年级, 我闺女今年高三.
func schooled(t *discourse.Talk, b *discourse.BareZh) bool {
	x := strings.TrimSuffix(discourse.TrimZhEnd(b.Text), "了")
	head, grade := gradeAt(x)
	if grade == "" || syntax.ContainsAny(x, "不", "没", "想", "要", "比", "开学", "马上", "快", "明年", "去年", "当年", "那年", "以前", "小时候", "时候") {
		return false
	}
	for i := range b.Whens {
		if w := &b.Whens[i]; w.HasDay && !w.Habit && w.Grain != 'y' || b.S.At(w.First) == "去" || b.S.At(w.First) == "明" {
			return false
		}
	}
	who, said := syntax.CutEnd(head, "在读", "在上", "在念", "读", "上", "念", "是")
	this := strings.Contains(b.S.Raw(), "今年")
	if who = syntax.TrimAdverbsZh(syntax.TrimTails(who, "今年", "现在", "都", "才", "刚", "已经", "在")); who == "" || !said && !this && !strings.HasPrefix(grade, "高") && !strings.HasSuffix(grade, "年级") {
		return false
	}
	p, ok := t.SubjectZh(who)
	if ok {
		t.FactZh(b, p, "family", "grade", grade, false, false, 0.8)
	}
	return ok
}

// gradeAt splits a year of school from the end of a text: 小学三年级, 初二, 高三, 大一, 中班.
func gradeAt(x string) (head, grade string) {
	for _, stage := range [...]string{"初", "高", "大", "研"} {
		if i := strings.LastIndex(x, stage); i > 0 && utf8.RuneCountInString(x[i:]) == 2 && strings.ContainsRune("一二三四", []rune(x[i:])[1]) {
			return x[:i], x[i:]
		}
	}
	for _, class := range [...]string{"小班", "中班", "大班"} {
		if head, ok := strings.CutSuffix(x, class); ok {
			return strings.TrimSuffix(head, "幼儿园"), class
		}
	}
	head, ok := strings.CutSuffix(x, "年级")
	year := strings.TrimRight(head, "一二三四五六七八九123456789")
	if !ok || len(year) == len(head) || utf8.RuneCountInString(head[len(year):]) != 1 {
		return "", ""
	}
	head, grade = year, x[len(year):]
	for _, school := range [...]string{"小学", "初中"} {
		if rest, ok := strings.CutSuffix(head, school); ok {
			return rest, school + grade
		}
	}
	return head, grade
}
