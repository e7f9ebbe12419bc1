package chinese

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// everyday takes what is said every day in few words: what somebody never learned, who looks after
// something, what somebody drinks. It reports whether the clause is one of these.
func everyday(t *discourse.Talk, b *discourse.BareZh) bool {
	x := discourse.TrimZhEnd(b.Text)
	if len(b.Whens) > 0 || strings.ContainsAny(x, "你您吗谁") {
		return false
	}
	return unskilled(t, b, x) || inCharge(t, b, x) || drinks(t, b, x)
}

// skills are what people learn to do.
var skills = []string{"游泳", "开车", "骑车", "骑自行车", "骑电动车", "做饭", "做菜", "炒菜", "打麻将", "打牌", "滑雪", "滑冰", "溜冰", "下棋", "下围棋", "下象棋", "打字", "跳舞", "唱歌", "英语", "日语", "普通话", "粤语"}

// unskilled takes 我不会游泳.
func unskilled(t *discourse.Talk, b *discourse.BareZh, x string) bool {
	who, what, ok := strings.Cut(x, "不会")
	if !ok || !slices.Contains(skills, strings.TrimPrefix(what, "说")) {
		return false
	}
	p, ok := t.SubjectZh(who)
	if ok {
		t.Out.Candidates = append(t.Out.Candidates, t.BaseZh(b, "semantic", "biography", p, 0.75))
	}
	return ok
}

// inCharge takes 发票归小周管.
func inCharge(t *discourse.Talk, b *discourse.BareZh, x string) bool {
	what, tail, ok := strings.Cut(x, "归")
	who, managed := syntax.CutEnd(tail, "管", "负责")
	what = syntax.TrimTails(what, "都", "全", "一直", "现在")
	if p := party(t, who); ok && managed && utf8.RuneCountInString(what) >= 2 && !syntax.VagueZh(what) && p.Key != "" {
		t.Out.Candidates = append(t.Out.Candidates, t.BaseZh(b, "semantic", "biography", p, 0.75))
		return true
	}
	return false
}

// drinks takes 我早餐喝燕麦奶, 我只喝黑咖啡. 我喝可乐 may be an order.
func drinks(t *discourse.Talk, b *discourse.BareZh, x string) bool {
	const most = 5 // characters
	who, what, ok := strings.Cut(x, "喝")
	who = strings.TrimSuffix(who, "都")
	who, usual := syntax.CutEnd(who, "平时", "一般", "只", "一直", "早餐", "早饭", "早上")
	n := utf8.RuneCountInString(what)
	if !ok || !usual || n < 2 || n > most || syntax.VagueZh(what) || strings.ContainsAny(what, "了过点杯瓶碗口不没酒的") {
		return false
	}
	p, ok := t.SubjectZh(who)
	if ok {
		t.FactZh(b, p, "diet", "drinks", what, true, false, 0.7)
	}
	return ok
}
