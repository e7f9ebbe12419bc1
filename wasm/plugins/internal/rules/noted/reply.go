package noted

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/refuse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// hangs reports whether words without a subject or a verb of their own follow a question of another
// speaker. They are not worth noting without it.
func hangs(t *discourse.Talk, s syntax.Sentence) bool {
	b := t.JustSaid()
	if t.Rejoined || b == nil || len(t.Own) == 0 || s.Start != t.Own[0].Start || s.Chinese() {
		return false
	}
	if !askedJust(t) {
		return false
	}
	a := Reply{Sentence: s}
	a.Opens()
	head, tail := a.Parts()
	if name, _ := ByName(tail); len(name.Toks) > 0 {
		return true // "Kate is, I'm not"
	}
	if len(tail.Toks) > 0 && len(head.Toks) > 0 && (syntax.Preposition(head.At(0)) || head.At(0) == "besides" || syntax.Lead(head.At(0)) || len(head.Toks) < 4 && syntax.SexOf("", head.At(len(head.Toks)-1)) != 0) {
		return false // "Jon, my shop is doing well", "besides the classes, I offer one-on-one mentoring"
	}
	return len(head.Toks) > 0 && !Stated(head)
}

// Asks reports whether a sentence of a turn is a question, with its mark or without.
func Asks(t *discourse.Talk, b *abi.Turn, o syntax.Sentence) bool {
	if o.Ends != "" {
		return o.Ends == "?"
	}
	first := 0
	for syntax.Lead(o.At(first)) || first < len(o.Toks) && o.Toks[first].Kind == 'p' {
		first++
	}
	return refuse.Question(o, first) || refuse.Unmarked((&discourse.Talk{Ev: t.Ev, Plain: discourse.PlainText(b.Text)}), o, first)
}

// askedJust reports whether the previous turn asks.
func askedJust(t *discourse.Talk) bool {
	b := t.JustSaid()
	return b != nil && slices.ContainsFunc(t.SentencesOf(b), func(o syntax.Sentence) bool { return Asks(t, b, o) })
}

// ByName returns who is named in "Jenny is, she finishes at two" and "my mum is", and what follows.
func ByName(s syntax.Sentence) (name, rest syntax.Sentence) {
	n := 1
	if (s.At(0) == "my" || s.At(0) == "our") && syntax.Kin(s.At(1)) {
		n = 2
	}
	if len(s.Toks) < n+1 || n == 1 && !(s.Toks[0].Cap && syntax.NameWord(s.At(0)) || discourse.CalledSo[s.At(0)]) || !discourse.Asking[s.At(n)] || len(s.Toks) > n+1 && s.At(n+1) != "," {
		return name, s
	}
	if len(s.Toks) > n+2 {
		rest = s.Sub(n+2, len(s.Toks))
	}
	return s.Sub(0, n), rest
}

// An answer begins with "yes", "no" or "I do", or with what a question asked for, and may say more
// in a clause of its own.

// Reply is an answer to a question. It may begin with "yes", "no" or "I do".
type Reply struct {
	syntax.Sentence
	From             int // the token at which it says more
	Yes, No, Mixed   bool
	Accepts          bool   // "sure", which is a yes to a request
	Who, Aux         string // of "I do"
	Just, Never, Not bool   // "no, just hay fever", "never", "not any more"
}

// YesWords say yes by themselves.
var YesWords = syntax.Set("yes yeah yep yup aye absolutely definitely indeed")

var noWords = syntax.Set("no nope nah")

// Opens reads the words with which an answer begins: "well, yes", "no, just", "I do".
func (a *Reply) Opens() {
	for a.From < len(a.Toks) {
		w, next := a.At(a.From), a.At(a.From+1)
		base, rest := syntax.Contraction(w)
		switch {
		case a.Toks[a.From].Kind == 'p':
			if strings.Contains(`"(“`, w) {
				a.Mixed = true
			}
		case YesWords[w] || w == "of" && next == "course":
			a.Yes = true
			if w == "of" {
				a.From++
			}
		case (w == "sure" || w == "ok" || w == "okay") && (next == "" || next == "," || next == "thing" || next == "will"), w == "no" && (next == "problem" || next == "worries"), w == "will" && next == "do":
			a.Accepts = true
			if next == "thing" || next == "problem" || next == "worries" || next == "do" {
				a.From++
			}
		case noWords[w] && (a.From+1 >= len(a.Toks) || a.Toks[a.From+1].Kind == 'p' || next == "not" || next == "just" || next == "only" || next == "never" || syntax.SubjectPronoun(syntax.FirstOf(syntax.Contraction(next)))):
			a.No = true
		case w == "not" && (next == "any" && (a.At(a.From+2) == "more" || a.At(a.From+2) == "longer") || next == "anymore" || next == "since"):
			a.No, a.Not = true, true
			if next == "anymore" {
				a.From++
			} else if next == "any" {
				a.From += 2
			}
		case w == "never" && (a.From+1 >= len(a.Toks) || a.Toks[a.From+1].Kind == 'p'):
			a.No, a.Never = true, true
		case (w == "just" || w == "only") && !a.Yes && !Nearness[next]:
			a.Just = true
		case syntax.Lead(w) && w != "no" && w != "still" && w != "recently" && w != "just" && !((a.Yes || a.No) && syntax.Joins[w]):
		case syntax.SubjectPronoun(base) && a.echo(base, rest):
		default:
			a.Mixed = a.Mixed || a.Yes && a.No || a.Accepts && a.No
			return
		}
		a.From++
	}
	a.Mixed = a.Mixed || a.Yes && a.No || a.Accepts && a.No
}

