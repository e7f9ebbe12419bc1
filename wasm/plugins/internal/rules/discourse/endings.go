package discourse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Failing words say of a thing that it does not work.
var Failing = syntax.Set("leaking broken blocked flooded faulty cracked dripping bust knackered")

// Last is the last word of a text.
func Last(s string) string {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == ' ' {
			return s[i+1:]
		}
	}
	return s
}

// dropped reads a clause whose speaker left "I" out: "Lost my job yesterday".
// It gives the word of the verb, or -1.
func (t *Talk) dropped(c *Clause) int {
	if len(c.Words) == 0 {
		return -1
	}
	if (c.W(0) == "need" || c.W(0) == "have") && c.W(1) == "to" && c.Words[0].Tok == 0 && len(c.Words) > 3 && c.Ends != "?" { // "Need to call the plumber"
		c.Subj, c.Kind, c.Bare = t.Self, 's', true
		return 0
	}
	just := c.Words[0].Tok == 1 && c.At(0) == "just" // "Just bought a bike"
	own := func() int {
		c.Subj, c.Kind, c.Bare = t.Self, 's', true
		return 0
	}
	verb, past, ing := syntax.Lemma(c.W(0))
	if past && verb == "get" && (just || c.Words[0].Tok == 0) && Attained[c.W(1)] && len(c.Words) < 5 && c.Ends != "?" {
		return own() // "Got promoted"
	}
	if !past || ing || syntax.Auxiliary(c.W(0)) || c.W(0) == "left" || c.W(0) == "heard" || c.Words[0].Tok > 2 || len(c.Words) < 3 || c.Ends == "?" {
		return -1
	}
	for i := 1; i < min(len(c.Words), 4); i++ {
		switch c.W(i) {
		case "my", "our":
			return own()
		case "a", "an", "to", "the":
			if just || len(c.Whens) > 0 && !c.Whens[0].Habit {
				return own()
			}
		case "with": // "Had dinner with Ola on Friday"
			if (just || len(c.Whens) > 0 && !c.Whens[0].Habit) && c.Capital(i+1) {
				return own()
			}
		case "from":
			if verb == "get" && c.W(i-1) == "back" && c.Capital(i+1) {
				return own()
			}
		case "is", "are", "was", "were", "by":
			return -1
		}
	}
	return -1
}

// theFirm is a statement in which the speaker's employer has its name, where the text gave it.
func (t *Talk) theFirm(said string) string {
	if t.firm == "" {
		return said
	}
	for _, w := range [...]string{"employer", "company", "firm", "workplace"} {
		for _, end := range [...]string{" ", ".", ",", "'"} {
			said = strings.ReplaceAll(said, Possessive(t.Self.Name)+" "+w+end, t.firm+end)
		}
	}
	for _, what := range [...]string{"公司", "单位"} {
		for _, of := range [...]string{"", "他们", "的"} {
			said = strings.ReplaceAll(said, t.Self.Name+of+what, t.firm)
		}
	}
	return said
}

// Ended proposes that a value of a slot no longer holds; "" is whatever it was.
func (t *Talk) Ended(c *Clause, who Person, kind, attribute, value string, many bool) {
	if value != "" && (Vague(value) || courtesy[strings.ToLower(value)]) || who.Key == "" {
		return
	}
	for i := range t.Out.Candidates {
		if o := &t.Out.Candidates[i]; o.Negates && o.Slot != nil && o.Slot.Subject == who.Key && o.Slot.Attribute == attribute && o.Slot.Many == many && strings.EqualFold(o.Slot.Value, value) {
			return
		}
	}
	a := t.Base(c, "semantic", kind, 0.8)
	Ends(&a, who.Key, attribute, value, many)
	if strings.Contains(a.Text, who.Name) {
		a.Subject = who.Name
	}
	if strings.HasPrefix(attribute, Medication) {
		a.Sensitivity = "private"
	}
	t.Out.Candidates = append(t.Out.Candidates, a)
}

// Ends makes a the end of a value of a slot; "" is whatever it was, which is no relation.
func Ends(a *abi.Candidate, key, attribute, value string, many bool) {
	a.Negates, a.Slot = true, &abi.Slot{Subject: key, Attribute: attribute, Value: value, Many: many}
	if value != "" {
		a.Predicate, a.Object = attribute, value
	}
}

