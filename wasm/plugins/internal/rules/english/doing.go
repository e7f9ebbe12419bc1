package english

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// activity proposes what somebody is busy with at present: "I'm training for a marathon", "I've
// been taking a poetry class".
func activity(t *discourse.Talk, c *discourse.Clause) {
	if !c.Ing || c.Past || c.Neg || c.Future || c.Modal || c.Kind != 's' && c.Kind != 'w' && c.Kind != 'p' || c.Conditional() || c.Ends == "?" {
		return
	}
	o, _ := c.Object(c.Vi + 1)
	if o == "" || discourse.Vague(o) || len(c.Words)-c.Vi < 3 && !c.Perfect || c.Unresolved(false) {
		return
	}
	next := c.W(c.Vi + 1)
	switch c.Verb {
	case "work":
		if next != "on" && next != "hard" && next != "towards" && next != "with" {
			return
		}
	case "look":
		if next != "into" && next != "for" && next != "after" {
			return
		}
	case "take":
		if _, event := syntax.EventNoun(discourse.Last(o)); !event && discourse.Last(o) != "course" && discourse.Last(o) != "classes" && discourse.Last(o) != "lessons" && discourse.Last(o) != "pills" && discourse.Last(o) != "antibiotics" && discourse.Last(o) != "medication" && !discourse.HoldsWord(o, "class") && !discourse.HoldsWord(o, "course") {
			return
		}
	case "start", "open", "launch", "build", "write", "read", "learn", "study", "train", "renovate", "plan", "prepare", "organise", "organize", "save", "teach", "volunteer", "research", "apply", "rehearse",
		"recover", "design", "create", "restore", "knit", "sew", "practise", "practice", "develop", "expand", "host", "foster", "mentor", "coach", "paint", "grow", "compete", "edit", "record", "adopt", "explore", "run", "watch", "put":
		if c.Verb == "watch" && !c.Perfect && !syntax.ContainsAny(strings.ToLower(o), "series", "show", "season", "episodes", "documentaries") {
			return // a film, this evening
		}
		if c.Verb == "put" && next != "together" || c.Verb == "run" && next != "a" && next != "my" && next != "our" && next != "for" || c.Verb == "start" && next == "to" {
			return
		}
	default:
		return
	}
	a := t.Base(c, "semantic", "habit", 0.7)
	a.Tags = append(a.Tags, "activity")
	t.Out.Candidates = append(t.Out.Candidates, a)
}

// matter reports whether the object of a deed says by itself what it is: "a cross necklace",
// "another painting", "my own pots".
func matter(c *discourse.Clause) bool {
	i := c.Vi + 1
	switch c.W(i) {
	case "a", "an", "my", "our", "another", "two", "three", "four", "five", "some", "his", "her":
	default:
		return false
	}
	o, _ := c.Object(i)
	if o == "" || discourse.Vague(o) {
		return false
	}
	switch c.W(i + 1) {
	case "lot", "bit", "few", "couple", "break", "look", "step", "chance", "point", "while", "minute", "difference", "mistake", "good", "great", "nice", "big", "way", "mess", "mind", "time", "best", "part":
		return false
	}
	return true
}
