package english

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// partyAt returns the person whom the words from i on name, other than by a pronoun of the third
// person, and the word after them.
func partyAt(t *discourse.Talk, c *discourse.Clause, i int) (discourse.Person, int) {
	switch w := c.W(i); {
	case w == "me" || w == "us":
		return t.Self, i + 1
	case w == "him" || w == "her" && (i+1 == len(c.Words) || syntax.Determiner(c.W(i+1))):
		if p, ok := t.HeOrShe(c, map[string]string{"him": "he", "her": "she"}[w]); ok {
			return p, i + 1
		}
	case (w == "my" || w == "our") && syntax.Kin(c.W(i+1)):
		if c.Capital(i+2) && syntax.NameWord(c.W(i+2)) {
			return t.Named(c.Cased(i + 2)), i + 3
		}
		return discourse.Person{Name: discourse.Possessive(t.Self.Name) + " " + c.W(i+1), Key: discourse.Possessive(t.Self.Key) + " " + c.W(i+1)}, i + 2
	case c.Capital(i) && syntax.NameWord(w) && !numbered[w]:
		k := i + 1
		for k < i+2 && c.Capital(k) && syntax.NameWord(c.W(k)) {
			k++
		}
		if c.W(k) != "'s" {
			return t.Named(c.Join(i, k)), k
		}
	}
	return discourse.Person{}, i
}

// goodsAt returns the thing that the words from i on name, without its owner, and the word after
// it. The owner is "my" or a name with 's; his and her mean the person next to them.
func goodsAt(t *discourse.Talk, c *discourse.Clause, i int) (what string, owner discourse.Person, next int) {
	switch w := c.W(i); {
	case w == "my" || w == "our":
		owner = t.Self
		i++
	case syntax.Determiner(w) && w != "no" && w != "any":
		i++
	case c.Capital(i) && syntax.NameWord(w) && c.W(i+1) == "'s":
		owner = t.Named(c.Cased(i))
		i += 2
	default:
		if _, counted := syntax.Number(w); !counted && c.Toks[c.Words[min(i, len(c.Words)-1)].Tok].Kind != 'n' {
			return "", owner, i
		}
	}
	k := i
	for k < len(c.Words) && c.W(k) != "," && c.W(k) != "back" && c.W(k) != "out" && c.W(k) != "over" && c.W(k) != "until" && c.W(k) != "till" && !syntax.Preposition(c.W(k)) && c.W(k) != "and" && c.W(k) != "because" && c.W(k) != "so" && c.W(k) != "when" && !adverbOfTime(c.W(k)) {
		k++
	}
	what = c.Join(i, k)
	if what == "" || k-i > 4 || discourse.Vague(what) || intangible[c.W(k-1)] || unplaceable[c.W(k-1)] || unlent[c.W(k-1)] || syntax.Kin(c.W(k-1)) {
		return "", owner, k
	}
	return what, owner, k
}

// unlent are objects of "lend", "give back" and "return" that nobody has for a while.
var unlent = syntax.Set("hand ear ears support weight credence word shoulder call favour favor smile compliment greeting message look kiss gaze visit text texts strength courage credibility grade grades result results mark marks score scores exam answer energy appetite voice job life sense")

func adverbOfTime(w string) bool {
	return w == "yesterday" || w == "today" || w == "again" || w == "already" || w == "now" || w == "recently" || w == "finally"
}

// lending takes "I lent Anna my bike", "Tom borrowed my drill", "I gave Tom his drill back": what
// the speaker lent or borrowed, and its return.
func lending(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Kind != 's' && c.Kind != 'p' && c.Kind != 'w' || !c.Past && !c.Perfect || c.Neg || c.Modal || c.Intend || c.Must || c.Can || c.UsedTo || c.Ends == "?" || c.Conditional() || c.HasHabit() {
		return false
	}
	l, ok := loanOf(t, c, c.Vi+1)
	if !ok || l.What == "" {
		return false
	}
	mine := l.From.Key == t.Self.Key
	if mine == (l.To.Key == t.Self.Key) {
		return false // between two other people
	}
	if l.Back { // the person from whom it was borrowed has it again
		mine = !mine
		l.From, l.To = l.To, l.From
	}
	other, attribute := l.Seen(mine)
	if moneyed(strings.Fields(strings.ToLower(l.What))) {
		return !l.Back && other.Key != "" && lentMoney(t, c, l)
	}
	who := c.Subj
	c.Subj = t.Self
	defer func() { c.Subj = who }()
	if l.Back {
		t.Ended(c, t.Self, "possession", attribute, other.Name, false)
		return true
	}
	if other.Key == "" {
		return false
	}
	heldBy(t, c, attribute, other)
	return true
}

