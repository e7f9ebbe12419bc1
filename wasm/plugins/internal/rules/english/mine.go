package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// mine takes what something of the speaker's is: a name, a birthday, a favourite, a car.
func mine(t *discourse.Talk, c *discourse.Clause, i int) bool {
	o := discourse.ObjectOf(c, i)
	is := c.Verb == "be" && !c.Neg && !c.Past
	switch {
	case is && c.Capital(i) && syntax.NameWord(c.W(i)) && syntax.Kin(syntax.Singular(discourse.Last(c.Thing))) && further(t, c, i, c.Subj, "", 0):
		t.Relation(c, c.Subj, discourse.Last(c.Thing), c.Cased(i), 0.85)
		further(t, c, i, c.Subj, discourse.Last(c.Thing), 0.85)
	case is && c.Capital(i) && syntax.NameWord(c.W(i)) && leads[strings.TrimSuffix(c.Thing, " lead")]: // "our team lead is Priya"
		t.Relation(c, t.Self, c.Thing, o, 0.85)
	case c.Verb == "be" && c.Past && !c.Neg && formerJobs[c.Thing] && (c.W(i) == "at" || c.W(i) == "with" || c.W(i) == "for") && c.Capital(i+1):
		t.Fact(c, "biography", "worked_at", discourse.ObjectOf(c, i+1), true, 0.8)
	case c.Thing == "name" && nameIs(t, c, i, o):
	case strings.HasSuffix(c.Thing, "birthday"):
		if w := c.FirstTime(); w != nil && w.HasDay {
			if who := strings.TrimSuffix(strings.TrimSuffix(c.Thing, " birthday"), "'s"); who != c.Thing && who != "" {
				c.Subj = discourse.Person{Name: discourse.Possessive(c.Subj.Name) + " " + who, Key: discourse.Possessive(c.Subj.Key) + " " + who}
			}
			birthday(t, c, w)
		}
	case strings.HasPrefix(c.Thing, "favourite ") || strings.HasPrefix(c.Thing, "favorite ") || c.Verb == "be" && strings.HasSuffix(c.Thing, " size"):
		t.Fact(c, "preference", strings.ReplaceAll(strings.Replace(c.Thing, "favorite", "favourite", 1), " ", "_"), o, false, 0.93)
	case is && discourse.ThingWord(c.Thing) && (c.W(i) == "a" || c.W(i) == "an") && c.Capital(len(c.Words)-1) && syntax.NameWord(discourse.Last(strings.ToLower(o))):
		t.Fact(c, "possession", "owns", ownedName(o), true, 0.75) // "my car is a blue Skoda"
	default:
		return is && reached(t, c) || !c.Past && mineIs(t, c, i, o) || salaryIs(t, c, i)
	}
	return true
}

// formerJobs are jobs that somebody had, after "my".
var formerJobs = map[string]bool{"first job": true, "last job": true, "old job": true, "previous job": true, "former job": true, "first real job": true}

// nameIs takes the name of somebody or of their animal: "my name is Mei", "my dog's name is Rex".
func nameIs(t *discourse.Talk, c *discourse.Clause, i int, o string) bool {
	be := c.Verb == "be"
	switch {
	case strings.EqualFold(o, c.Subj.Name) && c.W(0) != "my":
	case be && c.Subj.Key != t.Self.Key && strings.Contains(c.Subj.Key, "'s "):
		owner, noun := ownerOf(c.Subj, t)
		if !syntax.Pet(noun) {
			t.Relation(c, owner, noun, o, 0.93)
			return true
		}
		c.Subj = owner
		t.Fact(c, "family", "pets", o, true, 0.92)
	case be && !c.Neg && c.Subj.Key != t.Self.Key && c.W(0) != "your": // whose? "her name is Shadow"
	case syntax.Preposition(c.W(i)): // on the list
	case be && !c.Neg && c.W(0) == "my" && (c.Past || c.UsedTo): // "my name used to be Anna Gray"
		return false
	case be && !c.Neg && c.W(0) == "my":
		core(t, c, "human", o)
	default:
		return false
	}
	return true
}
