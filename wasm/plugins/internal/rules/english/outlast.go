package english

import (
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/wasm/plugins/internal/rules/discourse"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/noted"
	"github.com/locket-dev/locket/wasm/plugins/internal/rules/syntax"
)

// opined are verbs with which "used to" tells little: "I used to think so".
var opined = syntax.Set("think know feel say believe get tell wonder worry see be have use")

// onceDid keeps what somebody did regularly and no longer does, if no rule knows the verb: "I used
// to go to church". A habit among the rules' candidates is not one of today.
func onceDid(t *discourse.Talk, c *discourse.Clause, from int) {
	for i := from; i < len(t.Out.Candidates); i++ {
		if a := &t.Out.Candidates[i]; !a.Negates && a.Slot != nil && strings.HasPrefix(a.Slot.Attribute, discourse.RoutineSlot("")) {
			a.Slot = nil
		}
	}
	if len(t.Out.Candidates) > from {
		return
	}
	o := c.Trim(c.Vi+1, len(c.Words))
	if c.Neg || c.Ends == "?" || c.Kind != 's' && c.Kind != 'p' || opined[c.Verb] || c.Conditional() || discourse.Vague(o) || len(strings.Fields(o)) > 8 {
		return
	}
	t.Out.Candidates = append(t.Out.Candidates, t.Base(c, "semantic", "biography", 0.7))
}

// hadOwn returns the thing of the speaker's own with which they parted: the object o at word i; ""
// if it may never have been theirs, or is not something that people have. "The" is enough only for
// a thing of which people have one, the car.
func hadOwn(c *discourse.Clause, i int, o string) string {
	o = cutTail(o)
	words := strings.Fields(strings.ToLower(o))
	if c.Kind != 's' && c.Kind != 'w' || len(words) == 0 || syntax.Kin(words[0]) || food(o) || noted.Meal(o) {
		return ""
	}
	for k, w := range words {
		if k > 0 && syntax.Determiner(w) || w == "last" {
			return "" // "my mother a lamp"
		}
	}
	noun := words[len(words)-1]
	switch c.W(i) {
	case "my", "our":
		if one := syntax.Singular(noun); syntax.Kin(noun) || syntax.Kin(one) || intangible[noun] || intangible[one] || unplaceable[noun] || unplaceable[one] {
			return ""
		}
	case "the":
		if !discourse.ThingWord(noun) && !discourse.Capitalised(discourse.Last(o)) {
			return ""
		}
	default:
		return ""
	}
	return ownedName(o)
}

// intangible are things that people sell or give away without owning them as a thing.
var intangible = syntax.Set("soul seat number place spot secret ending email address password life body blood hair data dignity principle talent skill service share vote position role identity advice opinion kid baby half rest part all everything cold cough flu headache fear stress worry pain habit accent debt problem leftover copy")

// ownedName returns the name under which a thing is owned: for one with a name of its own, "a blue
// Skoda", without its looks.
func ownedName(o string) string {
	words := strings.Fields(o)
	for len(words) > 1 && discourse.Capitalised(words[len(words)-1]) && looks[strings.ToLower(words[0])] {
		words = words[1:]
	}
	if o = strings.Join(words, " "); utf8.RuneCountInString(o) < 2 || discourse.Personal(strings.ToLower(o)) {
		return ""
	}
	return o
}

var looks = syntax.Set("red blue green black white grey gray silver yellow brown orange purple pink dark light old new used second-hand secondhand little big small lovely nice electric")
