package discourse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// A time has the tense of the clause that it is in. "Anna said the wedding is on Monday" tells of a
// statement in the past, and of a Monday in the future.

// subclause is the clause within a clause that contains a time.
type subclause struct {
	ToCome bool // its verb is in the present or the future
	Denied bool // it does not say that something is true then: it is denied, or asked
	asked  bool // it says what somebody should do
}

// reports are verbs that are followed by a clause with what somebody said.
var reports = syntax.Set("say tell mention announce confirm write text email hear learn read promise explain reply answer add warn remind insist note show find notice realise realize discover remember think know")

// InnerOf reads the clause within c that contains w: the last verb with a subject between the verb
// of c and w has its tense.
func (c *Clause) InnerOf(w *timex.When) (in subclause) {
	if c.Vi >= len(c.Words) || w.First <= c.Words[c.Vi].Tok {
		return in
	}
	seen, leads := false, c.leads(w)
	for k := c.Vi + 1; k < len(c.Words); k++ {
		if c.Words[k].Tok > w.First && (seen || !leads) {
			break
		}
		switch s := c.W(k); {
		case (s == "could" || s == "can") && ordered[c.Verb] && syntax.SubjectPronoun(c.W(k-1)) && c.baseVerb(k+1): // "told her she could stay till Easter"
			in.ToCome, seen = true, true
		case !seen && (s == "no" || s == "not" && c.W(k+1) == "to") && (reports[c.Verb] || ordered[c.Verb]) && timex.Until(&c.Sentence, w): // "told me no running until October"
			return subclause{ToCome: true}
		case s == "if" || s == "whether" || s == "when" || s == "unless" || s == "maybe" || s == "might" || s == "could" || s == "not" || s == "never" || s == "no":
			in.Denied = true
		case s == "to" && ordered[c.Verb] && c.baseVerb(k+1): // "told me to send it by Friday"
			in.ToCome, in.asked, seen = true, true, true
		case c.presentVerb(k, w):
			in.ToCome, seen = true, true
		case c.pastVerb(k):
			in.ToCome, seen = false, true
		}
		if seen && c.Words[k].Tok > w.First {
			break
		}
	}
	return in
}

// leads reports whether a time comes before the verb of its clause: "told me that on Friday he is
// off", "said Friday is fine".
func (c *Clause) leads(w *timex.When) bool {
	if c.At(w.First-1) == "that" {
		return true
	}
	switch c.At(w.Next) {
	case "is", "was", "works", "suits", "will", "would":
		return reports[c.Verb] && !syntax.Preposition(c.At(w.First))
	}
	return false
}

// ordered are verbs with which somebody is told to do something.
var ordered = syntax.Set("tell ask remind invite")

func (c *Clause) baseVerb(k int) bool {
	l, past, ing := syntax.Lemma(c.W(k))
	return l == c.W(k) && !past && !ing || c.W(k) == "be"
}

// presentVerb reports whether word k is a verb in the present or the future, after the verb of the
// clause and before the time w. If nobody reports anything, the time has to belong to this verb:
// "the wedding that is on Saturday", "who is moving in January".
func (c *Clause) presentVerb(k int, at *timex.When) bool {
	w, before, says := c.W(k), c.W(k-1), reports[c.Verb]
	next := c.skip(k + 1)
	_, past, ing := syntax.Lemma(c.W(next))
	switch w {
	case "will", "can", "must":
		return true
	case "is", "are", "am":
		if k > 1 && c.Words[k].Tok == c.Words[k-1].Tok && syntax.Preposition(c.W(k-2)) {
			return false // at Anna's
		}
		return says || ing || next >= len(c.Words) || c.Words[next].Tok > at.First
	case "would", "might", "could", "should":
		return says
	case "has", "have":
		return says && (c.W(next) == "got" || c.W(next) != "been" && !past && !syntax.PastForm(c.W(next)))
	}
	l, past, ing := syntax.Lemma(w)
	if l == "" || past || ing || !says || syntax.Determiner(before) || syntax.Preposition(before) || k == c.Vi+1 {
		return false
	}
	if l == w {
		return before == "they" || before == "we" || before == "i" || strings.HasSuffix(before, "s") && !Personal(before) && !syntax.Auxiliary(before)
	}
	_, event := syntax.EventNoun(syntax.Singular(w))
	return !event && c.Find(c.Vi, k-c.Vi, "about") < 0
}

