package discourse

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// Failing are words that say that a thing does not work.
var Failing = syntax.Set("leaking broken blocked flooded faulty cracked dripping bust knackered")

// Last returns the last word of a text.
func Last(s string) string {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == ' ' {
			return s[i+1:]
		}
	}
	return s
}

// dropped reads a clause whose speaker left "I" out: "Lost my job yesterday". It returns the word
// of the verb, or -1.
func (t *Talk) dropped(c *Clause) int {
	if len(c.Words) == 0 {
		return -1
	}
	if (c.W(0) == "need" || c.W(0) == "have") && c.W(1) == "to" && c.Words[0].Tok == 0 && len(c.Words) > 3 && c.Ends != "?" { // "Need to call the plumber"
		c.Subj, c.Kind, c.Bare = t.Self, 's', true
		return 0
	}
	if c.W(0) == "start" && c.Words[0].Tok == 0 && len(c.Whens) > 0 && c.Whens[0].HasDay && t.gotBefore(c) { // "I got it! Start on Monday."
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

// gotBefore reports whether the sentence before c says that the speaker did or got something.
func (t *Talk) gotBefore(c *Clause) bool {
	i := slices.IndexFunc(t.Own, func(s syntax.Sentence) bool { return s.Start == c.Start })
	if i < 1 || c.Ends == "?" {
		return false
	}
	return slices.ContainsFunc(t.Own[i-1].Toks, func(k syntax.Token) bool { return k.S == "did" || k.S == "got" })
}

// theFirm returns a statement in which the speaker's employer has its name, if the text gave it.
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

// Ended proposes that a value of a slot is no longer true; "" means any value.
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

// Ends makes a the end of a value of a slot; "" means any value, which is not a relation.
func Ends(a *abi.Candidate, key, attribute, value string, many bool) {
	a.Negates, a.Slot = true, &abi.Slot{Subject: key, Attribute: attribute, Value: value, Many: many}
	if value != "" {
		a.Predicate, a.Object = attribute, value
	}
}

// OffWith cancels the only future plan with a person on the day in whens.
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

// FirstTime returns the first time in the clause that is a single one.
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

// Cancelled ends the plan that a clause cancels.
func (t *Talk) Cancelled(c *Clause, attr string) {
	words := []string{strings.ReplaceAll(attr, "_", " "), attr}
	if sort, _, ok := strings.Cut(attr, "_with_"); ok {
		words = append(words, sort) // ends also checks the person
	}
	p, known := t.Ends(c, attr, 0, c.Words[c.Vi].Tok, words...)
	if whose := t.Whose(c); !known && whose.Named && !whose.Known {
		t.AsSaid(c)
		return
	}
	a := t.Emit(p, t.Rewrite(c), "cancellation", 0.85, c.Sentence, true)
	a.EventType = "cancellation"
}

// Ends returns the plan that a cancellation between two tokens ends: one with these words, on the
// day and with the person that are named with it. If the known plans with these words are others,
// it returns an unknown plan, so that nothing ends. known is false if no plan is found.
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

// Pronoun reports whether s stands for a person or a thing named before.
func Pronoun(s string) bool {
	switch s {
	case "it", "that", "this", "there", "they", "these", "those":
		return true
	}
	return false
}

// What somebody gave up, sold or stopped is worth knowing even if nobody ever said that it was
// true: "I sold my car", "I used to smoke". An ending alone would then end nothing and be lost, so
// a clause that only ends something also gives a fact that lasts.

// endable are the attributes whose end is a fact of the same group: not_owns opposes owns, so that
// the end replaces an existing claim, and a later claim replaces the end.
var endable = syntax.Set("owns smokes plays does learning speaks wears likes medication")

// Outlast adds a lasting candidate to a clause whose candidates, from index from on, all end
// something. told says that the clause tells what happened, and does not only deny.
func Outlast(t *Talk, from int, told bool) {
	made := t.Out.Candidates[min(from, len(t.Out.Candidates)):]
	for i := range made {
		if c := &made[i]; !c.Negates || c.Type != "semantic" || c.Slot == nil {
			return
		}
	}
	if len(made) == 0 {
		return
	}
	if a := made[0].Slot.Attribute; (endable[a] || a == "habit" || strings.HasPrefix(a, RoutineSlot(""))) && goesOn(t, a == "owns" && told) {
		t.Out.Candidates = t.Out.Candidates[:from]
		return
	}
	stood := map[string]bool{} // values, so that each member of a list has a fact
	for i := range made {
		c := &made[i]
		if c.Slot.Many && endable[c.Slot.Attribute] && c.Slot.Value != "" && (len(stood) == 0 || made[0].Slot.Attribute == "not_"+c.Slot.Attribute) && !stood[c.Slot.Value] {
			stood[c.Slot.Value] = true
			c.Negates, c.Slot.Attribute = false, "not_"+c.Slot.Attribute
			c.Predicate, c.Object = c.Slot.Attribute, c.Slot.Value
		}
	}
	if len(stood) > 0 || !told {
		return
	}
	a := made[0]
	a.Negates, a.Slot, a.Predicate, a.Object = false, nil, "", ""
	a.Confidence = min(a.Confidence, 0.75)
	t.Out.Candidates = append(t.Out.Candidates, a)
}

// goesOn reports whether the sentence allows that what it ends continues, in part, at times or by
// now again: "and I still do", "not in the house", "for the day". If deed is set, somebody parted
// with it, and it is gone however the sentence continues, unless it came back.
func goesOn(t *Talk, deed bool) bool {
	s := t.Said
	deed = deed && !HoldsWord(strings.ToLower(s.Raw()), "used") // "used to have" is not a deed
	if s.Chinese() {
		return syntax.ContainsAny(s.Raw(), "现在还", "现在更", "现在也", "现在又", "还在", "仍", "依然", "照样", "更多", "更少", "等会", "待会", "一会", "过会", "晚点", "回头", "今天", "今晚", "今早", "这周", "明天", "暂时", "先不", "又买回", "买回来", "有时", "偶尔")
	}
	for i := range s.Toks {
		next := s.At(i + 1)
		switch w := s.At(i); {
		case deed:
			if w == "back" && s.At(i-1) != "way" && s.At(i-1) != "the" && s.At(i-1) != "my" || w == "again" {
				return true
			}
		case w == "more" && s.At(i-1) == "any" || w == "anymore":
			if next == "than" {
				return true
			}
		case w == "but":
			after := next
			if after == "i" || after == "we" || after == "he" || after == "she" || after == "then" {
				after = s.At(i + 2)
			}
			if after != "stopped" && after != "quit" && after != "gave" {
				return true
			}
		case w == "just":
			if next != "stopped" && next != "quit" && next != "gave" {
				return true
			}
		case w == "for":
			unit := next
			if syntax.Determiner(next) {
				unit = s.At(i + 2)
			}
			if next == "now" || Whiles[syntax.Singular(unit)] {
				return true
			}
		case w == "more" || w == "less" || w == "better" || w == "only" || w == "still" || w == "again" || w == "now" || w == "today" || w == "tonight" || w == "except" || w == "unless" || w == "sometimes" || w == "occasionally":
			return true
		}
	}
	return !deed && slices.ContainsFunc(timex.FindWhens(s, t.Now), func(w timex.When) bool { return w.HasDay && !w.Habit && !w.Since && w.Grain == 'd' })
}

// Whiles are times for which an end may last.
var Whiles = syntax.Set("day week night evening month moment season winter summer while bit lent")
