package ellipsis

import (
	"strings"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// asksForegone are questions for what somebody does not eat, asksDiet those for what they eat.
var (
	asksForegone = []string{"you don't eat", "you can't eat", "you won't eat", "you don't drink", "you can't drink"}
	asksDiet     = []string{"you eat everything", "you eat anything", "you eat meat", "eat any meat", "you vegetarian", "you a vegetarian", "you vegan", "you a vegan", "dietary", "fussy"}
)

// Foregone makes "I don't eat pork" from an answer like "just no pork", "everything except pork",
// and from "pork" after "anything you don't eat?"; "" if the answer says no such thing.
func (q *Inquiry) Foregone(a *noted.Reply) string {
	asked := strings.ReplaceAll(strings.ToLower(q.Raw()), "’", "'")
	bare := syntax.ContainsAny(asked, asksForegone...)
	if !bare && !syntax.ContainsAny(asked, asksDiet...) || len(a.Toks) > 8 {
		return ""
	}
	i := 0
	for a.At(i) == "," || a.At(i) == "just" || a.At(i) == "only" || noted.YesWords[a.At(i)] || a.At(i) == "no" && (a.At(i+1) == "," || a.At(i+1) == "just") {
		i++
	}
	switch w := a.At(i); {
	case w == "no" || (w == "everything" || w == "anything") && (a.At(i+1) == "except" || a.At(i+1) == "but"):
		if i++; w != "no" {
			i++
		}
	case !bare || a.No || a.Never:
		return ""
	}
	if i >= len(a.Toks) {
		return ""
	}
	what := a.Sub(i, len(a.Toks))
	if len(what.Toks) > 4 || !fills(what) || !allergen(what) || syntax.Determiner(what.At(0)) || syntax.Preposition(what.At(0)) || noFood[what.At(0)] || noted.Stated(what) {
		return ""
	}
	verb := "eat"
	if strings.Contains(asked, " drink") {
		verb = "drink"
	}
	q.Subj, q.Aux = "I", "do"
	return "I don't " + verb + " " + LowerFirst(what.Raw())
}

// noFood are what somebody may say that there is none of, besides food.
var noFood = syntax.Set("time money idea problem problems worries way appetite reason thanks thank need chance clue rush kidding doubt longer more")
