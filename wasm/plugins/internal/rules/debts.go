package rules

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// What one person owes another, and that it was paid. An amount that is paid back ends the
// debt of that amount; where none is named, whatever was owed.

// owes takes "I owe Marcus forty pounds": what somebody owes one person.
func (t *talk) owes(c *clause) bool {
	i := c.vi + 1
	if c.verb != "owe" || c.past || c.neg || c.perfect || !c.amount() || c.conditional() || c.kind != 's' && c.kind != 'p' {
		return false
	}
	to := c.w(i)
	switch {
	case to == "me" && c.kind == 'p':
		to = t.self.key
	case c.kind == 's' && (parent[to] || to == "my" && kin(c.w(i+1)) && !c.capital(i+2)): // "I owe my brother twenty euros"
		if to == "my" {
			i++
		}
		to = t.self.key + "'s " + c.w(i)
	case !c.capital(i) || !nameWord(to) || c.capital(i+1):
		return false
	}
	how, _ := c.object(i + 1)
	how, _, _ = strings.Cut(how, " for ")
	if words := strings.Fields(strings.ToLower(how)); !moneyed(words) || c.w(i+1) == "another" {
		return false
	}
	return t.fact(c, "debt", "owes "+to, how, false, 0.7) != nil
}

// repaid takes "I paid Anna back the 20 euros", "Tom has paid me back", "I paid Anna the 20 euros back".
func (t *talk) repaid(c *clause, i int) {
	end := len(c.words)
	for k := i; k < end; k++ {
		if w := c.w(k); w == "i" || w == "that" || w == "he" || w == "she" {
			end = k // "the 50 euros I owed him"
		}
	}
	if end > i+2 && c.w(end-2) == "," && c.capital(end-1) {
		end -= 2 // "I paid my brother back, Anna"
	}
	for end > i && (c.w(end-1) == "yesterday" || c.w(end-1) == "today" || c.w(end-1) == "now" || c.w(end-1) == "already" || c.w(end-1) == ",") {
		end--
	}
	if c.w(end-1) == "full" && c.w(end-2) == "in" {
		end -= 2
	}
	back := c.find(i, end-1-i, "back")
	switch {
	case c.kind != 's' && c.kind != 'p' || c.verb != "repay" && back < 0:
		return
	case c.verb == "give" || c.verb == "return":
		if !c.amount() && c.find(i, end-1-i, "money") < 0 {
			return
		}
	}
	var rest []string // without the person and "back"
	to, at := "", -1
	for k := i; k < end; k++ {
		w, follows := c.w(k), k == i || c.w(k-1) == "to" || k == i+1 && back == i
		switch {
		case w == "me" && c.kind == 'p' && to == "" && follows:
			to, at = t.self.key, k
		case c.kind == 's' && to == "" && (parent[w] && follows || kin(w) && c.w(k-1) == "my"):
			to, at = t.self.key+"'s "+w, k
		case c.kind == 's' && to == "" && follows && c.capital(k) && nameWord(w) && monthOf(w) == 0 && weekdayOf(w, false) < 0:
			to, at = w, k
		case w == "the" || w == "her" || w == "his" || w == "their" || w == "my" || w == "to" && k+1 < end && c.capital(k+1) || w == "to" && c.w(k+1) == "me" || w == "everything" || w == "money" || w == "all" || k == back:
		default:
			rest = append(rest, w)
		}
	}
	if to == "" || len(rest) > 0 && !moneyed(rest) || back >= 0 && back != i && back != at+1 && (back != end-1 || c.at(c.words[back].tok+1) == "in") && c.w(back+1) != "to" {
		return // "gave him 20 euros back in May"
	}
	t.ended(c, c.subj, "debt", "owes "+to, strings.Join(rest, " "), false)
}

// moneyed reports words that are a number and a currency, and nothing else: "twenty euros".
func moneyed(words []string) bool {
	n := len(words)
	if n == 1 {
		return strings.ContainsAny(words[0], "$€£¥") && strings.ContainsAny(words[0], "0123456789")
	}
	if n == 0 || n > 5 {
		return false
	}
	sign := words[0] == "$" || words[0] == "€" || words[0] == "£" || words[0] == "¥"
	if !sign && !currencies[strings.TrimSuffix(words[n-1], "s")] {
		return false
	}
	if sign {
		words = words[1:]
	} else {
		words = words[:n-1]
	}
	for _, w := range words {
		for part := range strings.SplitSeq(w, "-") {
			if _, ok := number(part); !ok && !strings.ContainsAny(part, "0123456789") && part != "hundred" && part != "thousand" && part != "and" {
				return false
			}
		}
	}
	return true
}

// currencies are in the singular.
var currencies = set("euro pound dollar quid buck cent penny pence franc crown yen yuan rmb rupee zloty krona krone kroner kronor lira peso usd eur gbp chf cny grand kuai forint ruble won rand dirham shekel € $ £ ¥")

