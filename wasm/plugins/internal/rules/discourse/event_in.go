package discourse

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// EventIn finds the appointment in a clause: "dentist_appointment", "meeting with tom".
func (c *Clause) EventIn() (attribute, noun string) {
	i := c.EventAt()
	if i < 0 {
		return "", ""
	}
	w := syntax.OneEvent(c.W(i))
	a, _ := syntax.EventNoun(w)
	if next, ok := syntax.EventNoun(c.W(i + 1)); ok && next == "appointment" {
		return w + "_appointment", w + " appointment"
	}
	if w == "appointment" || w == "meeting" || w == "call" || w == "lunch" || w == "dinner" || w == "interview" || w == "date" || w == "session" || w == "class" || w == "drink" {
		if who, ok := c.After(i, 2, "with", "for"); ok {
			if i < c.Vi && (c.W(i+1) == "with" || c.W(i+1) == "for") {
				who = c.Trim(i+2, c.beforeVerb(i+2)) // "my meeting with Karen has been moved"
			}
			if nobodyNew[strings.ToLower(who)] {
				return a, w
			}
			if k := c.Find(i, 3, "for"); k >= 0 && forWhat[w] && !c.Capital(k+1) && PlainText(who) { // for a haircut
				if _, counted := syntax.Number(who); counted || len(strings.Fields(who)) > 2 {
					return a, w
				}
				return strings.ReplaceAll(who, " ", "_") + "_" + a, who + " " + w
			}
			return a + "_with_" + strings.ToLower(strings.ReplaceAll(who, " ", "_")), w + " with " + who
		}
		if i > 0 && c.W(i-1) != "a" && c.W(i-1) != "an" && c.W(i-1) != "the" && !syntax.Auxiliary(c.W(i-1)) && (!syntax.Verbish(c.W(i-1)) || w == "class" && strings.HasSuffix(c.W(i-1), "ing")) && !syntax.Determiner(c.W(i-1)) && !syntax.Preposition(c.W(i-1)) && !syntax.Function(c.W(i-1)) && c.W(i-1) != "," && c.W(i-1) != "'s" && !c.plurals(i-1) {
			return c.W(i-1) + "_" + a, c.W(i-1) + " " + w
		}
	}
	if kinds[w] {
		if i > 0 && c.W(i-1) != "'s" && c.W(i-1) != "," && c.Words[i-1].Tok == c.Words[i].Tok-1 && !syntax.CommonWord(c.W(i-1)) && !syntax.Function(c.W(i-1)) && (!syntax.Verbish(c.W(i-1)) || i > 1 && strings.HasSuffix(c.W(i-1), "ing")) && !Feelings[c.W(i-1)] && !c.plurals(i-1) {
			return c.W(i-1) + "_" + a, c.W(i-1) + " " + w // the maths exam, and not the physics exam
		}
		if next := c.W(i + 1); next == "for" || next == "in" || next == "of" || next == "with" {
			of := ObjectOf(c, i+2)
			if i < c.Vi {
				of = c.Trim(i+2, c.beforeVerb(i+2))
			}
			if words := strings.Fields(strings.ToLower(of)); len(words) > 0 && len(words) < 4 && !Vague(of) {
				return strings.Join(words, "_") + "_" + a, w + " " + next + " " + of
			}
		}
	}
	if a == "flight" || a == "train" || a == "trip" {
		if next := c.W(i + 1); next == "back" || next == "home" || next == "out" || next == "there" {
			return a + "_" + next, w + " " + next
		}
		if to, ok := c.After(i, 1, "to"); ok {
			if i < c.Vi && c.W(i+1) == "to" {
				to = c.Trim(i+2, c.beforeVerb(i+2))
			}
			return a + "_to_" + strings.ToLower(strings.ReplaceAll(to, " ", "_")), w + " to " + to
		}
	}
	return a, w
}

// forWhat are events that have a purpose: an appointment for a haircut, a meeting for the budget.
var forWhat = syntax.Set("appointment meeting session interview")

// kinds are events of which people have several of different kinds.
var kinds = syntax.Set("exam test lesson deadline training rehearsal match presentation workshop course viewing inspection")

// EventAt returns the word that names the appointment; -1 if there is none.
func (c *Clause) EventAt() int {
	for i := range c.Words {
		w := syntax.OneEvent(c.W(i))
		if Apart(c.W(i-1)) || syntax.Determiner(c.W(i-1)) && Apart(c.W(i-2)) {
			continue // "after the dentist": that is not what is planned
		}
		if c.concerned(i) || c.closedFor(i) || w == "call" && (c.W(i-1) == "on" || c.W(i-1) == "to") || w == "hospital" && c.W(i-1) == "in" && (c.Verb == "visit" || c.Verb == "see") {
			continue // "a problem with your appointment", "on call", "visit him in hospital"
		}
		if i < c.Vi && syntax.Profession(w) && (timex.Moves(c.Verb) || c.Verb == "cancel") && slices.ContainsFunc(c.Words[c.Vi:], func(o Word) bool { _, event := syntax.EventNoun(o.S); return event && !syntax.Profession(o.S) }) {
			continue // "the dentist moved my checkup": who did it
		}
		if i < c.Vi && c.Verb == "move" && syntax.Profession(w) && Relocates(c.Sentence, c.Whens) {
			continue // "my dentist is moving to Graz on Friday"
		}
		if _, ok := syntax.EventNoun(w); ok && !c.ownsNext(i) && !OfEvents[c.W(i+1)] && (i > c.Vi || i == 0 || c.Kind == 't' || c.Kind == 'p') {
			return i
		}
	}
	return -1
}