// heldBy proposes who has a thing, or whose it is.
func heldBy(t *discourse.Talk, c *discourse.Clause, attribute string, other discourse.Person) {
	if f := t.Fact(c, "possession", attribute, other.Name, false, 0.8); f != nil {
		f.Predicate, _, _ = strings.Cut(attribute, ":")
	}
}

// lentMoney makes a debt from money that was lent.
func lentMoney(t *discourse.Talk, c *discourse.Clause, l discourse.Loan) bool {
	who := c.Subj
	c.Subj = l.To
	defer func() { c.Subj = who }()
	return t.Fact(c, "debt", "owes "+l.From.Key, strings.ToLower(l.What), false, 0.75) != nil
}

// loanOf reads what follows the verb.
func loanOf(t *discourse.Talk, c *discourse.Clause, i int) (l discourse.Loan, ok bool) {
	switch c.Verb {
	case "lend", "loan", "loaned":
		l.From = c.Subj
		if p, next := partyAt(t, c, i); p.Key != "" {
			l.To = p
			l.What, _, _ = goodsAt(t, c, next)
			return l, true
		}
		what, _, next := goodsAt(t, c, i)
		if c.W(next) == "out" {
			next++
		}
		if c.W(next) == "to" {
			l.To, _ = partyAt(t, c, next+1)
		}
		l.What = what
		return l, l.To.Key != ""
	case "borrow":
		l.To = c.Subj
		what, owner, next := goodsAt(t, c, i)
		l.What, l.From = what, owner
		for k := next; k < min(len(c.Words), next+3); k++ {
			if c.W(k) == "from" || c.W(k) == "off" {
				l.From, _ = partyAt(t, c, k+1)
			}
		}
		return l, l.From.Key != ""
	case "give", "bring", "return", "hand", "take", "get":
		return returned(t, c, i)
	}
	return l, false
}

// metAs reports whether a name is known to be a person's, and not a shop's: by the name itself, or
// because the talk has named them before.
func metAs(t *discourse.Talk, p discourse.Person) bool {
	for i := range t.Ev.Before {
		if strings.EqualFold(t.Ev.Before[i].Speaker, p.Name) {
			return true
		}
	}
	return p.Key == t.Self.Key || strings.Contains(p.Name, " ") || t.Sex(p) != 0 || slices.ContainsFunc(t.Persons(), func(m discourse.Met) bool { return m.Key == p.Key && m.At < 0 })
}

// returned reads "gave Tom his drill back", "returned the drill to Tom", "got my bike back from Anna".
func returned(t *discourse.Talk, c *discourse.Clause, i int) (l discourse.Loan, ok bool) {
	back := c.Find(i, len(c.Words)-i, "back")
	if c.Verb != "return" && back < 0 {
		return l, false
	}
	l.Back, l.From = true, c.Subj
	if back == i {
		i++
	}
	if c.Verb == "get" {
		what, owner, next := goodsAt(t, c, i)
		if owner.Key != t.Self.Key || back == i-1 && c.W(next) != "from" {
			return l, false
		}
		l.What, l.To, l.From = what, t.Self, discourse.Person{}
		for k := next; k < len(c.Words); k++ {
			if c.W(k) == "from" {
				l.From, _ = partyAt(t, c, k+1)
			}
		}
		return l, true
	}
	if p, next := partyAt(t, c, i); p.Key != "" && next < len(c.Words) {
		if l.To, i = p, next; back == i {
			i++
		}
	}
	what, owner, next := goodsAt(t, c, i)
	l.What = what
	for k := next; k < len(c.Words) && l.To.Key == ""; k++ {
		if c.W(k) == "to" {
			l.To, _ = partyAt(t, c, k+1)
		}
	}
	if l.To.Key == "" {
		l.To = owner
	}
	if c.Verb == "take" && l.To.Key == t.Self.Key {
		return l, false // "Anna took my bike back": where to?
	}
	if (c.Verb == "take" || c.Verb == "bring" || c.Verb == "return") && l.From.Key == t.Self.Key && owner.Key == "" && !metAs(t, l.To) {
		return l, false // "I took the curtains back to Ikea"
	}
	return l, l.To.Key != ""
}
