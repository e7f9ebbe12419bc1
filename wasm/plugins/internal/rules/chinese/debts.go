package chinese

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// owes takes 我欠小王两百块, 小王欠我五百块.
func owes(t *discourse.Talk, b *discourse.BareZh, x string) bool {
	who, rest, ok := strings.Cut(x, "欠")
	who = syntax.TrimAdverbsZh(who)
	if !ok || strings.ContainsAny(x, "不没清再") || syntax.ContainsAny(x, Once[:]...) || syntax.ContainsAny(t.Said.Raw(), "还了", "还清", "还完", "还掉", "还给") {
		return false
	}
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "了"), "着")
	if who == "我" {
		for n, r := range rest { // the name, up to the amount
			if n == 0 || !strings.ContainsRune("0123456789一二两三四五六七八九十百千万几", r) {
				continue
			}
			if name := strings.TrimSuffix(rest[:n], "的"); (syntax.PersonZh(name) || discourse.NameZh(name)) && sum(withoutWhat(rest[n:])) {
				t.FactZh(b, t.Self, "debt", "owes "+name, withoutWhat(rest[n:]), false, false, 0.8)
				return true
			}
			return false
		}
		return false
	}
	sum, ok := strings.CutPrefix(rest, "我")
	sum = strings.TrimSuffix(sum, "呢")
	if !ok || !owed(sum) || strings.HasPrefix(sum, "们") || syntax.KinPrefixZh(sum) != "" { // 欠我爸五万块
		return false
	}
	debtor, relative := t.SubjectZh(who) // 我表弟欠我两千块
	if relative = relative && debtor != t.Self && syntax.KinPrefixZh(strings.TrimPrefix(who, "我")) == strings.TrimPrefix(who, "我"); !relative {
		debtor = t.Named(who)
	}
	if !relative && !syntax.PersonZh(who) && !discourse.NameZh(who) {
		return false
	}
	t.FactZh(b, debtor, "debt", "owes "+t.Self.Key, sum, false, false, 0.8)
	return true
}

// repaid takes 我已经把钱还给小王了, 我把两百块还给小王了, 我还清了欠小王的钱, 小王把钱还给我了.
func repaid(t *discourse.Talk, b *discourse.BareZh, x string) bool {
	x = strings.Replace(strings.Replace(x, "已经", "", 1), "还我了", "还给我了", 1)
	who, what, to := "", "", ""
	if head, tail, ok := strings.Cut(x, "还给"); ok && (strings.HasSuffix(tail, "了") || strings.HasPrefix(tail, "了")) {
		who, what, _ = strings.Cut(head, "把")
		to = strings.TrimPrefix(strings.TrimSuffix(tail, "了"), "了")
	} else if payer, sum, ok := broughtBack(x); ok {
		who, what, to = payer, sum, "我"
	} else if head, tail, ok := strings.Cut(x, "还清了欠"); ok && strings.HasSuffix(tail, "的钱") {
		who, to, what = head, strings.TrimSuffix(tail, "的钱"), "钱"
	} else if head, tail, ok := strings.Cut(x, "还了"); ok && strings.HasSuffix(tail, "的钱") {
		who, to, what = head, strings.TrimSuffix(tail, "的钱"), "钱"
	}
	sum := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(what, "那"), "这"), "欠的")
	if sum == "钱" || sum == "欠款" {
		sum = ""
	} else if !owed(sum) {
		return false
	}
	debtor := t.Self
	switch {
	case who == "我" && (syntax.PersonZh(to) || discourse.NameZh(to)):
	case to == "我" && (syntax.PersonZh(who) || discourse.NameZh(who)):
		debtor, to = t.Named(who), t.Self.Key
	default:
		return false
	}
	a := t.BaseZh(b, "semantic", "debt", debtor, 0.8)
	discourse.Ends(&a, debtor.Key, "owes "+to, sum, false)
	t.Out.Candidates = append(t.Out.Candidates, a)
	return true
}

// broughtBack returns who paid the speaker back, and what: 小张把钱还了, 小张把欠我的两百块还清了, 小张还钱了.
func broughtBack(x string) (who, what string, ok bool) {
	if strings.ContainsAny(x, "没不要想会该") {
		return "", "", false
	}
	for _, end := range [...]string{"还清了", "还上了", "还完了", "还了"} {
		if head, done := strings.CutSuffix(x, end); done {
			if who, what, ok = strings.Cut(head, "把"); ok && who != "我" {
				return syntax.TrimAdverbsZh(who), strings.TrimPrefix(what, "欠我的"), true
			}
			return "", "", false
		}
	}
	who, ok = strings.CutSuffix(x, "还钱了")
	return syntax.TrimAdverbsZh(who), "钱", ok && who != "我"
}

// owed reports whether s is something that can be owed: an amount, or 票钱, 饭钱.
func owed(s string) bool {
	return sum(s) || strings.HasSuffix(s, "钱") && utf8.RuneCountInString(s) == 2
}

// withoutWhat returns an amount without what it is for: 两百块 for 两百块饭钱.
func withoutWhat(s string) string {
	for _, what := range [...]string{"饭钱", "票钱", "车钱", "油钱", "菜钱", "房租", "押金", "车费", "电费", "水费", "打车费"} {
		if amount, ok := strings.CutSuffix(s, what); ok && sum(strings.TrimSuffix(amount, "的")) {
			return strings.TrimSuffix(amount, "的")
		}
	}
	return s
}

// sum reports whether s is an amount of money: 两百块, 500元.
func sum(s string) bool {
	n := utf8.RuneCountInString(s)
	return n >= 2 && n <= 10 && syntax.EndsWithAny(strings.TrimSuffix(s, "钱"), []string{"块", "元", "万", "千", "百", "欧元", "美元", "欧"})
}
