package english

import (
	"slices"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/timex"
)

// habit proposes what someone usually does, if it says how often.
func habit(t *discourse.Talk, c *discourse.Clause) {
	often := c.HasHabit()
	if next := c.W(c.Vi + 1); c.Verb == "end" && next == "up" || c.Verb == "get" && next == "stuck" || c.Find(c.Vi, len(c.Words), "wrong") > 0 {
		return // "I always end up in the slow queue"
	}
	for i := range c.Words {
		switch c.W(i) {
		case "usually", "always", "every", "often", "normally", "mostly", "regularly":
			often = true
		}
	}
	switch c.Verb {
	case "be":
		if !c.HasHabit() || !syntax.Preposition(c.W(c.Vi+1)) {
			return
		}
	case "feel", "think", "know", "mean", "guess", "believe", "seem", "sound", "want", "need", "wish", "hope", "say", "tell", "remember", "forget":
		return
	case "volunteer", "mentor", "coach", "tutor", "babysit", "foster":
		often = true
	}
	hours := c.Verb == "work" && slices.ContainsFunc(c.Whens, func(w timex.When) bool { return w.Until > 0 && !w.HasDay }) // "I work nine till five"
	often = often || hours || routine(c)
	if l, _, _ := syntax.Lemma(c.W(c.Vi)); l == "" && !c.HasHabit() && c.Kind != 's' && c.Kind != 'w' {
		return
	}
	what := routineOf(c, c.Verb, c.Vi+1)
	if _, bare := syntax.Number(strings.TrimPrefix(what, c.Verb+" ")); bare && what != "" && !rides(c) {
		return // "two eggs, but I always use three"
	}
	alone := len(c.Words)-c.Vi < 2 && (what == "" && c.Verb != "work" || !c.HasHabit()) // "I usually run on Tuesdays" is enough
	if !often || c.Ing && !c.HasHabit() || c.Perfect || alone && !hours || c.Unresolved(false) || c.Kind == 't' && !c.Own && noted.ViewOf(t, c.Sentence).General() {
		return
	}
	a := t.Base(c, "semantic", "habit", 0.65)
	if what != "" && c.Subj.Key != "" && !c.Neg {
		often := howOften(c)
		if often == "" {
			often = c.W(c.Vi)
		}
		a.Slot = &abi.Slot{Subject: c.Subj.Key, Attribute: discourse.RoutineSlot(what), Value: often, Many: true}
	}
	t.Out.Candidates = append(t.Out.Candidates, a)
}
