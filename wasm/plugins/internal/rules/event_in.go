package rules

import (
	"slices"
	"strings"
)

// eventIn finds what is appointed in a clause: "dentist_appointment",
// "meeting with tom".
func (c *clause) eventIn() (attribute, noun string) {
	i := c.eventAt()
	if i < 0 {
		return "", ""
	}
	w := oneEvent(c.w(i))
	a, _ := eventNoun(w)
	if next, ok := eventNoun(c.w(i + 1)); ok && next == "appointment" {
		return w + "_appointment", w + " appointment"
	}
	if w == "appointment" || w == "meeting" || w == "call" || w == "lunch" || w == "dinner" || w == "interview" || w == "date" || w == "session" || w == "class" || w == "drink" {
		if who, ok := c.after(i, 2, "with", "for"); ok {
			if i < c.vi && (c.w(i+1) == "with" || c.w(i+1) == "for") {
				who = c.trim(i+2, c.beforeVerb(i+2)) // "my meeting with Karen has been moved"
			}
			if nobodyNew[strings.ToLower(who)] {
				return a, w
			}
			if k := c.find(i, 3, "for"); k >= 0 && forWhat[w] && !c.capital(k+1) && plainText(who) { // for a haircut
				if _, counted := number(who); counted || len(strings.Fields(who)) > 2 {
					return a, w
				}
				return strings.ReplaceAll(who, " ", "_") + "_" + a, who + " " + w
			}
			return a + "_with_" + strings.ToLower(strings.ReplaceAll(who, " ", "_")), w + " with " + who
		}
		if i > 0 && c.w(i-1) != "a" && c.w(i-1) != "an" && c.w(i-1) != "the" && !auxiliary(c.w(i-1)) && (!verbish(c.w(i-1)) || w == "class" && strings.HasSuffix(c.w(i-1), "ing")) && !determiner(c.w(i-1)) && !preposition(c.w(i-1)) && !function(c.w(i-1)) && c.w(i-1) != "," && c.w(i-1) != "'s" && !c.plurals(i-1) {
			return c.w(i-1) + "_" + a, c.w(i-1) + " " + w
		}
	}
	if kinds[w] {
		if i > 0 && c.w(i-1) != "'s" && c.w(i-1) != "," && c.words[i-1].tok == c.words[i].tok-1 && !commonWord(c.w(i-1)) && !function(c.w(i-1)) && (!verbish(c.w(i-1)) || i > 1 && strings.HasSuffix(c.w(i-1), "ing")) && !feelings[c.w(i-1)] && !c.plurals(i-1) {
			return c.w(i-1) + "_" + a, c.w(i-1) + " " + w // the maths exam, and not the physics exam
		}
		if next := c.w(i + 1); next == "for" || next == "in" || next == "of" || next == "with" {
			of := o2(c, i+2)
			if i < c.vi {
				of = c.trim(i+2, c.beforeVerb(i+2))
			}
			if words := strings.Fields(strings.ToLower(of)); len(words) > 0 && len(words) < 4 && !vague(of) {
				return strings.Join(words, "_") + "_" + a, w + " " + next + " " + of
			}
		}
	}
	if a == "flight" || a == "train" || a == "trip" {
		if next := c.w(i + 1); next == "back" || next == "home" || next == "out" || next == "there" {
			return a + "_" + next, w + " " + next
		}
		if to, ok := c.after(i, 1, "to"); ok {
			if i < c.vi && c.w(i+1) == "to" {
				to = c.trim(i+2, c.beforeVerb(i+2))
			}
			return a + "_to_" + strings.ToLower(strings.ReplaceAll(to, " ", "_")), w + " to " + to
		}
	}
	return a, w
}

// forWhat are events that are for something: an appointment for a haircut, a meeting for the budget.
var forWhat = set("appointment meeting session interview")

// kinds are events of which people have several of different kinds.
var kinds = set("exam test lesson deadline training rehearsal match presentation workshop course viewing inspection")

// oneEvent is the word for one of several: meeting, of "meetings".
func oneEvent(s string) string {
	if strings.HasSuffix(s, "ss") {
		return s // a class
	}
	return strings.TrimSuffix(s, "s")
}

