package english

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// What is true again: a medicine, a diet or a habit that somebody takes up after it ended.

// resumes turns "I started taking metformin", "I'm back on metformin", "I went back to eating meat"
// into a clause about the present, and proposes what no other rule takes from "I took up tennis
// again". It reports whether it proposed something.
func resumes(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Neg || c.Modal || c.Future || c.UsedTo || c.Intend || c.Must || c.Can || c.Maybe || c.Ends == "?" || c.Conditional() {
		return false
	}
	i := c.Vi + 1
	for k := i; k < len(c.Words); k++ {
		c.Again = c.Again || c.W(k) == "again" && (k+1 == len(c.Words) || c.W(k+1) == ",")
	}
	switch c.Verb {
	case "start", "begin", "resume", "restart":
		if putOn(t, c, i) {
			return true
		}
		if resumed, _, ing := syntax.Lemma(c.W(i)); ing && ingested[resumed] && (c.Past || c.Perfect) {
			nowDoes(c, t, resumed, i)
		}
	case "be":
		if c.W(i) == "back" && c.W(i+1) == "on" && (medicineNamed(discourse.ObjectOf(c, i+2)) || foregone(discourse.ObjectOf(c, i+2)) && !c.Past) {
			nowDoes(c, t, "be", i)
			if !medicineNamed(discourse.ObjectOf(c, i+1)) {
				nowDoes(c, t, map[bool]string{true: "drink", false: "eat"}[drunk(discourse.ObjectOf(c, i+2))], i+1)
			}
		}
		if (c.W(i) == "put" || c.W(i) == "started") && c.W(i+1) == "on" && c.Kind != 't' && medicineNamed(syntax.FirstOf(medicine(c, i+2))) {
			nowDoes(c, t, "take", i+1) // "I've been put on statins"
		}
	case "go":
		if c.W(i) != "back" || c.W(i+1) != "to" || !c.Past && !c.Perfect {
			break
		}
		switch l, _, ing := syntax.Lemma(c.W(i + 2)); {
		case c.W(i+2) == "being":
			nowDoes(c, t, "be", i+2)
		case ing && ingested[l]:
			nowDoes(c, t, l, i+2)
		case medicineNamed(discourse.ObjectOf(c, i+2)):
			nowDoes(c, t, "take", i+1)
		}
	case "put", "have", "prescribe":
		return putOn(t, c, i)
	case "take", "pick":
		return tookUp(t, c, i)
	}
	return (c.Again || c.Back) && nowAgain(t, c)
}

// stoppedBeing reads "I stopped being vegan", "he gave up being a nurse" as "I'm no longer vegan". It
// reports whether a rule knows that.
func stoppedBeing(t *discourse.Talk, c *discourse.Clause) bool {
	i := c.Vi + 1
	switch c.Verb {
	case "stop", "quit":
	case "give":
		if i++; c.W(i-1) != "up" {
			return false
		}
	case "be":
		if i++; c.W(i-1) != "done" {
			return false
		}
	default:
		return false
	}
	if c.W(i) != "being" || !c.Past && !c.Perfect && c.Verb != "be" || c.Neg || c.UsedTo || c.Find(0, c.Vi, "never") >= 0 || forAWhile(c) {
		return false
	}
	d := *c
	d.Whens = slices.Clone(c.Whens)
	nowDoes(&d, t, "be", i)
	d.Neg, d.NoLonger = true, true
	made := len(t.Out.Candidates)
	personal(t, &d)
	return len(t.Out.Candidates) > made
}

// forAWhile reports whether a clause tells how long something lasts: "for a week", "for Lent".
func forAWhile(c *discourse.Clause) bool {
	for i := range c.Toks {
		if c.At(i) != "for" {
			continue
		}
		for k := i + 1; k < i+4; k++ {
			if discourse.Whiles[syntax.Singular(c.At(k))] {
				return true
			}
		}
	}
	return false
}