// pastVerb reports whether word k is a verb in the past tense, and not a participle that describes
// something.
func (c *Clause) pastVerb(k int) bool {
	_, past, _ := syntax.Lemma(c.W(k))
	return (past || syntax.PastForm(c.W(k))) && !timex.PresentState(c.W(k-1), c.W(k-2))
}

// skip returns the first word from k on that is not an adverb.
func (c *Clause) skip(k int) int {
	for syntax.Adverb(c.W(k)) || c.W(k) == "not" {
		k++
	}
	return k
}

// PastTime moves a time of a clause in the past tense into the past, unless it belongs to an inner
// clause in the present or the future.
func (c *Clause) PastTime(w *timex.When, now timex.Moment) {
	if w.Weekday && (c.Perfect || c.Verb == "lend" || c.Verb == "borrow") && timex.Until(&c.Sentence, w) {
		return // "they've sent us home till Thursday", "Sam lent me his drill until Friday"
	}
	if to := c.MovedTo(now); !c.Aimed(w) && !c.CalledOffOn(w) && !c.InnerOf(w).ToCome && (to == nil || w.First > to.First) {
		w.Past(now)
	}
}

// PastElided moves a time into the past if it belongs to a verb in the past tense that follows a comma without
// its subject: "I don't smoke any more, gave up in March".
func (c *Clause) PastElided(now timex.Moment) {
	for i := range c.Whens {
		w := &c.Whens[i]
		k := w.First - 1
		for k > 0 && c.At(k) != "," {
			k--
		}
		if k < 1 {
			continue
		}
		for k++; syntax.Lead(c.At(k)) || syntax.Adverb(c.At(k)); k++ {
		}
		if l, past, _ := syntax.Lemma(c.At(k)); (past && l != c.At(k) || l == "quit") && k < w.First && c.At(k+1) != "by" && c.At(k+1) != "for" && !w.Habit && !c.Aimed(w) {
			w.Past(now)
		}
	}
}

// CalledOffOn reports whether w is the weekday of something that is changed before it happens: "my
// shift on Saturday got swapped".
func (c *Clause) CalledOffOn(w *timex.When) bool {
	if changing[c.Verb] && w.Weekday && w.First > 0 && syntax.Determiner(c.At(w.First-1)) && w.Next < len(c.Toks) && c.Toks[w.Next].Kind == 'w' && !syntax.Preposition(c.At(w.Next)) {
		return true // "we cancelled the Friday takeaway"
	}
	if c.Kind != 't' || !w.Weekday || c.Vi >= len(c.Words) || w.Next > c.Words[c.Vi].Tok {
		return false
	}
	for k := c.Vi; k < min(len(c.Words), c.Vi+4); k++ {
		if changed[c.W(k)] {
			return true
		}
	}
	return false
}

var changing = syntax.Set("cancel postpone reschedule scrap skip")

var changed = syntax.Set("swapped switched changed cancelled canceled postponed rescheduled scrapped")

// Aimed reports whether w is a day for which something was done: "I bought tickets for Friday".
func (c *Clause) Aimed(w *timex.When) bool {
	if c.At(w.First) == "on" && w.Weekday && (c.At(w.First-1) == "double-booked" || c.At(w.First-2) == "double-booked") {
		return true
	}
	if c.arranged(w) || c.thwarted() && (w.Weekday || w.Assumed > 0) {
		return true
	}
	return c.At(w.First) == "for" && (w.Weekday || w.Assumed > 0 && w.Grain == 'd') && !w.Since && !w.Habit
}