// echo takes "I do", "he hasn't", "I'm not": only the verb of the question.
func (a *Reply) echo(base, rest string) bool {
	k, aux := a.From+1, rest
	if rest == "" {
		aux, _ = syntax.Contraction(a.At(k))
		if aux != "am" && !discourse.Asking[aux] {
			return false
		}
		k++
	} else if rest == "would" {
		return false
	}
	not := rest != "" && a.At(k) == "not" || rest == "" && (strings.HasSuffix(a.At(k-1), "n't") || a.At(k) == "not")
	if a.At(k) == "not" {
		k++
	}
	if rest != "" && !not || base == "it" {
		return false // "I'm a vegan"
	}
	switch w := a.At(k); {
	case w == "" || w == "but" || w == "yes" || w == "yeah" || w == "since" || w == "until" || w == "though" || a.Toks[k].Kind == 'p':
	default:
		return false
	}
	a.Yes, a.No = a.Yes || !not, a.No || not
	a.Who, a.Aux = base, aux
	a.From = k - 1
	return true
}

// OwnClause reports whether a subject and its verb begin at token i, which need no question.
func OwnClause(s syntax.Sentence, i int) bool {
	for syntax.Lead(s.At(i)) || s.At(i) == "," {
		i++
	}
	base, rest := syntax.Contraction(s.At(i))
	return syntax.SubjectPronoun(base) || base == "there" || base == "that" || rest != "" && base != "" && verbish(s, i+1) || (s.At(i) == "my" || s.At(i) == "our" || s.At(i) == "the") && s.VerbWithin(i+1, 6) || i < len(s.Toks) && s.Toks[i].Cap && verbish(s, i+1) ||
		syntax.LemmaSet[s.At(i)] && (s.At(i+1) == "it" || s.At(i+1) == "them")
}

// verbish reports whether a verb that has a subject before it is at token i.
func verbish(s syntax.Sentence, i int) bool {
	w := s.At(i)
	l, past, ing := syntax.Lemma(w)
	_, event := syntax.EventNoun(syntax.Singular(w))
	return syntax.Auxiliary(w) && w != "not" || l != "" && !ing && !event && (past || l != w)
}

// Parts splits what else an answer says into the part that needs the question and the one that does
// not.
func (a *Reply) Parts() (head, tail syntax.Sentence) {
	if a.From >= len(a.Toks) {
		return
	}
	k := a.From
	if OwnClause(a.Sentence, k) {
		return head, a.Sub(k, len(a.Toks))
	}
	for i := k; i < len(a.Toks); i++ {
		w := a.At(i)
		own := a.Toks[i].Kind == 'p' || w == "and" || w == "but" || w == "because" || w == "so"
		dash := w == "-" || w == "–" || w == "—" || w == "("
		if w == "and" && syntax.SubjectPronoun(a.At(i+1)) && i > k && i-k < 3 && a.VerbWithin(i+2, 2) {
			return head, a.Sub(k, len(a.Toks)) // "Buddy and I go for walks"
		}
		if i+1 < len(a.Toks) && own && (OwnClause(a.Sentence, i+1) || dash) && i > k {
			tail = a.Sub(i+1, len(a.Toks))
			for len(tail.Toks) > 1 && (tail.At(0) == "and" || tail.At(0) == "but" || tail.At(0) == "so" || tail.At(0) == ",") {
				tail = tail.Sub(1, len(tail.Toks))
			}
			return a.Sub(k, i), tail
		}
	}
	return a.Sub(k, len(a.Toks)), tail
}

// Stated reports whether words that should need the question have a verb of their own.
func Stated(s syntax.Sentence) bool {
	for i := range s.Toks {
		base, rest := syntax.Contraction(s.At(i))
		if l, past, _ := syntax.Lemma(base); i > 1 && l != "" && past && !s.Toks[i].Cap && base != "called" && base != "named" {
			return true // "a friend of mine adopted last year"
		}
		if rest != "" && base != "o" && (rest != "is" || syntax.SubjectPronoun(base) || verbish(s, i+1) || linked(s.At(i+1))) || syntax.Auxiliary(base) && base != "not" && base != "can" && base != "may" || base == "who" || base == "which" {
			return true
		}
		if base == "since" || base == "until" || base == "when" {
			return false
		}
		if l, past, ing := syntax.Lemma(base); i > 0 && l != "" && !past && !ing && l != base && syntax.SubjectPronoun(s.At(i-1)) {
			return true
		}
	}
	return false
}