// putOn takes "the doctor put me back on metformin", "the vet has our dog on steroids", "the doctor prescribed
// my dad warfarin".
func putOn(t *discourse.Talk, c *discourse.Clause, i int) bool {
	who, k := patientAt(t, c, i)
	if who.Key == "" || c.Kind == 's' || c.Kind == 'w' || c.Verb != "have" && !c.Past && !c.Perfect {
		return false
	}
	if c.W(k) == "back" {
		k++
	}
	if c.Verb == "prescribe" {
		k--
	} else if c.W(k) != "on" {
		return false
	}
	if !medicineNamed(syntax.FirstOf(medicine(c, k+1))) {
		return false
	}
	d := *c
	if d.Subj, d.Kind = who, 'p'; who.Key == t.Self.Key {
		d.Kind = 's'
	}
	nowDoes(&d, t, "take", k)
	return takes(t, &d, k+1)
}

// patientAt returns the person, or the pet of the speaker's, whom the words from i on name, and the word after
// them.
func patientAt(t *discourse.Talk, c *discourse.Clause, i int) (discourse.Person, int) {
	if w := c.W(i + 1); (c.W(i) == "my" || c.W(i) == "our") && syntax.Pet(w) {
		return discourse.Person{Name: discourse.Possessive(t.Self.Name) + " " + w, Key: discourse.Possessive(t.Self.Key) + " " + w}, i + 2
	}
	return partyAt(t, c, i)
}

// tookUp takes "I took up tennis again".
func tookUp(t *discourse.Talk, c *discourse.Clause, i int) bool {
	k := i
	if c.W(i) == "up" {
		k++
	}
	o := strings.TrimSuffix(strings.TrimSuffix(discourse.ObjectOf(c, k), " back"), " up")
	if !c.Again || k == i && c.Find(i, 4, "up") < 0 || !c.Past && !c.Perfect || o == "" || discourse.Vague(o) || syntax.Determiner(c.W(k)) || c.Kind != 's' && c.Kind != 'p' {
		return false
	}
	t.Ended(c, c.Subj, "habit", "not_plays", cutTail(o), true)
	d := *c
	d.Past, d.Perfect = false, false
	return t.Fact(&d, "habit", "does", cutTail(o), true, 0.75) != nil
}

// nowAgain proposes what is true again according to a clause.
func nowAgain(t *discourse.Talk, c *discourse.Clause) bool {
	if c.Past || c.Perfect || c.Kind != 's' && c.Kind != 'p' {
		return false
	}
	o, _ := c.Object(c.Vi + 1)
	switch c.Verb {
	case "eat", "drink":
		if o == "" || discourse.Vague(o) || mealtime(o) {
			break
		}
		if o == "meat" {
			eatsMeat(t, c)
		} else {
			t.Ended(c, c.Subj, "diet", "avoids", o, true)
		}
		d := *c
		d.Ing = false
		return t.Fact(&d, "diet", c.Verb+"s", o, true, 0.8) != nil
	case "smoke":
		t.Ended(c, c.Subj, "diet", "avoids", "smoking", true)
		return t.Fact(c, "diet", "smokes", "smoking", true, 0.8) != nil
	default:
		if doing := again(t, c); doing != "" {
			return t.Fact(c, "habit", "does", doing, true, 0.75) != nil
		}
	}
	return false
}

// again returns what somebody does again, in its "-ing" form: "running" for "I'm running again".
func again(t *discourse.Talk, c *discourse.Clause) string {
	if w := c.W(c.Vi); c.Ing && strings.HasSuffix(w, "ing") && c.W(c.Vi+1) == "again" && routineOf(c, c.Verb, c.Vi+1) == c.Verb && c.FirstTime() == nil {
		return w
	}
	return ""
}

// ingested are verbs whose rules read what somebody regularly takes.
var ingested = syntax.Set("take eat drink smoke play learn")

// drunk reports whether s is a drink that people can be off.
func drunk(s string) bool { return drinks[discourse.Last(strings.ToLower(s))] }

var drinks = syntax.Set("caffeine alcohol coffee milk beer wine soda")

// nowDoes turns a clause that tells of a beginning into what is true since then. Its times are
// past.
func nowDoes(c *discourse.Clause, t *discourse.Talk, verb string, at int) {
	for i := range c.Whens {
		if w := &c.Whens[i]; w.HasDay && !w.Habit && (c.Past || c.Perfect) {
			w.Past(t.Now)
		}
	}
	c.Verb, c.Vi, c.Past, c.Perfect, c.Ing, c.Back = verb, at, false, false, false, true
}
