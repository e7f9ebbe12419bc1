package rules

import (
	"slices"

	"github.com/locket-dev/locket/wasm/abi"
)

// habit proposes what someone usually does, where it says how often.
func (t *talk) habit(c *clause) {
	often := c.hasHabit()
	for i := range c.words {
		switch c.w(i) {
		case "usually", "always", "every", "often", "normally", "mostly", "regularly":
			often = true
		}
	}
	switch c.verb {
	case "be":
		if !c.hasHabit() || !preposition(c.w(c.vi+1)) {
			return
		}
	case "feel", "think", "know", "mean", "guess", "believe", "seem", "sound", "want", "need", "wish", "hope", "say", "tell", "remember", "forget":
		return
	case "volunteer", "mentor", "coach", "tutor", "babysit", "foster":
		often = true
	}
	hours := c.verb == "work" && slices.ContainsFunc(c.whens, func(w when) bool { return w.until > 0 && !w.hasDay }) // "I work nine till five"
	often = often || hours || c.routine()
	if l, _, _ := lemma(c.w(c.vi)); l == "" && !c.hasHabit() && c.kind != 's' && c.kind != 'w' {
		return
	}
	what := c.routineOf(c.verb, c.vi+1)
	alone := len(c.words)-c.vi < 2 && (what == "" && c.verb != "work" || !c.hasHabit()) // "I usually run on Tuesdays" is enough
	if !often || c.ing && !c.hasHabit() || c.perfect || alone && !hours || c.unresolved(false) || c.kind == 't' && !c.own && t.view(c.sentence).general() {
		return
	}
	a := t.base(c, "semantic", "habit", 0.65)
	if what != "" && c.subj.key != "" && !c.neg {
		often := c.howOften()
		if often == "" {
			often = c.w(c.vi)
		}
		a.Slot = &abi.Slot{Subject: c.subj.key, Attribute: routineSlot(what), Value: often, Many: true}
	}
	t.out.Candidates = append(t.out.Candidates, a)
}

func (c *clause) hasHabit() bool {
	return slices.ContainsFunc(c.whens, func(w when) bool { return w.habit })
}