// ownsNext reports whether somebody whom people visit, at word i, owns the event after it: "my
// doctor's holiday", and not "my doctor's appointment".
func (c *Clause) ownsNext(i int) bool {
	next := c.W(i + 2)
	_, event := syntax.EventNoun(next)
	return syntax.Profession(c.W(i)) && c.W(i+1) == "'s" && event && next != "appointment" && next != "visit"
}

// closedFor reports whether word i is only why something is closed: "shut for staff training".
func (c *Clause) closedFor(i int) bool {
	for k := max(1, i-3); k < i; k++ {
		if c.W(k) == "for" && (c.W(k-1) == "shut" || c.W(k-1) == "closed" || c.W(k-1) == "closing") {
			return true
		}
	}
	return false
}

// concerned reports whether word i is only what a problem is about.
func (c *Clause) concerned(i int) bool {
	k := i - 1
	for k > 0 && !syntax.Preposition(c.W(k)) && i-k < 4 {
		k--
	}
	if c.W(k) != "with" && c.W(k) != "about" {
		return false
	}
	switch c.W(k - 1) {
	case "problem", "problems", "issue", "issues", "trouble", "question", "questions", "conflict", "clash", "news", "mistake", "worried", "nervous", "excited", "complaint":
		return true
	}
	return false
}

// Apart reports whether s puts a plan at another time or place than that of the words after it.
func Apart(s string) bool {
	switch s {
	case "after", "before", "until", "near", "opposite", "beside":
		return true
	}
	return false
}

// beforeVerb returns where the verb of a clause begins, including its auxiliaries. The result is at least i.
func (c *Clause) beforeVerb(i int) int {
	k := c.Vi
	for k > i && (syntax.Auxiliary(c.W(k-1)) || syntax.Adverb(c.W(k-1)) || c.W(k-1) == "been" || c.W(k-1) == "'s") {
		k--
	}
	return k
}

// party is the person or place that an event is with, at or for.
type party struct {
	Words  []string // without titles; empty if a clause names nothing
	doctor bool     // "Dr. Patel"
}

// WithWhom returns the party of the clause's event. The party distinguishes it from other events of
// the same sort.
func (c *Clause) WithWhom() (of party) {
	i := c.EventAt()
	if i < 0 {
		return of
	}
	switch c.W(i + 1) {
	case "with", "at", "for":
	default:
		return of
	}
	for k := i + 2; k < len(c.Words) && k != c.Vi; k++ {
		w := c.W(k)
		if syntax.Auxiliary(w) || syntax.Preposition(w) || w == "," || w == "been" {
			break
		}
		if _, n := syntax.Number(w); n || atNobody[w] && c.W(i+1) == "at" {
			break
		}
		of.doctor = of.doctor || w == "dr" || w == "doctor"
		if syntax.Determiner(w) || titlesOf[w] || nobodyNew[w] || w == "and" || w == "'s" || syntax.Kin(w) && c.Capital(k+1) {
			continue
		}
		of.Words = append(of.Words, w)
	}
	return of
}

// titlesOf are titles. They come before a name, and are not a name themselves.
var titlesOf = syntax.Set("dr dr. doctor mr mr. mrs mrs. ms ms. prof prof. professor")

// nobodyNew are words that do not say which person is meant, such as "him" and "whole".
var nobodyNew = syntax.Set("him her them whole entire same usual")

// atNobody are words after "at" that name neither a place nor a person: "at the last minute", "at noon".
var atNobody = syntax.Set("last short first all least once noon midnight half quarter")

// WithThem returns a check of plans. It accepts a plan with the same party, and a plan that names neither a party nor
// a place. The first word of the party decides, so "Tom Baker" finds a plan with Tom.
func WithThem(head string, with party) func(*Plan) bool {
	if len(with.Words) == 0 {
		return nil
	}
	return func(p *Plan) bool {
		hay := p.Hay()
		if HoldsWord(hay, with.Words[0]) {
			return true
		}
		switch {
		case head == "appointment" && with.doctor && p.Attribute == "doctor_appointment", head == "interview" && p.Attribute == "job_interview":
		case p.Attribute == head, strings.HasPrefix(p.Attribute, head+" "):
		default:
			return false
		}
		return !HoldsWord(hay, "with") && !saysWhere(hay, head)
	}
}

// saysWhere reports whether a plan's words say where an event is: "an interview at Nokia", and not
// "at 10".
func saysWhere(hay, head string) bool {
	_, rest, ok := strings.Cut(hay, head+" at ")
	first, _, _ := strings.Cut(rest, " ")
	_, n := syntax.Number(first)
	return ok && !n && !atNobody[first] && !(first != "" && first[0] >= '0' && first[0] <= '9')
}
