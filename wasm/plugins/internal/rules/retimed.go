package rules

import "strings"

// hay is what a plan is found by, in lower case: its slot and its words. Who flies has a
// flight.
func (p *plan) hay() string {
	s := strings.ToLower(p.attribute + " " + p.label)
	if holdsWord(s, "flying") || holdsWord(s, "fly") || holdsWord(s, "flies") || containsAny(s, "飞往", "飞去", "飞到", "要飞", "飞回", "计划：飞") {
		s += " flight 航班 飞机"
	}
	return s
}

// retimed takes "the flight's at 7:15 now": another time of the one flight that is still to
// come, also where its slot has a name of its own, "flight to Lisbon". If several
// flights fit, or if it is somebody else's flight whose day is not known, the sentence is
// kept as it was said.
func (t *talk) retimed(c *clause, attr string) bool {
	to := together(c.whens)
	if to == nil || c.neg || !c.definite() || !c.sayNow() {
		return false
	}
	switch c.verb {
	case "be", "leave", "depart", "start", "begin":
	default:
		return false
	}
	whose := t.whose(c)
	var found []plan
	for _, p := range t.plans {
		exact := p.attribute == attr || strings.HasPrefix(p.attribute, attr+" 2")
		if p.day < t.now.day || !exact && !strings.HasPrefix(p.attribute, attr+"_") && !(attr == "flight" && holdsWord(p.hay(), "flight")) {
			continue
		}
		if whose.named && p.subject != whose.key && !t.names(&p, whose) {
			continue
		}
		found = append(found, p)
	}
	switch {
	case len(found) == 0 && !(t.other(whose) && !to.hasDay):
		return false
	case len(found) != 1:
		t.asSaid(c)
		return true
	}
	p := found[0]
	p.shown = whose.name
	if p.clock && p.minute >= 12*60 && !to.sure && to.clock && to.minute < 12*60 && evening(p.what) {
		to.minute += 12 * 60 // dinner at eight
	}
	t.moved(p.move(to), c.sentence, 0.86)
	return true
}

// sayNow reports a clause that says how things stand from now on: "at 7:15 now".
func (c *clause) sayNow() bool {
	for i := range c.toks {
		switch c.at(i) {
		case "now", "instead", "actually":
			return true
		}
	}
	return false
}
