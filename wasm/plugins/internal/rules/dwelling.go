package rules

import "strings"

// dwells takes where somebody lives or lived, stays, has moved to, and comes from.
func (t *talk) dwells(c *clause, i int) bool {
	switch c.verb {
	case "live", "reside":
		t.lives(c, i)
	case "stay":
		if o, _ := c.after(i, 2, "in", "at"); c.ing && !c.past {
			t.fact(c, "place", "staying_at", o, false, 0.7)
		}
	case "move", "relocate":
		t.moves(c, i)
	case "come":
		if o, _ := c.after(i, 1, "from"); !c.past {
			t.fact(c, "biography", "origin", o, false, 0.85)
		}
	case "grow":
		if o, _ := c.after(i, 3, "in", "on"); c.w(i) == "up" {
			t.fact(c, "biography", "grew_up_in", o, false, 0.9)
		}
	default:
		return false
	}
	return true
}

// lives takes "I live in Graz", "I used to live near the sea", "she lives with Tom".
func (t *talk) lives(c *clause, i int) {
	o, ok := c.after(i, 2, "in", "at", "on", "near", "above")
	switch {
	case !ok:
		with, _ := c.after(i, 2, "with")
		t.fact(c, "relation", "lives_with", with, true, 0.8)
		return
	case c.usedTo:
		t.once(c, "lived_in", o)
		if abodeOf(o, t.plain) != dwelling {
			return
		}
	case c.past:
		t.fact(c, "biography", "lived_in", o, true, 0.75)
		return
	}
	if k := c.find(i, 2, "on"); k >= 0 && !c.capital(k+1) && abodeOf(o, false) != dwelling {
		return // on coffee
	}
	t.settles(c, o, 0.92)
}

// moves takes "I moved to Graz", "we moved here from Leeds".
func (t *talk) moves(c *clause, i int) {
	if from, ok := c.after(i, 2, "from"); ok && !c.neg && c.w(i) == "here" {
		t.fact(c, "biography", "lived_in", from, true, 0.8)
		return
	}
	o, ok := c.wentTo(i)
	if !ok || c.neg || vague(o) || !c.past && !c.perfect || abodeOf(o, t.plain) != dwelling {
		return
	}
	if inner, ok := c.after(i, 9, "in"); ok && strings.Contains(o, " in ") {
		o = inner
	}
	before := len(t.out.Candidates)
	if t.settles(c, o, 0.85); len(t.out.Candidates) > before {
		t.out.Candidates[before].EventType = "move"
	}
}
