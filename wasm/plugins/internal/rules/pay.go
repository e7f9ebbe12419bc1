package rules

import (
	"strings"
	"unicode/utf8"
)

// What somebody earns by their work has one value at a time, and ends with the work.

// payWords are words for it.
var payWords = set("salary pay wage wages paycheck")

// earns takes "I earn 70k a year", "I make 3,000 euros a month", "I'm on 45k", "I get paid 20 euros an
// hour": an amount of pay, and nothing that is sold or done beside.
func (t *talk) earns(c *clause, i int) bool {
	if c.past || c.perfect || c.neg || c.future || c.modal || c.must || c.intend || c.can || c.maybe || c.conditional() || c.kind != 's' && c.kind != 'p' {
		return false
	}
	period := false // without one it may be a cake
	switch c.verb {
	case "earn":
	case "make":
		period = true
	case "get", "be":
		if c.w(i) == "paid" {
			i++
		} else if c.verb == "be" && c.w(i) == "on" {
			i++
			period = !strings.HasSuffix(c.w(i), "k")
		} else {
			return false
		}
	default:
		return false
	}
	return t.paid(c, i, period)
}

// paid proposes the amount at word i as the pay of the clause's subject.
func (t *talk) paid(c *clause, i int, period bool) bool {
	for c.w(i) == "about" || c.w(i) == "around" || c.w(i) == "roughly" || c.w(i) == "only" || c.w(i) == "now" {
		i++
	}
	k, digits, money := i, false, false
	for ; k < len(c.words); k++ {
		w := c.w(k)
		number := counts(w) && w != "a" && w != "an" || strings.ContainsAny(w, "0123456789")
		money = money || currencies[strings.TrimSuffix(w, "s")] || strings.ContainsAny(w, "$€£¥,") || len(w) > 2 && number || strings.HasSuffix(w, "k") && number || scales[w]
		if digits = digits || number; !number && !scales[w] && !currencies[strings.TrimSuffix(w, "s")] && !strings.ContainsAny(w, "$€£¥") && !(w == "," && number) {
			break
		}
	}
	if !digits || period && !money {
		return false
	}
	end := k
	if w := c.w(k); w == "a" || w == "an" || w == "per" || w == "each" || w == "every" {
		switch c.w(k + 1) {
		case "year", "month", "week", "hour", "day", "annum":
			end, period = k+2, false
		}
	}
	rest := end
	switch c.w(rest) {
	case "before", "after", "gross", "net":
		for rest < len(c.words) && rest < end+2 && c.w(rest) != "at" {
			rest++
		}
	}
	if w := c.w(rest); period || w != "" && w != "at" && w != "," && w != "now" && w != "there" {
		return false
	}
	return t.fact(c, "work", "salary", c.join(i, end), false, 0.8) != nil
}

// salaryIs takes "my salary is 70k a year", "my pay went up to 75k".
func (t *talk) salaryIs(c *clause, i int) bool {
	words := strings.Fields(c.thing)
	if !c.own || len(words) == 0 || len(words) > 2 || !payWords[words[len(words)-1]] || c.neg || c.future || c.modal || c.conditional() {
		return false
	}
	switch {
	case c.verb == "be" && !c.past:
	case c.verb == "go" && c.w(i) == "up" && (c.past || c.perfect):
		to := c.find(i, 5, "to")
		if to < 0 {
			return false
		}
		i = to + 1
	default:
		return false
	}
	return t.paid(c, i, false)
}

// payZh are words for pay, and before what somebody's is.
var payZh = [...]string{"税前工资", "税后工资", "月工资", "工资", "月薪", "年薪", "时薪", "底薪", "薪水", "薪资"}

// salaryZh takes 我月薪一万五, 我的工资是税前两万, 我工资涨到一万八了.
func (t *talk) salaryZh(b *bareZh) bool {
	x := trimZhEnd(b.text)
	for _, word := range payZh {
		head, value, ok := strings.Cut(x, word)
		if !ok {
			continue
		}
		value = trimHeads(value, "现在", "已经", "大概", "是", "有", "涨到了", "涨到", "税前", "税后", "每月", "一个月", "差不多")
		value = strings.TrimSuffix(value, "了")
		amount := strings.TrimRight(value, "元块钱左右多")
		head = strings.TrimSuffix(strings.TrimSuffix(head, "现在"), "的")
		if p, ok := t.subjectZh(head); ok && amount != "" && strings.Trim(amount, "0123456789.,kKwW零〇一二两三四五六七八九十百千万") == "" && utf8.RuneCountInString(value) > 1 {
			t.factZh(b, p, "work", "salary", value, false, false, 0.8)
			return true
		}
		return false
	}
	return false
}