// eventAt is the word that names what is appointed; -1 where none does.
func (c *clause) eventAt() int {
	for i := range c.words {
		w := oneEvent(c.w(i))
		if apart(c.w(i-1)) || determiner(c.w(i-1)) && apart(c.w(i-2)) {
			continue // "after the dentist": not what is planned
		}
		if c.concerned(i) || w == "call" && (c.w(i-1) == "on" || c.w(i-1) == "to") || w == "hospital" && c.w(i-1) == "in" && (c.verb == "visit" || c.verb == "see") {
			continue // "a problem with your appointment", "on call", "visit him in hospital"
		}
		if i < c.vi && profession(w) && (moves(c.verb) || c.verb == "cancel") && slices.ContainsFunc(c.words[c.vi:], func(o word) bool { _, event := eventNoun(o.s); return event && !profession(o.s) }) {
			continue // "the dentist moved my checkup": who did it
		}
		if _, ok := eventNoun(w); ok && !c.ownsNext(i) && !ofEvents[c.w(i+1)] && (i > c.vi || i == 0 || c.kind == 't' || c.kind == 'p') {
			return i
		}
	}
	return -1
}

// ownsNext reports whether somebody whom one visits at word i owns the event after it:
// "my doctor's holiday", and not "my doctor's appointment".
func (c *clause) ownsNext(i int) bool {
	next := c.w(i + 2)
	_, event := eventNoun(next)
	return profession(c.w(i)) && c.w(i+1) == "'s" && event && next != "appointment" && next != "visit"
}

// concerned reports whether word i is only what a problem is with.
func (c *clause) concerned(i int) bool {
	k := i - 1
	for k > 0 && !preposition(c.w(k)) && i-k < 4 {
		k--
	}
	if c.w(k) != "with" && c.w(k) != "about" {
		return false
	}
	switch c.w(k - 1) {
	case "problem", "problems", "issue", "issues", "trouble", "question", "questions", "conflict", "clash", "news", "mistake", "worried", "nervous", "excited", "complaint":
		return true
	}
	return false
}

// apart words put a plan at another time or place than what they stand before.
func apart(s string) bool {
	switch s {
	case "after", "before", "until", "near", "opposite", "beside":
		return true
	}
	return false
}

// beforeVerb returns where the verb of a clause begins, including its auxiliaries. The result is at least i.
func (c *clause) beforeVerb(i int) int {
	k := c.vi
	for k > i && (auxiliary(c.w(k-1)) || adverb(c.w(k-1)) || c.w(k-1) == "been" || c.w(k-1) == "'s") {
		k--
	}
	return k
}

// party is whom an event is with, at or for.
type party struct {
	words  []string // without titles; empty where a clause names nothing
	doctor bool     // "Dr. Patel"
}

// withWhom returns the party of the clause's event. The party tells it from other events of the same sort.
func (c *clause) withWhom() (of party) {
	i := c.eventAt()
	if i < 0 {
		return of
	}
	switch c.w(i + 1) {
	case "with", "at", "for":
	default:
		return of
	}
	for k := i + 2; k < len(c.words) && k != c.vi; k++ {
		w := c.w(k)
		if auxiliary(w) || preposition(w) || w == "," || w == "been" {
			break
		}
		if _, n := number(w); n || atNobody[w] && c.w(i+1) == "at" {
			break
		}
		of.doctor = of.doctor || w == "dr" || w == "doctor"
		if determiner(w) || titlesOf[w] || nobodyNew[w] || w == "and" || w == "'s" || kin(w) && c.capital(k+1) {
			continue
		}
		of.words = append(of.words, w)
	}
	return of
}

var (
	// titlesOf are titles. They stand before a name, and are no name themselves.
	titlesOf = set("dr dr. doctor mr mr. mrs mrs. ms ms. prof prof. professor")
	// nobodyNew are words that do not say which person is meant, such as "him" and "whole".
	nobodyNew = set("him her them whole entire same usual")
	// atNobody are words after "at" that name neither a place nor a person: "at the last minute", "at noon".
	atNobody = set("last short first all least once noon midnight half quarter")
)

// withThem returns a check of plans. It accepts a plan with the same party, and a plan that names neither a party nor
// a place. The first word of the party decides, so "Tom Baker" finds a plan with Tom.
func withThem(head string, with party) func(*plan) bool {
	if len(with.words) == 0 {
		return nil
	}
	return func(p *plan) bool {
		hay := p.hay()
		if holdsWord(hay, with.words[0]) {
			return true
		}
		switch {
		case head == "appointment" && with.doctor && p.attribute == "doctor_appointment", head == "interview" && p.attribute == "job_interview":
		case p.attribute == head, strings.HasPrefix(p.attribute, head+" "):
		default:
			return false
		}
		return !holdsWord(hay, "with") && !saysWhere(hay, head)
	}
}

// saysWhere reports whether a plan's words say where an event is: "an interview at Nokia", and not "at 10".
func saysWhere(hay, head string) bool {
	_, rest, ok := strings.Cut(hay, head+" at ")
	first, _, _ := strings.Cut(rest, " ")
	_, n := number(first)
	return ok && !n && !atNobody[first] && !(first != "" && first[0] >= '0' && first[0] <= '9')
}
