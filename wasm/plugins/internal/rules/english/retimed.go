package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
)

// retimed takes "the flight's at 7:15 now": another time of the only future flight, even if its
// slot has a name of its own, "flight to Lisbon". If several flights match, or if it is somebody
// else's flight on an unknown day, the sentence is kept as it was said.
func retimed(t *discourse.Talk, c *discourse.Clause, attr string) bool {
	to := discourse.Together(c.Whens)
	if to == nil || c.Neg || !c.Definite() || !sayNow(c) {
		return false
	}
	switch c.Verb {
	case "be", "leave", "depart", "start", "begin":
	default:
		return false
	}
	whose := t.Whose(c)
	var found []discourse.Plan
	for _, p := range t.Plans {
		exact := p.Attribute == attr || strings.HasPrefix(p.Attribute, attr+" 2")
		if p.Day < t.Now.Day || !exact && !strings.HasPrefix(p.Attribute, attr+"_") && !(attr == "flight" && discourse.HoldsWord(p.Hay(), "flight")) {
			continue
		}
		if whose.Named && p.Subject != whose.Key && !t.Names(&p, whose) {
			continue
		}
		found = append(found, p)
	}
	switch {
	case len(found) == 0 && !(t.Other(whose) && !to.HasDay):
		return false
	case len(found) != 1:
		t.AsSaid(c)
		return true
	}
	p := found[0]
	p.Shown = whose.Name
	if p.Clock && p.Minute >= 12*60 && !to.Sure && to.Clock && to.Minute < 12*60 && discourse.Evening(p.What) {
		to.Minute += 12 * 60 // dinner at eight
	}
	discourse.Moved(t, p.Move(to), c.Sentence, 0.86)
	return true
}

// sayNow reports whether a clause says what is true from now on: "at 7:15 now".
func sayNow(c *discourse.Clause) bool {
	for i := range c.Toks {
		switch c.At(i) {
		case "now", "instead", "actually":
			return true
		}
	}
	return false
}