// OffWith cancels the one plan that is still to come with a person, of the day in whens.
func (t *Talk) OffWith(s syntax.Sentence, whens []timex.When, name, text string) bool {
	day := 0
	for i := range whens {
		if w := &whens[i]; w.HasDay && !w.Habit {
			day = w.Day
		}
	}
	var found []Plan
	for _, p := range t.Plans {
		if p.Day >= t.Now.Day && (day == 0 || p.Day == day) && HoldsWord(strings.ToLower(p.Attribute+" "+p.Label), name) {
			found = append(found, p)
		}
	}
	switch {
	case len(found) > 1:
		t.Refuse("plan", "more than one plan fits, so none is cancelled", s.Start, s.End)
		return true
	case len(found) == 0:
		return false
	}
	t.Emit(found[0], text, "cancellation", 0.8, s, true)
	t.Off, t.OffAt = found[0], len(t.Out.Candidates)
	return true
}

// FirstTime is the first time in the clause that is a single one.
func (c *Clause) FirstTime() *timex.When {
	for i := range c.Whens {
		w := &c.Whens[i]
		if w.Habit || w.Since {
			continue
		}
		for k := i + 1; k < len(c.Whens) && w.HasDay && (!w.Clock || w.ByPart); k++ {
			if o := c.Whens[k]; o.Clock && !o.ByPart && o.Day == w.Day {
				m := *w
				m.Clock, m.Minute, m.Sure, m.Until = true, o.Minute, o.Sure, o.Until
				return &m
			}
		}
		return w
	}
	return nil
}

// Cancelled ends the plan that a clause says is off.
func (t *Talk) Cancelled(c *Clause, attr string) {
	words := []string{strings.ReplaceAll(attr, "_", " "), attr}
	if sort, _, ok := strings.Cut(attr, "_with_"); ok {
		words = append(words, sort) // ends looks with whom it is
	}
	p, known := t.Ends(c, attr, 0, c.Words[c.Vi].Tok, words...)
	if whose := t.Whose(c); !known && whose.Named && !whose.Known {
		t.AsSaid(c)
		return
	}
	a := t.Emit(p, t.Rewrite(c), "cancellation", 0.85, c.Sentence, true)
	a.EventType = "cancellation"
}

// Ends is the plan that a cancellation between two tokens ends: one that has the words,
// and is on the day and with somebody of those that are named with it. Where the known
// plans have the words and are others, it is a plan that is not known, so that nothing
// ends. known is false where no plan is found.
func (t *Talk) Ends(c *Clause, attr string, from, to int, words ...string) (p Plan, known bool) {
	var on *timex.When
	for i := range c.Whens {
		if w := &c.Whens[i]; w.First >= from && w.Next <= to && w.HasDay && !w.Habit && w.Grain == 'd' && (w.Weekday || w.Day > t.Now.Day) {
			on = w
		}
	}
	var names []string
	for i := range c.Words {
		if k := c.Words[i].Tok; c.W(i-1) == "with" && k >= from && k < to && c.Capital(i) && syntax.NameWord(c.W(i)) && c.W(i) != "i" && !titlesOf[c.W(i)] {
			names = append(names, c.W(i))
		}
	}
	sort, _, _ := strings.Cut(attr, "_with_")
	with := WithThem(sort, c.WithWhom())
	whose := t.Whose(c)
	p, known = t.FindOf(whose, func(p *Plan) bool {
		if !MayBe(on, p.Day, t.Now.Day) {
			return false
		}
		if with != nil && !with(p) {
			return false
		}
		hay := strings.ToLower(p.Attribute + " " + p.Label)
		for _, name := range names {
			if HoldsWord(hay, name) {
				return true
			}
		}
		return len(names) == 0
	}, words...)
	if known {
		if on != nil && on.Weekday {
			on.Day, on.Weekday = p.Day, false
		}
		return p, true
	}
	p = Plan{Subject: t.Self.Key, Attribute: attr, Day: 1}
	if whose.Named {
		p.Subject = whose.Key
	}
	if on != nil {
		other := Plan{Day: on.Day}
		p.Attribute += " " + other.Value()
	}
	return p, false
}

// Pronoun reports a word that stands for a person or a thing named before.
func Pronoun(s string) bool {
	switch s {
	case "it", "that", "this", "there", "they", "these", "those":
		return true
	}
	return false
}
