package rules

import "strings"

// mine takes what something is that is somebody's own: a name, a birthday, a favourite, a car.
func (t *talk) mine(c *clause, i int) bool {
	o := o2(c, i)
	is := c.verb == "be" && !c.neg && !c.past
	switch {
	case is && c.capital(i) && nameWord(c.w(i)) && kin(trimS(last(c.thing))) && t.further(c, i, c.subj, "", 0):
		t.relation(c, c.subj, last(c.thing), c.cased(i), 0.85)
		t.further(c, i, c.subj, last(c.thing), 0.85)
	case is && c.capital(i) && nameWord(c.w(i)) && leads[strings.TrimSuffix(c.thing, " lead")]: // "our team lead is Priya"
		t.relation(c, t.self, c.thing, o, 0.85)
	case c.verb == "be" && c.past && !c.neg && formerJobs[c.thing] && (c.w(i) == "at" || c.w(i) == "with" || c.w(i) == "for") && c.capital(i+1):
		t.fact(c, "biography", "worked_at", o2(c, i+1), true, 0.8)
	case c.thing == "name" && t.nameIs(c, i, o):
	case strings.HasSuffix(c.thing, "birthday"):
		if w := c.firstTime(); w != nil && w.hasDay {
			if who := strings.TrimSuffix(strings.TrimSuffix(c.thing, " birthday"), "'s"); who != c.thing && who != "" {
				c.subj = person{possessive(c.subj.name) + " " + who, possessive(c.subj.key) + " " + who}
			}
			t.birthday(c, w)
		}
	case strings.HasPrefix(c.thing, "favourite ") || strings.HasPrefix(c.thing, "favorite ") || c.verb == "be" && strings.HasSuffix(c.thing, " size"):
		t.fact(c, "preference", strings.ReplaceAll(strings.Replace(c.thing, "favorite", "favourite", 1), " ", "_"), o, false, 0.93)
	case is && thingWord(c.thing) && (c.w(i) == "a" || c.w(i) == "an") && c.capital(len(c.words)-1) && nameWord(last(strings.ToLower(o))):
		t.fact(c, "possession", "owns", ownedName(o), true, 0.75) // "my car is a blue Skoda"
	default:
		return is && t.reached(c) || !c.past && t.mineIs(c, i, o) || t.salaryIs(c, i)
	}
	return true
}

// formerJobs are jobs that somebody had, after "my".
var formerJobs = map[string]bool{"first job": true, "last job": true, "old job": true, "previous job": true, "former job": true, "first real job": true}

// nameIs takes what somebody or their animal is called: "my name is Mei", "my dog's name is Rex".
func (t *talk) nameIs(c *clause, i int, o string) bool {
	be := c.verb == "be"
	switch {
	case strings.EqualFold(o, c.subj.name) && c.w(0) != "my":
	case be && c.subj.key != t.self.key && strings.Contains(c.subj.key, "'s "):
		owner, noun := ownerOf(c.subj, t)
		if !pet(noun) {
			t.relation(c, owner, noun, o, 0.93)
			return true
		}
		c.subj = owner
		t.fact(c, "family", "pets", o, true, 0.92)
	case be && !c.neg && c.subj.key != t.self.key && c.w(0) != "your": // whose? "her name is Shadow"
	case preposition(c.w(i)): // on the list
	case be && !c.neg && c.w(0) == "my" && (c.past || c.usedTo): // "my name used to be Anna Gray"
		return false
	case be && !c.neg && c.w(0) == "my":
		t.core(c, "human", o)
	default:
		return false
	}
	return true
}