// priced reports whether a clause names an amount of money.
func (c *clause) priced() bool {
	return slices.ContainsFunc(c.words[min(c.vi+1, len(c.words)):], func(w word) bool {
		return currencies[strings.TrimSuffix(w.s, "s")] || strings.ContainsAny(w.s, "$€£¥")
	})
}

// owesZh takes 我欠小王两百块, 小王欠我五百块.
func (t *talk) owesZh(b *bareZh, x string) bool {
	who, rest, ok := strings.Cut(x, "欠")
	who = trimAdverbsZh(who)
	if !ok || strings.ContainsAny(x, "不没清再") || containsAny(x, beforeZh[:]...) || containsAny(t.said.raw(), "还了", "还清", "还完", "还掉", "还给") {
		return false
	}
	rest = strings.TrimPrefix(strings.TrimPrefix(rest, "了"), "着")
	if who == "我" {
		for n, r := range rest { // the name, up to the amount
			if n == 0 || !strings.ContainsRune("0123456789一二两三四五六七八九十百千万几", r) {
				continue
			}
			if name := strings.TrimSuffix(rest[:n], "的"); (personZh(name) || nameZh(name)) && sumZh(rest[n:]) {
				t.factZh(b, t.self, "debt", "owes "+name, rest[n:], false, false, 0.8)
				return true
			}
			return false
		}
		return false
	}
	sum, ok := strings.CutPrefix(rest, "我")
	sum = strings.TrimSuffix(sum, "呢")
	if !ok || !personZh(who) && !nameZh(who) || !owedZh(sum) {
		return false
	}
	t.factZh(b, t.named(who), "debt", "owes "+t.self.key, sum, false, false, 0.8)
	return true
}

// repaidZh takes 我已经把钱还给小王了, 我把两百块还给小王了, 我还清了欠小王的钱, 小王把钱还给我了.
func (t *talk) repaidZh(b *bareZh, x string) bool {
	x = strings.Replace(strings.Replace(x, "已经", "", 1), "还我了", "还给我了", 1)
	who, what, to := "", "", ""
	if head, tail, ok := strings.Cut(x, "还给"); ok && (strings.HasSuffix(tail, "了") || strings.HasPrefix(tail, "了")) {
		who, what, _ = strings.Cut(head, "把")
		to = strings.TrimPrefix(strings.TrimSuffix(tail, "了"), "了")
	} else if payer, sum, ok := broughtBackZh(x); ok {
		who, what, to = payer, sum, "我"
	} else if head, tail, ok := strings.Cut(x, "还清了欠"); ok && strings.HasSuffix(tail, "的钱") {
		who, to, what = head, strings.TrimSuffix(tail, "的钱"), "钱"
	} else if head, tail, ok := strings.Cut(x, "还了"); ok && strings.HasSuffix(tail, "的钱") {
		who, to, what = head, strings.TrimSuffix(tail, "的钱"), "钱"
	}
	sum := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(what, "那"), "这"), "欠的")
	if sum == "钱" || sum == "欠款" {
		sum = ""
	} else if !owedZh(sum) {
		return false
	}
	debtor := t.self
	switch {
	case who == "我" && (personZh(to) || nameZh(to)):
	case to == "我" && (personZh(who) || nameZh(who)):
		debtor, to = t.named(who), t.self.key
	default:
		return false
	}
	a := t.baseZh(b, "semantic", "debt", debtor, 0.8)
	ends(&a, debtor.key, "owes "+to, sum, false)
	t.out.Candidates = append(t.out.Candidates, a)
	return true
}

// broughtBackZh takes 小张把钱还了, 小张把欠我的两百块还清了, 小张还钱了: who paid the speaker, and what.
func broughtBackZh(x string) (who, what string, ok bool) {
	if strings.ContainsAny(x, "没不要想会该") {
		return "", "", false
	}
	for _, end := range [...]string{"还清了", "还上了", "还完了", "还了"} {
		if head, done := strings.CutSuffix(x, end); done {
			if who, what, ok = strings.Cut(head, "把"); ok && who != "我" {
				return trimAdverbsZh(who), strings.TrimPrefix(what, "欠我的"), true
			}
			return "", "", false
		}
	}
	who, ok = strings.CutSuffix(x, "还钱了")
	return trimAdverbsZh(who), "钱", ok && who != "我"
}

// owedZh reports what is owed: an amount, or 票钱, 饭钱.
func owedZh(s string) bool {
	return sumZh(s) || strings.HasSuffix(s, "钱") && utf8.RuneCountInString(s) == 2
}

// sumZh reports an amount of money: 两百块, 500元.
func sumZh(s string) bool {
	n := utf8.RuneCountInString(s)
	return n >= 2 && n <= 10 && endsWithAny(strings.TrimSuffix(s, "钱"), []string{"块", "元", "万", "千", "百", "欧元", "美元", "欧"})
}
