package discourse

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// held is a day that a clause about the speaker or the listener names, and that is also valid for
// the following clauses: "I'm off tomorrow, I'm seeing the dentist at three". This need not be so
// for a day in a clause about somebody else.
type held struct {
	timex.When
	end int // the byte at which the clause ends
	own bool
}

// Hold keeps the day that a clause names for the following clauses of the sentence.
func (t *Talk) Hold(c *Clause) {
	for i := range c.Whens {
		w := c.Whens[i]
		if aimed := c.Aimed(&w) && w.Day > t.Now.Day; w.HasDay && !w.Habit && !w.Since && w.Grain == 'd' && w.Last == 0 && (aimed || !c.Past && !c.Perfect) && c.Text == t.Ev.Text {
			t.Held = append(t.Held, held{w, c.End, c.Kind == 's' || c.Kind == 'w' || c.Kind == 'y'})
		}
	}
}

// AskedDay returns the only day that the previous question names: "Wednesday at three?", "I have a
// call at four".
func (t *Talk) AskedDay() []held {
	b := t.JustSaid()
	if b == nil || t.Rejoined {
		return nil
	}
	all := t.SentencesOf(b)
	if len(all) == 0 || all[len(all)-1].Ends != "?" {
		return nil
	}
	switch aux, _ := syntax.Contraction(all[len(all)-1].At(0)); aux {
	case "did", "was", "were", "have", "has":
		return nil
	}
	var day *timex.When
	for _, w := range timex.FindWhens(all[len(all)-1], t.Now) {
		if w.HasDay && day == nil && !w.Habit && !w.Since && w.Grain == 'd' && w.Last == 0 && w.Day >= t.Now.Day {
			day = &w
		} else if w.HasDay {
			return nil
		}
	}
	if day == nil {
		return nil
	}
	return []held{{*day, 0, true}}
}

// HeldDay returns the day that is valid for a clause: that of the last clause before it that names
// one.
func (t *Talk) HeldDay(c *Clause) *held {
	for i := len(t.Held) - 1; i >= 0 && c.Text == t.Ev.Text; i-- {
		if t.Held[i].end <= c.Start {
			return &t.Held[i]
		}
	}
	return nil
}

// onHeldDay puts the hours of a clause that names no day on the day that was named before it.
func (t *Talk) onHeldDay(c *Clause) {
	h := t.HeldDay(c)
	if h == nil || !h.own || c.Past || c.Perfect {
		return
	}
	if attr, _ := c.EventIn(); h.end == 0 && attr == "" && !c.Future && !c.Must && !c.Ing {
		return // "are you coming on Friday?", "I get up at six"
	}
	for i := range c.Whens {
		if w := &c.Whens[i]; w.HasDay || w.Habit || w.ByPart || timex.LeadsUntil(&c.Sentence, w) {
			return
		}
	}
	for i := range c.Whens {
		c.Whens[i].OnDay(&h.When)
	}
}

// UndatedHour reports whether a time of day belongs to no day that is known: because it is done
// each day, because it is in the past and would be later than now today, or because it is on
// another day than today.
func (t *Talk) UndatedHour(c *Clause, w *timex.When) bool {
	if c.habitual() || c.HasHabit() || c.eachDay(w) || c.Verb == "work" && w.Until > 0 || c.Past && !c.Modal && w.Minute > t.Now.Minute || t.HeldDay(c) != nil {
		return true
	}
	for i := range c.Whens {
		if o := &c.Whens[i]; c.At(o.First-1) == "again" && !c.Past && !c.Future && !c.Ing {
			return true // "comes at eight and then again at six"
		}
	}
	return false
}

// eachDay reports whether a part of the day is one at which somebody takes, eats or drinks
// something each day: "I take the white one in the morning".
func (c *Clause) eachDay(w *timex.When) bool {
	if !w.ByPart || c.Past || c.Perfect || c.Ing || c.Future || c.Modal || c.Must || c.Intend {
		return false
	}
	return c.Verb == "take" || c.Verb == "eat" || c.Verb == "drink" || c.Verb == "have"
}

// LongAgo reports whether something was true at some time that the words do not state, and not just
// now: "my first car was a Mini", "my parents met on a ferry", "I played the cello till I was
// sixteen", "I had Covid twice".
func (c *Clause) LongAgo() bool {
	next := c.W(c.Vi + 1)
	_, done, _ := syntax.Lemma(next)
	switch {
	case strings.HasPrefix(c.Thing, "first "), c.Verb == "be" && c.Past && (c.Kind == 'w' || c.Kind == 's') && c.atSchool():
		return true
	case c.Verb == "meet" && c.Past && c.Kind == 'w' && len(c.Whens) == 0 && syntax.Preposition(next), c.Verb == "propose" && c.Past && c.Kind == 'p', (c.Verb == "meet" || c.Verb == "marry") && (c.Thing == "parents" || c.Thing == "grandparents"), c.Verb == "be" && c.Past && c.Own && !done && !syntax.PastForm(next) && strings.HasPrefix(c.Thing, "old "):
		return true
	}
	for i := c.Vi + 1; i < len(c.Words); i++ {
		switch c.W(i) {
		case "twice":
			return true
		case "till", "until", "since":
			if syntax.SubjectPronoun(c.W(i+1)) && (c.W(i+2) == "was" || c.W(i+2) == "were") {
				return true
			}
		}
	}
	return false
}

// atSchool reports whether "at uni" or "in college" is after the verb.
func (c *Clause) atSchool() bool {
	for i := c.Vi + 1; i < len(c.Words); i++ {
		if timex.Schooldays[c.W(i)] && (c.W(i-1) == "at" || c.W(i-1) == "in") {
			return true
		}
	}
	return false
}
