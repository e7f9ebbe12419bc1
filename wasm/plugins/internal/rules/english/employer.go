package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// mineIs takes the values of "my job", "my employer", "my office" and "my home". A value must be of
// the slot's kind, and not say how they are ("my job is boring", "my house is a mess"), because
// that would end the last value. o is the object at word i. It reports whether the clause is about
// one of them.
func mineIs(t *discourse.Talk, c *discourse.Clause, i int, o string) bool {
	if c.Verb != "be" {
		return false
	}
	switch c.Thing {
	case "job", "title", "job title", "profession":
		switch next := c.W(i); {
		case c.Thing == "job" && (next == "at" || next == "with") && c.FirstTime() == nil:
			if firm := discourse.ObjectOf(c, i+1); employs(firm, t.Plain) {
				t.Fact(c, "work", "employer", firm, false, 0.88)
			}
		case c.Thing != "job" || role(c, i) || next == "to":
			t.Fact(c, "work", "job", o, false, 0.85)
		}
	case "address", "home", "flat", "house", "hometown":
		if o == "" || c.W(i) == "on" {
			return false
		}
		in := c.W(i) == "in" || c.W(i) == "at"
		where := strings.TrimPrefix(strings.TrimPrefix(o, "in "), "at ")
		if !in && !c.Capital(i) && !discourse.Capitalised(o) && !strings.ContainsAny(o, "0123456789") && !(t.Plain && c.Thing != "house" && c.Thing != "flat" && !how(c, i)) || discourse.AbodeOf(where, t.Plain) == discourse.NoAbode && c.Thing != "address" {
			return in // "in a mess"
		}
		attr := "home"
		if c.Thing == "hometown" {
			attr = "origin"
		}
		t.Fact(c, "residence", attr, where, false, 0.88)
	case "office", "employer", "company", "firm":
		name := i
		if c.W(i) == "called" || c.W(i) == "named" {
			name++
			o = discourse.ObjectOf(c, name)
		}
		if syntax.Determiner(c.W(name)) {
			name++
		}
		place := c.W(i) == "in" || c.W(i) == "at"
		if c.Thing == "office" && !place && c.W(i) != "on" || c.Thing != "office" && !c.Capital(name) && (syntax.Determiner(c.W(i)) && !employs(o, false) || !syntax.Determiner(c.W(i)) && (!t.Plain || how(c, i) || !employs(o, true))) {
			return false
		}
		attr := c.Thing
		if attr == "firm" {
			attr = "company"
		}
		t.Fact(c, "work", attr, strings.TrimPrefix(strings.TrimPrefix(o, "in "), "at "), false, 0.8)
	default:
		return false
	}
	return true
}

// outOfWork ends the speaker's employer, whichever it was: "I quit my job", "I got laid off".
// Something long ago ends nothing that was said since.
func outOfWork(t *discourse.Talk, c *discourse.Clause) {
	if w := c.FirstTime(); c.Subj.Key != "" && c.Kind != 'w' && (w == nil || w.HasDay && !w.Habit && w.Day > t.Now.Day-60) {
		t.Ended(c, c.Subj, "work", "employer", "", false)
	}
}

// leftFirm takes "I left Acme", "I left Acme for Bosch", "I left the company last month": an
// employer with that name ends, if there is one, whatever the name stands for. Somebody who leaves
// a place is back the next day. The event itself is proposed, too.
func leftFirm(t *discourse.Talk, c *discourse.Clause, i int) bool {
	if c.Verb != "leave" || c.Neg || !c.Past && !c.Perfect || c.Kind != 's' && c.Kind != 'p' || c.Ends == "?" {
		return false
	}
	first := i
	if c.W(i) == "the" || c.W(i) == "my" {
		first++
	}
	next := first
	for c.Capital(next) && syntax.NameWord(c.W(next)) || next > first && c.W(next) == "of" && c.Capital(next+1) {
		next++
	}
	named := next > first
	if !named {
		next++
	}
	firm := c.Join(first, next)
	if w := c.FirstTime(); w != nil && (!w.HasDay || w.Clock || w.Habit || w.Grain == 'd' || w.Day < t.Now.Day-366) {
		return false
	}
	switch c.W(next) {
	case "", ",":
	case "for", "after", "to":
		if !c.Capital(next+1) && c.W(next+1) != "good" && c.W(next+1) != "join" && c.W(next+1) != "start" && c.Find(next, 4, "years") < 0 && c.Find(next, 4, "months") < 0 {
			return false
		}
	default:
		return false
	}
	switch {
	case first > i && (firm == "employer" || firm == "company" || firm == "firm"):
		outOfWork(t, c)
	case named && syntax.SexOf("", c.W(first)) == 0:
		t.Ended(c, c.Subj, "work", "employer", firm, false)
		if c.W(next) == "to" && c.W(next+1) == "join" {
			joined(t, c, next+2, 0.85)
		}
	default:
		return false
	}
	if made := len(t.Out.Candidates); made > 0 && t.Out.Candidates[made-1].Negates {
		a := t.Base(c, "episodic", "event", 0.65)
		a.EventType, a.Actor, a.Started = "event", c.Subj.Name, noted.ToldAt(t, c.Sentence)
		if w := c.FirstTime(); w != nil {
			w.Past(t.Now)
			a.Confidence, a.Started = a.Confidence+0.2, t.Now.Begins(w.Day)
		}
		t.Out.Candidates = append(t.Out.Candidates, a)
	}
	return true
}

// wasDoneTo takes "the doctor took me off metformin", "they've taken my dad off statins", "Acme laid me off".
func wasDoneTo(t *discourse.Talk, c *discourse.Clause, i int) {
	if who, k := patientAt(t, c, i); c.Verb == "take" && c.Kind != 's' && c.W(k) == "off" && who.Key != "" {
		if drug := discourse.ObjectOf(c, k+1); medicineNamed(drug) {
			noMedicine(t, c, who, drug)
		}
		return
	}
	if c.W(i) != "me" || c.Kind == 's' {
		return
	}
	firm := c.Thing
	if c.Kind == 'p' {
		firm = c.Subj.Name
	}
	fired := c.Verb == "fire" || c.Verb == "sack" || c.Verb == "dismiss" || (c.Verb == "let" && c.W(i+1) == "go" || c.Verb == "lay" && c.W(i+1) == "off")
	switch {
	case fired && discourse.Pronoun(firm):
		if from, ok := c.After(i, 3, "from", "at"); ok && employs(from, t.Plain) {
			t.Ended(c, t.Self, "work", "employer", from, false)
		}
	case fired && c.Own && (noted.Employers[firm] || c.Kind == 'p'):
		c.Subj = t.Self
		outOfWork(t, c)
	case fired && firm != "":
		t.Ended(c, t.Self, "work", "employer", firm, false)
	}
}

// how reports whether word i says how a thing is, and not what or where it is.
func how(c *discourse.Clause, i int) bool {
	w := c.W(i)
	_, past, ing := syntax.Lemma(w)
	return discourse.Feelings[w] || noted.Opinions[w] || syntax.PastForm(w) || past || ing || syntax.Determiner(w) || syntax.Preposition(w)
}