// linked reports whether 's before a word is "is", and not a possessive: "Thanksgiving's always
// special".
func linked(next string) bool {
	return refuse.AsksState[next] || discourse.PersonStates[next] || syntax.Adverb(next) || syntax.Preposition(next) || syntax.Determiner(next) || next == "so" || next == "small" || next == "big" || next == "great" || next == "good" || next == "mostly"
}

// Nearness are beginnings of where something is, without a preposition.
var Nearness = syntax.Set("outside just not upstairs downstairs opposite between round around over out abroad nearby beside underneath above")

// AfterVerb may follow a verb that has no object.
var AfterVerb = syntax.Set(", in on when last ago years because yesterday")

// Pointing are words that point at something named before or present.
var Pointing = syntax.Set("this that these those")

// Nowhere reports whether a clause is like "I left in September" at the beginning of an answer, and
// does not say what was left.
func Nowhere(t *discourse.Talk, c *discourse.Clause) bool {
	b := t.JustSaid()
	if c.Verb == "give" && c.W(c.Vi+1) == "up" && (c.Vi+2 >= len(c.Words) || AfterVerb[c.W(c.Vi+2)]) {
		return true // what?
	}
	return b != nil && (c.Verb == "go" || c.Verb == "leave") && (c.Vi+1 == len(c.Words) || c.W(c.Vi+1) == "every") && !t.Rejoined && len(t.Own) > 0 && c.Start <= t.Own[0].End && askedJust(t)
}

// Dangling reports whether the first word after the verb that could say what a clause is about is a
// pronoun: "I've packed it in", "she talked to them", "I painted that". In "this thing on my foot",
// a noun follows.
func Dangling(c *discourse.Clause) bool {
	for i := c.Vi + 1; i < len(c.Words); i++ {
		switch w := c.W(i); w {
		case "it", "them", "him":
			return w == "it" || !syntax.Determiner(c.W(i+1)) // "send him the photos"
		case "this", "that", "these", "those", "one":
			if next := c.W(i + 1); next == "" || next == "," || syntax.Preposition(next) || syntax.Joins[next] || next == "after" || next == "when" {
				return true
			}
		case "of":
			if Pointing[c.W(i+1)] || c.W(i+1) == "them" {
				return true
			}
		default:
			if telling(w) && !syntax.Adverb(w) && w != "up" && w != "back" && w != "out" {
				return false
			}
		}
	}
	return false
}

// Unnamed reports whether a clause does something to "some" or "mine", and not to some of a thing:
// "I'll order some tonight", "I came off them in March".
func Unnamed(c *discourse.Clause) bool {
	if c.Verb == "be" {
		return false
	}
	if next, third := c.W(c.Vi+1), c.W(c.Vi+2); (next == "off" || next == "up" || next == "on" || next == "out") && (third == "it" || third == "them") && c.Vi+3 >= len(c.Words) {
		return true
	}
	switch c.W(c.Vi + 1) {
	case "mine", "ours", "yours", "hers", "theirs":
		return true // "I'm having mine next week"
	case "some", "one", "another", "more", "any":
		next := c.W(c.Vi + 2)
		return next == "" || next == "," || (syntax.Preposition(next) || syntax.Placing(next)) && next != "of" || next == "round" || next == "up" || next == "over" || next == "when" || next == "if"
	}
	return false
}

// CallsBack reports whether a clause is about a call that will be over today: "I'll call you back
// in ten minutes".
func CallsBack(c *discourse.Clause, w *timex.When, now timex.Moment) bool {
	switch c.Verb {
	case "call", "ring", "phone", "text", "message", "buzz":
		return c.W(c.Vi+1) == "you" && c.W(c.Vi+2) == "back" && (w == nil || w.Day <= now.Day)
	}
	return false
}

// LeavesOpen reports whether a clause says that it will be one thing or another, "I'll either come on
// Sunday or Monday", or opens a turn and does something to "it" or "them", and nothing before it
// says what that is.
func LeavesOpen(t *discourse.Talk, c *discourse.Clause) bool {
	next := c.W(c.Vi + 1)
	after := c.W(c.Vi + 2)
	return eitherOr(c) || (next == "it" || (next == "them" || next == "him" || next == "her") && (after == "" || syntax.Preposition(after) || next == "them" && !syntax.Determiner(after))) && t.JustSaid() != nil && !t.Rejoined && len(t.Own) > 0 && c.Start <= t.Own[0].End && !namesThing(t, c)
}

// eitherOr reports whether a clause has "either" before "or", and not as its first word.
func eitherOr(c *discourse.Clause) bool {
	k := c.Find(1, len(c.Words), "either")
	return k > 0 && c.Find(k, len(c.Words), "or") > 0
}

// namesThing reports whether something comes before a clause in its turn.
func namesThing(t *discourse.Talk, c *discourse.Clause) bool {
	for _, tok := range syntax.Lex(t.Ev.Text[:c.Start]) {
		if tok.Kind == 'w' && telling(tok.S) && !syntax.Lead(tok.S) && !discourse.Personal(tok.S) && !syntax.Verbish(tok.S) && !YesWords[tok.S] && !refuse.Soothing[tok.S] {
			return true
		}
	}
	return false
}
