package english

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// What one person owes another, and that it was paid back. An amount that is paid back ends the
// debt of that amount; without an amount, it ends whatever was owed.

// owes takes "I owe Marcus forty pounds": what somebody owes one person.
func owes(t *discourse.Talk, c *discourse.Clause) bool {
	i := c.Vi + 1
	if c.Verb != "owe" || c.Past || c.Neg || c.Perfect || !amount(c) || c.Conditional() || c.Kind != 's' && c.Kind != 'p' {
		return false
	}
	to := c.W(i)
	switch {
	case to == "me" && c.Kind == 'p':
		to = t.Self.Key
	case c.Kind == 's' && (syntax.Parent[to] || to == "my" && syntax.Kin(c.W(i+1)) && !c.Capital(i+2)): // "I owe my brother twenty euros"
		if to == "my" {
			i++
		}
		to = t.Self.Key + "'s " + c.W(i)
	case !c.Capital(i) || !syntax.NameWord(to) || c.Capital(i+1):
		return false
	}
	how, _ := c.Object(i + 1)
	how, _, _ = strings.Cut(how, " for ")
	if words := strings.Fields(strings.ToLower(how)); !moneyed(words) || c.W(i+1) == "another" {
		return false
	}
	return t.Fact(c, "debt", "owes "+to, how, false, 0.7) != nil
}

// repaid takes "I paid Anna back the 20 euros", "Tom has paid me back", "I paid Anna the 20 euros back".
func repaid(t *discourse.Talk, c *discourse.Clause, i int) {
	end := len(c.Words)
	for k := i; k < end; k++ {
		if w := c.W(k); w == "i" || w == "that" || w == "he" || w == "she" {
			end = k // "the 50 euros I owed him"
		}
	}
	if end > i+2 && c.W(end-2) == "," && c.Capital(end-1) {
		end -= 2 // "I paid my brother back, Anna"
	}
	for end > i && (c.W(end-1) == "yesterday" || c.W(end-1) == "today" || c.W(end-1) == "now" || c.W(end-1) == "already" || c.W(end-1) == ",") {
		end--
	}
	if c.W(end-1) == "full" && c.W(end-2) == "in" {
		end -= 2
	}
	back := c.Find(i, end-1-i, "back")
	switch {
	case c.Kind != 's' && c.Kind != 'p' || c.Verb != "repay" && back < 0:
		return
	case c.Verb == "give" || c.Verb == "return":
		if !amount(c) && c.Find(i, end-1-i, "money") < 0 {
			return
		}
	}
	var rest []string // without the person and "back"
	to, at := "", -1
	for k := i; k < end; k++ {
		w, follows := c.W(k), k == i || c.W(k-1) == "to" || k == i+1 && back == i
		switch {
		case w == "me" && c.Kind == 'p' && to == "" && follows:
			to, at = t.Self.Key, k
		case c.Kind == 's' && to == "" && (syntax.Parent[w] && follows || syntax.Kin(w) && c.W(k-1) == "my"):
			to, at = t.Self.Key+"'s "+w, k
		case c.Kind == 's' && to == "" && follows && c.Capital(k) && syntax.NameWord(w) && syntax.MonthOf(w) == 0 && syntax.WeekdayOf(w, false) < 0:
			to, at = w, k
		case w == "the" || w == "her" || w == "his" || w == "their" || w == "my" || w == "to" && k+1 < end && c.Capital(k+1) || w == "to" && c.W(k+1) == "me" || w == "everything" || w == "money" || w == "all" || k == back:
		default:
			rest = append(rest, w)
		}
	}
	if to == "" || len(rest) > 0 && !moneyed(rest) || back >= 0 && back != i && back != at+1 && (back != end-1 || c.At(c.Words[back].Tok+1) == "in") && c.W(back+1) != "to" {
		return // "gave him 20 euros back in May"
	}
	t.Ended(c, c.Subj, "debt", "owes "+to, strings.Join(rest, " "), false)
}

// moneyed reports whether words are a number and a currency, and nothing else: "twenty euros".
func moneyed(words []string) bool {
	n := len(words)
	if n > 0 && notes[strings.TrimSuffix(words[n-1], "s")] {
		_, counted := syntax.Number(words[0])
		return n == 1 || n == 2 && (counted || words[0] == "a")
	}
	if n == 1 {
		return strings.ContainsAny(words[0], "$€£¥") && strings.ContainsAny(words[0], "0123456789")
	}
	if n == 0 || n > 5 {
		return false
	}
	sign := words[0] == "$" || words[0] == "€" || words[0] == "£" || words[0] == "¥"
	if !sign && !Currencies[strings.TrimSuffix(words[n-1], "s")] {
		return false
	}
	if sign {
		words = words[1:]
	} else {
		words = words[:n-1]
	}
	for _, w := range words {
		for part := range strings.SplitSeq(w, "-") {
			if _, ok := syntax.Number(part); !ok && !strings.ContainsAny(part, "0123456789") && part != "hundred" && part != "thousand" && part != "and" {
				return false
			}
		}
	}
	return true
}

// notes are amounts of money by themselves: "a tenner".
var notes = syntax.Set("tenner fiver grand")

// Currencies are in the singular.
var Currencies = syntax.Set("euro pound dollar quid buck cent penny pence franc crown yen yuan rmb rupee zloty krona krone kroner kronor lira peso usd eur gbp chf cny grand kuai forint ruble won rand dirham shekel € $ £ ¥")

// priced reports whether a clause names an amount of money.
func priced(c *discourse.Clause) bool {
	return slices.ContainsFunc(c.Words[min(c.Vi+1, len(c.Words)):], func(w discourse.Word) bool {
		return Currencies[strings.TrimSuffix(w.S, "s")] || notes[strings.TrimSuffix(w.S, "s")] || strings.ContainsAny(w.S, "$€£¥")
	})
}