// arranged reports whether w is the day of what was arranged, and not that of arranging it: "we've booked a
// table on the third of October", "I've bought tickets for a show on Friday". "I bought a coat on the ninth"
// is past.
func (c *Clause) arranged(w *timex.When) bool {
	if c.Neg || w.Since || w.Habit || !w.Weekday && w.Assumed == 0 {
		return false
	}
	switch c.Verb {
	case "book", "reserve", "schedule", "arrange":
		return c.Perfect || !w.Weekday && w.Grain == 'd'
	case "buy", "get":
		return c.Perfect && (c.Find(c.Vi, len(c.Words), "tickets") > 0 || c.Find(c.Vi, len(c.Words), "ticket") > 0)
	}
	return false
}

// thwarted reports whether a clause tells of what was to be, and goes on with why it is no longer: "we were
// meant to go in October but we've cancelled it". "But he never came" says that the day is past.
func (c *Clause) thwarted() bool {
	if c.Verb != "be" || !c.Past || !intended[c.W(c.Vi+1)] {
		return false
	}
	_, but, ok := strings.Cut(strings.ToLower(c.Text[c.Start:]), "but ")
	return ok && syntax.ContainsAny(but, "'ve ", "’ve ", " have ", " has ", "'s been ", "can't", "can’t", "won't", "won’t", "cancelled", "canceled", "called it off", "called off", "pulled out", "fell through")
}

// intended follow "was" if that tells of a plan.
var intended = syntax.Set("meant supposed due going planning hoping")

// hadAt reports whether "'d" before the words at token i is "had": "I'd better go", "we'd planned
// to".
func hadAt(s syntax.Sentence, i int) bool {
	for syntax.Adverb(s.At(i)) {
		i++
	}
	w := s.At(i)
	l, past, _ := syntax.Lemma(w)
	return w == "better" || w == "been" || w == "had" || past && l != w
}

// pastTimes does so with all times of a clause.
func (c *Clause) pastTimes(now timex.Moment) {
	for i := range c.Whens {
		if w := &c.Whens[i]; w.HasDay && !w.Habit {
			c.PastTime(w, now)
		}
	}
}

// ToldOf takes what somebody said will happen: "Ben said he is moving to Lisbon in January". It is
// a plan, as "Ben says …" is.
func (t *Talk) ToldOf(c *Clause) bool {
	if !c.Past || c.Neg || c.Modal || c.UsedTo || c.Ends == "?" || !reports[c.Verb] || c.Conditional() {
		return false
	}
	var to *timex.When
	for i := range c.Whens {
		w := &c.Whens[i]
		if in := c.InnerOf(w); w.HasDay && !w.Habit && !w.Since && in.ToCome && !in.Denied && !in.asked {
			to = w
		}
	}
	if to == nil {
		return false
	}
	c.pastTimes(t.Now) // "told me on Tuesday that …"
	d := *c
	d.Past = false
	made := len(t.Out.Candidates)
	t.PlanAt(&d, to)
	return len(t.Out.Candidates) > made
}

// MovedTo returns the future day to which a clause says that something was moved, "the choir
// practice moved from Tuesday to Friday"; nil if there is none.
func (c *Clause) MovedTo(now timex.Moment) *timex.When {
	if c.Kind != 't' || c.Neg || c.Modal || !c.wasMoved() {
		return nil
	}
	for i := range c.Whens {
		if w := &c.Whens[i]; c.At(w.First) == "to" && w.HasDay && !w.Habit && w.Day >= now.Day {
			return w
		}
	}
	return nil
}

// wasMoved reports whether the clause has a verb of moving in the past tense, or after "was" and
// "has been".
func (c *Clause) wasMoved() bool {
	if c.Verb != "be" && c.Verb != "get" {
		return timex.Moves(c.Verb) && (c.Past || c.Perfect)
	}
	for k := c.Vi + 1; k < min(len(c.Words), c.Vi+4); k++ {
		if l, past, _ := syntax.Lemma(c.W(k)); past && timex.Moves(l) {
			return true
		}
		if next := c.W(k + 1); c.W(k) == "put" && (next == "back" || next == "forward" || next == "off") {
			return true
		}
	}
	return false
}
